package jk

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jkd/connector/ajp"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/counters"
)

// What a process keeps of the connections that requests at a time have opened.
func TestCacheKeeps(t *testing.T) {
	tests := []struct {
		name             string
		threads          int
		lines            []string
		together         int
		opened, kept     int
		overflow, reused int // after as many together once more
	}{
		{"cachesize bounds what is kept, not concurrency", 25, []string{"cachesize=3"}, 8, 8, 3, 5, 3},
		{"as many as needed", 25, []string{"cachesize=25"}, 8, 8, 8, 0, 8},
		{"default under prefork", 1, nil, 1, 1, 1, 0, 1},
		{"default is one a process of one thread", 1, nil, 4, 4, 1, 3, 1},
		{"default under worker is ThreadsPerChild", 6, nil, 6, 6, 6, 0, 6},
		{"no threads count as one", 0, nil, 2, 2, 1, 1, 1},
		{"nothing kept", 25, []string{"cachesize=0"}, 3, 3, 0, 3, 0},
		{"a vendor's cap", 25, []string{"cachesize=5", "max_reuse_connections=2"}, 6, 6, 2, 4, 2},
		{"a cap above the size is none", 25, []string{"cachesize=2", "max_reuse_connections=9"}, 6, 6, 2, 4, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				g := &gates{}
				c := ajptest.New(t, g.handler)
				r := newRig(t, dial, c, tt.threads, tt.lines...)
				r.hold(c, g, tt.together)
				if c.Accepted() != tt.opened || c.MaxOpen() != tt.together {
					t.Errorf("%d connections, %d at a time", c.Accepted(), c.MaxOpen())
				}
				if !c.WaitOpen(tt.kept, long) {
					t.Errorf("%d connections are open, want %d", c.Open(), tt.kept)
				}
				want := fmt.Sprintf("requests %d misses %d opened %d", tt.together, tt.together, tt.opened)
				if tt.overflow > 0 {
					want += fmt.Sprintf(" closed-overflow %d", tt.overflow)
				}
				if tt.kept > 0 {
					want += fmt.Sprintf(" idle %d", tt.kept)
				}
				r.want(want)
				r.hold(c, g, tt.together)
				if n := c.Accepted() - tt.opened; n != tt.together-tt.reused {
					t.Errorf("%d of %d requests opened a connection again, want %d", n, tt.together, tt.together-tt.reused)
				}
				if s := r.w.stats(); s.Hits != uint64(tt.reused) || s.Idle != tt.kept {
					t.Errorf("%d hits, %d idle", s.Hits, s.Idle)
				}
				r.settled()
			})
		})
	}
}

// The connection used last is taken first.
func TestCacheIsLIFO(t *testing.T) {
	g := &gates{}
	c := ajptest.New(t, g.handler)
	r := newRig(t, dialKinds[0].dial, c, 1, "cachesize=3")
	start := func(path string) chan string {
		n := c.Requests()
		got := make(chan string, 1)
		go func() { got <- r.get(path) }()
		if !c.WaitRequests(n+1, long) {
			t.Fatal("request did not arrive")
		}
		return got
	}
	finish := func(path string, got chan string) string {
		close(g.of(path))
		return <-got
	}
	one, two, three := start("/hold1"), start("/hold2"), start("/hold3")
	var given []string
	given = append(given, finish("/hold2", two), finish("/hold3", three), finish("/hold1", one))
	for range 5 {
		if n := r.get("/"); n != given[2] {
			t.Errorf("request on connection %s, last given back was %s", n, given[2])
		}
	}
	four, five, six := start("/hold4"), start("/hold5"), start("/hold6")
	taken := []string{finish("/hold6", six), finish("/hold5", five), finish("/hold4", four)}
	if !slices.Equal(taken, given) {
		t.Errorf("given back %v, taken in reverse as %v", given, taken)
	}
	r.want("requests 11 hits 8 misses 3 opened 3 idle 3")
}

// The age of a connection is looked at when it is about to be used again, and
// only then.
func TestCacheTimeout(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		g := &gates{}
		c := ajptest.New(t, g.handler)
		r := newRig(t, dial, c, 5, "cachesize=5", "cache_timeout=2")
		r.get("/")
		r.clock.add(2 * time.Second)
		r.get("/") // not older than it may be
		r.want("requests 2 hits 1 misses 1 opened 1 idle 1")
		r.clock.add(2*time.Second + 1)
		r.get("/")
		r.want("requests 3 hits 1 misses 2 opened 2 closed-age 1 idle 1")

		// Two more, all of them used now; then one goes on being used.
		r.hold(c, g, 3)
		r.want("requests 6 hits 2 misses 4 opened 4 closed-age 1 idle 3")
		for range 100 {
			r.clock.add(time.Second)
			r.get("/")
		}
		if !c.WaitOpen(3, long) || c.Accepted() != 4 {
			t.Errorf("%d open, %d accepted: nobody may close what nobody wants to use", c.Open(), c.Accepted())
		}
		// Whoever wants more than one finds the others too old.
		r.hold(c, g, 3)
		if s := r.w.stats(); s.Closed["age"] != 3 || s.Opened != 6 || s.Idle != 3 {
			t.Errorf("%+v", s)
		}
	})
}

