package scoreboard

import (
	"runtime"
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

// attempts bounds how often a reader tries for one record; yieldEvery says
// after how many failures it lets others run (the writer may be a goroutine of
// this process, or wait for this processor).
const (
	attempts   = 64
	yieldEvery = 8
)

// read copies words first..after-1 of a record into dst. It returns false when
// the copy may be torn: the writer was at work each time, died at work, or
// wants us to believe so.
func read(seq *atomic.Uint64, words []atomic.Uint64, dst []uint64) bool {
	for i := 1; i <= attempts; i++ {
		s := seq.Load()
		if s&1 == 0 || i == attempts {
			for j := range dst {
				dst[j] = words[j].Load()
			}
			if s&1 == 0 && seq.Load() == s {
				return true
			}
		}
		if i%yieldEvery == 0 {
			runtime.Gosched()
		}
	}
	return false
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
