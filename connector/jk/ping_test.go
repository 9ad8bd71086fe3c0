package jk

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
)

// pongs are answers to CPING; those that are none end the connection.
var pongs = []struct {
	name string
	good bool
	do   func(*ajptest.Conn)
}{
	{"CPONG", true, func(k *ajptest.Conn) { k.Send(ajptest.CPong()) }},
	{"flush and CPONG", true, func(k *ajptest.Conn) { k.Send(ajptest.Flush(), ajptest.CPong()) }},
	{"CPONG byte by byte", true, func(k *ajptest.Conn) { k.SendSlowly(0, ajptest.CPong()) }},
	{"wrong code", false, func(k *ajptest.Conn) { k.Send(ajptest.End(true)) }},
	{"wrong magic", false, func(k *ajptest.Conn) { k.Send(ajptest.CPing()) }},
	{"an answer", false, func(k *ajptest.Conn) { k.Send(ajptest.SendHeaders(200, "200"), ajptest.End(true)) }},
	{"CPONG and an answer", false, func(k *ajptest.Conn) {
		k.Send(ajptest.CPong(), ajptest.SendHeaders(200, "200"), ajptest.End(true))
	}},
	{"silence", false, func(k *ajptest.Conn) { k.Hold() }},
	{"close", false, func(k *ajptest.Conn) { k.Close() }},
	{"reset", false, func(k *ajptest.Conn) { k.Reset() }},
}

// When the two modes ask.
func TestPingModes(t *testing.T) {
	tests := []struct {
		lines []string
		pings []int // after each of three requests
	}{
		{nil, []int{0, 0, 0}},
		{[]string{"ping_mode=C"}, []int{1, 1, 1}},
		{[]string{"ping_mode=P"}, []int{1, 2, 3}},
		{[]string{"ping_mode=CP"}, []int{1, 2, 3}},
		{[]string{"ping_mode=A"}, []int{1, 2, 3}},
		{[]string{"ping_mode=I"}, []int{0, 0, 0}},
		{[]string{"connect_timeout=9000"}, []int{1, 1, 1}},
		{[]string{"prepost_timeout=9000"}, []int{1, 2, 3}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.lines, " "), func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				c := ajptest.New(t, nil)
				r := newRig(t, dial, c, 1, tt.lines...)
				for i, want := range tt.pings {
					r.get("/")
					if c.CPings() != want {
						t.Errorf("%d pings after request %d, want %d", c.CPings(), i+1, want)
					}
				}
				r.want("requests 3 hits 2 misses 1 opened 1 idle 1")
			})
		})
	}
}

// F045: a connection from the pool that does not answer is replaced, by
// another from the pool or by a new one; the user doesn't notice.
func TestF045PooledConnection(t *testing.T) {
	for _, pong := range pongs {
		t.Run(pong.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				g := &gates{}
				var bad [9]atomic.Bool // by number of the connection
				c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: func(k *ajptest.Conn) {
					if bad[k.Number].Load() {
						pong.do(k)
						return
					}
					k.Send(ajptest.CPong())
				}}, g.handler)
				timeout := "9000"
				if pong.name == "silence" {
					timeout = "1500" // the healthy ones answer within it on a busy machine too
				}
				r := newRig(t, dial, c, 3, "prepost_timeout="+timeout, "retries=1")
				r.hold(c, g, 3)
				// The one that is taken first is bad.
				last := r.get("/")
				bad[last[0]-'0'].Store(true)
				next := r.get("/")
				switch {
				case pong.good:
					if next != last {
						t.Errorf("connection %s, then %s", last, next)
					}
					r.want("requests 5 hits 2 misses 3 opened 3 idle 3")
				case pong.name == "silence":
					// The others are not asked: each might cost as long.
					r.want("requests 5 hits 1 misses 4 opened 4 closed-ping 1 closed-stale 2 idle 1")
				default:
					if next == last || next == "4" {
						t.Errorf("connection %s, then %s", last, next)
					}
					r.want("requests 5 hits 2 misses 3 opened 3 closed-ping 1 idle 2")
				}
				// All are bad now, and a new one isn't.
				for i := range 3 {
					bad[i+1].Store(true)
				}
				if n := r.get("/"); n != "4" && !pong.good {
					t.Errorf("connection %s", n)
				}
				if s := r.w.stats(); s.Errors != 0 {
					t.Errorf("%+v", s)
				}
				r.settled()
			})
		})
	}
}

// Only a new connection that does not answer counts against the worker.
func TestF045NewConnection(t *testing.T) {
	for _, mode := range []string{"connect_timeout=", "prepost_timeout="} {
		for _, pong := range pongs {
			t.Run(mode+pong.name, func(t *testing.T) {
				bothKinds(t, func(t *testing.T, dial DialFunc) {
					c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: pong.do}, nil)
					timeout := "9000"
					if pong.name == "silence" {
						timeout = "30"
					}
					r := newRig(t, dial, c, 1, mode+timeout, "retries=2", "retry_interval=0")
					if pong.good {
						r.get("/")
						return
					}
					e := r.fails(request("POST", "/", "x"), &answer{}, 503)
					if e.Client || !e.Recoverable || e.Addr != c.Addr() || !strings.Contains(e.Op, "cping") {
						t.Errorf("%+v", e)
					}
					if !c.WaitAccepted(2, long) || !c.WaitOpen(0, long) {
						t.Error("a connection is still open")
					}
					// Only now has the container seen all of it.
					if c.Requests() != 0 || c.CPings() != 2 {
						t.Errorf("%d requests, %d pings", c.Requests(), c.CPings())
					}
					r.want("requests 1 errors 1 misses 2 opened 2 closed-ping 2")
				})
			})
		}
	}
}

// The limits of a ping are over with it.
func TestPingLeavesNoLimit(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			e.Sleep(150 * time.Millisecond)
			e.Respond(200, "x")
		})
		r := newRig(t, dial, c, 1, "ping_mode=A", "ping_timeout=100", "connect_timeout=100", "retries=1")
		r.get("/")
		r.get("/")
	})
}
