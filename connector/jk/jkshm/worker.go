package jkshm

import (
	"fmt"
	"net/netip"
	"sync/atomic"
)

// WorkerState is how the last requests to a back end ended (shown on the status
// page, of no influence on routing). The zero value is WorkerIdle. The numbers
// are mod_jk's.
type WorkerState uint8

const (
	WorkerIdle  WorkerState = iota // not used since the last maintenance
	WorkerOK                       // the last request went well
	WorkerError                    // the last request failed
	WorkerProbe                    // the first request since then is under way
	workerStates
)

var workerStateNames = [...]string{"OK/IDLE", "OK", "ERR", "ERR/PRB"}

// String returns the form that mod_jk's status page shows.
func (s WorkerState) String() string {
	if s < workerStates {
		return workerStateNames[s]
	}
	return fmt.Sprintf("WorkerState(%d)", uint8(s))
}

// Worker is the record of one back end, shared by all balancers it is in.
type Worker struct {
	// Used counts the requests given to it.
	Used Counter
	// Errors counts those that failed and ClientErrors those that failed for
	// the client's sake.
	Errors, ClientErrors Counter
	// ReplyTimeouts counts answers that were too late; maintenance lets it
	// decay.
	ReplyTimeouts Counter
	// Transferred counts the bytes sent to the back end, Read those received,
	// the framing of AJP included.
	Transferred, Read Counter
	// ErrorTime is when the last request failed, LastReset when the counters
	// were last reset.
	ErrorTime, LastReset Time
	// LookUps counts the times the master learned from the name service what
	// the host's addresses are, or that nobody can tell.
	LookUps Counter

	seg             *Segment
	name            string
	busy, connected gauge
	state, suspect  *atomic.Uint64
	record          record
}

func (w *Worker) init(s *Segment, i int, r []atomic.Uint64, busy, connected []atomic.Uint32) {
	*w = Worker{
		Used:          Counter{&r[workerUsed]},
		Errors:        Counter{&r[workerErrors]},
		ClientErrors:  Counter{&r[workerClientErrors]},
		ReplyTimeouts: Counter{&r[workerReplyTimeouts]},
		Transferred:   Counter{&r[workerTransferred]},
		Read:          Counter{&r[workerRead]},
		ErrorTime:     Time{&r[workerErrorTime]},
		LastReset:     Time{&r[workerLastReset]},
		LookUps:       Counter{&r[workerLookUps]},

		seg:       s,
		name:      s.layout.Workers[i].Name,
		busy:      gauge{cells: busy, high: s.high, hint: &r[workerBusyHint], max: &r[workerMaxBusy]},
		connected: gauge{cells: connected, high: s.high, hint: &r[workerConnectedHint], max: &r[workerMaxConnected]},
		state:     &r[workerState],
		suspect:   &r[workerSuspect],
		record:    newRecord(r, workerSeq, workerBase, workerConfigWords),
	}
}

// Name is the worker's name.
func (w *Worker) Name() string { return w.name }

// Enter counts one request in hand of a server; Leave takes it back. Like all
// of the gauges' methods they allocate nothing and panic when server is out of
// range.
func (w *Worker) Enter(server int) { w.busy.enter(server) }

// TryEnter is Enter, unless limit requests are in hand already; it tells
// whether it was. With limit 0 or less there is none. Never more than limit
// callers of TryEnter are in, whatever the timing; when several try for the
// last places at the same time, one may be refused a place that the others do
// not get either.
func (w *Worker) TryEnter(server, limit int) bool { return w.busy.tryEnter(server, limit) }

// Leave ends what Enter or TryEnter began.
func (w *Worker) Leave(server int) { w.busy.leave(server) }

// Busy is the requests in hand of all servers, 0 to MaxGauge. It looks at a
// cell of each server.
func (w *Worker) Busy() int { return w.busy.sum() }

// MaxBusy is the most there were since the last reset.
func (w *Worker) MaxBusy() int { return w.busy.highest() }

// Opened counts one open connection of a server.
func (w *Worker) Opened(server int) { w.connected.enter(server) }

// TryOpen is Opened, unless limit connections are open already, as TryEnter is
// to Enter: it is to be called before connecting.
func (w *Worker) TryOpen(server, limit int) bool { return w.connected.tryEnter(server, limit) }

// Closed ends what Opened or TryOpen began.
func (w *Worker) Closed(server int) { w.connected.leave(server) }

// Connected is the open connections of all servers, 0 to MaxGauge.
func (w *Worker) Connected() int { return w.connected.sum() }

// MaxConnected is the most there were since the last reset.
func (w *Worker) MaxConnected() int { return w.connected.highest() }

// Held is what one server holds: requests in hand and open connections.
func (w *Worker) Held(server int) (busy, connected int) {
	return int(cellValue(w.busy.cells[server].Load())), int(cellValue(w.connected.cells[server].Load()))
}

