//go:build unix

package sock

import (
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tunnelBuffer is the memory of one direction of a tunnel.
	tunnelBuffer = 16 << 10
	// tunnelLook is how long a tunnel waits at most before it sees that one of its
	// connections was closed by another goroutine.
	tunnelLook = 2 * time.Second
	// tunnelTurns is how many pieces one direction may pass on before the other
	// one is looked at.
	tunnelTurns = 8
)

// end is one of the two connections of a tunnel.
type end interface {
	// control calls f with the descriptor, which is not closed meanwhile.
	control(f func(fd uintptr)) error
}

// Tunnel implements [Conn]. It waits in a call that the scheduler sees: a tunnel
// has its thread, as it has in Apache's worker.
func (c *Polled) Tunnel(peer net.Conn, toPeer, toHere []byte, idle time.Duration) (sent, received int64, err error) {
	return tunnel(c, peer, toPeer, toHere, idle)
}

// Tunnel implements [Conn].
func (c *Blocking) Tunnel(peer net.Conn, toPeer, toHere []byte, idle time.Duration) (sent, received int64, err error) {
	return tunnel(c, peer, toPeer, toHere, idle)
}

// control implements end.
func (c *Blocking) control(f func(fd uintptr)) error {
	if c.fd < 0 {
		return net.ErrClosed
	}
	f(uintptr(c.fd))
	return nil
}

func tunnel(a end, peer net.Conn, toPeer, toHere []byte, idle time.Duration) (sent, received int64, err error) {
	b, ok := peer.(end)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	for _, e := range []end{a, b} {
		// In the poller a connection can be closed while its descriptor is used;
		// outside, closing waits.
		if p, ok := e.(*Polled); ok {
			if err := p.enter(); err != nil {
				return 0, 0, err
			}
		}
	}
	t := pump{there: newFlow(toPeer), here: newFlow(toHere), last: time.Now()}
	for err == nil && !(t.there.shut && t.here.shut) {
		var stepErr error
		err = a.control(func(fda uintptr) {
			if e := b.control(func(fdb uintptr) { stepErr = t.step(int(fda), int(fdb), idle) }); e != nil {
				stepErr = e
			}
		})
		if err == nil {
			err = stepErr
		}
	}
	return t.there.passed, t.here.passed, err
}

// pump is the two directions of a tunnel.
type pump struct {
	there, here flow
	last        time.Time // when something came or went last
}

// step waits for what can be done, and does it.
func (t *pump) step(a, b int, idle time.Duration) error {
	p := [2]unix.PollFd{{Fd: int32(a), Events: t.there.wants() | t.here.gives()}, {Fd: int32(b), Events: t.here.wants() | t.there.gives()}}
	for i := range p {
		if p[i].Events == 0 {
			p[i].Fd = -1 // a hang-up is told to who asks for nothing, again and again
		}
	}
	wait := tunnelLook
	if idle > 0 {
		if wait = min(wait, time.Until(t.last.Add(idle))); wait <= 0 {
			return os.ErrDeadlineExceeded
		}
	}
	n, err := unix.Poll(p[:], milliseconds(wait))
	if err == unix.EINTR || err == nil && n == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	moved, err := t.there.move(a, b)
	if err != nil {
		return err
	}
	more, err := t.here.move(b, a)
	if moved || more {
		t.last = time.Now()
	}
	return err
}

// flow is one direction.
type flow struct {
	buf    []byte
	rest   []byte // of buf, or of what had come before: still to be written
	ended  bool   // nothing more comes
	shut   bool   // and that was passed on
	passed int64
}

func newFlow(first []byte) flow { return flow{buf: make([]byte, tunnelBuffer), rest: first} }

// wants is what has to happen to the connection that a flow comes from, gives to
// the one that it goes to.
func (f *flow) wants() int16 {
	if len(f.rest) > 0 || f.ended {
		return 0
	}
	return unix.POLLIN
}

func (f *flow) gives() int16 {
	if len(f.rest) > 0 || f.ended && !f.shut {
		return unix.POLLOUT
	}
	return 0
}

// move passes on what it can without waiting.
func (f *flow) move(from, to int) (moved bool, err error) {
	for range tunnelTurns {
		if len(f.rest) > 0 {
			n, err := rawSend(to, f.rest)
			f.rest = f.rest[n:]
			f.passed += int64(n)
			moved = moved || n > 0
			if err == unix.EAGAIN {
				return moved, nil
			}
			if err != nil {
				return moved, err
			}
			continue
		}
		if f.ended {
			if !f.shut {
				f.shut = true
				err = unix.Shutdown(to, unix.SHUT_WR)
			}
			return moved, err
		}
		n, err := rawRecv(from, f.buf)
		switch {
		case err == unix.EAGAIN:
			return moved, nil
		case err != nil:
			return moved, err
		case n == 0:
			f.ended = true
		}
		moved = true
		f.rest = f.buf[:n]
	}
	return moved, nil
}
