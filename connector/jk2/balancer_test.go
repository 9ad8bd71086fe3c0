package jk2

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jkd/connector/connectortest"
)

// three is a text with three workers of routes a, b, c and more lines of each.
func three(a, b, c string) string {
	text := ""
	for i, more := range []string{a, b, c} {
		name := string(rune('a' + i))
		text += "[channel.socket:@" + name + "@]\nroute=" + name + "\n" + more + "\n"
	}
	return text + "[uri:/*]\n"
}

// Requests go to the lowest level that has a worker left.
func TestBalancerLevels(t *testing.T) {
	r := newRig(t, three("level=0", "level=1", "level=2"), "a", "b", "c")
	for range 5 {
		r.want("all are well", r.get("/"), "a")
	}
	r.nodes["a"].be(dropping)
	r.want("a fails", r.get("/"), "b")
	r.counts("a", "b", "c")
	for range 5 {
		r.want("a is in error", r.get("/"), "b")
	}
	r.want("who was asked", r.counts("a", "b", "c"), "a0 b5 c0")
	r.nodes["b"].be(dropping)
	r.want("b fails too", r.get("/"), "c")
	r.want("a and b are in error", r.get("/"), "c")
	r.nodes["c"].be(dropping)
	r.nodes["a"].be(serving)
	r.want("all have failed, a longest ago", r.get("/"), "a")
	r.want("and is well again", r.get("/"), "a")
}

// lb_factor is a cost.
func TestBalancerShares(t *testing.T) {
	for _, tt := range []struct{ a, b, share, n int }{{1, 3, 300, 400}, {1, 1, 200, 400}, {100, 200, 400, 600}, {2, 0, 0, 10}} {
		r := newRig(t, three(fmt.Sprint("lb_factor=", tt.a), fmt.Sprint("lb_factor=", tt.b), "level=3"), "a", "b", "c")
		for range tt.n {
			r.get("/")
		}
		got := r.nodes["a"].took()
		if rest := r.nodes["b"].took(); got < tt.share-1 || got > tt.share+1 || got+rest != tt.n {
			t.Errorf("lb_factor %d and %d: %d and %d requests of %d, want %d", tt.a, tt.b, got, rest, tt.n, tt.share)
		}
	}
}

// Sessions by cookie and by path, and what graceful, disabled, routeRedirect
// and stickySession make of them.
func TestBalancerSessions(t *testing.T) {
	for _, tt := range []struct {
		name    string
		a, b, c string // lines of the workers
		lb      string // lines of the balancer
		path    string
		cookie  string
		want    string // each of some requests
	}{
		{"a cookie", "", "", "", "", "/", "JSESSIONID=1234.c", "ccc"},
		{"among others", "", "", "", "", "/", "x=1; JSESSIONID=1234.b; y=2", "bbb"},
		{"the path", "", "", "", "", "/x;jsessionid=1234.b", "", "bbb"},
		{"the path before the cookie", "", "", "", "", "/x;jsessionid=1234.b", "JSESSIONID=1234.c", "bbb"},
		{"an unknown route", "", "", "", "", "/", "JSESSIONID=1234.z", "abc"},
		{"no route", "", "", "", "", "/", "JSESSIONID=1234", "abc"},
		{"none", "", "", "", "", "/", "", "abc"},
		{"not sticky", "", "", "", "stickySession=0", "/", "JSESSIONID=1234.c", "abc"},
		{"tomcatId is route", "", "", "tomcatId=other", "", "/", "JSESSIONID=1234.other", "ccc"},
		{"on a higher level", "", "", "level=3", "", "/", "JSESSIONID=1234.c", "ccc"},
		{"of a graceful one", "", "", "graceful=1", "", "/", "JSESSIONID=1234.c", "ccc"},
		{"no session, one is graceful", "", "", "graceful=1", "", "/", "", "aba"},
		{"of a disabled one", "", "", "disabled=1", "", "/", "JSESSIONID=1234.c", "aba"},
		{"no session, one is disabled", "disabled=1", "", "", "", "/", "", "bcb"},
		{"redirected", "", "", "routeRedirect=b", "", "/", "JSESSIONID=1234.c", "bbb"},
		{"redirected, by path", "", "", "routeRedirect=b", "", "/x;jsessionid=1.c", "", "bbb"},
		{"redirected to nobody", "", "", "routeRedirect=z", "", "/", "JSESSIONID=1234.c", "abc"},
	} {
		r := newRig(t, three(tt.a, tt.b, tt.c)+"[lb:lb]\n"+tt.lb+"\n", "a", "b", "c")
		got := ""
		for range 3 {
			var cookies []string
			if tt.cookie != "" {
				cookies = append(cookies, tt.cookie)
			}
			got += r.get(tt.path, cookies...)
		}
		r.want(tt.name, got, tt.want)
	}
}

