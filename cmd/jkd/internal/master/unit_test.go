//go:build unix

package master

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

func TestParseListen(t *testing.T) {
	for _, c := range []struct {
		list []string
		want string // network address pairs; ? = lenient
		err  string
	}{
		{[]string{"8080"}, "tcp6 [::]:8080 ?, tcp4 0.0.0.0:8080", ""},
		{[]string{":80"}, "tcp6 [::]:80 ?, tcp4 0.0.0.0:80", ""},
		{[]string{"*:80"}, "tcp6 [::]:80 ?, tcp4 0.0.0.0:80", ""},
		{[]string{"127.0.0.1:80", "[::1]:80"}, "tcp4 127.0.0.1:80, tcp6 [::1]:80", ""},
		{[]string{"[::ffff:127.0.0.1]:80"}, "tcp4 127.0.0.1:80", ""},
		{[]string{"127.0.0.1:0", "127.0.0.1:0"}, "tcp4 127.0.0.1:0, tcp4 127.0.0.1:0", ""},
		{[]string{"[fe80::1%em0]:80"}, "tcp6 [fe80::1%em0]:80", ""},
		{[]string{"80", "0.0.0.0:80"}, "", "given twice"},
		{[]string{"127.0.0.1:80", "127.0.0.1:80"}, "", "Listen 127.0.0.1:80: 127.0.0.1:80 is given twice"},
		{nil, "", "at least one is needed"},
		{[]string{"65536"}, "", "not a number below 65536"},
		{[]string{"127.0.0.1"}, "", "expected port or address:port"},
		{[]string{"127.0.0.1:http"}, "", "not a number"},
		{[]string{"no-such-host.invalid:80"}, "", "could not resolve"},
	} {
		eps, err := endpoints(c.list, nil)
		var got []string
		for _, ep := range eps {
			s := ep.network + " " + ep.address
			if ep.lenient {
				s += " ?"
			}
			got = append(got, s)
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: %v, want %q", c.list, err, c.err)
		}
		if c.err == "" && strings.Join(got, ", ") != c.want {
			t.Errorf("%v: %v, want %s", c.list, got, c.want)
		}
	}
}

