//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"testing"
)

// disabled checks what is seen of a node that is disabled where path leads:
// its sessions go on, new ones are for the others.
func (c *cluster) disabled(t *testing.T, k *conn, path, node string, ids map[string][]string) {
	t.Helper()
	for range 3 {
		for _, n := range nodes {
			stays(t, k, path, ids[n][0])
		}
	}
	if got := spread(t, k, path, 12); got[node] != 0 || len(got) != len(nodes)-1 {
		t.Errorf("%s, requests without a session by node: %v, want the others only", path, got)
	}
}

// stopped checks what is seen of a node that is stopped where path leads:
// nothing.
func (c *cluster) stopped(t *testing.T, k *conn, path, node string, ids map[string][]string) {
	t.Helper()
	before := c.runs(t, node, "")
	for _, n := range nodes {
		if n != node {
			stays(t, k, path, ids[n][0])
		}
	}
	var others []string
	for _, n := range nodes {
		if n != node {
			others = append(others, n)
		}
	}
	for _, id := range ids[node] {
		moves(t, k, path, id, others...)
	}
	if got := spread(t, k, path, 12); got[node] != 0 || len(got) != len(others) {
		t.Errorf("%s, requests without a session by node: %v, want the others only", path, got)
	}
	if n := c.runs(t, node, ""); n != before {
		t.Errorf("%s got %d requests", node, n-before)
	}
}

// drainByRule: one rule disables a node, another one stops it, for the others
// it is as active as ever.
func (c *cluster) drainByRule(t *testing.T) {
	// By sessions, so that those that are drained do not change the rest.
	s := c.start(t, "prefork", clusterWorkers+"worker.lb.method=Session\n", config{
		mounts: []string{"/examples/* lb"},
		jk:     []string{"JkMountFile = map.properties", "JkMountFileReload = 0"},
		files: map[string]string{"map.properties": `
/test/node/*=lb
/test/node/disabled/*=lb;disabled=n1
/test/node/stopped/*=lb;stopped=n1
`},
	})
	k := dial(t, s.addr)
	ids := begin(t, k, 9)
	c.disabled(t, k, "/test/node/disabled/?session=1", "n1", ids)
	c.stopped(t, k, "/test/node/stopped/?session=1", "n1", ids)
	for _, list := range ids {
		for _, id := range list {
			stays(t, k, page, id)
		}
	}
	// What it has missed, the node now gets first.
	if got := spread(t, k, "/test/node/", 12); got["n1"] == 0 {
		t.Errorf("where nobody is drained, requests without a session by node: %v", got)
	}
}

// drainByFile: the map file is changed while jkd runs. Once one child has the
// new rules, all have them.
func (c *cluster) drainByFile(t *testing.T) {
	s := c.start(t, "prefork", clusterWorkers+"worker.lb.method=Session\n", config{
		mounts: []string{"/examples/* lb"},
		jk:     []string{"JkMountFile = map.properties", "JkMountFileReload = 1"},
		files:  map[string]string{"map.properties": "/test/node/*=lb\n"},
	})
	l := lanes(t, s, places-2)
	ids := begin(t, l[0].conn, 9)
	// change puts other rules into force. The page tells that they are.
	change := func(rules, page string, want int) {
		t.Helper()
		s.write("new.properties", rules)
		if err := os.Rename(filepath.Join(s.dir, "new.properties"), filepath.Join(s.dir, "map.properties")); err != nil {
			t.Fatal(err)
		}
		s.eventually("the new rules", func() bool {
			r, _ := fetch(t, "GET", s.url(page))
			return r.StatusCode == want
		})
	}
	change("/test/node/*=lb;disabled=n1\n/test/hello.jsp=lb\n", "/test/hello.jsp", 200)
	for _, k := range l {
		c.disabled(t, k.conn, page, "n1", ids)
	}
	change("/test/node/*=lb;stopped=n1\n", "/test/hello.jsp", 404)
	for _, k := range l {
		c.stopped(t, k.conn, page, "n1", ids)
	}
	change("/test/node/*=lb\n/test/hello.jsp=lb\n", "/test/hello.jsp", 200)
	for _, k := range l {
		stays(t, k.conn, page, ids["n1"][0])
	}
	if got := spread(t, l[0].conn, "/test/node/", 12); got["n1"] == 0 {
		t.Errorf("requests without a session by node: %v, want some on n1", got)
	}
}