// A container that has failed is left alone for recovery seconds.
func TestBalancerRecovery(t *testing.T) {
	r := newRig(t, three("", "level=1", "level=2")+"[lb:lb]\nrecovery=30\n", "a", "b", "c")
	now := time.Now()
	r.c.balancers["lb:lb"].now = func() time.Time { return now }
	r.nodes["a"].be(dropping)
	r.want("a fails", r.get("/"), "b")
	r.nodes["a"].be(serving)
	r.counts("a", "b", "c")
	failed := now
	for _, seconds := range []int{0, 10, 30} {
		now = failed.Add(time.Duration(seconds) * time.Second)
		r.want(fmt.Sprint("after ", seconds), r.get("/"), "b")
	}
	r.want("who was asked", r.counts("a", "b", "c"), "a0 b3 c0")
	now = now.Add(time.Second)
	r.want("the request that notices", r.get("/"), "b")
	r.want("the next one", r.get("/"), "a")

	// A session's own container is tried all the same, and so is the only one
	// there is.
	r.nodes["a"].be(dropping)
	r.want("a fails again", r.get("/"), "b")
	r.want("its session", r.get("/", "JSESSIONID=1.a"), "b")
	r.nodes["a"].be(serving)
	r.want("its session, when it is back", r.get("/", "JSESSIONID=1.a"), "a")
	r.want("that was an answer", r.get("/"), "a")

	one := newRig(t, "[channel.socket:@a@]\n[uri:/*]\n", "a")
	one.nodes["a"].be(dropping)
	one.want("the only one", one.get("/"), "status 503")
	one.nodes["a"].be(serving)
	one.want("the only one, back", one.get("/"), "a")
}

// What may be sent to another container.
func TestBalancerFailover(t *testing.T) {
	const text = "[channel.socket:@a@]\n[channel.socket:@b@]\nlevel=1\n[uri:/*]\n"
	for _, tt := range []struct {
		name, text string
		mode       mode
		method     string
		want       string
		asked      string // how often, 2: a second time on another connection
	}{
		{"GET", text, dropping, "GET", "b", "a2 b1"},
		{"HEAD", text, dropping, "HEAD", "", "a2 b1"},
		{"POST", text, dropping, "POST", "status 502", "a1 b0"},
		{"PUT", text, dropping, "PUT", "status 502", "a1 b0"},
		{"DELETE", text, dropping, "DELETE", "status 502", "a1 b0"},
		{"GET, noRecoveryIfRequestSent", text + "[workerEnv:]\nnoRecoveryIfRequestSent=1\n", dropping, "GET", "status 502", "a2 b0"},
		{"GET, noRecoveryIfHeaderSent", text + "[workerEnv:]\nnoRecoveryIfHeaderSent=1\n", dropping, "GET", "b", "a2 b1"},
		{"POST, noRecoveryIfRequestSent", text + "[workerEnv:]\nnoRecoveryIfRequestSent=1\n", dropping, "POST", "status 502", "a1 b0"},
		{"refused, POST", strings.Replace(text, "@a@", "@dead@", 1), dropping, "POST", "b", "a0 b1"},
		{"refused, GET, noRecoveryIfRequestSent", strings.Replace(text, "@a@", "@dead@", 1) + "[workerEnv:]\nnoRecoveryIfRequestSent=1\n", dropping, "GET", "b", "a0 b1"},
		{"silent", strings.Replace(text, "@a@]", "@a@]\nreplyTimeout=50", 1), silent, "GET", "status 504", "a1 b0"},
	} {
		r := newRig(t, tt.text, "a", "b")
		r.nodes["a"].be(tt.mode)
		body := ""
		if tt.method == "POST" || tt.method == "PUT" {
			body = strings.Repeat("x", 5000)
		}
		r.want(tt.name, r.do(connectortest.Request(tt.method, "/", body)).text, tt.want)
		r.want(tt.name+": asked", r.counts("a", "b"), tt.asked)
		if tt.want == "b" {
			if _, got := r.nodes["b"].seen(); got != body {
				t.Errorf("%s: a body of %d bytes", tt.name, len(got))
			}
		}
		// Whatever the method was, a is in error now.
		r.want(tt.name+": the next one", r.get("/"), "b")
	}

	// A body that is longer than what is kept of it: the connection is refused,
	// so nothing of it is gone.
	r := newRig(t, strings.Replace(text, "@a@", "@dead@", 1), "b")
	body := strings.Repeat("0123456789", 5000)
	r.want("a long body", r.post("/", body), "b")
	if _, got := r.nodes["b"].seen(); got != body {
		t.Errorf("a long body: %d bytes of %d", len(got), len(body))
	}
}

