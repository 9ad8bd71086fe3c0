package jk

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// ways are how a container ends connections that it has said may be reused.
// serve does it after the answer, refuse when the next request has come.
var ways = []struct {
	name  string
	after func(*ajptest.Exchange)
}{
	{"end of file", func(e *ajptest.Exchange) { e.Close() }},
	{"reset", func(e *ajptest.Exchange) { e.Reset() }},
	{"upon the next request", nil},
}

// F041: the container ends connections without a word; no user may notice.
func TestF041StaleConnections(t *testing.T) {
	small, large := "1234567890", strings.Repeat("0123456789abcdef", 20<<10/16)
	for _, way := range ways {
		for _, q := range []struct{ method, body string }{{"GET", ""}, {"POST", small}, {"POST", large}} {
			t.Run(fmt.Sprintf("%s/%s %d", way.name, q.method, len(q.body)), func(t *testing.T) {
				bothKinds(t, func(t *testing.T, dial DialFunc) {
					var mu sync.Mutex
					served, refused := 0, 0
					c := ajptest.NewOptions(t, "tcp", ajptest.Options{RecordLimit: 1}, func(e *ajptest.Exchange) {
						if way.after == nil && e.N > 1 {
							mu.Lock()
							refused++
							mu.Unlock()
							e.Close()
							return
						}
						b, err := e.Body()
						if err != nil || string(b) != q.body {
							t.Errorf("body of %d bytes, %v", len(b), err)
						}
						mu.Lock()
						served++
						mu.Unlock()
						e.Respond(200, fmt.Sprint("served ", len(b)))
						if way.after != nil {
							way.after(e)
						}
					})
					r := newRig(t, dial, c, 1, "retries=1")
					for range 100 {
						a := &answer{}
						if err := r.do(request(q.method, "/", q.body), a); err != nil || a.status != 200 || string(a.body) != fmt.Sprint("served ", len(q.body)) {
							t.Fatalf("%v, status %d, %q", err, a.status, a.body)
						}
					}
					mu.Lock()
					defer mu.Unlock()
					if served != 100 {
						t.Errorf("%d requests were served for 100", served)
					}
					s := r.w.stats()
					if s.Requests != 100 || s.Errors != 0 || s.Opened != 100 || s.Misses != 100 {
						t.Errorf("%+v", s)
					}
					if way.after == nil && (refused != 99 || s.Hits != 99 || s.Closed["error"] != 99) {
						t.Errorf("%d requests refused, %+v", refused, s)
					}
					r.settled()
				})
			})
		}
	}
}

// A body of which more than the first packet has been used up can't be sent
// again, and isn't: neither on a connection that was new nor on one that was
// not.
func TestF041ConsumedBodyIsNotRepeated(t *testing.T) {
	large := strings.Repeat("x", 20<<10)
	for _, options := range []string{"retries=5", "recovery_options=0", "recovery_options=24"} {
		bothKinds(t, func(t *testing.T, dial DialFunc) {
			c := ajptest.New(t, func(e *ajptest.Exchange) {
				if e.N > 1 {
					e.Body()
					e.Close()
					return
				}
				e.Respond(200, "")
			})
			r := newRig(t, dial, c, 1, options)
			r.get("/")
			e := r.fails(request("POST", "/", large), &answer{}, 502)
			if e.Recoverable || e.Client {
				t.Errorf("%+v", e)
			}
			if c.Requests() != 2 {
				t.Errorf("%d requests reached the container", c.Requests())
			}
			r.want("requests 2 errors 1 hits 1 misses 1 opened 1 closed-error 1")
		})
	}
}

