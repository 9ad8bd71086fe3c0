//go:build unix

package worker

import (
	"sync"
	"testing"
)

// TestQueue: every descriptor reaches exactly one thread, and never more are
// out than there are threads.
func TestQueue(t *testing.T) {
	const threads, conns = 5, 2000
	q := newQueue(threads)
	var mu sync.Mutex
	seen := make(map[int]int)
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			for {
				fd, ok := q.next(i)
				if !ok {
					return
				}
				mu.Lock()
				seen[fd]++
				mu.Unlock()
			}
		})
	}
	stopC := make(chan struct{})
	for fd := range conns {
		thread, ok := q.reserve(stopC)
		if !ok {
			t.Fatal("stopped")
		}
		q.give(thread, fd)
	}
	q.close()
	wg.Wait()
	if len(seen) != conns {
		t.Errorf("%d of %d descriptors arrived", len(seen), conns)
	}
	for fd, n := range seen {
		if n != 1 {
			t.Errorf("%d arrived %d times", fd, n)
		}
	}
}

// TestQueueStop: the acceptor can be stopped while all threads are busy, and
// a closed stop comes before an idle thread.
func TestQueueStop(t *testing.T) {
	q := newQueue(1)
	stopC := make(chan struct{})
	doneC := make(chan bool)
	go func() {
		_, ok := q.reserve(stopC)
		doneC <- ok
	}()
	close(stopC)
	if <-doneC {
		t.Error("reserved a thread that isn't there")
	}
	go q.next(0)
	if _, ok := q.reserve(stopC); ok {
		t.Error("reserved a thread after the stop")
	}
	q.close()
}

// TestQueueWarmFirst: of several idle threads the last one is taken.
func TestQueueWarmFirst(t *testing.T) {
	q := newQueue(3)
	q.idle = append(q.idle, 2, 0, 1)
	for _, want := range []int{1, 0, 2} {
		if got, ok := q.reserve(nil); got != want || !ok {
			t.Errorf("reserved %d, want %d", got, want)
		}
	}
}
