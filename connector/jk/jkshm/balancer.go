package jkshm

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Balancer is the record of one balancer. How many requests it has in hand is
// the sum of its members'.
type Balancer struct {
	// MaxBusy is the most requests its members had in hand at a time; use
	// Raise.
	MaxBusy Counter
	// UnknownRoutes counts sessions whose route no member has, Forced how often
	// all members were brought back because none was left.
	UnknownRoutes, Forced Counter
	// LastReset is when the counters were last reset, LastMaintenance when the
	// load values last decayed, LastLook when the master last looked for members
	// to bring back.
	LastReset, LastMaintenance, LastLook Time
	// RouteTold is when the log was last told of a session whose route no
	// member has.
	RouteTold Time

	seg        *Segment
	name       string
	next, lock *atomic.Uint64
	record     record
	members    []Member
}

func (b *Balancer) init(s *Segment, i int, r []atomic.Uint64) {
	*b = Balancer{
		MaxBusy:         Counter{&r[balancerMaxBusy]},
		UnknownRoutes:   Counter{&r[balancerUnknownRoutes]},
		Forced:          Counter{&r[balancerForced]},
		LastReset:       Time{&r[balancerLastReset]},
		LastMaintenance: Time{&r[balancerLastMaintenance]},
		LastLook:        Time{&r[balancerLastLook]},
		RouteTold:       Time{&r[balancerRouteTold]},

		seg:    s,
		name:   s.layout.Balancers[i].Name,
		next:   &r[balancerNext],
		lock:   &r[balancerLock],
		record: newRecord(r, balancerSeq, balancerBase, balancerConfigWords),
	}
}

// Name is the balancer's name.
func (b *Balancer) Name() string { return b.name }

// Members is the number of members.
func (b *Balancer) Members() int { return len(b.members) }

// Member is the j-th member. It panics when j is out of range.
func (b *Balancer) Member(j int) *Member { return &b.members[j] }

// Next is the member with which the next election shall begin, 0 if there is
// no such member.
func (b *Balancer) Next() int {
	if n := b.next.Load(); n < uint64(len(b.members)) {
		return int(n)
	}
	return 0
}

// SetNext sets it.
func (b *Balancer) SetNext(j int) { b.next.Store(uint64(j)) }

// electionWait is how long an election waits for others.
const electionWait = 100 * time.Millisecond

// Lock makes elections of this balancer wait for one another (lock
// Pessimistic); Unlock ends it. It waits a tenth of a second at most and then
// returns a [LockedError]; the election may go on without.
func (b *Balancer) Lock(server int) error {
	return b.seg.acquire(b.lock, b.seg.owner(server), electionWait)
}

// Unlock ends what Lock began.
func (b *Balancer) Unlock(server int) { release(b.lock, b.seg.owner(server)) }

// Reset sets the counters of the balancer, not those of its members, to 0 at
// time now (Unix s).
func (b *Balancer) Reset(now int64) {
	b.MaxBusy.Store(0)
	b.UnknownRoutes.Store(0)
	b.Forced.Store(0)
	b.LastReset.Store(now)
}

// Configure sets what is configured. The master calls it before any child
// attaches.
func (b *Balancer) Configure(s BalancerSettings) error { return b.wrap(b.record.configure(&s)) }

// Version changes with every edit of the settings. One atomic load.
func (b *Balancer) Version() uint64 { return b.record.seq.Load() }

// Load copies the settings to dst and returns their version.
func (b *Balancer) Load(dst *BalancerSettings) (version uint64) { return b.record.load(dst) }

// Update edits the settings, see [Worker.Update].
func (b *Balancer) Update(server int, fn func(*BalancerSettings) error) error {
	return b.seg.edit(server, func() error {
		var c BalancerSettings
		b.record.load(&c)
		if err := fn(&c); err != nil {
			return err
		}
		return b.wrap(b.record.write(b.seg, &c))
	})
}

// Edited lists the directives whose values are not as configured.
func (b *Balancer) Edited() []string { return b.record.edited(balancerSpans) }

var balancerSpans = spansOf(new(BalancerSettings), balancerConfigWords)

func (b *Balancer) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("jkshm: balancer %q: %w", b.name, err)
	}
	return nil
}
