//go:build unix

package mpm

import "time"

// A child that ends badly before quickDeath, or ends at all before it was
// ready, makes the next ones wait: one second, then twice as long each time,
// up to brakeMax.
const (
	quickDeath = time.Second
	brakeMin   = time.Second
	brakeMax   = 32 * time.Second
)

// Brake keeps children that die at once from becoming a fork storm. The zero
// value is released.
type Brake struct {
	delay time.Duration // of the last hold; 0: released
	until time.Time     // end of the current hold
	since time.Time     // when the last death counted
}

// Died counts one quick death. Deaths during a hold are those of children that
// were started together with the first and don't count again.
func (b *Brake) Died(now time.Time) {
	if b.Holds(now) {
		return
	}
	b.delay = min(max(b.delay*2, brakeMin), brakeMax)
	b.until = now.Add(b.delay)
	b.since = now
}

// Healthy tells of a child that is well at this moment. One that was started
// after the last quick death and outlived quickDeath releases the brake; those
// from before prove nothing.
func (b *Brake) Healthy(started, now time.Time) {
	if b.On() && started.After(b.since) && now.Sub(started) >= quickDeath {
		*b = Brake{}
	}
}

// Holds tells whether no child may be started now.
func (b *Brake) Holds(now time.Time) bool { return now.Before(b.until) }

// On tells whether the brake has not been released: children are started one
// at a time.
func (b *Brake) On() bool { return b.delay > 0 }

// Delay is the length of the current or last hold.
func (b *Brake) Delay() time.Duration { return b.delay }
