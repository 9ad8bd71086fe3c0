package proc

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

func TestStop(t *testing.T) {
	var s Set
	var pids []int
	for range 3 {
		p, err := s.Start("sleep", t.TempDir(), "/bin/sleep", "600")
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, p.PID())
		if len(pids) == 1 {
			p.Stop()
			p.Stop() // does nothing
			if !gone(pids[0]) {
				t.Error("a process after its Stop")
			}
		}
	}
	s.StopAll()
	for _, pid := range pids {
		if !gone(pid) {
			t.Errorf("process %d after StopAll", pid)
		}
	}
	if _, err := s.Start("sleep", t.TempDir(), "/bin/sleep", "600"); err == nil {
		t.Error("a start after StopAll")
	}
}

func TestRun(t *testing.T) {
	var s Set
	defer s.StopAll()
	if out, err := s.Run(time.Minute, t.TempDir(), "/bin/sh", "-c", "echo said"); err != nil || out != "said\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := s.Run(time.Minute, t.TempDir(), "/bin/sh", "-c", "echo why >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "exit status 3: why") {
		t.Errorf("a failure: %v", err)
	}
	if _, err := s.Run(10*time.Millisecond, t.TempDir(), "/bin/sleep", "600"); err == nil || !strings.Contains(err.Error(), "not done") {
		t.Errorf("a program that hangs: %v", err)
	}
	if _, err := s.Run(time.Minute, t.TempDir(), "/no/such/program"); err == nil {
		t.Error("no program, no error")
	}
	if _, err := s.Start("x", "/no/such/directory", "true"); err == nil || !os.IsNotExist(err) && !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no directory: %v", err)
	}
}

func TestFreePort(t *testing.T) {
	a, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	b, err := FreePort()
	if err != nil || a == b || a <= firstPort || b >= lastPort {
		t.Errorf("%d, %d, %v", a, b, err)
	}
}
