//go:build unix

package worker

import "sync"

// runners are the goroutines that serve connections. Some that have served one
// stay for another, because their stacks have grown to what it takes; the one
// that came back last, whose memory is warm, is the first to go again.
type runners struct {
	serve func(*conn)
	keep  int // how many stay at most

	all    sync.WaitGroup
	mu     sync.Mutex
	idle   []chan *conn // stack; guarded by mu
	closed bool         // nobody stays; guarded by mu
}

// start has c served.
func (r *runners) start(c *conn) {
	r.mu.Lock()
	n := len(r.idle)
	if n == 0 {
		r.mu.Unlock()
		r.all.Go(func() { r.run(c) })
		return
	}
	nextC := r.idle[n-1]
	r.idle = r.idle[:n-1]
	r.mu.Unlock()
	nextC <- c
}

// run is one runner.
func (r *runners) run(c *conn) {
	nextC := make(chan *conn, 1)
	for ok := true; ok; c, ok = <-nextC {
		r.serve(c)
		r.mu.Lock()
		if r.closed || len(r.idle) == r.keep {
			close(nextC)
		} else {
			r.idle = append(r.idle, nextC)
		}
		r.mu.Unlock()
	}
}

// close sends those away that wait; the others go when they are done. There
// must be no start any more.
func (r *runners) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, nextC := range r.idle {
		close(nextC)
	}
	r.idle = nil
}
