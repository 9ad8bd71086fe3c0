//go:build unix

package mpmtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jkd/mpm"
	"jkd/shm"
)

// Run runs the suite: what every module must do with real processes.
func Run(t *testing.T, f Factory) {
	for _, c := range []struct {
		name string
		f    func(*testing.T, Factory)
	}{
		{"Serve", testServe},
		{"Environment", testEnvironment},
		{"Descriptors", testDescriptors},
		{"LongSnapshot", testLongSnapshot},
		{"Credential", testCredential},
		{"Chroot", testChroot},
		{"ChrootFails", testChrootFails},
		{"Cores", testCores},
		{"Killed", testKilled},
		{"KilledOften", testKilledOften},
		{"MasterKilled", testMasterKilled},
		{"Graceful", testGraceful},
		{"GracefulTimeout", testGracefulTimeout},
		{"DrainIdle", testDrainIdle},
		{"DrainFresh", testDrainFresh},
		{"DrainLoad", testDrainLoad},
		{"NoGo", testNoGo},
		{"NoGoMasterKilled", testNoGoMasterKilled},
		{"GoLate", testGoLate},
		{"Stop", testStop},
		{"StopStopped", testStopStopped},
		{"StopWhileStarting", testStopWhileStarting},
		{"Share", testShare},
		{"Retire", testRetire},
		{"Spawn", testSpawn},
		{"Limit", testLimit},
		{"StartFails", testStartFails},
		{"Fatal", testFatal},
		{"Sick", testSick},
		{"Scribble", testScribble},
		{"Reclaim", testReclaim},
		{"Ticks", testTicks},
		{"TicksKeepAlive", testTicksKeepAlive},
		{"TicksBusy", testTicksBusy},
		{"TicksLeaving", testTicksLeaving},
		{"TickSlow", testTickSlow},
		{"TickSlowAll", testTickSlowAll},
		{"TickSlowLeaving", testTickSlowLeaving},
		{"TicksMany", testTicksMany},
	} {
		t.Run(c.name, func(t *testing.T) { c.f(t, f) })
	}
}

// steady is a number of children that maintenance leaves alone.
func steady(n int) Params { return Params{Servers: n, Start: n, MinSpare: 1, MaxSpare: n + 1} }

func testServe(t *testing.T, f Factory) {
	s := Start(t, f, steady(2), nil)
	for range 20 {
		c := s.Dial()
		server, pid := c.Who()
		if pids := s.Pids(); pids[server] != pid {
			t.Errorf("served by %d as server %d, children are %v", pid, server, pids)
		}
		if _, again := c.Who(); again != pid {
			t.Error("the second request went to another child")
		}
		c.Close()
	}
	if title := s.Dial().Ask("title"); !strings.HasPrefix(title, "jkd: ") || !strings.HasSuffix(title, " generation 1") {
		t.Errorf("title %q", title)
	}
}

