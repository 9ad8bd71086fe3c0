//go:build unix

package main_test

import (
	"maps"
	"testing"
)

// standby: a node that gets nothing until another one is down, in the two ways
// that there are. In lb n3 is disabled, and n1 redirects to it; in near n2 is
// farther away than n1.
func (c *cluster) standby(t *testing.T) {
	s := c.start(t, "worker", `
worker.list=lb,near
worker.maintain=1
worker.lb.type=lb
worker.lb.balance_workers=n1,n3
worker.lb.recover_time=1
worker.n1.host=127.0.0.1
worker.n1.port=@n1@
worker.n1.redirect=n3
worker.n3.host=127.0.0.1
worker.n3.port=@n3@
worker.n3.activation=disabled
worker.near.type=lb
worker.near.balance_workers=d1,d2
worker.near.recover_time=1
worker.d1.host=127.0.0.1
worker.d1.port=@n1@
worker.d1.route=n1
worker.d2.host=127.0.0.1
worker.d2.port=@n2@
worker.d2.route=n2
worker.d2.distance=1
`, config{mounts: []string{"/test/node/* lb", "/test/node/near/* near"}})
	k := dial(t, s.addr)
	tests := []struct {
		path, standby string
		ids           []string // sessions of n1, then of the standby
	}{
		{path: "/test/node/", standby: "n3"},
		{path: "/test/node/near/", standby: "n2"},
	}
	only := func(path, node string) {
		t.Helper()
		if got := spread(t, k, path, 6); !maps.Equal(got, map[string]int{node: 6}) {
			t.Errorf("%s: answers by node %v, want %s only", path, got, node)
		}
	}
	for i := range tests {
		only(tests[i].path, "n1")
		for range 3 {
			tests[i].ids = append(tests[i].ids, k.visit("GET "+tests[i].path+"?session=1").Session)
		}
	}
	up := c.down(t, "n1")
	for i, test := range tests {
		for j, id := range test.ids {
			r := k.visit("GET "+test.path+"?session=1", with(id))
			if !r.fine() || r.Name != test.standby || r.Visits != 1 || !r.cookie {
				t.Errorf("session %s without n1: %v, want a new one on %s", id, r, test.standby)
			}
			tests[i].ids[j] = r.Session
		}
		only(test.path, test.standby)
	}
	up()
	for _, test := range tests {
		// The first one is the probe, and may be alone on n1.
		s.eventually(test.path+" back on n1", func() bool { return spread(t, k, test.path, 2)["n1"] == 2 })
		only(test.path, "n1")
		for _, id := range test.ids {
			stays(t, k, test.path+"?session=1", id)
		}
	}
}

// domains: the sessions of a node that is down are for others of its domain,
// and only without any for other domains.
func (c *cluster) domains(t *testing.T) {
	s := c.start(t, "prefork", `
worker.list=lb
worker.lb.type=lb
worker.lb.balance_workers=n1,n2,n3,n4
worker.n1.host=127.0.0.1
worker.n1.port=@n1@
worker.n1.domain=east
worker.n2.host=127.0.0.1
worker.n2.port=@n2@
worker.n2.domain=east
worker.n3.host=127.0.0.1
worker.n3.port=@n3@
worker.n3.domain=west
worker.n4.host=127.0.0.1
worker.n4.port=@n3@
worker.n4.domain=west
`, config{
		jk:    []string{"JkMountFile = map.properties", "JkMountFileReload = 0"},
		files: map[string]string{"map.properties": "/test/node/*=lb\n/test/node/west/*=lb;stopped=n2\n"},
	}, "like member n3: a balancer of one container twice")
	k := dial(t, s.addr)
	ids := begin(t, k, 12)
	if len(ids["n1"]) != 3 || len(ids["n2"]) != 3 || len(ids["n3"]) != 6 {
		t.Fatalf("new sessions: %q", ids)
	}
	up := c.down(t, "n1")
	for _, id := range ids["n1"] {
		moves(t, k, page, id, "n2")
	}
	moves(t, k, "/test/node/west/?session=1", ids["n1"][0], "n3")
	stays(t, k, page, ids["n2"][0])
	stays(t, k, page, ids["n3"][0])
	if got := spread(t, k, "/test/node/", 12); got["n1"] != 0 || got["n2"] == 0 || got["n3"] == 0 {
		t.Errorf("requests without a session: %v, want them on n2 and n3", got)
	}
	up()
}

// stickyForce: a session's requests fail rather than to be served by another
// node.
func (c *cluster) stickyForce(t *testing.T) {
	s := c.start(t, "prefork", clusterWorkers+"worker.lb.sticky_session_force=1\nworker.lb.recover_time=1\n", config{})
	k := dial(t, s.addr)
	ids := begin(t, k, 6)
	for _, node := range nodes {
		stays(t, k, page, ids[node][0])
	}
	up := c.down(t, "n1")
	for range 3 {
		for _, id := range ids["n1"] {
			if r := k.visit("GET "+page, with(id)); r.err != nil || r.status != 503 {
				t.Errorf("session %s without n1: %v, want a 503", id, r)
			}
		}
		stays(t, k, page, ids["n2"][0])
		stays(t, k, page, ids["n3"][0])
	}
	if got := spread(t, k, page, 6); got["n1"] != 0 {
		t.Errorf("new sessions: %v, want none on n1", got)
	}
	up()
	s.eventually("n1 for its sessions", func() bool {
		r := k.visit("GET "+page, with(ids["n1"][0]))
		if r.err != nil || r.status != 200 && r.status != 503 || r.status == 200 && r.Name != "n1" {
			t.Fatalf("session of n1 after its return: %v", r)
		}
		return r.status == 200
	})
}
