package jkshm

import "sync/atomic"

// Counter is one shared word that all processes change. Any number may be found
// in it. The zero value is of no use.
type Counter struct{ w *atomic.Uint64 }

// Add adds n and returns the sum.
func (c Counter) Add(n uint64) uint64 { return c.w.Add(n) }

// Load is the value.
func (c Counter) Load() uint64 { return c.w.Load() }

// Store sets the value.
func (c Counter) Store(n uint64) { c.w.Store(n) }

// CompareAndSwap sets the value if it is old.
func (c Counter) CompareAndSwap(old, new uint64) bool { return c.w.CompareAndSwap(old, new) }

// Sub takes n away, down to 0, and returns what is left.
func (c Counter) Sub(n uint64) uint64 {
	for {
		v := c.w.Load()
		left := v - min(n, v)
		if v == left || c.w.CompareAndSwap(v, left) {
			return left
		}
	}
}

// Shift halves the value n times: the decay of maintenance.
func (c Counter) Shift(n uint) {
	for {
		v := c.w.Load()
		if v == 0 || n == 0 || c.w.CompareAndSwap(v, v>>n) {
			return
		}
	}
}

// Raise makes the value n if it is less.
func (c Counter) Raise(n uint64) {
	for {
		v := c.w.Load()
		if v >= n || c.w.CompareAndSwap(v, n) {
			return
		}
	}
}

// Time is one shared word that holds a time in Unix seconds; 0: never.
type Time struct{ w *atomic.Uint64 }

// MaxTime is the latest time a record holds, the end of the year 9999.
const MaxTime = 253402300799

// Load is the time, between 0 and MaxTime whatever the memory holds.
func (t Time) Load() int64 { return int64(min(t.w.Load(), MaxTime)) }

// Store sets the time; before 1970 is never. It does not write when that is the
// time already: most requests find no error to forget.
func (t Time) Store(sec int64) {
	if v := uint64(max(sec, 0)); t.w.Load() != v {
		t.w.Store(v)
	}
}

// CompareAndSwap sets the time if it is old.
func (t Time) CompareAndSwap(old, new int64) bool {
	w := t.w.Load()
	return int64(min(w, MaxTime)) == old && t.w.CompareAndSwap(w, uint64(max(new, 0)))
}
