//go:build unix

package scoreboard

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jkd/shm"
)

// hammer is a child: each thread of the server named by the argument writes the
// pattern as fast as it can, until the process is killed.
func hammer(args []string) error {
	b, err := attachInherited(testLayout)
	if err != nil {
		return err
	}
	server, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for thread := range testLayout.ThreadLimit {
		s := b.Slot(server, thread)
		wg.Go(func() {
			for i := uint64(1); ; i++ {
				pattern(s, i)
			}
		})
	}
	go func() {
		p := b.Process(server)
		for i := time.Duration(1); ; i++ {
			p.SetCPU(i*time.Microsecond, i*time.Millisecond)
		}
	}()
	wg.Wait()
	return nil
}

// dieInside is a child that kills itself in the middle of an update of a worker
// record and of its process record. Arguments: server, thread.
func dieInside(args []string) error {
	b, err := attachInherited(testLayout)
	if err != nil {
		return err
	}
	server, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	thread, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	s := b.Slot(server, thread)
	pattern(s, 5)
	s.StartConnection(6, []byte("old client"))
	s.StartRequest(6, []byte("GET"), []byte("/old"), []byte("HTTP/1.1"), []byte("old host"))
	p := b.Process(server)
	p.SetQuiescing(true)
	begin(&p.r[processChildSeq])
	p.r[processCPUUser].Store(1000)
	begin(&s.r[workerSeq])
	s.r[workerAccessCount].Add(1)
	s.setText(workerRequest, workerRequestWords, []byte("a new one"))
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return err
	}
	select {}
}

// scatter is a child that writes random words all over the segment, until it is
// killed.
func scatter([]string) error {
	b, err := attachInherited(testLayout)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for {
		binary.LittleEndian.PutUint64(b.mem[rnd.IntN(len(b.mem)/wordSize)*wordSize:], rnd.Uint64N(1<<rnd.UintN(64)))
	}
}

// look is a program that only has the name of a segment: it prints a slot.
func look(args []string) error {
	seg, err := shm.Open(args[0])
	if err != nil {
		return err
	}
	b, err := Attach(seg.Bytes(), nil)
	if err != nil {
		return err
	}
	var v View
	b.Snapshot(&v)
	w := v.Worker(3, 2)
	fmt.Printf("%d %d %c %s", v.Layout.ServerLimit, v.Layout.ThreadLimit, w.Status.Letter(), w.Request)
	return seg.Close()
}

// kill ends a child as nobody can prevent, and waits for it.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended before it was killed")
	}
}

// A child writes as fast as it can while this process looks: copies are sound
// or marked.
func TestSnapshotWhileProcessWrites(t *testing.T) {
	b, seg := mustShare(t, testLayout)
	cmd := start(t, seg, "hammer", "2")
	var v View
	waitFor(t, "the child's first request", func() bool {
		b.Snapshot(&v)
		return v.Worker(2, 0).AccessCount > 0 && v.Worker(2, 1).AccessCount > 0 && v.Worker(2, 2).AccessCount > 0
	})
	first := v.Worker(2, 0).AccessCount
	sound, torn, rounds := 0, 0, 0
	// On one processor the child rests while this process looks, perhaps in the
	// middle of all its updates: waitFor sleeps in between.
	waitFor(t, "sound copies", func() bool {
		for range 100 {
			b.Snapshot(&v)
			for i := range v.Server(2) {
				n := checkPattern(t, v.Worker(2, i))
				sound, torn = sound+n, torn+1-n
			}
			if p := v.Processes[2]; !p.Torn && p.CPUSystem != 1000*p.CPUUser {
				t.Errorf("mixed processor times: %v, %v", p.CPUUser, p.CPUSystem)
			}
			if n := b.Counts(2).Active(); n != 3 {
				t.Errorf("%d of 3 threads are active", n)
			}
		}
		rounds++
		return t.Failed() || rounds >= 50 && sound > 100
	})
	waitFor(t, "more requests", func() bool { b.Snapshot(&v); return v.Worker(2, 0).AccessCount > first })
	t.Logf("%d sound copies, %d marked as torn", sound, torn)
	kill(t, cmd)
}

// The child is killed at random moments. Each time its records are reclaimed
// and serve the next child.
func TestKilledWhileWriting(t *testing.T) {
	b, seg := mustShare(t, testLayout)
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	odd := 0
	var v View
	for range rounds {
		var before View
		b.Snapshot(&before)
		cmd := start(t, seg, "hammer", "1")
		b.Process(1).SetPID(cmd.Process.Pid, 3, 1)
		waitFor(t, "the child's requests", func() bool {
			b.Snapshot(&v)
			for i := range v.Server(1) {
				if v.Worker(1, i).AccessCount <= before.Worker(1, i).AccessCount {
					return false
				}
			}
			return true
		})
		time.Sleep(time.Duration(rnd.IntN(5000)) * time.Microsecond)
		kill(t, cmd)
		for i := range testLayout.ThreadLimit {
			if b.worker(testLayout.ThreadLimit + i)[workerSeq].Load()&1 != 0 {
				odd++
			}
		}
		b.Snapshot(&before)
		b.Reclaim(1)
		reclaimed(t, b, 1)
		b.Snapshot(&v)
		for i := range v.Server(1) {
			w, old := v.Worker(1, i), before.Worker(1, i)
			if w.AccessCount != old.AccessCount || w.BytesServed != old.BytesServed || w.Duration != old.Duration {
				t.Errorf("thread %d: totals changed from %+v to %+v", i, old, w)
			}
			// Each child may have left one request half counted.
			if lack := int64(w.AccessCount*patternBytes - w.BytesServed); lack < 0 || lack > int64(rounds*patternBytes) || lack%patternBytes != 0 {
				t.Errorf("thread %d: %d requests, %d bytes", i, w.AccessCount, w.BytesServed)
			}
		}
	}
	t.Logf("%d of %d records were being written", odd, rounds*testLayout.ThreadLimit)
	usable(t, b, 1, 0)
}

