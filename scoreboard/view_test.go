package scoreboard

import (
	"sync"
	"testing"
	"time"
)

func TestCounts(t *testing.T) {
	b := mustNew(t, Layout{3, NumStatus * 2})
	for s := range Status(NumStatus) {
		b.Slot(1, int(s)).SetStatus(s)
		if s >= Closing {
			b.Slot(1, NumStatus+int(s)).SetStatus(s)
		}
	}
	// No status: counted as Dead.
	b.Slot(2, 4).r[workerStatus].Store(uint64(NumStatus))
	b.Slot(2, 5).r[workerStatus].Store(1<<32 | uint64(Ready))
	want := [3]StatusCounts{
		{Dead: 22},
		{Dead: 1 + 8, Starting: 1, Ready: 1, BusyRead: 1, BusyWrite: 1, KeepAlive: 1, Logging: 1, DNS: 1, Closing: 2, Graceful: 2, IdleKill: 2},
		{Dead: 22},
	}
	v := snapshot(b)
	for server, want := range want {
		if got := b.Counts(server); got != want {
			t.Errorf("server %d: Counts %v, want %v", server, got, want)
		}
		if got := v.Counts(server); got != want {
			t.Errorf("server %d: Counts of the view %v, want %v", server, got, want)
		}
	}
	for _, thread := range []int{4, 5} {
		if w := v.Worker(2, thread); w.Status != Dead || !w.Torn {
			t.Errorf("a word that is no status: %v, torn %v", w.Status, w.Torn)
		}
	}
}

// One View serves scoreboards of different layouts, and is used again without
// new memory.
func TestSnapshotReuse(t *testing.T) {
	var v View
	for _, l := range []Layout{{2, 3}, {3, 2}, {5, 1}, {2, 3}} {
		b := mustNew(t, l)
		b.Slot(l.ServerLimit-1, l.ThreadLimit-1).StartConnection(1, []byte("me"))
		b.Snapshot(&v)
		if v.Layout != l || len(v.Processes) != l.ServerLimit || len(v.Workers) != l.ServerLimit*l.ThreadLimit {
			t.Fatalf("%+v: view of %+v with %d processes, %d workers", l, v.Layout, len(v.Processes), len(v.Workers))
		}
		for i := range v.Workers {
			last := i == len(v.Workers)-1
			if got := string(v.Workers[i].Client); last && got != "me" || !last && got != "" {
				t.Errorf("%+v: client of slot %d is %q", l, i, got)
			}
		}
		if n := testing.AllocsPerRun(20, func() { b.Snapshot(&v) }); n != 0 {
			t.Errorf("%+v: %v allocations", l, n)
		}
	}
}

// A text is a slice of the view; appending to it must not run into the next.
func TestViewTextsAreApart(t *testing.T) {
	b := mustNew(t, testLayout)
	s := b.Slot(0, 0)
	s.StartConnection(1, []byte("client"))
	s.StartRequest(1, []byte("GET"), []byte("/"), []byte("HTTP/1.1"), []byte("vhost"))
	w := snapshot(b).Worker(0, 0)
	_ = append(w.VHost, "overwritten by this long text, if it were not apart"...)
	if string(w.Request) != "GET / HTTP/1.1" || string(w.Client) != "client" {
		t.Errorf("request %q, client %q", w.Request, w.Client)
	}
}

// Threads of this process write while it takes snapshots: no copy that is not
// marked is a mixture, and the race detector has nothing to say.
func TestSnapshotWhileThreadsWrite(t *testing.T) {
	b := mustNew(t, testLayout)
	var wg sync.WaitGroup
	stopC := make(chan struct{})
	for thread := range testLayout.ThreadLimit {
		s := b.Slot(2, thread)
		wg.Go(func() {
			for i := uint64(1); ; i++ {
				select {
				case <-stopC:
					return
				default:
					pattern(s, i)
				}
			}
		})
	}
	var v View
	sound := 0
	for round := 0; !t.Failed() && (round < 50 || sound < 100); round++ {
		for range 40 {
			b.Snapshot(&v)
			for i := range v.Server(2) {
				sound += checkPattern(t, v.Worker(2, i))
			}
		}
		time.Sleep(100 * time.Microsecond) // or, on one processor, the writers stand still
	}
	close(stopC)
	wg.Wait()
	// Once they rest, every copy is sound.
	b.Snapshot(&v)
	for i := range v.Workers {
		if v.Workers[i].Torn {
			t.Errorf("slot %d is torn at rest", i)
		}
	}
}
