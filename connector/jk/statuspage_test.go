package jk

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk/jkshm"
)

// pageRig is two children that share a segment, with a balancer "lb" over
// containers n1, n2, ... that answer with their name, a back end "solo", which
// is a container of its own, and the status worker "st" at /st.
type pageRig struct {
	t     testing.TB
	kids  [2]*Connector
	seg   *jkshm.Segment
	mem   []byte
	setup *Setup
	log   *lockedBuffer
	nodes []*ajptest.Container // n1, n2, ..., solo

	mu     sync.Mutex
	broken map[string]bool // containers that hang up
}

const pageSecret = "x1y2z3-never-shown"

// newPageRig makes one of n members; lines are of workers.properties, without
// "worker.".
func newPageRig(t testing.TB, n int, lines ...string) *pageRig {
	t.Helper()
	r := &pageRig{t: t, log: &lockedBuffer{}, broken: map[string]bool{}}
	var text strings.Builder
	text.WriteString("worker.list=lb,solo,st\nworker.lb.type=lb\nworker.st.type=status\nworker.lb.secret=" + pageSecret + "\n")
	for i := range n + 1 {
		name := fmt.Sprint("n", i+1)
		if i == n {
			name = "solo"
		} else {
			fmt.Fprintf(&text, "worker.lb.balance_workers=%s\n", name)
		}
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			r.mu.Lock()
			down := r.broken[name]
			r.mu.Unlock()
			if down {
				_ = e.Close()
				return
			}
			_ = e.Respond(200, name)
		})
		r.nodes = append(r.nodes, c)
		fmt.Fprintf(&text, "worker.%s.host=127.0.0.1\nworker.%s.port=%d\n", name, name, c.Port())
	}
	for _, l := range lines {
		fmt.Fprintf(&text, "worker.%s\n", l)
	}
	cfg := conf.Defaults()
	cfg.Path = "jkd.conf"
	cfg.Server.ServerName, cfg.Server.ServerPort = "www.example.org", 8080
	main := jkServer(conf.CopyOff, "!/app/static/* lb\n", "/solo* solo", "/st* st")
	main.MountFile.Data = []byte("/app|/*=lb\n!/app/static/*=lb\n-/old=lb\n/rule/*=lb;reply_timeout=5000;fail_on_status=-503,404;disabled=n1;sticky_ignore=1;use_server_errors=500\n")
	cfg.Jk = &conf.Jk{
		WorkersFile: &conf.File{Path: "workers.properties", Data: []byte(text.String())},
		Servers:     []conf.JkServer{main},
	}
	r.setup = mustLoad(t, cfg)
	r.mem = segmentMemory(t, r.setup, len(r.kids))
	var err error
	if r.seg, err = FormatSegment(r.mem, r.setup, len(r.kids)); err != nil {
		t.Fatal(err)
	}
	for i := range r.kids {
		seg, err := jkshm.Attach(r.mem, SegmentLayout(r.setup, len(r.kids)))
		if err != nil {
			t.Fatal(err)
		}
		r.kids[i] = New(r.setup, Options{
			Threads: 1, Segment: seg, Server: i, Dial: dialKinds[1].dial, WriteTimeout: long, Software: "jkd/9", Logger: zerolog.New(r.log),
		})
		t.Cleanup(func() { r.kids[i].Close() })
	}
	return r
}

func (r *pageRig) token() string {
	t := r.seg.Token()
	return hex.EncodeToString(t[:])
}

// ask sends a request to the status worker of one child. Of a POST the form is
// what precedes the first '?' of text, which else is the query. fields are
// "Name: value".
func (r *pageRig) ask(kid int, method, text string, fields ...string) *answer {
	r.t.Helper()
	a := &answer{}
	q := pageRequest(method, text, fields...)
	if err := r.kids[kid].Match(q).Service(q, a); err != nil || !a.finished {
		r.t.Fatalf("%s %s: %v", method, text, err)
	}
	if bytes.Contains(a.body, []byte(pageSecret)) {
		r.t.Errorf("%s %s: the secret is shown", method, text)
	}
	return a
}

func pageRequest(method, text string, fields ...string) *connector.Request {
	query, form := text, ""
	if method == "POST" {
		form, query, _ = strings.Cut(text, "?")
		fields = append(fields, "Content-Type: application/x-www-form-urlencoded")
	}
	q := request(method, "/st", form)
	q.Query, q.HasQuery = []byte(query), query != ""
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		q.Fields = append(q.Fields, connector.Field{Name: []byte(name), Value: []byte(value)})
	}
	return q
}

