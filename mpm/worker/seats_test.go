//go:build unix

package worker

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jkd/scoreboard"
)

// never is a patience that does not run out.
const never = time.Hour

// testSeats are n seats on a board of their own, for at most so many
// connections, and what the board says of them.
func testSeats(t *testing.T, n, most int) (*seats, func() scoreboard.ProcessScore) {
	t.Helper()
	l := scoreboard.Layout{ServerLimit: 1, ThreadLimit: n}
	size, err := scoreboard.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	board, err := scoreboard.New(make([]byte, size), l, scoreboard.Global{})
	if err != nil {
		t.Fatal(err)
	}
	slots := make([]*scoreboard.Slot, n)
	for i := range slots {
		slots[i] = board.Slot(0, i)
	}
	return newSeats(slots, board.Process(0), most), func() scoreboard.ProcessScore {
		var v scoreboard.View
		board.Snapshot(&v)
		return v.Processes[0]
	}
}

// admit lets a connection in as the acceptor does.
func admit(t *testing.T, s *seats, door *conn) *conn {
	t.Helper()
	if _, ok := s.reserve(door, 0, nil); !ok {
		t.Fatal("no seat")
	}
	c := &conn{}
	s.enter(c)
	return c
}

// TestSeats: many connections that come and go and wait between their requests
// never sit in each other's seats, and all get theirs.
func TestSeats(t *testing.T) {
	const threads, conns, requests = 3, 40, 200
	s, shown := testSeats(t, threads, conns)
	var taken [threads]atomic.Int32
	var served atomic.Int32
	var wg sync.WaitGroup
	door := &conn{}
	for range conns {
		c := admit(t, s, door)
		wg.Go(func() {
			defer s.leave(c)
			if c.seat.Slot == nil {
				s.sit(c)
			}
			for range requests {
				if taken[c.at].Add(1) != 1 || c.seat.Slot != s.slots[c.at] {
					t.Error("two connections in one seat")
				}
				c.seat.Slot.SetStatus(scoreboard.BusyWrite)
				runtime.Gosched()
				taken[c.at].Add(-1)
				served.Add(1)
				s.offer(c)
				if rand.N(4) == 0 {
					runtime.Gosched()
				}
				if !s.retake(c) {
					s.sit(c)
				}
			}
		})
	}
	wg.Wait()
	if n := served.Load(); n != conns*requests {
		t.Errorf("%d requests served", n)
	}
	if len(s.free) != threads || len(s.queue) != 0 || s.wanted.Load() != 0 || len(s.open) != 0 {
		t.Errorf("%d seats are free, %d (%d) wait, %d are open", len(s.free), len(s.queue), s.wanted.Load(), len(s.open))
	}
	if p := shown(); p.Connections != 0 || p.Parked != 0 {
		t.Errorf("the board shows %d connections, %d parked", p.Connections, p.Parked)
	}
}

// TestSeatsOffered: a seat on offer is taken when there is no free one, and the
// board tells how many are without.
func TestSeatsOffered(t *testing.T) {
	s, shown := testSeats(t, 2, 10)
	door := &conn{}
	a, b := admit(t, s, door), admit(t, s, door)
	s.offer(a)
	c := admit(t, s, door)
	if c.at != a.at || s.retake(a) || a.seat.Slot != nil {
		t.Error("the seat on offer was not taken")
	}
	if p := shown(); p.Connections != 3 || p.Parked != 1 {
		t.Errorf("the board shows %d connections, %d parked", p.Connections, p.Parked)
	}
	s.offer(b)
	if !s.retake(b) || b.seat.Slot == nil {
		t.Error("a seat that nobody wants is gone")
	}
	s.rise(b)
	if s.sit(a); a.at != b.at {
		t.Error("the free seat was not taken")
	}
	s.leave(b)
	if p := shown(); p.Connections != 2 || p.Parked != 0 {
		t.Errorf("the board shows %d connections, %d parked", p.Connections, p.Parked)
	}
}

// TestSeatsQueue: who finds no seat gets the first one that is offered or
// becomes free, in the order of coming.
func TestSeatsQueue(t *testing.T) {
	s, _ := testSeats(t, 2, 10)
	door := &conn{}
	a, b := admit(t, s, door), admit(t, s, door)
	first, second := &conn{}, &conn{}
	gotC := make(chan *conn)
	for i, c := range []*conn{first, second} {
		go func() { s.sit(c); gotC <- c }()
		for int(s.wanted.Load()) != i+1 {
			runtime.Gosched()
		}
	}
	s.offer(a)
	if c := <-gotC; c != first || c.at != a.at || a.seat.Slot != nil {
		t.Error("the offer went to somebody else")
	}
	s.leave(b)
	if c := <-gotC; c != second || c.at != b.at {
		t.Error("the free seat went to somebody else")
	}
}

