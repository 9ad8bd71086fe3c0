package jk

import (
	"fmt"
	"strings"
	"testing"

	"jkd/conf"
)

// Texts that must be refused, and everything that must be said about them.
func TestFaults(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"values", `worker.list=w
worker.w.port=8009x
worker.w.port=65536
worker.w.retries=many
worker.w.socket_keepalive=maybe
worker.w.socket_timeout=99999999999
worker.w.recovery_options=-1
worker.w.fail_on_status=404,5xx
worker.w.connection_pool_size=0
worker.w.connection_pool_minsize=-2
worker.w.host=localhost:8009
worker.w.source=a/b
worker.w.distance=1.5
worker.maintain=60s
`, []string{
			"w:3: worker.w.port: 65536 is too large, at most 65535 is allowed",
			`w:4: worker.w.retries: "many" is not a whole number`,
			`w:5: worker.w.socket_keepalive: "maybe" is neither true nor false`,
			"w:6: worker.w.socket_timeout: 99999999999 is too large",
			"w:7: worker.w.recovery_options: -1 is negative",
			`w:8: worker.w.fail_on_status: "5xx" is not an HTTP status`,
			"w:9: worker.w.connection_pool_size: with 0 connections no request can be served",
			"w:10: worker.w.connection_pool_minsize: -2 is too small, at least -1 is needed",
			"w:11: worker.w.host: localhost:8009: the port has a directive of its own, port",
			"w:12: worker.w.source: a/b is not an address",
		}},
		{"hosts", "worker.list=a b c d\nworker.a.host=a b\nworker.b.host=[::1\nworker.c.host=x/y\nworker.d.host=" + strings.Repeat("x", 256) + "\n", []string{
			"w:2: worker.a.host: a b is neither a host name nor an address",
			"w:3: worker.b.host: [::1 is neither a host name nor an address",
			"w:4: worker.c.host: x/y is neither a host name nor an address",
			"w:5: worker.d.host: the value is longer than 255 bytes",
		}},
		{"directives", "worker.list=w\nworker.w.prot=1\nworker.w=1\nworker.host=h\nworker.lst=w\nworker.w.list=x\nworker.w.Port=1\nworker.w.zzzzzz=1\n", []string{
			"w:2: worker.w.prot: directive prot is not supported - please check, did you mean port?",
			"w:3: worker.w: unknown directive",
			"w:4: worker.host: names no worker: write worker.NAME.host",
			"w:5: worker.lst: unknown directive, did you mean list?",
			"w:6: worker.w.list: belongs to no single worker: write worker.list",
			"w:7: worker.w.Port: directive Port is not supported - please check, did you mean port?",
			"w:8: worker.w.zzzzzz: directive zzzzzz is not supported - please check",
		}},
		{"types", "worker.list=a,b,c,d\nworker.a.type=ajp12\nworker.b.type=ajp14\nworker.c.type=jni\nworker.d.type=LB\nworker.unused.type=x\n", []string{
			"w:2: worker.a.type: type ajp12 is not supported: give the container an AJP/1.3 connector and use ajp13",
			"w:3: worker.b.type: type ajp14 is not supported: give the container an AJP/1.3 connector and use ajp13",
			"w:4: worker.c.type: type jni is not supported: run the container as a process of its own and use ajp13",
			"w:5: worker.d.type: Unknown worker type LB, did you mean lb? (ajp13, lb, status)",
			"w:6: worker.unused.type: Unknown worker type x (ajp13, lb, status)",
		}},
		{"balancers", `worker.list=a,b,c
worker.a.type=lb
worker.b.type=lb
worker.b.balance_workers=n1,n2,n3,c,a
worker.n1.port=1
worker.n2.route=n1
worker.n3.jvm_route=n1
worker.c.type=status
`, []string{
			"w:2: worker.a: a balancer needs balance_workers",
			"w:4: worker.b.balance_workers: member c is of type status, only ajp13 can be balanced",
			"w:4: worker.b.balance_workers: member a is of type lb, only ajp13 can be balanced",
			"w:6: worker.n2.route: route n1 is that of member n1 too: they share the same route",
			"w:7: worker.n3.jvm_route: route n1 is that of member n1 too: they share the same route",
		}},
		{"references", `worker.list=a,b,c,d,e
worker.a.reference=worker.b
worker.b.reference=worker.a
worker.c.reference=worker.nowhere
worker.d.reference=template
worker.e.reference=worker.e
worker.template.port=1
`, []string{
			"w:3: worker.b.reference: the references go in a circle: a -> b -> a",
			"w:4: worker.c.reference: Reference not found: c -> nowhere",
			"w:5: worker.d.reference: the value must be worker.NAME, not template",
			"w:6: worker.e.reference: the references go in a circle: e -> e",
		}},
		{"fault in a template is said once", "worker.list=a,b\nworker.a.reference=worker.t\nworker.b.reference=worker.t\nworker.t.port=x\n", []string{
			`w:4: worker.t.port: "x" is not a whole number`,
		}},
		{"lines", "worker.list=w\nx=" + strings.Repeat("y", 8191) + "\n#" + strings.Repeat("z", 8192) + "\na\x00=b\n", []string{
			"w:2: the line is 8193 bytes long, at most 8192 are allowed",
			"w:3: the line is 8193 bytes long, at most 8192 are allowed",
			"w:4: the line contains a NUL byte",
		}},
		{"UTF-16", "\xff\xfew\x00", []string{"w:1: the file is UTF-16; save it as UTF-8"}},
		{"empty list", "worker.list=,\n", []string{"w:1: worker.list: names no worker"}},
		{"names", "worker.list=" + strings.Repeat("n", 64) + "\nworker.*.port=1\nworker.a b.port=1\n", []string{
			"w:1: worker." + strings.Repeat("n", 64) + ": the worker's name is longer than 63 bytes",
			"w:2: worker.*: '*' cannot be a worker's name",
			"w:3: worker.a b: a worker's name cannot contain blanks, ',' or ';'",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := ParseConfig(testEnv(), source(tt.text))
			if err == nil || c != nil {
				t.Fatalf("read: %+v", c)
			}
			same(t, "errors", lines(err), tt.want)
		})
	}
}

