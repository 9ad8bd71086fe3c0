//go:build unix

package jk

import (
	"math"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
)

// Processes of a crowd, as many as a busy front has.
const processes = 64

// Together they balance as one: whatever the method, the members get their
// shares; and one that one process found dead is left alone by the others.
func TestManyProcesses(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("starts 64 processes; the race detector sees nothing of what is between them")
	}
	const each = 160
	weights := []float64{1, 2, 3}
	c := newCrowd(t, processes, 3, "n1.lbfactor=1", "n2.lbfactor=2", "n3.lbfactor=3", "lb.recover_time=10", "maintain=60")
	lb := c.seg.Balancer(0)
	for _, method := range []balance.Method{balance.ByRequests, balance.BySessions, balance.ByNext, balance.ByTraffic} {
		if err := lb.Update(jkshm.Master, func(s *jkshm.BalancerSettings) error { s.Method = method; return nil }); err != nil {
			t.Fatal(err)
		}
		for j := range c.nodes {
			lb.Member(j).Reset(time.Now().Unix())
			c.nodes[j].requests.Store(0)
		}
		if n := c.all(each, "/", "-"); n > 0 {
			t.Errorf("%v: %d requests failed", method, n)
		}
		for j, n := range c.nodes {
			want := processes * each * weights[j] / 6
			// With Traffic what is under way does not count yet.
			off := want / 100
			if method == balance.ByTraffic {
				off += processes
			}
			got := float64(n.requests.Load())
			t.Logf("%v: n%d got %v requests, %.0f would be its share", method, j+1, got, want)
			if math.Abs(got-want) > off {
				t.Errorf("%v: n%d got %v requests, want %v", method, j+1, got, want)
			}
			if e := float64(lb.Member(j).Elected.Load()); e != got {
				t.Errorf("%v: n%d was elected %v times and got %v requests", method, j+1, e, got)
			}
			if s := float64(lb.Member(j).Sessions.Load()); s != got {
				t.Errorf("%v: n%d has %v sessions of %v", method, j+1, s, got)
			}
		}
	}

	// F062: n1 dies, and one process finds out.
	n1, m1 := c.nodes[0], lb.Member(0)
	n1.die()
	n1.accepted.Store(0)
	connects := func(want int64) {
		t.Helper()
		// A connection that was made has been accepted a moment later.
		c.wait("connections of n1", func() bool { return n1.accepted.Load() >= want })
		if n := n1.accepted.Load(); n != want {
			t.Errorf("n1 was tried %d times, want %d", n, want)
		}
	}
	c.ask(7, 1, "/", "x.n1", 0)
	if n := c.failed(7); n != 0 || m1.State() != balance.Error {
		t.Errorf("%d failed, n1 is %v", n, m1.State())
	}
	connects(1)
	for _, cookie := range []string{"x.n1", "-"} {
		if n := c.all(10, "/", cookie); n > 0 {
			t.Errorf("%d requests failed", n)
		}
	}
	connects(1)

	// After recover_time one request of one process tries it.
	k := &Keeper{Config: c.setup.Config, Segment: c.seg, Logger: zerolog.Nop()}
	k.maintain(m1.LastError.Load() + 10)
	if m1.State() != balance.Error {
		t.Errorf("n1 is %v before its time", m1.State())
	}
	k.maintain(m1.LastError.Load() + 11)
	if n := c.all(2, "/", "x.n1"); n > 0 || m1.State() != balance.Error {
		t.Errorf("%d requests failed, n1 is %v", n, m1.State())
	}
	connects(2)

	// And when it is back, all of them use it again.
	n1.dead.Store(false)
	n1.requests.Store(0)
	k.maintain(m1.LastError.Load() + 11)
	c.ask(0, 1, "/", "x.n1", 0)
	if n := c.failed(0); n > 0 || m1.State() != balance.OK {
		t.Errorf("%d requests failed, n1 is %v", n, m1.State())
	}
	if n := c.all(1, "/", "x.n1"); n > 0 || n1.requests.Load() != 1+processes {
		t.Errorf("%d requests failed, n1 had %d", n, n1.requests.Load())
	}
	for j := range c.nodes {
		if busy, _ := c.held(j); busy != 0 {
			t.Errorf("n%d: busy %d", j+1, busy)
		}
	}
}

// F066: a process is killed with a request in hand. What it held is given back,
// and nothing else.
func TestF066KilledInRequest(t *testing.T) {
	c := newCrowd(t, 4, 2)
	holds := func(member, busy, connected int) {
		t.Helper()
		if b, n := c.held(member); b != busy || n != connected {
			t.Errorf("n%d: busy %d, connected %d, want %d and %d", member+1, b, n, busy, connected)
		}
	}
	n1 := c.nodes[0]
	for i := range c.kids {
		c.ask(i, 1, "/hold", "x.n1", 0)
	}
	c.wait("four requests", func() bool { return n1.requests.Load() == 4 })
	holds(0, 4, 4)
	c.kill(1)
	holds(0, 3, 3)
	n1.release()
	for _, i := range []int{0, 2, 3} {
		c.failed(i)
	}
	holds(0, 0, 3)
	holds(1, 0, 0)

	// The one that finds out whether a member is back is killed: another does.
	m := c.seg.Balancer(0).Member(0)
	m.SetState(balance.Recover)
	c.ask(2, 1, "/hold", "x.n1", 0)
	c.wait("a probe", func() bool { return n1.requests.Load() == 5 })
	if kid, _, ok := m.Probe(); !ok || kid != 2 {
		t.Errorf("state %v, probe by %d", m.State(), kid)
	}
	c.ask(0, 1, "/", "x.n1", 0)
	c.failed(0)
	if n := c.nodes[1].requests.Load(); n != 1 || m.State() != balance.Probe {
		t.Errorf("while there is a probe: n2 had %d requests, n1 is %v", n, m.State())
	}
	c.kill(2)
	n1.release()
	if m.State() != balance.Recover {
		t.Errorf("after the kill n1 is %v", m.State())
	}
	c.ask(3, 1, "/", "x.n1", 0)
	if n := c.failed(3); n != 0 || m.State() != balance.OK || n1.requests.Load() != 6 {
		t.Errorf("%d failed, n1 is %v and had %d requests", n, m.State(), n1.requests.Load())
	}
	holds(0, 0, 2)
	holds(1, 0, 1)
}

// F066: and so with many requests, clients that leave and kills at any time.
func TestF066KilledAnyTime(t *testing.T) {
	c := newCrowd(t, 8, 2, "lb.method=B")
	for i := range c.kids {
		c.ask(i, 200, "/", "-", 3)
	}
	for i := range 4 {
		had := c.nodes[0].requests.Load()
		c.wait("requests", func() bool { return c.nodes[0].requests.Load() > had+int64(10*i) })
		c.kill(i)
	}
	for i := 4; i < len(c.kids); i++ {
		if n := c.failed(i); n > 0 {
			t.Errorf("%d requests of process %d failed", n, i)
		}
	}
	for j, n := range c.nodes {
		busy, connected := c.held(j)
		if busy != 0 {
			t.Errorf("n%d: busy %d", j+1, busy)
		}
		c.wait("the connections that the segment knows of", func() bool { return n.open.Load() == int64(connected) })
	}
}
