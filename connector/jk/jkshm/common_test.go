package jkshm

import (
	"net/netip"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"jkd/connector/jk/balance"
)

// testLayout has a worker in two balancers, one in one and one in none.
func testLayout() Layout {
	return Layout{
		Servers:   4,
		Workers:   []WorkerLayout{{"a"}, {"b"}, {"alone"}},
		Balancers: []BalancerLayout{{"lb", []int{0, 1}}, {"other", []int{1}}},
		Maps:      []int{100, 1000},
	}
}

// memory is n zero bytes at an address that is a multiple of 8.
func memory(n int) []byte {
	w := make([]uint64, (n+wordSize-1)/wordSize+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), len(w)*wordSize)[:n]
}

// mustFormat is a segment in Go's memory, which the race detector watches.
func mustFormat(t testing.TB, l Layout) *Segment {
	t.Helper()
	size, err := Size(l)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Format(memory(size), l)
	if err != nil {
		t.Fatal(err)
	}
	configure(t, s)
	return s
}

// mustAttach is another handle of the same memory.
func mustAttach(t testing.TB, s *Segment) *Segment {
	t.Helper()
	c, err := Attach(s.mem, s.layout)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var testWorker = WorkerSettings{
	Host: "back.example.org", Port: 8009, ConnectionPoolTimeout: 600 * time.Second, PingTimeout: 10 * time.Second,
	ConnectTimeout: 5 * time.Second, PrepostTimeout: 4 * time.Second, ReplyTimeout: 30 * time.Second, Retries: 2,
	RetryInterval: 100 * time.Millisecond, ConnectionPingInterval: 100 * time.Second, RecoveryOptions: 3,
	RecoveryOptionsSet: true, BusyLimit: 50, MaxPacketSize: 16384, MaxConnections: 200,
}

var testBalancer = BalancerSettings{
	StickySession: true, StickySessionForce: true, Retries: 3, RetryInterval: 50 * time.Millisecond, RecoverTime: time.Minute,
	ErrorEscalationTime: 30 * time.Second, MaxReplyTimeouts: 4, Method: balance.ByBusyness, Lock: balance.Pessimistic,
}

var testMember = MemberSettings{
	Activation: balance.Disabled, LBFactor: 7, Route: "route1", Redirect: "route2", Domain: "left", Distance: 2,
}

var testAddresses = Addresses{Resolved: true, List: []netip.AddrPort{
	netip.MustParseAddrPort("192.0.2.1:8009"),
	netip.MustParseAddrPort("[2001:db8::1]:8009"),
	netip.MustParseAddrPort("[fe80::1%em0]:8009"),
	netip.MustParseAddrPort("[::ffff:192.0.2.2]:8009"),
}}

// configure gives all records of s the settings above.
func configure(t testing.TB, s *Segment) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.Workers() {
		check(s.Worker(i).Configure(testWorker, testAddresses))
	}
	for i := range s.Balancers() {
		check(s.Balancer(i).Configure(testBalancer))
		for j := range s.Balancer(i).Members() {
			check(s.Balancer(i).Member(j).Configure(testMember))
		}
	}
}

func workerSettings(w *Worker) WorkerSettings {
	var s WorkerSettings
	w.Load(&s)
	return s
}

func balancerSettings(b *Balancer) BalancerSettings {
	var s BalancerSettings
	b.Load(&s)
	return s
}

func memberSettings(m *Member) MemberSettings {
	var s MemberSettings
	m.Load(&s)
	return s
}

func addresses(w *Worker) Addresses {
	var a Addresses
	w.LoadAddresses(&a)
	return a
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}
