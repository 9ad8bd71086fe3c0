package jk

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// matchRig is a connector with workers w (ajp13), lb (with member n) and
// nowhere, whose containers keep what they get.
type matchRig struct {
	*Connector
	t   testing.TB
	log *lockedBuffer

	mu   sync.Mutex
	seen []*ajptest.Request
}

func newMatchRig(t testing.TB, rules string, site func(*conf.JkServer)) *matchRig {
	t.Helper()
	r := &matchRig{t: t, log: &lockedBuffer{}}
	c := ajptest.New(t, func(e *ajptest.Exchange) {
		r.mu.Lock()
		r.seen = append(r.seen, e.Request)
		r.mu.Unlock()
		_ = e.Respond(200, "ok")
	})
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: fmt.Appendf(nil, `worker.list=w,lb
worker.w.port=%d
worker.lb.type=lb
worker.lb.balance_workers=n
worker.n.port=%[1]d
worker.n.route=r1
`, c.Port())})
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
	r.Connector = New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{
		Threads: 1, Dial: dialKinds[1].dial, Logger: zerolog.New(r.log).Level(zerolog.InfoLevel), WriteTimeout: long, Sites: []conf.JkServer{s},
	})
	t.Cleanup(func() { r.Close() })
	return r
}

// get asks for an encoded path as the front does, and returns what reached the
// container: nil and the status when nothing did, 404 when it is not mapped.
func (r *matchRig) get(path string, vars ...string) (*ajptest.Request, int) {
	r.t.Helper()
	return r.send(r.request(path, vars...))
}

func (r *matchRig) request(path string, vars ...string) *connector.Request {
	r.t.Helper()
	q := request("GET", path, "")
	var err error
	if q.MatchPath, err = connector.CleanPath(nil, q.Path); err != nil {
		r.t.Fatal(err)
	}
	q.Env, q.Notes = &connector.Env{}, &connector.Notes{}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		q.Env.Set(name, value)
	}
	return q
}

