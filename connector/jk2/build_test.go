package jk2

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jkd/conf"
)

// Every property of section 2's components means something.
func TestProperties(t *testing.T) {
	c := parse(t, `
[logger.file:f]
level=debug
file=logs/x.log
[logger]
level=emerg
[workerEnv:]
logger=logger.file:f
timing=1
sslEnable=1
httpsIndicator=A
certsIndicator=B
cipherIndicator=C
sessionIndicator=D
keySizeIndicator=E
forwardKeySize=1
forwardURIEscaped=1
noRecoveryIfHeaderSent=1
debug=5
[shm:]
file=jk2.shm
slots=17
ver=3
[channel.socket:localhost:8009]
info=the first
host=10.0.0.1
port=8010
timeout=20
keepalive=1
nodelay=1
tomcatId=tc1
routeRedirect=tc2
group=x
group=lb:y
lb_factor=2
level=1
graceful=1
max_connections=30
secretkey=abc
connectTimeout=1000
prepostTimeout=2000
replyTimeout=3000
[channel.un:/run/tc2.sock]
debug=3
[channel.un:other]
file=/run/tc3.sock
[lb:x]
worker=ajp13:other
stickySession=0
recovery=30
noWorkerCode=302
noWorkerMsg=http://other/
noErrorHeader=0
hwBalanceErr=509
disabled=1
[status:s]
styleMode=2
stylePath=/style.css
[uri:www.example.com]
alias=example.com:8080
alias=example.org
inheritGlobals=0
[uri:www.example.com/a/*]
group=x
context=/a
servlet=S
timing=0
info=rule
`)
	same(t, "logger", []any{c.Logger.Name, c.Logger.Level, c.Logger.File}, []any{"logger.file:f", LevelDebug, "/srv/logs/x.log"})
	c.WorkerEnv.Component = Component{Debug: c.WorkerEnv.Debug}
	same(t, "workerEnv", c.WorkerEnv, WorkerEnv{Component: Component{Debug: 5}, Timing: true, HTTPSIndicator: "A", CertsIndicator: "B",
		CipherIndicator: "C", SessionIndicator: "D", KeySizeIndicator: "E", ForwardKeySize: true, ForwardURI: ForwardURIEscaped, NoRecoveryIfHeaderSent: true})
	same(t, "shm", []any{c.Shm.File, c.Shm.Slots, c.Shm.On, c.Shm.Ver}, []any{"/srv/jk2.shm", 17, true, 3})
	same(t, "channel", c.Channels[0], Channel{Component: Component{Name: "channel.socket:localhost:8009", Info: "the first", File: "w", Line: 24},
		Host: "10.0.0.1", Port: 8010, Timeout: 20 * time.Second, KeepAlive: true, NoDelay: true})
	same(t, "unix", []any{c.Channels[1].Kind, c.Channels[1].Path, c.Channels[2].Path}, []any{Unix, "/run/tc2.sock", "/run/tc3.sock"})
	w := c.Workers[0]
	w.Component = Component{Name: w.Name}
	same(t, "worker", w, Worker{Component: Component{Name: "ajp13:localhost:8009"}, Route: "tc1", RouteRedirect: "tc2", LBFactor: 2, Level: 1, Graceful: true,
		MaxConnections: 30, Secret: "abc", ConnectTimeout: time.Second, PrepostTimeout: 2 * time.Second, ReplyTimeout: 3 * time.Second})
	same(t, "unix worker", []any{c.Workers[1].Name, c.Workers[1].Route, c.Workers[1].Channel, c.Workers[1].Debug}, []any{"ajp13:/run/tc2.sock", "/run/tc2.sock", 1, 3})
	var lbs []string
	for _, b := range c.Balancers {
		lbs = append(lbs, fmt.Sprint(b.Name, b.Members))
	}
	same(t, "balancers", lbs, []string{"lb:lb[1 2]", "lb:x[2 0]", "lb:y[0]"})
	x := c.Balancers[1]
	x.Component, x.Members = Component{Disabled: x.Disabled}, nil
	same(t, "lb:x", x, Balancer{Component: Component{Disabled: true}, Recovery: 30 * time.Second, NoWorkerCode: 302, NoWorkerMsg: "http://other/", HWBalanceErr: 509})
	same(t, "status", []any{c.Statuses[0].Name, c.Statuses[0].StyleMode, c.Statuses[0].StylePath}, []any{"status:s", 2, "/style.css"})
	u := c.Uris[0]
	same(t, "host", []any{u.Kind, u.Host, u.Aliases, u.InheritGlobals, u.Target}, []any{Host, "www.example.com", []string{"example.com:8080", "example.org"}, false, Target{}})
	u = c.Uris[1]
	same(t, "rule", []any{u.Kind, u.Host, u.Path, c.TargetName(u.Target), u.Context, u.Servlet, u.Timing, u.Info},
		[]any{Prefix, "www.example.com", "/a/*", "lb:x", "/a", "S", true, "rule"})
}

