//go:build unix

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// ask runs jkd -k for a server.
func (s *server) ask(bin string, args ...string) (string, error) {
	out, err := exec.Command(bin, append([]string{"-f", filepath.Join(s.dir, "jkd.conf"), "-k"}, args...)...).CombinedOutput()
	return string(out), err
}

// current is the master that the pid file names.
func (s *server) current() int {
	b, _ := os.ReadFile(filepath.Join(s.dir, "jkd.pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

// TestReload: while clients ask, with and without keep-alive, one generation
// after the other takes over, and none that cannot; no request is lost. The
// process that was started stays, and what was counted too.
func TestReload(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		// A copy: it is replaced.
		program := filepath.Join(openDir(t), "jkd")
		install(t, bin, program)
		limits := []string{"StartServers = 6", "MinSpareServers = 4", "MaxSpareServers = 12"}
		if mpm == "worker" {
			limits = []string{"StartServers = 2", "ThreadsPerChild = 8"}
		}
		s := start(t, program, config{mpm: mpm, limits: limits, workers: properties(addrOf(freePort(t)), nil),
			jk: []string{"[status]", "Location = /s"}})
		conf := filepath.Join(s.dir, "jkd.conf")
		good, err := os.ReadFile(conf)
		if err != nil {
			t.Fatal(err)
		}

		clients := s.crowd(6, "/s?auto")
		for i := range 6 {
			before := s.current()
			how := "graceful"
			if i == 3 { // by a signal to the process that a supervisor knows
				if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
				s.eventually("another master after HUP", func() bool { return s.current() != before && s.current() != 0 })
				continue
			}
			if out, err := s.ask(program, how); err != nil {
				t.Fatalf("-k %s: %v: %s\n%s", how, err, out, s.log())
			}
			if now := s.current(); now == before || !alive(now) {
				t.Errorf("the pid file names %d, before %d", now, before)
			}
		}

		// What cannot start changes nothing, and the one who asks hears why.
		before := s.current()
		s.write("jkd.conf", string(good)+"[server]\nNoSuchDirective = 1\n")
		if out, err := s.ask(program, "graceful"); err == nil || !strings.Contains(out, "NoSuchDirective") {
			t.Errorf("with a broken configuration: %v, %s", err, out)
		}
		s.write("jkd.conf", string(good))
		for name, text := range map[string]string{"false": "#!/bin/sh\nexit 3\n", "no program": "nothing"} {
			if err := os.Rename(program, program+".old"); err != nil {
				t.Fatal(err)
			}
			if err := writeProgram(program, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if out, err := s.ask(bin, "graceful"); err == nil || !strings.Contains(out, "jkd goes on as before") {
				t.Errorf("with %s instead of the program: %v, %s", name, err, out)
			}
			if err := os.Rename(program+".old", program); err != nil {
				t.Fatal(err)
			}
		}
		if now := s.current(); now != before || !alive(now) {
			t.Errorf("after what had to fail the master is %d, was %d", now, before)
		}
		if out, err := s.ask(program, "graceful"); err != nil {
			t.Errorf("after those: %v, %s", err, out)
		}

		clients.home(0)
		answered := clients.answered.Load()
		t.Logf("%d requests", answered)
		if !alive(s.cmd.Process.Pid) {
			t.Error("the process that was started is gone")
		}
		s.eventually("the totals of all generations", func() bool {
			out, err := s.ask(program, "status")
			var total int64
			for line := range strings.Lines(out) {
				if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "Total accesses: "); ok {
					_, _ = fmt.Sscan(rest, &total)
				}
			}
			return err == nil && total >= answered
		})
		last := s.current()
		s.stop()
		if alive(last) {
			t.Errorf("master %d is left", last)
		}
	})
}
