//go:build unix

package sock

import "time"

// Tick is a function that is due again and again, in a process whose only
// goroutine does all the waiting: there is nobody else to call it. The waits
// that know of it, [Acceptor.Accept] and [Blocking.ReadIdle], don't sleep past
// the moment at which it is due and call it then; whoever goes on from one
// connection to the next calls Run in between. They share one Tick, so that it
// does not matter which of them the moment finds. A nil Tick is never due.
// All belongs to one goroutine.
type Tick struct {
	every time.Duration
	f     func(now time.Time)
	wake  *Wake
	due   time.Time
}

// NewTick makes a Tick that is due first after the duration first and then
// each time every after the last call has returned, so that a call that takes
// long is not followed by another one at once. Once wake, which may be nil,
// has fired there are no more calls. Without a function, or with an every that
// is not positive, it returns nil.
func NewTick(first, every time.Duration, wake *Wake, f func(now time.Time)) *Tick {
	if f == nil || every <= 0 {
		return nil
	}
	return &Tick{every: every, f: f, wake: wake, due: time.Now().Add(first)}
}

// Run calls the function if it is due at now, which the caller has read from
// the clock anyway: unless something is due, this is one comparison. It
// returns whether the function was called; now is an old time then.
func (t *Tick) Run(now time.Time) bool {
	if t == nil || now.Before(t.due) {
		return false
	}
	// Asking the kernel each time would be too much for a request, not for
	// this. The wake descriptor ends the waits.
	if t.wake.fired() {
		t.due = now.Add(t.every)
		return false
	}
	t.f(now)
	t.due = time.Now().Add(t.every)
	return true
}

// bound shortens a wait that begins at now, and is negative if it has no end,
// to the moment at which t is due.
func (t *Tick) bound(wait time.Duration, now time.Time) time.Duration {
	if t == nil {
		return wait
	}
	left := max(t.due.Sub(now), 0)
	if wait < 0 {
		return left
	}
	return min(wait, left)
}

// milliseconds converts a wait for poll(2) and its like; negative: no end.
// Rounded up, because waking early would only mean another turn, and cut: all
// callers look at the clock again.
func milliseconds(wait time.Duration) int {
	if wait < 0 {
		return -1
	}
	return int(min((wait+time.Millisecond-1)/time.Millisecond, 1<<30))
}
