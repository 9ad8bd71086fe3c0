package counters

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

// What a generation has counted is the next one's, whose children begin anew.
func TestCarry(t *testing.T) {
	old := mustFormat(t, 3, names...)
	for server := range 3 {
		for _, n := range []WorkerName{Own, names[0], names[1]} {
			r := old.Record(server, n.Connector, n.Name)
			r.Request(200, false, time.Millisecond, 5)
			r.Opened()
			r.Closed(ClosedAge)
			r.AddIdle(1, time.Now())
		}
	}
	old.CountStart()
	old.CountDeath(DeathKilled)
	old.PutSecond(Second{Unix: 7, Requests: 1})
	old.PutSecond(Second{Unix: 8, Requests: 2})

	next := mustFormat(t, 1, names[1], WorkerName{"new", "jk"}) // names[0] is gone
	next.Carry(old)
	next.Carry(nil)
	for i, want := range []uint64{3, 3, 0, 3} { // -, b, new, other
		got := next.Totals(i)
		if got.Requests[Class2xx] != want || got.Bytes != 5*want || got.Cache.Opened != want || got.Cache.Closed[ClosedAge] != want ||
			got.Duration != time.Duration(want)*time.Millisecond || got.Durations[1] != want || got.Cache.Idle != 0 {
			t.Errorf("%v: %+v", next.Workers()[i], got)
		}
		if c := next.Child(0, i); c != (Cache{}) {
			t.Errorf("%v: its child has %+v", next.Workers()[i], c)
		}
	}
	if next.Starts() != 1 || next.Deaths(DeathKilled) != 1 || len(next.History()) != 2 || next.History()[1].Requests != 2 {
		t.Error(next.Starts(), next.Deaths(DeathKilled), next.History())
	}
	r := next.Record(0, "jk", "b")
	r.Opened()
	if next.Child(0, 1).Opened != 1 || next.Totals(1).Cache.Opened != 4 {
		t.Error("what comes later is not counted on")
	}
}

// The memory of a generation whose children wrote what they liked.
func TestCarryHostile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		old := mustFormat(t, 3, names...)
		for i := 0; i < len(old.mem); i += wordSize {
			binary.LittleEndian.PutUint64(old.mem[i:], rnd.Uint64())
		}
		next := mustFormat(t, 2, names...)
		next.Carry(old)
		sane(t, next)
	}
}
