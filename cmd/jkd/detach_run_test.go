//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDetached starts jkd as rc.d does: the command returns when it serves,
// with the pid file there, or fails and says why.
func TestDetached(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	dir := openDir(t)
	s := &server{t: t, dir: dir, addr: addrOf(freePort(t))}
	conf := "[server]\nListen = " + s.addr + "\nServerRoot = " + dir + "\nPidFile = jkd.pid\nErrorLog = error.log\nLogLevel = info\nUser = nobody\n" +
		"[connector.jk]\nJkWorkersFile = workers.properties\nJkMount = /app/* tomcat\n"
	s.write("jkd.conf", conf)
	s.write("workers.properties", properties(addrOf(freePort(t)), nil))
	run := func() (string, error) {
		cmd := exec.Command(bin, "-f", filepath.Join(dir, "jkd.conf"))
		// A pipe, as in out=$(jkd): it ends when nobody holds it any more.
		cmd.WaitDelay = 20 * time.Second
		out, err := cmd.CombinedOutput()
		return string(out), err
	}

	busy, err := net.Listen("tcp4", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	out, err := run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(out, s.addr) || !strings.Contains(out, "address already in use") {
		t.Errorf("with the port taken: %v, %q; want exit status 1 and the reason", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "jkd.pid")); err == nil {
		t.Error("a pid file although the start failed")
	}
	busy.Close()

	out, err = run()
	if err != nil {
		t.Fatalf("start: %v\n%s\n%s", err, out, s.log())
	}
	text, err := os.ReadFile(filepath.Join(dir, "jkd.pid"))
	if err != nil {
		t.Fatalf("no pid file when the command has returned: %v", err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		t.Fatalf("pid file: %q", text)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGTERM) })
	if r, _ := fetch(t, "GET", s.url("/")); r.StatusCode != 404 {
		t.Errorf("status %d, want 404", r.StatusCode)
	}
	if pgid, err := syscall.Getpgid(pid); err != nil || pgid == syscall.Getpgrp() {
		t.Errorf("the master is in the process group of the shell that started it: %d, %v", pgid, err)
	}
	kids := childrenOf(t, pid)
	if len(kids) == 0 {
		t.Error("no children")
	}

	// A second one must leave the first alone.
	if out, err := run(); err == nil {
		t.Errorf("a second start succeeded: %q", out)
	}
	if now, _ := os.ReadFile(filepath.Join(dir, "jkd.pid")); !bytes.Equal(now, text) {
		t.Errorf("the pid file is now %q, was %q", now, text)
	}
	if r, _ := fetch(t, "GET", s.url("/")); r.StatusCode != 404 {
		t.Errorf("after the second start: status %d, want 404", r.StatusCode)
	}

	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.gone(append(kids, pid))
	if _, err := os.Stat(filepath.Join(dir, "jkd.pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pid file after the end: %v", err)
	}
}
