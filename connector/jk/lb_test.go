package jk

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk/balance"
)

// lbRig is a balancer "lb" over scripted containers named n1, n2, ...
type lbRig struct {
	*Connector
	t    testing.TB
	log  *lockedBuffer
	seen []*ajptest.Request
	mu   sync.Mutex
}

// newLB starts n containers that answer with their own name, unless answers
// says otherwise, and a balancer over them.
func newLB(t testing.TB, n int, answers map[string]ajptest.Handler, rules string, lines ...string) (*lbRig, []*ajptest.Container) {
	t.Helper()
	r := &lbRig{t: t, log: &lockedBuffer{}}
	var text strings.Builder
	text.WriteString("worker.list=lb\nworker.lb.type=lb\n")
	var containers []*ajptest.Container
	for i := range n {
		name := fmt.Sprint("n", i+1)
		h := answers[name]
		if h == nil {
			h = func(e *ajptest.Exchange) { _ = e.Respond(200, name) }
		}
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			r.mu.Lock()
			r.seen = append(r.seen, e.Request)
			r.mu.Unlock()
			h(e)
		})
		containers = append(containers, c)
		fmt.Fprintf(&text, "worker.lb.balance_workers=%s\nworker.%s.host=127.0.0.1\nworker.%s.port=%d\n", name, name, name, c.Port())
	}
	for _, l := range lines {
		fmt.Fprintf(&text, "worker.%s\n", l)
	}
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	if rules == "" {
		rules = "/*=lb\n"
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile(rules))
	if err != nil {
		t.Fatal(err)
	}
	r.Connector = New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{Threads: 1, Dial: dialKinds[1].dial, Logger: zerolog.New(r.log), WriteTimeout: long})
	t.Cleanup(func() { r.Close() })
	return r, containers
}

// send serves a request with these Cookie values and returns the body, or the
// status of the failure.
func (r *lbRig) send(q *connector.Request, cookies ...string) (string, *answer) {
	r.t.Helper()
	for _, c := range cookies {
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte(c)})
	}
	a := &answer{}
	err := r.Match(q).Service(q, a)
	var e *connector.Error
	switch {
	case err == nil:
		return string(a.body), a
	case errors.As(err, &e):
		return fmt.Sprint(e.Status), a
	}
	r.t.Fatal(err)
	return "", nil
}

func (r *lbRig) get(path string, cookies ...string) string {
	r.t.Helper()
	body, _ := r.send(request("GET", path, ""), cookies...)
	return body
}

func (r *lbRig) member(i int) *lbMember {
	b := r.lbs[0]
	return &lbMember{b, i}
}

type lbMember struct {
	b *balancer
	i int
}

func (m *lbMember) state() balance.State { return m.b.rec.Member(m.i).State() }

// Weights, with every request counted.
func TestBalance(t *testing.T) {
	for _, method := range []string{"R", "S", "N"} {
		r, _ := newLB(t, 3, nil, "", "lb.method="+method, "n1.lbfactor=1", "n2.lbfactor=2", "n3.lbfactor=3")
		got := map[string]int{}
		for range 600 {
			got[r.get("/")]++
		}
		if got["n1"] != 100 || got["n2"] != 200 || got["n3"] != 300 {
			t.Errorf("method %s: %v", method, got)
		}
	}
}

// stickyCase is a request and the node that is to serve it.
type stickyCase struct{ path, cookie, want string }

// sticks sends each three times: chance would not be as constant.
func (r *lbRig) sticks(tests []stickyCase) {
	r.t.Helper()
	for _, tt := range tests {
		for range 3 {
			var cookies []string
			if tt.cookie != "" {
				cookies = append(cookies, tt.cookie)
			}
			if got := r.get(tt.path, cookies...); got != tt.want {
				r.t.Errorf("%s %s: %s, want %s", tt.path, tt.cookie, got, tt.want)
			}
		}
	}
}

