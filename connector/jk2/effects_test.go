package jk2

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/connectortest"
	"jkd/connector/dial"
	"jkd/connector/jk2/jk2shm"
)

// What the properties of channels do when connections are made.
func TestChannelEffects(t *testing.T) {
	for _, tt := range []struct {
		lines string
		want  dial.Options
	}{
		{"", dial.Options{Timeout: defaultConnect}},
		{"timeout=20", dial.Options{Timeout: 20 * time.Second}},
		{"timeout=0", dial.Options{Timeout: defaultConnect}},
		{"keepalive=1", dial.Options{Timeout: defaultConnect, KeepAlive: true}},
		{"keepalive=0", dial.Options{Timeout: defaultConnect}},
		{"nodelay=1", dial.Options{Timeout: defaultConnect}}, // is always on
		{"nodelay=0", dial.Options{Timeout: defaultConnect}},
	} {
		r := newRig(t, "[channel.socket:@a@]\n"+tt.lines+"\n[uri:/*]\n", "a")
		r.want(tt.lines, r.get("/"), "a")
		if want := []dialed{{r.nodes["a"].Addr(), tt.want}}; !slices.Equal(r.dials, want) {
			t.Errorf("%q: connected %+v, want %+v", tt.lines, r.dials, want)
		}
	}

	// host and port instead of the name's.
	a := newNode(t, "a")
	r := newRig(t, fmt.Sprintf("[channel.socket:x:1]\nhost=127.0.0.1\nport=%d\n[uri:/*]\n", a.Port()))
	r.want("host and port", r.get("/"), "a")
	r = newRig(t, "[channel.socket:no.such.host.invalid:8009]\n[uri:/*]\n[uri:/d/*]\ngroup=ajp13:no.such.host.invalid:8009\n")
	r.want("an unknown host", r.get("/"), "status 503")
	r.want("an unknown host, without balancer", r.get("/d/"), "status 503")
}

// timeout of a channel and replyTimeout of a worker bound the wait for an
// answer, whichever is over first. The limits hold for the healthy requests
// too: they are as long as a busy machine may take for one.
func TestTimeoutEffects(t *testing.T) {
	for _, tt := range []struct {
		lines   string
		threads int
	}{
		{"replyTimeout=3000", 8},
		{"timeout=3", 8},
		{"timeout=3\nreplyTimeout=60000", 8},
		{"timeout=60\nreplyTimeout=3000", 8},
		{"replyTimeout=3000", 1},
		{"timeout=3", 1},
	} {
		t.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(tt.lines, "\n", ","), tt.threads), func(t *testing.T) {
			t.Parallel() // they wait
			r := newRigOf(t, tt.threads, "[channel.socket:@a@]\n"+tt.lines+"\n[uri:/*]\n[uri:/d/*]\ngroup=ajp13:@a@\n", "a")
			r.want("healthy", r.get("/"), "a")
			r.nodes["a"].be(silent)
			r.want("silent", r.get("/"), "status 504")
			r.want("silent, without balancer", r.post("/d/", "x"), "status 504")
			r.want("asked", r.counts("a"), "a3") // nothing is sent again
			r.nodes["a"].be(serving)
			r.want("afterwards", r.get("/"), "a")
		})
	}
}

