//go:build unix

package mpmtest

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jkd/scoreboard"
)

// testKilled: a child that is killed in the middle of a request loses that
// request and nothing else.
func testKilled(t *testing.T, f Factory) {
	s := Start(t, f, steady(2), nil)
	a, b := holdTwo(t, s)
	time.Sleep(1100 * time.Millisecond) // a child that died younger would be held for a second first
	kill(t, a.pid, unix.SIGKILL)
	if _, err := a.c.r.ReadByte(); err == nil {
		t.Error("the killed child's connection is still there")
	}
	Eventually(t, "the killed child is replaced", func() bool {
		pids := s.Pids()
		return pids[a.server] != 0 && pids[a.server] != a.pid && s.status(a.server) == scoreboard.Ready
	})
	if got := b.c.Ask("go on"); got != "released" {
		t.Errorf("the other child's request was answered with %q", got)
	}
	if s.Pids()[b.server] != b.pid {
		t.Error("the other child was replaced too")
	}
	if got := s.Dial().Ask("title"); got == "" {
		t.Error("no answer afterwards")
	}
}

func (s *Server) status(server int) scoreboard.Status { return s.a.opts.Board.Slot(server, 0).Status() }

type held struct {
	c           *Client
	server, pid int
}

// holdTwo opens two running requests in two different children.
func holdTwo(t *testing.T, s *Server) (a, b held) {
	t.Helper()
	hold := func() held {
		c := s.Dial()
		server, pid := c.Who()
		if c.Ask("hold") != "held" {
			t.Fatal("not held")
		}
		return held{c, server, pid}
	}
	a = hold()
	// The kernel may favour one child: fill it.
	for range s.a.opts.Module.ThreadsPerChild {
		if b = hold(); b.pid != a.pid {
			return a, b
		}
	}
	t.Fatal("one child takes more connections than it has threads")
	return a, b
}

func kill(t *testing.T, pid int, sig unix.Signal) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("pid %d", pid)
	}
	if err := unix.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// testKilledOften: five at once, and the board recovers.
func testKilledOften(t *testing.T, f Factory) {
	s := Start(t, f, steady(5), nil)
	for range 2 {
		time.Sleep(1100 * time.Millisecond) // see testKilled
		old := s.Pids()
		for _, pid := range old {
			kill(t, pid, unix.SIGKILL)
		}
		Eventually(t, "all children are replaced", func() bool {
			for i, pid := range s.Pids() {
				if pid == 0 || pid == old[i] || s.status(i) != scoreboard.Ready {
					return false
				}
			}
			return true
		})
	}
}

func testMasterKilled(t *testing.T, f Factory) {
	m := startMaster(t, steady(2))
	busy, idle := dial(t, m.addr), dial(t, m.addr)
	if busy.Ask("hold") != "held" {
		t.Fatal("not held")
	}
	idle.Who()
	if err := m.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	idle.served()
	if got := busy.Ask("go on"); got != "released" {
		t.Errorf("the running request was answered with %q", got)
	}
	busy.Closed()
	m.allGone(t)
}
