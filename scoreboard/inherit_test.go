package scoreboard

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// serve counts a request of so many bytes that took so long.
func serve(s *Slot, bytes uint64, d time.Duration) {
	s.StartRequest(1000, []byte("GET"), []byte("/"), []byte("HTTP/1.1"), nil)
	s.EndRequest(1000+int64(d), bytes)
}

func before(b *Scoreboard) Before { return snapshot(b).Global.Before }

// What was counted is taken over, also by the generation after the next, and what
// the last children add follows.
func TestInherit(t *testing.T) {
	old := mustNew(t, testLayout)
	one, two := old.Slot(0, 0), old.Slot(3, 2)
	serve(one, 10, time.Second)
	serve(two, 20, 2*time.Second)
	old.Process(0).SetCPU(3*time.Second, time.Second)
	old.SetTimes(Times{time.Millisecond, 2 * time.Millisecond, 10 * time.Second, 20 * time.Second})

	next := mustNew(t, Layout{1, 1})
	i := next.Inherit(old)
	want := Before{Accesses: 2, Bytes: 30, Duration: 3 * time.Second, CPUUser: 13*time.Second + time.Millisecond, CPUSystem: 21*time.Second + 2*time.Millisecond}
	for range 2 {
		if got := before(next); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		i.Catch()
	}

	serve(one, 5, time.Second)
	old.Reclaim(0) // its time is the master's a moment later
	i.Catch()
	want.Accesses, want.Bytes, want.Duration = 3, 35, 4*time.Second
	if got := before(next); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	old.SetTimes(Times{time.Millisecond, 2 * time.Millisecond, 14 * time.Second, 21 * time.Second})
	i.Catch()
	want.CPUUser += time.Second
	if got := before(next); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}

	serve(next.Slot(0, 0), 100, time.Second)
	next.SetTimes(Times{User: time.Second})
	third := mustNew(t, testLayout)
	j := third.Inherit(next)
	want.Accesses, want.Bytes, want.Duration, want.CPUUser = 4, 135, 5*time.Second, want.CPUUser+time.Second
	if got := before(third); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	serve(two, 1, 0) // there are three generations, for a while
	i.Catch()
	j.Catch()
	want.Accesses, want.Bytes = 5, 136
	if got := before(third); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}

	next.Inherit(nil).Catch()
	(*Scoreboard)(nil).Inherit(old).Catch()
}

func TestNext(t *testing.T) {
	now := time.Unix(2000000000, 5)
	b := mustNew(t, testLayout)
	if g := b.Global(); !g.RestartTime.Equal(g.StartTime) {
		t.Errorf("%+v", g)
	}
	for _, tt := range []struct {
		generation uint32
		start      uint64
		want       Global
	}{
		{3, 7, Global{4, 9, time.Unix(0, 7), now}},
		{math.MaxUint32, 7, Global{1, 9, time.Unix(0, 7), now}},
		{3, 0, Global{4, 9, now, now}},
		{3, uint64(now.UnixNano()) + 1, Global{4, 9, now, now}},
		{3, math.MaxUint64, Global{4, 9, now, now}},
		{3, math.MaxInt64, Global{4, 9, now, now}},
	} {
		b.header()[headerGeneration].Store(uint64(tt.generation))
		b.header()[headerStartTime].Store(tt.start)
		from, err := Attach(b.mem, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := from.Next(9, now); got != tt.want {
			t.Errorf("%+v, want %+v", got, tt.want)
		}
	}
	size, err := Size(testLayout)
	if err != nil {
		t.Fatal(err)
	}
	mem := make([]byte, size)
	if _, err := New(mem, testLayout, b.Next(9, now)); err != nil {
		t.Fatal(err)
	}
	if x, err := Attach(mem, nil); err != nil || x.Global() != b.Next(9, now) {
		t.Errorf("%+v, %v", x.Global(), err)
	}
}

// A child of the generation before writes what it likes.
func TestCatchHostile(t *testing.T) {
	old, next := mustNew(t, testLayout), mustNew(t, testLayout)
	bad, good := old.worker(0), old.Slot(1, 0)
	bad[workerBytesServed].Store(100)
	i := next.Inherit(old)
	for _, tt := range []struct{ write, want uint64 }{
		{100, 100},
		{50, 100},
		{0, 100},
		{101, 101},
		{math.MaxUint64, 101},
		{200, 101},
		{math.MaxInt64, 101},
	} {
		bad[workerBytesServed].Store(tt.write)
		i.Catch()
		if got := before(next).Bytes; got != tt.want {
			t.Errorf("%d became %d, not %d", tt.write, got, tt.want)
		}
	}
	serve(good, 9, time.Second)
	i.Catch()
	if got := before(next); got.Bytes != 110 || got.Accesses != 1 || got.Duration != time.Second {
		t.Errorf("%+v", got)
	}
	// A child of this generation has damaged what was taken over.
	next.globalRec()[globalBeforeBytes].Store(3)
	i.Catch()
	if got := before(next).Bytes; got != 110 {
		t.Errorf("%d bytes", got)
	}
}

// Random words all the time: nothing goes back or is out of bounds.
func TestInheritRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		old, next := mustNew(t, testLayout), mustNew(t, Layout{2, 2})
		scribble := func() {
			for i := 0; i < len(old.mem); i += wordSize {
				if rnd.IntN(2) == 0 {
					binary.LittleEndian.PutUint64(old.mem[i:], rnd.Uint64()>>rnd.IntN(64))
				}
			}
		}
		scribble()
		i := next.Inherit(old)
		for range 5 {
			was := before(next)
			scribble()
			i.Catch()
			is := before(next)
			if is.Accesses < was.Accesses || is.Bytes < was.Bytes || is.Duration < was.Duration || is.CPUUser < was.CPUUser || is.CPUSystem < was.CPUSystem ||
				is.Accesses > math.MaxInt64 || is.Bytes > math.MaxInt64 || is.Duration < 0 || is.CPUUser < 0 || is.CPUSystem < 0 {
				t.Errorf("%+v became %+v", was, is)
			}
			sane(t, next, snapshot(next))
		}
	}
}
