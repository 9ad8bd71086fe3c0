package jkshm

import (
	"strconv"
	"sync/atomic"
	"testing"
)

// benchLayout is a usual one: two back ends behind one balancer.
func benchLayout(servers int) Layout {
	return Layout{Servers: servers, Workers: []WorkerLayout{{"a"}, {"b"}}, Balancers: []BalancerLayout{{"lb", []int{0, 1}}}}
}

// request is what one request does to the segment.
func request(s *Segment, m *Member, server int, seen uint64) {
	if s.Edits() != seen {
		panic("an edit")
	}
	w := m.Worker()
	m.Elected.Add(1)
	m.LBValue.Add(1)
	w.Used.Add(1)
	w.Enter(server)
	w.Transferred.Add(500)
	w.Read.Add(8000)
	w.SetState(WorkerOK)
	w.Leave(server)
}

// BenchmarkRequest is all of a request's words, by one process with one and
// with eight threads, each of them a server of its own.
func BenchmarkRequest(b *testing.B) {
	for _, servers := range []int{16, 256} {
		b.Run(strconv.Itoa(servers)+"/one", func(b *testing.B) {
			s := mustFormat(b, benchLayout(servers))
			s.Worker(0).Enter(servers - 1)
			m, seen := s.Balancer(0).Member(0), s.Edits()
			b.ReportAllocs()
			for b.Loop() {
				request(s, m, 1, seen)
			}
		})
		b.Run(strconv.Itoa(servers)+"/eight", func(b *testing.B) {
			s := mustFormat(b, benchLayout(servers))
			seen := s.Edits()
			var n atomic.Int64
			b.SetParallelism(4) // times two processors
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				server := int(n.Add(1)) % servers
				for i := 0; pb.Next(); i++ {
					request(s, s.Balancer(0).Member(i&1), server, seen)
				}
			})
		})
	}
}

func BenchmarkEnterLeave(b *testing.B) {
	w := mustFormat(b, benchLayout(256)).Worker(0)
	b.ReportAllocs()
	for b.Loop() {
		w.Enter(3)
		w.Leave(3)
	}
}

func BenchmarkTryOpen(b *testing.B) {
	for _, servers := range []int{16, 256, 4096} {
		b.Run(strconv.Itoa(servers), func(b *testing.B) {
			w := mustFormat(b, benchLayout(servers)).Worker(0)
			w.Enter(servers - 1)
			b.ReportAllocs()
			for b.Loop() {
				if w.TryOpen(3, 100) {
					w.Closed(3)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	s := mustFormat(b, benchLayout(16))
	b.Run("worker", func(b *testing.B) {
		var dst WorkerSettings
		b.ReportAllocs()
		for b.Loop() {
			s.Worker(0).Load(&dst)
		}
	})
	b.Run("member", func(b *testing.B) {
		var dst MemberSettings
		b.ReportAllocs()
		for b.Loop() {
			s.Balancer(0).Member(0).Load(&dst)
		}
	})
}
