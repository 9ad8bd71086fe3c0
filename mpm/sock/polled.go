//go:build unix

package sock

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pollable is what os.File and the net package's connections share.
type pollable interface {
	SetDeadline(time.Time) error
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
	Close() error
	SyscallConn() (syscall.RawConn, error)
}

// Polled is a connection that waits in the runtime's network poller. Its
// system calls never wait, so the scheduler isn't told of them: announcing
// each would cost more than a short one takes, and a monitor that finds a
// processor in a call hands it to another thread. An accepted connection is made
// known to the poller when it has to wait for the first time: many that carry
// one request never do, and the poller costs them four system calls.
type Polled struct {
	// OnIdle, if not nil, is called by ReadIdle each time that nothing has come
	// and it is going to wait.
	OnIdle func()

	pollable // nil: not in the poller yet
	raw      syscall.RawConn

	// Of a connection that is not in the poller. mu is for Close, which another
	// goroutine may call; pollable is written with it held.
	mu     sync.Mutex
	fd     int
	closed bool      // guarded by mu
	rd, wd time.Time // deadlines

	// Arguments and results of the callbacks below, which are made once so
	// that calling them allocates nothing. Reading and writing don't share
	// any: the two may go on at the same time.
	in        []byte
	n         int
	readErr   error
	read      func(fd uintptr) bool
	idle      func(fd uintptr) bool
	out       []byte
	iov, rest []unix.Iovec
	done      int64
	writeErr  error
	write     func(fd uintptr) bool
	writev    func(fd uintptr) bool
	readable  bool
	peekErr   error
	peek      func(fd uintptr)
	await     func(fd uintptr) bool

	peer, local net.Addr
}

// newPolled takes over f, which is in the poller.
func newPolled(f pollable) (*Polled, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	c := &Polled{pollable: f, raw: raw}
	c.init()
	return c, nil
}

// init makes the callbacks.
func (c *Polled) init() {
	c.read, c.idle, c.write, c.writev = c.doRead, c.doIdle, c.doWrite, c.doWritev
	c.peek = func(fd uintptr) { c.readable, c.peekErr = peek(int(fd)) }
	c.await = func(fd uintptr) bool { c.peek(fd); return c.readable }
}

// attempt calls f with the descriptor of a connection that is not in the poller;
// f neither waits nor takes locks. If that was not enough, the connection is in
// the poller afterwards.
func (c *Polled) attempt(f func(fd uintptr) bool, deadline time.Time) (done bool, err error) {
	if !deadline.IsZero() && !time.Now().Before(deadline) {
		return false, os.ErrDeadlineExceeded
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false, net.ErrClosed
	}
	if f(uintptr(c.fd)) {
		return true, nil
	}
	return false, c.register()
}

// register makes the poller know the connection. Called with mu held.
func (c *Polled) register() error {
	f := os.NewFile(uintptr(c.fd), "socket")
	raw, err := f.SyscallConn()
	if err == nil && !c.rd.IsZero() {
		err = f.SetReadDeadline(c.rd)
	}
	if err == nil && !c.wd.IsZero() {
		err = f.SetWriteDeadline(c.wd)
	}
	c.raw, c.pollable = raw, f
	return err
}

// enter sees that the connection is in the poller.
func (c *Polled) enter() error {
	if c.pollable != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return c.register()
}

// reads calls f, and again each time that something may have come, until it is
// done or the read deadline is over. first is f for before the poller: it is
// called with mu held.
func (c *Polled) reads(first, f func(fd uintptr) bool) error {
	if c.pollable == nil {
		if done, err := c.attempt(first, c.rd); done || err != nil {
			return err
		}
	}
	return c.raw.Read(f)
}

// writes is reads for the other direction.
func (c *Polled) writes(f func(fd uintptr) bool) error {
	if c.pollable == nil {
		if done, err := c.attempt(f, c.wd); done || err != nil {
			return err
		}
	}
	return c.raw.Write(f)
}

// control calls f once.
func (c *Polled) control(f func(fd uintptr)) error {
	if c.pollable != nil {
		return c.raw.Control(f)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	f(uintptr(c.fd))
	return nil
}

// Close implements net.Conn.
func (c *Polled) Close() error {
	c.mu.Lock()
	if c.pollable != nil {
		c.mu.Unlock()
		return c.pollable.Close()
	}
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	return rawClose(c.fd)
}

// SetReadDeadline implements net.Conn.
func (c *Polled) SetReadDeadline(t time.Time) error {
	if c.pollable != nil {
		return c.pollable.SetReadDeadline(t)
	}
	c.rd = t
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *Polled) SetWriteDeadline(t time.Time) error {
	if c.pollable != nil {
		return c.pollable.SetWriteDeadline(t)
	}
	c.wd = t
	return nil
}

// SetDeadline implements net.Conn.
func (c *Polled) SetDeadline(t time.Time) error {
	if c.pollable != nil {
		return c.pollable.SetDeadline(t)
	}
	c.rd, c.wd = t, t
	return nil
}

// Read implements net.Conn.
func (c *Polled) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return c.readBy(c.read, p)
}

