package jk2

import (
	"sync"
	"time"

	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/jk2/jk2shm"
)

// endpoint is a connection to a container, or the place for one. One request at
// a time has it; between requests it lies in the cache of its worker, with its
// connection if that is still good.
type endpoint struct {
	conn   *ajp.Conn        // nil: not connected
	addr   string           // that conn leads to
	reused bool             // conn has carried a request before
	record *jk2shm.Endpoint // in jk2.shm; nil: none
	since  time.Time        // when it was returned
}

// cache keeps the endpoints of one worker in one process, as mod_jk2 does: the
// one that was returned last is taken first, all are kept, for as long as the
// process lives and without a limit of time. The only limit there can be is
// max_connections, on how many there are: with all of them in use a request is
// refused at once.
type cache struct {
	mu   sync.Mutex  // given back by unlock
	idle []*endpoint // the one returned last at the end
	made int         // endpoints there are, in use or not
	// Of those that are idle, connected are connected, and none before first
	// is; told is how many tally was told of.
	connected, first, told int
	closed                 bool

	tally *counters.Record
}

// unlock ends a change of the idle endpoints.
func (c *cache) unlock() {
	c.first = min(c.first, len(c.idle))
	var oldest time.Time
	if c.first < len(c.idle) {
		oldest = c.idle[c.first].since
	}
	c.tally.AddIdle(c.connected-c.told, oldest)
	c.told = c.connected
	c.mu.Unlock()
}

// disconnect closes the connection of an endpoint, if there is one.
func (c *cache) disconnect(e *endpoint, why counters.CloseReason) {
	if e.conn != nil {
		_ = e.conn.Close()
		e.conn, e.reused = nil, false
		c.tally.Closed(why)
	}
}

// take returns an endpoint, or nil when limit of them are in use; 0 is no
// limit. One that is new, and gets its record from record, is not connected.
func (c *cache) take(limit int, record func() *jk2shm.Endpoint) *endpoint {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		e := c.idle[n-1]
		c.idle[n-1] = nil
		c.idle = c.idle[:n-1]
		if e.conn != nil {
			c.connected--
		}
		c.unlock()
		c.tally.AddBusy(1)
		return e
	}
	if limit > 0 && c.made >= limit {
		c.mu.Unlock()
		c.tally.Refused()
		return nil
	}
	c.made++
	c.mu.Unlock()
	c.tally.AddBusy(1)
	return &endpoint{record: record()}
}

// give returns an endpoint. Once the cache is shut it is disconnected.
func (c *cache) give(e *endpoint, now time.Time) {
	c.tally.AddBusy(-1)
	e.since = now
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		c.disconnect(e, counters.ClosedShutdown)
		return
	}
	c.idle = append(c.idle, e)
	switch {
	case e.conn != nil:
		c.connected++
	case c.first == len(c.idle)-1:
		c.first++
	}
	c.unlock()
}

// shut disconnects all idle endpoints, and those in use when they are returned.
func (c *cache) shut() {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	c.idle, c.connected = nil, 0
	c.unlock()
	for _, e := range idle {
		c.disconnect(e, counters.ClosedShutdown)
	}
}

// drop disconnects all idle endpoints and keeps them: they lead to an address
// that is no longer the container's, or are as old as one that was lost.
func (c *cache) drop(why counters.CloseReason) {
	c.mu.Lock()
	defer c.unlock()
	for _, e := range c.idle {
		c.disconnect(e, why)
	}
	c.connected, c.first = 0, len(c.idle)
}

// counts is how many endpoints there are, how many of them are idle, and how
// many of those are connected.
func (c *cache) counts() (made, idle, connected int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made, len(c.idle), c.connected
}
