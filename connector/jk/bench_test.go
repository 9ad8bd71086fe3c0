package jk

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/connectortest"
)

// service is what one request costs, given the directives.
func service(t testing.TB, dial DialFunc, q *connector.Request, lines ...string) (serve func()) {
	r := rigAt(t, dial, 1, "127.0.0.1", connectortest.QuickContainer(t, connectortest.Hello), lines...)
	r.w.dial = dial // nothing counts here
	t.Cleanup(func() { r.c.Close(); r.nets = nets{} })
	w, s := r.c.Match(q), &connectortest.Sink{}
	body, _ := q.Body.(*strings.Reader)
	return func() {
		s.Reset()
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

// What taking a connection from the pool costs, with the look whether the
// container has closed it, and giving it back.
func BenchmarkTakeGive(b *testing.B) {
	for _, k := range dialKinds {
		b.Run(k.name, func(b *testing.B) {
			r := rigAt(b, k.dial, 1, "127.0.0.1", connectortest.QuickContainer(b, connectortest.Hello))
			r.w.dial = k.dial
			b.Cleanup(func() { r.c.Close(); r.nets = nets{} })
			q := request("GET", "/", "")
			if err := r.c.Match(q).Service(q, &connectortest.Sink{}); err != nil {
				b.Fatal(err)
			}
			log := zerolog.Nop()
			b.ReportAllocs()
			for b.Loop() {
				c := r.w.idle(&log)
				if c == nil {
					b.Fatal("no idle connection")
				}
				r.w.pool.give(c, r.w.now(), r.w.share(r.w.live()))
			}
		})
	}
}

// balanced is what one request to a balancer of two costs.
func balanced(t testing.TB, q *connector.Request, lines string) (serve func()) {
	text := "worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=n1,n2\n"
	for _, n := range []string{"n1", "n2"} {
		text += fmt.Sprintf("worker.%s.host=127.0.0.1\nworker.%s.port=%d\n", n, n, connectortest.QuickContainer(t, connectortest.Hello))
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
	w, s := c.Match(q), &connectortest.Sink{}
	serve = func() {
		s.Reset()
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