// A restarted container has dropped all connections: the first request finds
// that out for all of them.
func TestRestartedBackEnd(t *testing.T) {
	t.Run("seen before use", func(t *testing.T) {
		bothKinds(t, func(t *testing.T, dial DialFunc) {
			g := &gates{}
			c := ajptest.New(t, g.handler)
			r := newRig(t, dial, c, 5)
			r.hold(c, g, 5)
			c.CloseConns()
			for _, nc := range r.conns {
				waitReadable(t, nc)
			}
			r.get("/")
			r.want("requests 6 misses 6 opened 6 closed-stale 5 idle 1")
			if c.Requests() != 6 {
				t.Errorf("%d requests", c.Requests())
			}
		})
	})
	t.Run("seen in use", func(t *testing.T) {
		bothKinds(t, func(t *testing.T, dial DialFunc) {
			g := &gates{}
			c := ajptest.New(t, func(e *ajptest.Exchange) {
				if e.N > 1 {
					e.Reset()
					return
				}
				g.handler(e)
			})
			r := newRig(t, dial, c, 5, "retries=1")
			r.hold(c, g, 5)
			r.get("/")
			r.want("requests 6 hits 1 misses 6 opened 6 closed-error 1 closed-stale 4 idle 1")
			if c.Requests() != 7 {
				t.Errorf("%d requests: one retry is due", c.Requests())
			}
			if s := r.log.String(); strings.Count(s, "an idle connection was lost") != 1 || !strings.Contains(s, `"worker":"w"`) || !strings.Contains(s, c.Addr()) {
				t.Errorf("log: %s", s)
			}
		})
	})
	t.Run("still down", func(t *testing.T) {
		bothKinds(t, func(t *testing.T, dial DialFunc) {
			g := &gates{}
			c := ajptest.New(t, func(e *ajptest.Exchange) {
				if e.N > 1 {
					e.Reset()
					return
				}
				g.handler(e)
			})
			r := newRig(t, dial, c, 3, "connection_pool_size=3")
			r.hold(c, g, 3)
			c.StopListening()
			r.fails(request("GET", "/", ""), &answer{}, 503)
			r.want("requests 4 errors 1 hits 1 misses 5 opened 3 closed-error 1 closed-stale 2")
		})
	})
}

// In a bounded pool the free retry neither exceeds the bound nor meets another
// connection that has been given back half dead.
func TestStaleRetriesStayWithinThePool(t *testing.T) {
	c := ajptest.NewOptions(t, "tcp", ajptest.Options{RecordLimit: 1}, func(e *ajptest.Exchange) {
		if e.N > 1 {
			e.Close()
			return
		}
		b, _ := e.Body()
		e.Respond(200, string(b))
	})
	r := newRig(t, dialKinds[1].dial, c, 16, "connection_pool_size=4", "connection_acquire_timeout=60000", "retries=1")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 30 {
				body := fmt.Sprint(i, " ", k)
				a := &answer{}
				if err := r.do(request("POST", "/", body), a); err != nil || string(a.body) != body {
					t.Errorf("%v, %q for %q", err, a.body, body)
				}
			}
		})
	}
	wg.Wait()
	if _, _, most := r.counts(); most > 4 {
		t.Errorf("%d connections open at a time", most)
	}
	if s := r.w.stats(); s.Errors != 0 || s.Requests != 240 {
		t.Errorf("%+v", s)
	}
}

// What lies on a connection that nobody uses is never taken for an answer.
func TestStrayBytes(t *testing.T) {
	evil := append(append(ajptest.SendHeaders(200, "OK"), ajptest.Chunk([]byte("somebody else's"))...), ajptest.End(true)...)
	tests := []struct {
		name  string
		extra []byte
		reuse bool
	}{
		{"whole answer", evil, false},
		{"half an answer", evil[:9], false},
		{"end of an answer", ajptest.End(true), false},
		{"CPONG", ajptest.CPong(), false},
		{"body chunk", ajptest.Chunk([]byte("x")), false},
		{"flush and half a packet", append(ajptest.Flush(), 'A', 'B'), false},
		{"flush and answer", append(ajptest.Flush(), evil...), false},
		{"one byte", []byte{0}, false},
		{"flush", ajptest.Flush(), true},
		{"flush without its zero", ajptest.FlushBare(), true},
		{"many flushes", []byte(strings.Repeat(string(ajptest.Flush()), 50)), true},
	}
	for _, tt := range tests {
		for _, late := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/late %v", tt.name, late), func(t *testing.T) {
				bothKinds(t, func(t *testing.T, dial DialFunc) {
					got := make(chan struct{})
					c := ajptest.New(t, func(e *ajptest.Exchange) {
						switch {
						case e.Seq > 1:
							e.Respond(200, "mine")
						case late:
							e.Respond(200, "first")
							select {
							case <-got:
							case <-e.Container().Done():
							}
							e.Send(tt.extra)
						default:
							e.Send(e.Answer(200, "first"), ajptest.End(true), tt.extra)
						}
					})
					r := newRig(t, dial, c, 1)
					if b := r.get("/"); b != "first" {
						t.Fatalf("first answer %q", b)
					}
					close(got)
					if late {
						waitReadable(t, r.last())
					}
					if b := r.get("/"); b != "mine" {
						t.Errorf("second answer %q", b)
					}
					switch why := map[bool]string{true: "stale", false: "error"}[late]; {
					case tt.reuse:
						r.want("requests 2 hits 1 misses 1 opened 1 idle 1")
					default:
						r.want("requests 2 misses 2 opened 2 closed-" + why + " 1 idle 1")
					}
				})
			})
		}
	}
}

