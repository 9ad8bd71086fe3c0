package jkshm

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jkd/connector/jk/balance"
)

func TestSettings(t *testing.T) {
	s := mustFormat(t, testLayout())
	w, b, m := s.Worker(0), s.Balancer(0), s.Balancer(0).Member(1)
	same(t, "worker", workerSettings(w), testWorker)
	same(t, "balancer", balancerSettings(b), testBalancer)
	same(t, "member", memberSettings(m), testMember)
	same(t, "addresses", addresses(w), testAddresses)

	// Another process edits.
	c := mustAttach(t, s)
	edits, wv, bv, mv := s.Edits(), w.Version(), b.Version(), m.Version()
	if err := c.Worker(0).Update(2, func(s *WorkerSettings) error {
		s.Host, s.ReplyTimeout, s.Retries = strings.Repeat("h", 255), time.Hour, 9
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := c.Balancer(0).Update(2, func(s *BalancerSettings) error { s.Method = balance.ByTraffic; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := c.Balancer(0).Member(1).Update(Master, func(s *MemberSettings) error {
		s.Route, s.Activation = strings.Repeat("r", 63), balance.Stopped
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if s.Edits() != edits+3 || w.Version() == wv || b.Version() == bv || m.Version() == mv {
		t.Errorf("%d edits; versions %d, %d, %d", s.Edits()-edits, w.Version(), b.Version(), m.Version())
	}
	wantWorker, wantBalancer, wantMember := testWorker, testBalancer, testMember
	wantWorker.Host, wantWorker.ReplyTimeout, wantWorker.Retries = strings.Repeat("h", 255), time.Hour, 9
	wantBalancer.Method = balance.ByTraffic
	wantMember.Route, wantMember.Activation = strings.Repeat("r", 63), balance.Stopped
	same(t, "worker", workerSettings(w), wantWorker)
	same(t, "balancer", balancerSettings(b), wantBalancer)
	same(t, "member", memberSettings(m), wantMember)
	same(t, "edited", [][]string{w.Edited(), b.Edited(), m.Edited()},
		[][]string{{"host", "reply_timeout", "retries"}, {"method"}, {"activation", "route"}})
	same(t, "the other worker", workerSettings(s.Worker(1)), testWorker)
	var dst WorkerSettings
	if v := w.Load(&dst); v != w.Version() {
		t.Errorf("Load says version %d, Version %d", v, w.Version())
	}

	// An edit that changes nothing is none.
	edits = s.Edits()
	if err := w.Update(1, func(*WorkerSettings) error { return nil }); err != nil || s.Edits() != edits {
		t.Errorf("no change: %v, %d edits", err, s.Edits()-edits)
	}
	// One that fails neither.
	no := errors.New("no")
	if err := w.Update(1, func(s *WorkerSettings) error { s.Retries = 3; return no }); err != no || s.Edits() != edits {
		t.Errorf("%v, %d edits", err, s.Edits()-edits)
	}
	same(t, "worker", workerSettings(w), wantWorker)
	if s.lock.Load() != 0 {
		t.Error("the lock is held")
	}
}

func TestOutOfRangeEdits(t *testing.T) {
	s := mustFormat(t, testLayout())
	w, b, m := s.Worker(0), s.Balancer(0), s.Balancer(0).Member(0)
	worker := func(f func(*WorkerSettings)) error {
		return w.Update(0, func(s *WorkerSettings) error { f(s); return nil })
	}
	balancer := func(f func(*BalancerSettings)) error {
		return b.Update(0, func(s *BalancerSettings) error { f(s); return nil })
	}
	member := func(f func(*MemberSettings)) error {
		return m.Update(0, func(s *MemberSettings) error { f(s); return nil })
	}
	for want, err := range map[string]error{
		`jkshm: worker "a": host "` + strings.Repeat("h", 256) + `" has more than 255 bytes`:                 worker(func(s *WorkerSettings) { s.Host = strings.Repeat("h", 256) }),
		`jkshm: member "a" of balancer "lb": route "` + strings.Repeat("r", 64) + `" has more than 63 bytes`: member(func(s *MemberSettings) { s.Route = strings.Repeat("r", 64) }),
		`jkshm: worker "a": host "a\x00" has a zero byte`:                                                    worker(func(s *WorkerSettings) { s.Host = "a\x00" }),
		`jkshm: worker "a": port 65536 is not between 0 and 65535`:                                           worker(func(s *WorkerSettings) { s.Port = 65536 }),
		`jkshm: worker "a": retries 0 is not between 1 and 2147483647`:                                       worker(func(s *WorkerSettings) { s.Retries = 0 }),
		`jkshm: worker "a": reply_timeout -1ns is not between 0s and 596523h14m7s`:                           worker(func(s *WorkerSettings) { s.ReplyTimeout = -1 }),
		`jkshm: worker "a": recovery_options 32 is not between 0 and 31`:                                     worker(func(s *WorkerSettings) { s.RecoveryOptions = 32 }),
		`jkshm: worker "a": max_packet_size 8193 is not a multiple of 1024`:                                  worker(func(s *WorkerSettings) { s.MaxPacketSize = 8193 }),
		`jkshm: worker "a": max_packet_size 66560 is not between 8192 and 65536`:                             worker(func(s *WorkerSettings) { s.MaxPacketSize = 65 * 1024 }),
		`jkshm: worker "a": address invalid AddrPort cannot be kept`:                                         w.SetAddresses(0, Addresses{List: make([]netip.AddrPort, 1)}),
		`jkshm: worker "a": addresses 9 is not between 0 and 8`:                                              w.SetAddresses(0, Addresses{List: slices.Repeat(testAddresses.List[:1], 9)}),
		`jkshm: balancer "lb": method 5 is unknown`:                                                          balancer(func(s *BalancerSettings) { s.Method = 5 }),
		`jkshm: balancer "lb": recover_time 0s is not between 1s and 596523h14m7s`:                           balancer(func(s *BalancerSettings) { s.RecoverTime = 0 }),
		`jkshm: member "a" of balancer "lb": lbfactor 0 is not between 1 and 2147483647`:                     member(func(s *MemberSettings) { s.LBFactor = 0 }),
		`jkshm: member "a" of balancer "lb": activation 3 is unknown`:                                        member(func(s *MemberSettings) { s.Activation = 3 }),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	same(t, "worker", workerSettings(w), testWorker)
	same(t, "balancer", balancerSettings(b), testBalancer)
	same(t, "member", memberSettings(m), testMember)
	if err := mustFormat(t, testLayout()).Worker(0).Configure(WorkerSettings{}, Addresses{}); err == nil {
		t.Error("configured what is out of range")
	}
}

func TestAddresses(t *testing.T) {
	s := mustFormat(t, testLayout())
	w := s.Worker(0)
	g, edits := w.AddressGeneration(), s.Edits()
	var dst Addresses
	if got := w.LoadAddresses(&dst); got != g {
		t.Errorf("generation %d, then %d", g, got)
	}
	// The same again is no change; a setting is none of the addresses.
	if err := w.SetAddresses(Master, dst); err != nil || w.AddressGeneration() != g || s.Edits() != edits {
		t.Errorf("%v; generation %d, then %d", err, g, w.AddressGeneration())
	}
	if err := w.Update(0, func(s *WorkerSettings) error { s.Retries++; return nil }); err != nil || w.AddressGeneration() != g || s.Edits() != edits+1 {
		t.Errorf("%v; generation %d, then %d", err, g, w.AddressGeneration())
	}
	eight := Addresses{Resolved: true}
	for i := range MaxAddresses {
		eight.List = append(eight.List, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(i)}), 8009))
	}
	if err := w.SetAddresses(Master, eight); err != nil || w.AddressGeneration() == g {
		t.Errorf("%v; generation %d, then %d", err, g, w.AddressGeneration())
	}
	same(t, "eight", addresses(w), eight)
	// Another port is that of all addresses; another host has none yet.
	if err := w.Update(0, func(s *WorkerSettings) error { s.Port = 9; return nil }); err != nil {
		t.Fatal(err)
	}
	got := addresses(w)
	if !got.Resolved || len(got.List) != MaxAddresses || got.List[7] != netip.MustParseAddrPort("127.0.0.7:9") {
		t.Errorf("another port: %v", got)
	}
	g = w.AddressGeneration()
	if err := w.Update(0, func(s *WorkerSettings) error { s.Host = "elsewhere"; return nil }); err != nil {
		t.Fatal(err)
	}
	if got := addresses(w); got.Resolved || len(got.List) != 0 || w.AddressGeneration() == g {
		t.Errorf("another host: %v", got)
	}
	// Both at once.
	if err := w.Edit(0, func(s *WorkerSettings, a *Addresses) error {
		s.Host = "there"
		*a = testAddresses
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	same(t, "host and addresses", addresses(w), testAddresses)

	if w.TakeSuspect() {
		t.Error("suspected by nobody")
	}
	w.Suspect()
	w.Suspect()
	if !w.TakeSuspect() || w.TakeSuspect() {
		t.Error("suspected not once")
	}
}

// An edit waits for another one for a bounded time.
func TestEditLock(t *testing.T) {
	s := mustFormat(t, testLayout())
	var slept, longest time.Duration
	s.Sleep = func(d time.Duration) { slept, longest = slept+d, max(longest, d) }
	edit := func() error {
		return s.Worker(0).Update(0, func(s *WorkerSettings) error { s.Retries++; return nil })
	}
	for holder, want := range map[uint64]string{
		3:           "server 2 is in the middle of an edit",
		masterOwner: "the master is in the middle of an edit",
	} {
		slept = 0
		s.lock.Store(holder)
		var locked *LockedError
		if err := edit(); !errors.As(err, &locked) || err.Error() != "jkshm: "+want {
			t.Errorf("%v; want %s", err, want)
		}
		if slept != lockWait || longest > lockPause {
			t.Errorf("slept for %v, at most %v", slept, longest)
		}
		if s.lock.Load() != holder {
			t.Error("the lock has changed hands")
		}
	}
	// Reclaiming another server does not free it, its holder's does.
	s.lock.Store(3)
	s.Reclaim(1)
	if s.lock.Load() != 3 {
		t.Error("freed for the wrong server")
	}
	edits := s.Edits()
	s.Reclaim(2)
	if err := edit(); err != nil || s.Edits() != edits+2 {
		t.Errorf("%v, %d edits", err, s.Edits()-edits)
	}
	// Nonsense is nobody.
	for _, holder := range []uint64{5, 1 << 31, 1<<64 - 1} {
		s.lock.Store(holder)
		if err := edit(); err != nil || s.lock.Load() != 0 {
			t.Errorf("holder %d: %v", holder, err)
		}
	}
	// It is given back while it is waited for.
	s.lock.Store(3)
	n := 0
	s.Sleep = func(time.Duration) {
		if n++; n == 3 {
			s.lock.Store(0)
		}
	}
	if err := edit(); err != nil || n != 3 {
		t.Errorf("%v after %d pauses", err, n)
	}
	// A panic in the edit gives it back.
	func() {
		defer func() { recover() }()
		s.Worker(0).Update(0, func(*WorkerSettings) error { panic("x") })
	}()
	if s.lock.Load() != 0 {
		t.Error("still locked after a panic")
	}
}

// Readers see one edit or another, never a mixture.
func TestReadersDuringEdits(t *testing.T) {
	s := mustFormat(t, testLayout())
	const writers = 2
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	var wg, reading sync.WaitGroup
	done := make(chan struct{})
	set := func(s *WorkerSettings, a *Addresses) error {
		n := s.Retries + 1
		d := time.Duration(n) * time.Millisecond
		s.Host = strings.Repeat(string(rune('a'+n%26)), n%64)
		s.Retries, s.BusyLimit, s.Port = n, n, n%65536
		s.ReplyTimeout, s.PingTimeout = d, d
		*a = Addresses{List: slices.Repeat([]netip.AddrPort{netip.AddrPortFrom(netip.IPv6Loopback(), uint16(n))}, n%9)}
		return nil
	}
	if err := s.Worker(0).Edit(0, set); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		c := mustAttach(t, s)
		reading.Go(func() {
			for last := 0; ; {
				select {
				case <-done:
					return
				default:
				}
				w := c.Worker(0)
				got := workerSettings(w)
				n := got.Retries
				if got.BusyLimit != n || got.Port != n || got.ReplyTimeout != time.Duration(n)*time.Millisecond ||
					len(got.Host) != n%64 || strings.Trim(got.Host, string(rune('a'+n%26))) != "" || n < last {
					t.Errorf("reader %d: mixture %+v", i, got)
					return
				}
				last = n
				list := addresses(w).List
				for _, a := range list {
					if a != list[0] || len(list) != int(a.Port())%9 {
						t.Errorf("reader %d: mixture %v", i, list)
						return
					}
				}
			}
		})
	}
	for i := range writers {
		c := mustAttach(t, s)
		wg.Go(func() {
			for range rounds {
				if err := c.Worker(0).Edit(i, set); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(done)
	reading.Wait()
	if n := workerSettings(s.Worker(0)).Retries; n != testWorker.Retries+1+writers*rounds {
		t.Errorf("%d edits are in the record of %d", n-testWorker.Retries, 1+writers*rounds)
	}
}
