package jk

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"jkd/conf"
)

// testEnv has nothing but what a test puts in.
func testEnv(vars ...string) Env {
	return Env{Lookup: func(name string) (string, bool) {
		for i := 0; i+1 < len(vars); i += 2 {
			if vars[i] == name {
				return vars[i+1], true
			}
		}
		return "", false
	}}
}

func source(text string) Source { return Source{File: "w", Data: []byte(text)} }

func file(t *testing.T, name string) Source {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return Source{File: "w", Data: data}
}

// said returns the warnings of one severity as text.
func said(warnings []conf.Warning, s conf.Severity) []string {
	var out []string
	for _, w := range warnings {
		if w.Severity == s {
			out = append(out, w.String())
		}
	}
	return out
}

func lines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func mustParse(t *testing.T, env Env, s Source) (*Config, []conf.Warning) {
	t.Helper()
	c, warnings, err := ParseConfig(env, s)
	if err != nil {
		t.Fatal(err)
	}
	return c, warnings
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func workerNames(c *Config) (out []string) {
	for _, w := range c.Workers {
		out = append(out, w.Name+" "+w.Type.String())
	}
	return out
}

// defaults is a worker that sets nothing.
func defaults(name string) WorkerConfig {
	return WorkerConfig{
		Name: name,
		AJP: AJPConfig{
			Host: "localhost", Port: 8009, ResolveTTL: 30 * time.Second, PingTimeout: 10 * time.Second, Retries: 2, RetryInterval: 100 * time.Millisecond,
			MaxPacketSize: 8192, Cache: CacheConfig{MinSize: -1, AcquireTimeout: 200 * time.Millisecond},
		},
		Member: MemberConfig{LBFactor: 1, Route: name},
	}
}

func defaultLB() LBConfig {
	return LBConfig{
		StickySession: true, Retries: 2, RetryInterval: 100 * time.Millisecond, LBRetries: 2, RecoverTime: time.Minute,
		ErrorEscalationTime: 30 * time.Second, SessionCookie: "JSESSIONID", SessionPath: ";jsessionid", SessionCookiePath: "/", MaxPacketSize: 8192,
	}
}

func TestDefaults(t *testing.T) {
	for _, text := range []string{"", "worker.list=ajp13\n", "worker.ajp13.host=localhost\n"} {
		c, _ := mustParse(t, testEnv(), source(text))
		same(t, "workers", c.Workers, []WorkerConfig{defaults("ajp13")})
		same(t, "maintain", c.Maintain, time.Minute)
	}
}

func TestDeployments(t *testing.T) {
	c, warnings := mustParse(t, testEnv(), file(t, "freebsd-2003-workers.properties"))
	want := defaults("ajp13")
	want.AJP.Cache = CacheConfig{Mode: ModeCache, Size: 25, SizeSet: true, MinSize: -1, AcquireTimeout: 200 * time.Millisecond}
	same(t, "freebsd-2003", c.Workers, []WorkerConfig{want})
	same(t, "warnings", len(warnings), 0)

	c, warnings = mustParse(t, testEnv(), file(t, "tomcat6-2009-workers.properties"))
	want = defaults("worker1")
	want.AJP.SocketKeepalive = true
	want.AJP.Cache = CacheConfig{Mode: ModePool, Size: 150, SizeSet: true, MinSize: -1, Timeout: 600 * time.Second, AcquireTimeout: 200 * time.Millisecond}
	same(t, "tomcat6-2009", c.Workers, []WorkerConfig{want})
	same(t, "warnings", len(warnings), 0)
}

func TestF067Config01ColdFusion(t *testing.T) {
	c, warnings := mustParse(t, testEnv(), file(t, "field/01-coldfusion-workers.properties"))
	same(t, "workers", workerNames(c), []string{"cf_pool lb", "status status"})
	same(t, "maintain", c.Maintain, time.Minute)

	node := func(name, host string, port int) WorkerConfig {
		w := defaults(name)
		w.AJP.Host, w.AJP.Port = host, port
		w.AJP.Cache = CacheConfig{Mode: ModePool, Size: 500, SizeSet: true, MinSize: -1, Timeout: time.Minute, MaxIdle: 250, AcquireTimeout: 200 * time.Millisecond}
		return w
	}
	lb := defaultLB()
	lb.StickySession, lb.Retries, lb.RetryInterval = false, 10, 200*time.Millisecond
	lb.Members = []WorkerConfig{node("cfnode1", "127.0.0.1", 8021), node("cfnode2", "198.51.100.14", 8014)}
	same(t, "cf_pool", *c.Workers[0].LB, lb)
	same(t, "resolved pool", lb.Members[0].AJP.Cache.Resolve(25).MinSize, 250)
	same(t, "mounts", c.Workers[1].Mounts, []MountPattern{{"/private/ops/balancer", "w", 43}})
	same(t, "read_only", c.Workers[1].Status.ReadOnly, false)

	u, more, err := NewURIMap(c, testEnv(), Mounts{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "warnings", said(append(warnings, more...), conf.Warn), []string{
		"w:23: worker.cfnode1.max_reuse_connections: is a vendor's directive: read as the most idle connections to keep",
		"w:34: worker.cfnode2.max_reuse_connections: is a vendor's directive: read as the most idle connections to keep",
		"w:43: /private/ops/balancer: the status page of worker status is mounted and may be changed by everybody (read_only, user)",
	})
	if r := u.Match([]byte("/private/ops/balancer")); r == nil || r.Worker != "status" || r.Source != FromWorker {
		t.Errorf("got %+v", r)
	}
	if r := u.Match([]byte("/private/ops/balancer/")); r != nil {
		t.Errorf("got %+v", r)
	}
}

func TestF067Config03TrailingComments(t *testing.T) {
	c, warnings := mustParse(t, testEnv(), file(t, "field/03-trailing-comments-workers.properties"))
	node := func(name string, port, factor int) WorkerConfig {
		w := defaults(name)
		w.AJP.Host, w.AJP.Port, w.Member.LBFactor = "192.0.2.72", port, factor
		return w
	}
	lb := defaultLB()
	lb.Members = []WorkerConfig{node("tomcat1", 8009, 1), node("tomcat2", 8109, 2)}
	same(t, "workers", c.Workers, []WorkerConfig{{Name: "controller", Type: LB, LB: &lb}, node("tomcat1", 8009, 1)})
	same(t, "warnings", said(warnings, conf.Warn), []string{
		"w:15: worker.controller.balanced_workers: balanced_workers is deprecated, balance_workers is the current name",
		"w:18: workers.list: is a variable without meaning, did you mean worker.list?",
	})
	p, _, err := ParseProperties(testEnv(), file(t, "field/03-trailing-comments-workers.properties"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "workers.tomcat_home", p.Get("workers.tomcat_home").Value(), "/opt/tomcat")
	same(t, "ps", p.Get("ps").Value(), "/")
	if q := p.Get("workers.java_home"); q != nil {
		t.Errorf("workers.java_home is %q", q.Value())
	}
}

func TestF067Config04Typos(t *testing.T) {
	c, warnings, err := ParseConfig(testEnv(), file(t, "field/04-typos-workers.properties"))
	if c != nil {
		t.Errorf("got %+v", c)
	}
	same(t, "errors", lines(err), []string{
		"w:9: worker.node2.type: Unknown worker type AJP13, did you mean ajp13? (ajp13, lb, status)",
		"w:12: worker.loadbalancer.type: Unknown worker type 1b, did you mean lb? (ajp13, lb, status)",
		"w:14: worker.loadbalancer.sticky_seesion: directive sticky_seesion is not supported - please check, did you mean sticky_session?",
	})
	same(t, "warnings", said(warnings, conf.Warn), []string{
		"w:13: worker.loadbalancer.balanced_workers: balanced_workers is deprecated, balance_workers is the current name"})
}

func TestF074Config05Template(t *testing.T) {
	c, warnings := mustParse(t, testEnv(), file(t, "field/05-template-workers.properties"))
	node1 := defaults("node1")
	node1.AJP = AJPConfig{
		Host: "app1.example.test", Port: 8009, ResolveTTL: 30 * time.Second, SocketTimeout: 10 * time.Second, SocketConnectTimeout: 10 * time.Second, SocketConnectTimeoutSet: true,
		SocketKeepalive: true, PingMode: PingAll, PingTimeout: 10 * time.Second, ConnectTimeout: 10 * time.Second, PrepostTimeout: 10 * time.Second,
		ConnectionPingInterval: 100 * time.Second, ReplyTimeout: time.Minute, Retries: 2, RetryInterval: 100 * time.Millisecond,
		RecoveryOptions: RecoverHead | RecoverGet, RecoveryOptionsSet: true,
		FailOnStatus: []FailStatus{{404, true}, {503, false}}, MaxPacketSize: 8192,
		Cache: CacheConfig{Mode: ModePool, Timeout: time.Minute, AcquireTimeout: 200 * time.Millisecond},
	}
	node2 := node1
	node2.Name, node2.AJP.Host, node2.Member.Route, node2.AJP.ReplyTimeout = "node2", "app2.example.test", "n2", 2*time.Minute
	lb := defaultLB()
	lb.Method = BySessions
	lb.Members = []WorkerConfig{node1, node2}
	same(t, "workers", workerNames(c), []string{"wlb lb", "jkstatus status"})
	same(t, "wlb", *c.Workers[0].LB, lb)
	same(t, "jkstatus", *c.Workers[1].Status, StatusConfig{CSS: "/style/status.css", Good: []string{"a.o", "a.i", "a.b", "a.r"}, Bad: []string{"s", "e"},
		Prefix: "worker", NS: "jk:", XMLNS: `xmlns:jk="http://tomcat.apache.org"`})
	same(t, "warnings", len(warnings), 0)
}

func TestF074Config06Macros(t *testing.T) {
	src := file(t, "field/06-macros-workers.properties")
	c, warnings := mustParse(t, testEnv("JKD_TEST_SECRET", "s3"), src)
	app1, app2 := defaults("app1"), defaults("app2")
	app1.AJP.Host, app1.AJP.Secret, app1.AJP.MaxPacketSize = "10.0.0.11", "k=v;x==", 16384
	app1.Member.Route, app1.Member.Domain = "10.0.0.11", "10"
	app2.AJP.Host, app2.AJP.Secret, app2.AJP.MaxPacketSize = "10.0.0.12", "s3", 10240
	app2.AJP.Cache.Mode = ModePool
	app2.Member.Route = "appapp"
	lb := defaultLB()
	lb.Members, lb.MaxPacketSize = []WorkerConfig{app1, app2}, 16384
	same(t, "workers", c.Workers, []WorkerConfig{app1, app2, {Name: "lb", Type: LB, LB: &lb}})
	want := []string{
		"w:13: worker.app2.port: $(p2) is defined neither above nor in the environment: left as it is; the default 8009 is used",
		"w:18: worker.app2.connection_pool_size: $(NOT_SET_ANYWHERE) is defined neither above nor in the environment: left as it is; the default for the MPM is used",
		"w:19: nested: $( is never closed: the text is left as it is",
		"w:21: self: $(self) is defined neither above nor in the environment: left as it is",
	}
	same(t, "warnings", said(warnings, conf.Warn), want)

	p, _, err := ParseProperties(testEnv(), src)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"nested": "$(base", "twice": "$app", "self": "$(self)", "worker.app2.secret": "$(JKD_TEST_SECRET)"} {
		same(t, name, p.Get(name).Value(), value)
	}

	c, warnings = mustParse(t, testEnv(), src)
	same(t, "secret", c.Workers[1].AJP.Secret, "$(JKD_TEST_SECRET)")
	same(t, "warnings", said(warnings, conf.Warn), slices.Insert(want, 1,
		"w:17: worker.app2.secret: $(JKD_TEST_SECRET) is defined neither above nor in the environment: left as it is"))
}

func TestF069Config07HotStandby(t *testing.T) {
	c, warnings := mustParse(t, testEnv(), file(t, "field/07-hot-standby-workers.properties"))
	same(t, "workers", workerNames(c), []string{"status status", "lb-main lb", "lb-history lb", "single-node ajp13", "lb-msg lb"})
	same(t, "warnings", said(warnings, conf.Warn), []string(nil))
	var got []string
	for _, w := range c.Workers {
		if w.LB == nil {
			continue
		}
		for _, m := range w.LB.Members {
			cache := m.AJP.Cache.Resolve(64)
			got = append(got, fmt.Sprint(w.Name, " ", w.LB.StickySession, " ", m.Name, " ", m.AJP.Host, ":", m.AJP.Port, " ", m.Member.Activation,
				" redirect=", m.Member.Redirect, " ", cache.Mode, " ", cache.Size, " ", cache.MinSize))
		}
	}
	same(t, "members", got, []string{
		"lb-main true main-master 198.51.100.112:8009 ACT redirect=main-spare pool 250 125",
		"lb-main true main-spare 198.51.100.114:8009 DIS redirect= pool 250 125",
		"lb-history true history-master 198.51.100.112:8209 ACT redirect=history-spare cache 64 32",
		"lb-history true history-spare 198.51.100.114:8209 DIS redirect= cache 64 32",
		"lb-msg true node_msg 198.51.100.204:18209 ACT redirect= pool 50 25",
	})
}

func TestF069Config08BOM(t *testing.T) {
	c, warnings := mustParse(t, testEnv(), file(t, "field/08-bom-crlf-workers.properties"))
	want := defaults("tomcat")
	want.AJP.SocketKeepalive = true
	want.AJP.Cache.Mode, want.AJP.Cache.Timeout = ModePool, 600*time.Second
	want.Member.Domain = "gr\xc3\xbcn"
	same(t, "workers", c.Workers, []WorkerConfig{want})
	same(t, "warnings", said(warnings, conf.Warn), []string(nil))
	same(t, "infos", said(warnings, conf.Info), []string{
		"w:1: the byte order mark is skipped",
		"w:10: the line has no '=': ignored",
		"w:11: the line has no name before '=': ignored",
		"w:12: worker.tomcat.retries: has no value: ignored",
	})
}

func TestCacheOrPool(t *testing.T) {
	ms := time.Millisecond
	tests := []struct {
		text string
		want CacheConfig
		// resolved is size and minsize with 25 threads.
		resolved [2]int
		warnings []string
	}{
		{"", CacheConfig{MinSize: -1, AcquireTimeout: 200 * ms}, [2]int{25, 13}, nil},
		{"cachesize=10", CacheConfig{Size: 10, SizeSet: true, MinSize: -1, AcquireTimeout: 200 * ms}, [2]int{10, 5}, nil},
		{"cachesize=0", CacheConfig{SizeSet: true, MinSize: -1, AcquireTimeout: 200 * ms}, [2]int{0, 0}, nil},
		{"cache_timeout=30", CacheConfig{MinSize: -1, Timeout: 30 * time.Second, AcquireTimeout: 200 * ms}, [2]int{25, 13}, nil},
		{"max_reuse_connections=3", CacheConfig{MinSize: -1, MaxIdle: 3, AcquireTimeout: 200 * ms}, [2]int{25, 13},
			[]string{"w:2: worker.w.max_reuse_connections: is a vendor's directive: read as the most idle connections to keep"}},
		{"connection_pool_size=9", CacheConfig{Mode: ModePool, Size: 9, SizeSet: true, MinSize: -1, AcquireTimeout: 200 * ms}, [2]int{9, 5}, nil},
		{"connection_pool_timeout=5", CacheConfig{Mode: ModePool, MinSize: -1, Timeout: 5 * time.Second, AcquireTimeout: 200 * ms}, [2]int{25, 13}, nil},
		{"connection_pool_minsize=4", CacheConfig{Mode: ModePool, MinSize: 4, AcquireTimeout: 200 * ms}, [2]int{25, 4}, nil},
		{"connection_acquire_timeout=1500", CacheConfig{Mode: ModePool, MinSize: -1, AcquireTimeout: 1500 * ms}, [2]int{25, 13}, nil},
		{"connection_acquire_timeout=0", CacheConfig{Mode: ModePool, MinSize: -1}, [2]int{25, 13},
			[]string{"w:2: worker.w.connection_acquire_timeout: no request waits: when all connections are busy it fails at once"}},
		{"retries=3\nretry_interval=50", CacheConfig{MinSize: -1, AcquireTimeout: 150 * ms}, [2]int{25, 13}, nil},
		{"retry_interval=-1", CacheConfig{MinSize: -1}, [2]int{25, 13}, nil},
		{"cachesize=10\nconnection_pool_size=20", CacheConfig{Mode: ModePool, Size: 20, SizeSet: true, MinSize: -1, AcquireTimeout: 200 * ms}, [2]int{20, 10},
			[]string{"w:2: worker.w.cachesize: ignored: connection_pool_size is given too"}},
		{"cachesize=10\ncache_timeout=7\nconnection_pool_timeout=20",
			CacheConfig{Mode: ModePool, Size: 10, SizeSet: true, MinSize: -1, Timeout: 20 * time.Second, AcquireTimeout: 200 * ms}, [2]int{10, 5},
			[]string{
				"w:2: worker.w.cachesize: read as connection_pool_size, because connection_pool_timeout makes the connections a bounded pool",
				"w:3: worker.w.cache_timeout: ignored: connection_pool_timeout is given too",
			}},
		{"connection_pool_size=4\nconnection_pool_minsize=9", CacheConfig{Mode: ModePool, Size: 4, SizeSet: true, MinSize: 4, AcquireTimeout: 200 * ms}, [2]int{4, 4},
			[]string{"w:3: worker.w.connection_pool_minsize: 9 is more than the pool's size 4; 4 is used"}},
	}
	for _, tt := range tests {
		text := "worker.list=w\n"
		for l := range strings.SplitSeq(tt.text, "\n") {
			if l != "" {
				text += "worker.w." + l + "\n"
			}
		}
		c, warnings := mustParse(t, testEnv(), source(text))
		got := c.Workers[0].AJP.Cache
		same(t, tt.text, got, tt.want)
		r := got.Resolve(25)
		same(t, tt.text+" resolved", [2]int{r.Size, r.MinSize}, tt.resolved)
		if tt.warnings != nil || tt.text != "" {
			same(t, tt.text+" warnings", said(warnings, conf.Warn), tt.warnings)
		}
	}
	same(t, "under prefork", CacheConfig{MinSize: -1}.Resolve(1), CacheConfig{Size: 1, MinSize: 1})
}

func TestPings(t *testing.T) {
	s := time.Second
	tests := []struct {
		text                            string
		mode                            PingMode
		ping, connect, prepost, between time.Duration
	}{
		{"", 0, 10 * s, 0, 0, 0},
		{"ping_mode=c", PingConnect, 10 * s, 10 * s, 0, 0},
		{"ping_mode=pI ping_timeout=2000", PingPrepost | PingInterval, 2 * s, 0, 2 * s, 20 * s},
		{"ping_mode=A connect_timeout=1 prepost_timeout=2 connection_ping_interval=3", PingAll, 10 * s, time.Millisecond, 2 * time.Millisecond, 3 * s},
		{"connect_timeout=5000", PingConnect, 10 * s, 5 * s, 0, 0},
		{"connection_ping_interval=7", PingInterval, 10 * s, 0, 0, 7 * s},
		{"ping_mode=C ping_timeout=0", 0, 0, 0, 0, 0},
	}
	for _, tt := range tests {
		text := "worker.list=w\n"
		for _, l := range strings.Fields(tt.text) {
			text += "worker.w." + l + "\n"
		}
		c, _ := mustParse(t, testEnv(), source(text))
		a := c.Workers[0].AJP
		same(t, tt.text, []any{a.PingMode, a.PingTimeout, a.ConnectTimeout, a.PrepostTimeout, a.ConnectionPingInterval},
			[]any{tt.mode, tt.ping, tt.connect, tt.prepost, tt.between})
	}
	same(t, "letters", (PingConnect | PingInterval).String(), "CI")
}

// Each directive is read into its field.
func TestAJPDirectives(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		text string
		set  func(*WorkerConfig)
	}{
		{"host=::1", func(w *WorkerConfig) { w.AJP.Host = "::1" }},
		{"host=[::1]", func(w *WorkerConfig) { w.AJP.Host = "::1" }},
		{"host=a-b.example", func(w *WorkerConfig) { w.AJP.Host = "a-b.example" }},
		{"port=8010", func(w *WorkerConfig) { w.AJP.Port = 8010 }},
		{"port=0", func(w *WorkerConfig) { w.AJP.Port, w.Member.Activation = 0, Stopped }},
		{"source=192.0.2.1", func(w *WorkerConfig) { w.AJP.Source = "192.0.2.1" }},
		{"prefer_ipv6=yes", func(w *WorkerConfig) { w.AJP.PreferIPv6 = true }},
		{"resolve_ttl=5", func(w *WorkerConfig) { w.AJP.ResolveTTL = 5 * time.Second }},
		{"resolve_ttl=0", func(w *WorkerConfig) { w.AJP.ResolveTTL = time.Second }},
		{"max_connections=100", func(w *WorkerConfig) { w.AJP.MaxConnections = 100 }},
		{"max_connections=-1", func(w *WorkerConfig) {}},
		{"secret=a b", func(w *WorkerConfig) { w.AJP.Secret = "a b" }},
		{"socket_timeout=3", func(w *WorkerConfig) {
			w.AJP.SocketTimeout, w.AJP.SocketConnectTimeout, w.AJP.SocketConnectTimeoutSet = 3*time.Second, 3*time.Second, true
		}},
		{"socket_connect_timeout=250", func(w *WorkerConfig) { w.AJP.SocketConnectTimeout, w.AJP.SocketConnectTimeoutSet = 250*ms, true }},
		{"socket_connect_timeout=0", func(w *WorkerConfig) { w.AJP.SocketConnectTimeoutSet = true }},
		{"socket_keepalive=1", func(w *WorkerConfig) { w.AJP.SocketKeepalive = true }},
		{"socket_buffer=100", func(w *WorkerConfig) { w.AJP.SocketBuffer = 8192 }},
		{"socket_buffer=64k", func(w *WorkerConfig) { w.AJP.SocketBuffer = 65536 }},
		{"reply_timeout=1500", func(w *WorkerConfig) { w.AJP.ReplyTimeout = 1500 * ms }},
		{"retries=0", func(w *WorkerConfig) { w.AJP.Retries, w.AJP.Cache.AcquireTimeout = 1, 100*ms }},
		{"recovery_options=7", func(w *WorkerConfig) {
			w.AJP.RecoveryOptions, w.AJP.RecoveryOptionsSet = RecoverNotSent|RecoverNotStarted|RecoverCloseOnClientError, true
		}},
		{"recovery_options=0", func(w *WorkerConfig) { w.AJP.RecoveryOptionsSet = true }},
		{"recovery_options=33", func(w *WorkerConfig) { w.AJP.RecoveryOptions, w.AJP.RecoveryOptionsSet = RecoverNotSent, true }},
		{"fail_on_status=500 -404,\t503", func(w *WorkerConfig) { w.AJP.FailOnStatus = []FailStatus{{500, false}, {404, true}, {503, false}} }},
		{"busy_limit=20", func(w *WorkerConfig) { w.AJP.BusyLimit = 20 }},
		{"max_packet_size=1", func(w *WorkerConfig) {}},
		{"max_packet_size=8193", func(w *WorkerConfig) { w.AJP.MaxPacketSize = 9216 }},
		{"max_packet_size=1m", func(w *WorkerConfig) { w.AJP.MaxPacketSize = 65536 }},
		{"lbfactor=0", func(w *WorkerConfig) {}},
		{"lbfactor=7", func(w *WorkerConfig) { w.Member.LBFactor = 7 }},
		{"distance=2", func(w *WorkerConfig) { w.Member.Distance = 2 }},
		{"activation=S", func(w *WorkerConfig) { w.Member.Activation = Stopped }},
		{"activation=1", func(w *WorkerConfig) { w.Member.Activation = Disabled }},
		{"activation=x", func(w *WorkerConfig) {}},
		{"disabled=true", func(w *WorkerConfig) { w.Member.Activation = Disabled }},
		{"stopped=true\nworker.w.disabled=true", func(w *WorkerConfig) { w.Member.Activation = Stopped }},
		{"stopped=true\nworker.w.activation=a", func(w *WorkerConfig) {}},
		{"route=a.b.c", func(w *WorkerConfig) { w.Member.Route, w.Member.Domain = "a.b.c", "a" }},
		{"jvm_route=r", func(w *WorkerConfig) { w.Member.Route = "r" }},
		{"domain=d", func(w *WorkerConfig) { w.Member.Domain = "d" }},
		{"redirect=r", func(w *WorkerConfig) { w.Member.Redirect = "r" }},
		{"mount=/a/* !/a/b,-/c", func(w *WorkerConfig) {
			w.Mounts = []MountPattern{{"/a/*", "w", 2}, {"!/a/b", "w", 2}, {"-/c", "w", 2}}
		}},
		{"recycle_timeout=5", func(w *WorkerConfig) {}},
	}
	for _, tt := range tests {
		want := defaults("w")
		tt.set(&want)
		c, _ := mustParse(t, testEnv(), source("worker.list=w\nworker.w."+tt.text+"\n"))
		same(t, tt.text, c.Workers[0], want)
	}
}

func TestLBDirectives(t *testing.T) {
	tests := []struct {
		text string
		set  func(*LBConfig)
	}{
		{"sticky_session=f", func(c *LBConfig) { c.StickySession = false }},
		{"sticky_session_force=On", func(c *LBConfig) { c.StickySessionForce = true }},
		{"method=B", func(c *LBConfig) { c.Method = ByBusyness }},
		{"method=traffic", func(c *LBConfig) { c.Method = ByTraffic }},
		{"method=3", func(c *LBConfig) { c.Method = BySessions }},
		{"method=N", func(c *LBConfig) { c.Method = ByNext }},
		{"method=lb", func(c *LBConfig) {}},
		{"method=5", func(c *LBConfig) {}},
		{"lock=pessimistic", func(c *LBConfig) { c.Lock = Pessimistic }},
		{"lock=x", func(c *LBConfig) {}},
		{"retries=5", func(c *LBConfig) { c.Retries = 5 }},
		{"lb_retries=3", func(c *LBConfig) { c.LBRetries = 3 }},
		{"recover_time=10", func(c *LBConfig) { c.RecoverTime, c.ErrorEscalationTime = 10*time.Second, 5*time.Second }},
		{"recover_time=0", func(c *LBConfig) { c.RecoverTime, c.ErrorEscalationTime = time.Second, 500*time.Millisecond }},
		{"error_escalation_time=0", func(c *LBConfig) { c.ErrorEscalationTime = 0 }},
		{"max_reply_timeouts=4", func(c *LBConfig) { c.MaxReplyTimeouts = 4 }},
		{"session_cookie=SID", func(c *LBConfig) { c.SessionCookie = "SID" }},
		{"session_path=;sid", func(c *LBConfig) { c.SessionPath = ";sid" }},
		{"set_session_cookie=1", func(c *LBConfig) { c.SetSessionCookie = true }},
		{"session_cookie_path=/a", func(c *LBConfig) { c.SessionCookiePath = "/a" }},
		{"session_cookie_path=", func(c *LBConfig) {}},
		{"max_packet_size=16k", func(c *LBConfig) { c.MaxPacketSize, c.Members[0].AJP.MaxPacketSize = 16384, 16384 }},
		{"max_packet_size=16k\nworker.a.max_packet_size=9k\nworker.a.socket_buffer=1", func(c *LBConfig) {
			c.MaxPacketSize, c.Members[0].AJP.MaxPacketSize, c.Members[0].AJP.SocketBuffer = 16384, 9216, 9216
		}},
		{"secret=s", func(c *LBConfig) { c.Secret, c.Members[0].AJP.Secret = "s", "s" }},
		{"balance_workers=a", func(c *LBConfig) {}}, // joined; twice is once
	}
	for _, tt := range tests {
		want := defaultLB()
		want.Members = []WorkerConfig{defaults("a")}
		tt.set(&want)
		c, _ := mustParse(t, testEnv(), source("worker.list=b\nworker.b.type=lb\nworker.b.balance_workers=a\nworker.a.port=8009\nworker.b."+tt.text+"\n"))
		same(t, tt.text, *c.Workers[0].LB, want)
	}
}

func TestPacketSizeIsInherited(t *testing.T) {
	const two = "worker.list=a,x,y\nworker.x.type=lb\nworker.y.type=lb\nworker.x.balance_workers=a,b\nworker.y.balance_workers=b,a,c\n"
	tests := []struct {
		name, text string
		want       string // the listed a, then each balancer and its members
		buffer     int    // of each a
	}{
		{"nobody sets it", "worker.a.port=1\n", "8192; x 8192: 8192 8192; y 8192: 8192 8192 8192", 0},
		{"the first", "worker.x.max_packet_size=16384\n", "16384; x 16384: 16384 16384; y 16384: 16384 16384 8192", 0},
		{"the last", "worker.y.max_packet_size=16384\n", "16384; x 16384: 16384 16384; y 16384: 16384 16384 16384", 0},
		{"the larger of two", "worker.x.max_packet_size=16384\nworker.y.max_packet_size=32768\n", "32768; x 32768: 32768 32768; y 32768: 32768 32768 32768", 0},
		{"one of its own, larger", "worker.x.max_packet_size=16384\nworker.a.max_packet_size=65536\n", "65536; x 65536: 65536 16384; y 65536: 16384 65536 8192", 0},
		{"one of its own, smaller", "worker.x.max_packet_size=16384\nworker.a.max_packet_size=8192\n", "8192; x 16384: 8192 16384; y 16384: 16384 8192 8192", 0},
		{"one of its template's", "worker.t.max_packet_size=8192\nworker.a.reference=worker.t\nworker.x.max_packet_size=16384\n", "8192; x 16384: 8192 16384; y 16384: 16384 8192 8192", 0},
		{"the balancer's template", "worker.t.max_packet_size=16384\nworker.x.reference=worker.t\n", "16384; x 16384: 16384 16384; y 16384: 16384 16384 8192", 0},
		{"the buffer holds a packet", "worker.a.socket_buffer=9000\nworker.x.max_packet_size=16384\n", "16384; x 16384: 16384 16384; y 16384: 16384 16384 8192", 16384},
	}
	for _, tt := range tests {
		c, _ := mustParse(t, testEnv(), source(two+tt.text))
		got := fmt.Sprint(c.Worker("a").AJP.MaxPacketSize)
		buffers := []int{c.Worker("a").AJP.SocketBuffer}
		for _, name := range []string{"x", "y"} {
			lb := c.Worker(name).LB
			got += fmt.Sprintf("; %s %d:", name, lb.MaxPacketSize)
			for _, m := range lb.Members {
				got += fmt.Sprintf(" %d", m.AJP.MaxPacketSize)
				if m.Name == "a" {
					buffers = append(buffers, m.AJP.SocketBuffer)
				}
			}
		}
		same(t, tt.name, got, tt.want)
		same(t, tt.name+": buffers", buffers, []int{tt.buffer, tt.buffer, tt.buffer})
	}
}

func TestSourcesAreOneText(t *testing.T) {
	c, warnings, err := ParseConfig(testEnv(),
		Source{File: "c", Pairs: []conf.Pair{{Key: "worker.list", Value: "extra", Line: 5}, {Key: "worker.extra.secret", Value: "a#b", Line: 6}, {Key: "h", Value: "x", Line: 7}}},
		Source{File: "w", Data: []byte("worker.list=w\nworker.w.host=$(h).test\nworker.extra.secret=c#d\n")})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "workers", workerNames(c), []string{"extra ajp13", "w ajp13"})
	same(t, "host", c.Worker("w").AJP.Host, "x.test")
	same(t, "secret", c.Worker("extra").AJP.Secret, "c") // '#' is a comment in the file only
	same(t, "warnings", said(warnings, conf.Warn), []string{
		"w:3: worker.extra.secret: the value ends at a '#', which begins a comment; it is not part of the secret",
		"w:3: worker.extra.secret: Duplicate key: this one counts, not that of c:6",
	})
}

func TestServerRoot(t *testing.T) {
	p, warnings, err := ParseProperties(Env{ServerRoot: "/srv", Lookup: testEnv().Lookup}, source("a=$(ServerRoot)/x\nServerRoot=/other\nb=$(ServerRoot)\n"))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	same(t, "a", p.Get("a").Value(), "/srv/x")
	same(t, "b", p.Get("b").Value(), "/other")
}
