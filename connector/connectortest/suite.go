package connectortest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// Factory makes a connector of one process that sends every path to the one
// back end at addr ("127.0.0.1:port"), over connections as they are under the
// MPM worker if threads is more than 1, else as under prefork. The suite closes
// it.
type Factory func(t *testing.T, addr string, threads int) connector.Connector

// patience is a deadline for what happens at once unless it is broken.
const patience = 20 * time.Second

// Run runs the suite over both kinds of connections.
func Run(t *testing.T, f Factory) {
	for name, threads := range map[string]int{"prefork": 1, "worker": 8} {
		t.Run(name, func(t *testing.T) {
			for _, tt := range []struct {
				name string
				run  func(t *testing.T, f Factory, threads int)
			}{
				{"answers", testAnswers},
				{"bodies", testBodies},
				{"reuse", testReuse},
				{"idle connections die", testIdleDies},
				{"nothing is replayed after an answer began", testNoReplay},
				{"what is not safe is not replayed", testUnsafe},
				{"clients leave", testClientLeaves},
				{"broken answers", testBroken},
				{"refused", testRefused},
				{"panics", testPanics},
				{"too long", testTooLong},
				{"concurrent", testConcurrent},
			} {
				t.Run(tt.name, func(t *testing.T) { tt.run(t, f, threads) })
			}
		})
	}
}

// bench is one connector before one scripted container.
type bench struct {
	t *testing.T
	c connector.Connector
	b *ajptest.Container
}

func newBench(t *testing.T, f Factory, threads int, h ajptest.Handler) *bench {
	t.Helper()
	b := &bench{t: t, b: ajptest.New(t, h)}
	b.c = f(t, b.b.Addr(), threads)
	t.Cleanup(func() {
		if err := b.c.Close(); err != nil {
			t.Error("close:", err)
		}
		if !b.b.WaitOpen(0, patience) {
			t.Errorf("%d connections are open after Close", b.b.Open())
		}
		for _, err := range b.b.Errors() {
			t.Error("the container saw:", err)
		}
	})
	return b
}

func (b *bench) do(q *connector.Request, a *Answer) error {
	b.t.Helper()
	w := b.c.Match(q)
	if w == nil {
		b.t.Fatalf("%s is not mapped", q.MatchPath)
	}
	return w.Service(q, a)
}

// fine wants a complete answer 200 and returns its body.
func (b *bench) fine(q *connector.Request) string {
	b.t.Helper()
	a := &Answer{}
	if err := b.do(q, a); err != nil || a.Status != 200 || !a.Finished {
		b.t.Errorf("%s %s: %v, status %d, finished %v", q.Method, q.Path, err, a.Status, a.Finished)
	}
	return string(a.Body)
}

// fails wants an error of one of the statuses.
func (b *bench) fails(q *connector.Request, a *Answer, statuses ...int) *connector.Error {
	b.t.Helper()
	err := b.do(q, a)
	var e *connector.Error
	if !errors.As(err, &e) {
		b.t.Fatalf("%s %s: %v, want an error with status %v", q.Method, q.Path, err, statuses)
	}
	if !slices.Contains(statuses, e.Status) || e.Worker == "" {
		b.t.Errorf("%s %s: %v, status %d, worker %q, want status %v", q.Method, q.Path, err, e.Status, e.Worker, statuses)
	}
	return e
}

func get(path string) *connector.Request { return Request("GET", path, "") }

func testAnswers(t *testing.T, f Factory, threads int) {
	long := strings.Repeat("0123456789abcdef", 1<<16)
	b := newBench(t, f, threads, func(e *ajptest.Exchange) {
		switch e.Request.URI {
		case "/long":
			e.Send(ajptest.SendHeaders(200, "OK"))
			e.Send(ajptest.Chunks([]byte(long), ajptest.DefaultPacketSize), ajptest.End(true))
		case "/flush":
			e.Send(ajptest.SendHeaders(200, "OK"), ajptest.Flush(), ajptest.Chunk([]byte("a")), ajptest.Flush(), ajptest.Chunk([]byte("b")), ajptest.End(true))
		case "/none":
			e.Send(ajptest.SendHeaders(304, "Not Modified", ajptest.H("ETag", "x")), ajptest.End(true))
		case "/slow":
			_ = e.SendSlowly(0, slices.Concat(ajptest.SendHeaders(200, "OK"), ajptest.Chunk([]byte("bit by bit")), ajptest.End(true)))
		case "/404":
			e.Respond(404, "not here")
		default:
			e.Respond(200, e.Request.Method+" "+e.Request.URI, ajptest.H("X-Own", "one"), ajptest.H("Set-Cookie", "a=b"), ajptest.H("Set-Cookie", "c=d"))
		}
	})
	a := &Answer{}
	if err := b.do(get("/x"), a); err != nil || a.Status != 200 || string(a.Body) != "GET /x" {
		t.Errorf("%v, %d, %q", err, a.Status, a.Body)
	}
	for _, field := range []string{"X-Own: one", "Set-Cookie: a=b", "Set-Cookie: c=d"} {
		if !slices.Contains(a.Fields, field) {
			t.Errorf("%q is not among %q", field, a.Fields)
		}
	}
	for path, want := range map[string]string{"/long": long, "/flush": "ab", "/slow": "bit by bit"} {
		if got := b.fine(get(path)); got != want {
			t.Errorf("%s: %d bytes, want %d", path, len(got), len(want))
		}
	}
	for path, status := range map[string]int{"/none": 304, "/404": 404} {
		a := &Answer{}
		if err := b.do(get(path), a); err != nil || a.Status != status || !a.Finished {
			t.Errorf("%s: %v, %d", path, err, a.Status)
		}
	}
	if n := b.b.Accepted(); n != 1 {
		t.Errorf("%d connections for requests one after another", n)
	}
}

