package counters

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLayout(t *testing.T) {
	long := strings.Repeat("x", 300)
	l := NewLayout(3, []WorkerName{{"a", "jk"}, Own, {"a", "jk"}, {"a", "jk2"}, {long, "jk"}, {long + "y", "jk"}, {"z\x00z", "jk"}, Other})
	want := []WorkerName{Own, {"a", "jk"}, {"a", "jk2"}, {long[:MaxName], "jk"}, {"z", "jk"}, Other, Other}
	if !slices.Equal(l.Workers, want) {
		t.Errorf("workers %q", l.Workers)
	}
	many := make([]WorkerName, 5000)
	for i := range many {
		many[i].Name = strings.Repeat("w", i%100) + string(rune('A'+i/100))
	}
	for _, servers := range []int{1, 256, 1000, 200000} {
		l := NewLayout(servers, many)
		if _, err := Size(l); err != nil {
			t.Errorf("%d servers: %v", servers, err)
		}
	}
	for _, l := range []Layout{{}, {Servers: 1}, {1, []WorkerName{Own}}, {1, []WorkerName{Other, Own}}, {0, []WorkerName{Own, Other}},
		{MaxServers + 1, []WorkerName{Own, Other}}, NewLayout(-1, nil), {MaxServers, slices.Concat([]WorkerName{Own}, many[:10], []WorkerName{Other})}} {
		if n, err := Size(l); err == nil {
			t.Errorf("%d servers, %d workers: %d bytes", l.Servers, len(l.Workers), n)
		}
		if _, err := Format(memory(1<<20), l); err == nil {
			t.Error("Format takes it")
		}
	}
	if recordSize%line != 0 || namesOffset%line != 0 || workerWords*wordSize%line != 0 || eventOffset%line != 0 || historyOffset%line != 0 {
		t.Error("parts do not begin with a line")
	}
}

func TestFormatAndAttach(t *testing.T) {
	l := NewLayout(2, names)
	n, _ := Size(l)
	if _, err := Format(memory(n-1), l); err == nil {
		t.Error("too small a memory")
	}
	if _, err := Format(memory(n + 1)[1:], l); err == nil {
		t.Error("memory that is not aligned")
	}
	mem := memory(n)
	if _, err := Attach(mem); err == nil {
		t.Error("memory that is not formatted")
	}
	if _, err := Format(mem, l); err != nil {
		t.Fatal(err)
	}
	tab, err := Attach(mem)
	if err != nil || !slices.Equal(tab.Workers(), l.Workers) {
		t.Fatal(err)
	}
	for _, m := range [][]byte{nil, mem[:8], mem[:n-1], memory(n + 1)[1:]} {
		if _, err := Attach(m); err == nil {
			t.Errorf("%d bytes", len(m))
		}
	}
}