// TestSeatsPatience: the acceptor takes a free seat, the last one first, but
// nobody's offer before its time; nor is there one beyond the limit.
func TestSeatsPatience(t *testing.T) {
	s, _ := testSeats(t, 3, 4)
	door := &conn{}
	var conns []*conn
	for _, want := range []int{2, 1, 0} {
		conns = append(conns, admit(t, s, door))
		if got := conns[len(conns)-1].at; got != want {
			t.Errorf("slot %d, want %d", got, want)
		}
	}
	s.offer(conns[0])
	gotC := make(chan bool)
	go func() { _, ok := s.reserve(door, never, nil); gotC <- ok }()
	s.leave(conns[1])
	if !<-gotC || door.at != conns[1].at || !s.retake(conns[0]) {
		t.Error("the free seat was not taken")
	}
	s.enter(&conn{})
	s.offer(conns[0])
	last := admit(t, s, door)
	stopC := make(chan struct{})
	go func() { _, ok := s.reserve(door, 0, stopC); gotC <- ok }()
	s.offer(last)
	close(stopC)
	if <-gotC {
		t.Error("a seat beyond the limit")
	}
}

// TestSeatsFixed: with as many connections as slots, nobody loses a seat.
func TestSeatsFixed(t *testing.T) {
	s, _ := testSeats(t, 1, 1)
	door := &conn{}
	a := admit(t, s, door)
	gotC := make(chan bool)
	go func() { _, ok := s.reserve(door, 0, nil); gotC <- ok }()
	s.leave(a)
	if !<-gotC {
		t.Error("no seat")
	}
	if s.parks() {
		t.Error("connections may be parked")
	}
}

// TestSeatsStop: the acceptor can be stopped while it waits in the queue, and a
// closed stop comes before a free seat.
func TestSeatsStop(t *testing.T) {
	s, _ := testSeats(t, 1, 10)
	door := &conn{}
	a := admit(t, s, door)
	stopC := make(chan struct{})
	gotC := make(chan bool)
	go func() { _, ok := s.reserve(door, 0, stopC); gotC <- ok }()
	for s.wanted.Load() != 1 {
		runtime.Gosched()
	}
	close(stopC)
	if <-gotC || s.wanted.Load() != 0 || len(s.queue) != 0 {
		t.Error("still waiting for a seat")
	}
	s.close()
	s.leave(a)
	if st := s.slots[0].Status(); st != scoreboard.Graceful {
		t.Errorf("the slot of a child that leaves is %s", st)
	}
	if _, ok := s.reserve(door, 0, stopC); ok {
		t.Error("a seat after the stop")
	}
}

// TestSeatsRobbed: the acceptor's seat goes to a request that finds no other
// one, and it hears of that; a connection that it takes all the same queues.
func TestSeatsRobbed(t *testing.T) {
	s, _ := testSeats(t, 2, 10)
	robbed := 0
	s.robbed = func() { robbed++ }
	door := &conn{}
	a, b := admit(t, s, door), admit(t, s, door)
	s.offer(a)
	if pressed, ok := s.reserve(door, 0, nil); pressed || !ok || door.at != a.at {
		t.Fatal("no seat for the acceptor")
	}
	if s.retake(a) {
		t.Fatal("the seat on offer was not taken")
	}
	if s.sit(a); a.at != door.at || a.seat.Slot == nil || robbed != 1 {
		t.Errorf("a request waits for a seat that only the acceptor has; it was told %d times", robbed)
	}
	late := &conn{}
	if s.enter(late); late.seat.Slot != nil {
		t.Error("two connections in one seat")
	}
	s.release() // nothing: it has none
	gotC := make(chan bool)
	go func() { s.sit(late); gotC <- true }()
	for s.wanted.Load() != 1 {
		runtime.Gosched()
	}
	s.leave(b)
	if <-gotC; late.at != b.at || late.seat.Slot == nil {
		t.Error("the connection has got no seat")
	}
}

// TestSeatsPressed: an acceptor whose turn it is while requests queue is told,
// and what it gives back is the next one's.
func TestSeatsPressed(t *testing.T) {
	s, _ := testSeats(t, 1, 10)
	door := &conn{}
	a := admit(t, s, door)
	pressedC, gotC := make(chan bool), make(chan bool)
	go func() { pressed, _ := s.reserve(door, 0, nil); pressedC <- pressed }()
	for s.wanted.Load() != 1 {
		runtime.Gosched()
	}
	b := &conn{}
	go func() { s.sit(b); gotC <- true }()
	for s.wanted.Load() != 2 {
		runtime.Gosched()
	}
	s.leave(a)
	if !<-pressedC {
		t.Error("the acceptor does not know that a request queues")
	}
	s.release()
	if <-gotC; b.seat.Slot == nil {
		t.Error("the seat that was given back is nobody's")
	}
}