// connectTimeout asks for a sign of life on a new connection, prepostTimeout on
// every one.
func TestPingEffects(t *testing.T) {
	for _, tt := range []struct {
		lines string
		pings int // of three requests on one connection
	}{
		{"", 0},
		{"connectTimeout=10000", 1},
		{"prepostTimeout=10000", 3},
		{"connectTimeout=10000\nprepostTimeout=10000", 3},
	} {
		r := newRig(t, "[channel.socket:@a@]\n"+tt.lines+"\n[uri:/*]\n", "a")
		for range 3 {
			r.want(tt.lines, r.get("/"), "a")
		}
		if n, conns := r.nodes["a"].CPings(), r.nodes["a"].Accepted(); n != tt.pings || conns != 1 {
			t.Errorf("%q: %d CPINGs on %d connections, want %d", tt.lines, n, conns, tt.pings)
		}
	}

	// A new connection that gives no sign of life is none; the limit holds.
	for _, lines := range []string{"connectTimeout=50", "prepostTimeout=50"} {
		r := newRig(t, "[channel.socket:@a@]\n"+lines+"\n[channel.socket:@b@]\nlevel=1\n[uri:/*]\n[uri:/d/*]\ngroup=ajp13:@a@\n", "a", "b")
		r.nodes["a"].pings.Store(0)
		r.want(lines+", another worker", r.post("/", "x"), "b")
		r.want(lines+", without balancer", r.get("/d/"), "status 503")
		r.want(lines+": asked", r.counts("a", "b"), "a0 b1")
	}
	// An idle one that gives none is replaced, at no cost for the request.
	r := newRig(t, "[channel.socket:@a@]\nprepostTimeout=1000\nconnectTimeout=10000\n[uri:/*]\n", "a")
	r.want("first", r.get("/"), "a")
	r.nodes["a"].pings.Store(0)
	done := make(chan string)
	go func() { done <- r.post("/", "x") }()
	if !r.nodes["a"].WaitAccepted(2, long) {
		t.Fatal("no second connection")
	}
	r.nodes["a"].pings.Store(-1)
	// Its ping may have come before that and is never answered then.
	if got := <-done; got != "a" && got != "status 503" {
		t.Error(got)
	}
}

// What of the worker's settings the container gets to see.
func TestAttributeEffects(t *testing.T) {
	for _, tt := range []struct{ lines, path, secret, route string }{
		{"", "/", "", "@a@"},
		{"", "/d/", "", ""}, // the route is the balancer's
		{"secretkey=s3cr=et", "/", "s3cr=et", "@a@"},
		{"secretkey=s3cr=et", "/d/", "s3cr=et", ""},
		{"route=one", "/", "", "one"},
		{"tomcatId=one", "/", "", "one"},
		{"tomcatId=one\nroute=two", "/", "", "two"},
	} {
		r := newRig(t, "[channel.socket:@a@]\n"+tt.lines+"\n[uri:/*]\n[uri:/d/*]\ngroup=ajp13:@a@\n", "a")
		r.want(tt.lines, r.get(tt.path), "a")
		q, _ := r.nodes["a"].seen()
		secret, _ := q.Attr(ajptest.AttrSecret)
		route, _ := q.Attr(ajptest.AttrRoute)
		if want := strings.ReplaceAll(tt.route, "@a@", r.nodes["a"].Addr()); secret.Value != tt.secret || route.Value != want {
			t.Errorf("%q, %s: secret %q and route %q, want %q and %q", tt.lines, tt.path, secret.Value, route.Value, tt.secret, want)
		}
	}
}

// The secret is the worker's, also when the request goes to another one.
func TestSecretOfEach(t *testing.T) {
	r := newRig(t, "[channel.socket:@a@]\nsecretkey=one\nroute=a\n[channel.socket:@b@]\nlevel=1\nsecretkey=two\nroute=b\n[uri:/*]\n", "a", "b")
	r.nodes["a"].be(dropping)
	r.want("failover", r.get("/"), "b")
	for name, want := range map[string]string{"a": "one a", "b": "two b"} {
		q, _ := r.nodes[name].seen()
		secret, _ := q.Attr(ajptest.AttrSecret)
		route, _ := q.Attr(ajptest.AttrRoute)
		r.want(name, secret.Value+" "+route.Value, want)
	}
}

