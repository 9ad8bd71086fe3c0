//go:build unix

package worker

import "jkd/mpm"

// plan is idle maintenance, counted in threads and carried out in children.
// Threads that a child has not started yet count as idle. A child that is
// leaving has no idle threads; against MaxRequestWorkers it counts with those
// that are still busy, so that a long download in it does not take the place
// of ThreadsPerChild others, and with one at least, as the last connection may
// be on its way to it.
func plan(c Config, v mpm.View) mpm.Plan {
	var idle, total, free, used, capacity int
	best, bestIdle := mpm.Nobody, 0 // the child with most idle threads; of equals the last
	for i, s := range v.Servers {
		busy := min(max(s.Busy, 0), c.ThreadsPerChild)
		switch s.State {
		case mpm.ServerFree:
			free++
			continue
		case mpm.ServerLeaving:
			used += max(busy, 1)
		default:
			n := c.ThreadsPerChild - busy
			idle += n
			capacity += c.ThreadsPerChild
			if s.State == mpm.ServerRunning && n >= bestIdle {
				best, bestIdle = i, n
			}
		}
		total++
	}
	p := mpm.Plan{Retire: mpm.Nobody, Pace: v.Pace.Rest()}
	room := min(free, (c.MaxRequestWorkers-used-capacity)/c.ThreadsPerChild)
	switch {
	case idle > c.MaxSpareThreads:
		p.Retire = best
	case idle >= c.MinSpareThreads:
	case room <= 0 && capacity < c.MaxRequestWorkers:
		p.Note = &mpm.Note{Kind: mpm.NoteBoardFull}
	case room <= 0 && idle == 0:
		p.Note, p.Pace = p.Pace.Once(mpm.NoteReached)
	case room <= 0:
		p.Note, p.Pace = p.Pace.Once(mpm.NoteWithin)
	case !v.Hold:
		p.Spawn, p.Pace = v.Pace.Grow(room)
		p.Note = v.Pace.Busy(p.Spawn, idle, total)
	}
	return p
}
