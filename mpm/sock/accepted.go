//go:build unix

package sock

import (
	"net"

	"golang.org/x/sys/unix"
)

// Accepted is a connection that an [Acceptor] has taken. The caller makes
// [Accepted.Blocking] or [Accepted.Polled] of it, or closes FD.
type Accepted struct {
	FD int
	// peer and local are its addresses; nil: to be asked for.
	peer, local net.Addr
	tuned       bool // the options were those of the listener
	blocking    bool // it is in blocking mode
}

// Blocking is the connection for a process with one connection at a time. wake
// may be nil.
func (a Accepted) Blocking(wake *Wake) *Blocking {
	c := &Blocking{fd: a.FD, wake: wake, peer: a.peer, local: a.local}
	if !a.blocking {
		_, _ = unix.FcntlInt(uintptr(a.FD), unix.F_SETFL, 0)
	}
	if !a.tuned {
		tune(a.FD, true)
	}
	return c
}

// Polled is the connection for the runtime's poller. FD is in non-blocking mode.
func (a Accepted) Polled() *Polled {
	if !a.tuned {
		tune(a.FD, false)
	}
	c := &Polled{fd: a.FD, peer: a.peer, local: a.local}
	c.init()
	return c
}

// listener is a listening socket. Where the kernel does that connections get
// its options, which saves a few system calls for each.
type listener struct {
	fd    int
	local net.Addr // of all connections; nil: each has its own
	told  bool     // it has the options that connections are to have
	// handsDown tells that a connection had them. All that come later do, as
	// they are accepted in the order in which they were made.
	handsDown bool
	without   int // connections that had not
}

// giveUp is how many connections without the options of their listener, which
// may have queued before it had them, show that the kernel does not hand down.
const giveUp = 1000

// prepare gives the listener the options.
func (l *listener) prepare(blocking bool) {
	if !l.told {
		tune(l.fd, blocking)
		l.told = true
	}
}

func (l *listener) accepted(fd int, peer net.Addr, blocking bool) Accepted {
	if !l.handsDown && l.without < giveUp {
		if l.handsDown = tuned(fd, blocking); !l.handsDown {
			l.without++
		}
	}
	return Accepted{FD: fd, peer: peer, local: l.local, tuned: l.handsDown, blocking: blocking}
}

// fixedAddr is the address of a listening socket if all its connections have
// the same: neither a wildcard nor one without a name.
func fixedAddr(fd int) net.Addr {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return nil
	}
	switch a := netAddr(sa).(type) {
	case *net.TCPAddr:
		if !a.IP.IsUnspecified() {
			return a
		}
	case *net.UnixAddr:
		return a
	}
	return nil
}

// tune sets the options of a connection, or those that a listening socket hands
// down. Those of TCP mean nothing to other sockets.
func tune(fd int, blocking bool) {
	if blocking {
		tv := unix.NsecToTimeval(int64(optimistic))
		_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
		_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &tv)
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}

// tuned tells whether a connection has the options.
func tuned(fd int, blocking bool) bool {
	if n, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || n == 0 {
		return false
	}
	if !blocking {
		return true
	}
	for _, name := range [...]int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		if tv, err := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, name); err != nil || tv.Nano() == 0 || tv.Nano() > 2*int64(optimistic) {
			return false
		}
	}
	return true
}
