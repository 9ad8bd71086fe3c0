package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestLogProgramInherits: a program has its three descriptors and nothing else,
// no signal is ignored for it, and what it makes is not for everybody to write
// to; so it is when it was started again and after a reload.
func TestLogProgramInherits(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	stray := filepath.Join(openDir(t), "stray")
	if err := os.WriteFile(stray, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	bin := binary(t)
	s := start(t, awkward(t, bin, stray), config{mpm: "prefork", workers: properties(addrOf(freePort(t)), nil),
		server: []string{`CustomLog = "|tee -a access.log"`}})
	// What whoever runs the tests ignores is not jkd's doing.
	self, _ := os.ReadFile("/proc/self/status")
	ignored := regexp.MustCompile(`(?m)^SigIgn:.*\n`).FindString(string(self))
	look := func(master, not int) (pid int) {
		t.Helper()
		s.eventually("another program", func() bool {
			pid = s.programOf(master, "tee")
			return pid != not
		})
		if status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status"); !strings.Contains(string(status), "\nUmask:\t0022\n") ||
			!strings.Contains(string(status), ignored) {
			t.Errorf("the program of %d:\n%s", master, status)
		}
		s.eventually("access.log", func() bool {
			return slices.Contains(slices.Collect(values(descriptorsOf(t, pid))), filepath.Join(s.dir, "access.log"))
		})
		for fd, to := range descriptorsOf(t, pid) {
			if fd > 2 && to != filepath.Join(s.dir, "access.log") {
				t.Errorf("the program of %d has descriptor %d, %s", master, fd, to)
			}
		}
		return pid
	}
	first := look(s.pid(), 0)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	look(s.pid(), first)
	if out, err := s.ask(bin, "graceful"); err != nil {
		t.Fatalf("reload: %v, %s", err, out)
	}
	look(s.current(), 0)
}
