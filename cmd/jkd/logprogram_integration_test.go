//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// linesOf counts the lines of a file that contain a text.
func (s *server) linesOf(name, text string) (n int) {
	b, _ := os.ReadFile(filepath.Join(s.dir, name))
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// request sends n requests over a few connections; each must be answered 404, as
// there is nothing behind.
func (s *server) request(n int, path string) {
	s.t.Helper()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			c, err := dialErr(s.addr)
			if err != nil {
				s.t.Error(err)
				return
			}
			defer c.Close()
			for range n / 4 {
				if status, _, err := c.get(path); err != nil || status != 404 {
					s.t.Errorf("connection %d: status %d, %v", i, status, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// programOf waits for the child of a master that is no jkd.
func (s *server) programOf(master int, name string) (pid int) {
	s.t.Helper()
	s.eventually(name+" to run", func() bool {
		out, err := exec.Command("ps", "-ax", "-o", "pid=", "-o", "ppid=", "-o", "args=").Output()
		if err != nil {
			s.t.Fatalf("ps: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) > 2 && f[1] == strconv.Itoa(master) && filepath.Base(f[2]) == name {
				pid, _ = strconv.Atoi(f[0])
				return true
			}
		}
		return false
	})
	return pid
}

// TestLogPrograms: all logs may be programs. Every line arrives, also when one of
// them is killed and when the server is reloaded, and all have ended when the
// last one who writes to them has.
func TestLogPrograms(t *testing.T) {
	rotatelogs, err := exec.LookPath("rotatelogs")
	if err != nil {
		t.Skip("there is no rotatelogs")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{
			mpm: mpm, workers: properties(addrOf(freePort(t)), nil), mounts: []string{"/jk tomcat"},
			server: []string{
				"KeepAliveTimeout = 600",
				`ErrorLog = "|$cat >> error.log"`,
				`CustomLog = "|` + rotatelogs + ` access 86400" "%r %s"`,
				`CustomLog = "||` + rotatelogs + ` -n 5 also 100M" "%U"`,
			},
			jk:  []string{`JkLogFile = "|tee -a jk.log"`},
			jk2: []string{"File = workers2.properties"},
			files: map[string]string{"workers2.properties": "[workerEnv:]\nlogger=logger.file:\n" +
				"[logger.file:]\nfile=|$exec cat >> jk2.log\nlevel=DEBUG\n[channel.socket:127.0.0.1:1]\n[uri:/jk2]\n"},
		})
		access := func(text string) (n int) {
			files, _ := filepath.Glob(filepath.Join(s.dir, "access.*"))
			for _, f := range files {
				n += s.linesOf(filepath.Base(f), text)
			}
			return n
		}
		first := s.pid()
		program := s.programOf(first, "rotatelogs")
		idle := dial(t, s.addr)
		if status, _, err := idle.get("/idle"); status != 404 {
			t.Fatalf("status %d, %v", status, err)
		}
		s.request(400, "/before")
		s.eventually("the lines", func() bool { return access("GET /before HTTP/1.1 404") == 400 })
		for _, pid := range []int{program, s.programOf(first, "tee")} {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		for _, what := range []string{"rotatelogs", "tee"} {
			s.eventually("word of the end of "+what, func() bool {
				return strings.Contains(s.log(), what+" has ended (signal: killed), it is started again now")
			})
		}
		s.request(400, "/after")
		s.eventually("the rest of the lines", func() bool {
			return access("GET /after HTTP/1.1 404") == 400 && s.linesOf("also", "/after") == 400
		})

		program = s.programOf(first, "rotatelogs")
		if out, err := s.ask(bin, "graceful"); err != nil {
			t.Fatalf("reload: %v, %s", err, out)
		}
		if next := s.programOf(s.current(), "rotatelogs"); next == program {
			t.Error("the new generation uses the program of the one before")
		}
		if !alive(program) {
			t.Error("the program has ended although a child writes to it")
		}
		s.request(400, "/reloaded")
		if status, _, err := idle.get("/idle"); status != 404 {
			t.Errorf("an old connection: status %d, %v", status, err)
		}
		s.gone([]int{program, first})
		for _, path := range []string{"/jk", "/jk2"} {
			if r, _ := fetch(t, "GET", s.url(path)); r.StatusCode != 503 {
				t.Errorf("%s: status %d", path, r.StatusCode)
			}
			s.eventually("a line of the connector", func() bool { return s.linesOf(path[1:]+".log", "") > 0 })
		}
		kids := childrenOf(t, s.current())
		s.stop()
		s.gone(kids)
		for path, want := range map[string]int{"before": 400, "after": 400, "reloaded": 400, "idle": 2} {
			if n := access("GET /" + path + " HTTP/1.1 404"); n != want {
				t.Errorf("%d lines of /%s, want %d", n, path, want)
			}
		}
	})
}

// TestLogProgramHangs: a program that reads nothing and does not end costs
// lines, but no answers, and does not keep jkd from ending.
func TestLogProgramHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	path := "/" + strings.Repeat("x", 4000)
	eachMPM(t, func(t *testing.T, mpm string) {
		for _, directive := range []string{"CustomLog", "ErrorLog"} {
			t.Run(directive, func(t *testing.T) {
				// A shell that ignores SIGTERM and the end of its input.
				line := directive + ` = "|$trap '' TERM; while :; do sleep 1; done"`
				s := start(t, bin, config{mpm: mpm, server: []string{line, "LogLevel = debug"}, workers: properties(addrOf(freePort(t)), nil)})
				program := s.programOf(s.pid(), "sh")
				s.request(100, path)
				if directive == "CustomLog" {
					s.eventually("a report", func() bool { return s.linesOf("error.log", "lines of the log are lost") > 0 })
				}
				s.stop()
				if alive(program) {
					t.Error("the program is still there")
				}
			})
		}
	})
}

// TestLogProgramMissing: a program that isn't there is an error of its line.
func TestLogProgramMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	s := &server{t: t, dir: openDir(t)}
	s.write("jkd.conf", "[server]\nUser = nobody\nListen = "+addrOf(freePort(t))+"\nCustomLog = \"|bin/nothing x\" combined\n")
	file := filepath.Join(s.dir, "jkd.conf")
	want := fmt.Sprintf("%s:4: CustomLog: the program %s: no such file or directory\n", file, filepath.Join(s.dir, "bin/nothing"))
	for _, args := range [][]string{{"-t"}, {"-foreground"}, nil} {
		out, err := exec.Command(bin, append(args, "-f", file)...).CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || string(out) != want {
			t.Errorf("%v: %v, %q; want %q", args, err, out, want)
		}
	}
}

// TestLogProgramDetached: whoever started jkd does not wait for the programs,
// and what the runtime of a child says in the worst case reaches the program of
// ErrorLog too.
func TestLogProgramDetached(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := &server{t: t, dir: openDir(t), addr: addrOf(freePort(t))}
		s.write("jkd.conf", "[server]\nListen = "+s.addr+"\nMPM = "+mpm+"\nUser = nobody\nPidFile = jkd.pid\nLogLevel = info\n"+
			"ErrorLog = \"|$cat >> error.log\"\nCustomLog = \"|$echo complaint >&2; exec cat >> access.log\"\n")
		cmd := exec.Command(bin, "-f", filepath.Join(s.dir, "jkd.conf"))
		cmd.WaitDelay = 20 * time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("start: %v\n%s\n%s", err, out, s.log())
		}
		pid := s.current()
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGTERM) })
		s.request(40, "/x")
		s.eventually("the program's complaint", func() bool { return s.linesOf("error.log", "complaint") == 1 })
		before := []int{pid, s.programOf(pid, "sh"), s.programOf(pid, "cat")} // of ErrorLog and CustomLog
		if out, err := s.ask(bin, "graceful"); err != nil {
			t.Fatalf("reload: %v, %s", err, out)
		}
		s.gone(before)
		s.eventually("the next program's complaint", func() bool { return s.linesOf("error.log", "complaint") == 2 })
		pid = s.current()
		out, err := exec.Command("ps", "-ax", "-o", "pid=", "-o", "ppid=", "-o", "args=").Output()
		if err != nil {
			t.Fatal(err)
		}
		child := 0
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); len(f) > 2 && f[1] == strconv.Itoa(pid) && f[2] == "jkd:" {
				child, _ = strconv.Atoi(f[0])
			}
		}
		if child == 0 {
			t.Fatalf("no child of %d in\n%s", pid, out)
		}
		if err := syscall.Kill(child, syscall.SIGABRT); err != nil {
			t.Fatal(err)
		}
		s.eventually("the runtime's last words", func() bool { return s.linesOf("error.log", "SIGABRT: abort") > 0 })
		kids := childrenOf(t, pid)
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		s.gone(append(kids, pid))
		if n := s.linesOf("access.log", "GET /x"); n != 40 {
			t.Errorf("%d lines, want 40", n)
		}
		if s.linesOf("error.log", "jkd is ready") != 2 {
			t.Errorf("error log:\n%s", s.log())
		}
	})
}
