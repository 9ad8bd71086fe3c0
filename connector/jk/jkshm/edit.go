package jkshm

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Master stands for the master where the number of a server is asked for.
const Master = -1

// masterOwner is the master in a lock word; a server is its number plus one.
const masterOwner = 1 << 32

// lockWait is how long an edit waits for another one, lockPause the longest
// sleep meanwhile.
const (
	lockWait  = 2 * time.Second
	lockPause = 10 * time.Millisecond
)

// LockedError tells that a lock could not be had in time.
type LockedError struct {
	Holder int // server that held it at last, or Master
}

func (e *LockedError) Error() string {
	if e.Holder == Master {
		return "jkshm: the master is in the middle of an edit"
	}
	return fmt.Sprintf("jkshm: server %d is in the middle of an edit", e.Holder)
}

// owner is the word of a server, or Master. It panics when server is out of
// range.
func (s *Segment) owner(server int) uint64 {
	if server == Master {
		return masterOwner
	}
	if server < 0 || server >= s.layout.Servers {
		panic(fmt.Sprintf("jkshm: server %d is out of range (%d servers)", server, s.layout.Servers))
	}
	return uint64(server) + 1
}

// acquire takes a lock for owner, waiting for it no longer than wait. A word
// that names nobody is as good as a free one.
func (s *Segment) acquire(lock *atomic.Uint64, owner uint64, wait time.Duration) error {
	pause := 50 * time.Microsecond
	for {
		w := lock.Load()
		free := w == 0 || w > uint64(s.layout.Servers) && w != masterOwner
		if free && lock.CompareAndSwap(w, owner) {
			return nil
		}
		if free {
			continue // somebody was faster
		}
		if wait <= 0 {
			if w == masterOwner {
				return &LockedError{Holder: Master}
			}
			return &LockedError{Holder: int(w - 1)}
		}
		pause = min(pause, wait)
		if s.Sleep != nil {
			s.Sleep(pause)
		} else {
			time.Sleep(pause)
		}
		wait -= pause
		pause = min(2*pause, lockPause)
	}
}

// release gives a lock back, unless it was taken from its owner.
func release(lock *atomic.Uint64, owner uint64) { lock.CompareAndSwap(owner, 0) }

// edit runs fn under the edit lock.
func (s *Segment) edit(server int, fn func() error) error {
	owner := s.owner(server)
	if err := s.acquire(s.lock, owner, lockWait); err != nil {
		return err
	}
	defer release(s.lock, owner)
	s.reached("locked")
	return fn()
}

func (s *Segment) reached(point string) {
	if s.step != nil {
		s.step(point)
	}
}