func testEnvironment(t *testing.T, f Factory) {
	t.Setenv("TABLEFLIP_HAS_PARENT_7DIU3", "yes")
	t.Setenv("GOGC", "77")
	s := Start(t, f, steady(1), nil)
	c := s.Dial()
	for name, want := range map[string]string{
		"JKD_CHILD":                  "false ", // seen once, and no inheritance
		"TABLEFLIP_HAS_PARENT_7DIU3": "false ",
		"GOGC":                       "true 77", // the administrator's
	} {
		if got := c.Ask("env " + name); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func testDescriptors(t *testing.T, f Factory) {
	s := Start(t, f, steady(1), nil)
	if got := s.Dial().Ask("inherited"); got != "[0 1 2 3 4 5]" {
		t.Errorf("a child inherits %s", got)
	}

	// With a segment, a place without one and two log files.
	seg, err := shm.Create("connector", 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer seg.Close()
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	s = Start(t, f, steady(1), func(o *mpm.Options) {
		o.Segments = []*shm.Segment{nil, seg}
		o.LogFiles = []int{p[1], 2}
	})
	unix.Close(p[1])
	c := s.Dial()
	if got := c.Ask("inherited"); got != "[0 1 2 3 4 5 6 7 8 9]" {
		t.Errorf("a child inherits %s", got)
	}
	if got := c.Ask("log through"); got != "<nil>" {
		t.Errorf("log file: %s", got)
	}
	b := make([]byte, 64)
	if n, err := unix.Read(p[0], b); err != nil || string(b[:n]) != "through" {
		t.Errorf("log file got %q, %v", b[:n], err)
	}
}

// testLongSnapshot: more than any socket buffer holds.
func testLongSnapshot(t *testing.T, f Factory) {
	p := steady(2)
	p.Padding = strings.Repeat("x", 3<<20)
	s := Start(t, f, p, nil)
	if got := s.Dial().Ask("padding"); got != strconv.Itoa(len(p.Padding)) {
		t.Errorf("padding of %s bytes arrived", got)
	}
}

func testCredential(t *testing.T, f Factory) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can become somebody else")
	}
	s := startAs(t, f, nil)
	checkIDs(t, s.Dial())
	checkStatus(t, s)
}

func testGraceful(t *testing.T, f Factory) {
	s := Start(t, f, steady(3), nil)
	busy, idle := s.Dial(), s.Dial()
	if busy.Ask("hold") != "held" {
		t.Fatal("not held")
	}
	idle.Who()
	s.Sup.Graceful(0)
	idle.served()
	Eventually(t, "only the child with the request is left", func() bool { return s.Alive() == 1 })
	if got := busy.Ask("go on"); got != "released" {
		t.Errorf("the running request was answered with %q", got)
	}
	busy.Closed()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

func testGracefulTimeout(t *testing.T, f Factory) {
	s := Start(t, f, steady(1), nil)
	c := s.Dial()
	if c.Ask("hold") != "held" {
		t.Fatal("not held")
	}
	s.Sup.Graceful(100 * time.Millisecond)
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := c.r.ReadByte(); err == nil {
		t.Error("the request was answered")
	}
}

func testStop(t *testing.T, f Factory) {
	s := Start(t, f, steady(2), nil)
	c := s.Dial()
	if c.Ask("hold") != "held" {
		t.Fatal("not held")
	}
	pids := s.Pids()
	s.Sup.Stop()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		if unix.Kill(pid, 0) == nil {
			t.Errorf("child %d is still there", pid)
		}
	}
	if s.Alive() != 0 {
		t.Error("the board shows children")
	}
}

// testStopStopped: children that can neither read an order nor be terminated.
func testStopStopped(t *testing.T, f Factory) {
	s := Start(t, f, steady(2), func(o *mpm.Options) {
		o.Ladder = []mpm.StopStep{
			{After: 0, Action: mpm.StopTerm},
			{After: 200 * time.Millisecond, Action: mpm.StopTerm},
			{After: 400 * time.Millisecond, Action: mpm.StopKill},
			{After: patience, Action: mpm.StopGiveUp},
		}
	})
	_, pid := s.Dial().Who()
	kill(t, pid, unix.SIGSTOP)
	s.Sup.Stop()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(s.log.String(), "sending a SIGKILL") {
		t.Error("the log does not tell of the kill")
	}
	if unix.Kill(pid, 0) == nil {
		t.Error("the child is still there")
	}
}

func testStopWhileStarting(t *testing.T, f Factory) {
	s, _ := launch(t, f, steady(4), nil)
	s.Sup.Stop()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if s.Alive() != 0 {
		t.Error("the board shows children")
	}
}

// testShare: MaxConnectionsPerChild. No connection is lost when children
// change, and the master keeps nothing of those that left.
func testShare(t *testing.T, f Factory) {
	p := steady(2)
	p.Share = 3
	s := Start(t, f, p, nil)
	pids := make(map[int]int)
	var before int
	for len(pids) < 102 {
		c := s.Dial()
		_, pid := c.Who()
		c.Close()
		pids[pid]++
		if pids[pid] > p.Share {
			t.Fatalf("child %d served %d connections", pid, pids[pid])
		}
		if len(pids) == 3 && before == 0 {
			before = len(descriptors())
		}
	}
	Eventually(t, "the master has no more descriptors than after the first replacement", func() bool {
		return len(descriptors()) <= before+2
	})
}

func testRetire(t *testing.T, f Factory) {
	s := Start(t, f, Params{Servers: 4, Start: 4, MinSpare: 1, MaxSpare: 2}, nil)
	c := s.Dial()
	_, pid := c.Who()
	Eventually(t, "idle children leave", func() bool { return s.Alive() <= 3 })
	if _, again := c.Who(); again != pid {
		t.Error("the child with a connection was sent away")
	}
}

func testSpawn(t *testing.T, f Factory) {
	s := Start(t, f, Params{Servers: 6, Start: 1, MinSpare: 2, MaxSpare: 6}, nil)
	Eventually(t, "children are added", func() bool { return s.Alive() >= 2 })
}

// testLimit: with all places taken, the next connection waits in the kernel
// and is served when a place is free.
func testLimit(t *testing.T, f Factory) {
	p := steady(1)
	m, err := f(p)
	if err != nil {
		t.Fatal(err)
	}
	s := Start(t, f, p, nil)
	var busy []*Client
	for range m.ThreadsPerChild {
		c := s.Dial()
		if c.Ask("hold") != "held" {
			t.Fatal("not held")
		}
		busy = append(busy, c)
	}
	Eventually(t, "the log tells of the limit", func() bool {
		return strings.Contains(s.log.String(), "server reached MaxRequestWorkers setting")
	})
	waiting := s.Dial()
	if _, err := waiting.c.Write([]byte("who\n")); err != nil {
		t.Fatal(err)
	}
	busy[0].Ask("go on")
	busy[0].Close()
	if line, err := waiting.r.ReadString('\n'); err != nil || line == "" {
		t.Errorf("the waiting connection got %q, %v", line, err)
	}
	for _, c := range busy[1:] {
		c.Ask("go on")
	}
	if n := strings.Count(s.log.String(), "server reached MaxRequestWorkers setting"); n != 1 {
		t.Errorf("the log tells of it %d times", n)
	}
}

// testStartFails: children that end before they are ready end the master.
func testStartFails(t *testing.T, f Factory) {
	p := steady(1)
	p.Exit = 7
	s, _ := launch(t, f, p, nil)
	err := s.Wait()
	if err == nil || !strings.Contains(err.Error(), "ended before any was ready") || !strings.Contains(err.Error(), "sick") {
		t.Errorf("error %v", err)
	}
	if n := strings.Count(s.log.String(), "child ended with"); n > 5 {
		t.Errorf("%d children were started", n)
	}
}

func testFatal(t *testing.T, f Factory) {
	s := Start(t, f, steady(3), nil)
	pids := s.Pids()
	_, _ = s.Dial().try(fmt.Sprintf("exit %d", mpm.ExitFatal))
	if err := s.Wait(); err == nil || !strings.Contains(err.Error(), "fatal") {
		t.Errorf("error %v", err)
	}
	for _, pid := range pids {
		if unix.Kill(pid, 0) == nil {
			t.Errorf("child %d is still there", pid)
		}
	}
}

// testSick: the server goes on without the child.
func testSick(t *testing.T, f Factory) {
	s := Start(t, f, steady(2), nil)
	c := s.Dial()
	server, pid := c.Who()
	_, _ = c.try(fmt.Sprintf("exit %d", mpm.ExitSick))
	Eventually(t, "the sick child is buried", func() bool { return s.Pids()[server] != pid })
	s.Dial().Who()
}

// testScribble: a child can write what it likes all over the scoreboard.
func testScribble(t *testing.T, f Factory) {
	s := Start(t, f, Params{Servers: 4, Start: 2, MinSpare: 1, MaxSpare: 3}, nil)
	for range 3 {
		c := s.Dial()
		if got := c.Ask("scribble"); got != "done" {
			t.Fatal(got)
		}
		c.Close()
		time.Sleep(1200 * time.Millisecond) // let maintenance look at it
	}
	// The last word about who serves whom is the kernel's.
	c := s.Dial()
	_, pid := c.Who()
	kill(t, pid, unix.SIGKILL)
	c.Close()
	time.Sleep(1200 * time.Millisecond)
	// The next children find a board in order.
	for range 4 {
		c := s.Dial()
		_, pid = c.Who()
		c.Close()
	}
	select {
	case err := <-s.endC:
		s.endC <- err
		t.Fatalf("the supervisor ended: %v", err)
	default:
	}
	s.Sup.Stop()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if unix.Kill(pid, 0) == nil {
		t.Errorf("child %d is still there", pid)
	}
}
