package jk2

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/connectortest"
	"jkd/connector/jk2/board"
)

// worker finds a worker of a configuration.
func (c *Config) workerNamed(name string) *Worker {
	for i := range c.Workers {
		if c.Workers[i].Name == name {
			return &c.Workers[i]
		}
	}
	return nil
}

// What a reload makes of a text (1.7): a component is read again if its ver
// differs, a new one is there, a missing one stays.
func TestReload(t *testing.T) {
	const before = "[channel.socket:a:1]\nlb_factor=1\n[channel.socket:b:2]\nver=1\nlb_factor=1\n[uri:/x]\ngroup=ajp13:a:1\n"
	for _, tt := range []struct {
		name, after, a, b string
		uris              int
	}{
		{"the same", before, "1", "1", 1},
		{"no ver", strings.ReplaceAll(before, "lb_factor=1", "lb_factor=5"), "1", "1", 1},
		{"another ver", strings.ReplaceAll(strings.Replace(before, "ver=1", "ver=2", 1), "lb_factor=1", "lb_factor=5"), "1", "5", 1},
		{"a lower ver", strings.ReplaceAll(strings.Replace(before, "ver=1", "ver=0", 1), "lb_factor=1", "lb_factor=5"), "1", "5", 1},
		{"removed", "[channel.socket:b:2]\nver=1\nlb_factor=7\n", "1", "1", 1},
		{"a new uri", before + "[uri:/y/*]\n", "1", "1", 2},
	} {
		s := setup(t, before)
		next, _, err := s.Reload([]byte(tt.after))
		if err != nil {
			t.Fatal(tt.name, err)
		}
		a, b := next.Config.workerNamed("ajp13:a:1"), next.Config.workerNamed("ajp13:b:2")
		if a == nil || b == nil || fmt.Sprint(a.LBFactor) != tt.a || fmt.Sprint(b.LBFactor) != tt.b || len(next.Config.Uris) != tt.uris {
			t.Errorf("%s: %+v, %+v, %d uris", tt.name, a, b, len(next.Config.Uris))
		}
		if again, _, err := next.Reload([]byte(tt.after)); err != nil || len(again.Config.Workers) != len(next.Config.Workers) {
			t.Errorf("%s: the same again: %v", tt.name, err)
		}
	}
	s := setup(t, before)
	if next, _, err := s.Reload([]byte("[channel.sockt:x:1]\n")); err == nil || next != nil {
		t.Error("a text with a fault is taken")
	}
	next, err := s.with([]Edit{{"ajp13:a:1", "lb_factor", "9"}})
	if err != nil || next.Config.workerNamed("ajp13:a:1").LBFactor != 9 {
		t.Error("an edit is not obeyed:", err)
	}
	if next, err = next.with(nil); err != nil || next.Config.workerNamed("ajp13:a:1").LBFactor != 1 {
		t.Error("an edit outlives its end:", err)
	}
}

// newBoard is a board in memory of the test's own.
func newBoard(t testing.TB, servers int) *board.Board {
	t.Helper()
	size, err := board.Size(servers, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, size/8)
	b, err := board.Format(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), servers, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ask wants an answer by the container that says of itself who it is.
func ask(t *testing.T, c *Connector, path string) string {
	t.Helper()
	w := c.Match(connectortest.Request("GET", path, ""))
	if w == nil {
		return "not mapped"
	}
	a := &connectortest.Answer{}
	if err := w.Service(connectortest.Request("GET", path, ""), a); err != nil {
		var e *connector.Error
		errors.As(err, &e)
		return fmt.Sprint(e.Status)
	}
	return string(a.Body)
}

// A file that is edited reaches all processes; one that is broken reaches
// none.
func TestReloadReachesAll(t *testing.T) {
	answer := func(name string) *ajptest.Container {
		return ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, name) })
	}
	one, two := answer("one"), answer("two")
	text := func(c *ajptest.Container, ver int, more string) string {
		return fmt.Sprintf("[channel.socket:x:1]\nver=%d\nhost=127.0.0.1\nport=%d\n[uri:/x/*]\n%s", ver, c.Port(), more)
	}
	path := filepath.Join(t.TempDir(), "workers2.properties")
	stamp := time.Now().Add(-time.Hour)
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		stamp = stamp.Add(time.Second)
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	write(text(one, 0, ""))
	data, _ := os.ReadFile(path)
	s, _, err := (&Setup{File: path}).Reload(data)
	if err != nil {
		t.Fatal(err)
	}
	b := newBoard(t, 3)
	var log bytes.Buffer
	r := &Reloader{Setup: s, Board: b, Logger: zerolog.New(&log)}
	r.begin()
	var procs []*Connector
	start := func(server int) {
		procs = append(procs, New(s, Options{Dial: connectortest.Dialers(1), WriteTimeout: long, Server: server, Board: b, Logger: zerolog.Nop()}))
		t.Cleanup(func() { procs[server].Close() })
	}
	start(0)
	start(1)
	all := func(path, want string) {
		t.Helper()
		for i, c := range procs {
			if got := ask(t, c, path); got != want {
				t.Errorf("process %d, %s: %s, want %s", i, path, got, want)
			}
		}
	}
	all("/x/", "one")
	write(text(two, 0, "[uri:/y/*]\n"))
	all("/y/", "not mapped") // nobody has asked
	b.Ask()
	r.turn()
	if b.Answered() != b.Asked() {
		t.Error("not answered")
	}
	all("/x/", "one") // the same ver
	all("/y/", "one")
	write(text(two, 1, ""))
	b.Ask()
	r.turn()
	all("/x/", "two")
	all("/y/", "two") // what is removed stays
	for _, broken := range []string{text(one, 2, "[chanel.socket:y:1]\n"), text(one, 2, "[uri:/z]\ngroup=ajp13:nobody\n")} {
		log.Reset()
		write(broken)
		b.Ask()
		r.turn()
		all("/x/", "two")
		if l := log.String(); !strings.Contains(l, "workers2.properties:") || !strings.Contains(l, "the old configuration stays") {
			t.Errorf("log: %s", l)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.Ask()
	r.turn()
	all("/x/", "two")
	write(text(one, 3, ""))
	b.Ask()
	r.turn()
	start(2) // one that is started later begins with the text of now
	all("/x/", "one")
	all("/y/", "one")
}

// An edit holds where it was made, and everywhere with ver.
func TestEditReachesAll(t *testing.T) {
	c := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "here") })
	s := setup(t, fmt.Sprintf("[channel.socket:127.0.0.1:%d]\n[uri:/x/*]\n", c.Port()))
	name := fmt.Sprintf("ajp13:127.0.0.1:%d", c.Port())
	b := newBoard(t, 2)
	var procs []*Connector
	for i := range 2 {
		procs = append(procs, New(s, Options{Dial: connectortest.Dialers(1), WriteTimeout: long, Server: i, Board: b, Logger: zerolog.Nop()}))
		t.Cleanup(func() { procs[i].Close() })
	}
	want := func(a, b string) {
		t.Helper()
		for i, w := range []string{a, b} {
			if got := ask(t, procs[i], "/x/"); got != w {
				t.Errorf("process %d: %s, want %s", i, got, w)
			}
		}
	}
	want("here", "here")
	edit := func(text string) {
		t.Helper()
		e, err := ParseEdit(text)
		if err == nil {
			err = procs[0].edit(e)
		}
		if err != nil {
			t.Fatal(text, err)
		}
	}
	edit(name + "|disabled|1")
	want("503", "here")
	edit(name + "|ver|1")
	want("503", "503")
	edit(name + "|disabled|0")
	want("here", "503")
	edit(name + "|ver|2")
	want("here", "here")
	for _, bad := range []string{"ajp13:nobody|disabled|1", "uri:/x/*|group|ajp13:nobody", name + "|nope|1", name + "|epCount|1", name + "|lb_factor|many"} {
		e, err := ParseEdit(bad)
		if err == nil {
			err = procs[0].edit(e)
		}
		if err == nil {
			t.Errorf("%s: taken", bad)
		}
	}
	want("here", "here")
}

