package counters

import "time"

// HistorySeconds is how many seconds the ring of the last minutes holds.
const HistorySeconds = 300

// Classes of status codes.
const (
	Class1xx = iota
	Class2xx
	Class3xx
	Class4xx
	Class5xx
	Aborted // the client had left, or the answer was broken off
	NumClasses
)

// Bounds are the upper bounds of the classes of durations; one more class has
// what took longer.
var Bounds = [...]time.Duration{
	time.Millisecond / 2, time.Millisecond, 5 * time.Millisecond / 2, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 5 * time.Second / 2,
	5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// CloseReason is why a connection to a back end was closed.
type CloseReason uint8

const (
	ClosedReuse    CloseReason = iota // the container ended its answer with reuse 0
	ClosedError                       // an exchange failed on it
	ClosedClient                      // the client left before the answer was through
	ClosedPing                        // it did not answer CPING
	ClosedStale                       // found closed, or with unexpected data, before use
	ClosedAge                         // older than cache_timeout when about to be reused
	ClosedIdle                        // unused for connection_pool_timeout
	ClosedOverflow                    // as many as are kept were there already
	ClosedShutdown                    // the process ends
	ClosedChanged                     // to an address, or with a packet size, that is not wanted any more
	NumCloseReasons
)

// Cache is what one child's connection cache for one worker did and has.
type Cache struct {
	Hits, Misses uint64 // attempts that reused a connection, and that had to open one
	Refused      uint64 // requests that got none, as all were in use (overflow)
	Opened       uint64
	Closed       [NumCloseReasons]uint64
	Idle         int       // connections that wait for a request
	Busy         int       // connections, or turns, that a request has
	Oldest       time.Time // since when the one that waits longest waits; zero if none
}

// Totals are sums over children. Cache.Oldest is the oldest of all.
type Totals struct {
	Requests  [NumClasses]uint64
	Durations [len(Bounds) + 1]uint64 // requests by duration, not cumulated
	Duration  time.Duration           // of all of them
	Bytes     uint64                  // of bodies sent to clients
	Errors    uint64                  // requests that failed by the back end's fault
	Cache     Cache
}

// Second is one second of the last minutes.
type Second struct {
	Unix     int64 // the second
	Requests uint64
	Errors   uint64 // answers 500 and above
	Bytes    uint64
	Duration time.Duration // of these requests together
	Busy     int           // slots, at its end
	Idle     int
}
