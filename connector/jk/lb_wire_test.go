package jk

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
)

// A standby for several, a domain that stands in for its own, and the nearest
// first.
func TestStandInFor(t *testing.T) {
	t.Run("domain", func(t *testing.T) {
		r, c := newLB(t, 3, nil, "", "n1.domain=d", "n3.domain=d")
		c[0].Close()
		r.sticks([]stickyCase{{"/", "JSESSIONID=x.n1", "n3"}, {"/", "JSESSIONID=x.d.n1", "n3"}, {"/", "JSESSIONID=x.n2", "n2"}})
	})
	t.Run("redirect", func(t *testing.T) {
		r, c := newLB(t, 3, nil, "", "n1.redirect=n3", "n1.domain=d", "n2.domain=d", "n3.activation=disabled")
		c[0].Close()
		r.sticks([]stickyCase{{"/", "JSESSIONID=x.n1", "n3"}})
		if got := r.get("/"); got != "n2" {
			t.Errorf("a new session went to %s", got)
		}
		c[1].Close()
		r.get("/")
		if got := r.get("/"); got != "n3" {
			t.Errorf("nobody else: %s", got)
		}
	})
	t.Run("distance", func(t *testing.T) {
		r, c := newLB(t, 3, nil, "", "n1.distance=1", "n2.distance=0", "n3.distance=2")
		for i, want := range []string{"n2", "n1", "n3", "503"} {
			if got := r.get("/"); got != want {
				t.Errorf("%d are gone: %s, want %s", i, got, want)
			}
			if i < 3 {
				r.sticks([]stickyCase{{"/", "JSESSIONID=x.n3", "n3"}})
				c[[]int{1, 0, 2}[i]].Close()
			}
		}
	})
	t.Run("forced", func(t *testing.T) {
		r, c := newLB(t, 3, nil, "", "lb.sticky_session_force=1", "n1.redirect=n2", "n1.domain=d", "n3.domain=d")
		c[0].Close()
		for range 2 {
			if got := r.get("/", "JSESSIONID=x.n1"); got != "503" {
				t.Errorf("served by %s", got)
			}
		}
		if !strings.Contains(r.log.String(), "all workers are in error state for session") {
			t.Error("the log does not say why")
		}
	})
}

// F051: a member whose name nobody knows is left out, and is not to blame; it
// is used as soon as the master knows its address.
func TestF051MemberUnresolved(t *testing.T) {
	c := ajptest.New(t, func(e *ajptest.Exchange) { _ = e.Respond(200, "") })
	r := newTextRig(t, fmt.Sprintf("worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=n1,n2\n"+
		"worker.n1.host=nosuch.invalid\nworker.n1.port=%d\nworker.n2.host=127.0.0.1\nworker.n2.port=%[1]d\n", c.Port()), "/*=lb\n", nil)
	ask := func() {
		t.Helper()
		q := request("GET", "/", "")
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte("JSESSIONID=x.n1")})
		if err := r.Match(q).Service(q, &answer{}); err != nil {
			t.Error(err)
		}
	}
	m, other := r.seg.Balancer(0).Member(0), r.seg.Balancer(0).Member(1)
	for range 4 {
		ask()
	}
	if m.Elected.Load() != 0 || m.Errors.Load() != 0 || m.State() != balance.Idle || other.Elected.Load() != 4 {
		t.Errorf("%d requests, %d errors, %v; the other one %d requests", m.Elected.Load(), m.Errors.Load(), m.State(), other.Elected.Load())
	}
	addr := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(c.Port()))
	if err := m.Worker().SetAddresses(jkshm.Master, jkshm.Addresses{Resolved: true, List: []netip.AddrPort{addr}}); err != nil {
		t.Fatal(err)
	}
	ask()
	if m.Elected.Load() != 1 || m.State() != balance.OK {
		t.Errorf("resolved: %d requests, %v", m.Elected.Load(), m.State())
	}
}

