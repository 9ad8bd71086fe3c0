package jk

import (
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"jkd/connector/ajp"
	"jkd/connector/counters"
)

// errBusy says that no connection came free within connection_acquire_timeout.
var errBusy = errors.New("no free connection within connection_acquire_timeout")

// pooled is a connection to the back end and what the pool has to know of it.
type pooled struct {
	*ajp.Conn
	at     netip.AddrPort
	addr   string // the same as text
	packet int    // max_packet_size when it was opened
	reused bool   // has carried a request before
	since  time.Time
	pinged time.Time // by maintenance
}

// pool keeps one process's connections to one back end. Its two modes are the
// two things that people's files ask for:
//
//   - ModeCache (cachesize, cache_timeout; mod_jk of 2003): a request takes an
//     idle connection or opens one, however many there are; when it gives it
//     back, it is kept if fewer than size are. The age is looked at only when
//     a request is about to reuse it.
//   - ModePool (connection_pool_size and its kin; mod_jk since 1.2.16): at most
//     size requests have a connection at a time, others wait their turn for
//     the acquire timeout. Idle connections above minSize that have not been
//     used for the idle timeout are closed by maintenance.
//
// The timeout is an argument: it can be changed at any time.
//
// The most recently used connection is taken first, so that a process under
// little load keeps few of them busy and the others grow old.
type pool struct {
	mode    Mode
	size    int
	minSize int
	acquire time.Duration
	keep    int // most idle connections kept

	turns chan struct{} // ModePool: a token for each connection in use
	lent  atomic.Bool   // maintenance has a turn, or is about to

	mu     sync.Mutex // given back by unlock
	idle   []*pooled  // oldest use first
	told   int        // how many of them tally was told of
	closed bool

	tally  *counters.Record
	onShut func() // called for each connection closed
}

func newPool(c CacheConfig, keep int, tally *counters.Record) *pool {
	p := &pool{mode: c.Mode, size: c.Size, minSize: c.MinSize, acquire: c.AcquireTimeout, keep: c.Size, tally: tally}
	if keep > 0 {
		p.keep = min(keep, p.keep)
	}
	if p.mode == ModePool {
		p.turns = make(chan struct{}, p.size)
	}
	return p
}

// unlock ends a change of the idle connections.
func (p *pool) unlock() {
	var oldest time.Time
	if len(p.idle) > 0 {
		oldest = p.idle[0].since
	}
	p.tally.AddIdle(len(p.idle)-p.told, oldest)
	p.told = len(p.idle)
	p.mu.Unlock()
}

// enter takes a turn; leave gives it back. A request holds one turn over all
// its attempts, so that a retry never waits behind newcomers. Turns
// are given in the order in which they were asked for. Who waits and leaves, as
// f, which may be nil, tells, gets none.
func (p *pool) enter(f *filter) error {
	if p.mode != ModePool {
		return nil
	}
	select {
	case p.turns <- struct{}{}:
		return nil
	default:
	}
	wait := p.acquire
	if p.lent.Load() {
		wait = max(wait, pingBudget) // maintenance is no reason to fail
	}
	if wait <= 0 {
		return errBusy
	}
	gone := make(chan struct{})
	if f != nil {
		stop := make(chan struct{})
		var watching sync.WaitGroup
		watching.Go(func() { f.watch(gone, stop) })
		defer watching.Wait()
		defer close(stop)
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case p.turns <- struct{}{}:
		return nil
	case <-t.C:
		return errBusy
	case <-gone:
		return errLeft
	}
}

func (p *pool) leave() {
	if p.mode == ModePool {
		<-p.turns
	}
}

// take returns an idle connection that is fit for a request, or nil when a new
// one has to be opened. Unfit ones are closed on the way.
func (p *pool) take(now time.Time, l *live) *pooled {
	timeout := l.s.ConnectionPoolTimeout
	for {
		p.mu.Lock()
		n := len(p.idle)
		if n == 0 {
			p.unlock()
			return nil
		}
		c := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		p.unlock()
		switch {
		case !l.fits(c):
			p.close(c, counters.ClosedChanged)
		case p.mode == ModeCache && timeout > 0 && now.Sub(c.since) > timeout:
			p.close(c, counters.ClosedAge)
		case !c.Usable():
			p.close(c, counters.ClosedStale)
		default:
			c.reused = true
			return c
		}
	}
}