func testBodies(t *testing.T, f Factory, threads int) {
	b := newBench(t, f, threads, func(e *ajptest.Exchange) {
		n := 0
		for int64(n) < e.Request.ContentLength() || e.Request.ContentLength() < 0 {
			read := func() ([]byte, error) { return e.GetBody(0) }
			if n == 0 && e.Request.ContentLength() > 0 {
				read = e.ReadBody
			}
			p, err := read()
			if err != nil || len(p) == 0 {
				break
			}
			n += len(p)
		}
		e.Respond(200, fmt.Sprint(n))
	})
	for _, n := range []int{1, 8000, 8186, 8187, 100000} {
		if got := b.fine(Request("POST", "/", strings.Repeat("x", n))); got != fmt.Sprint(n) {
			t.Errorf("the container read %s bytes of %d", got, n)
		}
	}
	q := Request("POST", "/", strings.Repeat("y", 50000))
	q.ContentLength = -1
	q.Fields = append(q.Fields, connector.Field{Name: []byte("Transfer-Encoding"), Value: []byte("chunked")})
	if got := b.fine(q); got != "50000" {
		t.Errorf("the container read %s bytes of a body of unknown length", got)
	}
}

// F033: a container that says that the connection ends means it.
func testReuse(t *testing.T, f Factory, threads int) {
	b := newBench(t, f, threads, func(e *ajptest.Exchange) {
		e.Send(ajptest.SendHeaders(200, "OK"), ajptest.Chunk([]byte("x")), ajptest.End(e.Request.URI != "/last"))
		if e.Request.URI == "/last" {
			_ = e.WaitClose(patience)
		}
	})
	for _, path := range []string{"/1", "/2", "/last", "/3", "/4"} {
		b.fine(get(path))
	}
	if got := b.b.RequestsPerConn(); !slices.Equal(got, []int{3, 2}) {
		t.Errorf("requests of each connection: %v", got)
	}
}

// F041: a connection that the container has closed while it was idle never
// costs a request.
func testIdleDies(t *testing.T, f Factory, threads int) {
	b := newBench(t, f, threads, func(e *ajptest.Exchange) { e.Respond(200, "") })
	for _, method := range []string{"GET", "POST", "PUT"} {
		b.fine(get("/first"))
		b.b.CloseConns()
		if !b.b.WaitOpen(0, patience) {
			t.Fatal("the container did not close")
		}
		n := b.b.Requests()
		b.fine(Request(method, "/second", strings.Repeat("z", map[string]int{"POST": 10, "PUT": 20000}[method])))
		if b.b.Requests() != n+1 {
			t.Errorf("%s was sent %d times", method, b.b.Requests()-n)
		}
	}
}

func testNoReplay(t *testing.T, f Factory, threads int) {
	head := ajptest.SendHeaders(200, "OK", ajptest.H("Content-Length", "10"))
	for _, tt := range []struct {
		name    string
		sent    []byte
		started bool
	}{
		{"one byte", head[:1], false},
		{"half a head", head[:8], false},
		{"a head", head, true},
		{"half a body", slices.Concat(head, ajptest.Chunk([]byte("12345"))), true},
		{"all but the end", slices.Concat(head, ajptest.Chunk([]byte("1234567890"))), true},
	} {
		for _, fresh := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/fresh %v", tt.name, fresh), func(t *testing.T) {
				b := newBench(t, f, threads, func(e *ajptest.Exchange) {
					if e.Request.URI == "/fine" {
						e.Respond(200, "")
						return
					}
					e.Send(tt.sent)
					e.Close()
				})
				if !fresh {
					b.fine(get("/fine"))
				}
				n, a := b.b.Requests(), &Answer{}
				b.fails(get("/"), a, 502)
				if a.Started() != tt.started || a.Finished || b.b.Requests() != n+1 {
					t.Errorf("started %v, finished %v, sent %d times", a.Started(), a.Finished, b.b.Requests()-n)
				}
				b.fine(get("/fine"))
			})
		}
	}
}

