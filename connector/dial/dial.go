// Package dial connects to back ends: to the first of several addresses that
// takes the connection, or to a Unix socket.
package dial

import (
	"errors"
	"net/netip"
	"time"

	"jkd/connector/ajp"
	"jkd/connector/resolve"
)

// Options are the properties of a connection.
type Options struct {
	Timeout   time.Duration // for the connect; > 0
	KeepAlive bool          // SO_KEEPALIVE
}

// Dialers connect the way the process model waits.
type Dialers struct {
	TCP  func(addr netip.AddrPort, o Options) (ajp.NetConn, error)
	Unix func(path string, o Options) (ajp.NetConn, error)
}

// ResolveError marks a failure to find an address.
type ResolveError struct{ error }

// Unwrap returns the cause.
func (e *ResolveError) Unwrap() error { return e.error }

// Connect connects to the Unix socket at path or, if that is "", to the first
// address of r that takes it, which is asked for again soon if none does. addr is
// the one that was connected to, or the one that was tried last. An error of r is
// a *[ResolveError].
func (d *Dialers) Connect(path string, r *resolve.Resolver, now time.Time, o Options) (nc ajp.NetConn, addr string, err error) {
	if path != "" {
		nc, err = d.Unix(path, o)
		return nc, path, err
	}
	addrs, err := r.Addresses(now)
	if err != nil {
		return nil, "", &ResolveError{err}
	}
	nc, addr, err = Any(addrs, o.Timeout, func(a netip.AddrPort, timeout time.Duration) (ajp.NetConn, error) {
		o.Timeout = timeout
		return d.TCP(a, o)
	})
	if err != nil {
		r.Expire()
	}
	return nc, addr, err
}

var errNone = errors.New("no address")

// Any tries one address after the other until one takes the connection. All of
// them together have the time of one connect. addr is the one that took it, or
// the one that was tried last, with its error.
func Any[C any](addrs []netip.AddrPort, timeout time.Duration, connect func(a netip.AddrPort, timeout time.Duration) (C, error)) (c C, addr string, err error) {
	err = errNone
	end := time.Now().Add(timeout)
	for i, a := range addrs {
		if i > 0 {
			timeout = time.Until(end)
		}
		if timeout <= 0 {
			break
		}
		addr = a.String()
		if c, err = connect(a, timeout/time.Duration(len(addrs)-i)); err == nil {
			break
		}
	}
	return c, addr, err
}
