package jk

import (
	"strings"
	"testing"

	"jkd/conf"
)

// lint is what Load says of one worker w and more lines, besides the remark
// that nothing is mounted.
func lint(t *testing.T, c *conf.Config, workers string) (warnings, infos []string) {
	t.Helper()
	c.Jk.WorkersFile = &conf.File{Path: "w", Data: []byte(workers)}
	_, all, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return said(all, conf.Warn), said(all, conf.Info)
}

// What workers.properties may say and surely doesn't mean.
func TestLintWorkers(t *testing.T) {
	const two = "worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=a,b\nworker.a.port=1\nworker.b.port=2\n" // 5 lines
	const one = "worker.list=w\nworker.w.host=localhost\n"                                                             // 2 lines
	tests := []struct {
		name, text      string
		warnings, infos []string
	}{
		{"nothing to say", one, nil, nil},
		{"nor of a balancer", two, nil, nil},

		{"members that are not there", "worker.list=lb\nworker.lb.type=lb\nworker.lb.balance_workers=nod1,other\nworker.node1.port=1\n",
			[]string{
				"w:3: worker.lb.balance_workers: member nod1 is not defined: ajp13 at localhost:8009 is used, did you mean node1?",
				"w:3: worker.lb.balance_workers: member other is not defined: ajp13 at localhost:8009 is used",
				"w:3: worker.other: is at localhost:8009 like member nod1: a balancer of one container twice",
			}, []string{"w:4: worker.node1: is neither in worker.list nor a member of a balancer nor a template: not created"}},
		{"mount of nobody", two + "worker.a.mount=/a/*\n", []string{"w:6: worker.a.mount: has no effect: a is not in worker.list"}, nil},

		{"ms taken for s", one + "worker.w.socket_timeout=30000\nworker.w.connection_pool_timeout=600000\nworker.w.connection_ping_interval=2500\nworker.maintain=60000\n",
			[]string{
				"w:3: worker.w.socket_timeout: is in seconds, and 30000 are 8h20m0s: for 30000 milliseconds write 30",
				"w:4: worker.w.connection_pool_timeout: is in seconds, and 600000 are 166h40m0s: for 600000 milliseconds write 600",
				"w:5: worker.w.connection_ping_interval: is in seconds, and 2500 are 41m40s: for 2500 milliseconds write 2",
				"w:6: worker.maintain: is in seconds, and 60000 are 16h40m0s: for 60000 milliseconds write 60",
			}, nil},
		{"and of balancers", two + "worker.lb.recover_time=60000\nworker.lb.error_escalation_time=30000\n", []string{
			"w:6: worker.lb.recover_time: is in seconds, and 60000 are 16h40m0s: for 60000 milliseconds write 60",
			"w:7: worker.lb.error_escalation_time: is in seconds, and 30000 are 8h20m0s: for 30000 milliseconds write 30",
		}, nil},
		{"long times that are meant", one + "worker.w.socket_timeout=900\nworker.w.connection_pool_timeout=1800\nworker.w.connection_ping_interval=36000\nworker.maintain=86400\n", nil, nil},
		{"s taken for ms", one + "worker.w.socket_connect_timeout=5\nworker.w.connect_timeout=10\nworker.w.prepost_timeout=10\nworker.w.ping_timeout=10\nworker.w.reply_timeout=60\nworker.w.connection_acquire_timeout=1\nworker.w.retry_interval=1\n",
			[]string{
				"w:3: worker.w.socket_connect_timeout: is in milliseconds, and 5 are hardly any time: for 5 seconds write 5000",
				"w:4: worker.w.connect_timeout: is in milliseconds, and 10 are hardly any time: for 10 seconds write 10000",
				"w:5: worker.w.prepost_timeout: is in milliseconds, and 10 are hardly any time: for 10 seconds write 10000",
				"w:6: worker.w.ping_timeout: is in milliseconds, and 10 are hardly any time: for 10 seconds write 10000",
				"w:7: worker.w.reply_timeout: is in milliseconds, and 60 are hardly any time: for 60 seconds write 60000",
				"w:8: worker.w.connection_acquire_timeout: is in milliseconds, and 1 are hardly any time: for 1 seconds write 1000",
				"w:9: worker.w.retry_interval: is in milliseconds, and 1 are hardly any time: for 1 seconds write 1000",
			}, nil},
		{"short times that are meant", one + "worker.w.socket_connect_timeout=100\nworker.w.reply_timeout=0\nworker.w.retry_interval=50\n", nil, nil},
		{"numbers with units", one + "worker.w.socket_timeout=30s\nworker.w.reply_timeout=60000 # ms\nworker.w.lbfactor=1.5\nworker.w.max_packet_size=16kb\n",
			[]string{
				`w:3: worker.w.socket_timeout: of "30s" only 30 is read`,
				`w:5: worker.w.lbfactor: of "1.5" only 1 is read`,
				`w:6: worker.w.max_packet_size: of "16kb" only 16 is read`,
				"w:6: worker.w.max_packet_size: 16 is not within 8192 and 65536; 8192 is used",
			}, nil},

		{"no secret", "worker.list=a,b,c,d,e,f\nworker.a.host=127.0.0.2\nworker.b.host=::1\nworker.c.host=LocalHost\nworker.d.host=192.0.2.1\nworker.e.host=192.0.2.2\nworker.e.secret=x\nworker.f.host=192.0.2.3\nworker.f.port=0\n",
			[]string{"w:5: worker.d.host: has no secret, and 192.0.2.1 is not this machine: whoever reaches the port can be any user to the container (secret here and there, or secretRequired=false there)"}, nil},
		{"secret of the balancer", "worker.list=lb\nworker.lb.type=lb\nworker.lb.secret=s\nworker.lb.balance_workers=a\nworker.a.host=app.test\n", nil, nil},

		{"pool", one + "worker.w.connection_pool_size=20\n", nil, []string{"w:2: worker.w: 16 processes with up to 20 connections each: the back end must take up to 320; Tomcat has 200 threads (maxThreads) if nothing else is set there, max_connections is a bound here"}},
		{"small pool", one + "worker.w.connection_pool_size=2\n", nil, []string{"w:2: worker.w: 16 processes with up to 2 connections each: the back end must take up to 32"}},
		{"bounded pool", one + "worker.w.connection_pool_size=20\nworker.w.max_connections=100\n", nil, nil},
		{"bounded pool that keeps more", one + "worker.w.connection_pool_size=20\nworker.w.connection_pool_minsize=10\nworker.w.max_connections=100\n",
			[]string{"w:5: worker.w.max_connections: 16 processes that keep 10 connections each (connection_pool_minsize) are more than 100"}, nil},
		{"minsize", one + "worker.w.connection_pool_size=2\nworker.w.connection_pool_minsize=3\nworker.w.max_connections=50\n",
			[]string{"w:4: worker.w.connection_pool_minsize: 3 is more than the pool's size 2; 2 is used"}, nil},

		{"packet sizes", two + "worker.a.max_packet_size=16384\n", nil, []string{
			"w:3: worker.lb.balance_workers: max_packet_size differs among the members (a 16384, b 8192): a request must fit into the smallest",
			`w:6: worker.a.max_packet_size: the container's connector needs packetSize="16384" too`,
		}},
		{"a packet size for all members", two + "worker.lb.max_packet_size=16384\n", nil, []string{
			`w:4: worker.a: the container's connector needs packetSize="16384" too`,
			`w:5: worker.b: the container's connector needs packetSize="16384" too`,
		}},
		{"ports", "worker.list=a,b,c\nworker.a.port=8080\nworker.b.port=8005\nworker.c.port=80\n", []string{
			"w:2: worker.a.port: 8080 is usually a port for HTTP: the container needs a connector with protocol AJP/1.3, mostly at 8009",
			"w:3: worker.b.port: 8005 is usually Tomcat's port for shutdown, that for AJP is mostly 8009",
			"w:4: worker.c.port: 80 is usually a port for HTTP: the container needs a connector with protocol AJP/1.3, mostly at 8009",
		}, nil},
		{"one container twice", two + "worker.b.port=1\n", []string{
			"w:6: worker.b.port: Duplicate key: this one counts, not 2 of w:5",
			"w:6: worker.b.port: is at localhost:1 like member a: a balancer of one container twice",
		}, nil},
		{"host of several", "worker.list=a,b,c\nworker.a.host=app.test\nworker.b.host=APP.test\nworker.b.port=8010\nworker.c.host=localhost\nworker.a.secret=s\nworker.b.secret=s\n", nil,
			[]string{"w:3: worker.b.host: a and b share a host"}},

		{"redirects", two + "worker.a.redirect=c\nworker.b.redirect=b\n", []string{
			"w:6: worker.a.redirect: no member has the route c",
			"w:7: worker.b.redirect: leads to the member itself",
		}, nil},
		{"not sticky", two + "worker.lb.sticky_session=0\nworker.lb.sticky_session_force=1\nworker.a.redirect=b\nworker.b.domain=d\n", []string{
			"w:6: worker.lb.sticky_session: is off, so sticky_session_force has no effect",
			"w:6: worker.lb.sticky_session: is off, so no session leads to the redirect of member a",
		}, []string{
			"w:6: worker.lb.sticky_session: is off, so the domain of member b has no effect",
			"w:9: worker.b.domain: no other member of lb is in domain d: its sessions have no member to move to there",
		}},
		{"not sticky with routes", two + "worker.lb.sticky_session=0\nworker.a.route=a\nworker.b.route=other\n", nil,
			[]string{"w:6: worker.lb.sticky_session: is off, so the route of member b has no effect here"}},
		{"domains", two + "worker.a.domain=d\nworker.b.domain=d\n", nil, nil},
		{"nobody active", two + "worker.a.activation=d\nworker.b.port=0\n", []string{
			"w:3: worker.lb.balance_workers: no member is active: requests without a session get 503",
			"w:7: worker.b.port: Duplicate key: this one counts, not 2 of w:5",
		}, nil},

		{"recovery_options 0", one + "worker.w.recovery_options=0\n", nil, []string{
			"w:3: worker.w.recovery_options: without bit 1 every request is sent again after a failure, also a POST that was carried out; 27 sends only HEAD and GET again"}},
		{"recovery_options 24", one + "worker.w.recovery_options=24\n", nil, []string{
			"w:3: worker.w.recovery_options: bits 8 and 16 are exceptions to bit 1, which is not set: POST requests are sent again too"}},
		{"recovery_options 3", one + "worker.w.recovery_options=3\n", nil, nil},
		{"fail_on_status", one + "worker.w.fail_on_status=99 -1000,500\nworker.w.fail_on_status=200\n", []string{
			"w:3: worker.w.fail_on_status: no answer has the status 99",
			"w:3: worker.w.fail_on_status: no answer has the status 1000",
			"w:4: worker.w.fail_on_status: with 200 among the codes every good answer is a failure",
		}, nil},
		{"pings", one + "worker.w.ping_mode=CP\nworker.w.connection_ping_interval=60\nworker.w.prepost_timeout=500\n", nil,
			[]string{"w:3: worker.w.ping_mode: does not have I, which a time of its own switches on all the same"}},
		{"pings that are none", one + "worker.w.ping_mode=A\nworker.w.ping_timeout=0\nworker.w.connect_timeout=500\n",
			[]string{"w:3: worker.w.ping_mode: asks for PI, but a ping_timeout of 0 ms switches that off"}, nil},
		{"status pages", "worker.list=s\nworker.s.type=status\nworker.s.allow_get_update=true\n",
			[]string{"w:3: worker.s.allow_get_update: any link or image on a page that an administrator looks at can change things; POST needs no such leave"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := servers(jkServer(conf.CopyOff, ""))
			c.Server.MPM = conf.Worker
			for l := range strings.SplitSeq(tt.text, "\n") {
				if list, ok := strings.CutPrefix(l, "worker.list="); ok {
					first, _, _ := strings.Cut(list, ",")
					if strings.Contains(tt.text, ".type=status") {
						c.Jk.Main().UnMounts = []conf.Mount{{Pattern: "/never", Worker: "*"}}
					} else {
						c.Jk.Main().Mounts = []conf.Mount{{Pattern: "/*", Worker: first}}
					}
				}
			}
			warnings, infos := lint(t, c, tt.text)
			same(t, "warnings", warnings, tt.warnings)
			same(t, "infos", infos, tt.infos)
		})
	}
}

