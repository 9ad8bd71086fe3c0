//go:build unix

package prefork

import "jkd/mpm"

// plan is idle maintenance. A child that is still starting counts as idle. One
// that is leaving doesn't, but counts against MaxRequestWorkers until it is
// gone, as it may still be serving.
func plan(c Config, v mpm.View) mpm.Plan {
	var idle, total, free int
	last := mpm.Nobody // the idle child with the highest index
	for i, s := range v.Servers {
		if s.State == mpm.ServerFree {
			free++
			continue
		}
		total++
		if s.State == mpm.ServerLeaving || s.Busy > 0 {
			continue
		}
		idle++
		if s.State == mpm.ServerRunning {
			last = i
		}
	}
	p := mpm.Plan{Retire: mpm.Nobody, Pace: v.Pace.Rest()}
	room := min(free, c.MaxRequestWorkers-total)
	switch {
	case idle > c.MaxSpareServers:
		p.Retire = last
	case idle >= c.MinSpareServers:
	case room <= 0:
		p.Note, p.Pace = p.Pace.Once(mpm.NoteReached)
	case !v.Hold:
		p.Spawn, p.Pace = v.Pace.Grow(room)
		p.Note = v.Pace.Busy(p.Spawn, idle, total)
	}
	return p
}
