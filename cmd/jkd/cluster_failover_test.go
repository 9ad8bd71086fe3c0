//go:build unix

package main_test

import (
	"strings"
	"sync"
	"testing"
)

// failover kills a node in which the requests of all clients wait, and starts
// it again under load: no client ever sees a failure.
func (c *cluster) failover(t *testing.T, mpm string) {
	const (
		clients = 8
		each    = 25
		calm    = 10 // of them before the node stops answering
	)
	// By sessions, so that those that are fixed to a node do not keep the others
	// away from it.
	s := c.start(t, mpm, clusterWorkers+"worker.lb.method=Session\nworker.lb.recover_time=1\n", config{})
	k := dial(t, s.addr)
	ids := begin(t, k, 3*clients/2)

	var (
		ready, done sync.WaitGroup
		goC         = make(chan struct{})
		mu          sync.Mutex
		answers     = map[string]int{}
		moved       []string
	)
	for i := range clients {
		session := "" // every other client has none
		if i%2 == 0 {
			session = ids["n1"][i/2]
		}
		ready.Add(1)
		k := dial(t, s.addr)
		done.Go(func() {
			visits := 1
			for j := range each {
				if j == calm {
					ready.Done()
					<-goC
				}
				line, field := "GET /test/node/", "X-None: 1"
				if session != "" {
					line, field = "GET "+page, with(session)
					visits++
				}
				s := k.visit(line, field)
				if !s.fine() {
					t.Errorf("client %d, request %d: %v", i, j+1, s)
					if j < calm {
						ready.Done()
					}
					return
				}
				mu.Lock()
				answers[s.Name]++
				if session != "" && s.Session != session {
					moved = append(moved, session+" "+s.Name)
					session, visits = s.Session, 1
				}
				mu.Unlock()
				if session != "" && s.Visits != visits {
					t.Errorf("client %d, request %d: %v, want %d visits of session %s", i, j+1, s, visits, session)
				}
			}
		})
	}
	ready.Wait()
	c.command(t, "n1", "cmd=close")
	close(goC)
	c.waits(t, s, "n1", clients)
	up := c.down(t, "n1")
	done.Wait()
	if n := answers["n1"] + answers["n2"] + answers["n3"]; n != clients*each || answers["n1"] < calm*clients/2 {
		t.Errorf("answers by node: %v, want %d", answers, clients*each)
	}
	if len(moved) != clients/2 || strings.Contains(strings.Join(moved, ","), " n1") {
		t.Errorf("sessions that moved, and where to: %q, want each of n1 once", moved)
	}
	for _, node := range nodes[1:] {
		for _, id := range ids[node] {
			stays(t, k, page, id)
		}
	}
	if got := spread(t, k, "/test/node/", 12); got["n1"] > 0 {
		t.Errorf("answers by node without n1: %v", got)
	}

	done.Go(up)
	returns(t, s, k, "/test/node/", "n1")
	done.Wait()
	if got := spread(t, k, "/test/node/", 30); len(got) != len(nodes) {
		t.Errorf("answers by node with n1 again: %v, want all of them", got)
	}
	for _, node := range nodes[1:] {
		for _, id := range ids[node] {
			stays(t, k, page, id)
		}
	}
}

// twoBalancers are lb, and all over the same nodes, which repeats everything.
const twoBalancers = clusterWorkers + `
worker.list=all
worker.all.type=lb
worker.all.balance_workers=a1,a2,a3
worker.any.recovery_options=0
worker.a1.reference=worker.any
worker.a1.host=127.0.0.1
worker.a1.port=@n1@
worker.a1.route=n1
worker.a2.reference=worker.any
worker.a2.host=127.0.0.1
worker.a2.port=@n2@
worker.a2.route=n2
worker.a3.reference=worker.any
worker.a3.host=127.0.0.1
worker.a3.port=@n3@
worker.a3.route=n3
`