// What maps may say and surely don't mean.
func TestLintMaps(t *testing.T) {
	const workers = "worker.list=a,b,c\nworker.a.host=localhost\nworker.b.host=localhost\nworker.c.mount=/worker/*\n"
	tests := []struct {
		name            string
		mounts          []string
		file            string
		warnings, infos []string
	}{
		{"nothing to say", []string{"/a/* a", "!/a/no/* a"}, "/b/*=b\n!/b/no=b\n!/no/*=*\n", nil, nil},
		{"hidden by a stronger source", []string{"/a/* a", "/worker/* a"}, "/a/*=b\n", []string{
			"w:4: /worker/*: never used: jkd.conf:2 (JkMount) has the same pattern for a, and JkMount counts more than mount",
			"jkd.conf:1: /a/*: never used: m:1 (JkMountFile) has the same pattern for b, and JkMountFile counts more than JkMount",
		}, nil},
		{"the same twice", []string{"/a/* a"}, "/a/*=a\n", nil,
			[]string{"jkd.conf:1: /a/*: never used: m:1 (JkMountFile) has the same pattern for a, and JkMountFile counts more than JkMount"}},
		{"excluded", []string{"!/a/* a"}, "/a/b/*.jsp=a\n/a/c=b\n/a*=a\n-/a/d=a\n", []string{"m:1: /a/b/*.jsp: never used: !/a/* (jkd.conf:1) excludes all of it"}, nil},
		{"everything excluded", nil, "/a/?=a\n!/*=*\n", []string{
			"w:4: /worker/*: never used: !/* (m:2) excludes all of it",
			"m:1: /a/?: never used: !/* (m:2) excludes all of it",
		}, nil},
		{"a '?' covers less than a '*'", nil, "/a/*=a\n!/a/?=a\n", nil, nil},
		{"exclusion of nothing", nil, "/a/*=a\n!/a/x=b\n", nil, []string{"m:2: !/a/x: excludes nothing: no path is mounted to worker b"}},
		{"no path has it", nil, "/a/..=a\n/b/.=a\n/c/../d=a\n/e/./f=a\n", []string{
			"m:1: /a/..: matches no path: the dots at its end are resolved before",
			"m:2: /b/.: matches no path: the dots at its end are resolved before",
			`m:3: /c/../d: matches no path: they are compared without "/../" in them`,
			`m:4: /e/./f: matches no path: they are compared without "/./" in them`,
		}, nil},
		{"extensions", nil, "/a=a;sticky_ignore=true\n/b=a;reply_timeout=30\n/c=a;reply_timeout=30s\n/d=a;use_server_errors=200\n/e=a;fail_on_status=1000,404\n/f=a;stateless=1x\n", []string{
			`m:1: /a: extension sticky_ignore: "true" is not a number and counts as 0, which is off; 1 is on`,
			`m:3: /c: extension reply_timeout: of "30s" only 30 is read`,
			"m:4: /d: extension use_server_errors: with 200 answers that are no errors lose their content",
			"m:5: /e: extension fail_on_status: no answer has the status 1000",
			`m:6: /f: extension stateless: of "1x" only 1 is read`,
		}, []string{
			"m:2: /b: extension reply_timeout: is in milliseconds, and 30 are hardly any time: for 30 seconds write 30000",
			"m:3: /c: extension reply_timeout: is in milliseconds, and 30 are hardly any time: for 30 seconds write 30000",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			warnings, infos := lint(t, servers(jkServer(conf.CopyOff, tt.file, tt.mounts...)), workers)
			same(t, "warnings", warnings, tt.warnings)
			same(t, "infos", infos, tt.infos)
		})
	}
}

