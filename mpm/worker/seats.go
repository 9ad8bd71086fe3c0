//go:build unix

package worker

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"jkd/scoreboard"
)

// seats are the slots of a child, the connections that are open, and which of
// them sits where. A connection has a seat while a request is read and served.
// When it waits for a request it offers its seat: as long as nobody else needs
// one it stays where it is, which costs two atomic operations, and otherwise it
// stands until its request comes. Who needs a seat and finds none queues: first
// come, first served. The acceptor has a seat for the connection that may come,
// and loses it to a request that finds no other one.
type seats struct {
	slots   []*scoreboard.Slot
	process *scoreboard.Process
	most    int // open connections; at that many no more are accepted

	// offers has the connection that offers a slot, by slot. Whoever takes it
	// out has the slot: the connection itself, or another one.
	offers []atomic.Pointer[conn]
	// wanted is how many are queueing. It is raised before they look at the
	// offers, and the offers are made before it is looked at, so that never
	// both miss each other.
	wanted atomic.Int32

	mu      sync.Mutex // guards what follows
	free    []int      // stack of slots that nobody has
	queue   []*conn    // who needs a seat
	open    map[*conn]struct{}
	door    *conn // the acceptor's, which has a seat; nil: it has none
	next    int   // where the search for an offer begins
	leaving bool  // free slots show it

	// roomC tells the acceptor that a slot or a connection has become free.
	roomC chan struct{}
	// robbed, if not nil, is called with mu held when the acceptor has lost its
	// seat, so that it does not take a connection that other children have room
	// for.
	robbed func()
}

// newSeats takes over the slots and shows them as ready. most is at least their
// number, and as long as it is not more, every connection has a seat.
func newSeats(slots []*scoreboard.Slot, process *scoreboard.Process, most int) *seats {
	s := &seats{
		slots:   slots,
		process: process,
		most:    most,
		offers:  make([]atomic.Pointer[conn], len(slots)),
		free:    make([]int, 0, len(slots)),
		open:    make(map[*conn]struct{}),
		roomC:   make(chan struct{}, 1),
	}
	for i := range slots {
		s.vacate(i)
	}
	return s
}

// parks tells whether connections may be without a seat.
func (s *seats) parks() bool { return s.most > len(s.slots) }

// offer lets others have the seat of c. If somebody waits for one it is gone at
// once.
func (s *seats) offer(c *conn) {
	s.offers[c.at].Store(c)
	if s.wanted.Load() > 0 && s.retake(c) {
		s.rise(c)
	}
}

// retake ends the offer and tells whether c still has its seat.
func (s *seats) retake(c *conn) bool {
	if s.offers[c.at].CompareAndSwap(c, nil) {
		return true
	}
	c.seat.Slot = nil
	return false
}

// rise gives up the seat of c.
func (s *seats) rise(c *conn) {
	c.seat.Slot = nil
	s.mu.Lock()
	defer s.mu.Unlock()
	s.vacate(c.at)
	s.show()
}

// sit waits for a seat for c, which has none.
func (s *seats) sit(c *conn) {
	s.mu.Lock()
	ok := s.find(c)
	s.show()
	s.mu.Unlock()
	if !ok {
		c.at = <-c.turnC
	}
	c.seat.Slot = s.slots[c.at]
}

// find gets c a seat that is free or offered, or lets it queue for one, which
// turnC will bring. Called with mu held.
func (s *seats) find(c *conn) bool {
	if n := len(s.free); n > 0 {
		c.at, s.free = s.free[n-1], s.free[:n-1]
		return true
	}
	s.wanted.Add(1)
	for range s.offers {
		s.next = (s.next + 1) % len(s.offers)
		if o := s.offers[s.next].Load(); o != nil && s.offers[s.next].CompareAndSwap(o, nil) {
			s.wanted.Add(-1)
			c.at = s.next
			return true
		}
	}
	if s.door != nil {
		c.at, s.door = s.door.at, nil
		s.wanted.Add(-1)
		if s.robbed != nil {
			s.robbed()
		}
		return true
	}
	if c.turnC == nil {
		c.turnC = make(chan int, 1)
	}
	s.queue = append(s.queue, c)
	return false
}