// What random moments may miss: the child dies for sure in the middle.
func TestKilledInsideUpdate(t *testing.T) {
	b, seg := mustShare(t, testLayout)
	cmd := start(t, seg, "die", "1", "2")
	b.Process(1).SetPID(cmd.Process.Pid, 3, 1)
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child lived")
	}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Fatalf("the child ended with %v", cmd.ProcessState)
	}
	v := snapshot(b)
	sane(t, b, v)
	if w := v.Worker(1, 2); !w.Torn || w.Status != BusyWrite || w.AccessCount != 2 {
		t.Errorf("before Reclaim: %+v", w)
	}
	if p := v.Processes[1]; !p.Torn || !p.Quiescing || p.PID != cmd.Process.Pid {
		t.Errorf("before Reclaim: %+v", p)
	}
	b.Reclaim(1)
	reclaimed(t, b, 1)
	v = snapshot(b)
	if w := v.Worker(1, 2); w.AccessCount != 2 || w.BytesServed != patternBytes ||
		len(w.Request)+len(w.Client)+len(w.VHost)+len(w.Protocol) != 0 {
		t.Errorf("after Reclaim: %+v", w)
	}
	usable(t, b, 1, 2)

	// And again, in the record of a child before.
	cmd = start(t, seg, "die", "1", "2")
	if err := cmd.Wait(); err == nil {
		t.Fatal("the second child lived")
	}
	b.Reclaim(1)
	reclaimed(t, b, 1)
}

// Another process fills the mapping with random words, header and sequences
// too, while this one takes snapshots and reclaims.
func TestScatteredWhileLooking(t *testing.T) {
	b, seg := mustShare(t, testLayout)
	cmd := start(t, seg, "scatter")
	intact := func() bool { _, err := Attach(seg.Bytes(), &testLayout); return err == nil }
	waitFor(t, "a damaged header", func() bool { return !intact() })
	var v View
	for i := range 500 {
		b.Snapshot(&v)
		sane(t, b, &v)
		b.Reclaim(i % testLayout.ServerLimit)
	}
	kill(t, cmd)
	if !b.Restore() || !intact() {
		t.Error("the header was not restored")
	}
	for server := range testLayout.ServerLimit {
		b.Reclaim(server)
		reclaimed(t, b, server)
		usable(t, b, server, 0)
	}
}

// A program that may only read looks by name.
func TestLookByName(t *testing.T) {
	size, err := Size(testLayout)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "scoreboard")
	seg, err := shm.CreateFile(path, size)
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	b, err := New(seg.Bytes(), testLayout, testGlobal)
	if err != nil {
		t.Fatal(err)
	}
	s := b.Slot(3, 2)
	s.StartConnection(1, []byte("client"))
	s.StartRequest(2, []byte("GET"), []byte("/by-name"), []byte("HTTP/1.1"), nil)
	out, err := output(t, "look", path)
	if want := "4 3 W GET /by-name HTTP/1.1"; err != nil || out != want {
		t.Errorf("the other process sees %q, %v; want %q", out, err, want)
	}
	// Cut short, it is refused and nobody dies of it.
	if err := os.Truncate(path, int64(size-1)); err != nil {
		t.Fatal(err)
	}
	out, err = output(t, "look", path)
	if err == nil || !strings.Contains(out, "scoreboard: attach: memory of") {
		t.Errorf("of a file cut short the other process says %q, %v", out, err)
	}
}

// A child of a generation works on, and is killed, while the next one has its
// scoreboard for reading only: the sums follow and are exact in the end.
func TestInheritFromLivingChild(t *testing.T) {
	b, seg := mustShare(t, testLayout)
	fd, err := syscall.Dup(int(seg.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := shm.AttachInherited(uintptr(fd))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	from, err := Attach(mem.Bytes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	next := mustNew(t, Layout{1, 1})
	child := start(t, seg, "hammer", "1")
	total := func() (n, bytes uint64) {
		for _, w := range snapshot(b).Workers {
			n, bytes = n+w.AccessCount, bytes+w.BytesServed
		}
		return n, bytes
	}
	waitFor(t, "requests", func() bool { n, _ := total(); return n > 0 })
	i := next.Inherit(from)
	was := before(next)
	first := was.Accesses
	waitFor(t, "more", func() bool {
		i.Catch()
		is := before(next)
		if is.Accesses < was.Accesses || is.Bytes < was.Bytes || is.Duration < was.Duration || is.CPUUser < was.CPUUser {
			t.Errorf("%+v became %+v", was, is)
		}
		was = is
		return is.Accesses > first+1000
	})
	child.Process.Kill()
	child.Wait()
	b.Reclaim(1)
	i.Catch()
	n, bytes := total()
	if is := before(next); is.Accesses != n || is.Bytes != bytes || is.CPUUser < was.CPUUser {
		t.Errorf("%+v, want %d and %d bytes", is, n, bytes)
	}
}
