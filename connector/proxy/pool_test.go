package proxy

import (
	"testing"
	"time"

	"jkd/connector/counters"
)

func BenchmarkTakeGive(b *testing.B) {
	var p pool
	p.init(25, -1, time.Hour, new(counters.Record))
	now := time.Now()
	e, err := p.take(0, now)
	if err != nil {
		b.Fatal(err)
	}
	e.conn = struct{ link }{} // there, and never asked for anything
	p.give(e, now)
	b.ReportAllocs()
	for b.Loop() {
		e, err := p.take(0, now)
		if err != nil || e.conn == nil {
			b.Fatal("no idle connection")
		}
		p.give(e, now)
	}
}