func TestRecordIsFoundByName(t *testing.T) {
	tab := mustFormat(t, 2, names...)
	for _, tt := range []struct {
		connector, name string
		worker          int
	}{{"", "-", 0}, {"jk", "a", 1}, {"jk", "b", 2}, {"jk2", "a", 3}, {"", "other", 4}, {"jk2", "b", 4}, {"", "", 4}, {"jk", "-", 4}} {
		if tab.Record(1, tt.connector, tt.name) != tab.record(1, tt.worker) {
			t.Errorf("%q of %q is not worker %d", tt.name, tt.connector, tt.worker)
		}
	}
	for _, f := range []func(){
		func() { tab.Record(2, "jk", "a") }, func() { tab.Record(-1, "jk", "a") }, func() { tab.Reclaim(2) },
		func() { tab.Totals(5) }, func() { tab.Totals(-1) }, func() { tab.Child(2, 0) }, func() { tab.Child(0, 5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}

func TestRequest(t *testing.T) {
	tab := mustFormat(t, 2, names...)
	r := tab.Record(0, "jk", "a")
	var want Totals
	for _, tt := range []struct {
		status  int
		aborted bool
		class   int
		d       time.Duration
		bound   int
	}{
		{100, false, Class1xx, 0, 0}, {200, false, Class2xx, time.Millisecond / 2, 0}, {299, false, Class2xx, time.Millisecond/2 + 1, 1},
		{304, false, Class3xx, time.Second, 10}, {404, false, Class4xx, time.Minute, 15}, {502, false, Class5xx, time.Minute + 1, 16},
		{999, false, Class5xx, time.Hour, 16}, {0, false, Class1xx, -1, 0}, {-5, false, Class1xx, 3 * time.Millisecond, 3}, {200, true, Aborted, 7 * time.Second, 13},
	} {
		r.Request(tt.status, tt.aborted, tt.d, 10)
		want.Requests[tt.class]++
		want.Durations[tt.bound]++
		want.Duration += max(tt.d, 0)
		want.Bytes += 10
		if got := tab.Totals(1); got != want {
			t.Errorf("after %d: %+v, not %+v", tt.status, got, want)
		}
	}
	r.Error()
	tab.Record(1, "jk", "a").Request(200, false, 1, 5)
	tab.Record(1, "jk", "b").Request(200, false, 1, 5)
	if got := tab.Totals(1); got.Requests[Class2xx] != 3 || got.Errors != 1 || got.Bytes != 105 {
		t.Errorf("two servers: %+v", got)
	}
	if got := tab.Answers(Class2xx); got != 4 {
		t.Errorf("%d answers", got)
	}
}

func TestCacheAndReclaim(t *testing.T) {
	tab := mustFormat(t, 2, names...)
	early, late := time.Unix(1000, 5), time.Unix(2000, 0)
	use := func(server int, oldest time.Time) {
		r := tab.Record(server, "jk2", "a")
		r.Hit()
		r.Hit()
		r.Miss()
		r.Refused()
		r.Opened()
		r.Opened()
		r.Closed(ClosedPing)
		r.Closed(NumCloseReasons)
		r.AddBusy(3)
		r.AddBusy(-1)
		r.AddIdle(4, oldest)
	}
	use(0, late)
	use(1, early)
	one := Cache{Hits: 2, Misses: 1, Refused: 1, Opened: 2, Idle: 4, Busy: 2, Oldest: late}
	one.Closed[ClosedPing] = 1
	if got := tab.Child(0, 3); got != one {
		t.Errorf("%+v", got)
	}
	two := Cache{Hits: 4, Misses: 2, Refused: 2, Opened: 4, Idle: 8, Busy: 4, Oldest: early}
	two.Closed[ClosedPing] = 2
	if got := tab.Totals(3).Cache; got != two {
		t.Errorf("%+v", got)
	}
	tab.Reclaim(1)
	if got := tab.Child(1, 3); got != (Cache{}) {
		t.Errorf("a child that has not done anything: %+v", got)
	}
	two.Idle, two.Busy, two.Oldest = 4, 2, late
	if got := tab.Totals(3).Cache; got != two {
		t.Errorf("after the end of one: %+v", got)
	}
	use(1, early)
	one.Oldest = early
	if got := tab.Child(1, 3); got != one {
		t.Errorf("its successor: %+v", got)
	}
	r := tab.Record(1, "jk2", "a")
	r.AddBusy(-5)
	r.AddIdle(-5, late)
	if got := tab.Child(1, 3); got.Busy != 0 || got.Idle != 0 || !got.Oldest.IsZero() {
		t.Errorf("%+v", got)
	}
}

// Nothing is counted where there is no table, nor where nobody asked for it.
func TestNil(t *testing.T) {
	var tab *Table
	r := tab.Record(7, "jk", "a")
	r.Request(200, false, 1, 1)
	r.Error()
	r.Hit()
	r.Closed(ClosedAge)
	r.AddIdle(1, time.Now())
	r.AddBusy(1)
	tab.Reclaim(3)
	tab.CountStart()
	tab.CountDeath(DeathOK)
	if r != nil || tab.Workers() != nil {
		t.Error("a nil table has something")
	}
}

// Records of servers that never were are not touched by readers.
func TestUsed(t *testing.T) {
	tab := mustFormat(t, 5, names...)
	if tab.Used() != 0 {
		t.Error(tab.Used())
	}
	tab.Record(2, "jk", "a")
	tab.Record(1, "jk", "a")
	if tab.Used() != 3 {
		t.Error(tab.Used())
	}
}

func TestEvents(t *testing.T) {
	tab := mustFormat(t, 1)
	tab.CountStart()
	tab.CountStart()
	for d := range NumDeaths + 1 {
		tab.CountDeath(d)
		if d.String() == "" || tab.Deaths(d) == 0 {
			t.Errorf("%d: %s", d, d)
		}
	}
	if tab.Starts() != 2 || tab.Deaths(DeathSick) != 1 || tab.Deaths(DeathUnknown) != 2 {
		t.Error(tab.Starts(), tab.Deaths(DeathSick), tab.Deaths(DeathUnknown))
	}
	for _, n := range []int{2, 0, -1, 3} {
		tab.CountCut(n)
	}
	if tab.Cut() != 5 || tab.Deaths(DeathUnknown) != 2 {
		t.Error(tab.Cut(), tab.Deaths(DeathUnknown))
	}
}

func TestHistory(t *testing.T) {
	tab := mustFormat(t, 1)
	if h := tab.History(); len(h) != 0 {
		t.Error(h)
	}
	second := func(i int) Second {
		return Second{Unix: int64(i), Requests: uint64(i), Errors: 1, Bytes: 2, Duration: time.Duration(i), Busy: 3, Idle: 4}
	}
	for i := 1; i <= 1000; i++ {
		tab.PutSecond(second(i))
		h := tab.History()
		if len(h) != min(i, HistorySeconds) || h[len(h)-1] != second(i) || h[0] != second(max(i-HistorySeconds, 0)+1) {
			t.Fatalf("after %d: %d seconds, %+v to %+v", i, len(h), h[0], h[len(h)-1])
		}
	}
	tab.PutSecond(second(500)) // the clock was set back
	tab.PutSecond(second(501))
	if h := tab.History(); len(h) != 2 || h[0] != second(500) {
		t.Errorf("%+v", h)
	}
}

// The ring is read while it is written; seconds are never mixed.
func TestHistoryWhileWritten(t *testing.T) {
	tab := mustFormat(t, 1)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, s := range tab.History() {
				if s.Requests != uint64(s.Unix) || s.Bytes != uint64(s.Unix) {
					t.Errorf("mixed: %+v", s)
					return
				}
			}
		}
	})
	for i := 1; i < 5000; i++ {
		tab.PutSecond(Second{Unix: int64(i), Requests: uint64(i), Bytes: uint64(i)})
	}
	close(stop)
	wg.Wait()
}