func TestDefaults(t *testing.T) {
	c := parse(t, "")
	same(t, "logger", c.Logger, Logger{Component: Component{Name: "logger.apache2:"}, Level: LevelError})
	same(t, "workerEnv", c.WorkerEnv, WorkerEnv{Component: Component{Name: "workerEnv:"}, HTTPSIndicator: "HTTPS", CertsIndicator: "SSL_CLIENT_CERT",
		CipherIndicator: "SSL_CIPHER", SessionIndicator: "SSL_SESSION_ID", KeySizeIndicator: "SSL_CIPHER_USEKEYSIZE"})
	same(t, "shm", c.Shm, Shm{Component: Component{Name: "shm:"}, Slots: 256})
	same(t, "others", []int{len(c.Channels), len(c.Workers), len(c.Statuses), len(c.Uris)}, []int{0, 0, 0, 0})
	same(t, "balancers", c.Balancers, []Balancer{{Component: Component{Name: "lb:lb"}, StickySession: true, Recovery: time.Minute, NoWorkerCode: 503, NoErrorHeader: true}})
}

func TestShm(t *testing.T) {
	for text, want := range map[string]Shm{
		"file=/a":               {File: "/a", On: true, Slots: 256},
		"file=/a\ndisabled=1":   {Component: Component{Disabled: true}, File: "/a", Slots: 256},
		"file=a/b":              {File: "/srv/a/b", On: true, Slots: 256},
		"file=anonymous":        {On: true, Slots: 256},
		"file=/a\nuseMemory=1":  {On: true, Slots: 256},
		"useMemory=1":           {Slots: 256},
		"slots=0\nfile=/a":      {File: "/a", On: true, Slots: 1},
		"size=1000000\nslots=2": {Slots: 2},
	} {
		got := parse(t, "[shm:]\n"+text).Shm
		got.Component = Component{Disabled: got.Disabled}
		same(t, text, got, want)
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"[channel.socket:tc1:8010]":                         "tc1 8010",
		"[channel.socket:tc1]":                              "tc1 8009",
		"[channel.socket:]":                                 "127.0.0.1 8009",
		"[channel.socket::8010]":                            "127.0.0.1 8010",
		"[channel.apr:tc1:8010]":                            "tc1 8010",
		"[channel.socket:tc1]\nport=8010":                   "tc1 8010",
		"[channel.socket:tc1:8010]\nport=8011":              "tc1 8010",
		"[channel.socket:tc1:8010]\nhost=h":                 "h 8010",
		"[channel.socket:tc1:8010]\nhost=h\nport=8011":      "h 8011",
		"[channel.socket:one]\nhost=::1\nport=8011":         "::1 8011",
		"[channel.socket:one]\nhost=[::1]\nport=8011":       "::1 8011",
		"[channel.socket:x:not-a-port]\nhost=h\nport=8011":  "h 8011",
		"[channel.socket:one]\nhost=fe80::1%lo0\nport=8011": "fe80::1%lo0 8011",
	} {
		c := parse(t, text).Channels[0]
		same(t, text, fmt.Sprint(c.Host, " ", c.Port), want)
	}
}