func TestCacheTimeoutNever(t *testing.T) {
	for _, lines := range [][]string{{"cachesize=1"}, {"cachesize=1", "cache_timeout=0"}, nil} {
		c := ajptest.New(t, nil)
		r := newRig(t, dialKinds[0].dial, c, 1, lines...)
		r.get("/")
		r.clock.add(1000 * time.Hour)
		r.get("/")
		r.want("requests 2 hits 1 misses 1 opened 1 idle 1")
	}
}

// Never more connections than connection_pool_size, whatever is asked for.
func TestPoolBound(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		// Some answers end the connection: closing and opening must not
		// overlap either.
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			switch e.Seq % 5 {
			case 0:
				e.Send(e.Answer(200, "x"), ajptest.End(false))
			case 1:
				e.Respond(200, "x")
				e.Close()
			default:
				e.Respond(200, "x")
			}
		})
		r := newRig(t, dial, c, 64, "connection_pool_size=3", "connection_acquire_timeout=60000")
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				for range 20 {
					r.get("/")
				}
			})
		}
		wg.Wait()
		if _, _, most := r.counts(); most > 3 {
			t.Errorf("%d connections open at a time", most)
		}
		if s := r.w.stats(); s.Requests != 240 || s.Errors != 0 || s.Opened < 2 {
			t.Errorf("%+v", s)
		}
		r.settled()
	})
}

func TestPoolSizeDefault(t *testing.T) {
	for threads, want := range map[int]int{0: 1, 1: 1, 25: 25} {
		cfg := CacheConfig{Mode: ModePool, MinSize: -1}.Resolve(threads)
		p := newPool(cfg, cfg.MaxIdle, new(counters.Record))
		if cap(p.turns) != want || p.keep != want || p.minSize != (want+1)/2 {
			t.Errorf("%d threads: %d turns, %d kept, minimum %d", threads, cap(p.turns), p.keep, p.minSize)
		}
	}
}

func TestPoolExhausted(t *testing.T) {
	for _, wait := range []string{"0", "20"} {
		t.Run(wait+" ms", func(t *testing.T) {
			g := &gates{}
			c := ajptest.New(t, g.handler)
			r := newRig(t, dialKinds[1].dial, c, 5, "connection_pool_size=1", "connection_acquire_timeout="+wait)
			done := make(chan string, 1)
			go func() { done <- r.get("/hold") }()
			c.WaitRequests(1, long)
			e := r.fails(request("GET", "/", ""), &answer{}, 503)
			if !errors.Is(e, errBusy) || e.Client || !e.Recoverable || e.Addr == "" {
				t.Errorf("%+v", e)
			}
			if c.Requests() != 1 || c.Accepted() != 1 {
				t.Errorf("%d requests on %d connections", c.Requests(), c.Accepted())
			}
			close(g.of("/hold"))
			<-done
			r.get("/")
			r.want("requests 3 errors 1 hits 1 misses 1 opened 1 idle 1")
		})
	}
}

// A client that takes its time to send a body doesn't take a turn meanwhile.
func TestPoolSlowClientHoldsNoTurn(t *testing.T) {
	c := ajptest.New(t, func(e *ajptest.Exchange) { b, _ := e.Body(); e.Respond(200, string(b)) })
	r := newRig(t, dialKinds[1].dial, c, 5, "connection_pool_size=1", "connection_acquire_timeout=0")
	slow := request("POST", "/", "12345")
	body := &gatedReader{arrived: make(chan struct{}), gate: make(chan struct{}), r: slow.Body}
	slow.Body = body
	done := make(chan error, 1)
	a := &answer{}
	go func() { done <- r.do(slow, a) }()
	<-body.arrived
	r.get("/")
	close(body.gate)
	if err := <-done; err != nil || string(a.body) != "12345" {
		t.Errorf("%v, %q", err, a.body)
	}
}

// Turns in order of arrival, and the example of the documentation: a pool of
// one, answers that take 300 ms, a wait of at most 400 ms.
func TestPoolTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(CacheConfig{Mode: ModePool, Size: 1, AcquireTimeout: 400 * time.Millisecond}, 0, new(counters.Record))
		start := time.Now()
		var mu sync.Mutex
		var log []string
		say := func(i int, what string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, fmt.Sprintf("%d %s %v", i, what, time.Since(start)))
		}
		for i := range 3 {
			go func() {
				if err := p.enter(nil); err != nil {
					say(i, "busy")
					return
				}
				say(i, "in")
				time.Sleep(300 * time.Millisecond)
				p.leave()
			}()
			synctest.Wait() // it has its turn or its place in the queue
		}
		time.Sleep(time.Second)
		synctest.Wait()
		want := []string{"0 in 0s", "1 in 300ms", "2 busy 400ms"}
		if !slices.Equal(log, want) {
			t.Errorf("%q, want %q", log, want)
		}
		if len(p.turns) != 0 {
			t.Errorf("%d turns are left", len(p.turns))
		}
	})
}

func TestPoolFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(CacheConfig{Mode: ModePool, Size: 2, AcquireTimeout: time.Hour}, 0, new(counters.Record))
		var mu sync.Mutex
		var order []int
		for i := range 20 {
			go func() {
				if err := p.enter(nil); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				p.leave()
			}()
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(order) != 20 || !slices.IsSorted(order) {
			t.Errorf("served in order %v", order)
		}
	})
}

// idleConn is the back end's side of a connection nobody uses.
type idleConn struct {
	net.Conn
	closed bool
}

func (c *idleConn) Close() error            { c.closed = true; return nil }
func (c *idleConn) Readable() (bool, error) { return false, nil }

func TestSweep(t *testing.T) {
	now := time.Unix(1e9, 0)
	tests := []struct {
		name    string
		mode    Mode
		timeout time.Duration
		min     int
		inUse   int
		idle    []int // seconds since use, the oldest first
		left    []int
	}{
		{"none is old", ModePool, 10 * time.Second, 0, 0, []int{9, 5, 1}, []int{9, 5, 1}},
		{"exactly as old as allowed", ModePool, 10 * time.Second, 0, 0, []int{10, 1}, []int{10, 1}},
		{"the oldest go", ModePool, 10 * time.Second, 0, 0, []int{30, 20, 11, 10, 1}, []int{10, 1}},
		{"all go", ModePool, 10 * time.Second, 0, 0, []int{30, 20, 11}, nil},
		{"down to the minimum", ModePool, 10 * time.Second, 2, 0, []int{50, 40, 30, 20}, []int{30, 20}},
		{"those in use count", ModePool, 10 * time.Second, 2, 1, []int{50, 40, 30, 20}, []int{20}},
		{"more in use than the minimum", ModePool, 10 * time.Second, 2, 4, []int{50, 40}, nil},
		{"fewer than the minimum", ModePool, 10 * time.Second, 5, 1, []int{50, 40}, []int{50, 40}},
		{"no idle timeout", ModePool, 0, 0, 0, []int{5000}, []int{5000}},
		{"a cache looks at ages when it reuses", ModeCache, 10 * time.Second, 0, 0, []int{5000}, []int{5000}},
		{"nothing there", ModePool, 10 * time.Second, 1, 0, nil, nil},
	}
	for _, tt := range tests {
		count := new(counters.Record)
		p := newPool(CacheConfig{Mode: tt.mode, Size: 10, MinSize: tt.min}, 0, count)
		for range tt.inUse {
			p.enter(nil)
		}
		var conns []*idleConn
		for _, s := range tt.idle {
			nc := &idleConn{}
			conns = append(conns, nc)
			p.give(&pooled{Conn: ajp.NewConn(nc, 8192)}, now.Add(-time.Duration(s)*time.Second), 10)
		}
		p.sweep(now, tt.timeout)
		var left []int
		for _, c := range p.idle {
			left = append(left, int(now.Sub(c.since)/time.Second))
		}
		if !slices.Equal(left, tt.left) {
			t.Errorf("%s: %v left of %v, want %v", tt.name, left, tt.idle, tt.left)
		}
		gone := len(tt.idle) - len(left)
		for i, nc := range conns {
			if nc.closed != (i < gone) {
				t.Errorf("%s: connection %d closed: %v", tt.name, i, nc.closed)
			}
		}
		if n := count.Cache().Closed[counters.ClosedIdle]; n != uint64(gone) {
			t.Errorf("%s: %d counted, %d closed", tt.name, n, gone)
		}
	}
}

func TestPoolKeepsNoMoreThanTheVendorsCap(t *testing.T) {
	g := &gates{}
	c := ajptest.New(t, g.handler)
	r := newRig(t, dialKinds[0].dial, c, 8, "connection_pool_size=6", "max_reuse_connections=2")
	r.hold(c, g, 5)
	r.want("requests 5 misses 5 opened 5 closed-overflow 3 idle 2")
}

func TestCloseReasonNames(t *testing.T) {
	seen := map[string]bool{}
	for r := range counters.NumCloseReasons {
		if s := r.String(); s == "" || seen[s] || strings.Contains(s, "(") {
			t.Errorf("reason %d is called %q", r, s)
		} else {
			seen[s] = true
		}
	}
	if s := counters.NumCloseReasons.String(); !strings.Contains(s, "(") {
		t.Errorf("no reason is called %q", s)
	}
}

// Maintenance that looks for a connection to ping, and finds none, is no reason
// for a request to fail that waits for nothing.
func TestLookingIsNoReasonToFail(t *testing.T) {
	p := newPool(CacheConfig{Mode: ModePool, Size: 1}, 0, new(counters.Record))
	p.idle = []*pooled{{}}
	asked, entered := make(chan struct{}), make(chan error, 1)
	p.borrow(func(*pooled) bool {
		go func() {
			close(asked)
			entered <- p.enter(nil)
		}()
		<-asked
		for range 100 {
			runtime.Gosched()
		}
		return false
	})
	if err := <-entered; err != nil {
		t.Error(err)
	}
}