func (r *matchRig) send(q *connector.Request) (*ajptest.Request, int) {
	r.t.Helper()
	w := r.Match(q)
	if w == nil {
		return nil, 404
	}
	a := &answer{}
	err := w.Service(q, a)
	var e *connector.Error
	switch {
	case errors.As(err, &e):
		return nil, e.Status
	case err != nil:
		r.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[len(r.seen)-1], a.status
}

// F011 with JkOptions: which path reaches the container, with and without a
// balancer, while the request of the front stays as it is.
func TestF011ForwardedPath(t *testing.T) {
	for _, form := range []struct {
		name string
		site func(*conf.JkServer)
		want map[string]string // "400": refused
	}{
		{"as it comes", nil, map[string]string{"/a%20b/%7E;x=%2F": "/a%20b/%7E;x=%2F", "//a/../b": "//a/../b", "/%252f": "/%252f"}},
		{"ForwardURICompatUnparsed", forward(unparsed), map[string]string{"/a%20b/%7E;x=%2F": "/a%20b/%7E;x=%2F", "//a/../b": "//a/../b"}},
		{"ForwardURIProxy", forward(proxy), map[string]string{"/a%20b/%7E;x=1": "/a%20b/~;x=1", "//a/../b": "/b", "/a/;x/../b": "400"}},
		{"ForwardURICompat", forward(compat), map[string]string{"/%7Ea;x=1": "/~a;x=1", "/%2541": "400", "/a%3Bb": "400", "/a%0Ab": "400"}},
		{"ForwardURIEscaped", forward(escaped), map[string]string{"/%C3%A1": "/%c3%a1", "/a;x=1": "400"}},
	} {
		t.Run(form.name, func(t *testing.T) {
			r := newMatchRig(t, "/*=w\n/lb/*=lb\n", form.site)
			for _, prefix := range []string{"", "/lb"} {
				for path, want := range form.want {
					if prefix != "" && (strings.HasPrefix(path, "//") || strings.Contains(path, "..")) {
						continue
					}
					q := r.request(prefix + path)
					got, status := r.send(q)
					switch {
					case want == "400":
						if got != nil || status != 400 {
							t.Errorf("%s%s: %v, status %d, want 400", prefix, path, got, status)
						}
						if log := r.log.String(); !strings.Contains(log, "Service error=400") || !strings.Contains(log, "forward path as "+form.name) {
							t.Errorf("logged %s", log)
						}
					case got == nil || got.URI != prefix+want:
						t.Errorf("%s%s: %+v, status %d, want %s", prefix, path, got, status, want)
					}
					if string(q.Path) != prefix+path {
						t.Errorf("the front's request has become %s", q.Path)
					}
				}
			}
		})
	}
}

func forward(form conf.ForwardURI) func(*conf.JkServer) {
	return func(s *conf.JkServer) { s.Options.ForwardURI, s.Options.ForwardURISet = form, true }
}

// Sticky sessions are found in the path that is sent, whatever its form.
func TestForwardedPathKeepsTheSession(t *testing.T) {
	r := newMatchRig(t, "/*=lb\n", forward(proxy))
	if got, _ := r.get("/a%7E;jsessionid=1.r1"); got == nil || got.URI != "/a~;jsessionid=1.r1" {
		t.Errorf("%+v", got)
	} else if route, ok := got.Attr(0x06); !ok || route.Value != "r1" {
		t.Errorf("route %v", route)
	}
}

// RejectUnsafeURI and the longest path that is looked at: as if there were no
// mount, with a line in the log.
func TestUnsafeIsNotMapped(t *testing.T) {
	unsafe := func(s *conf.JkServer) { s.Options.RejectUnsafeURI = true }
	for _, tt := range []struct {
		path   string
		site   func(*conf.JkServer)
		status int
		log    string
	}{
		{"/a%2Fb", nil, 200, ""},
		{"/a%2Fb", unsafe, 404, "Potentially unsafe request url"},
		{"/a%25b", unsafe, 404, "Potentially unsafe request url"},
		{"/a\\b", unsafe, 404, "Potentially unsafe request url"},
		{"/a%20b;x=%2F", unsafe, 200, ""},
		{"/" + strings.Repeat("a", 4094), nil, 200, ""},
		{"/" + strings.Repeat("a", 4095), nil, 404, "URI must be smaller than 4096 bytes"},
		{"/lb/" + strings.Repeat("%41", 4092), nil, 404, "URI must be smaller than 4096 bytes"},
	} {
		r := newMatchRig(t, "/*=w\n/lb/*=lb\n", tt.site)
		if _, status := r.get(tt.path); status != tt.status {
			t.Errorf("%.40s: status %d, want %d", tt.path, status, tt.status)
		}
		switch log := r.log.String(); {
		case (log != "") != (tt.log != ""), !strings.Contains(log, tt.log), len(log) > 300:
			t.Errorf("%.40s: logged %q, want %q", tt.path, log, tt.log)
		}
	}
	// A path that nobody has mounted is no reason for a word.
	r := newMatchRig(t, "/x=w\n", unsafe)
	if _, status := r.get("/a%2Fb"); status != 404 || r.log.String() != "" {
		t.Errorf("status %d, logged %s", status, r.log.String())
	}
}

// A variable may name the worker where the handler is mod_jk's.
func TestWorkerIndicator(t *testing.T) {
	named := func(s *conf.JkServer) { s.Indicators.Worker = "WHERE" }
	for _, tt := range []struct {
		name    string
		handler string
		path    string
		vars    []string
		site    func(*conf.JkServer)
		want    string // the worker, "" for none
	}{
		{"no handler", "", "/x", []string{"JK_WORKER_NAME=w"}, nil, ""},
		{"other handler", "server-status", "/x", []string{"JK_WORKER_NAME=w"}, nil, ""},
		{"not mounted", conf.JkHandler, "/x", []string{"JK_WORKER_NAME=w"}, nil, "w"},
		{"mounted", conf.JkHandler, "/lb/x", []string{"JK_WORKER_NAME=w"}, nil, "lb"},
		{"excluded", conf.JkHandler, "/lb/no", []string{"JK_WORKER_NAME=w"}, nil, "w"},
		{"balancer", conf.JkHandler, "/x", []string{"JK_WORKER_NAME= lb ; stateless=1"}, nil, "lb"},
		{"no variable", conf.JkHandler, "/lb/x", nil, nil, "lb"},
		{"empty variable", conf.JkHandler, "/lb/x", []string{"JK_WORKER_NAME="}, nil, "lb"},
		{"empty variable only", conf.JkHandler, "/x", []string{"JK_WORKER_NAME="}, nil, "nobody"},
		{"nothing at all", conf.JkHandler, "/x", nil, nil, ""}, // no worker is the default one
		{"no-jk", conf.JkHandler, "/x", []string{"JK_WORKER_NAME=w", "no-jk=1"}, nil, ""},
		{"other name", conf.JkHandler, "/x", []string{"WHERE=w", "JK_WORKER_NAME=lb"}, named, "w"},
		{"old name", conf.JkHandler, "/x", []string{"JK_WORKER_NAME=lb"}, named, ""},
		{"unknown", conf.JkHandler, "/x", []string{"JK_WORKER_NAME=gone;stateless=1"}, nil, "gone"},
		{"unsafe", conf.JkHandler, "/x%2F", []string{"JK_WORKER_NAME=w"}, func(s *conf.JkServer) { s.Options.RejectUnsafeURI = true }, "nobody"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newMatchRig(t, "/lb/*=lb\n!/lb/no=lb\n", tt.site)
			q := r.request(tt.path, tt.vars...)
			q.Handler = tt.handler
			w, rank := r.MatchRank(q)
			got := ""
			if w != nil {
				got = cmp.Or(w.Name(), "nobody")
			}
			if got != tt.want {
				t.Errorf("worker %q, want %q", got, tt.want)
			}
			if want := connector.RankOf("/lb/*"); tt.path == "/lb/x" && rank != want || tt.path != "/lb/x" && rank != (connector.Rank{}) {
				t.Errorf("rank %+v", rank)
			}
			if again := r.Match(q); again != w && tt.name != "unsafe" {
				t.Error("the target is made again")
			}
			if n := testing.AllocsPerRun(20, func() { r.Match(q) }); n != 0 && tt.name != "unsafe" {
				t.Errorf("a match allocates %v times", n)
			}
		})
	}
}