// State is the state; WorkerError if the record holds none.
func (w *Worker) State() WorkerState {
	if s := w.state.Load(); s < uint64(workerStates) {
		return WorkerState(s)
	}
	return WorkerError
}

// SetState sets the state. It does not write when that is the state already.
func (w *Worker) SetState(s WorkerState) {
	if w.state.Load() != uint64(s) {
		w.state.Store(uint64(s))
	}
}

// CompareAndSwapState sets the state if it is old.
func (w *Worker) CompareAndSwapState(old, new WorkerState) bool {
	v := w.state.Load()
	if v >= uint64(workerStates) && old == WorkerError || v == uint64(old) {
		return w.state.CompareAndSwap(v, uint64(new))
	}
	return false
}

// Suspect tells the master that the addresses do not seem to be right: a
// connection could not be made.
func (w *Worker) Suspect() {
	if w.suspect.Load() == 0 {
		w.suspect.Store(1)
	}
}

// TakeSuspect tells whether somebody has called Suspect, and forgets it.
func (w *Worker) TakeSuspect() bool { return w.suspect.Load() != 0 && w.suspect.Swap(0) != 0 }

// Reset sets the counters to 0, the maxima to what there is now and the state to
// WorkerIdle, at time now (Unix s). Gauges and settings stay.
func (w *Worker) Reset(now int64) {
	for _, c := range w.counters() {
		c.Store(0)
	}
	w.ErrorTime.Store(0)
	w.SetState(WorkerIdle)
	w.busy.reset()
	w.connected.reset()
	w.LastReset.Store(now)
}

// Configure sets what is configured, to the same effect as if there was no edit
// before. The master calls it before any child attaches.
func (w *Worker) Configure(s WorkerSettings, a Addresses) error {
	c := workerConfig{WorkerSettings: s, Addresses: a, generation: 1}
	if err := w.record.configure(&c); err != nil {
		return fmt.Errorf("jkshm: worker %q: %w", w.name, err)
	}
	return nil
}

// Version changes with every edit of the settings or addresses. One atomic load.
func (w *Worker) Version() uint64 { return w.record.seq.Load() }

// Load copies the settings to dst and returns their version.
func (w *Worker) Load(dst *WorkerSettings) (version uint64) {
	return w.record.load(dst)
}

// AddressGeneration changes whenever the addresses do, and not when only
// settings do.
func (w *Worker) AddressGeneration() uint64 {
	var g uint64
	for range attempts {
		s := w.record.seq.Load()
		g = w.record.copies[s&1][workerGeneration].Load()
		if w.record.seq.Load() == s {
			break
		}
	}
	return g
}

// LoadAddresses copies the addresses to dst, using its List again, and returns
// their generation.
func (w *Worker) LoadAddresses(dst *Addresses) (generation uint64) {
	var c workerConfig
	c.List = dst.List
	w.record.load(&c)
	*dst = c.Addresses
	return c.generation
}

// Update edits the settings for a server (or Master): fn changes a copy, which
// then becomes valid at once unless fn returns an error. When the host changes
// the addresses become unresolved, when the port changes that of all addresses
// does. An error is returned, and nothing changes, when fn returns one, when a
// value is out of range, and when other edits last for too long
// ([LockedError]). fn must not edit anything else in the segment.
func (w *Worker) Update(server int, fn func(*WorkerSettings) error) error {
	return w.Edit(server, func(s *WorkerSettings, a *Addresses) error {
		host, port := s.Host, s.Port
		if err := fn(s); err != nil {
			return err
		}
		switch {
		case s.Host != host:
			*a = Addresses{}
		case s.Port != port:
			for i, addr := range a.List {
				a.List[i] = netip.AddrPortFrom(addr.Addr(), uint16(s.Port))
			}
		}
		return nil
	})
}

// SetAddresses is an edit of the addresses only. If they are what they were
// nothing changes.
func (w *Worker) SetAddresses(server int, a Addresses) error {
	return w.Edit(server, func(_ *WorkerSettings, dst *Addresses) error { *dst = a; return nil })
}

// Edit is Update that changes the addresses with the settings, so that no
// reader sees the one without the other. It leaves to fn what becomes of the
// addresses when host or port change; fn may keep neither pointer.
func (w *Worker) Edit(server int, fn func(*WorkerSettings, *Addresses) error) error {
	return w.seg.edit(server, func() error {
		var old, c workerConfig
		w.record.load(&old)
		w.record.load(&c)
		if err := fn(&c.WorkerSettings, &c.Addresses); err != nil {
			return err
		}
		if !c.Addresses.equal(&old.Addresses) {
			c.generation++
		}
		if err := w.record.write(w.seg, &c); err != nil {
			return fmt.Errorf("jkshm: worker %q: %w", w.name, err)
		}
		return nil
	})
}

// Edited lists the directives whose values are not as configured.
func (w *Worker) Edited() []string { return w.record.edited(workerSpans) }

var workerSpans = spansOf(new(WorkerSettings), workerConfigWords)