func (c *Polled) readBy(read func(fd uintptr) bool, p []byte) (int, error) {
	c.in, c.n, c.readErr = p, 0, nil
	err := c.reads(c.read, read)
	c.in = nil
	switch {
	case err != nil:
		return 0, err
	case c.readErr != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: c.readErr}
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

func (c *Polled) doRead(fd uintptr) bool {
	n, err := rawRead(int(fd), c.in)
	if err == unix.EAGAIN {
		return false
	}
	c.n, c.readErr = n, err
	return true
}

// Write implements net.Conn.
func (c *Polled) Write(p []byte) (int, error) {
	c.out, c.done, c.writeErr = p, 0, nil
	err := c.writes(c.write)
	c.out = nil
	if c.writeErr != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Err: c.writeErr}
	}
	return int(c.done), err
}

func (c *Polled) doWrite(fd uintptr) bool {
	for len(c.out) > 0 {
		n, err := rawWrite(int(fd), c.out)
		switch err {
		case nil:
			c.done += int64(n)
			c.out = c.out[n:]
		case unix.EAGAIN:
			return false
		default:
			c.writeErr = err
			return true
		}
	}
	return true
}

// WriteBuffers implements [Conn].
func (c *Polled) WriteBuffers(v [][]byte) (int64, error) {
	c.iov = appendIovecs(c.iov[:0], v)
	c.rest, c.done, c.writeErr = c.iov, 0, nil
	err := c.writes(c.writev)
	clear(c.iov)
	if c.writeErr != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Err: c.writeErr}
	}
	return c.done, err
}

func (c *Polled) doWritev(fd uintptr) bool {
	for len(c.rest) > 0 {
		n, err := rawWritev(int(fd), c.rest)
		switch err {
		case nil:
			c.done += int64(n)
			c.rest = advance(c.rest, n)
		case unix.EAGAIN:
			return false
		default:
			c.writeErr = err
			return true
		}
	}
	return true
}

// ReadIdle implements [Conn].
func (c *Polled) ReadIdle(p []byte, timeout time.Duration) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	return c.readBy(c.idle, p)
}

func (c *Polled) doIdle(fd uintptr) bool {
	if c.doRead(fd) {
		return true
	}
	if c.OnIdle != nil {
		c.OnIdle()
	}
	return false
}

// Readable implements [Conn].
func (c *Polled) Readable() (bool, error) {
	if err := c.control(c.peek); err != nil {
		return true, err
	}
	return c.readable, c.peekErr
}

// WaitReadable waits at most timeout until Readable is true and returns the
// error of the Read that would follow. It overrides the read deadline.
func (c *Polled) WaitReadable(timeout time.Duration) error {
	_ = c.SetReadDeadline(time.Now().Add(timeout))
	err := c.reads(c.await, c.await)
	if err == nil {
		return c.peekErr
	}
	// What has come by the end of the time counts, whoever noticed it first.
	if ok, e := c.Readable(); ok {
		return e
	}
	return err
}

// CloseWrite sends end of file and leaves the other direction open.
func (c *Polled) CloseWrite() (err error) {
	if e := c.control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) }); e != nil {
		return e
	}
	return err
}

// Abort makes the following Close reset the connection, so that the peer can't
// take what it got for the whole.
func (c *Polled) Abort() (err error) {
	if e := c.control(func(fd uintptr) { err = abort(int(fd)) }); e != nil {
		return e
	}
	return err
}

// LocalAddr implements net.Conn.
func (c *Polled) LocalAddr() net.Addr {
	if c.local == nil {
		_ = c.control(func(fd uintptr) {
			sa, _ := unix.Getsockname(int(fd))
			c.local = netAddr(sa)
		})
	}
	return c.local
}

// RemoteAddr implements net.Conn.
func (c *Polled) RemoteAddr() net.Addr {
	if c.peer == nil {
		_ = c.control(func(fd uintptr) {
			sa, _ := unix.Getpeername(int(fd))
			c.peer = netAddr(sa)
		})
	}
	return c.peer
}
