package jk

import (
	"time"

	"jkd/connector/counters"
)

const (
	// pingBudget is how long the pings of one run of maintenance may take: a
	// process of prefork serves nobody meanwhile.
	pingBudget = 3 * time.Second
	// pingLeast is the least time that makes an answer possible.
	pingLeast = 250 * time.Millisecond
)

// Maintain is the maintenance of this process's connections, mod_jk's local
// maintenance: it closes those that have been idle for too long or lead where
// nobody is any more, and asks the others for a sign of life
// (connection_ping_interval). It is called every worker.maintain, not twice at
// the same time, and may run beside requests.
func (c *Connector) Maintain(now time.Time) {
	var all []*worker
	for _, w := range c.workers {
		if w != nil {
			all = append(all, w)
		}
	}
	all = append(all, c.members...)
	end := time.Now().Add(pingBudget)
	// Where the time was up, the next run begins.
	first := c.maintained
	for i := range all {
		at := (first + i) % len(all)
		if !all[at].maintain(now, end) && c.maintained == first {
			c.maintained = at
		}
	}
}

// maintain looks after the idle connections to one back end. It returns false
// when the time was up.
func (w *worker) maintain(now, end time.Time) bool {
	if w.own != nil {
		w.own.keep(w, false)
	}
	l := w.live()
	w.pool.drop(counters.ClosedChanged, func(c *pooled) bool { return !l.fits(c) })
	w.pool.trim(w.share(l))
	w.pool.sweep(now, l.s.ConnectionPoolTimeout)
	return w.ping(now, end, l)
}

// ping asks the connections that nobody has used for connection_ping_interval.
// A ping is no use: it does not make a connection younger.
func (w *worker) ping(now, end time.Time, l *live) bool {
	interval, timeout := l.s.ConnectionPingInterval, l.s.PingTimeout
	if interval <= 0 || timeout <= 0 {
		return true
	}
	due := func(c *pooled) bool { return now.Sub(c.since) > interval && now.Sub(c.pinged) > interval }
	for {
		left := time.Until(end)
		if left < min(timeout, pingLeast) {
			return false
		}
		c := w.pool.borrow(due)
		if c == nil {
			return true
		}
		wait := min(timeout, left)
		start := time.Now()
		err := c.CPing(wait)
		c.pinged = now
		w.pool.putBack(c, err == nil)
		if err == nil {
			continue
		}
		w.log.Info().Str("worker", w.name).Str("address", c.addr).AnErr("cause", err).Msg("keepalive cping/cpong failure: an idle connection is closed")
		w.pool.close(c, counters.ClosedPing)
		if time.Since(start) >= wait {
			// Each of the others might cost as much; opening one costs little.
			w.pool.drop(counters.ClosedStale, due)
		}
	}
}
