//go:build unix

package sock

import (
	"io"
	"net"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// optimistic is how long a read or write waits in the kernel unseen by the Go
// scheduler. A back end on the same machine answers well within it; garbage
// collection and signals, which have to wait for it to pass, are not delayed
// noticeably. It must stay below the 10 ms after which the runtime sends a
// preemption signal.
const optimistic = 5 * time.Millisecond

// Blocking is a connection for a process that serves one connection at a time
// on a locked thread. Its descriptor is in blocking mode with short kernel
// time-outs.
type Blocking struct {
	fd     int
	wake   *Wake
	rd, wd time.Time // deadlines
	iov    []unix.Iovec
	peer   net.Addr
	local  net.Addr
}

// NewBlocking takes over fd, a connected stream socket. wake may be nil.
func NewBlocking(fd int, wake *Wake) *Blocking {
	c := &Blocking{fd: fd, wake: wake}
	// fd may come non-blocking from accept or connect.
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
	tv := unix.NsecToTimeval(int64(optimistic))
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) // not TCP: harmless
	return c
}

// Read implements net.Conn.
func (c *Blocking) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		n, err := c.tryRead(p)
		if err == nil {
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		}
		if err != unix.EAGAIN {
			return 0, c.opErr("read", err)
		}
		if err := c.wait(unix.POLLIN, c.rd, false); err != nil {
			return 0, err
		}
	}
}

// ReadIdle implements [Conn].
func (c *Blocking) ReadIdle(p []byte, timeout time.Duration) (int, error) {
	// A short timeout must not be stretched by the optimistic wait, and a
	// process that is leaving must not begin one.
	deadline := time.Now().Add(timeout)
	if c.wake.Woken() || timeout < 2*optimistic {
		if err := c.wait(unix.POLLIN, deadline, true); err != nil {
			return 0, err
		}
	}
	for {
		n, err := c.tryRead(p)
		if err == nil {
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		}
		if err != unix.EAGAIN {
			return 0, c.opErr("read", err)
		}
		if err := c.wait(unix.POLLIN, deadline, true); err != nil {
			return 0, err
		}
	}
}

// tryRead reads in the kernel for at most the optimistic time.
func (c *Blocking) tryRead(p []byte) (int, error) {
	for {
		n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch e {
		case 0:
			return int(n), nil
		case unix.EINTR:
			continue
		}
		return 0, e
	}
}

// Write implements net.Conn.
func (c *Blocking) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&p[done])), uintptr(len(p)-done))
		switch e {
		case 0:
			done += int(n)
		case unix.EINTR:
		case unix.EAGAIN:
			if err := c.wait(unix.POLLOUT, c.wd, false); err != nil {
				return done, err
			}
		default:
			return done, c.opErr("write", e)
		}
	}
	return done, nil
}

// WriteBuffers implements [Conn].
func (c *Blocking) WriteBuffers(v [][]byte) (int64, error) {
	c.iov = appendIovecs(c.iov[:0], v)
	rest := c.iov
	var done int64
	for len(rest) > 0 {
		n, _, e := unix.RawSyscall(unix.SYS_WRITEV, uintptr(c.fd), uintptr(unsafe.Pointer(&rest[0])), uintptr(min(len(rest), maxIovecs)))
		switch e {
		case 0:
			done += int64(n)
			rest = advance(rest, int(n))
		case unix.EINTR:
		case unix.EAGAIN:
			if err := c.wait(unix.POLLOUT, c.wd, false); err != nil {
				return done, err
			}
		default:
			return done, c.opErr("write", e)
		}
	}
	clear(c.iov) // the buffers are not ours to keep alive
	return done, nil
}

// wait waits visibly for events until the deadline. With idle, the wake
// descriptor ends it too, unless there is something to read as well.
func (c *Blocking) wait(events int16, deadline time.Time, idle bool) error {
	var p [2]unix.PollFd
	p[0] = unix.PollFd{Fd: int32(c.fd), Events: events}
	n := 1
	if idle && c.wake != nil {
		p[1] = unix.PollFd{Fd: int32(c.wake.fd), Events: unix.POLLIN}
		n = 2
	}
	for {
		ms := -1
		if !deadline.IsZero() {
			left := time.Until(deadline)
			if left < 0 {
				left = 0
			}
			// Round up: waking early would only mean another turn. Cap: the
			// loop looks at the clock again.
			ms = int(min((left+time.Millisecond-1)/time.Millisecond, 1<<30))
		}
		k, err := unix.Poll(p[:n], ms)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return c.opErr("poll", err)
		}
		if k == 0 {
			if time.Until(deadline) > 0 {
				continue
			}
			return c.opErr("wait", os.ErrDeadlineExceeded)
		}
		if p[0].Revents != 0 {
			return nil
		}
		if n == 2 && p[1].Revents != 0 {
			c.wake.set.Store(true)
			return ErrWoken
		}
	}
}

// Readable implements [Conn].
func (c *Blocking) Readable() (bool, error) { return peek(c.fd) }

// Close implements net.Conn.
func (c *Blocking) Close() error {
	if c.fd < 0 {
		return net.ErrClosed
	}
	fd := c.fd
	c.fd = -1
	return unix.Close(fd)
}

// CloseWrite sends end of file and leaves the other direction open.
func (c *Blocking) CloseWrite() error { return unix.Shutdown(c.fd, unix.SHUT_WR) }

// Abort makes the following Close reset the connection, so that the peer can't
// take what it got for the whole.
func (c *Blocking) Abort() error { return abort(c.fd) }

// SetDeadline implements net.Conn.
func (c *Blocking) SetDeadline(t time.Time) error { c.rd, c.wd = t, t; return nil }

// SetReadDeadline implements net.Conn.
func (c *Blocking) SetReadDeadline(t time.Time) error { c.rd = t; return nil }

// SetWriteDeadline implements net.Conn.
func (c *Blocking) SetWriteDeadline(t time.Time) error { c.wd = t; return nil }

// LocalAddr implements net.Conn.
func (c *Blocking) LocalAddr() net.Addr {
	if c.local == nil {
		sa, _ := unix.Getsockname(c.fd)
		c.local = netAddr(sa)
	}
	return c.local
}

// RemoteAddr implements net.Conn.
func (c *Blocking) RemoteAddr() net.Addr {
	if c.peer == nil {
		sa, _ := unix.Getpeername(c.fd)
		c.peer = netAddr(sa)
	}
	return c.peer
}

func (c *Blocking) opErr(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Err: err}
}
