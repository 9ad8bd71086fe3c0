package jk

import (
	"fmt"
	"sync/atomic"
)

// closeReason is why a connection to a back end was closed.
type closeReason uint8

const (
	closedReuse    closeReason = iota // the container ended its answer with reuse 0
	closedError                       // an exchange failed on it
	closedClient                      // the client left before the answer was through
	closedPing                        // it did not answer CPING
	closedStale                       // found closed, or with unexpected data, before use
	closedAge                         // older than cache_timeout when about to be reused
	closedIdle                        // unused for connection_pool_timeout
	closedOverflow                    // as many as are kept were there already
	closedShutdown                    // the process ends
	closedChanged                     // to an address, or with a packet size, that is not wanted any more
	closeReasons
)

var closeReasonNames = [...]string{"reuse", "error", "client", "ping", "stale", "age", "idle", "overflow", "shutdown", "changed"}

func (r closeReason) String() string {
	if int(r) < len(closeReasonNames) {
		return closeReasonNames[r]
	}
	return fmt.Sprintf("closeReason(%d)", uint8(r))
}

// counters are what one process has done with one back end. All but busy only
// grow. They may be read at any time.
type counters struct {
	busy         atomic.Int64 // requests in hand
	requests     atomic.Uint64
	errors       atomic.Uint64 // requests that failed by the back end's fault
	clientErrors atomic.Uint64 // and by the client's
	hits         atomic.Uint64 // attempts that reused a connection
	misses       atomic.Uint64 // and those that found none to reuse
	opened       atomic.Uint64
	closed       [closeReasons]atomic.Uint64
}

// Stats is a copy of the counters of one worker in this process.
type Stats struct {
	Worker               string
	Balancer             string // that it is a member of; "" for a worker of its own
	Requests             uint64
	Errors, ClientErrors uint64
	Hits, Misses         uint64
	Opened               uint64
	Closed               map[string]uint64 // by reason: reuse, error, client, ping, stale, age, idle, overflow, shutdown, changed
	Busy                 int               // requests in hand at this moment
	Idle                 int               // connections kept at this moment
}

func (w *worker) stats() Stats {
	s := Stats{
		Worker: w.name, Requests: w.count.requests.Load(),
		Errors: w.count.errors.Load(), ClientErrors: w.count.clientErrors.Load(),
		Hits: w.count.hits.Load(), Misses: w.count.misses.Load(),
		Opened: w.count.opened.Load(), Closed: map[string]uint64{}, Busy: int(w.count.busy.Load()), Idle: w.pool.idleCount(),
	}
	for r := range closeReasons {
		s.Closed[r.String()] = w.count.closed[r].Load()
	}
	return s
}
