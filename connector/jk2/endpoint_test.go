package jk2

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/jk2/jk2shm"
)

func none() *jk2shm.Endpoint { return nil }

// The one that was returned last is taken first, and none is ever dropped.
func TestCacheIsLIFO(t *testing.T) {
	c := cache{tally: new(counters.Record)}
	var all []*endpoint
	for range 200 {
		all = append(all, c.take(0, none))
	}
	for _, e := range all {
		c.give(e, time.Now())
	}
	if made, idle, connected := c.counts(); made != 200 || idle != 200 || connected != 0 {
		t.Error(made, idle, connected)
	}
	for i := range all {
		if e := c.take(0, none); e != all[len(all)-1-i] {
			t.Fatalf("take %d: another endpoint than the one returned last", i)
		}
	}
}

func TestCacheLimit(t *testing.T) {
	c := cache{tally: new(counters.Record)}
	a, b := c.take(2, none), c.take(2, none)
	if a == nil || b == nil || c.take(2, none) != nil || c.tally.Cache().Refused != 1 {
		t.Fatal("the limit does not hold")
	}
	c.give(a, time.Now())
	if c.take(2, none) != a {
		t.Error("an idle endpoint was not taken")
	}
	c.give(b, time.Now())
	// A lower limit counts for new ones only.
	if c.take(1, none) != b || c.take(1, none) != nil || c.take(3, none) == nil {
		t.Error("a changed limit")
	}
}

// Whatever the timing, never more than the limit are out.
func TestCacheConcurrently(t *testing.T) {
	const limit = 5
	c := cache{tally: new(counters.Record)}
	var mu sync.Mutex
	out := 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 200 {
				e := c.take(limit, none)
				if e == nil {
					continue
				}
				mu.Lock()
				out++
				if out > limit {
					t.Errorf("%d are out", out)
				}
				mu.Unlock()
				mu.Lock()
				out--
				mu.Unlock()
				c.give(e, time.Now())
			}
		})
	}
	wg.Wait()
	if made, idle, _ := c.counts(); made > limit || idle != made {
		t.Error(fmt.Sprint(made, idle))
	}
}

// nopConn is there to be closed.
type nopConn struct{ net.Conn }

func (nopConn) Close() error            { return nil }
func (nopConn) Readable() (bool, error) { return false, nil }

// What is said of idle connections is what there is.
func TestCacheTellsOfIdle(t *testing.T) {
	c := cache{tally: new(counters.Record)}
	at := func(s int64) time.Time { return time.Unix(1000+s, 0) }
	is := func(idle, busy int, oldest time.Time) {
		t.Helper()
		if got := c.tally.Cache(); got.Idle != idle || got.Busy != busy || !got.Oldest.Equal(oldest) {
			t.Errorf("idle %d, busy %d, oldest %v; want %d, %d, %v", got.Idle, got.Busy, got.Oldest, idle, busy, oldest)
		}
	}
	connect := func(e *endpoint) *endpoint {
		e.conn = ajp.NewConn(nopConn{}, packet)
		c.tally.Opened()
		return e
	}
	x, y, z := c.take(0, none), connect(c.take(0, none)), connect(c.take(0, none))
	is(0, 3, time.Time{})
	c.give(x, at(1)) // not connected
	is(0, 2, time.Time{})
	c.give(y, at(2))
	c.give(z, at(3))
	is(2, 0, at(2))
	if c.take(0, none) != z {
		t.Fatal("not the last one")
	}
	is(1, 1, at(2))
	c.disconnect(z, counters.ClosedError)
	c.give(z, at(4))
	is(1, 0, at(2))
	c.take(0, none)
	c.take(0, none)
	is(0, 2, time.Time{})
	c.give(connect(z), at(5))
	is(1, 1, at(5))
	c.drop(counters.ClosedStale)
	is(0, 1, time.Time{})
	c.give(y, at(6))
	is(1, 0, at(6))
	c.shut()
	is(0, 0, time.Time{})
	got := c.tally.Cache()
	if got.Opened != 3 || got.Closed[counters.ClosedError] != 1 || got.Closed[counters.ClosedStale] != 1 || got.Closed[counters.ClosedShutdown] != 1 {
		t.Errorf("%+v", got)
	}
}

func BenchmarkTakeGive(b *testing.B) {
	c := cache{tally: new(counters.Record)}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		c.give(c.take(0, none), now)
	}
}
