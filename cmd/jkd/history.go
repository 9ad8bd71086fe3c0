//go:build unix

package main

import (
	"syscall"
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// history is the master's goroutine that writes down each second what all
// children did in it, and the processor time that the master has used.
type history struct {
	table *counters.Table
	board *scoreboard.Scoreboard // there before Run is called
	// catch adds to the tables what the generation before has counted meanwhile;
	// nil: there is none. Run calls it, so that each second has its part.
	catch func()
}

// Run returns when stop is closed.
func (h *history) Run(stop <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	h.catchUp()
	before := h.sums()
	for {
		select {
		case <-stop:
			return
		case now := <-ticker.C:
			h.catchUp()
			h.board.SetTimes(processTimes())
			after := h.sums()
			s := after.since(before)
			s.Unix = now.Unix()
			s.Busy, s.Idle = h.slots()
			h.table.PutSecond(s)
			before = after
		}
	}
}

func (h *history) catchUp() {
	if h.catch != nil {
		h.catch()
	}
}

// sums are counters that only grow, over all children and workers.
type sums struct {
	requests, errors, bytes uint64
	duration                time.Duration
}

func (h *history) sums() (s sums) {
	for i := range h.table.Workers() {
		t := h.table.Totals(i)
		for _, n := range t.Requests {
			s.requests += n
		}
		s.errors += t.Requests[counters.Class5xx]
		s.bytes += t.Bytes
		s.duration += t.Duration
	}
	return s
}

// since is what came after before. A child can have written anything, so there
// may be less than there was.
func (s sums) since(before sums) counters.Second {
	diff := func(a, b uint64) uint64 { return a - min(a, b) }
	return counters.Second{
		Requests: diff(s.requests, before.requests), Errors: diff(s.errors, before.errors), Bytes: diff(s.bytes, before.bytes),
		Duration: max(s.duration-before.duration, 0),
	}
}

// slots counts those that serve a connection and those that wait for one.
func (h *history) slots() (busy, idle int) {
	for server := range min(h.table.Used(), h.board.Layout().ServerLimit) {
		for s, n := range h.board.Counts(server) {
			switch scoreboard.Status(s) {
			case scoreboard.Dead, scoreboard.Starting, scoreboard.Graceful, scoreboard.IdleKill:
			case scoreboard.Ready:
				idle += n
			default:
				busy += n
			}
		}
	}
	return busy, idle
}

// processTimes is the processor time of this process and of the children that
// it has waited for.
func processTimes() (t scoreboard.Times) {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil {
		t.User, t.System = time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano())
	}
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &ru) == nil {
		t.ChildrenUser, t.ChildrenSystem = time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano())
	}
	return t
}