// F063: whatever goes wrong, a balancer has the status of a worker alone.
func TestF063SameStatuses(t *testing.T) {
	respond := func(f func(e *ajptest.Exchange)) ajptest.Handler {
		return func(e *ajptest.Exchange) { _, _ = e.Body(); f(e) }
	}
	for _, tt := range []struct {
		name   string
		h      ajptest.Handler // nil: nobody listens
		lines  []string
		q      func() *connector.Request
		status int
	}{
		{"refused", nil, nil, nil, 503},
		{"busy", respond(func(e *ajptest.Exchange) { _ = e.Respond(200, "") }), []string{"busy_limit=1"}, nil, 503},
		{"closed", respond(func(e *ajptest.Exchange) { _ = e.Close() }), nil, nil, 502},
		{"nonsense", respond(func(e *ajptest.Exchange) { _ = e.Send([]byte("HTTP/1.1 200 OK\r\n\r\n")); _ = e.Close() }), nil, nil, 502},
		{"silent", respond(func(e *ajptest.Exchange) { _ = e.Hold() }), []string{"reply_timeout=20"}, nil, 504},
		{"broken off by the client", respond(func(e *ajptest.Exchange) { _ = e.Respond(200, "") }), nil, func() *connector.Request {
			q := request("POST", "/", "")
			q.ContentLength, q.Body = 10, failingBody{}
			return q
		}, 400},
		{"too long", respond(func(e *ajptest.Exchange) { _ = e.Respond(200, "") }), nil, func() *connector.Request {
			q := request("GET", "/", "")
			q.Fields = append(q.Fields, connector.Field{Name: []byte("X"), Value: []byte(strings.Repeat("x", 9000))})
			return q
		}, 413},
	} {
		for _, members := range []int{0, 1, 2} {
			text := "worker.list=w\n"
			names := []string{"w"}
			if members > 0 {
				text += "worker.w.type=lb\n"
				names = []string{"n1", "n2"}[:members]
			}
			for _, n := range names {
				port := 0
				if tt.h == nil {
					port = freePort(t)
				} else {
					port = ajptest.NewOptions(t, "tcp", ajptest.Options{OnError: func(error) {}}, tt.h).Port()
				}
				text += fmt.Sprintf("worker.%s.host=127.0.0.1\nworker.%[1]s.port=%d\nworker.%[1]s.retry_interval=1\n", n, port)
				if members > 0 {
					text += "worker.w.balance_workers=" + n + "\n"
				}
				for _, l := range tt.lines {
					text += "worker." + n + "." + l + "\n"
				}
			}
			r := newTextRig(t, text, "/*=w\n", nil)
			if tt.name == "busy" {
				for i := range r.seg.Workers() {
					r.seg.Worker(i).Enter(0)
				}
			}
			q := request("GET", "/", "")
			if tt.q != nil {
				q = tt.q()
			}
			var e *connector.Error
			if err := r.Match(q).Service(q, &answer{}); !errors.As(err, &e) || e.Status != tt.status {
				t.Errorf("%s, %d members: %v, want %d", tt.name, members, err, tt.status)
			}
		}
	}
}

type failingBody struct{}

func (failingBody) Read([]byte) (int, error) {
	return 0, &connector.ClientError{Op: "read body", Err: net.ErrClosed}
}

// textRig is a connector over a text of workers and one of rules, in a segment
// that no master cares for.
type textRig struct {
	*Connector
	log *lockedBuffer
}

func newTextRig(t testing.TB, text, rules string, site func(*conf.JkServer)) *textRig {
	t.Helper()
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile(rules))
	if err != nil {
		t.Fatal(err)
	}
	s := conf.DefaultJkServer()
	if site != nil {
		site(&s)
	}
	setup := &Setup{Config: cfg, Maps: []*URIMap{m}}
	seg, err := FormatSegment(segmentMemory(t, setup, 1), setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := &textRig{log: &lockedBuffer{}}
	r.Connector = New(setup, Options{
		Threads: 4, Segment: seg, Dial: dialKinds[1].dial, Logger: zerolog.New(r.log), WriteTimeout: long, Sites: []conf.JkServer{s},
	})
	t.Cleanup(func() { r.Close() })
	return r
}

