//go:build unix

package worker

import (
	"sync/atomic"
	"testing"
)

// TestRunners: every connection is served once, and after close all runners end,
// those that wait and those that are busy.
func TestRunners(t *testing.T) {
	const conns, keep = 2000, 3
	var served atomic.Int32
	goC := make(chan struct{})
	busy := &conn{}
	r := runners{keep: keep, serve: func(c *conn) {
		served.Add(1)
		if c == busy {
			<-goC
		}
	}}
	for range conns {
		r.start(&conn{})
	}
	r.start(busy)
	for served.Load() != conns+1 {
		r.mu.Lock()
		if n := len(r.idle); n > keep {
			t.Fatalf("%d stay", n)
		}
		r.mu.Unlock()
	}
	r.close()
	close(goC)
	r.all.Wait()
}

// TestRunnersWarm: the one that came back last goes first.
func TestRunnersWarm(t *testing.T) {
	first, last := make(chan *conn, 1), make(chan *conn, 1)
	r := runners{idle: []chan *conn{first, last}}
	r.start(&conn{})
	if len(last) != 1 || len(first) != 0 {
		t.Error("another one was sent")
	}
}
