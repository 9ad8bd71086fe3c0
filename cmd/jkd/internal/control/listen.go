//go:build unix

package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// MaxPath is the length of the longest path of a socket, in bytes, that every
// supported system takes.
const MaxPath = 103

// Listener is the master's socket.
type Listener struct {
	path   string
	tmp    string // where it is until Publish
	ln     *net.UnixListener
	self   fs.FileInfo // of the socket's file
	closed sync.Once
}

// Listen makes a socket for this process's user alone, which Publish puts at
// path. One that a dead process left there is replaced. So is that of the living
// process replaces (0: none), the generation before this one, which keeps what
// it accepted. It sets the process's file mode creation mask for a moment.
func Listen(path string, replaces int) (*Listener, error) {
	if err := vacant(path, replaces); err != nil {
		return nil, fmt.Errorf("ControlSocket %s: %w", path, err)
	}
	// A name of its own, then rename: there is no moment without a socket
	// at path, and nobody can connect before it is what it should be. What a
	// process has left there that was killed before it was ready is replaced.
	tmp := path + ".new"
	if len(tmp) > MaxPath {
		tmp = path // then without this nicety
	} else if err := vacant(tmp, 0); err != nil {
		return nil, fmt.Errorf("ControlSocket %s: %w", tmp, err)
	}
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("ControlSocket %s: %w", path, cause(err))
	}
	mask := syscall.Umask(0o177)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: tmp, Net: "unix"})
	syscall.Umask(mask)
	if err != nil {
		return nil, fmt.Errorf("ControlSocket %s: %w", path, cause(err))
	}
	ln.SetUnlinkOnClose(false)
	l := &Listener{path: path, tmp: tmp, ln: ln}
	if l.self, err = os.Lstat(tmp); err != nil {
		_ = ln.Close()
		_ = os.Remove(tmp)
		return nil, fmt.Errorf("ControlSocket %s: %w", path, cause(err))
	}
	return l, nil
}

// Publish puts the socket in its place. It is called once, before or while the
// Server runs.
func (l *Listener) Publish() error {
	if l.tmp == l.path {
		return nil
	}
	if err := os.Rename(l.tmp, l.path); err != nil {
		return fmt.Errorf("ControlSocket %s: %w", l.path, cause(err))
	}
	return nil
}

// Close stops listening and removes the socket, unless another has taken its
// place. It may be called more than once.
func (l *Listener) Close() {
	l.closed.Do(func() {
		for _, path := range []string{l.path, l.tmp} {
			if now, err := os.Lstat(path); err == nil && os.SameFile(now, l.self) {
				_ = os.Remove(path)
			}
		}
		_ = l.ln.Close()
	})
}

// vacant tells why a socket cannot be made at path, if so.
func vacant(path string, replaces int) error {
	if len(path) > MaxPath {
		return fmt.Errorf("the path has more than %d bytes", MaxPath)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return cause(err)
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is something else of this name, which is not a socket")
	}
	r, err := (&Client{Path: path, Patience: aliveWait}).PID()
	if errors.Is(err, ErrNotRunning) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("somebody listens there already: %w", err)
	}
	if replaces != 0 && r.PID == replaces {
		return nil
	}
	return fmt.Errorf("process %d listens there already", r.PID)
}

// aliveWait is how long a socket's owner has to say who it is.
const aliveWait = 5 * time.Second

// cause cuts the address or path, which the caller names, out of the error.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if se, ok := errors.AsType[*os.SyscallError](err); ok {
		err = se.Err
	}
	return err
}