func TestWarnings(t *testing.T) {
	tests := []struct {
		name, text string
		warnings   []string
		infos      []string
	}{
		{"given again", "worker.list=w\nworker.w.port=1\nworker.w.port=2\nworker.w.secret=a\nworker.w.secret=b\nx=1\nx=2\n", []string{
			"w:3: worker.w.port: Duplicate key: this one counts, not 1 of w:2",
			"w:5: worker.w.secret: Duplicate key: this one counts, not that of w:4",
			"w:7: x: Duplicate key: this one counts, not 1 of w:6",
		}, nil},
		{"old names", "worker.list=w\nworker.w.jvm_route=r\nworker.w.recycle_timeout=1\nworker.w.class_path=x\nworker.w.secretkey=x\n", []string{
			"w:2: worker.w.jvm_route: jvm_route is deprecated, route is the current name",
			"w:3: worker.w.recycle_timeout: has no effect: it is obsolete, use connection_pool_timeout",
			"w:4: worker.w.class_path: has no effect: it belongs to workers of type jni",
			"w:5: worker.w.secretkey: has no effect: it belongs to workers of type ajp14",
		}, nil},
		{"worker without directives", "worker.list=tomact\nworker.tomcat.port=1\n",
			[]string{"w:1: worker.list: worker tomact has no directives: ajp13 at localhost:8009 is used, did you mean tomcat?"},
			[]string{"w:2: worker.tomcat: is neither in worker.list nor a member of a balancer nor a template: not created"}},
		{"no list", "worker.tomcat.port=1\n", []string{"w:1: worker.list: is missing: the only worker is ajp13 at localhost:8009"},
			[]string{"w:1: worker.tomcat: is neither in worker.list nor a member of a balancer nor a template: not created"}},
		{"listed twice", "worker.list=w,w\nworker.w.port=1\n", nil, []string{"w:1: worker.list: worker w is listed twice"}},
		{"wrong type", "worker.list=b\nworker.b.type=lb\nworker.b.balance_workers=m\nworker.b.port=1\nworker.m.sticky_session=1\n", nil, []string{
			"w:4: worker.b.port: has no effect on a worker of type lb",
			"w:5: worker.m.sticky_session: has no effect on a worker of type ajp13",
		}},
		{"letters", "worker.list=b\nworker.b.type=lb\nworker.b.balance_workers=m\nworker.b.method=lb\nworker.b.lock=9\nworker.m.activation=on\nworker.m.ping_mode=CX\nworker.m.redirect=q\n",
			[]string{
				"w:4: worker.b.method: unknown value lb; Request is used (Request, Traffic, Busyness, Session, Next)",
				"w:5: worker.b.lock: unknown value 9; Optimistic is used (Optimistic, Pessimistic)",
				"w:6: worker.m.activation: unknown value on; active is used (active, disabled, stopped)",
				`w:7: worker.m.ping_mode: the letter 'X' means nothing (C, P, I, A)`,
				"w:8: worker.m.redirect: no member has the route q",
			}, nil},
		{"raised", "worker.list=w\nworker.w.lbfactor=0\nworker.w.max_packet_size=100\nworker.w.max_packet_size=9000\nworker.w.recovery_options=64\n", []string{
			"w:2: worker.w.lbfactor: 0 is less than 1; 1 is used",
			"w:4: worker.w.max_packet_size: Duplicate key: this one counts, not 100 of w:3",
			"w:5: worker.w.recovery_options: 64 has bits that mean nothing; 0 is used",
		}, []string{"w:4: worker.w.max_packet_size: 9000 is rounded up to 9216"}},
		{"status", "worker.list=s\nworker.s.type=status\nworker.s.good=a.o,x,a\nworker.s.bad=a.z\n", []string{
			"w:3: worker.s.good: x is no activation, state or activation.state",
			"w:4: worker.s.bad: a.z is no activation, state or activation.state",
		}, nil},
		{"misspelled beginnings", "worker.list=w\nworker.w.port=1\nwroker.w.host=h\nWorker.w.host=h\nworkers.maintain=1\nworks.x=1\nnetwork.w.host=1\n", []string{
			"w:3: wroker.w.host: is a variable without meaning, did you mean worker.w.host?",
			"w:4: Worker.w.host: is a variable without meaning, did you mean worker.w.host?",
			"w:5: workers.maintain: is a variable without meaning, did you mean worker.maintain?",
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, warnings := mustParse(t, testEnv(), source(tt.text))
			same(t, "warnings", said(warnings, conf.Warn), tt.warnings)
			same(t, "infos", said(warnings, conf.Info), tt.infos)
		})
	}
}