// The answer when nobody is left.
func TestBalancerNobody(t *testing.T) {
	const dead = "[channel.socket:@dead@]\n[uri:/*]\n[lb:lb]\n"
	for _, tt := range []struct {
		name, lb string
		own      bool // an answer of the balancer and not an error
		status   int
		has      string // field or part of the body
	}{
		{"usual", "", false, 503, ""},
		{"code", "noWorkerCode=509\n", false, 509, ""},
		{"message without noErrorHeader", "noWorkerMsg=Closed\n", false, 503, ""},
		{"message", "noErrorHeader=0\nnoWorkerMsg=Closed <today>\n", true, 503, "<p>Closed &lt;today&gt;</p>"},
		{"message and code", "noErrorHeader=0\nnoWorkerMsg=Closed\nnoWorkerCode=500\n", true, 500, "<title>500</title>"},
		{"no message", "noErrorHeader=0\n", true, 503, "<p></p>"},
		{"type", "noErrorHeader=0\n", true, 503, "Content-Type: text/html; charset=utf-8"},
		{"redirect", "noWorkerCode=302\nnoWorkerMsg=http://other.test/x?y\n", false, 302, "Location: http://other.test/x?y"},
		{"redirect, noErrorHeader", "noErrorHeader=0\nnoWorkerCode=302\nnoWorkerMsg=http://other.test/\n", false, 302, "Location: http://other.test/"},
		{"hwBalanceErr", "hwBalanceErr=509\n", false, 509, ""},
		{"hwBalanceErr before noWorkerCode", "hwBalanceErr=509\nnoWorkerCode=302\nnoWorkerMsg=http://other.test/\n", false, 509, ""},
	} {
		r := newRig(t, dead+tt.lb)
		a := r.do(connectortest.Request("GET", "/", ""))
		if (a.err == nil) != tt.own || a.status != tt.status {
			t.Errorf("%s: status %d, %v", tt.name, a.status, a.err)
		}
		all := a.text + "\n" + strings.Join(a.fields, "\n")
		if a.err != nil {
			for _, f := range a.err.Fields {
				all += "\n" + string(f.Name) + ": " + string(f.Value)
			}
		}
		if !strings.Contains(all, tt.has) {
			t.Errorf("%s: %q, want %q", tt.name, all, tt.has)
		}
		if strings.Contains(all, "Location") != (tt.status == 302) {
			t.Errorf("%s: %q", tt.name, all)
		}
	}

	// For new sessions hwBalanceErr leaves the higher levels alone; those that
	// are there are served.
	r := newRig(t, "[channel.socket:@dead@]\nroute=a\n[channel.socket:@b@]\nroute=b\nlevel=1\n[uri:/*]\n[lb:lb]\nhwBalanceErr=509\n", "b")
	r.want("a new session", r.get("/"), "status 509")
	r.want("one of level 1", r.get("/", "JSESSIONID=1.b"), "b")

	r = newRig(t, "[uri:/*]\n")
	r.want("no workers at all", r.get("/"), "status 503")
	r = newRig(t, "[channel.socket:@a@]\ndisabled=1\n[uri:/*]\n[uri:/d/*]\ngroup=ajp13:@a@\n", "a")
	r.want("all are disabled", r.get("/"), "status 503")
	r.want("the one that a uri names is", r.get("/d/"), "status 503")
	r.want("asked", r.counts("a"), "a0")
}
