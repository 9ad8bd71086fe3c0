//go:build unix

package control

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/status"
	"jkd/connector/counters"
	"jkd/mpm/sock"
	"jkd/scoreboard"
)

// patience ends what hangs; it judges nothing.
const patience = time.Minute

// fake is a Source.
type fake struct{ status *status.Status }

func (f fake) Snapshot() *status.Status { return f.status }

func sample() *status.Status {
	return &status.Status{
		Server: status.Server{Name: "www.example.test", Version: "jkd/1.0 (linux)", MPM: "worker", Generation: 3,
			Now: time.Unix(2000, 5).UTC(), Restart: time.Unix(1000, 0).UTC(), Load: [3]float64{0.5, 1, 2}, Extended: true, MasterPID: 77},
		Totals:    status.Totals{Accesses: 1 << 63, Bytes: 9, Duration: time.Hour, CPU: scoreboard.Times{User: 5}, Busy: 1, Idle: 2},
		Children:  []status.Child{{Server: 1, PID: 5, Caches: []status.Cache{{Worker: "w", Cache: counters.Cache{Hits: 4, Oldest: time.Unix(1, 0).UTC()}}}}},
		Slots:     []status.Slot{{Server: 1, Thread: 2, Status: scoreboard.BusyWrite, Request: "GET /a?\"<\x1b HTTP/1.1"}},
		Workers:   []status.Worker{{Name: "w", Connector: "jk", Totals: counters.Totals{Requests: [counters.NumClasses]uint64{0, 3}}}},
		Balancers: []status.Balancer{{Name: "lb", Members: []status.Member{{Name: "m", State: "ERR", Sick: true}}}},
		Events:    status.Events{Starts: 4, Deaths: []status.Death{{Reason: "ok", Count: 1}}},
		History:   []counters.Second{{Unix: 5, Requests: 6}},
	}
}

// running is a Server in this process.
type running struct {
	*Server
	path  string
	stops chan bool // what Stop was called with
	end   func()    // Run has returned
}

func run(t *testing.T) *running {
	t.Helper()
	r := &running{path: filepath.Join(t.TempDir(), "jkd.ctl"), stops: make(chan bool, 2*maxWaiters)}
	l, err := Listen(r.path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Publish(); err != nil {
		t.Fatal(err)
	}
	r.Server = &Server{Listener: l, Build: 0xabc, Source: fake{sample()}, Logger: zerolog.Nop(),
		Stop: func(graceful bool) error { r.stops <- graceful; return nil }}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); r.Run(stop) }()
	r.end = sync.OnceFunc(func() { close(stop); <-done })
	t.Cleanup(func() { r.end(); r.exit() })
	return r
}

// exit is the end of the process, as far as clients can see it.
func (r *running) exit() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fd := range r.waiters {
		_ = syscall.Close(fd)
	}
	r.waiters = nil
}

func (r *running) client() *Client { return &Client{Path: r.path, Patience: patience} }

func TestStatus(t *testing.T) {
	r := run(t)
	for range 3 {
		s, reply, err := r.client().Status()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s, sample()) {
			t.Errorf("got %+v", s)
		}
		if want := (Reply{PID: os.Getpid(), Build: 0xabc}); reply != want {
			t.Errorf("reply %+v, want %+v", reply, want)
		}
	}
	info, err := os.Lstat(r.path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket is %v, %v", info.Mode(), err)
	}
	r.end()
	if _, err := os.Lstat(r.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := r.client().PID(); !errors.Is(err, ErrNotRunning) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
}

