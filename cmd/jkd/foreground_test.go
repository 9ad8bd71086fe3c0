//go:build unix

package main_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jkd/cmd/jkd/internal/keeper"
)

// TestForeground: a supervisor sees the keeper, which tells what becomes of the
// master, and without which there is no master.
func TestForeground(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	if !keeper.Supported {
		t.Skip("there is no keeper on this system")
	}
	bin := binary(t)
	c := config{mpm: "prefork", server: []string{"GracefulShutdownTimeout = 60"}, jk: []string{"JkLogLevel = info"}}
	killed := func(t *testing.T, s *server, pid int) {
		kids := append(s.children(), s.pid())
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-s.doneC
		s.gone(kids)
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			conn.Close()
			t.Error("the port is still listened on")
		}
	}
	t.Run("master killed", func(t *testing.T) {
		s := start(t, bin, c)
		if s.pid() == s.cmd.Process.Pid {
			t.Fatal("the master is the process that was started")
		}
		killed(t, s, s.pid())
		if got := s.cmd.ProcessState.ExitCode(); got != 128+9 {
			t.Errorf("exit status %d (%s), want 137", got, s.cmd.ProcessState)
		}
		if !strings.Contains(s.out.String(), "the master was ended by signal 9") {
			t.Errorf("nothing is said of the end: %q", s.out.String())
		}
	})
	t.Run("keeper killed", func(t *testing.T) {
		s := start(t, bin, c)
		killed(t, s, s.cmd.Process.Pid)
		if _, err := os.Lstat(filepath.Join(s.dir, "jkd.pid")); !os.IsNotExist(err) {
			t.Errorf("the master has not stopped in order: pid file: %v", err)
		}
	})
}
