//go:build unix

package control

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"jkd/mpm/sock"
)

// Listener is the master's socket.
type Listener struct {
	ln     *net.UnixListener
	file   sock.UnixFile
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
	ln, file, err := sock.ListenUnix(path, 0o600, -1, -1)
	if err != nil {
		return nil, fmt.Errorf("ControlSocket %s: %w", path, err)
	}
	return &Listener{ln: ln, file: file}, nil
}

// Publish puts the socket in its place. It is called once, before or while the
// Server runs.
func (l *Listener) Publish() error {
	if err := l.file.Publish(); err != nil {
		return fmt.Errorf("ControlSocket %s: %w", l.file.Path, err)
	}
	return nil
}

// Close stops listening and removes the socket, unless another has taken its
// place. It may be called more than once.
func (l *Listener) Close() {
	l.closed.Do(func() {
		l.file.Remove()
		_ = l.ln.Close()
	})
}

// vacant tells why a socket cannot be made at path, if so.
func vacant(path string, replaces int) error {
	if len(path) > sock.MaxUnixPath {
		return fmt.Errorf("the path has more than %d bytes", sock.MaxUnixPath)
	}
	if err := sock.VacantUnix(path); !errors.Is(err, sock.ErrUnixInUse) {
		return err
	}
	r, err := (&Client{Path: path, Patience: aliveWait}).PID()
	if errors.Is(err, ErrNotRunning) { // it has ended, or its queue is full and refuses
		return sock.VacantUnix(path)
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
