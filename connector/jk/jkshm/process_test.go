//go:build unix

package jkshm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jkd/connector/jk/balance"
	"jkd/shm"
)

// hammerThreads is the threads of a hammering child, and what each of them holds
// at its end.
const (
	hammerThreads   = 3
	hammerRequests  = 2
	hammerConnected = 1
)

// hammer is a child whose threads move the gauges as fast as they can. Told to
// come to its end, it holds what the constants say, says so and waits to be
// killed. Argument: server.
func hammer(s *Segment, args []string) error {
	server, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	stop := told()
	var wg sync.WaitGroup
	for range hammerThreads {
		wg.Go(func() {
			for {
				for i := range s.Workers() {
					w := s.Worker(i)
					w.Enter(server)
					if w.TryOpen(server, 1000) {
						w.Enter(server)
						w.Used.Add(1)
						w.Closed(server)
						w.Leave(server)
					}
					w.Leave(server)
				}
				select {
				case <-stop:
					for range hammerRequests {
						s.Worker(0).Enter(server)
					}
					for range hammerConnected {
						s.Worker(0).Opened(server)
					}
					return
				default:
				}
			}
		})
	}
	wg.Wait()
	fmt.Println("held")
	time.Sleep(time.Hour) // to be killed
	return nil
}

// F066: children are killed while they move the gauges. When they are reclaimed and
// the others rest the sums are exact.
func TestF066KilledWhileCounting(t *testing.T) {
	s, seg := mustShare(t)
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	for range rounds {
		var c [4]*child
		used := s.Worker(2).Used.Load()
		for server := range c {
			c[server] = start(t, seg, "hammer", strconv.Itoa(server))
		}
		waitFor(t, "requests", func() bool { return s.Worker(2).Used.Load() > used+1000 })
		for _, server := range []int{1, 3} {
			time.Sleep(time.Duration(rnd.IntN(3000)) * time.Microsecond)
			c[server].kill(t)
			s.Reclaim(server)
			for i := range s.Workers() {
				if b, n := s.Worker(i).Held(server); b != 0 || n != 0 {
					t.Errorf("server %d holds %d, %d of worker %d after Reclaim", server, b, n, i)
				}
			}
		}
		for _, server := range []int{0, 2} {
			c[server].in.Close()
			c[server].line(t)
		}
		s.Settle()
		w := s.Worker(0)
		if busy, connected := w.Busy(), w.Connected(); busy != 2*hammerThreads*hammerRequests || connected != 2*hammerThreads*hammerConnected {
			t.Errorf("two children hold %d, %d", busy, connected)
		}
		for i := 1; i < s.Workers(); i++ {
			if busy, connected := s.Worker(i).Busy(), s.Worker(i).Connected(); busy != 0 || connected != 0 {
				t.Errorf("worker %d: %d, %d", i, busy, connected)
			}
		}
		if n := w.MaxBusy(); n < 2*hammerThreads*hammerRequests || n > 4*hammerThreads*2 {
			t.Errorf("most busy: %d", n)
		}
		for _, server := range []int{0, 2} {
			c[server].kill(t)
			s.Reclaim(server)
		}
		for i := range s.Workers() {
			w := s.Worker(i)
			if w.Busy() != 0 || w.Connected() != 0 {
				t.Errorf("worker %d when all are gone: %d, %d", i, w.Busy(), w.Connected())
			}
			// Each thread that was killed may have left the hint one too high.
			if n := w.busy.hint.Load(); n > uint64(4*hammerThreads*rounds*2) {
				t.Errorf("worker %d: hint %d", i, n)
			}
		}
	}
}

// competeLimit is how many places there are to compete for.
const competeLimit = 2

