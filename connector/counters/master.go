package counters

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// Death is how a child ended.
type Death uint8

const (
	DeathOK        Death = iota // as it was told to, or after MaxConnectionsPerChild
	DeathSick                   // it could not go on, its successor may
	DeathFatal                  // no child could go on
	DeathHandshake              // not the program that the master is
	DeathExit                   // any other exit status; a panic has 2
	DeathKilled                 // a signal by which somebody ends processes: TERM, KILL, HUP, USR1
	DeathCrashed                // any other signal
	DeathUnknown                // nobody knows
	NumDeaths
)

var deathNames = [NumDeaths]string{"ok", "sick", "fatal", "bad handshake", "exit", "killed", "crashed", "unknown"}

func (d Death) String() string {
	if d < NumDeaths {
		return deathNames[d]
	}
	return fmt.Sprintf("Death(%d)", uint8(d))
}

func (t *Table) events() []atomic.Uint64 { return words(t.mem, eventOffset, eventWords) }

// CountStart counts a child that was started; for the master.
func (t *Table) CountStart() {
	if t != nil {
		t.events()[eventStarts].Add(1)
	}
}

// CountDeath counts a child that has ended; for the master.
func (t *Table) CountDeath(d Death) {
	if t != nil {
		t.events()[eventDeaths+int(min(d, DeathUnknown))].Add(1)
	}
}

// CountCut counts connections that GracefulShutdownTimeout has cut; for the
// master. Fewer than one are none.
func (t *Table) CountCut(connections int) {
	if t != nil {
		addBounded(&t.events()[eventCut], uint64(max(connections, 0)))
	}
}

// Starts is how many children were started.
func (t *Table) Starts() uint64 { return sum(t.events()[eventStarts].Load(), 0) }

// Deaths is how many children ended so.
func (t *Table) Deaths(d Death) uint64 {
	return sum(t.events()[eventDeaths+int(min(d, DeathUnknown))].Load(), 0)
}

// Cut is how many connections GracefulShutdownTimeout has cut.
func (t *Table) Cut() uint64 { return sum(t.events()[eventCut].Load(), 0) }

// second is the place of a second in the ring.
func (t *Table) second(i uint64) []atomic.Uint64 {
	return words(t.mem, historyOffset+(historyRing+int(i%HistorySeconds)*secondWords)*wordSize, secondWords)
}

// PutSecond adds a second to the ring, of which HistorySeconds are kept; for the
// master, one goroutine.
func (t *Table) PutSecond(s Second) {
	next := &words(t.mem, historyOffset, 1)[historyNext]
	n := next.Load()
	w := t.second(n)
	seq := w[secondSeq].Load() | 1
	w[secondSeq].Store(seq)
	w[secondUnix].Store(uint64(s.Unix))
	w[secondRequests].Store(s.Requests)
	w[secondErrors].Store(s.Errors)
	w[secondBytes].Store(s.Bytes)
	w[secondDuration].Store(uint64(s.Duration))
	w[secondBusy].Store(uint64(s.Busy))
	w[secondIdle].Store(uint64(s.Idle))
	w[secondSeq].Store(seq + 1)
	next.Store(n + 1)
}

// History is the ring's seconds, the oldest first, each later than the one
// before it. Where the clock was set back it begins there.
func (t *Table) History() []Second {
	n := words(t.mem, historyOffset, 1)[historyNext].Load()
	list := make([]Second, 0, min(n, HistorySeconds))
	for i := range min(n, HistorySeconds) {
		s, ok := readSecond(t.second(n - 1 - i))
		if !ok || s.Unix <= 0 {
			continue // it is being replaced, being the oldest
		}
		if len(list) > 0 && s.Unix >= list[len(list)-1].Unix {
			break
		}
		list = append(list, s)
	}
	slices.Reverse(list)
	return list
}

// attempts is how often a reader whom the writer overtook tries again.
const attempts = 10

func readSecond(w []atomic.Uint64) (s Second, ok bool) {
	for range attempts {
		seq := w[secondSeq].Load()
		s = Second{
			Unix:     int64(w[secondUnix].Load()),
			Requests: sum(w[secondRequests].Load(), 0),
			Errors:   sum(w[secondErrors].Load(), 0),
			Bytes:    sum(w[secondBytes].Load(), 0),
			Duration: time.Duration(sum(w[secondDuration].Load(), 0)),
			Busy:     gauge(w[secondBusy].Load()),
			Idle:     gauge(w[secondIdle].Load()),
		}
		if seq&1 == 0 && w[secondSeq].Load() == seq {
			return s, true
		}
	}
	return Second{}, false
}
