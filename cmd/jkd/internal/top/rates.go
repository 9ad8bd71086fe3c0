package top

import (
	"time"

	"jkd/cmd/jkd/internal/status"
)

// rates are what happened between two snapshots.
type rates struct {
	known    bool          // there were two
	interval time.Duration // between them
	requests float64       // a second
	bytes    float64
	latency  time.Duration // the mean of these requests
	cpu      float64       // of one processor, 1 is all of it
	children map[int]float64
	workers  map[string]float64
}

// compare makes the rates of now from the snapshot before. prev may be nil or
// of a server that has been started anew since.
func compare(now, prev *status.Status) rates {
	r := rates{children: map[int]float64{}, workers: map[string]float64{}}
	if prev == nil || !prev.Server.Restart.Equal(now.Server.Restart) || !now.Server.Now.After(prev.Server.Now) {
		return r
	}
	r.known, r.interval = true, now.Server.Now.Sub(prev.Server.Now)
	seconds := r.interval.Seconds()
	a, b := &now.Totals, &prev.Totals
	done := grown(a.Accesses, b.Accesses)
	r.requests = float64(done) / seconds
	r.bytes = float64(grown(a.Bytes, b.Bytes)) / seconds
	if done > 0 {
		r.latency = max(a.Duration-b.Duration, 0) / time.Duration(done)
	}
	r.cpu = max(cpu(now)-cpu(prev), 0).Seconds() / seconds
	before := make(map[int]*status.Child, len(prev.Children))
	for i := range prev.Children {
		before[prev.Children[i].Server] = &prev.Children[i]
	}
	for i := range now.Children {
		c := &now.Children[i]
		old := before[c.Server]
		if old == nil || old.PID != c.PID {
			old = &status.Child{} // it began since
		}
		r.children[c.Server] = float64(grown(c.Accesses, old.Accesses)) / seconds
	}
	for i := range prev.Workers {
		w := &prev.Workers[i]
		r.workers[key(w)] = -float64(requests(w))
	}
	for i := range now.Workers {
		w := &now.Workers[i]
		r.workers[key(w)] = max(r.workers[key(w)]+float64(requests(w)), 0) / seconds
	}
	return r
}

// grown is the difference of a counter; 0 if it went backwards.
func grown(now, before uint64) uint64 {
	if now < before {
		return 0
	}
	return now - before
}

// cpu is the time of all processes of the server.
func cpu(s *status.Status) time.Duration {
	t := &s.Totals.CPU
	return t.User + t.System + t.ChildrenUser + t.ChildrenSystem
}

// key tells workers of the two connectors apart.
func key(w *status.Worker) string { return w.Connector + " " + w.Name }

func requests(w *status.Worker) (n uint64) {
	for _, k := range w.Requests {
		n += k
	}
	return n
}
