package counters

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Words of a record. What a request writes and what the connection cache writes
// are in different lines.
const (
	recordRequests  = 0 // NumClasses of them
	recordDurations = recordRequests + NumClasses
	recordDuration  = recordDurations + len(Bounds) + 1 // ns
	recordBytes     = recordDuration + 1
	recordErrors    = recordBytes + 1

	recordCache  = 2 * line / wordSize // what only grows
	recordHits   = recordCache
	recordMisses = recordCache + 1
	recordRefuse = recordCache + 2
	recordOpened = recordCache + 3
	recordClosed = recordCache + 4 // NumCloseReasons of them

	cacheWords   = 4 + int(NumCloseReasons)
	recordIdle   = recordCache + cacheWords // what there is now
	recordBusy   = recordIdle + 1
	recordOldest = recordBusy + 1   // Unix ns, 0: none
	recordBase   = recordOldest + 1 // the cacheWords when the child began, by the master

	recordWords = 4 * line / wordSize
)

// Record is what one child counts for one worker. Its methods may be called by
// several goroutines of that child at a time, do not allocate, and do nothing
// when it is nil.
type Record struct{ words [recordWords]atomic.Uint64 }

// All words have a place: an array of negative length does not compile.
var (
	_ [recordCache - recordErrors - 1]struct{}
	_ [recordWords - recordBase - cacheWords]struct{}
	_ [eventWords - eventDeaths - int(NumDeaths)]struct{}
)

var closeReasonNames = [NumCloseReasons]string{"reuse", "error", "client", "ping", "stale", "age", "idle", "overflow", "shutdown", "changed"}

func (r CloseReason) String() string {
	if r < NumCloseReasons {
		return closeReasonNames[r]
	}
	return fmt.Sprintf("CloseReason(%d)", uint8(r))
}

// Class is the class of a status code.
func Class(status int) int { return min(max(status/100-1, Class1xx), Class5xx) }

// durationClass is the first of Bounds that d does not exceed.
func durationClass(d time.Duration) int {
	for i, b := range Bounds {
		if d <= b {
			return i
		}
	}
	return len(Bounds)
}

// Request counts a request that is over: the status that the client was sent,
// whether the answer did not reach its end, how long it took and how many bytes
// its body had.
func (r *Record) Request(status int, aborted bool, d time.Duration, bytes uint64) {
	if r == nil {
		return
	}
	class := Class(status)
	if aborted {
		class = Aborted
	}
	d = max(d, 0)
	r.words[recordRequests+class].Add(1)
	r.words[recordDurations+durationClass(d)].Add(1)
	r.words[recordDuration].Add(uint64(d))
	if bytes > 0 {
		r.words[recordBytes].Add(bytes)
	}
}

func (r *Record) add(word int) {
	if r != nil {
		r.words[word].Add(1)
	}
}

// Error counts a request that failed by the back end's fault.
func (r *Record) Error() { r.add(recordErrors) }

// Hit counts an attempt that reuses a connection.
func (r *Record) Hit() { r.add(recordHits) }

// Miss counts an attempt that has to open a connection.
func (r *Record) Miss() { r.add(recordMisses) }

// Refused counts a request that got no connection, as all were in use.
func (r *Record) Refused() { r.add(recordRefuse) }

// Opened counts a connection that was opened.
func (r *Record) Opened() { r.add(recordOpened) }

// Closed counts a connection that was closed.
func (r *Record) Closed(why CloseReason) {
	if why < NumCloseReasons {
		r.add(recordClosed + int(why))
	}
}

// AddIdle says that so many more connections wait for a request than before, and
// since when the one that waits longest does, the zero time if none does.
func (r *Record) AddIdle(d int, oldest time.Time) {
	if r == nil {
		return
	}
	var since uint64
	if !oldest.IsZero() {
		since = uint64(oldest.UnixNano())
	}
	r.words[recordIdle].Add(uint64(d))
	r.words[recordOldest].Store(since)
}

// AddBusy says that so many more connections, or turns, are in a request's hand.
func (r *Record) AddBusy(d int) {
	if r != nil {
		r.words[recordBusy].Add(uint64(d))
	}
}

// reclaim is the master's, when there is no child.
func (r *Record) reclaim() {
	for i := range cacheWords {
		// Untouched memory stays so.
		if n := r.words[recordCache+i].Load(); n != r.words[recordBase+i].Load() {
			r.words[recordBase+i].Store(n)
		}
	}
	for _, w := range []int{recordIdle, recordBusy, recordOldest} {
		if r.words[w].Load() != 0 {
			r.words[w].Store(0)
		}
	}
}

// addTo adds what was counted to s.
func (r *Record) addTo(s *Totals, now time.Time) {
	for i := range s.Requests {
		s.Requests[i] = sum(s.Requests[i], r.words[recordRequests+i].Load())
	}
	for i := range s.Durations {
		s.Durations[i] = sum(s.Durations[i], r.words[recordDurations+i].Load())
	}
	s.Duration = time.Duration(sum(uint64(s.Duration), r.words[recordDuration].Load()))
	s.Bytes = sum(s.Bytes, r.words[recordBytes].Load())
	s.Errors = sum(s.Errors, r.words[recordErrors].Load())
	c, all := r.cache(now, func(i int) uint64 { return r.words[recordCache+i].Load() }), &s.Cache
	all.Hits, all.Misses, all.Refused, all.Opened = sum(all.Hits, c.Hits), sum(all.Misses, c.Misses), sum(all.Refused, c.Refused), sum(all.Opened, c.Opened)
	for i := range all.Closed {
		all.Closed[i] = sum(all.Closed[i], c.Closed[i])
	}
	all.Idle, all.Busy = all.Idle+c.Idle, all.Busy+c.Busy
	if !c.Oldest.IsZero() && (all.Oldest.IsZero() || c.Oldest.Before(all.Oldest)) {
		all.Oldest = c.Oldest
	}
}

// Cache is what the child of the record counted since it began, and what it has.
func (r *Record) Cache() Cache {
	if r == nil {
		return Cache{}
	}
	return r.mine(time.Now())
}

// mine is what the living child counted.
func (r *Record) mine(now time.Time) Cache {
	return r.cache(now, func(i int) uint64 {
		all, base := r.words[recordCache+i].Load(), r.words[recordBase+i].Load()
		return all - min(base, all)
	})
}

// cache reads the words of the connection cache, those that grow by way of load.
func (r *Record) cache(now time.Time, load func(i int) uint64) Cache {
	at := func(word int) uint64 { return sum(load(word-recordCache), 0) }
	c := Cache{
		Hits: at(recordHits), Misses: at(recordMisses), Refused: at(recordRefuse), Opened: at(recordOpened),
		Idle: gauge(r.words[recordIdle].Load()), Busy: gauge(r.words[recordBusy].Load()),
	}
	for i := range c.Closed {
		c.Closed[i] = at(recordClosed + i)
	}
	if since := r.words[recordOldest].Load(); c.Idle > 0 && since > 0 && since <= math.MaxInt64 {
		if c.Oldest = time.Unix(0, int64(since)); c.Oldest.After(now) {
			c.Oldest = now
		}
	}
	return c
}

// maxGauge is more connections than a process can have.
const maxGauge = 1 << 20

// gauge is a number of connections or slots; it may have been below 0.
func gauge(n uint64) int { return int(min(max(int64(n), 0), maxGauge)) }