// post: what has been sent to a node and may have been done by it is not done
// once more by another, unless recovery_options say so.
func (c *cluster) post(t *testing.T, mpm string) {
	s := c.start(t, mpm, twoBalancers, config{mounts: []string{"/test/node/* lb", "/test/node/all/* all"}},
		"recovery_options: without bit 1")
	tests := []struct {
		name, path string
		used       bool // the child has an idle connection to the node
		again      bool // the request is repeated
	}{
		{"new", "/test/node/", false, false},
		{"used", "/test/node/", true, false},
		{"explicit-new", "/test/node/all/", false, true},
		{"explicit-used", "/test/node/all/", true, true},
	}
	id := func(name string) string { return mpm + "-" + name }
	send := func(k *conn, path, name string) seen {
		return k.visit("POST "+path+"?id="+id(name), with("any.n1"), "Content-Length: 0")
	}
	k := dial(t, s.addr)
	results := make([]seen, len(tests))
	conns := make([]*conn, len(tests))
	for i, test := range tests {
		conns[i] = dial(t, s.addr)
		if test.used {
			if s := conns[i].visit("GET "+test.path, with("any.n1")); !s.fine() || s.Name != "n1" {
				t.Fatal(s)
			}
		}
	}
	c.command(t, "n1", "cmd=close")
	var wg sync.WaitGroup
	for i, test := range tests {
		wg.Go(func() { results[i] = send(conns[i], test.path, test.name) })
	}
	c.waits(t, s, "n1", len(tests))
	up := c.down(t, "n1")
	wg.Wait()
	for i, test := range tests {
		runs := c.runs(t, "n2", id(test.name)) + c.runs(t, "n3", id(test.name))
		r := results[i]
		switch {
		case r.err != nil:
			t.Errorf("%s: %v", test.name, r.err)
		case test.again && (!r.fine() || r.Name == "n1" || runs != 1):
			t.Errorf("%s: %v and %d runs elsewhere, want it repeated", test.name, r, runs)
		case !test.again && (r.status != 502 && r.status != 503 || runs != 0):
			t.Errorf("%s: %v and %d runs elsewhere, want it failed", test.name, r, runs)
		}
	}
	// What could not even be sent is no such case.
	if r := send(k, "/test/node/", "refused"); !r.fine() || r.Name == "n1" || c.runs(t, r.Name, id("refused")) != 1 {
		t.Errorf("POST while n1 is down: %v", r)
	}
	up()
}

// restart: a node is stopped in an orderly way and started again while jkd has
// idle connections to it. The next requests, of any kind, find it.
func (c *cluster) restart(t *testing.T, mpm string) {
	s := c.start(t, mpm, "worker.list=n1\nworker.n1.host=127.0.0.1\nworker.n1.port=@n1@\n", config{mounts: []string{"/test/* n1"}})
	l := lanes(t, s, 8)
	ids := make([]string, len(l))
	for i, k := range l {
		r := k.visit("GET " + page)
		if !r.fine() {
			t.Fatal(r)
		}
		ids[i] = r.Session
	}
	c.tomcat["n1"].Terminate()
	c.again(t, "n1")
	for i, k := range l {
		var r seen
		switch i % 3 {
		case 0:
			r = k.visit("GET "+page, with(ids[i]))
		case 1:
			r = k.visit("POST "+page, with(ids[i]), "Content-Length: 0")
		case 2:
			r = k.visit("POST "+page, with(ids[i]), "Content-Type: text/plain", "Transfer-Encoding: chunked", "X: y\r\n\r\n5\r\nhello\r\n0")
		}
		if !r.fine() || r.Session != ids[i] || r.Visits != 2 {
			t.Errorf("request %d after the restart: %v, want the second visit of %s", i+1, r, ids[i])
		}
	}
	if n := c.runs(t, "n1", ""); n != len(l) {
		t.Errorf("%d runs for %d requests", n, len(l))
	}
}