// vacate passes a slot on to who has waited longest, or to nobody. Called with
// mu held.
func (s *seats) vacate(at int) {
	if s.leaving {
		s.slots[at].SetStatus(scoreboard.Graceful)
	} else {
		s.slots[at].SetReady(time.Now().UnixNano())
	}
	if len(s.queue) > 0 {
		c := s.queue[0]
		s.queue = s.queue[1:]
		s.wanted.Add(-1)
		c.turnC <- at
		return
	}
	s.free = append(s.free, at)
	s.room()
}

// room makes the acceptor look again.
func (s *seats) room() {
	select {
	case s.roomC <- struct{}{}:
	default:
	}
}

// show says in the scoreboard how many connections are open, and how many of
// them have no seat. Called with mu held.
func (s *seats) show() {
	seated := len(s.slots) - len(s.free)
	if s.door != nil {
		seated--
	}
	s.process.SetConnections(len(s.open), max(len(s.open)-seated, 0))
}

// reserve waits until there is a seat for a connection that may come, and gives
// it to a, which stands for the acceptor; ok is false when stopC is closed first.
// A connection that waits for a request loses its seat to a only after the time
// given: another child may have free ones. pressed tells that requests are
// queueing: the acceptor must not keep them waiting for a connection.
func (s *seats) reserve(a *conn, patience time.Duration, stopC <-chan struct{}) (pressed, ok bool) {
	var overC <-chan time.Time
	for waited := patience <= 0; ; {
		select {
		case <-stopC:
			return false, false
		default:
		}
		s.mu.Lock()
		if len(s.open) < s.most && (waited || len(s.free) > 0) {
			break
		}
		if overC == nil && len(s.open) < s.most {
			over := time.NewTimer(patience)
			defer over.Stop()
			overC = over.C
		}
		s.mu.Unlock()
		select {
		case <-s.roomC:
		case <-overC:
			waited = true
		case <-stopC:
			return false, false
		}
	}
	if !s.find(a) {
		s.mu.Unlock()
		select {
		case a.at = <-a.turnC:
		case <-stopC:
			s.cancel(a)
			return false, false
		}
		s.mu.Lock()
	}
	s.door = a
	s.slots[a.at].SetReady(time.Now().UnixNano())
	pressed = len(s.queue) > 0
	s.mu.Unlock()
	return pressed, true
}

// release gives up the seat that is reserved, if one is.
func (s *seats) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack()
}

// giveBack is release with mu held.
func (s *seats) giveBack() {
	if a := s.door; a != nil {
		s.door = nil
		s.vacate(a.at)
	}
}

// cancel ends the queueing of a.
func (s *seats) cancel(a *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.queue, a); i >= 0 {
		s.queue = slices.Delete(s.queue, i, i+1)
		s.wanted.Add(-1)
		return
	}
	s.vacate(<-a.turnC)
}

// enter gives the reserved seat to a connection that was accepted. It has none
// if a request has taken that.
func (s *seats) enter(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = struct{}{}
	if a := s.door; a != nil {
		s.door = nil
		c.at, c.seat.Slot = a.at, s.slots[a.at]
	}
	s.show()
}

// leave is the end of a connection.
func (s *seats) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	if c.seat.Slot != nil {
		s.vacate(c.at)
	}
	s.room()
	s.show()
}

// close gives back the seat that is reserved, if one is, and makes free slots
// show that the child leaves. The acceptor calls it, last, or who would have
// started it.
func (s *seats) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	s.giveBack()
	for _, at := range s.free {
		s.slots[at].SetStatus(scoreboard.Graceful)
	}
	s.show()
}

// cut closes all connections.
func (s *seats) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		_ = c.Close()
	}
}
