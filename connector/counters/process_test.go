//go:build unix

package counters

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"jkd/shm"
)

const (
	testServers = 4
	perChild    = 1000
)

// child counts in the memory that it inherited, says so, and is then killed or
// waits for its end.
func child() int {
	server, err := strconv.Atoi(os.Getenv(childVar))
	if err != nil {
		return 2
	}
	n, err := Size(NewLayout(testServers, names))
	if err != nil {
		return 2
	}
	seg, err := shm.Attach(3, n)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	tab, err := Attach(seg.Bytes())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	r := tab.Record(server, "jk", "b")
	for range perChild {
		r.Hit()
		r.Request(200, false, time.Millisecond, 7)
	}
	r.AddBusy(1)
	r.AddIdle(2, time.Now())
	fmt.Println("done")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the other end is closed
	return 0
}

// startChild starts a process that counts as server in seg and says on out when
// it has done so.
func startChild(t *testing.T, seg *shm.Segment, server int) (cmd *exec.Cmd, out io.Reader) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childVar, server))
	cmd.ExtraFiles = []*os.File{os.NewFile(uintptr(dup(t, seg.Fd())), "counters")}
	defer cmd.ExtraFiles[0].Close()
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// Several processes count, are killed and have successors: the sums are exact
// and never go back.
func TestProcesses(t *testing.T) {
	l := NewLayout(testServers, names)
	n, err := Size(l)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := shm.Create("counters test", n)
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	tab, err := Format(seg.Bytes(), l)
	if err != nil {
		t.Fatal(err)
	}
	var before Totals
	for round := 1; round <= 3; round++ {
		var kids []*exec.Cmd
		for server := range testServers {
			cmd, out := startChild(t, seg, server)
			kids = append(kids, cmd)
			defer func() { _ = cmd.Process.Kill() }()
			if _, err := out.Read(make([]byte, 5)); err != nil {
				t.Fatal(err)
			}
		}
		got := tab.Totals(2)
		want := uint64(round * testServers * perChild)
		if got.Requests[Class2xx] != want || got.Bytes != 7*want || got.Cache.Hits != want || got.Cache.Busy != testServers || got.Cache.Idle != 2*testServers {
			t.Errorf("round %d: %+v", round, got)
		}
		for server, cmd := range kids {
			if c := tab.Child(server, 2); c.Hits != perChild || c.Idle != 2 || c.Oldest.IsZero() {
				t.Errorf("round %d, server %d: %+v", round, server, c)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			tab.Reclaim(server)
		}
		after := tab.Totals(2)
		if after.Requests != got.Requests || after.Durations != got.Durations || after.Cache.Hits < before.Cache.Hits || after.Cache.Busy != 0 || after.Cache.Idle != 0 {
			t.Errorf("round %d: %+v became %+v", round, got, after)
		}
		before = after
	}
}

// dup is a descriptor of its own for a child to inherit.
func dup(t *testing.T, fd uintptr) int {
	t.Helper()
	n, err := syscall.Dup(int(fd))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The children of a generation are killed one after the other while those of the
// next one count in a table of their own, and its master looks on: the sums there
// never go back and have everything in the end.
func TestInheritProcesses(t *testing.T) {
	l := NewLayout(testServers, names)
	n, err := Size(l)
	if err != nil {
		t.Fatal(err)
	}
	var tabs [2]*Table
	var segs [2]*shm.Segment
	for i := range tabs {
		if segs[i], err = shm.Create("counters test", n); err != nil {
			t.Fatal(err)
		}
		defer segs[i].Close()
		if tabs[i], err = Format(segs[i].Bytes(), l); err != nil {
			t.Fatal(err)
		}
	}
	// The successor has the memory for reading only.
	old, err := shm.AttachInherited(uintptr(dup(t, segs[0].Fd())))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	from, err := Attach(old.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	start := func(seg *shm.Segment, server int) *exec.Cmd {
		cmd, out := startChild(t, seg, server)
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		if server == 0 { // the others are still counting
			_, _ = out.Read(make([]byte, 5))
		}
		return cmd
	}
	var kids []*exec.Cmd
	for server := range testServers {
		kids = append(kids, start(segs[0], server))
	}
	i := tabs[1].Inherit(from)
	for server := range testServers {
		kids = append(kids, start(segs[1], server))
	}
	var before uint64
	look := func() uint64 {
		i.Catch()
		got := tabs[1].Totals(2)
		if got.Requests[Class2xx] < before {
			t.Errorf("%d became %+v", before, got)
		}
		before = got.Requests[Class2xx]
		return before
	}
	for end := time.Now().Add(time.Minute); look() < 2*testServers*perChild; {
		if time.Now().After(end) {
			t.Fatalf("%d requests", before)
		}
	}
	for server := range testServers {
		_ = kids[server].Process.Kill()
		_ = kids[server].Wait()
		tabs[0].Reclaim(server)
		if got := look(); got != 2*testServers*perChild {
			t.Errorf("%d requests", got)
		}
	}
	if got := tabs[1].Totals(2); got.Bytes != 7*2*testServers*perChild || got.Cache.Hits != 2*testServers*perChild || got.Cache.Busy != testServers {
		t.Errorf("%+v", got)
	}
}
