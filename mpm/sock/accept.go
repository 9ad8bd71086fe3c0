//go:build unix

package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

// Acceptor waits for connections on listeners that other processes wait on
// too. It is used by one goroutine, which should be locked to its thread; the
// wait is an ordinary system call that the scheduler sees.
type Acceptor struct {
	listeners []*listener
	wake      *Wake
	next      int // the listener to try first
	// Optimistic makes Accept wait unseen by the scheduler at first, as
	// [Blocking] does, and take connections in blocking mode: for a process
	// that has nothing else to run. Set it before the first Accept.
	Optimistic bool
	// Tick, if not nil, is run while Accept waits, when there is no connection
	// to be had. Set it before the first Accept.
	Tick *Tick
	hot  bool // the last wait was a short one
	poller
}

// NewAcceptor waits on the given listening sockets, which must be in
// non-blocking mode and stay the caller's. wake may be nil.
func NewAcceptor(listeners []int, wake *Wake) (*Acceptor, error) {
	a := &Acceptor{wake: wake}
	for _, fd := range listeners {
		a.listeners = append(a.listeners, &listener{fd: fd, local: fixedAddr(fd)})
	}
	if err := a.poller.open(listeners, wake); err != nil {
		return nil, err
	}
	return a, nil
}

// Accept waits for a connection, whose descriptor is close-on-exec. When the
// wake descriptor fires it tries once more, because with exclusive wake-ups nobody else was told of a
// connection that arrived at the same time, and returns that connection or
// ErrWoken. Losing the race for a connection is not an error and a connection
// that broke before it was accepted isn't either; running out of descriptors
// or memory is.
func (a *Acceptor) Accept() (Accepted, error) {
	flags := unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	if a.Optimistic {
		flags = unix.SOCK_CLOEXEC
	}
	for _, ln := range a.listeners {
		ln.prepare(a.Optimistic)
	}
	for lost := false; ; lost = true {
		woken, err := a.wait(lost)
		if err != nil {
			return Accepted{}, err
		}
		for range a.listeners {
			ln := a.listeners[a.next]
			if a.next++; a.next == len(a.listeners) {
				a.next = 0
			}
			fd, peer, err := rawAccept(ln.fd, flags)
			if err == nil {
				return ln.accepted(fd, peer, a.Optimistic), nil
			}
			if !transient(err) {
				return Accepted{}, err
			}
		}
		if woken || (a.wake != nil && a.wake.set.Load()) {
			if a.wake != nil {
				a.wake.set.Store(true)
			}
			return Accepted{}, ErrWoken
		}
	}
}

// wait waits for a listener or the wake descriptor. A child that has just been
// busy expects the next connection soon; one that has waited in vain goes to
// sleep properly, and the first connection finds it there. It also returns
// after a tick: nobody waits on this process's behalf meanwhile, so before it
// goes to sleep again it looks whether something has come. lost tells that it
// has just done so in vain.
func (a *Acceptor) wait(lost bool) (woken bool, err error) {
	if lost && a.Tick != nil && a.Tick.Run(time.Now()) {
		return false, nil // whoever loses one race after the other has ticks too
	}
	if a.Optimistic && a.hot {
		ready, woken, err := a.poller.waitUnseen(optimistic)
		if ready || err != nil {
			return woken, err
		}
	}
	start := time.Now()
	ready, woken, err := a.poller.wait(a.Tick.bound(-1, start))
	end := time.Now()
	a.hot = ready && end.Sub(start) < optimistic
	if !ready && err == nil {
		a.Tick.Run(end)
	}
	return woken, err
}

// transient are the accept errors that concern one connection only, which is
// gone: Apache's list.
func transient(err error) bool {
	switch err {
	case unix.EAGAIN, unix.EINTR, unix.ECONNABORTED, unix.EPROTO, unix.ECONNRESET,
		unix.ETIMEDOUT, unix.EHOSTUNREACH, unix.ENETUNREACH:
		return true
	}
	return false
}

// Close releases what the Acceptor opened itself.
func (a *Acceptor) Close() error { return a.poller.close() }

// Backlog applies a listen queue length (ListenBacklog) to a listening socket.
// The kernel may cut it silently.
func Backlog(fd, n int) error { return unix.Listen(fd, n) }
