package jkshm

import (
	"testing"
	"time"

	"jkd/connector/jk/balance"
)

func update1[T any](t *testing.T, f func(int, func(*T) error) error, change func(*T)) {
	t.Helper()
	if err := f(1, func(s *T) error { change(s); return nil }); err != nil {
		t.Fatal(err)
	}
}

// The next segment has the workers in another order, one less and one more, and
// other limits.
func nextLayout() Layout {
	return Layout{
		Servers:   7,
		Workers:   []WorkerLayout{{"new"}, {"b"}, {"a"}},
		Balancers: []BalancerLayout{{"another", []int{0}}, {"lb", []int{0, 2}}},
	}
}

func TestCarry(t *testing.T) {
	old := mustFormat(t, testLayout())
	a, lb, m := old.Worker(0), old.Balancer(0), old.Balancer(0).Member(0)
	a.Used.Add(100)
	a.Transferred.Add(12345)
	a.ErrorTime.Store(77)
	a.SetState(WorkerProbe)
	a.Enter(1)
	a.Opened(1)
	a.Enter(2)
	lb.Forced.Add(4)
	lb.LastMaintenance.Store(1000)
	lb.SetNext(1)
	m.LBValue.Add(55)
	m.Elected.Add(66)
	m.FirstError.Store(12)
	m.SetState(balance.Recover)
	m.TryProbe(2, 5)
	old.Worker(1).SetState(WorkerOK)
	update1(t, a.Update, func(s *WorkerSettings) { s.Retries, s.BusyLimit, s.ReplyTimeout = 5, 6, time.Hour })
	update1(t, lb.Update, func(s *BalancerSettings) { s.Method = balance.ByTraffic })
	update1(t, m.Update, func(s *MemberSettings) { s.Activation, s.Redirect = balance.Stopped, "" })

	// The segment is found again with what its own header says.
	from, err := AttachAny(old.mem)
	if err != nil {
		t.Fatal(err)
	}
	next := mustFormat(t, nextLayout())
	// The new configuration says something new about two of a's values: one that
	// was edited, one that was not; and what the edit of a third made of it.
	changed := testWorker
	changed.BusyLimit, changed.PingTimeout, changed.ReplyTimeout = 99, 9*time.Second, time.Hour
	na := next.Worker(2)
	if err := na.Configure(changed, testAddresses); err != nil {
		t.Fatal(err)
	}
	edits := next.Edits()
	losses := next.Carry(from)
	var got []string
	for _, l := range losses {
		got = append(got, l.String())
	}
	same(t, "losses", got, []string{
		`worker "a": busy_limit: it was edited, but is now configured differently from before: the configuration counts`,
		`worker "alone": it is not in the configuration any more`,
		`member "b" of balancer "lb": it is not in the configuration any more`,
		`balancer "other": it is not in the configuration any more`,
	})
	if next.Edits() == edits {
		t.Error("no edit was counted")
	}

	if na.Used.Load() != 100 || na.Transferred.Load() != 12345 || na.ErrorTime.Load() != 77 || na.State() != WorkerError {
		t.Errorf("worker: %d, %d, %d, %v", na.Used.Load(), na.Transferred.Load(), na.ErrorTime.Load(), na.State())
	}
	if na.Busy() != 0 || na.Connected() != 0 || na.MaxBusy() != 2 || na.MaxConnected() != 1 {
		t.Errorf("gauges: %d, %d, most %d, %d", na.Busy(), na.Connected(), na.MaxBusy(), na.MaxConnected())
	}
	want := changed
	want.Retries = 5
	same(t, "worker", workerSettings(na), want)
	same(t, "edited", na.Edited(), []string{"retries"})
	same(t, "addresses", addresses(na), testAddresses)

	nlb, nm := next.Balancer(1), next.Balancer(1).Member(1)
	if nlb.Forced.Load() != 4 || nlb.LastMaintenance.Load() != 1000 || nlb.Next() != 1 {
		t.Error("balancer")
	}
	wantBalancer := testBalancer
	wantBalancer.Method = balance.ByTraffic
	same(t, "balancer", balancerSettings(nlb), wantBalancer)
	if nm.LBValue.Load() != 55 || nm.Elected.Load() != 66 || nm.FirstError.Load() != 12 || nm.State() != balance.Recover {
		t.Errorf("member: %d, %d, %d, %v", nm.LBValue.Load(), nm.Elected.Load(), nm.FirstError.Load(), nm.State())
	}
	wantMember := testMember
	wantMember.Activation, wantMember.Redirect = balance.Stopped, ""
	same(t, "member", memberSettings(nm), wantMember)
	if nb := next.Worker(1); nb.State() != WorkerOK || len(nb.Edited()) != 0 {
		t.Error("worker b")
	}
	if n := next.Balancer(0).Member(0); n.Elected.Load() != 0 || len(n.Edited()) != 0 {
		t.Error("something was carried to what is new")
	}

	// Once more, to a third generation of the first configuration: edits last,
	// and what was lost stays lost.
	third := mustFormat(t, testLayout())
	third.Carry(next)
	same(t, "third", third.Worker(0).Edited(), []string{"retries"})
	same(t, "third", third.Balancer(0).Member(0).Edited(), []string{"activation", "redirect"})
	// The old one was only read.
	same(t, "old", workerSettings(a).Retries, 5)
	if a.Busy() != 2 {
		t.Error("the old segment has changed")
	}
}

// Addresses go with the host they are of.
func TestCarryAddresses(t *testing.T) {
	unresolved := Addresses{}
	for _, tt := range []struct {
		name   string
		before func(*WorkerSettings, *Addresses)
		now    WorkerSettings
		addr   Addresses
		want   Addresses
	}{
		{"known before, not now", nil, testWorker, unresolved, testAddresses},
		{"known before and now", nil, testWorker, Addresses{Resolved: true, List: testAddresses.List[:1]}, Addresses{Resolved: true, List: testAddresses.List[:1]}},
		{"host edited", func(s *WorkerSettings, a *Addresses) { s.Host = "x"; a.List = a.List[:2] }, testWorker, testAddresses, Addresses{Resolved: true, List: testAddresses.List[:2]}},
		{"host edited, not resolved", func(s *WorkerSettings, a *Addresses) { s.Host = "x"; *a = unresolved }, testWorker, testAddresses, unresolved},
		{"host configured anew", nil, func() WorkerSettings { s := testWorker; s.Host = "y"; return s }(), unresolved, unresolved},
	} {
		old, next := mustFormat(t, testLayout()), mustFormat(t, testLayout())
		if tt.before != nil {
			if err := old.Worker(0).Edit(0, func(s *WorkerSettings, a *Addresses) error { tt.before(s, a); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if err := next.Worker(0).Configure(tt.now, tt.addr); err != nil {
			t.Fatal(err)
		}
		next.Carry(old)
		got := addresses(next.Worker(0))
		if !got.equal(&tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
