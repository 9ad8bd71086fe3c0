//go:build unix

package sock

import (
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// optimistic is how long a wait goes unseen by the Go scheduler. Every wait
// that it does see costs some two hundred microseconds of processor time
// afterwards, because the runtime's monitor thread then naps in steps of 20 us
// until it has convinced itself that nothing happens; a wait that it does not
// see costs a wake-up of the monitor each 10 ms. So it pays to wait unseen for
// about as long as those come to the same, and then to give up. Nothing else
// in the process wants to run meanwhile: a signal that ends it is handled on
// the spot, and garbage is collected by the goroutine that makes it.
const optimistic = 100 * time.Millisecond

// Blocking is a connection for a process that serves one connection at a time
// on a locked thread. Its descriptor is in blocking mode with short kernel
// time-outs.
type Blocking struct {
	// Tick, if not nil, is run by ReadIdle: at its beginning, and while it
	// waits for what the peer does not send. It may take longer than ReadIdle
	// was to wait; what has arrived by then counts as in time.
	Tick *Tick
	// OnWake, if not nil, is called once when ReadIdle learns that the process
	// is to leave: this connection will be its last.
	OnWake func()

	fd     int
	wake   *Wake
	told   bool      // OnWake was called
	rd, wd time.Time // deadlines
	slow   bool      // the last wait for a request was a long one
	iov    []unix.Iovec
	peer   net.Addr
	local  net.Addr
}

// NewBlocking takes over fd, a connected stream socket. wake may be nil.
func NewBlocking(fd int, wake *Wake) *Blocking {
	return Accepted{FD: fd}.Blocking(wake)
}

// Read implements net.Conn.
func (c *Blocking) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	near := !c.rd.IsZero() && time.Until(c.rd) < 2*optimistic
	return c.read(p, c.rd, near, false)
}

// ReadIdle implements [Conn].
func (c *Blocking) ReadIdle(p []byte, timeout time.Duration) (int, error) {
	now := time.Now()
	if c.Tick.Run(now) {
		now = time.Now()
	}
	deadline := now.Add(timeout)
	// A client that took its time before its last request will do so again:
	// then the optimistic wait is wasted.
	if c.wake.Woken() {
		c.woken()
	}
	if c.slow {
		if err := c.wait(unix.POLLIN, deadline, true); err != nil {
			return 0, err
		}
	}
	n, err := c.read(p, deadline, timeout < 2*optimistic, true)
	c.slow = time.Since(now) > optimistic
	return n, err
}

// read reads as soon as there is something. near tells that the deadline is
// so close that the kernel's time-out could stretch it.
func (c *Blocking) read(p []byte, deadline time.Time, near, idle bool) (int, error) {
	for {
		var n int
		var err error
		if near {
			if n, err = rawRecv(c.fd, p); err == unix.EAGAIN {
				err = c.waitUnseen(deadline)
				if err == nil {
					continue
				}
			}
		} else {
			n, err = rawRead(c.fd, p)
		}
		switch {
		case err == unix.EAGAIN:
			if err := c.wait(unix.POLLIN, deadline, idle); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, c.opErr("read", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// waitUnseen waits for something to read, unseen by the scheduler, until the
// deadline or for the optimistic time. EAGAIN means that nothing came.
func (c *Blocking) waitUnseen(deadline time.Time) error {
	left := min(time.Until(deadline), optimistic)
	if left <= 0 {
		return unix.EAGAIN
	}
	p := [1]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}
	if n, err := rawPoll(p[:], left); err != nil || n == 0 {
		return unix.EAGAIN
	}
	return nil
}

// Write implements net.Conn.
func (c *Blocking) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n, err := rawWrite(c.fd, p[done:])
		done += n
		if err == unix.EAGAIN {
			err = c.wait(unix.POLLOUT, c.wd, false)
		} else if err != nil {
			err = c.opErr("write", err)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// WriteBuffers implements [Conn].
func (c *Blocking) WriteBuffers(v [][]byte) (int64, error) {
	c.iov = appendIovecs(c.iov[:0], v)
	defer clear(c.iov) // the buffers are not ours to keep alive
	rest := c.iov
	var done int64
	for len(rest) > 0 {
		n, err := rawWritev(c.fd, rest)
		done += int64(n)
		rest = advance(rest, n)
		if err == unix.EAGAIN {
			err = c.wait(unix.POLLOUT, c.wd, false)
		} else if err != nil {
			err = c.opErr("write", err)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// woken calls OnWake the first time.
func (c *Blocking) woken() {
	if c.told {
		return
	}
	c.told = true
	if c.OnWake != nil {
		c.OnWake()
	}
}

// wait waits visibly for events until the deadline. With idle, it looks after
// the wake descriptor too, and ticks are run meanwhile. After one it looks for
// events before it lets go.
func (c *Blocking) wait(events int16, deadline time.Time, idle bool) error {
	var p [2]unix.PollFd
	p[0] = unix.PollFd{Fd: int32(c.fd), Events: events}
	n := 1
	if idle && c.wake != nil && !c.told {
		p[1] = unix.PollFd{Fd: int32(c.wake.fd), Events: unix.POLLIN}
		n = 2
	}
	for {
		left := time.Duration(-1)
		if !deadline.IsZero() {
			now := time.Now()
			left = max(deadline.Sub(now), 0)
			if idle {
				left = c.Tick.bound(left, now)
			}
		}
		k, err := unix.Poll(p[:n], milliseconds(left))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return c.opErr("poll", err)
		}
		if k == 0 {
			now := time.Now()
			if !now.Before(deadline) {
				return c.opErr("wait", os.ErrDeadlineExceeded)
			}
			if idle {
				c.Tick.Run(now)
			}
			continue
		}
		if p[0].Revents != 0 {
			return nil
		}
		if n == 2 && p[1].Revents != 0 {
			c.wake.set.Store(true)
			c.woken()
			n = 1 // it stays readable
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
	return rawClose(fd)
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
