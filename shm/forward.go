package shm

import "math"

// MostAtOnce bounds what one word can have counted between two looks a second
// apart, in whatever unit: twenty thousand threads that are busy for two days, in
// nanoseconds. What is more has been written there and not counted.
const MostAtOnce = 1 << 52

// Forward is what a word of another master's memory, which only grows and is now
// at now, has counted since seen, the most that was ever there, which it keeps.
// The word may hold anything: what has become less counts as nothing, and so does
// a leap of more than most.
func Forward(seen *uint64, now, most uint64) uint64 {
	now = min(now, math.MaxInt64)
	if now <= *seen {
		return 0
	}
	d := now - *seen
	*seen = now
	if d > most {
		return 0
	}
	return d
}
