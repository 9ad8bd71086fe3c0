//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// TestCluster puts jkd in front of three real Tomcats that end and come back
// while it works. What a test has ended it starts again, so that the next one
// finds all three. Nothing is a matter of time: a Tomcat is killed when the
// requests that are to be lost with it wait in it, and what is to happen by
// itself is waited for.
func TestCluster(t *testing.T) {
	c := newCluster(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		t.Run("sticky", func(t *testing.T) { c.sticky(t, mpm) })
		t.Run("failover", func(t *testing.T) { c.failover(t, mpm) })
		t.Run("post", func(t *testing.T) { c.post(t, mpm) })
		t.Run("restart", func(t *testing.T) { c.restart(t, mpm) })
		t.Run("drain by status", func(t *testing.T) { c.drainByStatus(t, mpm) })
	})
	t.Run("drain by rule", c.drainByRule)
	t.Run("drain by file", c.drainByFile)
	t.Run("standby", c.standby)
	t.Run("domains", c.domains)
	t.Run("sticky force", c.stickyForce)
	t.Run("recover", c.recovers)
	t.Run("escalation", c.escalation)
}

// nodes are the three, by their jvmRoute, which is what their members are
// called too.
var nodes = []string{"n1", "n2", "n3"}

// cluster is three Tomcats.
type cluster struct {
	bin    string
	tomcat map[string]*tomcattest.Tomcat
}

// newCluster starts them at once.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	tomcattest.Require(t)
	c := &cluster{tomcat: map[string]*tomcattest.Tomcat{}}
	var mu sync.Mutex
	var wg sync.WaitGroup
	t.Cleanup(func() {
		for name, tc := range c.tomcat {
			wg.Go(tc.Stop)
			if t.Failed() {
				t.Logf("what %s wrote:\n%s", name, tc.Log())
			}
		}
		wg.Wait()
	})
	for _, name := range nodes {
		wg.Go(func() {
			tc, err := tomcattest.Start(tomcattest.Options{HTTP: true, JVMRoute: name, HeapMB: 96, Small: true})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			c.tomcat[name] = tc
		})
	}
	c.bin = binary(t)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, name := range nodes {
		wg.Go(func() { c.command(t, name, "cmd=state") }) // compiles the page
	}
	wg.Wait()
	return c
}

