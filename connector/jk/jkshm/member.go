package jkshm

import (
	"fmt"
	"sync/atomic"

	"jkd/connector/jk/balance"
)

// Member is the record of a worker in a balancer.
type Member struct {
	// LBValue is the load so far, as the balancer's method counts it.
	LBValue Counter
	// Elected counts the requests given to it, Sessions those of them that began
	// a session, Errors those that failed.
	Elected, Sessions, Errors Counter
	// ReplyTimeouts counts answers that were too late; maintenance lets it
	// decay.
	ReplyTimeouts Counter
	// FirstError is when the errors began that have not ended, LastError when
	// there was the last of them, LastReset when the counters were last reset.
	FirstError, LastError, LastReset Time
	// ElectedSnapshot is what Elected was at the last maintenance, so that the
	// next one sees whether the member was used.
	ElectedSnapshot Counter

	seg      *Segment
	balancer *Balancer
	worker   *Worker
	state    *atomic.Uint64
	record   record
}

func (m *Member) init(s *Segment, b *Balancer, w *Worker, r []atomic.Uint64) {
	*m = Member{
		LBValue:         Counter{&r[memberLBValue]},
		Elected:         Counter{&r[memberElected]},
		Sessions:        Counter{&r[memberSessions]},
		Errors:          Counter{&r[memberErrors]},
		ReplyTimeouts:   Counter{&r[memberReplyTimeouts]},
		FirstError:      Time{&r[memberFirstError]},
		LastError:       Time{&r[memberLastError]},
		LastReset:       Time{&r[memberLastReset]},
		ElectedSnapshot: Counter{&r[memberSnapshot]},

		seg:      s,
		balancer: b,
		worker:   w,
		state:    &r[memberState],
		record:   newRecord(r, memberSeq, memberBase, memberConfigWords),
	}
}

// Name is the worker's name.
func (m *Member) Name() string { return m.worker.name }

// Worker is the back end.
func (m *Member) Worker() *Worker { return m.worker }

// The state, who probes and since when are one word, so that a child that is
// killed never leaves a probe of nobody: the state in the lowest byte, then 24
// bits for the server plus one, then 32 bits for Unix seconds.
const (
	ownerShift = 8
	ownerMask  = 1<<24 - 1
	timeShift  = 32
)

func stateWord(s balance.State, owner, since uint64) uint64 {
	return uint64(s) | owner<<ownerShift | since<<timeShift
}

// stateOf is the state of a word, Error if there is none in it.
func stateOf(w uint64) balance.State {
	if s := balance.State(w); s.Valid() {
		return s
	}
	return balance.Error
}

// State is the state; balance.Error if the record holds none.
func (m *Member) State() balance.State { return stateOf(m.state.Load()) }

// SetState sets the state. It does not write when that is the state already; a
// probe that is under way then stays its owner's.
func (m *Member) SetState(s balance.State) {
	if w := m.state.Load(); balance.State(w) != s {
		m.state.Store(stateWord(s, 0, 0))
	}
}

// CompareAndSwapState sets the state if it is old.
func (m *Member) CompareAndSwapState(old, new balance.State) bool {
	for range attempts {
		w := m.state.Load()
		if stateOf(w) != old {
			return false
		}
		if m.state.CompareAndSwap(w, stateWord(new, 0, 0)) {
			return true
		}
	}
	return false
}

// TryProbe makes the state balance.Probe if it is Recover or Force, with server
// as the owner since now (Unix s). Of all who try only one succeeds.
func (m *Member) TryProbe(server int, now int64) bool {
	owner := m.seg.owner(server)
	w := m.state.Load()
	if s := stateOf(w); s != balance.Recover && s != balance.Force {
		return false
	}
	since := uint64(max(0, min(now, 1<<32-1)))
	return m.state.CompareAndSwap(w, stateWord(balance.Probe, owner&ownerMask, since))
}

// Probe tells who is probing and since when (Unix s). ok is false when the state
// is another, or when no server is named as the owner.
func (m *Member) Probe() (server int, since int64, ok bool) {
	w := m.state.Load()
	owner := w >> ownerShift & ownerMask
	if stateOf(w) != balance.Probe || owner == 0 || owner > uint64(m.seg.layout.Servers) {
		return 0, 0, false
	}
	return int(owner) - 1, int64(w >> timeShift), true
}

// EndProbe sets the state if server is still the owner of the probe.
func (m *Member) EndProbe(server int, s balance.State) bool {
	w := m.state.Load()
	if stateOf(w) != balance.Probe || w>>ownerShift&ownerMask != m.seg.owner(server) {
		return false
	}
	return m.state.CompareAndSwap(w, stateWord(s, 0, 0))
}

// Reset sets the counters and the load to 0 and the state to balance.Idle, at
// time now (Unix s). What the worker counts stays.
func (m *Member) Reset(now int64) {
	for _, c := range m.counters() {
		c.Store(0)
	}
	m.FirstError.Store(0)
	m.LastError.Store(0)
	m.SetState(balance.Idle)
	m.LastReset.Store(now)
}

// Configure sets what is configured. The master calls it before any child
// attaches.
func (m *Member) Configure(s MemberSettings) error { return m.wrap(m.record.configure(&s)) }

// Version changes with every edit of the settings. One atomic load.
func (m *Member) Version() uint64 { return m.record.seq.Load() }

// Load copies the settings to dst and returns their version.
func (m *Member) Load(dst *MemberSettings) (version uint64) { return m.record.load(dst) }

// Update edits the settings, see [Worker.Update].
func (m *Member) Update(server int, fn func(*MemberSettings) error) error {
	return m.seg.edit(server, func() error {
		var c MemberSettings
		m.record.load(&c)
		if err := fn(&c); err != nil {
			return err
		}
		return m.wrap(m.record.write(m.seg, &c))
	})
}

// Edited lists the directives whose values are not as configured.
func (m *Member) Edited() []string { return m.record.edited(memberSpans) }

var memberSpans = spansOf(new(MemberSettings), memberConfigWords)

func (m *Member) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("jkshm: member %q of balancer %q: %w", m.Name(), m.balancer.name, err)
	}
	return nil
}