func TestCountingDoesNotAllocate(t *testing.T) {
	r := mustFormat(t, 1, names...).Record(0, "jk", "a")
	now := time.Now()
	if n := testing.AllocsPerRun(100, func() {
		r.Request(200, false, time.Millisecond, 100)
		r.Hit()
		r.AddBusy(1)
		r.AddIdle(2, now)
		r.AddBusy(-1)
		r.Closed(ClosedIdle)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestConcurrently(t *testing.T) {
	tab := mustFormat(t, 1, names...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			r := tab.Record(0, "jk", "a")
			for range 500 {
				r.AddBusy(1)
				r.Request(200, false, time.Second, 2)
				_ = tab.Totals(1)
				r.AddBusy(-1)
			}
		})
	}
	wg.Wait()
	if got := tab.Totals(1); got.Requests[Class2xx] != 2000 || got.Bytes != 4000 || got.Cache.Busy != 0 || got.Duration != 2000*time.Second {
		t.Errorf("%+v", got)
	}
}

func BenchmarkRequest(b *testing.B) {
	r := mustFormat(b, 1, names...).Record(0, "jk", "a")
	for b.Loop() {
		r.Request(200, false, 3*time.Millisecond, 100)
	}
}

func BenchmarkTotals(b *testing.B) {
	tab := mustFormat(b, 256, names...)
	tab.Record(255, "jk", "a")
	for b.Loop() {
		tab.Totals(1)
	}
}
