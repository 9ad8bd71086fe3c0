package scoreboard

import (
	"strconv"
	"testing"
)

// BenchmarkRequest is StartRequest and EndRequest of one request.
func BenchmarkRequest(b *testing.B) {
	method, protocol, vhost := []byte("GET"), []byte("HTTP/1.1"), []byte("www.example.org:80")
	for _, bb := range []struct {
		name    string
		targets int
	}{{"same", 1}, {"different", 256}} {
		b.Run(bb.name, func(b *testing.B) {
			targets := make([][]byte, bb.targets)
			for i := range targets {
				// Different in the first word already.
				targets[i] = []byte("/" + strconv.Itoa(1000+i) + "/examples/servlets/servlet/HelloWorld?page=" + strconv.Itoa(i))
			}
			s := mustNew(b, Layout{1, 1}).Slot(0, 0)
			b.ReportAllocs()
			now, i := int64(1), 0
			for b.Loop() {
				s.StartRequest(now, method, targets[i%len(targets)], protocol, vhost)
				s.EndRequest(now+1, 387)
				now += 2
				i++
			}
		})
	}
}

// BenchmarkConnection is a connection with one request.
func BenchmarkConnection(b *testing.B) {
	s := mustNew(b, Layout{1, 1}).Slot(0, 0)
	client, method, target := []byte("192.0.2.1"), []byte("GET"), []byte("/examples/servlets/servlet/HelloWorld")
	protocol, vhost := []byte("HTTP/1.1"), []byte("www.example.org:80")
	b.ReportAllocs()
	now := int64(1)
	for b.Loop() {
		now++
		s.SetReady(now)
		s.StartConnection(now, client)
		s.StartRequest(now, method, target, protocol, vhost)
		s.EndRequest(now, 387)
		s.SetStatus(Closing)
	}
}

func BenchmarkSetStatus(b *testing.B) {
	s := mustNew(b, Layout{1, 1}).Slot(0, 0)
	for b.Loop() {
		s.SetStatus(KeepAlive)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	for _, l := range []Layout{{256, 1}, {16, 64}, {256, 64}} {
		b.Run(strconv.Itoa(l.ServerLimit)+"x"+strconv.Itoa(l.ThreadLimit), func(b *testing.B) {
			sb := mustNew(b, l)
			for i := range l.ServerLimit {
				for j := range l.ThreadLimit {
					pattern(sb.Slot(i, j), uint64(i+j))
				}
			}
			var v View
			b.ReportAllocs()
			for b.Loop() {
				sb.Snapshot(&v)
			}
		})
	}
}

func BenchmarkCounts(b *testing.B) {
	sb := mustNew(b, Layout{1, 64})
	for b.Loop() {
		sb.Counts(0)
	}
}