// forwardURI in its forms. Without any of them the path is sent as it came.
func TestForwardURIEffects(t *testing.T) {
	for _, tt := range []struct{ line, path, want string }{
		{"", "/a%20b;x=1/%7E", "/a%20b;x=1/%7E"},
		{"", "/a//b/../c", "/a//b/../c"},
		{"forwardURICompatUnparsed=1", "/a%20b/%7E", "/a%20b/%7E"},
		{"forwardURICompat=1", "/a%20b;x=1/%7E", "/a b;x=1/~"},
		{"forwardURICompat=1", "/a//b/../c", "/a/c"},
		{"forwardURICompat=1", "/a%2541", "status 400"},
		{"forwardURIEscaped=1", "/a%20b/%7E", "/a%20b/~"},
		{"forwardURIEscaped=1", "/a;x=1", "status 400"},
	} {
		r := newRig(t, "[workerEnv:]\n"+tt.line+"\n[channel.socket:@a@]\n[uri:/*]\n", "a")
		got := r.get(tt.path)
		if got == "a" {
			q, _ := r.nodes["a"].seen()
			got = q.URI
		}
		r.want(tt.line+" "+tt.path, got, tt.want)
	}

	// The session is found all the same, and the request can go to another.
	r := newRig(t, "[workerEnv:]\nforwardURICompat=1\n"+three("", "", ""), "a", "b", "c")
	r.want("session", r.get("/x%20y;jsessionid=1.c"), "c")
	r.nodes["c"].be(dropping)
	r.want("session, failed", r.get("/x%20y;jsessionid=1.c"), "a")
	q, _ := r.nodes["a"].seen()
	r.want("its path", q.URI, "/x y;jsessionid=1.c")
}

// The variables that tell of a client's encryption, and forwardKeySize.
func TestIndicatorEffects(t *testing.T) {
	const names = "httpsIndicator=H\ncertsIndicator=CE\ncipherIndicator=CI\nsessionIndicator=SI\nkeySizeIndicator=KS\n"
	env := func(pairs ...string) *connector.Env {
		e := &connector.Env{}
		for i := 0; i < len(pairs); i += 2 {
			e.Set(pairs[i], pairs[i+1])
		}
		return e
	}
	tls := &connector.TLS{Cipher: "own", SessionID: "own session", KeySize: 99, ClientCert: "own cert"}
	for _, tt := range []struct {
		name, text string
		env        *connector.Env
		tls        *connector.TLS
		want       string // is_ssl, cipher, session, key size, certificate
	}{
		{"nothing", "", nil, nil, "false    "},
		{"the front's own", "", nil, tls, "true own own session  own cert"},
		{"with the size of the key", "forwardKeySize=1\n", nil, tls, "true own own session 99 own cert"},
		{"variables", "forwardKeySize=1\n", env("HTTPS", "on", "SSL_CIPHER", "c", "SSL_SESSION_ID", "s", "SSL_CIPHER_USEKEYSIZE", "128", "SSL_CLIENT_CERT", "p"), nil, "true c s 128 p"},
		{"variables without the size", "", env("HTTPS", "on", "SSL_CIPHER_USEKEYSIZE", "128"), nil, "true    "},
		{"named otherwise", names + "forwardKeySize=1\n", env("H", "ON", "CI", "c", "SI", "s", "KS", "128", "CE", "p"), nil, "true c s 128 p"},
		{"the usual names are not those then", names, env("HTTPS", "on", "SSL_CIPHER", "c"), nil, "false    "},
		{"off", "forwardKeySize=1\n", env("HTTPS", "off"), tls, "false    "},
		{"some of them", "forwardKeySize=1\n", env("HTTPS", "on", "SSL_CIPHER", "c"), tls, "true c own session 99 own cert"},
		{"other variables", "", env("x", "y"), tls, "true own own session  own cert"},
	} {
		r := newRig(t, "[workerEnv:]\n"+tt.text+"[channel.socket:@a@]\n[uri:/*]\n", "a")
		q := connectortest.Request("GET", "/", "")
		q.Env, q.TLS, q.Secure = tt.env, tt.tls, tt.tls != nil
		r.want(tt.name, r.do(q).text, "a")
		seen, _ := r.nodes["a"].seen()
		got := fmt.Sprint(seen.IsSSL)
		for _, code := range []byte{ajptest.AttrSSLCipher, ajptest.AttrSSLSession, ajptest.AttrSSLKeySize, ajptest.AttrSSLCert} {
			a, ok := seen.Attr(code)
			if code == ajptest.AttrSSLKeySize && ok {
				a.Value = fmt.Sprint(a.Int)
			}
			got += " " + a.Value
		}
		r.want(tt.name, got, tt.want)
	}
}

