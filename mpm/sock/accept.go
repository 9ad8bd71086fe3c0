//go:build unix

package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// soon is how long a visible wait may have taken if the next one is to be
	// in the runtime's poller, and cold how long that one may take.
	soon = 5 * time.Millisecond
	cold = 20 * time.Millisecond
)

// Acceptor waits for connections on listeners that other processes wait on
// too. It is used by one goroutine.
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

	// of try
	accepted Accepted
	err      error
	done     bool
	attempt  func(uintptr) bool // try, made once
	poller
}

// NewAcceptor waits on the given listening sockets, which must be in
// non-blocking mode and stay the caller's. wake may be nil.
func NewAcceptor(listeners []int, wake *Wake) (*Acceptor, error) {
	a := &Acceptor{wake: wake}
	a.attempt = func(uintptr) bool { a.done = a.try(); return a.done }
	for _, fd := range listeners {
		a.listeners = append(a.listeners, &listener{fd: fd, local: fixedAddr(fd)})
	}
	if err := a.poller.open(listeners, wake); err != nil {
		return nil, err
	}
	return a, nil
}

// Accept waits for a connection, whose descriptor is close-on-exec. When the
// wake descriptor fires it tries once more, because with exclusive wake-ups
// nobody else was told of a connection that arrived at the same time, and
// returns that connection or ErrWoken, or ErrNone if it was but a nudge. Losing
// the race for a connection is not an error and a connection that broke before
// it was accepted isn't either; running out of descriptors or memory is.
func (a *Acceptor) Accept() (Accepted, error) {
	for _, ln := range a.listeners {
		ln.prepare(a.Optimistic)
	}
	if a.hot && !a.Optimistic && a.Tick == nil && a.inRuntime() {
		return a.result()
	}
	for lost := false; ; lost = true {
		woken, err := a.wait(lost)
		if err != nil {
			return Accepted{}, err
		}
		if a.try() {
			return a.result()
		}
		if woken {
			return Accepted{}, a.cause()
		}
	}
}

// TryAccept is Accept that does not wait: it returns ErrNone instead.
func (a *Acceptor) TryAccept() (Accepted, error) {
	for _, ln := range a.listeners {
		ln.prepare(a.Optimistic)
	}
	if !a.try() {
		a.err = ErrNone
	}
	return a.result()
}

// cause is why a wait has ended without a connection.
func (a *Acceptor) cause() error {
	if a.wake == nil || a.wake.leave() {
		return ErrWoken
	}
	return ErrNone
}

// try takes a connection if one is there, and tells whether Accept has a result.
func (a *Acceptor) try() bool {
	a.accepted, a.err = Accepted{}, nil
	flags := unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	if a.Optimistic {
		flags = unix.SOCK_CLOEXEC
	}
	for range a.listeners {
		ln := a.listeners[a.next]
		if a.next++; a.next == len(a.listeners) {
			a.next = 0
		}
		fd, peer, err := rawAccept(ln.fd, flags)
		if err == nil {
			a.accepted = ln.accepted(fd, peer, a.Optimistic)
			return true
		}
		if !transient(err) {
			a.err = err
			return true
		}
	}
	if a.wake != nil && (a.wake.set.Load() || a.wake.nudged.Load()) {
		a.err = a.cause()
		return true
	}
	return false
}

func (a *Acceptor) result() (Accepted, error) { return a.accepted, a.err }

// inRuntime waits in the runtime's poller, and tells whether Accept has a
// result. A wait that the scheduler sees, as the other one is, keeps a processor
// until the monitor takes it away, wakes the monitor each time, and needs a
// processor again afterwards. This one costs nothing of that, but the kernel
// wakes every process that waits like this for each connection: so it is for
// those that have just had one, and not for long.
func (a *Acceptor) inRuntime() bool {
	a.done = false
	if file, raw := a.poller.runtime(); file != nil && file.SetReadDeadline(time.Now().Add(cold)) == nil {
		_ = raw.Read(a.attempt)
	}
	a.hot = a.done
	return a.done
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
	limit := soon
	if a.Optimistic {
		limit = optimistic
	}
	a.hot = ready && end.Sub(start) < limit
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
