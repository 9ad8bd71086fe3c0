package jk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"jkd/connector"
)

// ownNames are the names of a connector that has no master: requests ask for
// them when that is due.
type ownNames struct {
	names Names
	mu    sync.Mutex
	edits atomic.Uint64 // of the last round
	next  atomic.Int64  // unix ns; 0: no name is ever due
}

// keep asks for the names that are due. While somebody asks, others go on with
// what there is.
func (o *ownNames) keep(w *worker, suspect bool) {
	now := w.now()
	old := o.edits.Load() != w.seg.Edits()
	if next := o.next.Load(); !old && !suspect && (next == 0 || now.UnixNano() < next) {
		return
	}
	if !o.mu.TryLock() {
		if l := w.live(); len(l.addrs) > 0 && !suspect {
			return
		}
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	start := time.Now()
	o.names.group()
	o.names.round(context.Background(), o.names.due(now), func() time.Time { return now.Add(time.Since(start)) })
	o.edits.Store(w.seg.Edits())
	if next := o.names.next(); next.IsZero() {
		o.next.Store(0)
	} else {
		o.next.Store(max(next.UnixNano(), 1))
	}
}

// errUnresolved is why nobody can be connected to at a name.
var errUnresolved = errors.New("the host name is not resolved")

func (w *worker) unresolved(l *live) *connector.Error {
	return &connector.Error{Worker: w.name, Addr: l.address(), Op: "resolve", Status: 503, Recoverable: true,
		Err: fmt.Errorf("can't resolve %s: %w", l.s.Host, errUnresolved)}
}

// reachable tells whether there is an address to connect to: a member that has
// none is not eligible. A port of 0 is another matter: such a member is stopped.
func (w *worker) reachable() bool {
	if w.own != nil {
		w.own.keep(w, false)
	}
	l := w.live()
	return len(l.addrs) > 0 || l.s.Port == 0
}

const (
	// movedWait is how long a request waits for the master to look a name up
	// again. It does so only once in movedPause in each process.
	movedWait  = 500 * time.Millisecond
	movedPause = time.Second
)

// moved tells the master that nobody takes a connection at the addresses of l,
// waits for what it finds, and returns whether there are others now. lookUps is
// how many look-ups there were before the attempt.
func (w *worker) moved(l *live, lookUps uint64) bool {
	if l.numeric {
		return false
	}
	w.rec.Suspect()
	if w.own != nil {
		w.own.keep(w, true)
	} else if now, last := time.Now(), w.asked.Load(); over(now.UnixNano()-last, movedPause) && w.asked.CompareAndSwap(last, now.UnixNano()) {
		for end := now.Add(movedWait); w.rec.LookUps.Load() == lookUps && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
	}
	return !slices.Equal(w.live().addrs, l.addrs)
}

// over tells whether a pause is, of which so many nanoseconds have passed: less
// than none where the clock was set back.
func over(passed int64, pause time.Duration) bool { return passed < 0 || passed >= int64(pause) }