func TestF074ReferenceDepth(t *testing.T) {
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("worker.list=w0\n")
		for i := range n {
			fmt.Fprintf(&b, "worker.w%d.reference=worker.w%d\n", i, i+1)
		}
		fmt.Fprintf(&b, "worker.w%d.port=77\n", n)
		return b.String()
	}
	c, _ := mustParse(t, testEnv(), source(chain(20)))
	same(t, "port", c.Workers[0].AJP.Port, 77)
	if _, _, err := ParseConfig(testEnv(), source(chain(21))); err == nil || !strings.Contains(err.Error(), "more than 20 references follow one another: w0 -> w1") {
		t.Errorf("got %v", err)
	}
}

func TestF074MacroLimits(t *testing.T) {
	p, warnings, err := ParseProperties(testEnv("E", "$(x)"), source("x=1\na="+strings.Repeat("$(x)", 21)+"\nb=$(E)\nc=$$(x))\n"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "a", p.Get("a").Value(), strings.Repeat("1", 20)+"$(x)")
	same(t, "b is not looked at again", p.Get("b").Value(), "$(x)")
	same(t, "c", p.Get("c").Value(), "$1)")
	same(t, "warnings", said(warnings, conf.Warn), []string{"w:2: a: has more than 20 $(name): those after them are left as they are"})
}

// Each line twenty times the one before: the values must not outgrow memory.
func TestMacrosDoNotGrowWithoutBound(t *testing.T) {
	text := "v0=" + strings.Repeat("x", 500) + "\n"
	for i := range 20 {
		text += fmt.Sprintf("v%d=%s\n", i+1, strings.Repeat(fmt.Sprintf("$(v%d)", i), 20))
	}
	p, _, err := ParseProperties(testEnv(), source(text))
	if err == nil || !strings.Contains(err.Error(), "w:2: v1: is longer than 8192 bytes once $(name) is replaced") {
		t.Errorf("got %v", err)
	}
	total := 0
	for _, q := range p.All() {
		total += len(q.Value())
	}
	if total > 21*conf.MaxLine {
		t.Errorf("%d bytes of values", total)
	}
}

func TestInheritanceOwnValuesWin(t *testing.T) {
	c, _ := mustParse(t, testEnv(), source(`worker.list=a
worker.a.reference=worker.t
worker.a.port=1
worker.t.port=2
worker.t.host=t.example
worker.t.reference=worker.u
worker.u.host=u.example
worker.u.secret=s
`))
	want := defaults("a")
	want.AJP.Port, want.AJP.Host, want.AJP.Secret = 1, "t.example", "s"
	same(t, "a", c.Workers[0], want)
}

func TestEnumNames(t *testing.T) {
	got := fmt.Sprint(AJP13, LB, Status, WorkerType(9), ModeCache, ModePool, Mode(9), Active, Disabled, Stopped, Activation(9),
		ByRequests, ByNext, Method(9), Optimistic, Pessimistic, FromWorker, FromMount, FromFile, RuleSource(9))
	want := "ajp13 lb status WorkerType(9) cache pool Mode(9) ACT DIS STP Activation(9) Request Next Method(9) Optimistic Pessimistic mount JkMount JkMountFile RuleSource(?)"
	same(t, "names", got, want)
}

func FuzzProperties(f *testing.F) {
	for _, s := range []string{
		"", "worker.list=a\nworker.a.port=1\n", "\xef\xbb\xbfworker.list=a\t\r\n", "a=$(b)$(a\nb=$(a)$(a)", "worker.a.reference=worker.b\nworker.b.reference=worker.a\n",
		"worker.list=b\nworker.b.type=lb\nworker.b.balance_workers=m n\nworker.m.route=x\nworker.n.route=x\n", "worker.list=s\nworker.s.type=status\nworker.s.mount=/a\n",
		"worker.a.cachesize=1\nworker.a.connection_pool_size=$(x)\nworker.list=a", "worker..host=x\nworker.a.b.host=y\nworker.list=,a,,", "=x\nx\nx=\n#\n",
		"worker.list=a\nworker.a.host=[::\nworker.a.max_packet_size=9223372036854775807\n", "worker.list=a\nworker.a.activation=\xff\nworker.a.ping_mode=\xff\n",
		"worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=lb\n", "worker.list=a\nworker.a.reference=worker.a\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		env := testEnv("E", "v")
		c, warnings, err := ParseConfig(env, Source{File: "w", Data: data})
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
		count := strings.Count(string(data), "\n") + 1
		for _, w := range warnings {
			if w.Line < 0 || w.Line > count || strings.Contains(w.String(), "\n") {
				t.Fatalf("bad warning %q", w.String())
			}
		}
		if err != nil {
			for _, e := range err.(conf.Errors) {
				if e.Line < 1 || e.Line > count || strings.Contains(e.Error(), "\n") {
					t.Fatalf("bad error %q", e.Error())
				}
			}
			return
		}
		seen := map[string]bool{}
		for i := range c.Workers {
			w := &c.Workers[i]
			if seen[w.Name] || w.Name == "" {
				t.Fatalf("worker %q twice or nameless", w.Name)
			}
			seen[w.Name] = true
			if (w.LB != nil) != (w.Type == LB) || (w.Status != nil) != (w.Type == Status) {
				t.Fatalf("worker %q of type %v has %v and %v", w.Name, w.Type, w.LB, w.Status)
			}
			checkAJP(t, w)
			if w.LB != nil {
				if len(w.LB.Members) == 0 {
					t.Fatalf("balancer %q without members", w.Name)
				}
				for j := range w.LB.Members {
					checkAJP(t, &w.LB.Members[j])
				}
			}
		}
		// A second reading says the same.
		again, _, err := ParseConfig(env, Source{File: "w", Data: data})
		if err != nil || fmt.Sprintf("%+v", again.Workers) != fmt.Sprintf("%+v", c.Workers) && !strings.Contains(string(data), "type=") {
			t.Fatalf("read again: %v, %+v, %+v", err, again, c)
		}
	})
}

