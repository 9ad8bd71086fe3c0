package demo

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// Serve accepts AJP13 connections from ln and answers them until ln is
// closed, which is how it is stopped: then all connections are closed, and it
// returns nil when no goroutine of it is left. It returns an error if o is
// wrong or accepting fails for good; ln is closed in any case.
func Serve(ln net.Listener, o Options) error {
	defer ln.Close()
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	s := &server{
		opts: o, log: o.Logger,
		site: newSite(o.PacketSize), sessions: newSessions(o.Route),
		done: make(chan struct{}), open: make(map[*conn]struct{}),
	}
	err = s.accept(ln)
	s.stop()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("demo: accept on %v: %w", ln.Addr(), err)
}

// server is a running container.
type server struct {
	opts     Options
	log      zerolog.Logger
	site     *site
	sessions *sessions
	done     chan struct{}  // closed by stop
	wg       sync.WaitGroup // one for each connection

	mu   sync.Mutex
	open map[*conn]struct{}
}

func (s *server) accept(ln net.Listener) error {
	var pause time.Duration
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
			s.start(nc)
		case passing(err):
			// Out of descriptors, or a peer that left early: others may end.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.log.Warn().Err(err).Msg("accept failed")
			time.Sleep(pause)
		default:
			return err
		}
	}
}

// passing tells whether accepting may work again after this error.
func passing(err error) bool {
	for _, e := range []error{syscall.ECONNABORTED, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (s *server) start(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	full := len(s.open) >= s.opts.MaxConnections
	if !full {
		s.open[c] = struct{}{}
	}
	s.mu.Unlock()
	if full {
		nc.Close()
		s.log.Warn().Int("limit", s.opts.MaxConnections).Msg("too many connections, closing the new one")
		return
	}
	s.wg.Go(func() {
		c.serve()
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
	})
}

// stop closes all connections and waits for their goroutines. No new one can
// come: accept has returned.
func (s *server) stop() {
	close(s.done)
	s.mu.Lock()
	for c := range s.open {
		c.nc.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}
