package jk

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk/jkshm"
)

func (r *rig) maintain() { r.c.Maintain(r.clock.now()) }

// Maintenance closes what has been idle for too long, down to the minimum, and
// nothing of a cache, whose ages count when it is used.
func TestMaintainIdleClose(t *testing.T) {
	g := &gates{}
	c := ajptest.New(t, g.handler)
	r := newRig(t, dialKinds[0].dial, c, 8, "connection_pool_size=8", "connection_pool_minsize=2", "connection_pool_timeout=100")
	r.hold(c, g, 6)
	r.clock.add(100 * time.Second)
	r.maintain()
	r.want("requests 6 misses 6 opened 6 idle 6")
	r.clock.add(1)
	r.maintain()
	if !c.WaitOpen(2, long) {
		t.Errorf("%d connections open", c.Open())
	}
	r.want("requests 6 misses 6 opened 6 closed-idle 4 idle 2")
	r.edit(func(s *jkshm.WorkerSettings) { s.ConnectionPoolTimeout = time.Second })
	r.hold(c, g, 5)
	r.clock.add(2 * time.Second)
	r.maintain()
	r.want("requests 11 hits 2 misses 9 opened 9 closed-idle 7 idle 2")

	c = ajptest.New(t, nil)
	r = newRig(t, dialKinds[0].dial, c, 1, "cachesize=1", "cache_timeout=10")
	r.get("/")
	r.clock.add(time.Hour)
	r.maintain()
	r.want("requests 1 misses 1 opened 1 idle 1")
}

// Whoever changes an address need not wait for traffic.
func TestMaintainAdoptsEdits(t *testing.T) {
	c := ajptest.New(t, nil)
	r := newRig(t, dialKinds[0].dial, c, 1)
	r.get("/")
	r.edit(func(s *jkshm.WorkerSettings) { s.Host = "127.0.0.9" })
	r.maintain()
	r.want("requests 1 misses 1 opened 1 closed-changed 1")
}

// F045: idle connections are asked for a sign of life once in each interval; a
// ping is no use, and a connection that does not answer is closed.
func TestF045IntervalPing(t *testing.T) {
	for _, pong := range pongs {
		t.Run(pong.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				g := &gates{}
				var bad atomic.Bool
				c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: func(k *ajptest.Conn) {
					if bad.Load() {
						pong.do(k)
						return
					}
					k.Send(ajptest.CPong())
				}}, g.handler)
				timeout := "9000"
				if pong.name == "silence" {
					timeout = "100"
				}
				r := newRig(t, dial, c, 3, "connection_ping_interval=10", "ping_timeout="+timeout)
				r.hold(c, g, 3)
				pings := func(after time.Duration, want int) {
					t.Helper()
					r.clock.add(after)
					r.maintain()
					if c.CPings() != want {
						t.Errorf("%d pings, want %d", c.CPings(), want)
					}
				}
				pings(10*time.Second, 0)
				pings(1, 3)
				pings(10*time.Second, 3)
				pings(1, 6)
				r.get("/") // one is in use, and younger
				pings(10*time.Second, 6)
				r.want("requests 4 hits 1 misses 3 opened 3 idle 3")
				bad.Store(true)
				r.clock.add(time.Second)
				r.maintain()
				switch {
				case pong.good:
					r.want("requests 4 hits 1 misses 3 opened 3 idle 3")
				case pong.name == "silence":
					// Each of the others might take as long.
					r.want("requests 4 hits 1 misses 3 opened 3 closed-ping 1 closed-stale 2")
				default:
					r.want("requests 4 hits 1 misses 3 opened 3 closed-ping 3")
				}
				bad.Store(false)
				r.get("/")
				if s := r.w.stats(); s.Errors != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// F045: who asks beside requests is in nobody's way, whatever the pool's size.
func TestF045IntervalPingBesideRequests(t *testing.T) {
	for _, lines := range [][]string{
		{"connection_pool_size=1", "connection_acquire_timeout=60000"},
		{"connection_pool_size=4", "connection_acquire_timeout=60000"},
		{"cachesize=4"},
	} {
		c := ajptest.New(t, nil)
		r := newRig(t, dialKinds[1].dial, c, 4, append(lines, "connection_ping_interval=1")...)
		stop := make(chan struct{})
		var maintenance, requests sync.WaitGroup
		maintenance.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					r.clock.add(2 * time.Second)
					r.maintain()
				}
			}
		})
		for range 4 {
			requests.Go(func() {
				for range 200 {
					r.get("/")
				}
			})
		}
		requests.Wait()
		close(stop)
		maintenance.Wait()
		// A cache has no bound: a request opens one more while another is asked.
		if _, _, most := r.counts(); r.w.pool.mode == ModePool && most > r.w.pool.size {
			t.Errorf("%v: %d connections at a time", lines, most)
		}
		r.settled()
	}
}

