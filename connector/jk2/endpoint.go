package jk2

import (
	"sync"
	"sync/atomic"

	"jkd/connector/ajp"
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
}

// disconnect closes the connection, if there is one.
func (e *endpoint) disconnect() {
	if e.conn != nil {
		_ = e.conn.Close()
		e.conn, e.reused = nil, false
	}
}

// cache keeps the endpoints of one worker in one process, as mod_jk2 does: the
// one that was returned last is taken first, all are kept, for as long as the
// process lives and without a limit of time. The only limit there can be is
// max_connections, on how many there are: with all of them in use a request is
// refused at once.
type cache struct {
	mu     sync.Mutex
	idle   []*endpoint // the one returned last at the end
	made   int         // endpoints there are, in use or not
	closed bool

	hits, misses, refused atomic.Uint64
}

// take returns an endpoint, or nil when limit of them are in use; 0 is no
// limit. One that is new, and gets its record from record, is not connected.
func (c *cache) take(limit int, record func() *jk2shm.Endpoint) *endpoint {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		e := c.idle[n-1]
		c.idle[n-1] = nil
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return e
	}
	if limit > 0 && c.made >= limit {
		c.mu.Unlock()
		c.refused.Add(1)
		return nil
	}
	c.made++
	c.mu.Unlock()
	return &endpoint{record: record()}
}

// give returns an endpoint. Once the cache is shut it is disconnected.
func (c *cache) give(e *endpoint) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		e.disconnect()
		return
	}
	c.idle = append(c.idle, e)
	c.mu.Unlock()
}

// shut disconnects all idle endpoints, and those in use when they are returned.
func (c *cache) shut() {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	c.idle = nil
	c.mu.Unlock()
	for _, e := range idle {
		e.disconnect()
	}
}

// drop disconnects all idle endpoints and keeps them: they lead to an address
// that is no longer the container's.
func (c *cache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.idle {
		e.disconnect()
	}
}

// counts is how many endpoints there are, how many of them are idle, and how
// many of those are connected.
func (c *cache) counts() (made, idle, connected int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.idle {
		if e.conn != nil {
			connected++
		}
	}
	return c.made, len(c.idle), connected
}
