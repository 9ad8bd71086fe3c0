//go:build unix

package top

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"jkd/cmd/jkd/internal/status"
)

// answer is what the server said.
type answer struct {
	status *status.Status
	note   string
	err    error
}

// session is jkd -top on a terminal. One goroutine draws; a second asks the
// server, so that keys work while it doesn't answer; a third reads keys.
type session struct {
	o         Options
	screen    screen
	view      View
	now, prev *status.Status
	askC      chan struct{} // ask now
	answerC   chan answer
	asking    bool
	left      int // frames to go; negative: no end
}

func interactive(o Options, first *status.Status, v View) error {
	s := &session{
		o: o, view: v, now: first, left: -1,
		screen: screen{in: o.In, out: o.Out, colors: o.Getenv("NO_COLOR") == ""},
		askC:   make(chan struct{}), answerC: make(chan answer, 1),
	}
	if o.Frames > 0 {
		s.left = o.Frames - 1
	}
	if err := s.screen.open(); err != nil {
		return err
	}
	defer s.screen.close()

	sigC := make(chan os.Signal, 4)
	signal.Notify(sigC, syscall.SIGWINCH, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGCONT)
	defer signal.Stop(sigC)
	go s.ask()
	defer close(s.askC)
	keyC, stopKeys := readKeys(o.In)
	defer stopKeys()
	return s.run(sigC, keyC)
}

// ask asks the server whenever it is told to.
func (s *session) ask() {
	for range s.askC {
		now, note, err := s.o.Fetch()
		s.answerC <- answer{now, note, err} // has room for the only one
	}
}

func (s *session) run(sigC <-chan os.Signal, keyC <-chan []byte) error {
	timer := time.NewTimer(s.view.Interval)
	defer timer.Stop()
	if s.left == 0 {
		return s.draw()
	}
	for {
		if err := s.draw(); err != nil {
			return err
		}
		select {
		case sig := <-sigC:
			switch sig {
			case syscall.SIGWINCH:
			case syscall.SIGCONT: // stopped and gone on from elsewhere
				s.screen.close()
				if err := s.screen.open(); err != nil {
					return err
				}
			default:
				return nil
			}
		case <-timer.C:
			if !s.view.Paused {
				s.refresh()
			}
			timer.Reset(s.view.Interval)
		case a := <-s.answerC:
			s.asking = false
			s.take(a)
			if s.left > 0 && a.err == nil {
				if s.left--; s.left == 0 {
					return s.draw()
				}
			}
		case b, ok := <-keyC:
			if !ok {
				return nil // the terminal is gone
			}
			before := s.view.Interval
			if s.keys(b) {
				return nil
			}
			if s.view.Interval != before {
				timer.Reset(s.view.Interval)
			}
		}
	}
}

// refresh has the server asked, unless that is under way.
func (s *session) refresh() {
	if !s.asking {
		s.asking = true
		s.askC <- struct{}{}
	}
}

// take keeps an answer; without one the last frame stays, and says so.
func (s *session) take(a answer) {
	if a.err != nil {
		s.view.Note = fmt.Sprintf("%v (as of %s)", a.err, s.now.Server.Now.Format(time.TimeOnly))
		return
	}
	s.view.Note = a.note
	s.prev, s.now = s.now, a.status
}

// keys carries keys out; true: it is over.
func (s *session) keys(b []byte) (quit bool) {
	for len(b) > 0 {
		k, n := nextKey(b)
		b = b[n:]
		switch s.view.Key(k) {
		case Quit:
			return true
		case Refresh:
			s.refresh()
		case Suspend:
			s.screen.close()
			_ = syscall.Kill(0, syscall.SIGSTOP) // the whole job, as the terminal does
			_ = s.screen.open()
		}
	}
	return false
}

func (s *session) draw() error {
	s.view.Width, s.view.Height = s.screen.size()
	return s.screen.draw(Frame(s.now, s.prev, &s.view), s.view.Height)
}

// readKeys reads what is typed. After stop nobody takes it any more; the
// goroutine ends with the next key, or with the process.
func readKeys(in *os.File) (keyC <-chan []byte, stop func()) {
	c, done := make(chan []byte), make(chan struct{})
	go func() {
		defer close(c)
		for {
			b := make([]byte, 256)
			n, err := in.Read(b)
			if err != nil || n == 0 {
				return
			}
			select {
			case c <- b[:n]:
			case <-done:
				return
			}
		}
	}()
	return c, func() { close(done); _ = in.SetReadDeadline(time.Now()) }
}
