package counters

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"jkd/shm"
)

// What a generation has counted is the next one's, whose children begin anew;
// what its last children count meanwhile comes later.
func TestInherit(t *testing.T) {
	old := mustFormat(t, 3, names...)
	work := func(server int) {
		for _, n := range []WorkerName{Own, names[0], names[1]} {
			r := old.Record(server, n.Connector, n.Name)
			r.Request(200, false, time.Millisecond, 5)
			r.Opened()
			r.Closed(ClosedAge)
			r.AddIdle(1, time.Now())
		}
	}
	for server := range 2 {
		work(server)
	}
	old.CountStart()
	old.CountDeath(DeathKilled)
	old.CountCut(3)
	old.PutSecond(Second{Unix: 7, Requests: 1})
	old.PutSecond(Second{Unix: 8, Requests: 2})

	next := mustFormat(t, 1, names[1], WorkerName{"new", "jk"}) // names[0] is gone
	i := next.Inherit(old)
	check := func(n uint64) {
		t.Helper()
		for w, want := range []uint64{n, n, 0, n} { // -, b, new, other
			got := next.Totals(w)
			if got.Requests[Class2xx] != want || got.Bytes != 5*want || got.Cache.Opened != want || got.Cache.Closed[ClosedAge] != want ||
				got.Duration != time.Duration(want)*time.Millisecond || got.Durations[1] != want || got.Cache.Idle != 0 {
				t.Errorf("%v: %+v", next.Workers()[w], got)
			}
			if c := next.Child(0, w); c != (Cache{}) {
				t.Errorf("%v: its child has %+v", next.Workers()[w], c)
			}
		}
		if got := next.Answers(Class2xx); got != 3*n {
			t.Errorf("%d answers", got)
		}
	}
	check(2)
	i.Catch()
	check(2)
	if next.Starts() != 1 || next.Deaths(DeathKilled) != 1 || next.Cut() != 3 || len(next.History()) != 2 || next.History()[1].Requests != 2 {
		t.Error(next.Starts(), next.Deaths(DeathKilled), next.History())
	}

	work(2) // of which there was no child before
	work(0)
	old.CountDeath(DeathKilled)
	old.CountCut(0)
	old.CountCut(2)
	old.PutSecond(Second{Unix: 9})
	next.CountStart()
	i.Catch()
	check(4)
	next.PutSecond(Second{Unix: 10}) // from now on the seconds are this generation's
	old.PutSecond(Second{Unix: 11})
	old.Reclaim(0)
	i.Catch()
	i.Catch()
	check(4)
	if next.Starts() != 2 || next.Deaths(DeathKilled) != 2 || next.Cut() != 5 || len(next.History()) != 4 || next.History()[3].Unix != 10 {
		t.Error(next.Starts(), next.Deaths(DeathKilled), next.History())
	}

	r := next.Record(0, "jk", "b")
	r.Opened()
	if next.Child(0, 1).Opened != 1 || next.Totals(1).Cache.Opened != 5 {
		t.Error("what comes later is not counted on")
	}
	// The next generation has all of it, and no more.
	third := mustFormat(t, 2, names...)
	third.Inherit(next).Catch()
	if got := third.Totals(2); got.Cache.Opened != 5 || got.Requests[Class2xx] != 4 {
		t.Errorf("%+v", got)
	}

	// Without one before there is nothing to do.
	next.Inherit(nil).Catch()
	(*Table)(nil).Inherit(old).Catch()
}

// A child of the generation before writes what it likes into its record.
func TestCatchHostile(t *testing.T) {
	old := mustFormat(t, 2, names...)
	bad, good := old.Record(0, "jk", "a"), old.Record(1, "jk", "a")
	next := mustFormat(t, 2, names...)
	put := func(n uint64) { bad.words[recordBytes].Store(n) }
	put(100)
	good.Request(200, false, 0, 7)
	i := next.Inherit(old)
	for _, tt := range []struct{ write, want uint64 }{
		{100, 107},
		{50, 107}, // backwards
		{0, 107},
		{90, 107}, // and not twice
		{101, 108},
		{101 + shm.MostAtOnce, 108 + shm.MostAtOnce},
		{math.MaxUint64, 108 + shm.MostAtOnce}, // nobody can have counted so much
		{0, 108 + shm.MostAtOnce},
		{200, 108 + shm.MostAtOnce},
		{1 << 63, 108 + shm.MostAtOnce},
	} {
		put(tt.write)
		i.Catch()
		if got := next.Totals(1).Bytes; got != tt.want {
			t.Errorf("%d became %d, not %d", tt.write, got, tt.want)
		}
	}
	// The others' records count on, in any number of servers.
	words(old.mem, 0, headerWords)[headerUsed].Store(0)
	good.Request(200, false, 0, 3)
	i.Catch()
	if got := next.Totals(1); got.Bytes != 111+shm.MostAtOnce || got.Requests[Class2xx] != 2 {
		t.Errorf("%+v", got)
	}
	// A child of this generation has damaged what was carried.
	next.carriedRecord(1).words[recordBytes].Store(5)
	i.Catch()
	if got := next.Totals(1).Bytes; got != 111+shm.MostAtOnce {
		t.Errorf("%d", got)
	}
	// Nothing that is inherited, added or counted overflows.
	put(math.MaxUint64)
	old.Record(1, "jk", "a")
	full := mustFormat(t, 2, names...)
	j := full.Inherit(old)
	full.Record(0, "jk", "a").Request(200, false, 0, 9)
	j.Catch()
	if got := full.Totals(1).Bytes; got != math.MaxInt64 {
		t.Errorf("%d", got)
	}
}

// The memory of a generation whose children write random words all the time: no
// sum goes back.
func TestInheritRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		old := mustFormat(t, 3, names...)
		scribble := func() {
			for i := 0; i < len(old.mem); i += wordSize {
				if rnd.IntN(2) == 0 {
					binary.LittleEndian.PutUint64(old.mem[i:], rnd.Uint64()>>rnd.IntN(64))
				}
			}
		}
		scribble()
		next := mustFormat(t, 2, names...)
		i := next.Inherit(old)
		for range 5 {
			sane(t, next)
			var before []Totals
			for w := range next.Workers() {
				before = append(before, next.Totals(w))
			}
			starts := next.Starts()
			scribble()
			i.Catch()
			for w := range next.Workers() {
				if got := next.Totals(w); less(&got, &before[w]) {
					t.Errorf("%+v became %+v", before[w], got)
				}
			}
			if next.Starts() < starts {
				t.Error("starts went back")
			}
		}
	}
}

// less tells whether something in a is less than in b.
func less(a, b *Totals) bool {
	for i := range a.Requests {
		if a.Requests[i] < b.Requests[i] {
			return true
		}
	}
	for i := range a.Durations {
		if a.Durations[i] < b.Durations[i] {
			return true
		}
	}
	for i := range a.Cache.Closed {
		if a.Cache.Closed[i] < b.Cache.Closed[i] {
			return true
		}
	}
	return a.Duration < b.Duration || a.Bytes < b.Bytes || a.Errors < b.Errors || a.Cache.Opened < b.Cache.Opened || a.Cache.Hits < b.Cache.Hits
}
