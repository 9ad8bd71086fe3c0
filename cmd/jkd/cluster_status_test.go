//go:build unix

package main_test

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// statusWorkers are the three nodes and a status worker.
const statusWorkers = clusterWorkers + `
worker.list=status
worker.status.type=status
`

// openPage is what jkd -t has to say of that status worker.
const openPage = "may be changed by everybody (read_only, user)"

// command sends a command to the status worker on a connection of its own and
// returns the status and the text of the answer.
func (s *server) command(method, query string) (int, string) {
	s.t.Helper()
	k := dial(s.t, s.addr)
	defer k.Close()
	var err error
	if method == "POST" {
		err = k.send("POST /jkstatus", "Content-Type: application/x-www-form-urlencoded", "Content-Length: "+strconv.Itoa(len(query)))
		io.WriteString(k, query)
	} else {
		err = k.send(method + " /jkstatus?" + query)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := k.response(method)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

// update posts a command that must succeed.
func (s *server) update(query string) {
	s.t.Helper()
	if status, text := s.command("POST", query+"&mime=prop"); status != 200 || !strings.Contains(text, "worker.result.type=OK\n") {
		s.t.Errorf("%s: %d %s", query, status, text)
	}
}

// member is what the status worker tells of a member: "state", "activation",
// "errors", "elected" and so on.
func (s *server) member(name, what string) string {
	s.t.Helper()
	_, text := s.command("GET", "cmd=list&mime=prop")
	_, rest, found := strings.Cut(text, "\nworker."+name+"."+what+"=")
	if !found {
		s.t.Fatalf("no %s of %s in\n%s", what, name, text)
	}
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// becomes waits for a state of a member. A client may have an answer before the
// member's state tells of it.
func (s *server) becomes(name, state string) {
	s.t.Helper()
	s.eventually(name+" to be "+state, func() bool { return s.state(name) == state })
}

// state is a member's state. That nobody has asked for it of late is nothing
// to a test.
func (s *server) state(name string) string {
	s.t.Helper()
	return strings.Replace(s.member(name, "state"), "OK/IDLE", "OK", 1)
}

// drainByStatus: an administrator disables a node, stops it and puts it back
// into service. Every child knows at once.
func (c *cluster) drainByStatus(t *testing.T, mpm string) {
	s := c.start(t, mpm, statusWorkers+"worker.lb.method=Session\n", config{mounts: []string{"/test/* lb", "/jkstatus status"}}, openPage)

	// Under load, requests neither fail nor go where they must not.
	const clients, each = 4, 60
	var wg sync.WaitGroup
	for i := range clients {
		k := dial(t, s.addr)
		wg.Go(func() {
			defer k.Close() // its place is needed below
			for j := range each {
				if r := k.visit("GET /test/node/"); !r.fine() {
					t.Errorf("client %d, request %d: %v", i, j+1, r)
				}
			}
		})
	}
	for _, state := range []string{"d", "s", "a", "s", "d", "a"} {
		s.update("cmd=update&w=lb&sw=n2&vwa=" + state)
	}
	wg.Wait()

	l := lanes(t, s, places-2)
	ids := begin(t, l[0].conn, 9)
	s.update("cmd=update&w=lb&sw=n1&vwa=1")
	if got := s.member("n1", "activation"); got != "DIS" {
		t.Errorf("n1 is %s", got)
	}
	for _, k := range l {
		c.disabled(t, k.conn, page, "n1", ids)
	}
	s.update("cmd=update&w=lb&sw=n1&vwa=2")
	if got := s.member("n1", "activation"); got != "STP" {
		t.Errorf("n1 is %s", got)
	}
	for _, k := range l {
		c.stopped(t, k.conn, page, "n1", ids)
	}

	// What changes something is either posted or has the token of the page.
	back := "cmd=update&w=lb&sw=n1&vwa=0"
	if status, _ := s.command("GET", back); status != 403 || s.member("n1", "activation") != "STP" {
		t.Errorf("GET of an update: status %d, n1 is %s", status, s.member("n1", "activation"))
	}
	_, form := s.command("GET", "cmd=edit&w=lb&sw=n1")
	token := regexp.MustCompile(`name="token" value="(\w+)"`).FindStringSubmatch(form)
	if token == nil {
		t.Fatalf("no token in the form:\n%s", form)
	}
	if status, _ := s.command("GET", back+"&token="+token[1]); status != 200 || s.member("n1", "activation") != "ACT" {
		t.Errorf("GET of an update with the token: status %d, n1 is %s", status, s.member("n1", "activation"))
	}
	for _, k := range l {
		for _, node := range nodes {
			stays(t, k.conn, page, ids[node][0])
		}
	}
	if got := spread(t, l[0].conn, "/test/node/", 12); got["n1"] == 0 {
		t.Errorf("requests without a session by node: %v, want some on n1", got)
	}
}

// recovers: a node that was down gets requests again when its time has come, or
// when an administrator says so.
func (c *cluster) recovers(t *testing.T) {
	s := c.start(t, "prefork", statusWorkers+`
worker.lb.recover_time=3600
worker.list=quick
worker.quick.type=lb
worker.quick.balance_workers=q1,q2
worker.quick.recover_time=1
worker.q1.host=127.0.0.1
worker.q1.port=@n1@
worker.q1.route=n1
worker.q2.host=127.0.0.1
worker.q2.port=@n2@
worker.q2.route=n2
`, config{mounts: []string{"/test/node/* lb", "/test/node/quick/* quick", "/jkstatus status"}}, openPage)
	k := dial(t, s.addr)
	ids := begin(t, k, 3)
	up := c.down(t, "n1")
	for _, path := range []string{"/test/node/", "/test/node/quick/"} {
		if got := spread(t, k, path, 6); got["n1"] != 0 {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := s.state("n1"); got != "ERR" {
		t.Errorf("n1, which is down, is %s", got)
	}
	// Nobody asks for quick meanwhile.
	elected := s.member("q1", "elected")
	s.becomes("q1", "ERR/REC")
	if got := s.member("q1", "elected"); got != elected {
		t.Errorf("q1 was elected %s times, was %s", got, elected)
	}
	up()
	returns(t, s, k, "/test/node/quick/", "n1")
	s.becomes("q1", "OK")

	if got := spread(t, k, "/test/node/", 12); got["n1"] != 0 || s.state("n1") != "ERR" {
		t.Errorf("n1, whose time has not come, is %s: %v", s.state("n1"), got)
	}
	s.update("cmd=recover&w=lb&sw=n1")
	if got := s.state("n1"); got != "ERR/REC" {
		t.Errorf("n1, to be recovered, is %s", got)
	}
	if r := k.visit("GET "+page, with(ids["n1"][0])); !r.fine() || r.Name != "n1" {
		t.Errorf("the request that recovers n1: %v", r)
	}
	s.becomes("n1", "OK")
	if status, text := s.command("POST", "cmd=recover&w=lb&sw=n1&mime=prop"); status != 200 || !strings.Contains(text, "worker.result.type=ERROR\n") {
		t.Errorf("recovery of a member that is well: %d %s", status, text)
	}
	// By the highest value, so that it gets no rush.
	if got := spread(t, k, "/test/node/", 12); len(got) != 3 {
		t.Errorf("requests without a session by node: %v", got)
	}
}

// escalation: a node that stands still while it has requests in hand fails for
// those that can't reach it, but is in error only after error_escalation_time.
func (c *cluster) escalation(t *testing.T) {
	text := "worker.list=status\nworker.status.type=status\nworker.maintain=1\nworker.tomcat.host=127.0.0.1\nworker.tomcat.prepost_timeout=2000\nworker.tomcat.retries=1\n"
	mounts := []string{"/jkstatus status"}
	for name, seconds := range map[string]string{"late": "3600", "soon": "1", "at-once": "0"} {
		text += strings.NewReplacer("LB", name, "SECONDS", seconds).Replace(`
worker.list=LB
worker.LB.type=lb
worker.LB.balance_workers=LB-1,LB-2
worker.LB.recover_time=3600
worker.LB.error_escalation_time=SECONDS
worker.LB-1.reference=worker.tomcat
worker.LB-1.port=@n1@
worker.LB-1.route=n1
worker.LB-2.reference=worker.tomcat
worker.LB-2.port=@n2@
worker.LB-2.route=n2
`)
		mounts = append(mounts, "/test/node/"+name+"/* "+name)
	}
	s := c.start(t, "worker", text, config{mounts: mounts}, openPage)
	names := []string{"late", "soon", "at-once"}

	c.command(t, "n1", "cmd=close")
	held := make([]seen, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		k := dial(t, s.addr)
		wg.Go(func() { held[i] = k.visit("GET /test/node/"+name+"/", with("any.n1")) })
	}
	c.waits(t, s, "n1", len(names))
	pid := c.tomcat["n1"].PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goes := sync.OnceFunc(func() {
		syscall.Kill(pid, syscall.SIGCONT)
		c.command(t, "n1", "cmd=open")
	})
	t.Cleanup(goes)

	var others sync.WaitGroup
	for _, name := range names {
		k := dial(t, s.addr)
		others.Go(func() {
			if r := k.visit("GET /test/node/"+name+"/", with("any.n1")); !r.fine() || r.Name != "n2" {
				t.Errorf("%s, while n1 stands still: %v, want n2", name, r)
			}
		})
	}
	others.Wait()
	if state, errors := s.state("late-1"), s.member("late-1", "errors"); state != "OK" || errors != "1" {
		t.Errorf("late-1 is %s after %s errors", state, errors)
	}
	if state := s.state("at-once-1"); state != "ERR" {
		t.Errorf("at-once-1 is %s", state)
	}
	s.becomes("soon-1", "ERR")
	if state := s.state("late-1"); state != "OK" {
		t.Errorf("late-1 is %s", state)
	}

	goes()
	wg.Wait()
	for i, name := range names {
		if !held[i].fine() || held[i].Name != "n1" {
			t.Errorf("%s, the request in hand: %v", name, held[i])
		}
		// That n1 has answered ends its error.
		s.becomes(name+"-1", "OK")
	}
}
