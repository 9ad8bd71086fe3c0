package jk

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/dial"
)

// errConnections says that the connections of all processes together are as
// many as max_connections allows.
var errConnections = errors.New("max_connections")

// fullPause is how long a request waits before it looks again for a place among
// max_connections: processes can't wake each other.
const fullPause = 10 * time.Millisecond

// open connects. If there are as many connections as may be, it waits as long
// as for a turn; one that this process gets back meanwhile will do as well.
func (w *worker) open(q *call) (*pooled, *connector.Error) {
	var end time.Time
	for !w.rec.TryOpen(w.server, w.live().s.MaxConnections) {
		now := time.Now()
		if end.IsZero() {
			end = now.Add(w.pool.acquire)
		}
		l := w.live()
		if !now.Before(end) {
			q.log.Warn().Str("worker", w.name).Int("max_connections", l.s.MaxConnections).
				Msgf("Unable to get the free endpoint for worker %s: max_connections %d reached", w.name, l.s.MaxConnections)
			w.tally.Refused()
			return nil, &connector.Error{Worker: w.name, Addr: l.address(), Op: "acquire connection", Status: 503, Recoverable: true,
				Err: fmt.Errorf("%w %d of worker %s reached", errConnections, l.s.MaxConnections, w.name)}
		}
		if !q.out.pause(fullPause) {
			return nil, leftError(w.name)
		}
		if c := w.idle(q.log); c != nil {
			return c, nil
		}
	}
	c, err := w.connect()
	if err != nil {
		w.rec.Closed(w.server)
	}
	return c, err
}

// share is how many idle connections this process may keep when there is a
// limit for all: what lies idle here can't be used by another, and each must be
// able to serve.
func (w *worker) share(l *live) int {
	if l.s.MaxConnections <= 0 {
		return w.pool.keep
	}
	return l.s.MaxConnections / max(w.seg.High(), 1)
}

// connect connects to the first address that takes it. When none does and the
// host has other addresses by now, those are tried too.
func (w *worker) connect() (*pooled, *connector.Error) {
	lookUps := w.rec.LookUps.Load()
	l := w.live()
	c, fail := w.dialAny(l)
	if fail != nil && len(l.addrs) > 0 && w.moved(l, lookUps) {
		c, fail = w.dialAny(w.live())
	}
	return c, fail
}

// dialAny tries one address after the other. All of them together have the time
// of one connect.
func (w *worker) dialAny(l *live) (*pooled, *connector.Error) {
	if len(l.addrs) == 0 {
		return nil, w.unresolved(l)
	}
	opts := w.dialOpts
	var at netip.AddrPort
	nc, addr, err := dial.Any(l.addrs, opts.Timeout, func(a netip.AddrPort, timeout time.Duration) (ajp.NetConn, error) {
		at, opts.Timeout = a, timeout
		return w.dial(a, opts)
	})
	if err != nil {
		return nil, &connector.Error{Worker: w.name, Op: "connect", Status: 503, Recoverable: true, Addr: addr, Err: err}
	}
	w.tally.Opened()
	return &pooled{Conn: ajp.NewConn(nc, l.s.MaxPacketSize), at: at, addr: addr, packet: l.s.MaxPacketSize}, nil
}