func TestStop(t *testing.T) {
	for _, graceful := range []bool{false, true} {
		r := run(t)
		began, done := make(chan Reply, 1), make(chan error, 1)
		go func() {
			_, err := r.client().Stop(graceful, func(r Reply) { began <- r })
			done <- err
		}()
		if got := <-r.stops; got != graceful {
			t.Errorf("told graceful %v, want %v", got, graceful)
		}
		if reply := <-began; reply.PID != os.Getpid() {
			t.Errorf("began: %+v", reply)
		}
		r.end()
		select {
		case err := <-done:
			t.Errorf("Stop returned before the process is gone: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		r.exit()
		if err := <-done; err != nil {
			t.Errorf("Stop: %v", err)
		}
	}
}

// TestReloadEnds: the generation that was replaced ends, not before it has
// answered.
func TestReloadEnds(t *testing.T) {
	r := run(t)
	ended := make(chan struct{})
	r.Reload = func(_ bool, stop <-chan struct{}) error {
		go func() { defer close(ended); r.end() }()
		<-stop
		return nil
	}
	if got, err := r.client().Reload(false); err != nil || got.PID != os.Getpid() {
		t.Errorf("%+v, %v", got, err)
	}
	<-ended
}

// TestStopPatience: the client leaves, the stop goes on.
func TestStopPatience(t *testing.T) {
	r := run(t)
	if _, err := (&Client{Path: r.path, Patience: 50 * time.Millisecond}).Stop(true, nil); !errors.Is(err, ErrPatience) &&
		!strings.Contains(fmt.Sprint(err), "does not answer") {
		t.Errorf("Stop: %v", err)
	}
	if got := <-r.stops; !got {
		t.Error("not graceful")
	}
}

// TestWaiters: more clients than may wait stop the server all the same.
func TestWaiters(t *testing.T) {
	r := run(t)
	for i := range maxWaiters + 2 {
		c, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		line := talk(t, c, "stop\n")
		if want := "ok "; i < maxWaiters && !strings.HasPrefix(line, want) || i >= maxWaiters && !strings.HasPrefix(line, "error it is stopping") {
			t.Errorf("client %d: %q", i, line)
		}
		<-r.stops
	}
}

func TestStopFails(t *testing.T) {
	r := run(t)
	r.Server.Stop = func(bool) error { return syscall.EPERM }
	if _, err := r.client().Stop(false, nil); err == nil || !strings.Contains(err.Error(), "could not stop") {
		t.Errorf("%v", err)
	}
}

// talk sends and reads the first line.
func talk(t *testing.T, c net.Conn, text string) string {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	var b [512]byte
	n, err := c.Read(b[:])
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestBadClients(t *testing.T) {
	r := run(t)
	for _, tt := range []struct{ send, want string }{
		{"pid\n", fmt.Sprintf("ok 0000000000000abc %d\n", os.Getpid())},
		{"\n", `error unknown command ""` + "\n"},
		{"STATUS\n", `error unknown command "STATUS"` + "\n"},
		{"status \n", `error unknown command "status "` + "\n"},
		{"stop\r\n", `error unknown command "stop\r"` + "\n"},
		{"\x00\xff\x1b[2J\n", `error unknown command "\x00\xff\x1b[2J"` + "\n"},
		{"pid\nstop\n", "error " + errLine.Error() + "\n"},
		{strings.Repeat("a", 100) + "\n", `error unknown command "` + strings.Repeat("a", 40) + "\"\n"},
		{strings.Repeat("a", maxLine) + "\n", `error unknown command "` + strings.Repeat("a", 40) + "\"\n"},
		{strings.Repeat("a", maxLine+1), "error " + errLine.Error() + "\n"},
	} {
		c, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := talk(t, c, tt.send); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.send, got, tt.want)
		}
		c.Close()
	}
	// Those that say nothing, or half of something, and go.
	for range 3 * maxClients {
		c, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "stat")
		c.Close()
	}
	if _, _, err := r.client().Status(); err != nil {
		t.Error(err)
	}
	if len(r.stops) > 0 {
		t.Error("something stopped the server")
	}
}

// TestEndWithClients: clients that say nothing do not hold up the end.
func TestEndWithClients(t *testing.T) {
	r := run(t)
	for range 2 * maxClients {
		c, err := net.Dial("unix", r.path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	r.end()
}

func TestListen(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }

	// A socket whose owner is gone.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("stale"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	if _, err := (&Client{Path: at("stale")}).PID(); !errors.Is(err, ErrNotRunning) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("asking a stale socket: %v", err)
	}
	l, err := Listen(at("stale"), 0)
	if err != nil {
		t.Fatalf("over a stale socket: %v", err)
	}
	l.Close()
	l.Close()

	if err := os.WriteFile(at("file"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("elsewhere"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, want string }{
		{at("file"), "not a socket"},
		{at("link"), "not a socket"},
		{at("no/jkd.ctl"), "no such file or directory"},
		{at(strings.Repeat("x", sock.MaxUnixPath)), "more than 103 bytes"},
	} {
		if l, err := Listen(tt.path, 0); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v", tt.path, l, err)
		}
	}
	if b, err := os.ReadFile(at("file")); string(b) != "mine" {
		t.Errorf("the file is now %q, %v", b, err)
	}
	if names, _ := filepath.Glob(at("*ctl.*")); len(names) > 0 {
		t.Errorf("left behind: %q", names)
	}
}

// TestListenLiving: a living master's socket is left alone, but for the next
// generation, after which the old one's end does not take it away.
func TestListenLiving(t *testing.T) {
	r := run(t)
	for _, other := range []int{0, os.Getpid() + 1} {
		if _, err := Listen(r.path, other); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d listens there already", os.Getpid())) {
			t.Errorf("%v", err)
		}
	}
	if _, err := r.client().PID(); err != nil {
		t.Errorf("the living one was harmed: %v", err)
	}
	next, err := Listen(r.path, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Publish(); err != nil {
		t.Fatal(err)
	}
	r.end()
	if _, err := os.Lstat(r.path); err != nil {
		t.Errorf("the old one took the new one's socket away: %v", err)
	}
	next.Close()
	if _, err := os.Lstat(r.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}

// TestStrangers: what is not jkd is noticed.
func TestStrangers(t *testing.T) {
	for _, tt := range []struct{ answer, want string }{
		{"", "gave no answer"},
		{"hello\n", "does not speak as jkd does"},
		{"ok\n", "does not speak as jkd does"},
		{"ok zz 1\n", "does not speak as jkd does"},
		{"error so sorry\n", "so sorry"},
		{strings.Repeat("a", 10000), "gave no answer"},
		{"ok 0 1\n{\"Server\":", "not readable"},
		{"ok 0 1\n[]", "not readable"},
	} {
		path := filepath.Join(t.TempDir(), "s")
		ln, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = readLine(c)
			_, _ = io.WriteString(c, tt.answer)
		}()
		if _, _, err := (&Client{Path: path, Patience: patience}).Status(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20q: %v, want %q", tt.answer, err, tt.want)
		}
		ln.Close()
	}
	// One that hangs.
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := (&Client{Path: path, Patience: 50 * time.Millisecond}).PID(); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v", err)
	}
}