func TestForward(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "forwardURICompatUnparsed false false",
		"forwardURICompat=1":        "forwardURICompat false false",
		"forwardURICompatUnparsed=": "forwardURICompatUnparsed false false",
		"forwardURICompatUnparsed=1\nforwardURIEscaped=1":     "forwardURIEscaped false false",
		"forwardURIEscaped=1\nforwardURICompatUnparsed=1":     "forwardURICompatUnparsed false false",
		"noRecoveryIfRequestSent=1":                           "forwardURICompatUnparsed true false",
		"noRecoveryIfRequestSent=1\nnoRecoveryIfHeaderSent=1": "forwardURICompatUnparsed false true",
		"noRecoveryIfHeaderSent=1\nnoRecoveryIfRequestSent=1": "forwardURICompatUnparsed true false",
	} {
		e := parse(t, "[workerEnv:]\n"+text).WorkerEnv
		same(t, text, fmt.Sprint(e.ForwardURI, e.NoRecoveryIfRequestSent, e.NoRecoveryIfHeaderSent), want)
	}
}

// Which workers there are, and in which balancers.
func TestComponents(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a channel alone", "[channel.socket:a:1]\n", "ajp13:a:1 lb:lb[0]"},
		{"with its worker", "[ajp13:a:1]\n[channel.socket:a:1]\n", "ajp13:a:1 lb:lb[0]"},
		{"group", "[channel.socket:a:1]\ngroup=x\n", "ajp13:a:1 lb:lb[] lb:x[0]"},
		{"default group", "[channel.socket:a:1]\ngroup=lb\n[channel.socket:b:1]\ngroup=lb:lb\n", "ajp13:a:1 ajp13:b:1 lb:lb[0 1]"},
		{"group of the worker", "[channel.socket:a:1]\ngroup=x\n[ajp13:a:1]\ngroup=y\n", "ajp13:a:1 lb:lb[] lb:x[0] lb:y[0]"},
		{"named by the balancer", "[channel.socket:a:1]\n[channel.socket:b:1]\n[lb:lb]\nworker=ajp13:b:1\nworker=ajp13:b:1\n", "ajp13:a:1 ajp13:b:1 lb:lb[1 0]"},
		{"named by another balancer", "[channel.socket:a:1]\n[lb:x]\nworker=ajp13:a:1\n", "ajp13:a:1 lb:lb[0] lb:x[0]"},
		{"short name", "[channel.socket:a:1]\n[lb:x]\nworker=a:1\n", "ajp13:a:1 lb:lb[0] lb:x[0]"},
		{"channel=", "[channel.socket:a:1]\n[ajp13:tc1]\nchannel=channel.socket:a:1\n", "ajp13:tc1 lb:lb[0]"},
		{"disabled channel", "[channel.socket:a:1]\ndisabled=1\n", "-ajp13:a:1 lb:lb[0]"},
		{"disabled worker", "[channel.socket:a:1]\n[ajp13:a:1]\ndisabled=1\n", "-ajp13:a:1 lb:lb[0]"},
		{"disabled without channel", "[ajp13:a:1]\ndisabled=1\n", "lb:lb[]"},
	} {
		c := parse(t, tt.text)
		got := ""
		for _, w := range c.Workers {
			if w.Disabled {
				got += "-"
			}
			got += w.Name + " "
		}
		for i, b := range c.Balancers {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprint(b.Name, b.Members)
		}
		same(t, tt.name, got, tt.want)
	}
}

