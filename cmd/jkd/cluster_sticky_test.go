//go:build unix

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// lane is a connection that several sessions use by turns. While all lanes are
// open each has a place of its own: under prefork, a child.
type lane struct {
	sync.Mutex
	*conn
}

func lanes(t *testing.T, s *server, n int) []*lane {
	t.Helper()
	l := make([]*lane, n)
	for i := range l {
		l[i] = &lane{conn: dial(t, s.addr)}
	}
	return l
}

// sticky: ten sessions of fifty requests each, every request through another
// child than the one before, with the id in a cookie or in the path.
func (c *cluster) sticky(t *testing.T, mpm string) {
	const sessions, requests = 10, 50
	s := c.start(t, mpm, clusterWorkers, config{server: []string{`CustomLog = pids.log "%P"`}})
	l := lanes(t, s, sessions)
	ids, per := make([]string, sessions), map[string]int{}
	for i, k := range l {
		for node, id := range begin(t, k.conn, 1) {
			ids[i] = id[0]
			per[node]++
		}
	}
	// All children together balance as one would.
	for _, node := range nodes {
		if n := per[node]; n < sessions/len(nodes) || n > sessions/len(nodes)+1 {
			t.Errorf("%d new sessions by their node: %v, want as many on each, or one more", sessions, per)
			break
		}
	}
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			_, node, _ := strings.Cut(id, ".")
			for j := 2; j <= requests; j++ {
				line, field := "GET "+page, with(id)
				if j%2 == 0 {
					line, field = "GET /test/node/;jsessionid="+id+"?session=1", "X-None: 1"
				}
				k := l[(i+j)%len(l)]
				k.Lock()
				s := k.visit(line, field)
				k.Unlock()
				if !s.fine() || s.Name != node || s.Session != id || s.Visits != j {
					t.Errorf("session %s, request %d, %s: %v", id, j, line, s)
				}
			}
		})
	}
	wg.Wait()
	var log []byte
	s.eventually("the access log", func() bool {
		log, _ = os.ReadFile(filepath.Join(s.dir, "pids.log"))
		return strings.Count(string(log), "\n") == sessions*requests
	})
	want := 3 // children of four threads
	if mpm == "prefork" {
		want = sessions
	}
	if n := len(processes(log)); n != want {
		t.Errorf("%d children served the requests, want %d", n, want)
	}
}
