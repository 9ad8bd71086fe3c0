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

	// A look each second must not cost more than looking: the settings are
	// read again only when there was an edit.
	kept  []kept
	edits uint64

	ends      []backEndUse
	endsSince int64 // Unix s: the last maintenance of the back ends
}

// kept is what a keeper remembers of one balancer.
type kept struct {
	rec     *jkshm.Balancer
	s       jkshm.BalancerSettings
	members []balance.Member // activations; states and values are those of this look
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
	k.load()
	for n := range k.kept {
		k.balancer(&k.kept[n], now)
	}
	k.backEnds(now)
}

// load reads the settings if it has to.
func (k *Keeper) load() {
	edits := k.Segment.Edits()
	if k.kept != nil && k.edits == edits {
		return
	}
	if k.kept == nil {
		k.kept = make([]kept, len(k.Config.balancers()))
		for n := range k.kept {
			b := k.Segment.Balancer(n)
			k.kept[n] = kept{rec: b, members: make([]balance.Member, b.Members())}
		}
	}
	k.edits = edits
	for n := range k.kept {
		b := &k.kept[n]
		b.rec.Load(&b.s)
		for j := range b.members {
			var m jkshm.MemberSettings
			b.rec.Member(j).Load(&m)
			b.members[j].Activation = m.Activation
		}
	}
}

func (k *Keeper) balancer(b *kept, now int64) {
	last := b.rec.LastMaintenance.Load()
	if last == 0 || last > now { // the clock was set back: begin anew
		b.rec.LastMaintenance.Store(now)
		last = now
	}
	run := balance.Run{
		Method: b.s.Method, Shift: balance.Shift(now, last, k.Config.Maintain), Now: now,
		RecoverTime: b.s.RecoverTime, EscalationTime: b.s.ErrorEscalationTime,
	}
	if run.Shift > 0 {
		b.rec.LastMaintenance.Store(now)
	}
	b.rec.LastLook.Store(now)
	most := k.decay(b, run)
	k.upkeep(b, run, most)
	if run.Shift > 0 && balance.AllInError(b.read()) {
		force(b.rec, k.Logger)
	}
}

// read brings states and values up to date.
func (b *kept) read() []balance.Member {
	for j := range b.members {
		m := b.rec.Member(j)
		b.members[j].State, b.members[j].Value = m.State(), m.LBValue.Load()
	}
	return b.members
}

// decay lets what was counted fade, and returns the largest value that is left.
func (k *Keeper) decay(b *kept, run balance.Run) (most uint64) {
	least, _ := balance.Extremes(b.read())
	shift, sub := run.Decay(least)
	if shift > 0 || sub > 0 {
		k.Logger.Debug().Str("worker", b.rec.Name()).Int("shift", int(shift)).Uint64("sub", sub).Msgf("decay with 2^%d", shift)
	}
	busy := 0
	for j := range b.members {
		m := b.rec.Member(j)
		if shift > 0 {
			m.LBValue.Shift(shift)
		}
		if sub > 0 {
			m.LBValue.Sub(sub)
		}
		if run.Shift > 0 {
			m.ReplyTimeouts.Shift(run.Shift)
		}
		busy += m.Worker().Busy()
	}
	b.rec.MaxBusy.Raise(uint64(busy))
	_, most = balance.Extremes(b.read())
	return most
}

// upkeep finds members whose time has come.
func (k *Keeper) upkeep(b *kept, run balance.Run, most uint64) {
	for j := range b.members {
		m := b.rec.Member(j)
		elected, state := m.Elected.Load(), m.State()
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
			k.Logger.Debug().Str("worker", b.rec.Name()).Str("member", m.Name()).Stringer("state", m.State()).Msg(upkeepWords(c.Event, m.Name()))
		}
	}
}

// force gives the members in error another chance, because nobody else is left,
// and returns how many there were.
func force(b *jkshm.Balancer, log zerolog.Logger) (n int) {
	for j := range b.Members() {
		m := b.Member(j)
		if m.CompareAndSwapState(balance.Error, balance.Error.On(balance.Forced)) {
			m.ReplyTimeouts.Store(0)
			n++
		}
	}
	if n > 0 {
		b.Forced.Add(1)
		log.Info().Str("worker", b.Name()).Int("members", n).Msgf("Forcing recovery once for %d workers", n)
	}
	return n
}