// disabled, whatever it stands at.
func TestDisabledEffects(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"channel", "[channel.socket:@a@]\ndisabled=1\n[channel.socket:@b@]\n[uri:/*]\n", "b"},
		{"worker", "[channel.socket:@a@]\n[ajp13:@a@]\ndisabled=1\n[channel.socket:@b@]\n[uri:/*]\n", "b"},
		{"uri", "[channel.socket:@a@]\n[uri:/*]\ndisabled=1\n", "not mapped"},
		{"section", "[channel.socket:@a@]\n[disabled:uri:/*]\n", "not mapped"},
		{"level 4", "[channel.socket:@a@]\nlevel=4\n[channel.socket:@b@]\n[uri:/*]\n", "b"},
		{"group", "[channel.socket:@a@]\ngroup=x\n[channel.socket:@b@]\ngroup=y\n[uri:/*]\ngroup=lb:y\n", "b"},
		{"worker of a balancer", "[channel.socket:@a@]\n[channel.socket:@b@]\n[lb:x]\nworker=ajp13:@b@\n[uri:/*]\ngroup=x\n", "b"},
		{"worker=", "[channel.socket:@a@]\n[channel.socket:@b@]\n[uri:/*]\nworker=ajp13:@b@\n", "b"},
	} {
		r := newRig(t, tt.text, "a", "b")
		for range 3 {
			r.want(tt.name, r.get("/x"), tt.want)
		}
	}
}

// timing fills the times of records: of one uri, or in workerEnv of all.
func TestTimingEffects(t *testing.T) {
	for _, tt := range []struct {
		env, uri string
		timed    bool
	}{
		{"", "", false},
		{"timing=1", "", true},
		{"timing=2", "", false}, // exactly 1, as in mod_jk2
		{"", "timing=1", true},
		{"timing=1", "timing=0", true}, // all means all
	} {
		seg := benchSlots(t)
		n := newNode(t, "a")
		c := New(setup(t, fmt.Sprintf("[workerEnv:]\n%s\n[channel.socket:%s]\n[uri:/*]\n%s\n", tt.env, n.Addr(), tt.uri)),
			Options{Dial: connectortest.Dialers(8), WriteTimeout: long, Slots: seg, Logger: zerolog.Nop()})
		r := &rig{t: t, c: c, log: &lockedLog{}}
		r.want("timing", r.get("/x"), "a")
		n.be(dropping)
		r.want("timing", r.post("/y", ""), "status 502")
		c.Close()
		var v jk2shm.View
		seg.View(&v)
		if len(v.Slots) != 1 || len(v.Slots[0].Records) != 1 {
			t.Fatalf("%+v", v)
		}
		got := v.Slots[0].Records[0]
		if got.Requests != 1 || got.Errors != 1 || got.Active != "/y" || got.Connected == 0 {
			t.Errorf("%q and %q: %+v", tt.env, tt.uri, got)
		}
		for name, x := range map[string]uint64{"start": got.Start, "jkStart": got.JkStart, "end": got.End} {
			if (x > 0) != tt.timed {
				t.Errorf("%q and %q: %s is %d", tt.env, tt.uri, name, x)
			}
		}
		if got.End < got.JkStart || got.JkStart < got.Start || got.Max > got.Total {
			t.Errorf("%q and %q: %+v", tt.env, tt.uri, got)
		}
	}
}
