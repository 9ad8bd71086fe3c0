//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAsk is jkd -k and jkd -top with a server that runs, and with none.
func TestAsk(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		dir := openDir(t)
		s := &server{t: t, dir: dir, addr: addrOf(freePort(t))}
		fine := "[server]\nListen = " + s.addr + "\nMPM = " + mpm + "\nPidFile = jkd.pid\nErrorLog = error.log\nUser = nobody\n" +
			"[mpm." + mpm + "]\nStartServers = 2\n"
		s.write("jkd.conf", fine)
		run := func(args ...string) (string, int) {
			cmd := exec.Command(bin, append([]string{"-f", filepath.Join(dir, "jkd.conf")}, args...)...)
			cmd.WaitDelay = 20 * time.Second
			out, _ := cmd.CombinedOutput()
			return string(out), cmd.ProcessState.ExitCode()
		}
		expect := func(code int, want string, args ...string) {
			t.Helper()
			if out, got := run(args...); got != code || !strings.Contains(out, want) {
				t.Errorf("%q: exit status %d, %q; want %d, %q", args, got, out, code, want)
			}
		}
		pidFile, socket := filepath.Join(dir, "jkd.pid"), filepath.Join(dir, "jkd.ctl")

		for _, args := range [][]string{{"-k", "status"}, {"-k", "stop"}, {"-k", "graceful-stop"}, {"-top"}} {
			expect(3, "not running: there is no PidFile "+pidFile, args...)
		}
		expect(2, "did you mean status?", "-k", "stat")

		for _, stop := range []string{"stop", "graceful-stop"} {
			if out, code := run(); code != 0 {
				t.Fatalf("start: %d, %s", code, out)
			}
			text, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			var pid int
			if _, err := fmt.Sscan(string(text), &pid); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { // the test has failed, if it lives
				if childrenOf(t, pid) != nil {
					_ = syscall.Kill(pid, syscall.SIGTERM)
				}
			})
			kids := childrenOf(t, pid)
			fetch(t, "GET", s.url("/"))
			if info, err := os.Lstat(socket); err != nil || info.Mode() != os.ModeSocket|0o600 {
				t.Errorf("socket %v, %v", info, err)
			}
			expect(0, "Server MPM:     "+mpm, "-k", "status")
			expect(0, "pid "+fmt.Sprint(pid), "-top")
			expect(0, "req/s", "-top", "-n", "2", "-interval", "100ms")

			// Faults in the file do not keep it from being stopped.
			s.write("jkd.conf", fine+"Nonsense = 1\n")
			expect(0, fmt.Sprintf("process %d has stopped", pid), "-k", stop)
			s.write("jkd.conf", fine)
			s.gone(append(kids, pid))
			for _, path := range []string{pidFile, socket} {
				if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("after -k %s: %s is left: %v", stop, path, err)
				}
			}
		}

		// What a master leaves that was killed.
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		ln.SetUnlinkOnClose(false)
		ln.Close()
		gone := exec.Command(bin, "-V")
		if err := gone.Run(); err != nil {
			t.Fatal(err)
		}
		s.write("jkd.pid", fmt.Sprintln(gone.Process.Pid))
		expect(3, fmt.Sprintf("names process %d, which is gone; the socket %s is left", gone.Process.Pid, socket), "-k", "stop")
		if out, code := run(); code != 0 {
			t.Fatalf("start over what is left: %d, %s", code, out)
		}
		expect(0, "Server MPM", "-k", "status")
		expect(0, "has stopped", "-k", "stop")

		// Without a control socket the pid file does.
		s.write("jkd.conf", strings.Replace(fine, "MPM =", "ControlSocket = none\nMPM =", 1))
		if out, code := run(); code != 0 {
			t.Fatalf("start: %d, %s", code, out)
		}
		expect(1, "has no ControlSocket to ask", "-k", "status")
		expect(0, "has stopped", "-k", "graceful-stop")
	})
}
