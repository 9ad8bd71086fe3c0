// Package resolve finds the addresses of a back end by its name.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// TTL is how long an answer of the resolver is used.
	TTL = 30 * time.Second
	// again is how long after a look-up that failed the next one is made.
	again = time.Second
	// timeout bounds one look-up.
	timeout = 5 * time.Second
)

// Loopback tells whether a host can only be this machine. Names other than
// localhost may be anything.
func Loopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// Resolver finds the addresses of one back end. A numeric host never asks
// anybody; for a name the last answer is kept when a later look-up fails, and
// a name that never had one is asked for once a second at most. It may be used
// concurrently.
type Resolver struct {
	host       string
	port       uint16
	preferIPv6 bool
	lookup     func(ctx context.Context, host string) ([]netip.Addr, error)

	asking sync.Mutex // held during a look-up

	mu      sync.Mutex // guards the rest
	addrs   []netip.AddrPort
	err     error     // of the last look-up, while there are no addrs
	until   time.Time // when to ask again; zero: never
	suspect bool      // nobody could be reached at addrs
}

// New returns a Resolver for a name or a numeric address without brackets.
func New(host string, port uint16, preferIPv6 bool) *Resolver {
	r := &Resolver{host: host, port: port, preferIPv6: preferIPv6, lookup: lookupHost}
	if a, err := netip.ParseAddr(host); err == nil {
		r.addrs = []netip.AddrPort{netip.AddrPortFrom(a.Unmap(), port)}
	} else {
		r.until = time.Unix(1, 0)
	}
	return r
}

func lookupHost(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// Addresses returns where to connect to, in the order to try.
func (r *Resolver) Addresses(now time.Time) ([]netip.AddrPort, error) {
	addrs, old, err := r.last(now)
	switch {
	case !old:
		return addrs, err
	case addrs == nil:
		r.asking.Lock()
	case !r.asking.TryLock():
		return addrs, nil // somebody is asking; nothing says that they are wrong
	}
	defer r.asking.Unlock()
	if addrs, old, err = r.last(now); !old {
		return addrs, err // it was found out meanwhile
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	found, err := r.lookup(ctx, r.host)
	if err == nil && len(found) == 0 {
		err = errNoAddress
	}
	now = now.Add(time.Since(start)) // a look-up that fails may take its time
	r.mu.Lock()
	defer r.mu.Unlock()
	r.suspect = false
	if err != nil {
		r.until = now.Add(again)
		if len(r.addrs) > 0 {
			return r.addrs, nil
		}
		r.err = fmt.Errorf("can't resolve %s: %w", r.host, err)
		return nil, r.err
	}
	r.addrs, r.err, r.until = Order(found, r.port, r.preferIPv6), nil, now.Add(TTL)
	return r.addrs, nil
}

var errNoAddress = errors.New("the name has no address")

// last returns the last answer and whether it is too old. No addresses come
// with one that is not to be used while another is sought.
func (r *Resolver) last(now time.Time) (addrs []netip.AddrPort, old bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.suspect:
		return nil, true, nil
	case r.until.IsZero() || now.Before(r.until):
		return r.addrs, false, r.err
	}
	return r.addrs, true, nil
}

// Expire makes the next call ask again: a connect failed, and the back end may
// have moved.
func (r *Resolver) Expire() {
	r.mu.Lock()
	if !r.until.IsZero() {
		r.suspect = true
	}
	r.mu.Unlock()
}

// Order puts one family first and drops duplicates.
func Order(found []netip.Addr, port uint16, preferIPv6 bool) []netip.AddrPort {
	var out []netip.AddrPort
	for _, v6 := range []bool{preferIPv6, !preferIPv6} {
		for _, a := range found {
			ap := netip.AddrPortFrom(a.Unmap(), port)
			if a.Unmap().Is6() == v6 && !slices.Contains(out, ap) {
				out = append(out, ap)
			}
		}
	}
	return out
}