// A container that never stops sending flush packets has nothing to say.
func TestEndlessFlushes(t *testing.T) {
	got := make(chan struct{})
	c := ajptest.New(t, func(e *ajptest.Exchange) {
		e.Respond(200, "x")
		if e.Seq == 1 {
			<-got
			e.Send([]byte(strings.Repeat(string(ajptest.Flush()), 20000)))
		}
	})
	r := newRig(t, dialKinds[1].dial, c, 1)
	r.get("/")
	close(got)
	waitReadable(t, r.last())
	r.get("/")
}

// The end of an answer decides about the connection.
func TestF033Reuse(t *testing.T) {
	tests := []struct {
		name   string
		end    []byte
		reused bool
		why    string
	}{
		{"reuse", ajptest.End(true), true, ""},
		{"no reuse", ajptest.End(false), false, "reuse"},
		{"no flag", ajptest.EndBare(), false, "error"},
		{"flag 2", ajptest.Payload(ajptest.CodeEnd, 2).Packet(), false, "error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				c := ajptest.New(t, func(e *ajptest.Exchange) { e.Send(e.Answer(200, "x"), tt.end) })
				r := newRig(t, dial, c, 1)
				r.get("/")
				r.get("/")
				if tt.reused {
					r.want("requests 2 hits 1 misses 1 opened 1 idle 1")
				} else {
					r.want("requests 2 misses 2 opened 2 closed-" + tt.why + " 2")
				}
			})
		})
	}
}

// F035 and HEAD: an answer that comes before the body is through, or with one
// that nobody wants, leaves the connection in order.
func TestConnectionSurvives(t *testing.T) {
	c := ajptest.New(t, func(e *ajptest.Exchange) {
		switch e.Request.URI {
		case "/early":
			e.Respond(413, "too much")
		case "/late":
			first, _ := e.ReadBody() // comes unasked
			b, err := e.GetBody(10)
			if len(first) != 8186 || len(b) != 10 || err != nil {
				t.Errorf("%d and %d bytes, %v", len(first), len(b), err)
			}
			e.Respond(200, "enough")
		case "/head":
			e.Send(ajptest.SendHeaders(200, "200", ajptest.H("Content-Length", "5")), ajptest.Chunk([]byte("hello")), ajptest.End(true))
		default:
			e.Respond(200, "page")
		}
	})
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		r := newRig(t, dial, c, 1)
		large := strings.Repeat("x", 20<<10)
		for _, q := range []struct {
			req    *connector.Request
			status int
		}{
			{request("POST", "/early", large), 413}, {request("GET", "/", ""), 200},
			{request("POST", "/late", large), 200}, {request("GET", "/", ""), 200},
			{request("HEAD", "/head", ""), 200}, {request("GET", "/", ""), 200},
		} {
			a := &answer{}
			if err := r.do(q.req, a); err != nil || a.status != q.status || !a.finished {
				t.Errorf("%s: %v, status %d", q.req.Path, err, a.status)
			}
		}
		r.want("requests 6 hits 5 misses 1 opened 1 idle 1")
	})
}

// A container that dies with a request in hand, on a connection that had been
// idle, may have carried it out: no other member gets it unless
// recovery_options let it.
func TestLostWithTheContainer(t *testing.T) {
	for _, tt := range []struct {
		method, options string
		want            string
		others          int // requests that reach the other member
	}{
		{"GET", "lb.retries=2", "n2", 1},
		{"POST", "lb.retries=2", "503", 0},
		{"POST", "n1.recovery_options=27", "502", 0},
		{"POST", "n1.recovery_options=0", "n2", 1},
	} {
		r, c := newLB(t, 2, map[string]ajptest.Handler{"n1": func(e *ajptest.Exchange) {
			if string(e.Request.Method) == "PUT" {
				_ = e.Respond(200, "n1")
				return
			}
			e.Container().StopListening()
			e.Close()
		}}, "", tt.options)
		if got, _ := r.send(request("PUT", "/", ""), "JSESSIONID=a.n1"); got != "n1" {
			t.Fatal(got)
		}
		if got, _ := r.send(request(tt.method, "/", ""), "JSESSIONID=a.n1"); got != tt.want || c[1].Requests() != tt.others {
			t.Errorf("%s, %q: %s, and %d requests elsewhere; want %s and %d", tt.method, tt.options, got, c[1].Requests(), tt.want, tt.others)
		}
	}
}
