package scoreboard

import (
	"sync/atomic"
	"time"
)

// A sequence word guards the words that belong together. Its one writer makes
// it odd, stores the words and makes it even again; a reader whose copy lies
// between two loads of the same even number has seen one update or another,
// never a mixture. Go's atomic stores and loads are in one order for all, so no
// other barrier is needed.

// begin makes the sequence odd and returns that number. A number left odd by a
// writer that died in between is taken as it is.
func begin(seq *atomic.Uint64) uint64 {
	s := seq.Load() | 1
	seq.Store(s)
	return s
}

// end makes the sequence even.
func end(seq *atomic.Uint64, s uint64) { seq.Store(s + 1) }

// attempts bounds how often a reader tries for one record. An update takes a
// small part of the time this takes, unless its writer was stopped in the
// middle; then waiting would not help for long.
const attempts = 100

// read copies the words into dst, which is as long. It returns false when the
// copy may be torn: the writer was at work each time, died at work, or wants us
// to believe so.
func read(seq *atomic.Uint64, words []atomic.Uint64, dst []uint64) bool {
	for range attempts {
		s := seq.Load()
		if s&1 != 0 {
			continue
		}
		load(words, dst)
		if seq.Load() == s {
			return true
		}
	}
	load(words, dst)
	return false
}

func load(words []atomic.Uint64, dst []uint64) {
	for i := range dst {
		dst[i] = words[i].Load()
	}
}

// micros is d in whole microseconds, negative ones as zero.
func micros(d time.Duration) uint64 { return uint64(max(d, 0) / time.Microsecond) }

// ofMicros is the duration of a word, at most the longest there is.
func ofMicros(us uint64) time.Duration {
	const most = uint64(1<<63-1) / uint64(time.Microsecond)
	return time.Duration(min(us, most)) * time.Microsecond
}

// ofNanos is the duration of a word, at most the longest there is.
func ofNanos(ns uint64) time.Duration { return time.Duration(min(ns, 1<<63-1)) }