// use_server_errors: from that status on the page is the front's, and that is
// no failure of the member.
func TestUseServerErrors(t *testing.T) {
	status := func(e *ajptest.Exchange) {
		var n int
		_, _ = fmt.Sscanf(e.Request.URI, "/e/%d", &n)
		_ = e.Respond(n, "the container's page", ajptest.H("WWW-Authenticate", "Basic"), ajptest.H("Content-Language", "de"))
	}
	r, c := newLB(t, 2, map[string]ajptest.Handler{"n1": status, "n2": status}, "/*=lb\n/e/*=lb;use_server_errors=404\n")
	for _, tt := range []struct {
		status int
		own    bool
	}{{200, false}, {401, false}, {403, false}, {404, true}, {500, true}, {503, true}} {
		for _, method := range []string{"GET", "HEAD"} {
			q, a := request(method, fmt.Sprint("/e/", tt.status), ""), &answer{}
			err := r.Match(q).Service(q, a)
			var e *connector.Error
			switch {
			case !tt.own && (err != nil || a.status != tt.status):
				t.Errorf("%s %d: %v, %d", method, tt.status, err, a.status)
			case tt.own && (!errors.As(err, &e) || !e.Own || e.Status != tt.status || a.started):
				t.Errorf("%s %d: %+v", method, tt.status, err)
			case tt.own && (len(e.Fields) != 1 || string(e.Fields[0].Name) != "WWW-Authenticate"):
				t.Errorf("%s %d: fields %s", method, tt.status, e.Fields)
			}
		}
	}
	for i := range c {
		m := r.lbs[0].rec.Member(i)
		if m.State() != balance.OK || m.Errors.Load() != 0 || m.Worker().Errors.Load() != 0 {
			t.Errorf("n%d: %v, %d errors", i+1, m.State(), m.Errors.Load())
		}
		if n := c[i].Accepted(); n != 1 {
			t.Errorf("n%d: %d connections", i+1, n)
		}
	}
}

// busy_limit: a member that is full is passed over, and used again as soon as
// it has room; it never is in error.
func TestBusyLimit(t *testing.T) {
	var g gates
	r, c := newLB(t, 2, map[string]ajptest.Handler{"n1": g.handler}, "", "n1.busy_limit=1")
	var wg sync.WaitGroup
	wg.Go(func() { r.get("/hold", "JSESSIONID=x.n1") })
	if !c[0].WaitRequests(1, long) {
		t.Fatal("no request")
	}
	for range 3 {
		if got := r.get("/", "JSESSIONID=x.n1"); got != "n2" || r.member(0).state() != balance.Busy {
			t.Errorf("%s, %v", got, r.member(0).state())
		}
	}
	close(g.of("/hold"))
	wg.Wait()
	if got := r.get("/", "JSESSIONID=x.n1"); got == "n2" || r.member(0).state() != balance.OK {
		t.Errorf("with room: %s, %v", got, r.member(0).state())
	}
	if n := r.lbs[0].rec.Member(0).Errors.Load(); n != 0 {
		t.Errorf("%d errors", n)
	}
}

// recovery_options 4: when the client leaves, the connection to the container
// is reset, so that it notices.
func TestResetForClient(t *testing.T) {
	for _, tt := range []struct {
		options string
		reset   bool
	}{{"0", false}, {"4", true}} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		got := make(chan error, 1)
		go func() {
			nc, err := ln.Accept()
			if err != nil {
				got <- err
				return
			}
			defer nc.Close()
			b := make([]byte, 8192)
			_, _ = nc.Read(b)
			_, _ = nc.Write(slices.Concat(ajptest.SendHeaders(200, "200"), ajptest.Chunk([]byte("some"))))
			_, err = nc.Read(b)
			got <- err
		}()
		r := newTextRig(t, fmt.Sprintf("worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=n1\nworker.n1.host=127.0.0.1\nworker.n1.port=%d\nworker.n1.recovery_options=%s\n",
			ln.Addr().(*net.TCPAddr).Port, tt.options), "/*=lb\n", nil)
		q := request("GET", "/", "")
		if err := r.Match(q).Service(q, &answer{leaves: true, gone: 1}); err == nil {
			t.Error("no error")
		}
		if err := <-got; errors.Is(err, syscall.ECONNRESET) != tt.reset {
			t.Errorf("options %s: %v", tt.options, err)
		}
		if s := r.seg.Balancer(0).Member(0).State(); s != balance.OK {
			t.Errorf("options %s: %v", tt.options, s)
		}
	}
}