// A container that reads a request and dies may have carried it out.
func testUnsafe(t *testing.T, f Factory, threads int) {
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		b := newBench(t, f, threads, func(e *ajptest.Exchange) {
			if e.Request.URI == "/fine" {
				e.Respond(200, "")
				return
			}
			if e.Request.ContentLength() > 0 {
				_, _ = e.ReadBody()
			}
			e.Close()
		})
		b.fails(Request(method, "/", "pay 100"), &Answer{}, 502)
		if n := b.b.Requests(); n != 1 {
			t.Errorf("%s was sent %d times", method, n)
		}
		b.fine(get("/fine"))
	}
}

// F049: a client that leaves is its own fault, and the request is not repeated.
func testClientLeaves(t *testing.T, f Factory, threads int) {
	b := newBench(t, f, threads, func(e *ajptest.Exchange) {
		e.Send(ajptest.SendHeaders(200, "OK"))
		for range 1000 {
			if e.Send(ajptest.Chunk(make([]byte, 4000)), ajptest.Flush()) != nil {
				return
			}
			if e.Request.URI == "/fine" {
				break
			}
		}
		_ = e.Send(ajptest.End(true))
	})
	for i, gone := range []int{-1, 0, 10000} {
		e := b.fails(get("/"), &Answer{Leaves: true, Gone: gone}, 400, 499, 408)
		if !e.Client {
			t.Errorf("gone after %d: %v is not the client's fault", gone, e)
		}
		if n := b.b.Requests(); n != 2*i+1 {
			t.Errorf("gone after %d: sent %d times", gone, n-2*i)
		}
		b.fine(get("/fine"))
	}
}

func testBroken(t *testing.T, f Factory, threads int) {
	for _, bad := range ajptest.BadPackets() {
		t.Run(bad.Name, func(t *testing.T) {
			b := newBench(t, f, threads, func(e *ajptest.Exchange) {
				if e.Request.URI == "/fine" {
					e.Respond(200, "fine")
					return
				}
				if bad.Before != nil {
					e.Send(bad.Before)
				}
				e.Send(bad.Bytes)
				if strings.HasPrefix(bad.Name, "cut") {
					e.Close()
					return
				}
				_ = e.WaitClose(patience)
			})
			b.fails(get("/"), &Answer{}, 502)
			if n := b.b.Requests(); n != 1 {
				t.Errorf("sent %d times", n)
			}
			if got := b.fine(get("/fine")); got != "fine" {
				t.Errorf("then: %q", got)
			}
		})
	}
}

func testRefused(t *testing.T, f Factory, threads int) {
	b := newBench(t, f, threads, nil)
	b.b.StopListening()
	e := b.fails(get("/"), &Answer{}, 503)
	if e.Client || e.Addr == "" {
		t.Errorf("%+v", e)
	}
}

func testPanics(t *testing.T, f Factory, threads int) {
	b := newBench(t, f, threads, func(e *ajptest.Exchange) { e.Respond(200, "body") })
	for _, method := range []string{"Start", "Append", "Finish"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panic is lost", method)
				}
			}()
			_ = b.do(get("/"), &Answer{Panics: method})
		}()
		b.fine(get("/"))
	}
}

// F001: what fits no packet is refused before anybody is asked.
func testTooLong(t *testing.T, f Factory, threads int) {
	b := newBench(t, f, threads, nil)
	q := get("/")
	q.Fields = append(q.Fields, connector.Field{Name: []byte("X-Long"), Value: []byte(strings.Repeat("x", 9000))})
	e := b.fails(q, &Answer{}, 413, 431)
	if !e.Client || b.b.Accepted() != 0 {
		t.Errorf("%+v after %d connections", e, b.b.Accepted())
	}
	b.fine(get("/"))
}

func testConcurrent(t *testing.T, f Factory, threads int) {
	if threads == 1 {
		t.Skip("one request at a time")
	}
	b := newBench(t, f, threads, func(e *ajptest.Exchange) { e.Respond(200, e.Request.URI) })
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			for j := range 50 {
				path := fmt.Sprintf("/%d/%d", i, j)
				a := &Answer{}
				if err := b.do(get(path), a); err != nil || string(a.Body) != path {
					t.Errorf("%s: %v, %q", path, err, a.Body)
				}
			}
		})
	}
	wg.Wait()
	if n := b.b.MaxOpen(); n > threads {
		t.Errorf("%d connections for %d threads", n, threads)
	}
}
