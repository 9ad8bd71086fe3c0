package shm

import (
	"math"
	"testing"
)

// TestForward: no word, whatever somebody writes there, makes a sum go back or
// leap.
func TestForward(t *testing.T) {
	var seen uint64
	for _, c := range []struct{ now, most, want, seen uint64 }{
		{0, 10, 0, 0},
		{7, 10, 7, 7},
		{7, 10, 0, 7},
		{3, 10, 0, 7}, // less counts as nothing
		{17, 10, 10, 17},
		{28, 10, 0, 28}, // a leap, and the base for what follows
		{30, 10, 2, 30},
		{math.MaxUint64, math.MaxInt64, math.MaxInt64 - 30, math.MaxInt64},
		{math.MaxUint64, math.MaxInt64, 0, math.MaxInt64},
	} {
		if got := Forward(&seen, c.now, c.most); got != c.want || seen != c.seen {
			t.Errorf("%d: %d, seen %d, want %d, %d", c.now, got, seen, c.want, c.seen)
		}
	}
}
