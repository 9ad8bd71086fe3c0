package jk

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/counters"
)

// counted is a connector that counts in a table, at place 1 of 2.
func counted(t *testing.T, text string, rules string) (*Connector, *counters.Table) {
	t.Helper()
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile(rules))
	if err != nil {
		t.Fatal(err)
	}
	l := counters.NewLayout(2, cfg.CounterNames())
	n, err := counters.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	table, err := counters.Format(make([]byte, n), l)
	if err != nil {
		t.Fatal(err)
	}
	c := New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{Threads: 4, Dial: dialKinds[1].dial, WriteTimeout: long, Counters: table, Server: 1})
	t.Cleanup(func() { c.Close() })
	return c, table
}

// Each back end has what its connections came to, a balancer's requests are
// the front's to count, and nothing is counted for others.
func TestCounters(t *testing.T) {
	var refuse atomic.Bool
	c := ajptest.New(t, func(e *ajptest.Exchange) {
		if refuse.Load() {
			e.Close()
			return
		}
		_ = e.Respond(200, "ok")
	})
	gone := ajptest.New(t, nil)
	gone.Close()
	con, table := counted(t, fmt.Sprintf(`worker.list=w,lb,status
worker.status.type=status
worker.w.port=%d
worker.w.host=127.0.0.1
worker.lb.type=lb
worker.lb.balance_workers=n,dead
worker.n.port=%[1]d
worker.n.host=127.0.0.1
worker.dead.port=%d
worker.dead.host=127.0.0.1
`, c.Port(), gone.Port()), "/w/*=w\n/lb/*=lb\n/status=status\n")
	var names []string
	for _, w := range table.Workers() {
		names = append(names, w.Connector+" "+w.Name)
	}
	if !slices.Equal(names, []string{" -", "jk w", "jk lb", "jk n", "jk dead", " other"}) {
		t.Fatalf("workers %q", names)
	}
	match := func(path string) connector.Worker {
		q := request("GET", path, "")
		q.MatchPath = q.Path
		return con.Match(q)
	}
	send := func(path string) error {
		q := request("GET", path, "")
		q.MatchPath = q.Path
		return con.Match(q).Service(q, &answer{})
	}
	for path, name := range map[string]string{"/w/x": "w", "/lb/x": "lb"} {
		if r := match(path).(interface{ Record() *counters.Record }).Record(); r != table.Record(1, "jk", name) {
			t.Errorf("%s is not counted for %s", path, name)
		}
	}
	if _, ok := match("/status").(interface{ Record() *counters.Record }); ok {
		t.Error("the status page is counted as a back end")
	}
	before := time.Now()
	for range 3 {
		if err := send("/w/x"); err != nil {
			t.Fatal(err)
		}
	}
	got := table.Child(1, 1)
	if got.Oldest.Before(before.Add(-time.Second)) {
		t.Errorf("oldest %v", got.Oldest)
	}
	got.Oldest = time.Time{}
	if want := (counters.Cache{Hits: 2, Misses: 1, Opened: 1, Idle: 1}); got != want {
		t.Errorf("w: %+v", got)
	}
	for range 4 {
		if err := send("/lb/x"); err != nil {
			t.Fatal(err)
		}
	}
	if got := table.Totals(2); got != (counters.Totals{}) {
		t.Errorf("the balancer has no connections: %+v", got)
	}
	if n, dead := table.Totals(3), table.Totals(4); n.Cache.Hits+n.Cache.Misses != 4 || n.Errors != 0 || dead.Errors == 0 || dead.Cache.Opened != 0 || dead.Cache.Misses == 0 {
		t.Errorf("n %+v, dead %+v", n, dead)
	}
	refuse.Store(true)
	if send("/w/x") == nil {
		t.Error("answered")
	}
	w := table.Totals(1)
	if w.Errors != 0 {
		t.Error("an error of a worker of a rule is the front's to count")
	}
	con.Close()
	for i := range table.Workers() {
		s := table.Totals(i)
		var closed uint64
		for _, n := range s.Cache.Closed {
			closed += n
		}
		if closed != s.Cache.Opened || s.Cache.Idle != 0 || s.Cache.Busy != 0 || !s.Cache.Oldest.IsZero() {
			t.Errorf("%s after the end: %+v", table.Workers()[i].Name, s)
		}
	}
	for _, r := range []int{0, 5} {
		if table.Totals(r) != (counters.Totals{}) {
			t.Errorf("%s: %+v", table.Workers()[r].Name, table.Totals(r))
		}
	}
}

// A request that gets no turn is counted, and one that has a turn is busy.
func TestCountersOfABoundedPool(t *testing.T) {
	g := &gates{}
	c := ajptest.New(t, g.handler)
	r := newRig(t, dialKinds[1].dial, c, 4, "connection_pool_size=2", "connection_acquire_timeout=0")
	done := make(chan error)
	for range 2 {
		go func() { done <- r.do(request("GET", "/hold", ""), &answer{}) }()
	}
	if !c.WaitRequests(2, long) {
		t.Fatal("the requests did not reach the container")
	}
	if got := r.w.tally.Cache(); got.Busy != 2 || got.Idle != 0 || got.Misses != 2 {
		t.Errorf("%+v", got)
	}
	r.fails(request("GET", "/", ""), &answer{}, 503)
	if got := r.w.tally.Cache(); got.Refused != 1 || got.Busy != 2 {
		t.Errorf("%+v", got)
	}
	close(g.of("/hold"))
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := r.w.tally.Cache(); got.Busy != 0 || got.Idle != 2 {
		t.Errorf("%+v", got)
	}
}