// A request that finds the only connection in the hands of maintenance waits for
// it, although it would not wait for another request.
func TestF045RequestWaitsForMaintenance(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: func(k *ajptest.Conn) {
		close(asked)
		<-answer
		k.Send(ajptest.CPong())
	}}, nil)
	r := newRig(t, dialKinds[1].dial, c, 1, "connection_pool_size=1", "connection_acquire_timeout=0", "connection_ping_interval=1")
	r.get("/")
	r.clock.add(2 * time.Second)
	var wg sync.WaitGroup
	wg.Go(r.maintain)
	<-asked
	wg.Go(func() { r.get("/") })
	close(answer)
	wg.Wait()
	r.want("requests 2 hits 1 misses 1 opened 1 idle 1")
}

// The pings of one run have an end; the next run goes on where it was.
func TestMaintainIsBounded(t *testing.T) {
	c := ajptest.New(t, nil)
	text := "worker.list=a,b,c\n"
	for _, n := range []string{"a", "b", "c"} {
		text += fmt.Sprintf("worker.%s.host=127.0.0.1\nworker.%s.port=%d\nworker.%s.ping_mode=I\n", n, n, c.Port(), n)
	}
	cfg, _ := mustParse(t, Env{}, Source{File: "w", Data: []byte(text)})
	m, _, err := NewURIMap(cfg, Env{}, mapFile("/a=a\n/b=b\n/c=c\n"))
	if err != nil {
		t.Fatal(err)
	}
	k := New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{Threads: 1, Dial: dialKinds[1].dial, Logger: zerolog.Nop(), WriteTimeout: long})
	defer k.Close()
	for _, path := range []string{"/a", "/b", "/c"} {
		q := request("GET", path, "")
		if err := k.Match(q).Service(q, &answer{}); err != nil {
			t.Fatal(err)
		}
	}
	w := k.workers[1]
	later := time.Now().Add(time.Hour)
	if w.maintain(later, time.Now()) || c.CPings() != 0 || w.pool.idleCount() != 1 {
		t.Errorf("without time: %d pings, %d idle", c.CPings(), w.pool.idleCount())
	}
	k.maintained = 2
	k.Maintain(later)
	if c.CPings() != 3 {
		t.Errorf("%d pings", c.CPings())
	}
}

// A back end that had nothing to do becomes idle, and late answers are
// forgotten.
func TestKeeperOfBackEnds(t *testing.T) {
	c := ajptest.New(t, nil)
	r := newRig(t, dialKinds[0].dial, c, 1)
	k := &Keeper{Config: r.c.config, Segment: r.c.seg, Logger: zerolog.Nop()}
	rec := r.w.rec
	step := func(now int64, want jkshm.WorkerState, timeouts uint64) {
		t.Helper()
		k.maintain(now)
		if rec.State() != want || rec.ReplyTimeouts.Load() != timeouts {
			t.Errorf("at %d: %v, %d late answers", now, rec.State(), rec.ReplyTimeouts.Load())
		}
	}
	step(1000, jkshm.WorkerIdle, 0)
	r.get("/")
	rec.ReplyTimeouts.Store(5)
	step(1059, jkshm.WorkerOK, 5)
	step(1060, jkshm.WorkerOK, 2) // used since
	step(1119, jkshm.WorkerOK, 2)
	step(1120, jkshm.WorkerIdle, 1)
	rec.SetState(jkshm.WorkerError)
	step(1180, jkshm.WorkerError, 0) // that is no idleness
	r.get("/")
	step(1000, jkshm.WorkerOK, 0) // the clock was set back
	step(1060, jkshm.WorkerOK, 0)
	step(1120, jkshm.WorkerIdle, 0)
}