// F071: what a variable names and is not there is 500, and said once.
func TestF071WorkerIndicatorNamesNobody(t *testing.T) {
	r := newMatchRig(t, "/lb/*=lb\n", nil)
	for range 3 {
		q := r.request("/x", "JK_WORKER_NAME=W;reply_timeout=1")
		q.Handler = conf.JkHandler
		if _, status := r.send(q); status != 500 {
			t.Errorf("status %d", status)
		}
		q = r.request("/x", "JK_WORKER_NAME=w;reply_timeout=x")
		q.Handler = conf.JkHandler
		if _, status := r.send(q); status != 500 {
			t.Errorf("status %d", status)
		}
	}
	log := r.log.String()
	if n := strings.Count(log, `"level":"error"`); n != 2 || !strings.Contains(log, "JK_WORKER_NAME: W;reply_timeout=1: there is no worker W in worker.list (w:1), did you mean w?") {
		t.Errorf("%d errors: %s", n, log)
	}
}

// What follows the worker's name counts as in a rule.
func TestWorkerIndicatorExtensions(t *testing.T) {
	r := newMatchRig(t, "", nil)
	q := r.request("/x", "JK_WORKER_NAME=w;reply_timeout=4711;use_server_errors=500")
	q.Handler = conf.JkHandler
	x := r.Match(q).(*single).ext
	if x.ReplyTimeout != 4711*time.Millisecond || !x.ReplyTimeoutSet || x.UseServerErrors != 500 {
		t.Errorf("%+v", x)
	}
}

