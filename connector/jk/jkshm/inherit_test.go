package jkshm

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"jkd/connector/jk/balance"
)

// What is counted and edited in the old segment after it was inherited comes to
// the new one, once.
func TestInherit(t *testing.T) {
	old := mustFormat(t, testLayout())
	child := mustAttach(t, old)
	a, lb := child.Worker(0), child.Balancer(0)
	m := lb.Member(0)
	a.Used.Add(100)
	m.Elected.Add(66)
	from, err := AttachAny(old.mem)
	if err != nil {
		t.Fatal(err)
	}
	next := mustFormat(t, nextLayout())
	i := next.Inherit(from)
	if losses := i.Losses(); len(losses) != 3 || len(i.Losses()) != 0 {
		t.Errorf("losses: %v", losses)
	}
	if next.Token() != old.Token() || mustAttach(t, next).Token() != old.Token() {
		t.Error("forms do not hold any more")
	}
	na, nlb, nm := next.Worker(2), next.Balancer(1), next.Balancer(1).Member(1)
	na.Used.Add(7) // a child of the new generation
	for range 3 {
		i.Catch()
	}
	check := func(used, elected, forced, most uint64) {
		t.Helper()
		if na.Used.Load() != used || nm.Elected.Load() != elected || nlb.Forced.Load() != forced || nlb.MaxBusy.Load() != most {
			t.Errorf("%d, %d, %d, %d; want %d, %d, %d, %d", na.Used.Load(), nm.Elected.Load(), nlb.Forced.Load(), nlb.MaxBusy.Load(), used, elected, forced, most)
		}
	}
	check(107, 66, 0, 0)

	a.Used.Add(3)
	m.Elected.Add(4)
	lb.Forced.Add(5)
	lb.MaxBusy.Raise(9)
	m.SetState(balance.Error)
	update1(t, m.Update, func(s *MemberSettings) { s.Activation = balance.Stopped })
	update1(t, lb.Update, func(s *BalancerSettings) { s.Method = balance.ByTraffic })
	update1(t, nlb.Update, func(s *BalancerSettings) { s.Retries = 8 })
	update1(t, a.Update, func(s *WorkerSettings) { s.Retries = 6 })
	edits := next.Edits()
	i.Catch()
	check(110, 70, 5, 9)
	wantMember, wantBalancer, wantWorker := testMember, testBalancer, testWorker
	wantMember.Activation, wantBalancer.Method, wantBalancer.Retries, wantWorker.Retries = balance.Stopped, balance.ByTraffic, 8, 6
	same(t, "member", memberSettings(nm), wantMember)
	same(t, "balancer", balancerSettings(nlb), wantBalancer)
	same(t, "worker", workerSettings(na), wantWorker)
	same(t, "addresses", addresses(na), testAddresses)
	if nm.State() == balance.Error {
		t.Error("a state was taken over")
	}
	if n := next.Edits() - edits; n != 3 {
		t.Errorf("%d edits", n)
	}
	i.Catch()
	if n := next.Edits() - edits; n != 3 {
		t.Errorf("%d edits after nothing", n)
	}
	// An edit that is taken back.
	update1(t, m.Update, func(s *MemberSettings) { *s = testMember })
	// The host goes with its addresses.
	there := Addresses{Resolved: true, List: testAddresses.List[:2]}
	if err := a.Edit(1, func(s *WorkerSettings, x *Addresses) error { s.Host, *x = "x", there; return nil }); err != nil {
		t.Fatal(err)
	}
	i.Catch()
	same(t, "member", memberSettings(nm), testMember)
	wantWorker.Host = "x"
	same(t, "worker", workerSettings(na), wantWorker)
	same(t, "addresses", addresses(na), there)
	if l := i.Losses(); len(l) != 0 {
		t.Errorf("losses: %v", l)
	}
	// A reset there is none here.
	a.Reset(5)
	a.Used.Add(1)
	i.Catch()
	a.Used.Add(1)
	i.Catch()
	check(111, 70, 5, 9)

	next.Inherit(nil).Catch()
	(*Segment)(nil).Inherit(old).Catch()
}

// The configuration says something new about what is edited; and somebody is
// editing.
func TestCatchLoses(t *testing.T) {
	old, next := mustFormat(t, testLayout()), mustFormat(t, testLayout())
	next.Sleep = func(time.Duration) {}
	changed := testMember
	changed.LBFactor, changed.Distance = 99, 5
	nm, m := next.Balancer(0).Member(0), old.Balancer(0).Member(0)
	if err := nm.Configure(changed); err != nil {
		t.Fatal(err)
	}
	i := next.Inherit(old)
	update1(t, m.Update, func(s *MemberSettings) { s.LBFactor, s.Distance, s.Domain = 3, 5, "right" })
	next.lock.Store(2) // a child's
	i.Catch()
	same(t, "while locked", memberSettings(nm), changed)
	next.lock.Store(0)
	i.Catch()
	changed.Domain = "right"
	same(t, "member", memberSettings(nm), changed)
	var got []string
	for _, l := range i.Losses() {
		got = append(got, l.String())
	}
	same(t, "losses", got, []string{`member "a" of balancer "lb": lbfactor: ` + whyChanged})
	update1(t, m.Update, func(s *MemberSettings) { s.LBFactor = 4 })
	i.Catch()
	if l := i.Losses(); len(l) != 0 {
		t.Errorf("told again: %v", l)
	}
}

func TestCatchHostile(t *testing.T) {
	old, next := mustFormat(t, testLayout()), mustFormat(t, testLayout())
	from, to := old.Worker(0).Used, next.Worker(0).Used
	from.Store(100)
	i := next.Inherit(old)
	for _, tt := range []struct{ write, want uint64 }{
		{100, 100},
		{40, 100}, // a reset
		{45, 105},
		{math.MaxUint64, 105},
		{math.MaxUint64 - 1, 105},
		{3, 105},
		{4, 106},
	} {
		from.Store(tt.write)
		i.Catch()
		if got := to.Load(); got != tt.want {
			t.Errorf("%d became %d, not %d", tt.write, got, tt.want)
		}
	}
	// A number that would overflow is not inherited as it is.
	from.Store(math.MaxUint64)
	third := mustFormat(t, testLayout())
	j := third.Inherit(old)
	third.Worker(0).Used.Add(1)
	from.Store(0)
	from.Store(5)
	j.Catch()
	if got := third.Worker(0).Used.Load(); got != mostCarried+1 {
		t.Errorf("%d", got)
	}

	rnd := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		old, next := mustFormat(t, testLayout()), mustFormat(t, testLayout())
		next.Sleep = func(time.Duration) {}
		scribble := func() {
			for i := int(old.place.workers); i < len(old.mem); i += wordSize {
				if rnd.IntN(2) == 0 {
					binary.LittleEndian.PutUint64(old.mem[i:], rnd.Uint64()>>rnd.IntN(64))
				}
			}
		}
		scribble()
		i := next.Inherit(old)
		for range 4 {
			var was []uint64
			for _, n := range i.numbers {
				was = append(was, n.to.Load())
			}
			scribble()
			i.Catch()
			for k, n := range i.numbers {
				if n.to.Load() < was[k] {
					t.Errorf("number %d: %d became %d", k, was[k], n.to.Load())
				}
			}
			sane(t, next)
			usable(t, next)
		}
	}
}