// command asks a node directly, past every jkd.
func (c *cluster) command(t testing.TB, node, query string) tomcattest.NodeState {
	r, err := client().Get("http://" + c.tomcat[node].HTTPAddr() + "/test/node/?" + query)
	if err != nil {
		t.Error(err)
		return tomcattest.NodeState{}
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	s, err := tomcattest.ParseNodeState(string(body))
	if err != nil {
		t.Errorf("%s: %q: %v", node, body, err)
	}
	return s
}

// runs is how many requests a node got, those with an id if it is not "".
func (c *cluster) runs(t testing.TB, node, id string) int {
	query := "cmd=state"
	if id != "" {
		query += "&id=" + id
	}
	return c.command(t, node, query).Runs
}

// again starts a node that a test has ended.
func (c *cluster) again(t *testing.T, node string) {
	t.Helper()
	if err := c.tomcat[node].Restart(); err != nil {
		t.Error(err)
		return
	}
	c.command(t, node, "cmd=state") // loads the page
}

// down ends a node as a crash would. The end of the test at the latest brings
// it back.
func (c *cluster) down(t *testing.T, node string) (up func()) {
	t.Helper()
	c.tomcat[node].Kill()
	up = sync.OnceFunc(func() { c.again(t, node) })
	t.Cleanup(up)
	return up
}

// cluster files name the three nodes and the balancer lb over them.
const clusterWorkers = `
worker.list=lb
worker.maintain=1
worker.lb.type=lb
worker.lb.balance_workers=n1,n2,n3
worker.n1.host=127.0.0.1
worker.n1.port=@n1@
worker.n2.host=127.0.0.1
worker.n2.port=@n2@
worker.n3.host=127.0.0.1
worker.n3.port=@n3@
`

// places is how many connections a jkd of these tests serves at a time, under
// prefork each in a child of its own.
const places = 12

// start starts a jkd whose workers.properties is text with @n1@ replaced by
// the AJP port of n1. remarks are parts of the lines that jkd -t has to say
// about its files, besides that they are in order.
func (c *cluster) start(t *testing.T, mpm, text string, more config, remarks ...string) *server {
	t.Helper()
	for name, tc := range c.tomcat {
		text = strings.ReplaceAll(text, "@"+name+"@", strconv.Itoa(tc.AJPPort))
	}
	more.mpm, more.workers = mpm, text
	if more.mounts == nil {
		more.mounts = []string{"/test/* lb"}
	}
	more.server = append(more.server, "MaxKeepAliveRequests = 0", "KeepAliveTimeout = 120")
	if more.mpm == "prefork" {
		more.limits = []string{fmt.Sprint("StartServers = ", places), fmt.Sprint("MaxRequestWorkers = ", places), "MinSpareServers = 1", fmt.Sprint("MaxSpareServers = ", places)}
	} else {
		// Or a child would take more connections than it can serve at a time.
		more.server = append(more.server, "KeepAliveParking = Off")
		more.limits = []string{"StartServers = 3", "ThreadsPerChild = 4", fmt.Sprint("MaxRequestWorkers = ", places), "MinSpareThreads = 1", fmt.Sprint("MaxSpareThreads = ", places)}
	}
	s := start(t, c.bin, more)
	out, err := exec.Command(c.bin, "-t", "-f", filepath.Join(s.dir, "jkd.conf")).CombinedOutput()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	want := append(remarks, "Syntax OK")
	if err != nil || !slices.EqualFunc(lines, want, strings.Contains) {
		t.Errorf("jkd -t: %v\n%s\nwant %q", err, out, want)
	}
	return s
}

// seen is one answer of a node.
type seen struct {
	tomcattest.Node
	status int
	cookie bool // the answer sets a session's cookie
	err    error
}

// fine tells whether the answer came from a node.
func (s seen) fine() bool { return s.err == nil && s.status == 200 }

func (s seen) String() string {
	if s.err != nil {
		return s.err.Error()
	}
	return fmt.Sprintf("%d %+v", s.status, s.Node)
}

// visit sends one request, and sends it once.
func (c *conn) visit(line string, fields ...string) (s seen) {
	if s.err = c.send(line, fields...); s.err != nil {
		return s
	}
	method, _, _ := strings.Cut(line, " ")
	r, err := c.response(method)
	if err != nil {
		return seen{err: err}
	}
	body, err := io.ReadAll(r.Body)
	s.status, s.cookie, s.err = r.StatusCode, setsSession(r), err
	if s.fine() {
		s.Node, s.err = tomcattest.ParseNode(string(body))
	}
	return s
}

func setsSession(r *http.Response) bool {
	return slices.ContainsFunc(r.Cookies(), func(k *http.Cookie) bool { return k.Name == "JSESSIONID" })
}

// page is what begins or goes on with a session.
const page = "/test/node/?session=1"

// with is the field of a session's cookie.
func with(session string) string { return "Cookie: JSESSIONID=" + session }

// begin begins n sessions and returns their ids by the node that has them.
func begin(t *testing.T, k *conn, n int) map[string][]string {
	t.Helper()
	ids := map[string][]string{}
	for range n {
		s := k.visit("GET " + page)
		if !s.fine() || !strings.HasSuffix(s.Session, "."+s.Name) || s.Visits != 1 || !s.cookie {
			t.Fatalf("a new session: %v", s)
		}
		ids[s.Name] = append(ids[s.Name], s.Session)
	}
	return ids
}

// stays checks that a session goes on where it was.
func stays(t *testing.T, k *conn, path, session string) {
	t.Helper()
	node := session[strings.LastIndexByte(session, '.')+1:]
	if s := k.visit("GET "+path, with(session)); !s.fine() || s.Session != session || s.Name != node || s.Visits < 2 {
		t.Errorf("session %s: %v, want it to go on", session, s)
	}
}

// moves checks that a session is taken up by one of the named nodes, which
// begins a new one and has its second visit too.
func moves(t *testing.T, k *conn, path, session string, to ...string) {
	t.Helper()
	s := k.visit("GET "+path, with(session))
	if !s.fine() || s.Session == session || s.Visits != 1 || !s.cookie || !slices.Contains(to, s.Name) {
		t.Errorf("session %s: %v, want a new one on %v", session, s, to)
		return
	}
	stays(t, k, path, s.Session)
}

// spread counts who answers n requests without a session. All must succeed.
func spread(t *testing.T, k *conn, path string, n int) map[string]int {
	t.Helper()
	got := map[string]int{}
	for range n {
		s := k.visit("GET " + path)
		if !s.fine() {
			t.Fatalf("%s: %v", path, s)
		}
		got[s.Name]++
	}
	return got
}

// waits until n requests wait at a node's gate.
func (c *cluster) waits(t *testing.T, s *server, node string, n int) {
	t.Helper()
	s.eventually(fmt.Sprintf("%d requests at the gate of %s", n, node), func() bool {
		return c.command(t, node, "cmd=state").Waiting == n
	})
}

// returns waits until a node gets requests again where path leads, all of which
// must succeed meanwhile.
func returns(t *testing.T, s *server, k *conn, path, node string) {
	t.Helper()
	s.eventually("a request for "+node, func() bool { return spread(t, k, path, 3)[node] > 0 })
}

// processes are the process ids in the access log.
func processes(log []byte) map[string]bool {
	pids := map[string]bool{}
	for line := range bytes.Lines(log) {
		pids[strings.TrimSpace(string(line))] = true
	}
	return pids
}
