package jk

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// F049: a client that leaves ends the exchange within a packet, and nobody is
// to blame but itself.
func TestF049ClientLeaves(t *testing.T) {
	tests := []struct {
		name string
		gone int
	}{
		{"before the head", -1},
		{"after a kilobyte", 1 << 10},
		{"after a megabyte", 1 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				ended := make(chan int, 1)
				c := ajptest.New(t, func(e *ajptest.Exchange) {
					if e.Request.URI != "/big" {
						e.Respond(200, "")
						return
					}
					piece := ajptest.Chunks(make([]byte, 64<<10), 8192)
					e.Send(ajptest.SendHeaders(200, "200"))
					n := 0
					for n < 10<<20 && e.Send(piece) == nil {
						n += 64 << 10
					}
					ended <- n
				})
				r := newRig(t, dial, c, 1, "recovery_options=0", "retries=5")
				r.get("/")
				nc := r.last()
				reads := int64(-1)
				a := &answer{leaves: true, gone: tt.gone, left: func() { reads = nc.reads.Load() }}
				e := r.fails(request("GET", "/big", ""), a, 400)
				if !e.Client || e.Recoverable {
					t.Errorf("%+v", e)
				}
				if n := nc.reads.Load(); reads < 0 || n != reads {
					t.Errorf("%d reads after the client had left", n-reads)
				}
				if n := <-ended; n >= 10<<20 {
					t.Error("all of it was read")
				}
				if !c.WaitOpen(0, long) {
					t.Error("the connection is still open")
				}
				if c.Requests() != 2 {
					t.Errorf("%d requests", c.Requests())
				}
				r.get("/")
				r.want("requests 3 client 1 hits 1 misses 2 opened 2 closed-client 1 idle 1")
			})
		})
	}
}

// A client that leaves at the very end has got nothing wrong from the
// container, whose connection is in order.
func TestClientLeavesAtTheEnd(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		c := ajptest.New(t, nil)
		r := newRig(t, dial, c, 1)
		e := r.fails(request("GET", "/", ""), &answer{leaves: true, gone: 1 << 30, failFinish: true}, 400)
		if !e.Client {
			t.Errorf("%+v", e)
		}
		r.get("/")
		r.want("requests 2 client 1 hits 1 misses 1 opened 1 idle 1")
	})
}

// F066: a front that panics in the middle of an answer leaves no connection,
// no turn and no gauge behind.
func TestF066Panics(t *testing.T) {
	for _, method := range []string{"Start", "Append", "Flush", "Finish"} {
		t.Run(method, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				c := ajptest.New(t, func(e *ajptest.Exchange) {
					e.Send(e.Answer(200, "hello"), ajptest.Flush(), ajptest.End(true))
				})
				r := newRig(t, dial, c, 1, "connection_pool_size=1", "connection_acquire_timeout=0")
				for range 3 {
					func() {
						defer func() {
							if p := recover(); p != "writer: "+method {
								t.Errorf("panic %v", p)
							}
						}()
						r.do(request("GET", "/", ""), &answer{panics: method})
					}()
					r.settled()
				}
				if !c.WaitOpen(0, long) {
					t.Errorf("%d connections are still open", c.Open())
				}
				r.get("/")
				r.want("requests 4 misses 4 opened 4 closed-error 3 idle 1")
			})
		})
	}
}

// F066: after any mixture of failures every gauge is back.
func TestF066Mixture(t *testing.T) {
	for _, cache := range []string{"cachesize=3", "connection_pool_size=3"} {
		t.Run(cache, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnError: func(error) {}, RecordLimit: 1}, func(e *ajptest.Exchange) {
					switch e.Request.URI {
					case "/close":
						e.Close()
					case "/reset":
						e.Reset()
					case "/bad":
						e.Send([]byte("nonsense"))
					case "/cut":
						e.Send(ajptest.SendHeaders(200, "200"), ajptest.Chunk(make([]byte, 100)))
						e.Close()
					case "/slow":
						e.Hold()
					case "/noreuse":
						e.Send(e.Answer(200, "x"), ajptest.End(false))
					case "/big":
						e.Respond(200, strings.Repeat("x", 1<<20))
					case "/then":
						e.Respond(200, "x")
						e.Close()
					default:
						e.DiscardBody(nil)
						e.Respond(200, "hello")
					}
				})
				r := rigMap(t, dial, 8, "127.0.0.1", c.Port(), "/*=w\n/slow=w;reply_timeout=10\n", cache, "connection_acquire_timeout=50", "retry_interval=1")
				if cache == "cachesize=3" {
					r = rigMap(t, dial, 8, "127.0.0.1", c.Port(), "/*=w\n/slow=w;reply_timeout=10\n", cache, "retry_interval=1")
				}
				paths := []string{"/", "/", "/", "/close", "/reset", "/bad", "/cut", "/slow", "/noreuse", "/big", "/then"}
				panics := []string{"Start", "Append", "Flush", "Finish"}
				var wg sync.WaitGroup
				for i := range 8 {
					rnd := rand.New(rand.NewSource(int64(i)))
					wg.Go(func() {
						for range 25 {
							a := &answer{}
							switch rnd.Intn(5) {
							case 0:
								a.leaves, a.gone = true, rnd.Intn(2000)-1
							case 1:
								a.panics = panics[rnd.Intn(4)]
							}
							q := request("GET", paths[rnd.Intn(len(paths))], "")
							if rnd.Intn(3) == 0 {
								q = request("POST", "/", strings.Repeat("x", 20000))
								if rnd.Intn(2) == 0 {
									q.Body = &brokenReader{rnd.Intn(20000), &connector.ClientError{Op: "read", Status: 408}}
								}
							}
							func() {
								defer func() { recover() }()
								err := r.do(q, a)
								var e *connector.Error
								if err != nil && (!errors.As(err, &e) || e.Status < 400) || err == nil && !a.finished {
									t.Errorf("%s %s: %v, %+v", q.Method, q.Path, err, e)
								}
							}()
						}
					})
				}
				wg.Wait()
				r.settled()
				s := r.w.stats()
				if s.Requests != 200 || s.Errors == 0 || s.ClientErrors == 0 || s.Idle > 3 {
					t.Errorf("%+v", s)
				}
				if !c.WaitOpen(s.Idle, long) {
					t.Errorf("%d connections open, %d idle", c.Open(), s.Idle)
				}
				r.get("/")
				r.c.Close()
				if !c.WaitOpen(0, long) {
					t.Errorf("%d connections are open after Close", c.Open())
				}
				r.settled()
				if _, _, most := r.counts(); cache != "cachesize=3" && most > 3 {
					t.Errorf("%d connections open at a time", most)
				}
			})
		})
	}
}

// A worker may be used from many requests at a time.
func TestConcurrentRequests(t *testing.T) {
	c := ajptest.NewOptions(t, "tcp", ajptest.Options{RecordLimit: 1}, func(e *ajptest.Exchange) {
		b, _ := e.Body()
		e.Respond(200, e.Request.URI+" "+string(b))
	})
	r := newRig(t, dialKinds[1].dial, c, 8)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for k := range 50 {
				path, body := fmt.Sprintf("/%d/%d", i, k), strings.Repeat(fmt.Sprint(k%10), i*3000)
				a := &answer{}
				if err := r.do(request("POST", path, body), a); err != nil || string(a.body) != path+" "+body {
					t.Errorf("%s: %v, %d bytes", path, err, len(a.body))
				}
			}
		})
	}
	wg.Wait()
	if s := r.w.stats(); s.Hits+s.Misses != 400 || s.Errors != 0 {
		t.Errorf("%+v", s)
	}
}