func TestOpenListeners(t *testing.T) {
	eps, err := endpoints([]string{"127.0.0.1:0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ls, err := openListeners(nil, eps, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer closeListeners(ls)
	if len(ls) != 1 || ls[0].key != "listener tcp4 127.0.0.1:0" {
		t.Fatalf("%v", ls)
	}
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(ls[0].fd), syscall.F_GETFL, 0)
	if flags&syscall.O_NONBLOCK == 0 {
		t.Error("the listener is in blocking mode")
	}
	flags, _, _ = syscall.Syscall(syscall.SYS_FCNTL, uintptr(ls[0].fd), syscall.F_GETFD, 0)
	if flags&syscall.FD_CLOEXEC == 0 {
		t.Error("the listener is not close-on-exec")
	}
	c, err := net.Dial("tcp", ls[0].addr.String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestInheritedListener(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	fd, err := dup(ln.(*net.TCPListener))
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	inherited := &Heritage{files: map[string]int{"listener tcp4 " + address: fd}}
	eps, err := endpoints([]string{address}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ls, err := openListeners(inherited, eps, 5) // binding again would fail
	if err != nil {
		t.Fatal(err)
	}
	if len(ls) != 1 || ls[0].fd != fd || ls[0].addr.String() != address {
		t.Errorf("%v, want descriptor %d at %s", ls, fd, address)
	}
	closeListeners(ls)
}

func TestBindFails(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	eps, err := endpoints([]string{"127.0.0.1:0", ln.Addr().String()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openListeners(nil, eps, 5)
	want := fmt.Sprintf("Listen %s: could not bind to %[1]s: address already in use", ln.Addr())
	if err == nil || err.Error() != want || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("%v, want %s", err, want)
	}
	// Lenient: the other protocol is enough.
	eps[1].lenient = true
	ls, err := openListeners(nil, eps, 5)
	if err != nil || len(ls) != 1 {
		t.Errorf("%d listeners, %v", len(ls), err)
	}
	closeListeners(ls)
}

func TestPidFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jkd.pid")
	p, err := preparePidFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is there before it is published")
	}
	if err := p.publish(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != strconv.Itoa(os.Getpid())+"\n" {
		t.Errorf("%q, %v", b, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o644 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	p.remove()
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}

	// Only what is ours is removed, and nothing is published after that.
	p, err = preparePidFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.remove()
	if err := p.publish(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "1\n" {
		t.Errorf("%q, %v", b, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*pid*")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestPidFileHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jkd.pid")
	parent := os.Getppid()
	for _, c := range []struct {
		content string
		parent  int
		ok      bool
	}{
		{strconv.Itoa(os.Getpid()), 0, true}, // ours
		{"", 0, true},
		{"rubbish\n", 0, true},
		{"-1\n", 0, true},
		{"0\n", 0, true},
		{"2147483646\n", 0, true}, // nobody
		{strconv.Itoa(parent), parent, true},
	} {
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := preparePidFile(path, c.parent)
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.content, err)
		}
		if err == nil {
			p.remove()
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none", "jkd.pid")} {
		if _, err := preparePidFile(path, 0); err == nil || !strings.Contains(err.Error(), "PidFile "+path+": could not be written: no such file or directory") {
			t.Error(err)
		}
	}
	if p, err := preparePidFile("", 0); err != nil || p.publish() != nil {
		t.Errorf("no pid file: %v", err)
	} else {
		p.remove()
	}
}

func TestSignalTable(t *testing.T) {
	for _, c := range []struct {
		s    os.Signal
		name string
		want action
	}{
		{syscall.SIGTERM, "SIGTERM", actStop},
		{syscall.SIGINT, "SIGINT", actStop},
		{syscall.SIGWINCH, "SIGWINCH", actGraceful},
		{syscall.SIGHUP, "SIGHUP", actReload},
		{syscall.SIGUSR1, "SIGUSR1", actReload},
		{syscall.SIGUSR2, syscall.SIGUSR2.String(), 0},
	} {
		if name, a := lookup(c.s); name != c.name || a != c.want {
			t.Errorf("%s: %s, %s", c.s, name, a)
		}
		if slices.Contains(signals(), c.s) != (c.want != 0) {
			t.Errorf("%s: in the list: %t", c.s, c.want == 0)
		}
	}
}

type fakeStopper struct{ calls []string }

func (f *fakeStopper) Stop()                    { f.calls = append(f.calls, "stop") }
func (f *fakeStopper) Graceful(d time.Duration) { f.calls = append(f.calls, "graceful "+d.String()) }

func TestObey(t *testing.T) {
	for _, c := range []struct {
		s        os.Signal
		terminal bool
		call     string
		log      string
	}{
		{syscall.SIGTERM, false, "stop", "caught SIGTERM, shutting down"},
		{syscall.SIGINT, true, "stop", "caught SIGINT, shutting down"},
		{syscall.SIGWINCH, false, "graceful 7s", "caught SIGWINCH, shutting down gracefully"},
		{syscall.SIGWINCH, true, "", ""},
		{syscall.SIGHUP, false, "", "this jkd cannot be reloaded"},
		{syscall.SIGUSR1, false, "", "this jkd cannot be reloaded"},
	} {
		var log strings.Builder
		m := New(Options{GracefulShutdownTimeout: 7 * time.Second, Logger: zerolog.New(&log)})
		m.terminal = c.terminal
		m.pid = &pidFile{}
		var f fakeStopper
		m.obey(c.s, &f)
		if got := strings.Join(f.calls, ","); got != c.call {
			t.Errorf("%s: %q, want %q", c.s, got, c.call)
		}
		if !strings.Contains(log.String(), c.log) || c.log == "" && log.Len() > 0 {
			t.Errorf("%s: log %s", c.s, log.String())
		}
	}
}

func TestProgram(t *testing.T) {
	if program("/usr/sbin/jkd (deleted)") != "jkd" || program("/x/jkd") != "jkd" {
		t.Error("program names differ")
	}
}

// TestReloadAnswer: who has asked for a reload that went well hears that, even if
// the end of this generation is there too.
func TestReloadAnswer(t *testing.T) {
	for range 100 {
		m := New(Options{Logger: zerolog.Nop()})
		stop := make(chan struct{})
		go func() {
			r := <-m.reload.askC
			r.done(nil)
			close(stop)
		}()
		if err := m.Reload(false, stop); err != nil {
			t.Fatal(err)
		}
	}
}

// TestObeyGracefulTwice: who asks again does not want to wait any longer.
func TestObeyGracefulTwice(t *testing.T) {
	m := New(Options{GracefulShutdownTimeout: time.Minute, Logger: zerolog.Nop()})
	m.pid = &pidFile{}
	var f fakeStopper
	m.obey(syscall.SIGWINCH, &f)
	m.obey(syscall.SIGWINCH, &f)
	if want := []string{"graceful 1m0s", "stop"}; !slices.Equal(f.calls, want) {
		t.Errorf("calls %q, want %q", f.calls, want)
	}
}

func TestBackgroundStop(t *testing.T) {
	waits := func(stop <-chan struct{}) { <-stop }
	if left := startBackground(nil).stop(patience); left != 0 {
		t.Errorf("%d of none are left", left)
	}
	b := startBackground([]func(<-chan struct{}){waits, func(<-chan struct{}) {}, waits})
	if left := b.stop(patience); left != 0 {
		t.Errorf("%d are left", left)
	}
	endC := make(chan struct{})
	defer close(endC)
	b = startBackground([]func(<-chan struct{}){func(<-chan struct{}) { <-endC }})
	if left := b.stop(time.Millisecond); left != 1 {
		t.Errorf("%d are left, one does not end", left)
	}
}