// compete is a child whose threads want one of few places. How many have one
// is counted in another record. Argument: server.
func compete(s *Segment, args []string) error {
	server, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	stop := told()
	w, in, most, got := s.Worker(0), s.Worker(2).Used, s.Worker(2).Errors, s.Worker(2).Read
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				if w.TryEnter(server, competeLimit) {
					most.Raise(in.Add(1))
					got.Add(1)
					in.Sub(1)
					w.Leave(server)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// F043: processes compete for few places: never are more in than the limit.
func TestF043LimitHoldsAmongProcesses(t *testing.T) {
	s, seg := mustShare(t)
	var c []*child
	for server := range 3 {
		c = append(c, start(t, seg, "compete", strconv.Itoa(server)))
	}
	want := uint64(50000)
	if testing.Short() {
		want = 5000
	}
	waitFor(t, "places", func() bool { return s.Worker(2).Read.Load() > want })
	for _, c := range c {
		c.in.Close()
		if err := c.cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	w := s.Worker(0)
	if n := s.Worker(2).Errors.Load(); n > competeLimit || n == 0 || w.MaxBusy() > competeLimit {
		t.Errorf("%d were in at a time; the gauge says %d", n, w.MaxBusy())
	}
	if w.Busy() != 0 || w.busy.hint.Load() != 0 {
		t.Errorf("all are out, the gauge says %d, hint %d", w.Busy(), w.busy.hint.Load())
	}
}

// An edit as dieEditing makes it, and whether a record is so edited.
const editedHost = "edited.example.org"

func isEdited(s WorkerSettings) bool { return s.Host == editedHost && s.Retries == 77 }

// dieEditing is a child that kills itself at a point of an edit. Arguments:
// server, point.
func dieEditing(s *Segment, args []string) error {
	server, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	s.step = func(point string) {
		if point == args[1] {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	err = s.Worker(0).Update(server, func(s *WorkerSettings) error {
		s.Host, s.Retries = editedHost, 77
		return nil
	})
	return fmt.Errorf("the edit came to its end: %v", err)
}

// An edit that is cut off has happened or has not, and does not block the next.
func TestKilledWhileEditing(t *testing.T) {
	for _, tt := range []struct {
		point string
		done  bool
	}{
		{"locked", false},
		{"changed", false},
		{"half written", false},
		{"written", false},
		{"published", true},
		{"counted", true},
	} {
		s, seg := mustShare(t)
		edits := s.Edits()
		c := start(t, seg, "die", "1", tt.point)
		if err := c.cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("%s: %v", tt.point, err)
		}
		var slept time.Duration
		s.Sleep = func(d time.Duration) { slept += d }
		var locked *LockedError
		if err := s.Worker(1).Update(2, func(*WorkerSettings) error { return nil }); !errors.As(err, &locked) || locked.Holder != 1 || slept != lockWait {
			t.Errorf("%s: before Reclaim: %v after %v", tt.point, err, slept)
		}
		s.Reclaim(1)
		got := workerSettings(s.Worker(0))
		if tt.done && !isEdited(got) || !tt.done && got != testWorker {
			t.Errorf("%s: %+v", tt.point, got)
		}
		if tt.done && s.Edits() == edits {
			t.Errorf("%s: an edit that nobody will look at", tt.point)
		}
		// A later edit of something else does not bring it back.
		if err := s.Worker(0).Update(2, func(s *WorkerSettings) error { s.BusyLimit = 3; return nil }); err != nil {
			t.Errorf("%s: %v", tt.point, err)
		}
		want := testWorker
		if tt.done {
			want.Host, want.Retries = editedHost, 77
		}
		want.BusyLimit = 3
		same(t, tt.point, workerSettings(s.Worker(0)), want)
		if a := addresses(s.Worker(0)); a.Resolved == tt.done {
			t.Errorf("%s: addresses %v", tt.point, a)
		}
	}
}

// editForever is a child that edits as fast as it can: the values of a record
// always agree. Argument: server.
func editForever(s *Segment, args []string) error {
	server, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for {
		if err := s.Balancer(0).Member(0).Update(server, func(s *MemberSettings) error {
			n := s.LBFactor + 1
			s.LBFactor, s.Distance = n, n
			text := strings.Repeat(string(rune('a'+n%26)), n%64)
			s.Route, s.Domain = text, text
			return nil
		}); err != nil {
			return err
		}
	}
}

// Editing children are killed at random: what is read always agrees, and the
// others go on.
func TestKilledEditors(t *testing.T) {
	s, seg := mustShare(t)
	m := s.Balancer(0).Member(0)
	check := func() MemberSettings {
		got := memberSettings(m)
		n := got.LBFactor
		text := strings.Repeat(string(rune('a'+n%26)), n%64)
		if got.LBFactor != testMember.LBFactor && (got.Distance != n || got.Route != text || got.Domain != text) {
			t.Fatalf("mixture: %+v", got)
		}
		return got
	}
	rounds := 15
	if testing.Short() {
		rounds = 4
	}
	rnd := rand.New(rand.NewPCG(11, 12))
	stay := start(t, seg, "edit", "0")
	held := 0
	for range rounds {
		c := start(t, seg, "edit", "1")
		before := check().LBFactor
		waitFor(t, "edits", func() bool { return check().LBFactor > before+100 })
		for end := time.Now().Add(time.Duration(rnd.IntN(5000)) * time.Microsecond); time.Now().Before(end); {
			check()
		}
		c.kill(t)
		if s.lock.Load() == 2 {
			held++
		}
		s.Reclaim(1)
		before = check().LBFactor
		waitFor(t, "edits of the other child", func() bool { return check().LBFactor > before })
	}
	stay.kill(t)
	s.Reclaim(0)
	check()
	t.Logf("%d of %d were killed in the middle of an edit", held, rounds)
}

// scatter is a child that writes random words all over the segment, until it is
// killed.
func scatter(s *Segment, _ []string) error {
	rnd := rand.New(rand.NewPCG(5, 6))
	for {
		binary.LittleEndian.PutUint64(s.mem[rnd.IntN(len(s.mem)/wordSize)*wordSize:], rnd.Uint64N(1<<rnd.UintN(64)))
	}
}

// F085: another process writes nonsense while this one uses everything.
func TestF085ScatteredWhileUsed(t *testing.T) {
	s, seg := mustShare(t)
	s.Sleep = func(time.Duration) {}
	c := start(t, seg, "scatter")
	waitFor(t, "a damaged header", func() bool { _, err := AttachAny(seg.Bytes()); return err != nil })
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	other := mustFormat(t, testLayout())
	for i := range rounds {
		sane(t, s)
		exercise(t, s, i%4)
		s.Reclaim(i % 4)
		other.Carry(s)
		sane(t, other)
	}
	c.kill(t)
	s.Restore()
	mustAttach(t, s)
	usable(t, s)
}

// A probing child is killed: the member can be probed by another.
func TestKilledProbe(t *testing.T) {
	s, _ := mustShare(t)
	m := s.Balancer(0).Member(0)
	m.SetState(balance.Recover)
	if !m.TryProbe(1, 5) || m.TryProbe(2, 6) {
		t.Fatal("not one probe")
	}
	s.Reclaim(1)
	if !m.TryProbe(2, 7) {
		t.Error("no other probe")
	}
}

// Children of a generation count and edit on, and are killed, while the next one
// has their segment for reading only: its counters follow, its settings are
// always ones that somebody made.
func TestInheritFromLivingChildren(t *testing.T) {
	old, seg := mustShare(t)
	next := mustFormat(t, testLayout())
	fd, err := syscall.Dup(int(seg.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := shm.AttachInherited(uintptr(fd))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	from, err := AttachAny(mem.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	counting, editing := start(t, seg, "hammer", "2"), start(t, seg, "edit", "1")
	waitFor(t, "children at work", func() bool { return old.Worker(0).Used.Load() > 0 && old.Edits() > 10 })
	i := next.Inherit(from)
	used := next.Worker(0).Used
	before, begun, edits := used.Load(), used.Load(), next.Edits()
	waitFor(t, "more", func() bool {
		i.Catch()
		if n := used.Load(); n < before || n > old.Worker(0).Used.Load() {
			t.Errorf("%d became %d of %d", before, n, old.Worker(0).Used.Load())
		}
		before = used.Load()
		return before > begun+1000 && next.Edits() > edits+10
	})
	counting.kill(t)
	editing.kill(t)
	i.Catch()
	for k := range old.Workers() {
		if n, want := next.Worker(k).Used.Load(), old.Worker(k).Used.Load(); n != want {
			t.Errorf("worker %d: %d, want %d", k, n, want)
		}
	}
	same(t, "settings", memberSettings(next.Balancer(0).Member(0)), memberSettings(old.Balancer(0).Member(0)))
	if l := i.Losses(); len(l) != 0 {
		t.Errorf("losses: %v", l)
	}
}