// The variables of a request: SetEnv and its kin.
func TestVariables(t *testing.T) {
	slow := func(e *ajptest.Exchange) {
		if e.Request.URI == "/slow" {
			_ = e.Hold()
			return
		}
		_ = e.Respond(200, "n1")
	}
	r, _ := newLB(t, 2, map[string]ajptest.Handler{"n1": slow}, "/*=lb\n/free/*=lb;sticky_ignore=1\n")
	ask := func(path string, variables ...string) string {
		t.Helper()
		q := request("GET", path, "")
		q.Env = new(connector.Env)
		for _, v := range variables {
			name, value, _ := strings.Cut(v, "=")
			q.Env.Set(name, value)
		}
		got, _ := r.send(q, "JSESSIONID=x.n1")
		return got
	}
	turns := func(path string, variables ...string) bool {
		for i := range 2 {
			r.lbs[0].rec.Member(i).Reset(0)
		}
		seen := map[string]bool{}
		for range 4 {
			seen[ask(path, variables...)] = true
		}
		return len(seen) == 2
	}
	for _, tt := range []struct {
		path     string
		variable string
		spread   bool
	}{
		{"/", "x=y", false},
		{"/", "JK_STICKY_IGNORE=", true}, {"/", "JK_STICKY_IGNORE=1", true}, {"/", "JK_STICKY_IGNORE=0", false},
		{"/free/", "x=y", true}, {"/free/", "JK_STICKY_IGNORE=0", false},
		{"/", "JK_ROUTE=n2", false}, {"/", "JK_ROUTE=", false},
	} {
		if got := turns(tt.path, tt.variable); got != tt.spread {
			t.Errorf("%s with %s: spread %v", tt.path, tt.variable, got)
		}
	}
	if got := ask("/", "JK_ROUTE=n2"); got != "n2" {
		t.Errorf("JK_ROUTE: %s", got)
	}
	if got := ask("/slow", "JK_REPLY_TIMEOUT=20"); got != "504" {
		t.Errorf("JK_REPLY_TIMEOUT: %s", got)
	}
	// Requests that neither have nor begin sessions.
	if !turns("/", "JK_STATELESS=1", "JK_STICKY_IGNORE=1") {
		t.Error("JK_STATELESS does not go round")
	}
	for i := range 2 {
		if n := r.lbs[0].rec.Member(i).Sessions.Load(); n != 0 {
			t.Errorf("n%d: JK_STATELESS began %d sessions", i+1, n)
		}
	}
	q := request("GET", "/", "")
	q.Env = new(connector.Env)
	q.Env.Set("no-jk", "")
	if w := r.Match(q); w != nil {
		t.Errorf("no-jk: %v", w.Name())
	}
}

// What JkEnvVar passes on, and what takes the place of the connection's facts.
func TestVariablesSent(t *testing.T) {
	var got atomic.Pointer[ajptest.Request]
	c := ajptest.New(t, func(e *ajptest.Exchange) { got.Store(e.Request); _ = e.Respond(200, "") })
	r := newTextRig(t, fmt.Sprintf("worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=n1\nworker.n1.host=127.0.0.1\nworker.n1.port=%d\n", c.Port()), "/*=lb\n", func(s *conf.JkServer) {
		s.EnvVars = []conf.JkEnvVar{{Name: "A"}, {Name: "B", Default: "b", HasDefault: true}, {Name: "C", Default: "c", HasDefault: true}}
	})
	q := request("GET", "/", "")
	q.Env = new(connector.Env)
	for name, value := range map[string]string{
		"C": "changed", "JK_REMOTE_ADDR": "198.51.100.7", "JK_REMOTE_PORT": "99", "JK_REMOTE_HOST": "client.example", "JK_REMOTE_USER": "eve",
		"JK_AUTH_TYPE": "Basic", "JK_LOCAL_NAME": "other.example", "JK_LOCAL_PORT": "444",
	} {
		q.Env.Set(name, value)
	}
	if err := r.Match(q).Service(q, &answer{}); err != nil {
		t.Fatal(err)
	}
	g := got.Load()
	for name, want := range map[string]string{"A": "", "B": "b", "C": "changed", "AJP_REMOTE_PORT": "99"} {
		if v, ok := g.ReqAttr(name); v != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", name, v, ok, want)
		}
	}
	user, _ := g.Attr(0x03)
	auth, _ := g.Attr(0x04)
	facts := fmt.Sprint(g.RemoteAddr, " ", g.RemoteHost, " ", g.ServerName, " ", g.ServerPort, " ", user.Value, " ", auth.Value)
	if want := "198.51.100.7 client.example other.example 444 eve Basic"; facts != want {
		t.Errorf("%s, want %s", facts, want)
	}
}

// leaver is a client that leaves when it is told to.
type leaver struct {
	answer
	gone atomic.Bool
}

func (l *leaver) Left() bool { return l.gone.Load() }

