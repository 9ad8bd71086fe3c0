package jk

import (
	"sync/atomic"

	"jkd/connector/counters"
)

// requests are those of one process for one back end; they only grow.
type requests struct {
	all          atomic.Uint64
	errors       atomic.Uint64 // that failed by the back end's fault
	clientErrors atomic.Uint64 // and by the client's
}

// Stats is a copy of the counters of one worker in this process.
type Stats struct {
	Worker               string
	Balancer             string // that it is a member of; "" for a worker of its own
	Requests             uint64
	Errors, ClientErrors uint64
	Hits, Misses         uint64
	Opened               uint64
	Closed               map[string]uint64 // by the names of counters.CloseReason
	Busy                 int               // requests that have a turn at this moment
	Idle                 int               // connections kept at this moment
}

func (w *worker) stats() Stats {
	c := w.tally.Cache()
	s := Stats{
		Worker: w.name, Requests: w.count.all.Load(),
		Errors: w.count.errors.Load(), ClientErrors: w.count.clientErrors.Load(),
		Hits: c.Hits, Misses: c.Misses, Opened: c.Opened, Closed: map[string]uint64{}, Busy: c.Busy, Idle: w.pool.idleCount(),
	}
	for r := range counters.NumCloseReasons {
		s.Closed[r.String()] = c.Closed[r]
	}
	return s
}
