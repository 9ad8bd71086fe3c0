//go:build unix

package httpd

import (
	"errors"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/counters"
	"jkd/scoreboard"
)

// tally is a worker that is counted by itself.
type tally struct {
	quick
	rec   *counters.Record
	serve serveFunc
}

func (w *tally) Record() *counters.Record { return w.rec }
func (w *tally) Match(r *connector.Request) connector.Worker {
	if string(r.MatchPath) == "/unmapped" {
		return nil
	}
	return w
}
func (w *tally) Service(r *connector.Request, rw connector.ResponseWriter) error {
	if w.serve != nil {
		return w.serve(r, rw)
	}
	return w.quick.Service(r, rw)
}

func newTable(tb testing.TB, names ...counters.WorkerName) *counters.Table {
	tb.Helper()
	l := counters.NewLayout(2, names)
	n, err := counters.Size(l)
	if err != nil {
		tb.Fatal(err)
	}
	table, err := counters.Format(make([]byte, n), l)
	if err != nil {
		tb.Fatal(err)
	}
	return table
}

// Every request is counted once, for the worker or for jkd itself.
func TestCounters(t *testing.T) {
	table := newTable(t, counters.WorkerName{Name: "w", Connector: "jk"})
	failed := func(e *connector.Error) serveFunc {
		return func(*connector.Request, connector.ResponseWriter) error { return e }
	}
	w := &tally{quick: *newQuick()}
	_, slot := newQuickServer(t, nil)
	o := defaults()
	o.Log, o.Connectors, o.Counters, o.Server = zerolog.Nop(), []connector.Connector{w}, table, 1
	s := New(o)
	const request = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, tt := range []struct {
		name, raw string
		rec       bool
		serve     serveFunc
		worker    int // that counts it
		class     int
		errors    uint64
		bytes     uint64
	}{
		{"answer", request, true, nil, 1, counters.Class2xx, 0, 387},
		{"worker without a record", request, false, nil, 0, counters.Class2xx, 0, 387},
		{"nobody's", "GET /unmapped HTTP/1.1\r\nHost: x\r\n\r\n", true, nil, 0, counters.Class4xx, 0, 0},
		{"refused", "GET /x HTTP/1.1\r\n\r\n", true, nil, 0, counters.Class4xx, 0, 0},
		{"the server", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", true, nil, 0, counters.Class2xx, 0, 0},
		{"back end's fault", request, true, failed(&connector.Error{Status: 503, Err: errors.New("x")}), 1, counters.Class5xx, 1, 0},
		{"client's fault", request, true, failed(&connector.Error{Status: 400, Client: true}), 1, counters.Class4xx, 0, 0},
		{"container's own", request, true, failed(&connector.Error{Status: 404, Own: true}), 1, counters.Class4xx, 0, 0},
		{"broken off", request, true, func(_ *connector.Request, rw connector.ResponseWriter) error {
			_ = rw.Start(200, fields("Content-Length: 10"))
			_ = rw.Append([]byte("12345"))
			_ = rw.Flush()
			return &connector.Error{Status: 502, Err: errors.New("x")}
		}, 1, counters.Aborted, 1, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.rec, w.serve = nil, tt.serve
			if tt.rec {
				w.rec = table.Record(1, "jk", "w")
			}
			before := []counters.Totals{table.Totals(0), table.Totals(1)}
			s.ServeConn(&loop{request: []byte(tt.raw), n: 1}, &scoreboard.Seat{Slot: slot})
			after, other := table.Totals(tt.worker), table.Totals(1-tt.worker)
			was := before[tt.worker]
			if other != before[1-tt.worker] {
				t.Errorf("counted for the other: %+v", other)
			}
			var n uint64
			for i := range after.Requests {
				n += after.Requests[i] - was.Requests[i]
			}
			if n != 1 || after.Requests[tt.class] != was.Requests[tt.class]+1 || after.Errors != was.Errors+tt.errors {
				t.Errorf("before %+v, after %+v", was, after)
			}
			if tt.bytes > 0 && after.Bytes != was.Bytes+tt.bytes || after.Duration <= was.Duration {
				t.Errorf("before %+v, after %+v", was, after)
			}
		})
	}
}

// Counting allocates nothing.
func TestCountersDoNotAllocate(t *testing.T) {
	table := newTable(t, counters.WorkerName{Name: "w", Connector: "jk"})
	_, slot := newQuickServer(t, nil)
	o := defaults()
	o.Log, o.Counters = zerolog.Nop(), table
	o.Connectors = []connector.Connector{&tally{quick: *newQuick(), rec: table.Record(0, "jk", "w")}}
	s := New(o)
	const n = 2000
	if allocs := testing.AllocsPerRun(3, func() {
		s.ServeConn(&loop{request: []byte(browserGet), n: n}, &scoreboard.Seat{Slot: slot})
	}); allocs > 100 { // a change of the second makes a new Date line
		t.Errorf("%v allocations for %d requests", allocs, n)
	}
	if got := table.Totals(1).Requests[counters.Class2xx]; got != 4*n {
		t.Errorf("%d requests", got)
	}
}

func BenchmarkCounted(b *testing.B) {
	table := newTable(b, counters.WorkerName{Name: "w", Connector: "jk"})
	_, slot := newQuickServer(b, nil)
	o := defaults()
	o.Log, o.Counters = zerolog.Nop(), table
	o.Connectors = []connector.Connector{&tally{quick: *newQuick(), rec: table.Record(0, "jk", "w")}}
	s := New(o)
	b.ReportAllocs()
	s.ServeConn(&loop{request: []byte(browserGet), n: b.N}, &scoreboard.Seat{Slot: slot})
}
