//go:build unix

package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/status"
	"jkd/mpm/sock"
)

const (
	maxLine    = 256
	maxReason  = 4000 // of an error; a client reads no longer lines
	maxClients = 4    // at a time; the others wait in the kernel's queue
	maxWaiters = 16   // clients that wait for the end

	lineWait  = 5 * time.Second  // for the command
	writeWait = 10 * time.Second // for all of the answer
)

// Server answers at a Listener.
type Server struct {
	Listener *Listener
	// Build is mpm.BuildID.
	Build uint64
	// Source is what status answers; nil: nothing.
	Source status.Source
	// Stop makes the master stop. It must not wait for that.
	Stop func(graceful bool) error
	// Reload replaces this generation by the next and returns when that serves,
	// or why it doesn't, or ErrMoved. It gives up when stop is closed; nil:
	// there is no reload.
	Reload func(hard bool, stop <-chan struct{}) error
	// Logger hears of what should not happen, and of stops.
	Logger zerolog.Logger

	mu      sync.Mutex
	open    map[*net.UnixConn]bool // connections that are being answered; nil: no more
	waiters []int                  // descriptors, see wait
}

// Run answers until stop is closed; then the socket is gone. It is called
// once. Clients of stop stay connected for as long as the process lives: their
// end of file is the proof that it does not.
func (s *Server) Run(stop <-chan struct{}) {
	s.open = make(map[*net.UnixConn]bool)
	var workers sync.WaitGroup
	for range maxClients {
		workers.Go(func() { s.work(stop) })
	}
	<-stop
	s.Listener.Close()
	s.mu.Lock()
	for c := range s.open {
		_ = c.Close()
	}
	s.open = nil
	s.mu.Unlock()
	workers.Wait()
}

// work serves one client after the other.
func (s *Server) work(stop <-chan struct{}) {
	for {
		c, err := s.Listener.ln.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as no descriptor left
			select {
			case <-stop:
				return
			case <-time.After(time.Second):
			}
			continue
		}
		if s.enter(c) {
			s.serve(c, stop)
		}
		s.leave(c)
	}
}

func (s *Server) enter(c *net.UnixConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		s.open[c] = true
	}
	return s.open != nil
}

func (s *Server) leave(c *net.UnixConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	_ = c.Close()
}

// serve answers one command.
func (s *Server) serve(c *net.UnixConn, stop <-chan struct{}) {
	// The file's mode says it already; a directory or a mode that somebody
	// has changed does not change who may stop the server.
	if uid, err := sock.PeerUID(c); err == nil && uid != 0 && uid != os.Geteuid() {
		s.Logger.Warn().Int("uid", uid).Msg("control socket: refused")
		s.refuse(c, "this is not your server")
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(lineWait))
	line, err := readLine(c)
	if err != nil {
		if errors.Is(err, errLine) {
			s.refuse(c, err.Error())
		}
		return // it had nothing to say
	}
	switch line {
	case "pid":
		s.answer(c, nil)
	case "status":
		if s.Source == nil {
			s.refuse(c, "this server keeps no status")
			return
		}
		b, err := json.Marshal(s.Source.Snapshot())
		if err != nil {
			s.refuse(c, "no status: "+err.Error())
			return
		}
		s.answer(c, b)
	case "stop", "graceful-stop":
		s.stop(c, line == "graceful-stop")
	case "graceful", "restart":
		if s.Reload == nil {
			s.refuse(c, "this jkd cannot be reloaded")
			return
		}
		s.Logger.Info().Bool("graceful", line == "graceful").Msg("control socket: told to reload")
		s.spare(c)
		if err := s.Reload(line == "restart", stop); err != nil {
			s.refuse(c, err.Error())
			return
		}
		s.answer(c, nil)
	default:
		s.refuse(c, fmt.Sprintf("unknown command %.40q", line))
	}
}

// spare keeps a connection from being closed by the end of Run, which the command
// brings about and which must not come before the answer.
func (s *Server) spare(c *net.UnixConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// stop stops the master. The client is told that it began.
func (s *Server) stop(c *net.UnixConn, graceful bool) {
	s.Logger.Info().Bool("graceful", graceful).Msg("control socket: told to stop")
	s.spare(c)
	if err := s.Stop(graceful); err != nil {
		s.refuse(c, "could not stop: "+err.Error())
		return
	}
	if !s.wait(c) {
		s.refuse(c, "it is stopping, but too many wait for that already")
		return
	}
	s.answer(c, nil)
}

// wait keeps the connection open until the process ends: a copy of its
// descriptor that nobody closes. Children do not inherit it.
func (s *Server) wait(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiters) == maxWaiters {
		return false
	}
	done := false
	_ = raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if copied, err := syscall.Dup(int(fd)); err == nil {
			syscall.CloseOnExec(copied)
			s.waiters = append(s.waiters, copied)
			done = true
		}
	})
	return done
}

func (s *Server) answer(c *net.UnixConn, body []byte) {
	_ = c.SetWriteDeadline(time.Now().Add(writeWait))
	head := fmt.Appendf(nil, "ok %016x %d\n", s.Build, os.Getpid())
	_, _ = (&net.Buffers{head, body}).WriteTo(c)
}

func (s *Server) refuse(c *net.UnixConn, reason string) {
	_ = c.SetWriteDeadline(time.Now().Add(writeWait))
	// One line: what has several becomes one.
	reason = strings.ReplaceAll(strings.TrimSpace(reason), "\n", "; ")
	_, _ = fmt.Fprintf(c, "error %s\n", reason[:min(len(reason), maxReason)])
}

// ErrMoved: another generation listens at the path now, which is to be asked.
var ErrMoved = errors.New("another generation serves now")

var errLine = fmt.Errorf("a command is a line of at most %d bytes", maxLine)

// readLine reads what there is up to the end of the first line. More than that
// is refused, as nobody has anything to say after it.
func readLine(c net.Conn) (string, error) {
	var b [maxLine + 1]byte
	for n := 0; ; {
		k, err := c.Read(b[n:])
		n += k
		switch i := bytes.IndexByte(b[:n], '\n'); {
		case i >= 0 && i == n-1:
			return string(b[:i]), nil
		case i >= 0 || n == len(b):
			return "", errLine
		case err != nil:
			return "", err
		}
	}
}
