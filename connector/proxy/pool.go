package proxy

import (
	"errors"
	"sync"
	"time"

	"jkd/connector/counters"
)

// endpoint is a connection to a back end, or the place for one. One request at
// a time has it.
type endpoint struct {
	conn  link // nil: not connected
	addr  string
	used  bool // conn has carried a request
	since time.Time
}

// pool keeps the connections of one process to one back end, as mod_proxy's
// does: at most limit of them, of which the one used last is taken first.
type pool struct {
	places chan struct{} // one for each that is in use; nil: no limit
	smax   int
	ttl    time.Duration
	tally  *counters.Record

	mu     sync.Mutex
	idle   []*endpoint // connected ones; the one used last at the end
	told   int
	closed bool
}

func (p *pool) init(limit, smax int, ttl time.Duration, tally *counters.Record) {
	p.smax, p.ttl, p.tally = smax, ttl, tally
	if limit > 0 {
		p.places = make(chan struct{}, limit)
	}
}

var errBusy = errors.New("all connections of this process are in use (max)")

// take returns a connection, or the place for one. It waits for one, as long as
// acquire says, without limit if that is 0.
func (p *pool) take(acquire time.Duration, now time.Time) (*endpoint, error) {
	if p.places != nil {
		select {
		case p.places <- struct{}{}:
		default:
			if err := p.wait(acquire); err != nil {
				p.tally.Refused()
				return nil, err
			}
		}
	}
	p.tally.AddBusy(1)
	p.mu.Lock()
	p.expire(now)
	var e *endpoint
	if n := len(p.idle); n > 0 {
		e = p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
	}
	p.unlock()
	if e == nil {
		e = &endpoint{}
	}
	return e, nil
}

func (p *pool) wait(acquire time.Duration) error {
	var late <-chan time.Time
	if acquire > 0 {
		t := time.NewTimer(acquire)
		defer t.Stop()
		late = t.C
	}
	select {
	case p.places <- struct{}{}:
		return nil
	case <-late:
		return errBusy
	}
}

// expire closes what has not been used for ttl, but for smax of them if that is
// set.
func (p *pool) expire(now time.Time) {
	if p.ttl <= 0 {
		return
	}
	n := 0
	for n < len(p.idle) && now.Sub(p.idle[n].since) >= p.ttl && (p.smax < 0 || len(p.idle)-n > p.smax) {
		p.disconnect(p.idle[n], counters.ClosedIdle)
		n++
	}
	if n > 0 {
		k := copy(p.idle, p.idle[n:])
		clear(p.idle[k:])
		p.idle = p.idle[:k]
	}
}

// give returns what take has returned.
func (p *pool) give(e *endpoint, now time.Time) {
	p.tally.AddBusy(-1)
	p.mu.Lock()
	if e.conn != nil && p.closed {
		p.disconnect(e, counters.ClosedShutdown)
	}
	if e.conn != nil {
		e.since = now
		p.idle = append(p.idle, e)
	}
	p.unlock()
	if p.places != nil {
		<-p.places
	}
}

// unlock ends a change of the idle connections.
func (p *pool) unlock() {
	var oldest time.Time
	if len(p.idle) > 0 {
		oldest = p.idle[0].since
	}
	p.tally.AddIdle(len(p.idle)-p.told, oldest)
	p.told = len(p.idle)
	p.mu.Unlock()
}

// disconnect closes the connection of an endpoint, if there is one.
func (p *pool) disconnect(e *endpoint, why counters.CloseReason) {
	if e.conn != nil {
		_ = e.conn.close()
		e.conn, e.used = nil, false
		p.tally.Closed(why)
	}
}

// drop closes all idle connections.
func (p *pool) drop(why counters.CloseReason) {
	p.mu.Lock()
	for _, e := range p.idle {
		p.disconnect(e, why)
	}
	clear(p.idle)
	p.idle = p.idle[:0]
	p.unlock()
}

// shut closes all idle connections, and those in use when they are returned.
func (p *pool) shut() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.drop(counters.ClosedShutdown)
}
