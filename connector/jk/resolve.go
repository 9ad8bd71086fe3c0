package jk

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// resolveTTL is how long an answer of the resolver is used.
	resolveTTL = 30 * time.Second
	// resolveTimeout bounds one look-up.
	resolveTimeout = 5 * time.Second
)

// resolver finds the addresses of one back end. A numeric host never asks
// anybody; for a name the last answer is kept when a later look-up fails.
type resolver struct {
	host       string
	port       uint16
	preferIPv6 bool
	lookup     func(ctx context.Context, host string) ([]netip.Addr, error)

	mu    sync.Mutex
	addrs []netip.AddrPort
	until time.Time // when to ask again; zero: never
}

func newResolver(host string, port uint16, preferIPv6 bool) *resolver {
	r := &resolver{host: host, port: port, preferIPv6: preferIPv6, lookup: lookupHost}
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

// addresses returns where to connect to, in the order to try.
func (r *resolver) addresses(now time.Time) ([]netip.AddrPort, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until.IsZero() || now.Before(r.until) {
		return r.addrs, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	found, err := r.lookup(ctx, r.host)
	if err != nil || len(found) == 0 {
		if len(r.addrs) > 0 {
			r.until = now.Add(time.Second) // keep the old answer, ask again soon
			return r.addrs, nil
		}
		return nil, fmt.Errorf("can't resolve %s: %w", r.host, err)
	}
	r.addrs = order(found, r.port, r.preferIPv6)
	r.until = now.Add(resolveTTL)
	return r.addrs, nil
}

// expire makes the next call ask again: a connect failed, and the back end may
// have moved.
func (r *resolver) expire() {
	r.mu.Lock()
	if !r.until.IsZero() {
		r.until = time.Unix(1, 0)
	}
	r.mu.Unlock()
}

// order puts one family first and drops duplicates.
func order(found []netip.Addr, port uint16, preferIPv6 bool) []netip.AddrPort {
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