// spreads tells whether requests with this cookie go to all of n nodes in turn.
func (r *lbRig) spreads(path, cookie string, n int) bool {
	seen := map[string]bool{}
	for range n {
		seen[r.get(path, cookie)] = true
	}
	return len(seen) == n
}

// F054: quoted and repeated cookies, of any header field.
func TestF054Cookies(t *testing.T) {
	r, _ := newLB(t, 3, nil, "")
	r.sticks([]stickyCase{
		{"/", "JSESSIONID=a.n2", "n2"},
		{"/", `JSESSIONID="a.n2"`, "n2"},
		{"/", `JSESSIONID=a.zzz; JSESSIONID="b.n2"`, "n2"},
		{"/", `JSESSIONID=; JSESSIONID = b.n3`, "n3"},
		{"/", `x=y, JSESSIONID=b.n3`, "n3"},
	})
	for range 3 {
		if got := r.get("/", "a=b", "JSESSIONID=c.zzz", "JSESSIONID=c.n3"); got != "n3" {
			t.Errorf("in the third field: %s", got)
		}
	}
	if n := r.lbs[0].rec.UnknownRoutes.Load(); n != 6 {
		t.Errorf("%d unknown routes", n)
	}
	r.lbs[0].rec.Member(0).LBValue.Store(r.lbs[0].rec.Member(2).LBValue.Load())
	r.lbs[0].rec.Member(1).LBValue.Store(r.lbs[0].rec.Member(2).LBValue.Load())
	for _, c := range []string{"MYJSESSIONID=c.n1", "jsessionid=c.n1", "x=JSESSIONID=c.n1"} {
		if !r.spreads("/", c, 3) {
			t.Errorf("%s is a session", c)
		}
	}
}

// F056: other cookies and parameters; an id without a route is of nobody, and
// begins no session.
func TestF056OtherSessions(t *testing.T) {
	r, _ := newLB(t, 3, nil, "/*=lb\n/sid/*=lb;session_cookie=SESSION;session_path=;sid\n/free/*=lb;sticky_ignore=1\n", "lb.method=S")
	r.sticks([]stickyCase{
		{"/a;jsessionid=x.n1/b", "JSESSIONID=a.n2", "n1"},
		{"/sid/", "SESSION=x.n2", "n2"},
		{"/sid/;sid=x.n1", "", "n1"},
		{"/sid/", "JSESSIONID=x.n3; SESSION=x.n1", "n1"},
	})
	for j := range 3 {
		r.lbs[0].rec.Member(j).Reset(0)
	}
	for _, tt := range []stickyCase{{"/sid/", "SESSION=abc=", ""}, {"/", "JSESSIONID=abc.", ""}, {"/", "JSESSIONID=abc", ""}} {
		if !r.spreads(tt.path, tt.cookie, 3) {
			t.Errorf("%s %s is bound", tt.path, tt.cookie)
		}
	}
	for j := range 3 {
		if m := r.lbs[0].rec.Member(j); m.Sessions.Load() != 0 || m.LBValue.Load() != 0 || m.Elected.Load() != 3 {
			t.Errorf("n%d: %d sessions, value %d, %d requests", j+1, m.Sessions.Load(), m.LBValue.Load(), m.Elected.Load())
		}
	}
	if !r.spreads("/free/", "JSESSIONID=x.n2", 3) {
		t.Error("sticky_ignore: bound")
	}
}

// F057: what follows the first dot, the last one, the domain before it.
func TestF057Routes(t *testing.T) {
	r, _ := newLB(t, 3, nil, "", "n1.route=node-1", "n2.domain=dom", "n3.route=app.example:8009")
	r.sticks([]stickyCase{
		{"/", "JSESSIONID=x.node-1", "n1"},
		{"/", "JSESSIONID=x.dom.node-1", "n1"},
		{"/", "JSESSIONID=x.app.example:8009", "n3"},
		{"/", "JSESSIONID=x.dom.other", "n2"},
		{"/", "JSESSIONID=x.dom", "n2"},
	})
}

