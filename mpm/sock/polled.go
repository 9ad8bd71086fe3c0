//go:build unix

package sock

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pollable is what os.File and the net package's connections share.
type pollable interface {
	Read([]byte) (int, error)
	Write([]byte) (int, error)
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
	Close() error
	SyscallConn() (syscall.RawConn, error)
}

// Polled is a connection that waits in the runtime's network poller.
type Polled struct {
	pollable
	raw syscall.RawConn

	mu    sync.Mutex
	idle  bool // ReadIdle waits; guarded by mu
	woken bool // guarded by mu

	// Arguments and results of the two callbacks below, which are made once
	// so that calling them allocates nothing.
	iov      []unix.Iovec
	rest     []unix.Iovec
	done     int64
	ioErr    error
	readable bool
	writev   func(fd uintptr) bool
	peek     func(fd uintptr)

	peer, local net.Addr
}

// NewPolled takes over fd, a connected non-blocking stream socket.
func NewPolled(fd int) (*Polled, error) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	return newPolled(os.NewFile(uintptr(fd), "socket"))
}

func newPolled(f pollable) (*Polled, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	c := &Polled{pollable: f, raw: raw}
	c.writev = c.doWritev
	c.peek = func(fd uintptr) { c.readable, c.ioErr = peek(int(fd)) }
	return c, nil
}

// WriteBuffers implements [Conn].
func (c *Polled) WriteBuffers(v [][]byte) (int64, error) {
	c.iov = appendIovecs(c.iov[:0], v)
	c.rest, c.done, c.ioErr = c.iov, 0, nil
	err := c.raw.Write(c.writev)
	clear(c.iov)
	if c.ioErr != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Err: c.ioErr}
	}
	return c.done, err
}

func (c *Polled) doWritev(fd uintptr) bool {
	for len(c.rest) > 0 {
		n, err := writev(int(fd), c.rest)
		switch err {
		case nil:
			c.done += int64(n)
			c.rest = advance(c.rest, n)
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			c.ioErr = err
			return true
		}
	}
	return true
}

// ReadIdle implements [Conn].
func (c *Polled) ReadIdle(p []byte, timeout time.Duration) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	c.mu.Lock()
	c.idle = true
	if c.woken {
		_ = c.SetReadDeadline(past)
	}
	c.mu.Unlock()
	n, err := c.Read(p)
	c.mu.Lock()
	c.idle = false
	woken := c.woken
	c.mu.Unlock()
	if woken && n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		err = ErrWoken
	}
	return n, err
}

var past = time.Unix(1, 0)

// Interrupt ends a ReadIdle in progress, and all later ones that find nothing
// to read, with ErrWoken. It may be called from any goroutine.
func (c *Polled) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.woken = true
	if c.idle {
		_ = c.SetReadDeadline(past)
	}
}

// Readable implements [Conn].
func (c *Polled) Readable() (bool, error) {
	c.ioErr = nil
	if err := c.raw.Control(c.peek); err != nil {
		return true, err
	}
	return c.readable, c.ioErr
}

// CloseWrite sends end of file and leaves the other direction open.
func (c *Polled) CloseWrite() (err error) {
	if e := c.raw.Control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) }); e != nil {
		return e
	}
	return err
}

// Abort makes the following Close reset the connection, so that the peer can't
// take what it got for the whole.
func (c *Polled) Abort() (err error) {
	if e := c.raw.Control(func(fd uintptr) { err = abort(int(fd)) }); e != nil {
		return e
	}
	return err
}

// LocalAddr implements net.Conn.
func (c *Polled) LocalAddr() net.Addr {
	if c.local == nil {
		_ = c.raw.Control(func(fd uintptr) {
			sa, _ := unix.Getsockname(int(fd))
			c.local = netAddr(sa)
		})
	}
	return c.local
}

// RemoteAddr implements net.Conn.
func (c *Polled) RemoteAddr() net.Addr {
	if c.peer == nil {
		_ = c.raw.Control(func(fd uintptr) {
			sa, _ := unix.Getpeername(int(fd))
			c.peer = netAddr(sa)
		})
	}
	return c.peer
}
