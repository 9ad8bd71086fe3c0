package jk2

import (
	"testing"

	"jkd/connector/connectortest"
	"jkd/connector/counters"
)

// What a request came to is counted for the back end, its errors if it is a
// balancer's; the target of a uri has a record in which the front counts.
func TestCounters(t *testing.T) {
	r := newRig(t, `[channel.socket:@a@]
[ajp13:@a@]
channel=channel.socket:@a@
[uri:/lb/*]
group=lb:lb
[uri:/one/*]
worker=ajp13:@a@
[status:]
[uri:/status]
group=status:
`, "a")
	names := r.c.setup.Config.CounterNames()
	l := counters.NewLayout(1, names)
	n, err := counters.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	table, err := counters.Format(make([]byte, n), l)
	if err != nil {
		t.Fatal(err)
	}
	r.c.Close()
	o := r.c.o
	o.Counters = table
	c := New(r.c.setup, o)
	worker := "ajp13:" + r.nodes["a"].Addr()
	for path, name := range map[string]string{"/lb/x": "lb:lb", "/one/x": worker} {
		q := connectortest.Request("GET", path, "")
		if got := c.Match(q).(*target).Record(); got != table.Record(0, CounterConnector, name) {
			t.Errorf("%s is not counted for %s", path, name)
		}
	}
	if got := c.Match(connectortest.Request("GET", "/status", "")).(*target).Record(); got != nil {
		t.Error("the status page is counted")
	}
	at := func(name string) counters.Totals {
		for i, w := range table.Workers() {
			if w.Name == name {
				return table.Totals(i)
			}
		}
		t.Fatalf("no worker %s in %q", name, table.Workers())
		return counters.Totals{}
	}
	send := func(path string) error {
		q := connectortest.Request("GET", path, "")
		return c.Match(q).Service(q, &connectortest.Answer{})
	}
	for _, path := range []string{"/lb/x", "/one/x", "/lb/y"} {
		if err := send(path); err != nil {
			t.Fatal(err)
		}
	}
	if got := at(worker); got.Cache.Misses != 1 || got.Cache.Opened != 1 || got.Cache.Hits != 2 || got.Cache.Idle != 1 || got.Cache.Busy != 0 || got.Cache.Oldest.IsZero() {
		t.Errorf("%+v", got.Cache)
	}
	r.nodes["a"].be(dropping)
	if send("/lb/x") == nil || at(worker).Errors == 0 {
		t.Errorf("%+v", at(worker))
	}
	c.Close()
	got := at(worker)
	var closed uint64
	for _, n := range got.Cache.Closed {
		closed += n
	}
	if closed != got.Cache.Opened || got.Cache.Idle != 0 || !got.Cache.Oldest.IsZero() {
		t.Errorf("after the end: %+v", got.Cache)
	}
	if got := at("lb:lb"); got != (counters.Totals{}) {
		t.Errorf("the balancer has no connections: %+v", got)
	}
}
