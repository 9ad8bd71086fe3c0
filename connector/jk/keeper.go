package jk

import (
	"time"

	"github.com/rs/zerolog"

	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
)

// Keeper is what the master does for the balancers of all its children: what
// mod_jk calls global maintenance. One process does it, so that nothing has to
// be agreed upon, and no traffic is needed.
type Keeper struct {
	Config  *Config
	Segment *jkshm.Segment
	Logger  zerolog.Logger

	members []balance.Member
}

// look is how often members in error are looked at; values decay every
// worker.maintain.
const look = time.Second

// Run does so until stop is closed. With worker.maintain 0 it does nothing, as
// mod_jk: members in error are then only ever forced.
func (k *Keeper) Run(stop <-chan struct{}) {
	if k.Config.Maintain <= 0 {
		return
	}
	t := time.NewTicker(look)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-t.C:
			k.maintain(now.Unix())
		}
	}
}

// maintain looks at every balancer once.
func (k *Keeper) maintain(now int64) {
	k.Segment.Settle()
	for n, w := range k.Config.balancers() {
		k.balancer(w, k.Segment.Balancer(n), now)
	}
}

func (k *Keeper) balancer(w *WorkerConfig, b *jkshm.Balancer, now int64) {
	var s jkshm.BalancerSettings
	b.Load(&s)
	last := b.LastMaintenance.Load()
	if last == 0 {
		b.LastMaintenance.Store(now)
		last = now
	}
	run := balance.Run{Method: s.Method, Shift: balance.Shift(now, last, k.Config.Maintain), Now: now, RecoverTime: s.RecoverTime, EscalationTime: s.ErrorEscalationTime}
	if run.Shift > 0 {
		b.LastMaintenance.Store(now)
	}
	b.LastLook.Store(now)

	k.members = k.members[:0]
	for j := range b.Members() {
		m := b.Member(j)
		var ms jkshm.MemberSettings
		m.Load(&ms)
		k.members = append(k.members, balance.Member{State: m.State(), Value: m.LBValue.Load(), Activation: ms.Activation})
	}
	least, _ := balance.Extremes(k.members)
	shift, sub := run.Decay(least)
	if shift > 0 || sub > 0 {
		k.Logger.Debug().Str("worker", w.Name).Int("shift", int(shift)).Uint64("sub", uint64(sub)).Msgf("decay with 2^%d", shift)
	}
	for j := range k.members {
		m := b.Member(j)
		if shift > 0 {
			m.LBValue.Shift(shift)
		}
		if sub > 0 {
			m.LBValue.Sub(sub)
		}
		if run.Shift > 0 {
			m.ReplyTimeouts.Shift(run.Shift)
		}
		k.members[j].Value = m.LBValue.Load()
	}
	_, most := balance.Extremes(k.members)
	for j := range k.members {
		m := b.Member(j)
		elected := m.Elected.Load()
		state := m.State()
		c := run.Look(balance.Upkeep{State: state, FirstError: m.FirstError.Load(), LastError: m.LastError.Load(), Used: elected != m.ElectedSnapshot.Load()})
		if run.Shift > 0 {
			m.ElectedSnapshot.Store(elected)
		}
		if c.Event == balance.Nothing || !m.CompareAndSwapState(state, state.On(c.Event)) {
			continue
		}
		if c.Raise {
			m.LBValue.Raise(most)
		}
		if c.ClearTimeouts {
			m.ReplyTimeouts.Store(0)
		}
		if c.Event != balance.Unused {
			k.Logger.Debug().Str("worker", w.Name).Str("member", m.Name()).Stringer("state", m.State()).Msg(upkeepWords(c.Event, m.Name()))
		}
	}
}