// F057: sessions of routes that nobody has are counted and told of once a minute.
func TestF057UnknownRoutes(t *testing.T) {
	r, _ := newLB(t, 2, nil, "")
	now := time.Unix(1e9, 0)
	b := r.lbs[0]
	b.now = func() time.Time { return now }
	ask := func(n int, route string) {
		for range n {
			r.get("/", "JSESSIONID=x."+route)
		}
	}
	said := func() int { return strings.Count(r.log.String(), "no worker of lb has the route") }
	ask(20, "node-1")
	now = now.Add(59 * time.Second)
	ask(20, "node-1")
	if said() != 1 || !strings.Contains(r.log.String(), `"route":"node-1"`) {
		t.Errorf("in a minute: %s", r.log)
	}
	now = now.Add(time.Second)
	ask(2, "a\x01b\u00e9"+strings.Repeat("z", 200))
	if said() != 2 || !strings.Contains(r.log.String(), `"route":"a?b??`+strings.Repeat("z", 59)+`..."`) {
		t.Errorf("after a minute: %s", r.log)
	}
	if n := b.rec.UnknownRoutes.Load(); n != 42 {
		t.Errorf("%d counted", n)
	}
	now = now.Add(-time.Hour) // the clock is set back
	ask(2, "node-1")
	if said() != 3 {
		t.Errorf("after the clock was set back: told %d times", said())
	}
}

// F058: three activations, sticky or new, forced or not.
func TestF058Activation(t *testing.T) {
	for _, tt := range []struct {
		activation, force string
		sticky, fresh     string
	}{
		{"active", "0", "n1", "n1 n2"}, {"active", "1", "n1", "n1 n2"},
		{"disabled", "0", "n1", "n2"}, {"disabled", "1", "n1", "n2"},
		{"stopped", "0", "n2", "n2"}, {"stopped", "1", "503", "n2"},
	} {
		r, _ := newLB(t, 2, nil, "", "n1.activation="+tt.activation, "lb.sticky_session_force="+tt.force)
		if got := r.get("/", "JSESSIONID=x.n1"); got != tt.sticky {
			t.Errorf("%s, force %s: its session is served by %s, want %s", tt.activation, tt.force, got, tt.sticky)
		}
		fresh := map[string]bool{}
		for range 4 {
			fresh[r.get("/")] = true
		}
		var names []string
		for _, n := range []string{"n1", "n2", "503"} {
			if fresh[n] {
				names = append(names, n)
			}
		}
		if got := strings.Join(names, " "); got != tt.fresh {
			t.Errorf("%s: new sessions go to %s, want %s", tt.activation, got, tt.fresh)
		}
	}
}

// A rule's own activations hold for it alone.
func TestF058ActivationOfRule(t *testing.T) {
	r, _ := newLB(t, 3, nil, "/*=lb\n/maint/*=lb;disabled=n1;stopped=n2,n3\n")
	for _, tt := range []struct{ path, cookie, want string }{
		{"/maint/", "JSESSIONID=x.n1", "n1"}, {"/maint/", "JSESSIONID=x.n2", "503"}, {"/maint/", "JSESSIONID=x", "503"}, {"/x", "JSESSIONID=x.n2", "n2"},
	} {
		if got := r.get(tt.path, tt.cookie); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.path, tt.cookie, got, tt.want)
		}
	}
}

