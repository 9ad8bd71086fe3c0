//go:build unix

package worker

import (
	"sync"
	"sync/atomic"
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
)

// server is one child. Its goroutines are the acceptor, ThreadsPerChild
// threads, one for maintenance, a reader of orders, and the one of run, which
// starts all others, decides, and waits for them.
type server struct {
	c     Config
	ch    *mpm.Child
	h     mpm.ConnHandler
	queue *queue
	// conns are the connections being served, by thread: set by the thread,
	// read by run to close them.
	conns []atomic.Pointer[sock.Polled]
	stopC chan struct{} // closed by run: the acceptor must end
	// quiet ends the maintenance: it is not begun again. Called by run on an
	// order, or when no thread is left.
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
	s := &server{
		c: c, ch: ch, h: h,
		queue:   newQueue(c.ThreadsPerChild),
		conns:   make([]atomic.Pointer[sock.Polled], c.ThreadsPerChild),
		stopC:   make(chan struct{}),
		quietC:  make(chan struct{}),
		acceptC: make(chan mpm.ExitCode, 1),
	}
	s.quiet = sync.OnceFunc(func() { close(s.quietC) })
	var readers, threads, maintenance sync.WaitGroup
	ordersC := make(chan mpm.Order, 1)
	doneC := make(chan struct{})
	for i := range c.ThreadsPerChild {
		threads.Go(func() { s.thread(i) })
	}
	if !ch.WaitGo() {
		s.queue.close()
		threads.Wait()
		_ = acc.Close()
		return mpm.ExitOK
	}
	readers.Go(func() { s.readOrders(ordersC, doneC) })
	threads.Go(func() { s.acceptC <- s.accept(acc) })

	if first, ok := ch.FirstMaintain(); ok {
		maintenance.Go(func() { s.maintain(first) })
	}

	code := s.control(ordersC, &threads, &maintenance)
	close(doneC)
	ch.EndOrders()
	readers.Wait()
	ch.RecordCPU()
	return code
}

// control waits for what ends the child and sees it through.
func (s *server) control(ordersC <-chan mpm.Order, threads, maintenance *sync.WaitGroup) mpm.ExitCode {
	var (
		code     mpm.ExitCode
		draining bool
		endC     = make(chan struct{}) // no thread is left, nor maintenance
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
			threads.Wait()
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
				s.closeAll()
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

// accept is the acceptor. It takes a connection only for a thread that waits.
func (s *server) accept(acc *sock.Acceptor) mpm.ExitCode {
	defer s.queue.close()
	defer s.ch.CloseListeners()
	defer acc.Close()
	var backoff mpm.AcceptBackoff
	for n := 0; s.c.MaxConnectionsPerChild == 0 || n < s.c.MaxConnectionsPerChild; {
		thread, ok := s.queue.reserve(s.stopC)
		if !ok {
			return mpm.ExitOK
		}
		for {
			accepted, err := acc.Accept()
			if err == nil {
				backoff.Reset()
				n++
				s.queue.give(thread, accepted.FD)
				break
			}
			if mpm.Leaving(err) {
				return mpm.ExitOK
			}
			if !backoff.Wait(err, s.ch) {
				return mpm.ExitSick
			}
		}
	}
	return mpm.ExitOK
}

// thread serves one connection after the other and owns one slot.
func (s *server) thread(i int) {
	slot := s.ch.Slot(i)
	for {
		slot.SetReady(time.Now().UnixNano())
		fd, ok := s.queue.next(i)
		if !ok {
			break
		}
		slot.SetStatus(scoreboard.BusyRead)
		conn, err := sock.NewPolled(fd)
		if err != nil {
			s.ch.Logger.Error().Err(err).Int("thread", i).Msg("could not serve a connection")
			continue
		}
		s.conns[i].Store(conn)
		s.h.ServeConn(conn, slot)
		s.conns[i].Store(nil)
	}
	slot.SetStatus(scoreboard.Graceful)
}

// closeAll cuts all connections.
func (s *server) closeAll() {
	for i := range s.conns {
		if c := s.conns[i].Load(); c != nil {
			_ = c.Close()
		}
	}
}