// give takes a connection back after an exchange that left it idle. It keeps no
// more than most.
func (p *pool) give(c *pooled, now time.Time, most int) {
	c.since = now
	p.mu.Lock()
	if p.closed || len(p.idle) >= min(most, p.keep) {
		closed := p.closed
		p.unlock()
		if closed {
			p.close(c, counters.ClosedShutdown)
		} else {
			p.close(c, counters.ClosedOverflow)
		}
		return
	}
	p.idle = append(p.idle, c)
	p.unlock()
}

// close closes a connection for a reason.
func (p *pool) close(c *pooled, why counters.CloseReason) {
	_ = c.Close()
	p.tally.Closed(why)
	if p.onShut != nil {
		p.onShut()
	}
}

// sweep closes idle connections that have not been used for longer than the
// idle timeout, down to minSize, the least recently used first.
func (p *pool) sweep(now time.Time, timeout time.Duration) {
	if p.mode != ModePool || timeout <= 0 {
		return
	}
	p.mu.Lock()
	// Connections in use count as open, as in mod_jk.
	most := len(p.idle) + len(p.turns) - p.minSize
	n := 0
	for n < len(p.idle) && n < most && now.Sub(p.idle[n].since) > timeout {
		n++
	}
	old := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	p.unlock()
	for _, c := range old {
		p.close(c, counters.ClosedIdle)
	}
}

// shut closes all idle connections and everything given back from now on.
func (p *pool) shut() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.unlock()
	for _, c := range idle {
		p.close(c, counters.ClosedShutdown)
	}
}

// drop closes the idle connections that are meant.
func (p *pool) drop(why counters.CloseReason, meant func(*pooled) bool) {
	p.mu.Lock()
	var gone []*pooled
	p.idle = slices.DeleteFunc(p.idle, func(c *pooled) bool {
		if !meant(c) {
			return false
		}
		gone = append(gone, c)
		return true
	})
	p.unlock()
	for _, c := range gone {
		p.close(c, why)
	}
}

// all is every connection: each is suspect when one of them turned out to be
// dead in a way that only using it shows.
func all(*pooled) bool { return true }

// trim closes idle connections until there are no more than most.
func (p *pool) trim(most int) {
	p.mu.Lock()
	n := max(len(p.idle)-most, 0)
	old := slices.Clone(p.idle[:n])
	p.idle = slices.Delete(p.idle, 0, n)
	p.unlock()
	for _, c := range old {
		p.close(c, counters.ClosedOverflow)
	}
}

// borrow takes an idle connection that is due out of the pool, with a turn, so
// that there are never more connections than turns; nil if there is none. It
// is to be put back or closed after putBack.
func (p *pool) borrow(due func(*pooled) bool) *pooled {
	p.lent.Store(true) // before the turn is missing, and until it is back
	if p.mode == ModePool {
		select {
		case p.turns <- struct{}{}:
		default:
			p.lent.Store(false)
			return nil
		}
	}
	p.mu.Lock()
	defer p.unlock()
	if i := slices.IndexFunc(p.idle, due); i >= 0 {
		c := p.idle[i]
		p.idle = slices.Delete(p.idle, i, i+1)
		return c
	}
	p.leave()
	p.lent.Store(false)
	return nil
}

// putBack ends borrow. A connection that is good takes the place of its age.
func (p *pool) putBack(c *pooled, good bool) {
	p.mu.Lock()
	closed := p.closed
	if good && !closed {
		i := slices.IndexFunc(p.idle, func(o *pooled) bool { return o.since.After(c.since) })
		if i < 0 {
			i = len(p.idle)
		}
		p.idle = slices.Insert(p.idle, i, c)
	}
	p.unlock()
	p.leave()
	p.lent.Store(false)
	if good && closed {
		p.close(c, counters.ClosedShutdown)
	}
}

// room tells whether a request would find a turn at once.
func (p *pool) room() bool { return p.mode != ModePool || len(p.turns) < cap(p.turns) }

func (p *pool) idleCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}