// F046: of three requests at a time for one connection the second waits and is
// served, and the third, whose client leaves, is not; the member is not to
// blame.
func TestF046WaitingClientLeaves(t *testing.T) {
	var g gates
	r, c := newLB(t, 1, map[string]ajptest.Handler{"n1": g.handler}, "", "n1.connection_pool_size=1", "n1.connection_acquire_timeout=600000", "lb.retries=1")
	member := r.lbs[0].rec.Member(0)
	var wg sync.WaitGroup
	wg.Go(func() { r.get("/hold") })
	if !c[0].WaitRequests(1, long) {
		t.Fatal("no request")
	}
	wg.Go(func() {
		if got := r.get("/"); got == "503" {
			t.Error("who waits is not served")
		}
	})
	l := &leaver{}
	left := make(chan error, 1)
	wg.Go(func() {
		q := request("GET", "/third", "")
		left <- r.Match(q).Service(q, l)
	})
	for end := time.Now().Add(long); member.Worker().Busy() < 3 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	l.gone.Store(true)
	var e *connector.Error
	if err := <-left; !errors.As(err, &e) || !e.Client || l.started {
		t.Errorf("who left: %v", err)
	}
	if n := member.Worker().Busy(); n != 2 {
		t.Errorf("%d requests in hand", n)
	}
	close(g.of("/hold"))
	wg.Wait()
	if n := c[0].Requests(); n != 2 || member.State() != balance.OK || member.Errors.Load() != 0 {
		t.Errorf("the container had %d requests, member %v with %d errors", n, member.State(), member.Errors.Load())
	}
}

// A client that leaves while its request waits to be tried again is no reason
// to try again.
func TestRetryPauseEnds(t *testing.T) {
	r, _ := newLB(t, 1, nil, "", "n1.connection_pool_size=1")
	for _, lines := range [][]string{{"n1.retry_interval=3600000", "n1.retries=2"}, {"lb.retry_interval=3600000", "lb.retries=2", "n1.retries=1"}} {
		text := fmt.Sprintf("worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=n1\nworker.n1.host=127.0.0.1\nworker.n1.port=%d\n", freePort(t))
		for _, l := range lines {
			text += "worker." + l + "\n"
		}
		r.Connector = newTextRig(t, text, "/*=lb\n", nil).Connector
		l := &leaver{}
		l.gone.Store(true)
		q := request("GET", "/", "")
		var e *connector.Error
		if err := r.Match(q).Service(q, l); !errors.As(err, &e) || !errors.Is(err, errLeft) || !e.Client {
			t.Errorf("%q: %v", lines, err)
		}
	}
}

// 4.7: when all are in error maintenance gives all of them another chance.
func TestKeeperForces(t *testing.T) {
	r, _ := newLB(t, 2, nil, "", "maintain=60", "lb.recover_time=3600")
	log := &lockedBuffer{}
	k := &Keeper{Config: r.config, Segment: r.seg, Logger: zerolog.New(log)}
	b := r.lbs[0].rec
	k.maintain(1000)
	for i := range 2 {
		b.Member(i).SetState(balance.Error)
		b.Member(i).LastError.Store(1000)
		b.Member(i).ReplyTimeouts.Store(7)
	}
	k.maintain(1000 + 59)
	if b.Member(0).State() != balance.Error || b.Forced.Load() != 0 {
		t.Errorf("before worker.maintain: %v, %d", b.Member(0).State(), b.Forced.Load())
	}
	k.maintain(1000 + 60)
	for i := range 2 {
		if m := b.Member(i); m.State() != balance.Force || m.ReplyTimeouts.Load() != 0 {
			t.Errorf("n%d: %v, %d timeouts", i+1, m.State(), m.ReplyTimeouts.Load())
		}
	}
	if b.Forced.Load() != 1 || strings.Count(log.String(), "Forcing recovery once for 2 workers") != 1 {
		t.Errorf("forced %d: %s", b.Forced.Load(), log)
	}
	// One that is well is enough for the others to wait for their time.
	b.Member(0).SetState(balance.OK)
	b.Member(1).SetState(balance.Error)
	k.maintain(1000 + 120)
	if s := b.Member(1).State(); s != balance.Error {
		t.Errorf("with another one: %v", s)
	}
}

// A look each second costs no memory.
func TestKeeperAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	r, _ := newLB(t, 3, nil, "")
	k := &Keeper{Config: r.config, Segment: r.seg, Logger: zerolog.Nop()}
	k.maintain(1000)
	if n := testing.AllocsPerRun(10, func() { k.maintain(1001) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	// Edits are seen.
	if err := r.seg.Balancer(0).Update(0, func(s *jkshm.BalancerSettings) error { s.RecoverTime = 5 * time.Second; return nil }); err != nil {
		t.Fatal(err)
	}
	m := r.lbs[0].rec.Member(0)
	m.SetState(balance.Error)
	m.LastError.Store(1000)
	k.maintain(1006)
	if m.State() != balance.Recover {
		t.Errorf("%v after the new recover_time", m.State())
	}
}