func TestFaults(t *testing.T) {
	rows{
		{"worker without channel", "[ajp13:localhost:8009]\n[channel.socket:localhost:8010]\n", []string{
			"error w:1: [ajp13:localhost:8009]: has no channel: there is no [channel.socket:localhost:8009], did you mean localhost:8010?"}},
		{"two channels", "[channel.socket:x]\nhost=h\n[channel.un:x]\nfile=/x\n", []string{
			"error w:3: [channel.un:x]: makes worker ajp13:x, which has a channel already: [channel.socket:x] (w:1)"}},
		{"channel= of another", "[channel.socket:a:1]\n[channel.socket:b:1]\n[ajp13:a:1]\nchannel=channel.socket:b:1\n", []string{
			"warning w:4: channel: has no effect: the worker's channel is the one of its own name, [channel.socket:a:1]"}},
		{"channel= that is taken over", "[channel.socket:a:1]\n[ajp13:tc1]\nchannel=channel.socket:a:1\n", []string{
			"warning w:3: channel: makes [channel.socket:a:1] the channel of this worker; mod_jk2 would have given the channel a worker of its own name and this one none"}},
		{"channel= that is unknown", "[channel.socket:a:1]\n[ajp13:a:1]\nchannel=channel.socket:a:2\n", []string{
			"warning w:3: channel: there is no channel channel.socket:a:2, did you mean channel.socket:a:1?"}},
		{"port", "[channel.socket:h:x]\n[channel.socket:h]\nport=70000\n", []string{
			"error w:1: [channel.socket:h:x]: x is no port", "error w:3: port: 70000 is too large, at most 65535 is allowed"}},
		{"port twice", "[channel.socket:h:2]\nport=3\n", []string{
			"warning w:2: port: has no effect: the name of the channel says 2, and only host and port together count more"}},
		{"host", "[channel.socket:h:2]\nhost=a b\n", []string{"error w:2: host: a b is neither a host name nor an address"}},
		{"unix", "[channel.un:x]\n[channel.un:/y]\nlisten=5\n", []string{
			"error w:1: [channel.un:x]: needs the socket's path, as its name or as file=, and it begins with '/'",
			"error w:3: listen: jkd connects to the container and does not wait for it; leave the line out"}},
		{"group", "[channel.socket:a:1]\ngroup=ajp13:b\n", []string{"error w:2: group: ajp13:b is no balancer"}},
		{"new group", "[lb:accounts]\n[channel.socket:a:1]\ngroup=acounts\n", []string{"info w:3: group: makes balancer lb:acounts, did you mean lb:accounts?"}},
		{"member", "[lb:x]\nworker=ajp13:h:2\nworker=h:1\n", []string{
			"error w:2: worker: there is no worker ajp13:h:2, did you mean ajp13:h:1?",
			"warning w:3: worker: is read as ajp13:h:1: names of workers are whole names"}},
		{"route", "[channel.socket:a:1]\ntomcatId=x\nroute=y\n[channel.socket:b:1]\nroute=y\n", []string{
			"warning w:3: route: and tomcatId are the same property, and the last of them counts",
			"warning w:4: ajp13:b:1: has the route y like ajp13:a:1: sessions of either go to one of them"}},
		{"level", "[channel.socket:a:1]\nlevel=4\nlb_factor=0\n", []string{
			"warning w:2: level: 4 is beyond the last level, 3: no balancer uses the worker"}},
		{"factor", "[channel.socket:a:1]\nlb_factor=0\n", []string{
			"warning w:2: lb_factor: 0 is no cost at all: the worker gets every request of its level"}},
		{"times", "[channel.socket:a:1]\nconnectTimeout=5\n", []string{
			"warning w:2: connectTimeout: is in milliseconds, and 5 are hardly any time: for 5 seconds write 5000"}},
		{"codes", "[lb:lb]\nnoWorkerCode=0\nhwBalanceErr=99\n", []string{
			"error w:2: noWorkerCode: 0 is not an HTTP status", "error w:3: hwBalanceErr: 99 is not an HTTP status"}},
		{"message", "[lb:lb]\nnoWorkerMsg=x\n", []string{
			"info w:2: noWorkerMsg: is not shown: with noErrorHeader=1, the default, the server makes the error page"}},
		{"no level 0", "[lb:x]\nhwBalanceErr=503\n", []string{"warning w:1: hwBalanceErr: only level 0 gets new sessions, and there is no worker on it"}},
		{"logger", "[workerEnv:]\nlogger=logger.file:1\n[logger.file:0]\nlevel=loud\n", []string{
			"error w:2: logger: there is no logger logger.file:1, did you mean logger.file:0?",
			"warning w:4: level: unknown level loud counts as DEBUG (DEBUG, INFO, ERROR, EMERG)"}},
		{"logger without use", "[logger.file:0]\n", []string{"info w:1: [logger.file:0]: is not used: [workerEnv:] logger=logger.file:0 would select it"}},
		{"style", "[status:]\nstyleMode=2\n", []string{"warning w:2: styleMode: 2 needs stylePath beside it"}},

		{"target", "[uri:/a]\ngroup=lb:x\n[uri:/b]\ngroup=ajp13:h:2\n", []string{
			"error w:2: group: there is no worker lb:x, did you mean lb:lb?", "error w:4: group: there is no worker ajp13:h:2, did you mean ajp13:h:1?"}},
		{"target that jkd does not have", "[run:]\n[uri:/a]\ngroup=run:\n", []string{
			"error w:3: group: [run:] is nothing jkd has: it only ever answered 500", "info w:1: [run:]: has no effect: it only ever answered 500"}},
		{"context alone", "[uri:/a]\ncontext=/a\ngroup=lb\n", []string{
			"warning w:3: group: has no effect: with a context that is its own path the section names a context and maps nothing; write [uri:/a/*]"}},
		{"rule outside of its context", "[uri:/a/*]\ncontext=/b\n", []string{
			"warning w:2: context: the rule matches nothing: only paths that begin with /b are compared with it"}},
		{"context", "[uri:/a/*]\ncontext=b\n", []string{"error w:2: context: b does not begin with '/'"}},
		{"host", "[uri:h.example]\ngroup=lb\n[uri:/x]\nalias=y\ninheritGlobals=0\n", []string{
			"warning w:2: group: has no effect: the rules of a host do not inherit it",
			"warning w:4: alias: has no effect: it is for hosts, and [uri:/x] is none",
			"warning w:5: inheritGlobals: has no effect: it is for hosts, and [uri:/x] is none"}},
		{"declared host", "[uri:intranet]\n[uri:intranet/x]\n", nil},
		{"port of a host", "[uri:h:x/y]\n", []string{"error w:1: [uri:h:x/y]: x is no port"}},
		{"alias", "[uri:h.example]\nalias=x:99999\n", []string{"error w:2: alias: 99999 is no port"}},
		{"disabled rule", "[uri:/x]\ndisabled=1\n", []string{"warning w:2: disabled: the rule maps nothing; mod_jk2 would map it all the same"}},
		{"prefixes", "[uri:/a*]\n[uri:/a?/*]\n", []string{
			"warning w:1: [uri:/a*]: is the path /a alone: '*' stands for more only behind a '/'",
			"warning w:2: [uri:/a?/*]: the '*' at the end makes it a prefix, in which other '*' and '?' stand for themselves"}},
		{"unmatchable", "[uri://a]\n[uri:/a%20b]\n[uri:/a/../b]\n", []string{
			`warning w:1: [uri://a]: matches no path: they are compared without "//" in them`,
			"warning w:2: [uri:/a%20b]: is compared with the decoded path, where '%' stands for itself",
			`warning w:3: [uri:/a/../b]: matches no path: they are compared without "/../" in them`}},
		{"the same rule", "[uri:/a]\n[uri:*/a]\n", []string{"warning w:2: [uri:*/a]: is the same rule as [uri:/a] (w:1), which counts"}},
		{"misspelt property of a rule", "[uri:/a]\ngrup=lb\nanything=1\n", []string{"warning w:2: grup: is a variable only, did you mean group?"}},
		{"expression", "[uri:$(]\n", []string{"error w:1: [uri:$(]: the expression is bad: missing closing ): `(`"}},
	}.run(t)

	_, warnings, err := ParseConfig(testEnv(), source("[uri:/a]\n"))
	same(t, "said", said(warnings, err), []string{"warning w:1: [uri:/a]: is for lb:lb, which has no worker: every request will be answered 503"})
	_, warnings, err = ParseConfig(testEnv(), source(""))
	same(t, "said", said(warnings, err), []string{"warning no path is mapped: no request will get to a container"})
}

// Whoever reaches a container's port can be anybody to it.
func TestNoSecret(t *testing.T) {
	const text = "[channel.socket:app.test:8009]\n[channel.socket:localhost:8010]\n[channel.socket:192.0.2.1:8009]\nsecretkey=s\n[channel.un:/run/x]\n" +
		"[channel.socket:off.test:8009]\ndisabled=1\n[channel.socket:n]\nhost=192.0.2.2\n[ajp13:n]\n"
	_, warnings, err := ParseConfig(testEnv(), source(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range warnings {
		if w.Severity == conf.Warn && strings.Contains(w.Msg, "has no secretkey") {
			got = append(got, w.String())
		}
	}
	const why = " is not this machine: whoever reaches the port can be any user to the container (secretkey here and secret there, or secretRequired=false there)"
	same(t, "said", got, []string{
		"w:1: [ajp13:app.test:8009]: has no secretkey, and app.test" + why,
		"w:10: [ajp13:n]: has no secretkey, and 192.0.2.2" + why})
}