// max_connections is of a process and refuses at once, without an error of the
// worker.
func TestMaxConnections(t *testing.T) {
	for _, group := range []string{"lb:lb", "ajp13:127.0.0.1:%d"} {
		gate := make(chan struct{})
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			if e.Request.URI == "/slow" {
				select {
				case <-gate:
				case <-e.Container().Done():
				}
			}
			e.Respond(200, "here")
		})
		if group != "lb:lb" {
			group = fmt.Sprintf(group, c.Port())
		}
		var log bytes.Buffer
		s := setup(t, fmt.Sprintf("[channel.socket:127.0.0.1:%d]\nmax_connections=2\n[uri:/*]\ngroup=%s\n", c.Port(), group))
		k := New(s, Options{Dial: connectortest.Dialers(8), WriteTimeout: long, Logger: zerolog.New(&log)})
		seen := c.Requests()
		done := make(chan string)
		for range 2 {
			go func() { done <- ask(t, k, "/slow") }()
		}
		if !c.WaitRequests(seen+2, long) {
			t.Fatal("the slow requests did not come")
		}
		for range 8 {
			if got := ask(t, k, "/fast"); got != "503" {
				t.Errorf("%s: %s beyond the limit", group, got)
			}
		}
		close(gate)
		for range 2 {
			if got := <-done; got != "here" {
				t.Errorf("%s: %s within the limit", group, got)
			}
		}
		if got := ask(t, k, "/fast"); got != "here" {
			t.Errorf("%s: %s afterwards: the worker is in error", group, got)
		}
		if l := log.String(); strings.Count(l, `"max_connections":2`) != 8 {
			t.Errorf("%s: log: %s", group, l)
		}
		k.Close()
	}
}

// channel.un is a Unix socket.
func TestUnixChannel(t *testing.T) {
	c := ajptest.NewUnix(t, func(e *ajptest.Exchange) { e.Respond(200, "by the socket") })
	for _, threads := range []int{1, 8} {
		k := New(setup(t, fmt.Sprintf("[channel.un:%s]\n[uri:/*]\n", c.Addr())), Options{Dial: connectortest.Dialers(threads), WriteTimeout: long, Logger: zerolog.Nop()})
		for range 3 {
			if got := ask(t, k, "/"); got != "by the socket" {
				t.Errorf("%d threads: %s", threads, got)
			}
		}
		k.Close()
	}
	if n := c.Accepted(); n != 2 {
		t.Errorf("%d connections for two connectors", n)
	}
}

// TestSettled: a file that is about to be written is left alone, not one whose
// time is far ahead.
func TestSettled(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for ago, want := range map[time.Duration]bool{
		0: false, settle - 1: false, settle: true, time.Hour: true,
		1 - settle: false, -settle: true, -time.Hour: true, // the clock was set back
	} {
		if got := settled(now.Add(-ago).UnixNano(), now); got != want {
			t.Errorf("%s ago: %t", ago, got)
		}
	}
	if !settled(0, now) || !settled(1<<62, now) {
		t.Error("a time far away keeps the file from being read")
	}
}
