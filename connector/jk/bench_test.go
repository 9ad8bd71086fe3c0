package jk

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// quickContainer answers every packet of a request with the same bytes and
// allocates nothing in doing so.
func quickContainer(t testing.TB, reply []byte) (port int) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				buf := make([]byte, 16<<10)
				for {
					// Requests here are smaller than a segment.
					if _, err := nc.Read(buf); err != nil {
						return
					}
					if _, err := nc.Write(reply); err != nil {
						return
					}
				}
			}()
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port
}

// sink takes an answer without keeping it.
type sink struct {
	started  bool
	buffered int
}

func (s *sink) Start(int, []connector.Field) error { s.started = true; return nil }
func (s *sink) Append(p []byte) error              { s.buffered += len(p); return nil }
func (s *sink) Buffered() int                      { return s.buffered }
func (s *sink) Flush() error                       { s.buffered = 0; return nil }
func (s *sink) Finish() error                      { s.buffered = 0; return nil }
func (s *sink) Started() bool                      { return s.started }

var helloReply = bytes.Join([][]byte{
	ajptest.SendHeaders(200, "200", ajptest.H("Content-Type", "text/html;charset=UTF-8"), ajptest.H("Content-Length", "387")),
	ajptest.Chunk(bytes.Repeat([]byte("x"), 387)), ajptest.End(true),
}, nil)

// service is what one request costs, given the directives.
func service(t testing.TB, dial DialFunc, q *connector.Request, lines ...string) (serve func()) {
	r := rigAt(t, dial, 1, "127.0.0.1", quickContainer(t, helloReply), lines...)
	r.w.dial = dial // nothing counts here
	t.Cleanup(func() { r.c.Close(); r.nets = nets{} })
	w, s := r.c.Match(q), &sink{}
	body, _ := q.Body.(*strings.Reader)
	return func() {
		s.started = false
		body.Seek(0, io.SeekStart)
		if err := w.Service(q, s); err != nil {
			t.Error(err)
		}
	}
}

func TestServiceAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	for _, k := range dialKinds {
		for name, q := range map[string]*connector.Request{
			"GET": request("GET", "/examples/servlet/HelloWorldExample", ""), "POST": request("POST", "/", "a=1&b=2"),
		} {
			for _, lines := range [][]string{
				nil, {"connection_pool_size=5", "connection_pool_timeout=600"}, {"cache_timeout=60", "reply_timeout=60000", "secret=x"},
				{"socket_timeout=60"},
			} {
				serve := service(t, k.dial, q, lines...)
				serve()
				// Few: on the one processor that this leaves, a blocking read
				// keeps the other side waiting for its full time.
				if n := testing.AllocsPerRun(30, serve); n != 0 {
					t.Errorf("%s, %s, %q: %v allocations", k.name, name, lines, n)
				}
			}
		}
	}
}

func BenchmarkService(b *testing.B) {
	for _, k := range dialKinds {
		b.Run(k.name, func(b *testing.B) {
			serve := service(b, k.dial, request("GET", "/examples/servlet/HelloWorldExample", ""))
			serve()
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}

// balanced is what one request to a balancer of two costs.
func balanced(t testing.TB, q *connector.Request, lines string) (serve func()) {
	text := "worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=n1,n2\n"
	for _, n := range []string{"n1", "n2"} {
		text += fmt.Sprintf("worker.%s.host=127.0.0.1\nworker.%s.port=%d\n", n, n, quickContainer(t, helloReply))
	}
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(text + lines)})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile("/*=lb\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{Threads: 1, Dial: dialKinds[0].dial, Logger: zerolog.Nop()})
	t.Cleanup(func() { c.Close() })
	w, s := c.Match(q), &sink{}
	serve = func() {
		s.started = false
		if err := w.Service(q, s); err != nil {
			t.Error(err)
		}
	}
	serve() // one connects
	serve() // and the other
	return serve
}

var balancedCases = []struct{ name, cookie, lines string }{
	{"new", "", ""},
	{"sticky", "JSESSIONID=0123456789ABCDEF.n2", ""},
	{"busyness", "", "worker.lb.method=B\n"},
	{"pessimistic", "", "worker.lb.lock=P\n"},
}

func balancedRequest(cookie string) *connector.Request {
	q := request("GET", "/examples/servlet/HelloWorldExample", "")
	if cookie != "" {
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte(cookie)})
	}
	return q
}

func TestBalancerAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	for _, tt := range balancedCases {
		serve := balanced(t, balancedRequest(tt.cookie), tt.lines)
		if n := testing.AllocsPerRun(30, serve); n != 0 {
			t.Errorf("%s: %v allocations", tt.name, n)
		}
	}
}

func BenchmarkBalancer(b *testing.B) {
	for _, tt := range balancedCases {
		b.Run(tt.name, func(b *testing.B) {
			serve := balanced(b, balancedRequest(tt.cookie), tt.lines)
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}