// Failover of a dead member, and F062: when nobody is left, those in error are
// tried again at once.
func TestF062FailoverAndForce(t *testing.T) {
	r, c := newLB(t, 2, nil, "")
	c[0].Close()
	for range 6 {
		if got := r.get("/", "JSESSIONID=x.n1"); got != "n2" {
			t.Fatalf("served by %s", got)
		}
	}
	if r.member(0).state() != balance.Error || r.member(1).state() != balance.OK {
		t.Errorf("states %v %v", r.member(0).state(), r.member(1).state())
	}
	if n := r.lbs[0].rec.Member(0).Elected.Load(); n != 1 {
		t.Errorf("the dead member was tried by %d requests", n)
	}
	port := c[1].Port()
	c[1].Close()
	if got := r.get("/"); got != "503" {
		t.Errorf("nobody there: %s", got)
	}
	again, err := ajptest.Start("tcp", fmt.Sprint("127.0.0.1:", port), ajptest.Options{}, func(e *ajptest.Exchange) { _ = e.Respond(200, "back") })
	if err != nil {
		t.Skip(err) // somebody else has the port
	}
	defer again.Close()
	if got := r.get("/"); got != "back" {
		t.Errorf("after the return of one member: %s", got)
	}
}

// F062: where nobody listens any more, the requests still in hand there are no
// reason to try again and again. Those that end well are one.
func TestF062RefusedWhileOthersAreServed(t *testing.T) {
	release := make(chan struct{})
	r, c := newLB(t, 2, map[string]ajptest.Handler{"n1": func(e *ajptest.Exchange) {
		<-release
		_ = e.Respond(200, "n1")
	}}, "", "n1.connection_pool_size=2")
	served := make(chan string)
	go func() { served <- r.get("/slow", "JSESSIONID=x.n1") }()
	if !c[0].WaitRequests(1, long) {
		t.Fatal("the first request has not arrived")
	}
	c[0].StopListening()
	for range 3 {
		if got := r.get("/", "JSESSIONID=x.n1"); got != "n2" {
			t.Errorf("served by %s", got)
		}
		if got := r.member(0).state(); got != balance.Error {
			t.Errorf("state %v", got)
		}
	}
	if n := r.lbs[0].rec.Member(0).Elected.Load(); n != 2 {
		t.Errorf("the member was tried %d times, want 2", n)
	}
	close(release)
	if got := <-served; got != "n1" {
		t.Errorf("the request in hand got %s", got)
	}
	if got := r.member(0).state(); got != balance.OK {
		t.Errorf("state %v after a good answer", got)
	}
}

// A hot standby: disabled, and named by redirect.
func TestHotStandby(t *testing.T) {
	r, c := newLB(t, 2, nil, "", "n1.redirect=n2", "n2.activation=disabled")
	for range 3 {
		if got := r.get("/"); got != "n1" {
			t.Errorf("both up: %s", got)
		}
	}
	c[0].Close()
	for range 3 {
		if got := r.get("/", "JSESSIONID=x.n1"); got != "n2" {
			t.Errorf("master down: %s", got)
		}
	}
}

// fail_on_status, hard and soft; the client gets the other member's answer.
func TestFailOnStatus(t *testing.T) {
	r, _ := newLB(t, 2, map[string]ajptest.Handler{"n1": func(e *ajptest.Exchange) {
		status := 404
		if e.Request.URI == "/hard" {
			status = 503
		}
		_ = e.Respond(status, "no")
	}}, "", "n1.fail_on_status=-404,503")
	if got := r.get("/soft", "JSESSIONID=x.n1"); got != "n2" || r.member(0).state() != balance.OK {
		t.Errorf("soft: %s, %v", got, r.member(0).state())
	}
	if got := r.get("/hard", "JSESSIONID=x.n1"); got != "n2" || r.member(0).state() != balance.Error {
		t.Errorf("hard: %s, %v", got, r.member(0).state())
	}
}

