//go:build unix

package worker

import "sync"

// queue brings accepted connections to waiting threads. It holds none: the
// acceptor reserves a thread before it accepts, and everything else waits in
// the kernel. The thread that became idle last is reserved first, because its
// memory is warm.
type queue struct {
	mu    sync.Mutex
	idle  []int         // stack of waiting threads; guarded by mu
	idleC chan struct{} // tells the acceptor that the stack is no longer empty
	connC []chan int    // one a thread, for one descriptor
}

func newQueue(threads int) *queue {
	q := &queue{
		idle:  make([]int, 0, threads),
		idleC: make(chan struct{}, 1),
		connC: make([]chan int, threads),
	}
	for i := range q.connC {
		q.connC[i] = make(chan int, 1)
	}
	return q
}

// next is called by a thread that has nothing to do. It returns a connection,
// or false when there will be no more.
func (q *queue) next(thread int) (int, bool) {
	q.mu.Lock()
	q.idle = append(q.idle, thread)
	q.mu.Unlock()
	select {
	case q.idleC <- struct{}{}:
	default:
	}
	fd, ok := <-q.connC[thread]
	return fd, ok
}

// reserve waits until a thread is idle and takes it, or returns false when
// stopC is closed first. Only the acceptor calls it.
func (q *queue) reserve(stopC <-chan struct{}) (int, bool) {
	for {
		select {
		case <-stopC:
			return 0, false
		default:
		}
		q.mu.Lock()
		if n := len(q.idle); n > 0 {
			thread := q.idle[n-1]
			q.idle = q.idle[:n-1]
			q.mu.Unlock()
			return thread, true
		}
		q.mu.Unlock()
		select {
		case <-q.idleC:
		case <-stopC:
			return 0, false
		}
	}
}

// give hands fd to a reserved thread; it never waits.
func (q *queue) give(thread, fd int) { q.connC[thread] <- fd }

// close ends the threads once they are idle. Only the acceptor calls it, last,
// or who would have started it.
func (q *queue) close() {
	for _, c := range q.connC {
		close(c)
	}
}