// post changes something by way of one child and wants that to succeed.
func (r *pageRig) post(kid int, form string) {
	r.t.Helper()
	a := r.ask(kid, "POST", form+"&mime=prop")
	if a.status != 200 || !strings.Contains(string(a.body), "worker.result.type=OK\n") {
		r.t.Errorf("%s: %d %s", form, a.status, a.body)
	}
}

// values is what the page of one child shows, as properties without "worker.".
func (r *pageRig) values(kid int) map[string]string {
	r.t.Helper()
	return properties(r.ask(kid, "GET", "mime=prop").body)
}

func properties(text []byte) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		key = strings.TrimPrefix(key, "worker.")
		if old, again := out[key]; again {
			value = old + "," + value
		}
		out[key] = value
	}
	return out
}

// wants compares some of the values that a page shows, "key=value".
func (r *pageRig) wants(kid int, want ...string) {
	r.t.Helper()
	got := r.values(kid)
	for _, w := range want {
		key, value, _ := strings.Cut(w, "=")
		if got[key] != value {
			r.t.Errorf("child %d: %s=%s, want %s", kid, key, got[key], value)
		}
	}
}

// get is the answer to a request by one child, or the status of the failure.
func (r *pageRig) get(kid int, path string, cookies ...string) string {
	r.t.Helper()
	q := request("GET", path, "")
	for _, c := range cookies {
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte(c)})
	}
	a := &answer{}
	err := r.kids[kid].Match(q).Service(q, a)
	var e *connector.Error
	if errors.As(err, &e) {
		return fmt.Sprint(e.Status)
	}
	return string(a.body)
}

// spread is who answers n requests of each child.
func (r *pageRig) spread(n int, path string, cookies ...string) map[string]int {
	r.t.Helper()
	out := map[string]int{}
	for range n {
		for kid := range r.kids {
			out[r.get(kid, path, cookies...)]++
		}
	}
	return out
}

func (r *pageRig) setBroken(name string, broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[name] = broken
}

// Every command in every format, from both children.
func TestStatusPage(t *testing.T) {
	r := newPageRig(t, 2)
	r.spread(5, "/app/")
	for kid := range r.kids {
		for _, mime := range []struct{ name, contentType, has string }{
			{"html", "text/html; charset=utf-8", "<title>"},
			{"xml", "text/xml; charset=utf-8", "<jk:status"},
			{"txt", "text/plain; charset=utf-8", ""},
			{"prop", "text/plain; charset=utf-8", ""},
		} {
			for _, query := range []string{"", "cmd=list", "cmd=show&w=lb", "cmd=show&w=lb&sw=n1", "cmd=show&w=solo", "cmd=version", "cmd=dump", "cmd=edit&w=lb", "cmd=edit&w=lb&sw=n2", "cmd=edit&w=solo", "cmd=edit&w=lb&att=vwf", "cmd=show&w=nobody"} {
				a := r.ask(kid, "GET", query+"&mime="+mime.name)
				fields := strings.Join(a.fields, "\n") + "\n"
				if a.status != 200 || !strings.Contains(fields, "Content-Type: "+mime.contentType+"\n") || !strings.Contains(string(a.body), mime.has) ||
					!strings.Contains(fields, fmt.Sprintf("Content-Length: %d\n", len(a.body))) || !strings.Contains(fields, "Cache-Control: no-cache") {
					t.Errorf("%s as %s: %d %q\n%s", query, mime.name, a.status, a.fields, a.body)
				}
			}
		}
	}
	v := r.values(0)
	for key, want := range map[string]string{
		"server_name": "www.example.org", "server_port": "80", "web_server": "jkd/9", "jk_version": "jkd/9",
		"list": "lb", "lb.type": "lb", "lb.balance_workers": "n1,n2", "lb.member_count": "2", "lb.good": "2", "lb.method": "Request", "lb.map_count": "5",
		"solo.list": "solo", "n1.activation": "ACT", "n1.state": "OK", "n1.elected": "5", "n1.sessions": "5", "n1.errors": "0", "n1.busy": "0", "n1.route": "n1", "n1.lbmult": "1", "n1.lbvalue": "5",
		"n1.host": "127.0.0.1", "n1.port": fmt.Sprint(r.nodes[0].Port()), "n1.address": r.nodes[0].Addr(), "n1.source": "undefined",
		"n1.connected": "1", "n1.max_connected": "1", "lb.busy": "0", "lb.max_busy": "1", "n1.retries": "2", "n1.max_packet_size": "8192",
		"lb.map.1.uri": "/app/static/*", "lb.map.1.type": "Unmount Wildchar", "lb.map.1.source": "uriworkermap",
		"lb.map.4.uri": "/app", "lb.map.4.type": "Exact", "lb.map.5.uri": "/old", "lb.map.5.type": "Disabled Exact",
		"solo.map.1.uri": "/solo*", "solo.map.1.source": "JkMount", "solo.used": "0", "result.type": "OK",
	} {
		if v[key] != want {
			t.Errorf("%s=%s, want %s", key, v[key], want)
		}
	}
	rule := ""
	for n := range 6 {
		if p := fmt.Sprintf("lb.map.%d.", n); v[p+"uri"] == "/rule/*" {
			rule = p
		}
	}
	for key, want := range map[string]string{
		"reply_timeout": "5000", "fail_on_status": "-503,404", "disabled": "n1", "sticky_ignore": "1", "use_server_errors": "500", "active": "", "stopped": "",
	} {
		if got, ok := v[rule+key]; !ok || got != want {
			t.Errorf("rule %s: %s=%q, want %q", rule, key, got, want)
		}
	}
}

