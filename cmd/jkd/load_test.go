//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// ab is the benchmark that both deployments were accepted with.
func (f *front) ab(t *testing.T) {
	tomcattest.Require(t, "ab")
	for _, args := range [][]string{{"-k"}, nil} {
		args := append(args, "-q", "-s", "120", "-c", "50", "-n", "10000", f.url("/examples/servlets/servlet/HelloWorldExample"))
		out, err := exec.Command("ab", args...).CombinedOutput()
		if err != nil {
			t.Errorf("ab %q: %v\n%s", args, err, out)
			continue
		}
		for name, want := range map[string]string{
			"Complete requests":   "10000",
			"Failed requests":     "0",
			"Write errors":        "", // lines that are printed only if there are any
			"Non-2xx responses":   "",
			"Total transferred":   "*",
			"Requests per second": "*",
		} {
			var got string
			if m := regexp.MustCompile(name + `:\s+(\S+)`).FindSubmatch(out); m != nil {
				got = string(m[1])
			}
			if want == "*" {
				t.Logf("ab %s: %s %s", args[0], name, got)
			} else if got != want {
				t.Errorf("ab %q: %s: %q, want %q\n%s", args, name, got, want, out)
			}
		}
	}
}

// TestKilledChild kills children with -9: while they hold requests whose end
// the test decides, and under load. Only what the killed one was serving may
// be lost.
func TestKilledChild(t *testing.T) {
	tomcat := tomcattest.StartT(t, tomcattest.Options{HTTP: true})
	direct := "http://" + tomcat.HTTPAddr()
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		c := config{
			mpm:     mpm,
			workers: properties(tomcat.AJPAddr(), nil),
			mounts:  []string{"/test/* tomcat"},
			server:  []string{"MaxKeepAliveRequests = 0"},
		}
		// perChild is how many connections one child serves.
		perChild := 1
		if mpm == "prefork" {
			c.limits = []string{"StartServers = 8", "MinSpareServers = 1", "MaxSpareServers = 8", "MaxRequestWorkers = 8"}
		} else {
			perChild = 4
			c.limits = []string{"StartServers = 2", "ThreadsPerChild = 4", "MinSpareThreads = 1", "MaxSpareThreads = 8", "MaxRequestWorkers = 8"}
		}
		s := start(t, bin, c)
		t.Run("holding", func(t *testing.T) { holding(t, s, direct, perChild) })
		t.Run("load", func(t *testing.T) { underLoad(t, s, perChild) })
	})
}

// holding fills all places with requests that have sent a part of their
// answer, kills one child and lets the others finish.
func holding(t *testing.T, s *server, direct string, perChild int) {
	const clients = 8
	id := "holding-" + fmt.Sprint(s.pid())
	conns := make([]*conn, clients)
	for i := range conns {
		conns[i] = dial(t, s.addr)
		if err := conns[i].send("GET /test/sse.jsp?n=2&id=" + id); err != nil {
			t.Fatal(err)
		}
	}
	bodies := make([]io.Reader, clients)
	for i, c := range conns {
		r, err := c.response("GET")
		if err != nil {
			t.Fatal(err)
		}
		bodies[i] = r.Body
		first := make([]byte, len("data: 1\n\n"))
		if _, err := io.ReadFull(r.Body, first); err != nil || string(first) != "data: 1\n\n" {
			t.Fatalf("first event: %q, %v", first, err)
		}
	}
	kids := s.children()
	if err := syscall.Kill(kids[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.gone(kids[:1])
	for range clients {
		fetch(t, "GET", direct+"/test/release.jsp?id="+id)
	}
	var lost, served int
	for i, b := range bodies {
		rest, err := io.ReadAll(b)
		switch {
		case err == nil && string(rest) == "data: 2\n\n":
			served++
		case err != nil && len(rest) == 0:
			lost++ // and the client can tell: the answer has no proper end
		default:
			t.Errorf("client %d: %q, %v", i, rest, err)
		}
	}
	if lost != perChild || served != clients-perChild {
		t.Errorf("%d requests lost and %d served, want %d and %d", lost, served, perChild, clients-perChild)
	}
	// Replaced, and serving: the place of the dead is taken again.
	s.eventually("a new child", func() bool { return len(s.children()) >= len(kids) })
	if status, body, err := dial(t, s.addr).get("/test/hello.jsp"); status != 200 {
		t.Errorf("afterwards: %d %q %v", status, body, err)
	}
}

// underLoad kills one child after another while clients send one request
// after another, without any retries.
func underLoad(t *testing.T, s *server, perChild int) {
	const (
		clients = 6
		kills   = 5
	)
	var (
		served, lost, refused atomic.Int64
		stopC                 = make(chan struct{})
		wg                    sync.WaitGroup
	)
	for range clients {
		wg.Go(func() {
			var c *conn
			for {
				select {
				case <-stopC:
					if c != nil {
						c.Close()
					}
					return
				default:
				}
				if c == nil {
					var err error
					if c, err = dialErr(s.addr); err != nil {
						refused.Add(1)
						t.Errorf("connect: %v", err)
						return
					}
				}
				status, body, err := c.get("/test/hello.jsp")
				switch {
				case err == nil && status == 200 && body == "Hello from the container":
					served.Add(1)
				case err == nil:
					t.Errorf("status %d, %q", status, body)
					return
				default:
					lost.Add(1)
					c.Close()
					c = nil
				}
			}
		})
	}
	for range kills {
		// Only under load: a good number of requests between two deaths.
		target := served.Load() + 500
		s.eventually("requests served", func() bool { return served.Load() >= target || t.Failed() })
		before := s.children()
		victim := before[int(served.Load())%len(before)]
		if err := syscall.Kill(victim, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		s.gone([]int{victim})
		s.eventually("a child in its place", func() bool {
			now := s.children()
			return slices.ContainsFunc(now, func(pid int) bool { return !slices.Contains(before, pid) }) || len(now) >= perChild && len(now) >= clients
		})
	}
	target := served.Load() + 500
	s.eventually("requests served", func() bool { return served.Load() >= target || t.Failed() })
	close(stopC)
	wg.Wait()
	t.Logf("%d requests served, %d lost with %d children", served.Load(), lost.Load(), kills)
	if max := int64(kills * min(perChild, clients)); lost.Load() > max {
		t.Errorf("%d requests lost with %d children, want at most %d", lost.Load(), kills, max)
	}
	if strings.Contains(s.log(), "panic") {
		t.Error("a panic in the error log")
	}
}
