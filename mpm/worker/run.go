//go:build unix

package worker

import (
	"sync"
	"time"

	"jkd/mpm"
	"jkd/mpm/sock"
	"jkd/scoreboard"
)

const (
	// cpuEvery is how often a child says how much processor time it has used.
	cpuEvery = time.Second
	// stopPatience is how long a hard stop waits for handlers to notice that
	// their connection was closed under them.
	stopPatience = time.Second
	// elsewhere is how long a child without a free slot leaves a connection to
	// other children before it makes room for it.
	elsewhere = 20 * time.Millisecond
	// atOnce is the longest that accept takes when the connection was there
	// already.
	atOnce = time.Millisecond
)

// server is one child. Its goroutines are the acceptor, the runners, one for
// maintenance, a reader of orders, and the one of run, which starts all others,
// decides, and waits for them.
type server struct {
	c       Config
	ch      *mpm.Child
	h       mpm.ConnHandler
	seats   *seats
	runners runners
	stopC   chan struct{} // closed by run: the acceptor must end
	// quiet ends the maintenance: it is not begun again. Called by run on an
	// order, or when no connection is left.
	quiet   func()
	quietC  chan struct{}
	acceptC chan mpm.ExitCode
}

// run is a child from its start to its end.
func run(c Config, ch *mpm.Child, h mpm.ConnHandler) mpm.ExitCode {
	wake, err := sock.NewWakePipe()
	if err != nil {
		ch.Logger.Error().Err(err).Msg("could not make a pipe")
		return mpm.ExitSick
	}
	// The orders are read here, so the control socket doesn't stay readable
	// and can't wake the acceptor itself.
	ch.Wake = wake
	acc, err := sock.NewAcceptor(ch.Listeners, wake)
	if err != nil {
		ch.Logger.Error().Err(err).Msg("could not wait for connections")
		return mpm.ExitSick
	}
	slots := make([]*scoreboard.Slot, c.ThreadsPerChild)
	for i := range slots {
		slots[i] = ch.Slot(i)
	}
	s := &server{
		c: c, ch: ch, h: h,
		seats:   newSeats(slots, ch.Process(), mostConnections(c)),
		stopC:   make(chan struct{}),
		quietC:  make(chan struct{}),
		acceptC: make(chan mpm.ExitCode, 1),
	}
	s.seats.robbed = wake.Nudge
	s.runners.serve, s.runners.keep = s.serve, c.ThreadsPerChild
	s.quiet = sync.OnceFunc(func() { close(s.quietC) })
	var readers, maintenance sync.WaitGroup
	ordersC := make(chan mpm.Order, 1)
	doneC := make(chan struct{})
	door := &conn{}
	if !ch.WaitGo() {
		s.seats.close()
		_ = acc.Close()
		return mpm.ExitOK
	}
	readers.Go(func() { s.readOrders(ordersC, doneC) })
	s.runners.all.Go(func() { s.acceptC <- s.accept(acc, door) })

	if first, ok := ch.FirstMaintain(); ok {
		maintenance.Go(func() { s.maintain(first) })
	}

	code := s.control(ordersC, &maintenance)
	close(doneC)
	ch.EndOrders()
	readers.Wait()
	ch.RecordCPU()
	return code
}

// control waits for what ends the child and sees it through.
func (s *server) control(ordersC <-chan mpm.Order, maintenance *sync.WaitGroup) mpm.ExitCode {
	var (
		code     mpm.ExitCode
		draining bool
		endC     = make(chan struct{}) // no connection is left, nor maintenance
		cpu      = time.NewTicker(cpuEvery)
	)
	defer cpu.Stop()
	drain := func() {
		if draining {
			return
		}
		draining = true
		s.ch.Process().SetQuiescing(true)
		s.ch.Wake.Set()
		close(s.stopC)
		go func() {
			s.runners.all.Wait()
			s.quiet()
			maintenance.Wait()
			close(endC)
		}()
	}
	for {
		select {
		case o := <-ordersC:
			s.quiet()
			drain()
			if o == mpm.OrderStop {
				s.seats.cut()
				select {
				case <-endC:
				case <-time.After(stopPatience):
				}
				return code
			}
		case code = <-s.acceptC:
			// It ended by itself, having had its share or an error: what is
			// connected may go on, keep-alive ends with the next answer.
			drain()
		case <-cpu.C:
			s.ch.RecordCPU()
			s.ch.Process().SetQuiescing(draining) // again, in case somebody else wrote there
		case <-endC:
			return code
		}
	}
}

// readOrders passes the orders on until there can be no more or nobody listens
// any more.
func (s *server) readOrders(ordersC chan<- mpm.Order, doneC <-chan struct{}) {
	for {
		o, err := s.ch.WaitOrder()
		select {
		case ordersC <- o:
		case <-doneC:
			return
		}
		if err != nil || o == mpm.OrderStop {
			return
		}
	}
}

// maintain calls Maintain at intervals until quiet.
func (s *server) maintain(first time.Duration) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-s.quietC:
			return
		case now := <-timer.C:
			select {
			case <-s.quietC: // both at once
				return
			default:
			}
			s.ch.Maintain(now)
			timer.Reset(s.ch.MaintainEvery)
		}
	}
}

// accept is the acceptor. It takes a connection only when there is a seat for
// it, which door holds meanwhile.
func (s *server) accept(acc *sock.Acceptor, door *conn) mpm.ExitCode {
	defer s.runners.close()
	defer s.seats.close()
	defer s.ch.CloseListeners()
	defer acc.Close()
	var backoff mpm.AcceptBackoff
	patience := elsewhere
	for n := 0; s.c.MaxConnectionsPerChild == 0 || n < s.c.MaxConnectionsPerChild; {
		pressed, ok := s.seats.reserve(door, patience, s.stopC)
		if !ok {
			return mpm.ExitOK
		}
		accept := acc.Accept
		if pressed {
			accept = acc.TryAccept
		}
		for {
			start := time.Now()
			accepted, err := accept()
			if err == nil {
				backoff.Reset()
				n++
				s.seat(accepted)
				// Where one was waiting, others may be: nobody else takes them.
				patience = elsewhere
				if time.Since(start) < atOnce {
					patience = 0
				}
				break
			}
			if mpm.Leaving(err) {
				return mpm.ExitOK
			}
			if err == sock.ErrNone {
				// Requests need all seats there are: others may have some.
				s.seats.release()
				patience = elsewhere
				break
			}
			if !backoff.Wait(err, s.ch) {
				return mpm.ExitSick
			}
		}
	}
	return mpm.ExitOK
}

// seat begins to serve a connection, in the seat that was reserved for it if it
// still is.
func (s *server) seat(accepted sock.Accepted) {
	polled := accepted.Polled()
	c := &conn{Polled: polled, seats: s.seats}
	if s.seats.parks() {
		polled.OnIdle = c.idle
	}
	s.seats.enter(c)
	if c.seat.Slot != nil {
		c.seat.Slot.SetStatus(scoreboard.BusyRead)
	}
	s.runners.start(c)
}

// serve serves a connection to its end.
func (s *server) serve(c *conn) {
	defer s.seats.leave(c)
	if c.seat.Slot == nil {
		s.seats.sit(c)
	}
	if s.seats.parks() {
		s.h.ServeConn(c, &c.seat)
	} else {
		s.h.ServeConn(c.Polled, &c.seat)
	}
}