// What is asked for and what is not shown.
func TestStatusDump(t *testing.T) {
	r := newPageRig(t, 1, "tmpl.socket_timeout=7", "tmpl.secret=other-"+pageSecret, "n1.reference=worker.tmpl", "n1.ping_timeout=3", "n1.ping_timeout=4", "st.css=/$(color).css")
	v := properties(r.ask(0, "GET", "cmd=dump&mime=prop").body)
	for key, want := range map[string]string{
		"list": "lb,solo,st,", "n1.socket_timeout": "7", "n1.ping_timeout": "4", "n1.reference": "", "lb.balance_workers": "n1", "tmpl.socket_timeout": "7",
	} {
		if got := v["worker."+key] + v[key]; got != strings.TrimSuffix(want, ",") {
			t.Errorf("%s=%q, want %q", key, got, want)
		}
	}
	for key := range v {
		if strings.Contains(key, "secret") {
			t.Errorf("%s is shown", key)
		}
	}
}

// HEAD is answered without a body, other methods are refused.
func TestStatusMethods(t *testing.T) {
	r := newPageRig(t, 1)
	get, head := r.ask(0, "GET", "mime=xml"), r.ask(0, "HEAD", "mime=xml")
	if len(head.body) != 0 || len(get.body) == 0 || head.status != 200 || head.fields[0] != get.fields[0] {
		t.Errorf("HEAD: %d, %d bytes, %q", head.status, len(head.body), head.fields)
	}
	if a := r.ask(0, "PUT", ""); a.status != 405 || !strings.Contains(strings.Join(a.fields, "\n"), "Allow: GET, HEAD, POST") {
		t.Errorf("PUT: %d %q", a.status, a.fields)
	}
}

