package jk

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"

	"jkd/connector/jk/jkshm"

	"jkd/connector/counters"
)

// live is the settings of a back end that count now: those of the file as
// edits have changed them, and the addresses that the master has found.
type live struct {
	edits   atomic.Uint64 // of the segment when they were compared last
	version uint64        // of the record
	s       jkshm.WorkerSettings
	// addrs are the addresses to connect to, in the order to try them; none
	// while the host's name is not resolved, and with port 0.
	addrs   []netip.AddrPort
	numeric bool // the host is an address itself
}

// live returns the current settings. One load tells that nothing changed. Who
// finds that something did closes the idle connections that no longer fit.
func (w *worker) live() *live {
	edits := w.seg.Edits() // before the rest: whatever comes later counts one more
	old := w.view.Load()
	if old != nil && old.edits.Load() == edits {
		return old
	}
	if old != nil && old.version == w.rec.Version() {
		old.edits.Store(edits)
		return old
	}
	l := w.load()
	l.edits.Store(edits)
	if w.view.CompareAndSwap(old, l) && old != nil && !(old.s.MaxPacketSize == l.s.MaxPacketSize && slices.Equal(old.addrs, l.addrs)) {
		w.pool.drop(counters.ClosedChanged, func(c *pooled) bool { return !l.fits(c) })
	}
	return l
}

// load reads the settings with the addresses that belong to them.
func (w *worker) load() *live {
	l := &live{}
	var a jkshm.Addresses
	for range 3 {
		l.version = w.rec.Load(&l.s)
		w.rec.LoadAddresses(&a)
		if w.rec.Version() == l.version {
			break
		}
	}
	addr, err := netip.ParseAddr(l.s.Host)
	l.numeric = err == nil
	switch {
	case l.s.Port == 0:
	case l.numeric:
		l.addrs = []netip.AddrPort{netip.AddrPortFrom(addr.Unmap(), uint16(l.s.Port))}
	case a.Resolved:
		l.addrs = a.List
	}
	return l
}

// fits tells whether a connection is still what the settings want.
func (l *live) fits(c *pooled) bool {
	return c.packet == l.s.MaxPacketSize && slices.Contains(l.addrs, c.at)
}

// address is the back end as the settings name it.
func (l *live) address() string { return net.JoinHostPort(l.s.Host, strconv.Itoa(l.s.Port)) }

// packetSize is the largest packet that may be sent to the back end.
func (w *worker) packetSize() int { return w.live().s.MaxPacketSize }
