//go:build unix

package main_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
)

// fieldCase is a fault that people met with one front end or another, played
// through the whole program: a raw client at one end, a scripted container at
// the other. Its paths begin with "/" and its name, and are served by a worker
// of that name.
type fieldCase struct {
	name   string
	lines  []string // directives of the worker
	mounts []string // more values of JkMount
	more   func(port int) string
	server []string // more lines of [server]
	jk     []string // virtual hosts
	script func(f *field, e *ajptest.Exchange)
	test   func(f *field)
}

// field is a case in progress.
type field struct {
	*server
	name string
	back *ajptest.Container

	mu   sync.Mutex
	seen []*ajptest.Request
	said []string // what the script has to report
}

// TestField plays the cases, all of them against one jkd of each MPM.
func TestField(t *testing.T) {
	bin := binary(t)
	var cases []fieldCase
	for _, group := range [][]fieldCase{fieldRequests, fieldBodies, fieldAnswers} {
		cases = append(cases, group...)
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		c := config{mpm: mpm, server: []string{"LimitRequestFieldSize = 16000", "LimitRequestBody = 0"}, limits: []string{"MaxRequestWorkers = 16"}}
		if mpm == "worker" {
			c.limits = append(c.limits, "ThreadsPerChild = 16", "StartServers = 1")
		}
		workers := "worker.list="
		fields := make([]*field, len(cases))
		for i, fc := range cases {
			f := &field{name: fc.name}
			fields[i] = f
			f.back = ajptest.NewOptions(t, "tcp", ajptest.Options{OnError: func(error) {}}, func(e *ajptest.Exchange) {
				f.mu.Lock()
				f.seen = append(f.seen, e.Request)
				f.mu.Unlock()
				if fc.script == nil {
					_ = e.Respond(200, "hello")
					return
				}
				fc.script(f, e)
			})
			workers += fc.name + ","
			c.workers += fmt.Sprintf("worker.%s.host=127.0.0.1\nworker.%[1]s.port=%d\n", fc.name, f.back.Port())
			for _, l := range fc.lines {
				c.workers += "worker." + fc.name + "." + l + "\n"
			}
			if fc.more != nil {
				c.workers += fc.more(f.back.Port())
			}
			c.mounts = append(append(c.mounts, "/"+fc.name+"/* "+fc.name), fc.mounts...)
			c.server = append(c.server, fc.server...)
			c.jk = append(c.jk, fc.jk...)
		}
		c.workers = workers + "\n" + c.workers
		s := start(t, bin, c)
		for i, fc := range cases {
			t.Run(fc.name, func(t *testing.T) {
				outer := s.t
				s.t = t
				defer func() { s.t = outer }()
				fields[i].server = s
				fc.test(fields[i])
			})
		}
	})
}

// requests are those that reached the container so far, n at least.
func (f *field) requests(n int) []*ajptest.Request {
	f.t.Helper()
	if n > 0 && !f.back.WaitRequests(n, patience) {
		f.t.Fatalf("fewer than %d requests reached the container", n)
	}
	var out []*ajptest.Request
	f.eventually("requests kept", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		out = append(out[:0], f.seen...)
		return len(out) >= n
	})
	return out
}

// report is for the script to say something to the test.
func (f *field) report(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

// reports are what the script has said, n times at least.
func (f *field) reports(n int) []string {
	f.t.Helper()
	var out []string
	f.eventually(fmt.Sprint(n, " reports"), func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		out = append(out[:0], f.said...)
		return len(out) >= n
	})
	return out
}

// raw sends text on a connection of its own.
func (f *field) raw(text string) *conn {
	f.t.Helper()
	c := dial(f.t, f.addr)
	c.write(f.t, text)
	return c
}

func (c *conn) write(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// reply is an answer that has been read, and how that ended.
type reply struct {
	*http.Response
	body string
	err  error
}

// reply reads an answer.
func (c *conn) reply(t *testing.T, method string) reply {
	t.Helper()
	r, err := c.response(method)
	if err != nil {
		t.Fatalf("no answer to %s: %v", method, err)
	}
	b, err := io.ReadAll(r.Body)
	return reply{r, string(b), err}
}

// want reads an answer that must be whole and have the status.
func (c *conn) want(t *testing.T, status int) reply {
	t.Helper()
	r := c.reply(t, "GET")
	if r.StatusCode != status || r.err != nil {
		t.Fatalf("status %d, want %d; body %q, %v", r.StatusCode, status, r.body, r.err)
	}
	return r
}

// ended tells what comes until the connection ends.
func (c *conn) ended() string {
	b, _ := io.ReadAll(c.r)
	return string(b)
}

// ask sends one request that must be answered with the status, on a connection
// of its own.
func (f *field) ask(status int, head string) reply {
	f.t.Helper()
	return f.raw(head+"\r\nConnection: close\r\n\r\n").want(f.t, status)
}

// logs waits for a line of the error log that has all of the words.
func (f *field) logs(words ...string) {
	f.t.Helper()
	f.eventually(fmt.Sprintf("a log line with %q", words), func() bool {
		for l := range strings.Lines(f.log()) {
			all := true
			for _, w := range words {
				all = all && strings.Contains(l, w)
			}
			if all {
				return true
			}
		}
		return false
	})
}

// reset closes a connection so that the peer gets an error.
func (c *conn) reset() {
	if l, ok := c.Conn.(interface{ SetLinger(int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}

// quiet checks that nothing more arrives while something else is waited for.
func (c *conn) quiet(t *testing.T) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if b, err := c.r.ReadByte(); err == nil || !os.IsTimeout(err) {
		t.Errorf("got %q, %v", b, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