// However many values there are, not all of them are kept.
func TestWorkerIndicatorIsBounded(t *testing.T) {
	r := newMatchRig(t, "", nil)
	var wg sync.WaitGroup
	for k := range 2 {
		wg.Go(func() {
			for i := range mostNamed + 10 {
				q := r.request("/x", fmt.Sprintf("JK_WORKER_NAME=w;reply_timeout=%d", 1000+i+k))
				q.Handler = conf.JkHandler
				if w := r.Match(q); w == nil || w.(*single).ext.ReplyTimeout != time.Duration(1000+i+k)*time.Millisecond {
					t.Errorf("%d: %v", i, w)
				}
			}
		})
	}
	wg.Wait()
	if n := len(*r.sites[0].named.made.Load()); n != mostNamed {
		t.Errorf("%d are kept", n)
	}
}

// The check of the configuration finds variables that name nobody.
func TestWorkerIndicatorIsChecked(t *testing.T) {
	c := servers(jkServer(conf.CopyOff, "", "/a a"), jkServer(conf.CopyOff, ""))
	c.Jk.Servers[1].Indicators.Worker = "WHERE"
	c.VHosts[0] = conf.VHost{Name: "v", Line: 5, Env: []conf.EnvSetting{{Name: "JK_WORKER_NAME", Value: "anything"}, {Name: "WHERE", Value: "z"}}}
	c.Locations = []conf.Location{
		{Path: "/x", Line: 7, Handler: conf.JkHandler, Env: []conf.EnvSetting{{Name: "JK_WORKER_NAME", Value: "b;stateless=1"}}},
		{Path: "/y", Line: 8, Handler: conf.JkHandler, Env: []conf.EnvSetting{{Name: "JK_WORKER_NAME", Value: "aa"}, {Name: "JK_WORKER_NAME", Unset: true}}},
	}
	_, warnings, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range said(warnings, conf.Warn) {
		if strings.Contains(w, "there is no worker") {
			got = append(got, w)
		}
	}
	same(t, "warnings", got, []string{
		"jkd.conf:5: [vhost v]: WHERE: there is no worker z in worker.list (w:1)",
		"jkd.conf:8: [location /y]: JK_WORKER_NAME: there is no worker aa in worker.list (w:1), did you mean a?",
	})
}

// JK_ROUTE is told to the container by a worker of its own as by a balancer.
func TestRouteOfVariable(t *testing.T) {
	r := newMatchRig(t, "/*=w\n/lb/*=lb\n", nil)
	for _, path := range []string{"/x", "/lb/x"} {
		q := r.request(path, "JK_ROUTE=r9")
		q.Notes.Reset(true)
		got, _ := r.send(q)
		if a, ok := got.Attr(0x06); !ok || a.Value != "r9" {
			t.Errorf("%s: route %v", path, a)
		}
		if n, _ := q.Notes.Get("JK_WORKER_ROUTE"); n != "r9" {
			t.Errorf("%s: note %q", path, n)
		}
	}
	if got, _ := r.get("/x"); slices.Contains(got.AttrNames(), "route") {
		t.Error("a route without the variable")
	}
}

