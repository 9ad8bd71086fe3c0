package jk

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// named is a request for a path of the server that answers to host:port.
func named(c *conf.Config, host string, port int, path string) *connector.Request {
	q := request("GET", path, "")
	q.VHost = c.VHost([]byte(host), port)
	q.Env = &connector.Env{}
	return q
}

// served is the worker of a request, with its reply_timeout if the rule has
// one; "" for none.
func served(c *Connector, q *connector.Request) string {
	switch w := c.Match(q).(type) {
	case nil:
		return ""
	case *single:
		return w.Name() + timeoutOf(w.ext)
	case *lbTarget:
		return w.Name() + timeoutOf(w.ext)
	default:
		return w.Name()
	}
}

func timeoutOf(x *Extensions) string {
	if x.ReplyTimeoutSet {
		return fmt.Sprint(" ", x.ReplyTimeout)
	}
	return ""
}

// An Apache configuration with mod_jk: what each path of each server is served
// by.
func TestConfig17Paths(t *testing.T) {
	cfg, _, err := conf.Load(filepath.Join("..", "..", "conf", "testdata", "httpd-jk", "jkd.conf"), conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	setup, warnings, err := Load(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := New(setup, Options{Threads: 1, Sites: cfg.Jk.Servers})
	defer c.Close()
	for _, tt := range []struct {
		host string
		port int
		path string
		want string
	}{
		{"shop.example.test", 80, "/x.do", "lb"}, {"shop.example.test", 80, "/anything", "lb"},
		{"shop.example.test", 80, "/favicon.ico", ""}, {"shop.example.test", 80, "/static/a.png", ""},
		{"shop.example.test", 80, "/global/x", "lb"}, {"shop.example.test", 80, "/status", "lb"},
		{"shop.example.test", 443, "/global/x", "lb"}, {"shop.example.test", 443, "/status", "jkstatus"}, {"shop.example.test", 443, "/mapped/x", "lb"},
		{"shop.example.test", 443, "/examples", "lb 30s"}, {"shop.example.test", 443, "/examples/x", "lb 30s"},
		{"shop.example.test", 443, "/jkstatus", "jkstatus"}, {"shop.example.test", 443, "/jkstatus/x", ""}, {"shop.example.test", 443, "/other", ""},
		{"plain.example.test", 8080, "/global/x", ""}, {"plain.example.test", 8080, "/status", ""}, {"plain.example.test", 8080, "/", ""},
		{"unknown.example.test", 80, "/global/x", "lb"}, {"unknown.example.test", 80, "/mapped/x", "lb"}, {"unknown.example.test", 80, "/x.do", ""},
	} {
		same(t, fmt.Sprint(tt.host, ":", tt.port, " ", tt.path), served(c, named(cfg, tt.host, tt.port, tt.path)), tt.want)
	}
	// What the front puts into the request for a [location].
	q := named(cfg, "shop.example.test", 80, "/app/static/x")
	same(t, "mounted", served(c, q), "lb")
	q.Env.Set("no-jk", "")
	same(t, "no-jk", served(c, q), "")
	q = named(cfg, "shop.example.test", 443, "/api/v2/x")
	same(t, "without a handler", served(c, q), "")
	q.Handler = conf.JkHandler
	q.Env.Set("JK_WORKER_NAME", "lb")
	same(t, "by environment", served(c, q), "lb")

	var names []string
	for _, w := range setup.Config.Workers {
		names = append(names, w.Name)
	}
	same(t, "workers", strings.Join(names, " "), "extra lb jkstatus")
	same(t, "extra", fmt.Sprint(setup.Config.Workers[0].AJP.Host, ":", setup.Config.Workers[0].AJP.Port), "localhost:8009")
	for i, m := range setup.MapFiles() {
		same(t, "map file", fmt.Sprint(i, " ", filepath.Base(m.Path), " ", m.Every), "0 uriworkermap.properties 10s")
	}
	if all := fmt.Sprint(said(warnings, conf.Warn)); !strings.Contains(all, "vhost plain.example.test: maps nothing") {
		t.Errorf("warnings %s", all)
	}
}

// What Apache does with mod_proxy_ajp, in jkd's terms.
func TestConfig18ProxyAJP(t *testing.T) {
	cfg, _ := load(t, map[string]string{"jkd.conf": `[server]
Listen = 80
[connector.jk]
JkWorkersFile = w
JkMountFile = m
JkEnvVar = USER
`, "w": `worker.list=app,cfm
worker.app.type=lb
worker.app.balance_workers=n1,n2,n3
worker.app.sticky_session_force=1
worker.app.method=B
worker.app.recover_time=30
worker.spares.max_packet_size=65536
worker.spares.fail_on_status=500,503
worker.n1.reference=worker.spares
worker.n1.host=app1.example.test
worker.n1.lbfactor=3
worker.n1.secret=s1
worker.n1.prepost_timeout=2000
worker.n1.connection_pool_timeout=55
worker.n1.connection_pool_size=40
worker.n1.redirect=n3
worker.n2.reference=worker.spares
worker.n2.host=app2.example.test
worker.n2.socket_keepalive=1
worker.n2.redirect=n3
worker.n3.reference=worker.spares
worker.n3.host=app3.example.test
worker.n3.activation=disabled
worker.cfm.host=127.0.0.1
`, "m": "/app/*=app;reply_timeout=120000;use_server_errors=400\n!/static/*=*\n/*.cfm|/*=cfm;use_server_errors=400\n/*.cfc|/*=cfm;use_server_errors=400\n"})
	setup, warnings, err := Load(cfg)
	if err != nil {
		t.Fatal(err)
	}
	lb := setup.Config.Workers[0].LB
	same(t, "balancer", fmt.Sprintln(lb.StickySession, lb.StickySessionForce, lb.Method, lb.SessionCookie, lb.SessionPath, lb.RecoverTime, lb.MaxPacketSize),
		"true true Busyness JSESSIONID ;jsessionid 30s 65536\n")
	var got []string
	for _, m := range lb.Members {
		a := m.AJP
		got = append(got, fmt.Sprint(m.Name, " ", net.JoinHostPort(a.Host, fmt.Sprint(a.Port)), " ", m.Member.LBFactor, " ", m.Member.Activation, " ", a.Secret, " ",
			a.PrepostTimeout, " ", a.Cache.Timeout, " ", a.Cache.Size, " ", a.SocketKeepalive, " ", a.MaxPacketSize, " ", a.FailOnStatus))
	}
	same(t, "members", got, []string{
		"n1 app1.example.test:8009 3 ACT s1 2s 55s 40 false 65536 [{500 false} {503 false}]",
		"n2 app2.example.test:8009 1 ACT  0s 0s 0 true 65536 [{500 false} {503 false}]",
		"n3 app3.example.test:8009 1 DIS  0s 0s 0 false 65536 [{500 false} {503 false}]",
	})
	c := New(setup, Options{Threads: 1, Sites: cfg.Jk.Servers})
	defer c.Close()
	for path, want := range map[string]string{
		"/static/x": "", "/static/x.cfm": "", "/app/x": "app 2m0s", "/app/x.cfm": "app 2m0s", "/x.cfm": "cfm", "/x.cfm/path": "cfm", "/a/b.cfc": "cfm", "/other": "",
	} {
		same(t, path, served(c, named(cfg, "app.example.test", 80, path)), want)
	}
	if all := fmt.Sprint(said(warnings, conf.Warn)); !strings.Contains(all, "some members have a secret (n1) and some have none (n2, n3)") {
		t.Errorf("warnings %s", all)
	}
}

// The spare of such a balancer serves when the others are gone.
func TestConfig18Spare(t *testing.T) {
	r, cs := newLB(t, 3, nil, "", "n1.redirect=n3", "n2.redirect=n3", "n3.activation=disabled", "lb.sticky_session_force=1")
	for range 6 {
		if got := r.get("/"); got == "n3" {
			t.Error("the spare serves while others do")
		}
	}
	cs[0].Close()
	cs[1].Close()
	same(t, "the others are gone", r.get("/"), "n3")
}

// What nginx does with its AJP module, in jkd's terms.
func TestConfig19Nginx(t *testing.T) {
	cfg, _ := load(t, map[string]string{"jkd.conf": `[server]
Listen = 80
LimitRequestBody = 134217728
[connector.jk]
JkWorkersFile = w
JkMountFile = m
`, "w": `worker.list=app,tomcats,fallback
worker.app.type=lb
worker.app.balance_workers=jvm1,jvm2
worker.app.session_path=;sessionid
worker.app.recover_time=10
worker.app.secret=s1
worker.app.max_packet_size=16384
worker.node.host=127.0.0.1
worker.node.fail_on_status=-503
worker.node.cachesize=10
worker.jvm1.reference=worker.node
worker.jvm1.port=8009
worker.jvm2.reference=worker.node
worker.jvm2.port=8019
worker.jvm2.lbfactor=2
worker.tomcats.type=lb
worker.tomcats.balance_workers=jvm1,jvm2
worker.tomcats.session_path=;sessionid
worker.fallback.host=127.0.0.1
worker.fallback.port=8029
`, "m": "/app/*=app;reply_timeout=120000\n/*=tomcats\n!/ping=*\n!/*.gif=*\n!/*.jpg=*\n!/*.png=*\n!/*.js=*\n"})
	setup, _, err := Load(cfg)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "LimitRequestBody", cfg.Server.LimitRequestBody, int64(128<<20))
	var got []string
	for _, w := range setup.Config.Workers[:2] {
		for _, m := range w.LB.Members {
			got = append(got, fmt.Sprint(w.Name, " ", w.LB.SessionCookie, w.LB.SessionPath, " ", m.Member.Route, " ", m.AJP.Port, " ", m.Member.LBFactor, " ", m.AJP.Secret, " ",
				m.AJP.Cache.Size, " ", m.AJP.FailOnStatus))
		}
	}
	same(t, "members", got, []string{
		"app JSESSIONID;sessionid jvm1 8009 1 s1 10 [{503 true}]", "app JSESSIONID;sessionid jvm2 8019 2 s1 10 [{503 true}]",
		"tomcats JSESSIONID;sessionid jvm1 8009 1  10 [{503 true}]", "tomcats JSESSIONID;sessionid jvm2 8019 2  10 [{503 true}]",
	})
	c := New(setup, Options{Threads: 1, Sites: cfg.Jk.Servers})
	defer c.Close()
	for path, want := range map[string]string{
		"/app/x": "app 2m0s", "/app/x.gif": "", "/app/a/x.js": "", "/x": "tomcats", "/x.jsp": "tomcats", "/x.png": "", "/ping": "", "/ping/x": "tomcats", "/app": "tomcats",
	} {
		same(t, path, served(c, named(cfg, "x", 80, path)), want)
	}
}

// What BonCode's connector does, in jkd's terms: one worker, and header fields
// without a value are forwarded.
func TestConfig21BonCode(t *testing.T) {
	c, _ := mustParse(t, testEnv(), source(`worker.list=w
worker.w.host=localhost
worker.w.port=
worker.w.max_packet_size=65536
worker.w.connection_pool_size=500
worker.w.reply_timeout=120000
worker.w.secret=s1
`))
	a := c.Workers[0].AJP
	same(t, "worker", fmt.Sprint(a.Host, " ", a.Port, " ", a.MaxPacketSize, " ", a.Cache.Size, " ", a.ReplyTimeout, " ", a.Secret), "localhost 8009 65536 500 2m0s s1")
	back := ajptest.New(t, nil)
	r := newRig(t, dialKinds[1].dial, back, 1)
	q := request("GET", "/", "")
	q.Fields = append(q.Fields, connector.Field{Name: []byte("X-Empty")}, connector.Field{Name: []byte("x-debug"), Value: []byte("1")})
	if err := r.do(q, &answer{}); err != nil {
		t.Fatal(err)
	}
	packets, _ := back.Packets()
	seen, err := ajptest.DecodeForward(packets[0].Bytes[4:])
	if err != nil {
		t.Fatal(err)
	}
	if v := seen.HeaderValues("x-empty"); !slices.Equal(v, []string{""}) {
		t.Errorf("X-Empty %q", v)
	}
}
