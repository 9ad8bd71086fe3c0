//go:build unix

package mpm

import "testing"

func TestTable(t *testing.T) {
	tab := newTable(3)
	for want := range 3 {
		if got := tab.free(); got != want {
			t.Fatalf("free index %d, want %d", got, want)
		}
		tab.add(&process{server: want, pid: 100 + want, state: ServerRunning})
	}
	if tab.free() != -1 || tab.alive != 3 || tab.ready() != 3 {
		t.Errorf("full table: free %d alive %d ready %d", tab.free(), tab.alive, tab.ready())
	}
	tab.servers[2].state = ServerLeaving
	tab.servers[0].state = ServerStarting
	if tab.ready() != 1 {
		t.Errorf("ready %d", tab.ready())
	}
	var seen []int
	tab.each(func(p *process) {
		seen = append(seen, p.pid)
		tab.remove(p) // allowed
	})
	if len(seen) != 3 || tab.alive != 0 || tab.free() != 0 {
		t.Errorf("saw %v, alive %d, free %d", seen, tab.alive, tab.free())
	}
	defer func() {
		if recover() == nil {
			t.Error("two processes got one index")
		}
	}()
	tab.add(&process{server: 1})
	tab.add(&process{server: 1})
}

func TestNames(t *testing.T) {
	for _, c := range [][2]string{
		{ServerFree.String(), "free"}, {ServerStarting.String(), "starting"}, {ServerRunning.String(), "running"},
		{ServerLeaving.String(), "leaving"}, {ServerState(9).String(), "unknown"},
		{PhaseStarting.String(), "starting"}, {PhaseServing.String(), "serving"}, {PhaseDraining.String(), "draining"},
		{PhaseStopping.String(), "stopping"}, {PhaseStopped.String(), "stopped"}, {Phase(9).String(), "unknown"},
		{OrderGraceful.String(), "graceful"}, {OrderStop.String(), "stop"}, {OrderGo.String(), "go"}, {Order(0).String(), "unknown"},
	} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}