// checkAJP holds a worker to the ranges its fields promise.
func checkAJP(t *testing.T, w *WorkerConfig) {
	if w.Type != AJP13 {
		return
	}
	a := &w.AJP
	if a.Port < 0 || a.Port > 65535 || a.Retries < 1 || a.RetryInterval < 0 || a.ReplyTimeout < 0 || a.SocketTimeout < 0 || a.Host == "" ||
		a.MaxPacketSize < 8192 || a.MaxPacketSize > 65536 || a.MaxPacketSize%1024 != 0 || a.BusyLimit < 0 || w.Member.LBFactor < 1 ||
		(a.ConnectTimeout > 0) != (a.PingMode&PingConnect != 0) || (a.PrepostTimeout > 0) != (a.PingMode&PingPrepost != 0) ||
		(a.ConnectionPingInterval > 0) != (a.PingMode&PingInterval != 0) || a.SocketBuffer != 0 && a.SocketBuffer < a.MaxPacketSize {
		t.Fatalf("out of range: %+v", w)
	}
	c := a.Cache.Resolve(25)
	if c.Size < 0 || c.Mode == ModePool && c.Size < 1 || c.MinSize < 0 || c.Timeout < 0 || c.AcquireTimeout < 0 || c.MaxIdle < 0 {
		t.Fatalf("cache out of range: %+v", c)
	}
}