// F064: a request whose body is held goes to the other member whole, under
// that member's own route and activation; one that is not may not.
func TestF064FailoverWithBody(t *testing.T) {
	for _, tt := range []struct {
		method, options string
		size            int
		want            string
	}{
		{"POST", "0", 10, "n2 10"}, {"POST", "3", 10, "502"}, {"GET", "24", 0, "n2 0"}, {"GET", "3", 0, "502"}, {"POST", "0", 20000, "502"},
	} {
		r, _ := newLB(t, 2, map[string]ajptest.Handler{
			"n1": func(e *ajptest.Exchange) { _, _ = e.Body(); _ = e.Close() },
			"n2": func(e *ajptest.Exchange) { b, _ := e.Body(); _ = e.Respond(200, fmt.Sprint("n2 ", len(b))) },
		}, "", "n1.recovery_options="+tt.options, "n1.retries=1")
		got, _ := r.send(request(tt.method, "/", strings.Repeat("x", tt.size)), "JSESSIONID=x.n1")
		if got != tt.want {
			t.Errorf("%s %d bytes, options %s: %s, want %s", tt.method, tt.size, tt.options, got, tt.want)
		}
	}
}

// F060: the balancer's own cookie: for who has none, and anew when the node
// changed; once, behind the container's.
func TestF060OwnCookie(t *testing.T) {
	answers := map[string]ajptest.Handler{}
	for _, n := range []string{"n1", "n2"} {
		answers[n] = func(e *ajptest.Exchange) { _ = e.Respond(200, n, ajptest.H("Set-Cookie", "own=1")) }
	}
	r, c := newLB(t, 2, answers, "/*=lb\n/cookie/*=lb;set_session_cookie=1;session_cookie_path=/cookie\n")
	ask := func(path string, secure bool, cookies ...string) (string, string) {
		q := request("GET", path, "")
		q.Secure = secure
		body, a := r.send(q, cookies...)
		var set []string
		for _, f := range a.fields {
			if v, ok := strings.CutPrefix(f, "Set-Cookie: "); ok {
				set = append(set, v)
			}
		}
		return body, strings.Join(set, " | ")
	}
	for _, secure := range []bool{false, true} {
		body, set := ask("/cookie/", secure)
		want := "own=1 | JSESSIONID=." + body + "; Path=/cookie; HttpOnly"
		if secure {
			want += "; Secure"
		}
		if set != want {
			t.Errorf("first request: %q, want %q", set, want)
		}
	}
	if body, set := ask("/cookie/", false, "JSESSIONID=.n1"); body != "n1" || set != "own=1" {
		t.Errorf("sticky: %s %q", body, set)
	}
	if _, set := ask("/", false); set != "own=1" {
		t.Errorf("not asked for: %q", set)
	}
	c[0].Close()
	for range 2 { // found out, and known
		if body, set := ask("/cookie/", false, "JSESSIONID=.n1"); body != "n2" || set != "own=1 | JSESSIONID=.n2; Path=/cookie; HttpOnly" {
			t.Errorf("node down: %s %q", body, set)
		}
	}
}

// The container is told where the request belongs.
func TestRouteAndActivationSent(t *testing.T) {
	r, _ := newLB(t, 2, nil, "", "n1.activation=disabled")
	r.get("/", "JSESSIONID=x.n1")
	r.get("/")
	var got []string
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, q := range r.seen {
		route, _ := q.Attr(0x06)
		activation, _ := q.ReqAttr("JK_LB_ACTIVATION")
		got = append(got, route.Value+" "+activation)
	}
	if s := strings.Join(got, ", "); s != "n1 DIS, n2 ACT" {
		t.Error(s)
	}
}

// F048: a member fails when its timeouts are more than max_reply_timeouts.
func TestF048ReplyTimeouts(t *testing.T) {
	r, _ := newLB(t, 1, map[string]ajptest.Handler{"n1": func(e *ajptest.Exchange) {
		if e.Request.URI == "/slow" {
			_ = e.Hold()
			return
		}
		_ = e.Respond(200, "fast")
	}}, "", "lb.max_reply_timeouts=2", "n1.reply_timeout=30")
	for i, want := range []balance.State{balance.OK, balance.OK, balance.Error} {
		if got := r.get("/slow"); got != "504" || r.member(0).state() != want {
			t.Errorf("timeout %d: %s, %v, want %v", i+1, got, r.member(0).state(), want)
		}
		if got := r.get("/fast"); got != "fast" {
			t.Errorf("in between: %s", got)
		}
	}
}