// Every note that mod_jk has for an access log.
func TestNotes(t *testing.T) {
	r := newMatchRig(t, "/*=w\n/lb/*=lb;disabled=n\n", nil)
	notes := func(path string, wanted bool) map[string]string {
		q := r.request(path)
		q.Notes.Reset(wanted)
		if _, status := r.send(q); status != 200 && path == "/x" {
			t.Errorf("status %d", status)
		}
		out := map[string]string{}
		for _, n := range []string{
			"JK_WORKER_NAME", "JK_WORKER_TYPE", "JK_WORKER_ROUTE", "JK_REQUEST_DURATION",
			"JK_LB_FIRST_NAME", "JK_LB_FIRST_VALUE", "JK_LB_FIRST_ACCESSED", "JK_LB_FIRST_SESSIONS", "JK_LB_FIRST_READ",
			"JK_LB_FIRST_TRANSFERRED", "JK_LB_FIRST_ERRORS", "JK_LB_FIRST_BUSY", "JK_LB_FIRST_ACTIVATION", "JK_LB_FIRST_STATE",
			"JK_LB_LAST_NAME", "JK_LB_LAST_VALUE", "JK_LB_LAST_ACCESSED", "JK_LB_LAST_SESSIONS", "JK_LB_LAST_READ",
			"JK_LB_LAST_TRANSFERRED", "JK_LB_LAST_ERRORS", "JK_LB_LAST_BUSY", "JK_LB_LAST_ACTIVATION", "JK_LB_LAST_STATE",
		} {
			if v, ok := q.Notes.Get(n); ok {
				out[n] = v
			}
		}
		return out
	}
	got := notes("/x", true)
	if !regexp.MustCompile(`^\d+\.\d{6}$`).MatchString(got["JK_REQUEST_DURATION"]) {
		t.Errorf("duration %q", got["JK_REQUEST_DURATION"])
	}
	delete(got, "JK_REQUEST_DURATION")
	same(t, "worker", got, map[string]string{"JK_WORKER_NAME": "w", "JK_WORKER_TYPE": "ajp13"})
	same(t, "nobody asks", notes("/lb/x", false), map[string]string{})

	got = notes("/lb/x;jsessionid=1.r1", true)
	delete(got, "JK_REQUEST_DURATION")
	read, sent := got["JK_LB_LAST_READ"], got["JK_LB_LAST_TRANSFERRED"]
	if read == "0" || read == "" || sent == "0" || sent == "" {
		t.Errorf("read %q, transferred %q", read, sent)
	}
	want := map[string]string{"JK_WORKER_NAME": "lb", "JK_WORKER_TYPE": "lb", "JK_WORKER_ROUTE": "r1"}
	for _, p := range []string{"JK_LB_FIRST_", "JK_LB_LAST_"} {
		for n, v := range map[string]string{
			"NAME": "n", "VALUE": "1", "ACCESSED": "1", "SESSIONS": "0", "READ": read, "TRANSFERRED": sent,
			"ERRORS": "0", "BUSY": "0", "ACTIVATION": "DIS", "STATE": "OK",
		} {
			want[p+n] = v
		}
	}
	same(t, "balancer", got, want)
}

// The first member and the last one are told apart, and one that failed shows
// it.
func TestNotesOfFailover(t *testing.T) {
	r, _ := newLB(t, 2, map[string]ajptest.Handler{"n1": func(e *ajptest.Exchange) { _ = e.Respond(503, "no") }}, "", "n1.fail_on_status=503")
	q := request("GET", "/x", "")
	q.Notes = &connector.Notes{}
	q.Notes.Reset(true)
	if got, _ := r.send(q); got != "n2" {
		t.Errorf("answered by %s", got)
	}
	for name, want := range map[string]string{
		"JK_LB_FIRST_NAME": "n1", "JK_LB_FIRST_STATE": "ERR", "JK_LB_FIRST_ERRORS": "1", "JK_LB_FIRST_ACCESSED": "1",
		"JK_LB_LAST_NAME": "n2", "JK_LB_LAST_STATE": "OK", "JK_LB_LAST_ERRORS": "0", "JK_WORKER_ROUTE": "n2",
	} {
		if got, _ := q.Notes.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.000000", -1: "0.000000", time.Microsecond: "0.000001", 999 * time.Nanosecond: "0.000000",
		time.Second: "1.000000", 83*time.Second + 123456789: "83.123456",
	} {
		if got := seconds(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// The members of a balancer are counted as other workers are.
func TestStatsOfMembers(t *testing.T) {
	r := newMatchRig(t, "/*=lb\n", nil)
	r.get("/x")
	var got []string
	for _, s := range r.Stats() {
		got = append(got, fmt.Sprintf("%s/%s opened %d", s.Balancer, s.Worker, s.Opened))
	}
	same(t, "stats", got, []string{"/w opened 0", "lb/n opened 1"})
}

func BenchmarkConnectorMatch(b *testing.B) {
	r := newMatchRig(b, "/*=w\n/lb/*=lb\n!/lb/no/*=lb\n", nil)
	q := r.request("/lb/a/b")
	b.ReportAllocs()
	for b.Loop() {
		r.Match(q)
	}
}