// Nobody changes anything without the right to.
func TestStatusRefusals(t *testing.T) {
	const form = "cmd=update&w=lb&sw=n1&vwa=d"
	for _, tt := range []struct {
		name   string
		lines  []string
		method string
		text   string // TOKEN is the token
		fields []string
		status int
	}{
		{"link", nil, "GET", form, nil, 403},
		{"reset by a link", nil, "GET", "cmd=reset&w=lb", nil, 403},
		{"recover by a link", nil, "GET", "cmd=recover&w=lb&sw=n1", nil, 403},
		{"wrong token", nil, "GET", form + "&token=0123456789abcdef0123456789abcdef", nil, 403},
		{"token", nil, "GET", form + "&token=TOKEN", nil, 200},
		{"token from elsewhere", nil, "GET", form + "&token=TOKEN", []string{"Sec-Fetch-Site: cross-site"}, 200},
		{"form", nil, "POST", form, nil, 200},
		{"form in the query", nil, "POST", "?" + form, nil, 200},
		{"form of this site", nil, "POST", form, []string{"Origin: http://www.example.org", "Sec-Fetch-Site: same-origin"}, 200},
		{"form of another site", nil, "POST", form, []string{"Origin: http://evil.example"}, 403},
		{"form of another site, as modern browsers say", nil, "POST", form, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"two origins", nil, "POST", form, []string{"Origin: http://www.example.org", "Origin: http://evil.example"}, 403},
		{"form of no site", nil, "POST", form, []string{"Origin: null"}, 403},
		{"no form", nil, "POST", form, []string{"Content-Type: text/plain"}, 415},
		{"allowed", []string{"st.allow_get_update=1"}, "GET", form, nil, 200},
		{"allowed, but from another site", []string{"st.allow_get_update=1"}, "GET", form, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"read-only", []string{"st.read_only=1", "st.allow_get_update=1"}, "POST", form, nil, 403},
		{"read-only with token", []string{"st.read_only=1"}, "POST", form + "&token=TOKEN", nil, 403},
		{"read-only form", []string{"st.read_only=1"}, "GET", "cmd=edit&w=lb", nil, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newPageRig(t, 1, tt.lines...)
			changes := tt.status == 200
			a := r.ask(0, tt.method, strings.ReplaceAll(tt.text, "TOKEN", r.token()), tt.fields...)
			if a.status != tt.status {
				t.Errorf("status %d, want %d", a.status, tt.status)
			}
			want := map[bool]string{true: "DIS", false: "ACT"}[changes]
			r.wants(1, "n1.activation="+want)
			level, text := "warn", "Status worker 'st'"
			if changes {
				level, text = "info", "changing 'activation' for sub worker 'n1' of lb worker 'lb' from 'ACT' to 'DIS'"
			}
			if log := r.log.String(); tt.status != 415 && (!strings.Contains(log, `"level":"`+level+`"`) || !strings.Contains(log, text) || !strings.Contains(log, `"worker":"st"`)) {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// The directive user, with the user of the front or of a variable.
func TestStatusUsers(t *testing.T) {
	r := newPageRig(t, 1, "st.user=admin,Operator", "st.user_case_insensitive=1")
	for _, tt := range []struct {
		user, variable string
		status         int
	}{
		{"", "", 403}, {"admin", "", 200}, {"OPERATOR", "", 200}, {"other", "", 403}, {"", "admin", 200}, {"", "other", 403}, {"admin", "other", 403},
	} {
		q := pageRequest("GET", "mime=txt")
		if tt.user != "" {
			q.RemoteUser = []byte(tt.user)
		}
		if tt.variable != "" {
			q.Env = &connector.Env{}
			q.Env.Set("JK_REMOTE_USER", tt.variable)
		}
		a := &answer{}
		if err := r.kids[0].Match(q).Service(q, a); err != nil || a.status != tt.status {
			t.Errorf("%+v: %d, %v", tt, a.status, err)
		}
		if tt.status == 403 && string(a.body) != "Forbidden\n" {
			t.Errorf("%+v: %s", tt, a.body)
		}
	}
	if log := r.log.String(); !strings.Contains(log, "service denied for user 'other'") {
		t.Error(log)
	}
}

// Each directive of a status worker does something.
func TestStatusDirectives(t *testing.T) {
	for _, tt := range []struct{ line, query, has, hasNot string }{
		{"st.css=/my.css", "", `href="/my.css"`, "<style>"},
		{"st.read_only=1", "", "", "cmd=edit"},
		{"st.read_only=0", "", "cmd=edit", ""},
		{"st.good=d", "mime=prop", "worker.lb.good=0\n", ""},
		{"st.bad=a", "mime=prop", "worker.lb.bad=1\n", ""},
		{"st.prefix=w.x", "mime=prop", "w.x.lb.good=1\n", "worker.lb"},
		{"st.ns=my:", "mime=xml", "<my:status", "<jk:"},
		{"st.ns=-", "mime=xml", "<status", "<jk:"},
		{`st.xmlns=xmlns:jk="urn:x"`, "mime=xml", `xmlns:jk="urn:x"`, "tomcat.apache.org"},
		{"st.xmlns=-", "mime=xml", "<jk:status", "xmlns"},
		{"st.doctype=<!DOCTYPE x>", "mime=xml", "<!DOCTYPE x>", ""},
		{"st.mount=/other", "", "<title>", ""},
		{"maintain=30", "mime=prop", "worker.lb.time_to_maintenance_max=60\n", ""},
		{"maintain=0", "mime=prop", "worker.lb.time_to_maintenance_max=0\n", ""},
	} {
		r := newPageRig(t, 1, tt.line)
		q := pageRequest("GET", tt.query)
		if strings.Contains(tt.line, "mount") {
			q.Path, q.MatchPath = []byte("/other"), []byte("/other")
		}
		a := &answer{}
		w := r.kids[0].Match(q)
		if w == nil || w.Name() != "st" {
			t.Errorf("%s: not mounted", tt.line)
			continue
		}
		if err := w.Service(q, a); err != nil {
			t.Error(err)
		}
		body := string(a.body)
		if !strings.Contains(body, tt.has) || tt.hasNot != "" && strings.Contains(body, tt.hasNot) {
			t.Errorf("%s: %s", tt.line, body)
		}
	}
}

// Virtual hosts are named where there are any.
func TestStatusServerNames(t *testing.T) {
	c := servers(jkServer(conf.CopyOff, "", "/a a"), jkServer(conf.CopyOn, "", "/b a"), jkServer(conf.CopyAll, ""))
	c.Server.ServerName, c.Server.ServerPort = "main.example", 8080
	c.VHosts[0].Name, c.VHosts[1].Name, c.VHosts[1].Port = "b.example", "c.example", 81
	p := New(mustLoad(t, c), Options{})
	defer p.Close()
	var got []string
	for _, m := range p.current().of(0) {
		got = append(got, m.Server+m.URI)
	}
	if want := "main.example:8080/a b.example:8080/b b.example:8080/a c.example:81/a"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	for _, tt := range []struct {
		name string
		port int
		want string
	}{{"", 0, "*:*"}, {"", 81, "*:81"}, {"x", 0, "x:*"}, {"::1", 80, "[::1]:80"}} {
		c.Server.ServerName, c.Server.ServerPort = tt.name, tt.port
		if got := serverName(c, 0); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// slowBody is a body that fails.
type slowBody struct{ n int }

func (b *slowBody) Read(p []byte) (int, error) {
	if b.n <= 0 {
		return 0, &connector.ClientError{Op: "read body", Status: 408, Err: os.ErrDeadlineExceeded}
	}
	n := min(b.n, len(p))
	b.n -= n
	for i := range p[:n] {
		p[i] = 'a'
	}
	return n, nil
}

// A form is read so far and no further, and the client's faults are the
// client's.
func TestStatusClients(t *testing.T) {
	r := newPageRig(t, 1)
	serve := func(q *connector.Request, a *answer) *connector.Error {
		t.Helper()
		err := r.kids[0].Match(q).Service(q, a)
		var e *connector.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		return e
	}
	q := pageRequest("POST", "cmd=list")
	body := &slowBody{n: 1 << 20}
	q.Body, q.ContentLength = body, 1<<20
	a := &answer{}
	if e := serve(q, a); e != nil || a.status != 200 || body.n < 1<<20-128<<10 || !strings.Contains(string(a.body), "Too many or too long parameters") {
		t.Errorf("%v, %d, %d bytes left, %s", e, a.status, body.n, a.body)
	}
	q.Body = &slowBody{n: 10}
	if e := serve(q, &answer{}); e == nil || e.Status != 408 || !e.Client || e.Worker != "st" {
		t.Errorf("slow: %v", e)
	}
	for _, a := range []*answer{{leaves: true, gone: -1}, {leaves: true, gone: 10}, {leaves: true, failFinish: true, gone: 1 << 30}} {
		if e := serve(pageRequest("GET", ""), a); e == nil || !e.Client || !errors.Is(e, io.ErrClosedPipe) {
			t.Errorf("%+v: %v", a, e)
		}
	}
}

// Whatever a hijacked child writes into the memory of all, there is a page.
func TestStatusHostileMemory(t *testing.T) {
	r := newPageRig(t, 2)
	for _, fill := range []byte{0xff, 0x7f, 0x80, 0x01} {
		for i := 4096; i < len(r.mem); i++ {
			r.mem[i] = fill
		}
		for _, mime := range []string{"html", "xml", "txt", "prop"} {
			for _, cmd := range []string{"list", "dump", "edit&w=lb&sw=n1", "show&w=lb"} {
				if a := r.ask(0, "GET", "cmd="+cmd+"&mime="+mime); a.status != 200 || len(a.body) == 0 {
					t.Errorf("%x: %s %s: %d", fill, cmd, mime, a.status)
				}
			}
		}
	}
}

// The times of a page are those of its clock.
func TestStatusTimes(t *testing.T) {
	r := newPageRig(t, 1)
	at := time.Unix(1e9, 0)
	for _, w := range r.kids[0].current().targets[0] {
		if p, ok := w.(*statusPage); ok {
			p.now = func() time.Time { return at }
		}
	}
	b := r.seg.Balancer(0)
	b.LastMaintenance.Store(1e9 - 20)
	b.LastReset.Store(1e9 - 100)
	m := b.Member(0)
	m.SetState(5)
	m.FirstError.Store(1e9 - 50)
	m.LastError.Store(1e9 - 10)
	r.wants(0, "time_unix=1000000000", "lb.time_to_maintenance_min=38", "lb.time_to_maintenance_max=100", "lb.last_reset_ago=100",
		"n1.state=ERR", "n1.time_to_recover_min=50", "n1.time_to_recover_max=110", "n1.error_time_unix_seconds=999999950", "n1.error_time_ago=50", "lb.bad=1")
}