// What the master does: a member in error is tried again by one request after
// recover_time, and what was counted fades.
func TestKeeper(t *testing.T) {
	r, c := newLB(t, 2, nil, "", "lb.recover_time=10")
	c[0].Close()
	r.get("/", "JSESSIONID=x.n1")
	b := r.lbs[0]
	k := &Keeper{Config: &Config{Maintain: time.Minute, Workers: []WorkerConfig{{Name: "lb", Type: LB}}}, Segment: b.seg, Logger: zerolog.Nop()}
	now := b.rec.Member(0).LastError.Load()
	k.maintain(now + 10)
	if s := r.member(0).state(); s != balance.Error {
		t.Errorf("too early: %v", s)
	}
	b.rec.Member(1).LBValue.Store(8)
	k.maintain(now + 11)
	if s, v := r.member(0).state(), b.rec.Member(0).LBValue.Load(); s != balance.Recover || v != 8 {
		t.Errorf("after recover_time: %v, value %d", s, v)
	}
	k.maintain(now + 11 + 60)
	if v := b.rec.Member(1).LBValue.Load(); v != 4 {
		t.Errorf("value %d after one worker.maintain", v)
	}
	if got := r.get("/", "JSESSIONID=x.n1"); got != "n2" || r.member(0).state() != balance.Error {
		t.Errorf("probe of a dead member: %s, %v", got, r.member(0).state())
	}
}

// F066: nothing is left when all is quiet.
func TestF066Gauges(t *testing.T) {
	r, _ := newLB(t, 2, nil, "", "lb.method=B")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				if got := r.get("/"); got != "n1" && got != "n2" {
					t.Error(got)
				}
			}
		})
	}
	wg.Wait()
	for i := range 2 {
		w := r.lbs[0].rec.Member(i).Worker()
		if w.Busy() != 0 || w.Connected() != r.members[i].pool.idleCount() {
			t.Errorf("member %d: busy %d, connected %d", i, w.Busy(), w.Connected())
		}
	}
}

// With lock Pessimistic nobody is left with the lock, and one that somebody
// else does not give back costs a while and no request.
func TestPessimisticLock(t *testing.T) {
	r, _ := newLB(t, 2, nil, "", "lb.lock=Pessimistic")
	count := map[string]int{}
	for range 20 {
		count[r.get("/")]++
	}
	if count["n1"] != 10 || count["n2"] != 10 {
		t.Error(count)
	}
	rec := r.lbs[0].rec
	if err := rec.Lock(0); err != nil {
		t.Fatal("an election has kept the lock:", err)
	}
	if got := r.get("/"); got != "n1" {
		t.Errorf("while somebody has the lock: %s", got)
	}
	rec.Unlock(0)
	if err := rec.Lock(0); err != nil {
		t.Error("an election has taken the lock for good:", err)
	}
}

// A member that comes back gets load on its account by the master while a
// request elects it as its probe: the request must not go elsewhere and leave
// the probe to nobody.
func TestProbeWhileTheValueChanges(t *testing.T) {
	r, _ := newLB(t, 2, nil, "")
	b := r.lbs[0]
	m := b.rec.Member(0)
	m.SetState(balance.Recover)
	b.now = func() time.Time { // asked for between the look and the election
		m.LBValue.Raise(5)
		return time.Now()
	}
	if got := r.get("/"); got != "n1" {
		t.Errorf("served by %s", got)
	}
	if s := m.State(); s != balance.OK {
		t.Errorf("the probed member is %s", s)
	}
	if v := m.LBValue.Load(); v != 6 {
		t.Errorf("its value is %d, want 6", v)
	}
}
