//go:build unix

package main_test

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// crowd are clients that ask again and again until they are sent home, every
// other one on a connection that it keeps for as long as the server does. They
// try nothing twice: what is lost or refused is seen.
type crowd struct {
	s              *server
	addr           string
	answered, lost atomic.Int64
	faults         sync.Map // what was lost, by its text
	stop           func()
	stopC          chan struct{}
	clients        sync.WaitGroup
}

// crowd lets n clients in, to whom path has to be answered with 200.
func (s *server) crowd(n int, path string) *crowd { return s.crowdAt(s.addr, n, path) }

// crowdAt lets it in at another address of the server.
func (s *server) crowdAt(addr string, n int, path string) *crowd {
	c := &crowd{s: s, addr: addr, stopC: make(chan struct{})}
	c.stop = sync.OnceFunc(func() { close(c.stopC) })
	s.t.Cleanup(c.stop)
	for i := range n {
		c.clients.Go(func() { c.client(path, i%2 == 0) })
	}
	return c
}

func (c *crowd) client(path string, keep bool) {
	var k *conn
	defer func() {
		if k != nil {
			k.Close()
		}
	}()
	for {
		select {
		case <-c.stopC:
			return
		default:
		}
		var err error
		if k == nil {
			k, err = dialErr(c.addr)
		}
		kept := false
		if err == nil {
			kept, err = k.once(path, keep)
		}
		if err != nil {
			c.lost.Add(1)
			c.faults.Store(err.Error(), true)
		} else {
			c.answered.Add(1)
		}
		if k != nil && !kept {
			k.Close()
			k = nil
		}
	}
}

// once is one request; kept tells whether the connection stays.
func (c *conn) once(path string, keep bool) (kept bool, err error) {
	fields := []string{"Connection: close"}
	if keep {
		fields = nil
	}
	if err := c.send("GET "+path, fields...); err != nil {
		return false, err
	}
	r, err := c.response("GET")
	if err != nil {
		return false, err
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return false, err
	}
	if r.StatusCode != 200 {
		return false, fmt.Errorf("status %d", r.StatusCode)
	}
	return keep && !r.Close, nil
}

// home ends the crowd. Up to mayLose requests may have been lost.
func (c *crowd) home(mayLose int64) {
	c.s.t.Helper()
	c.stop()
	c.clients.Wait()
	if n := c.lost.Load(); n > mayLose {
		c.s.t.Errorf("%d requests are lost beside %d that were answered, at most %d may be", n, c.answered.Load(), mayLose)
		c.faults.Range(func(k, _ any) bool { c.s.t.Log(k); return true })
	}
}