func TestLintVHosts(t *testing.T) {
	files := map[string]string{"w": "worker.list=a\nworker.a.host=localhost\n", "jkd.conf": `[server]
Listen = 8080
[connector.jk]
JkWorkersFile = w
JkMount = /* a
[vhost one.test]
ServerAlias = www.one.test
[vhost two.test]
JkMountCopy = On
[vhost three.test]
JkMount = /x a
[vhost four.test]
[location four.test /]
SetHandler = jakarta-servlet
`}
	c, dir := load(t, files)
	_, warnings, err := Load(c)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "warnings", said(warnings, conf.Warn), []string{
		dir + "/jkd.conf:6: vhost one.test: maps nothing: the main server's mounts are not its own without JkMountCopy = On"})
}

// The hosts that back ends of a real deployment share.
func TestConfig07HotStandbyHosts(t *testing.T) {
	c := servers(jkServer(conf.CopyOff, "/*=lb-main\n"))
	_, infos := lint(t, c, string(file(t, "field/07-hot-standby-workers.properties").Data))
	var got []string
	for _, l := range infos {
		if _, hosts, ok := strings.Cut(l, ".host: "); ok && strings.HasSuffix(hosts, "share a host") {
			got = append(got, hosts)
		}
	}
	same(t, "hosts", got, []string{"main-master and history-master share a host", "main-spare and history-spare share a host", "single-node and node_msg share a host"})
}

// What has no value is left out, wherever it comes from.
func TestEmptyValues(t *testing.T) {
	c, warnings, err := ParseConfig(testEnv("EMPTY", "", "BLANK", " "),
		Source{File: "c", Pairs: []conf.Pair{{Key: "worker.list", Value: "lb", Line: 1}, {Key: "worker.lb.secret", Line: 2}}},
		source("worker.lb.type=lb\nworker.lb.balance_workers=a\nworker.lb.method=$(EMPTY)\nworker.a.activation=$(BLANK)\n"))
	if err != nil {
		t.Fatal(err)
	}
	lb := c.Workers[0].LB
	same(t, "method", lb.Method, ByRequests)
	same(t, "secret", lb.Secret, "")
	same(t, "activation", lb.Members[0].Member.Activation, Active)
	same(t, "warnings", said(warnings, conf.Warn), []string{
		"w:2: worker.lb.balance_workers: member a is not defined: ajp13 at localhost:8009 is used",
		"w:3: worker.lb.method: is empty once $(...) is replaced: ignored",
		"w:4: worker.a.activation: is empty once $(...) is replaced: ignored",
	})
}
