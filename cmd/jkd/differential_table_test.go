//go:build unix

package main_test

import (
	"slices"
	"strings"
)

// probeGroup is what is sent about one thing.
type probeGroup struct {
	name   string
	probes []probe
}

// asks makes a probe of every line of a text: a target, or a method and a
// target, perhaps " | " and a header field, any number of times, and perhaps
// " -- " and the names of differences. The field Body is the body. Lines that
// begin with '#' are comments.
func asks(lines string) (out []probe) {
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		line, names, differs := strings.Cut(line, " -- ")
		parts := strings.Split(line, " | ")
		target := strings.TrimSpace(parts[0])
		if !strings.Contains(target, " ") {
			target = "GET " + target
		}
		p := ask(target)
		for _, f := range parts[1:] {
			if body, ok := strings.CutPrefix(f, "Body: "); ok {
				p = p.with(body)
			} else {
				p.fields = append(p.fields, strings.TrimSpace(f))
			}
		}
		if differs {
			p = p.but(strings.Split(names, ", ")...)
		}
		out = append(out, p)
	}
	return out
}

var diffGroups = []probeGroup{
	{name: "exact", probes: asks(`
		/
		/exact
		/exact/
		/exac
		/exactly
		/exact/leaf.html
		/exact/leaf.htm
		/Exact
		/Case/Upper
		/case/upper
		/CASE/UPPER
		/exact?
		/exact?a=b&c=%20d
		/exact?a?b
		/exact?%zz
		/exact?a;b/../c
	`)},
	{name: "wildcards", probes: asks(`
		/any
		/any/
		/any/x
		/any/x/y/z
		/anyx
		/star
		/star/
		/starfish
		/star/fish/a.b
		/sta
		/qaz
		/q/z
		/qz
		/qaaz
		/abc
		/axbxc
		/a/b/c
		/ab
		/acb
		/mid/x/end
		/mid/x/y/end
		/mid//end
		/mid/x/end2
		/mid/xx/end2
		/mid/end
		/wild
		/wild/
		/wild/x
		/page.do
		/a/b/page.do
		/page.do/x
		/page.jsp
		/.jsp
		/.do
		/x/deep/y.x
		/x/y/deep/z/y.x
		/deep/y.x
	`)},
	{name: "two rules in one", probes: asks(`
		/pipe
		/pipe/
		/pipe/x
		/pipex
		/ext
		/ext.x
		/ext/x
		/two
		/two/a
		/two/b
		/jm
		/jm/pipe
		/jm/pipe/x
	`)},
	{name: "exceptions", probes: asks(`
		/any/static/x
		/any/static
		/any/static/
		/any/x.gif
		/any/x.gif/y
		/exact.gif
		/pipe/no
		/pipe/no/x
		/pipe/nox
		/any/other/x
		/any/hole
		/any/hole/x
		/any/hole2
		/any/open/x
		/any/unmounted/x
		/any/unmounted
		/off/x
		/jm/x
		/jm/no/x
		/dot/secret/x
		/dot/secret
	`)},
	{name: "which rule wins", probes: asks(`
		/ord/x
		/ord/a
		/ord/a/x
		/ord/ab
		/ord/ac
		/ord/abc
		/ord/ab/c
		/ord/bb/c
		/ord/exact
		/ord/exacxt
		/ord/exa
		/ord/x/y/z
		/ord/x/y/w
		/ord/x/y
		/twice/x
		/twice2/x
		/src/x
		/src2/x
		/src3/x
		/src3/no/x
	`)},
	{name: "paths", probes: paths("main.test")},
	{
		name:   "paths, ForwardURICompatUnparsed",
		probes: but(paths("unparsed.test", "raw path", "encoded slash"), "/any/x/.. /any/. /any/..", "dots at the end"),
	},
	{
		name: "paths, ForwardURICompat", probes: but(paths("compat.test", "raw path", "encoded slash"), `
			/any/a%25b /any/a%252Fb /any/%3F /any/%23 /any/%09 /any/%0A /any/%7F /enc/100%25
		`, "decoded twice"),
	},
	{
		name: "paths, ForwardURIEscaped", probes: but(paths("escaped.test", "raw path"), `
			/any/..;/exact /any/..;x=y/exact /any/x;/../..;/exact
		`, "escaped parameters"),
	},
	{name: "paths, ForwardURIProxy", probes: paths("proxy.test", "raw path")},
	{
		// What neither of the two maps shows no difference.
		name: "paths, RejectUnsafeURI", probes: but(paths("reject.test", "encoded slash"), `
			/any/a\b /any/.. /any/x;/../..;/exact /exac%74 /dot/./x/y /dot/secret/../x/y /enc/grüße/x
		`),
	},
	{name: "workers named by a variable", probes: asks(`
		/named
		/named/x
		/named/x%20y;z?q
		/named/unknown/x
		/named/ext/x
		/named/ext/x?status=404
		/named/lb/x;jsessionid=abc.n2
		/named/empty/x
		/named/nojk/x
		/any/named/x
		/any/static/named/x
		/any/handled/x
		/handled/x
	`)},
	{name: "sessions in paths", probes: asks(`
		/params/x;jsessionid=abc.n1
		/params/app;v=1/x
		/params/app;v=1/no;w/x
		/params;a/app/no/x
		/params/app/no;jsessionid=1
		/exact;jsessionid=abc
		/exact;
		/any/static;x/y
		/any;/static/x
		/any/x.gif;jsessionid=1
		/any/;x
		/;x
		/page.jsp;jsessionid=A.B?q=1
		/any/x;a=b;c=d/y;e
		/any/%3Bx/y -- raw path
		/any/static%3Bx/y -- encoded semicolon
	`)},
	{name: "methods", probes: []probe{
		ask("GET /any/m"), ask("HEAD /any/m"), ask("OPTIONS /any/m"), ask("DELETE /any/m"),
		ask("TRACE /any/m").but("TRACE"), ask("PATCH /any/m").with("p"), ask("PUT /any/m").with("body"),
		ask("POST /any/m").with("a=b"), ask("POST /any/m").with(""), ask("POST /any/m"),
		ask("PROPFIND /any/m"), ask("PROPPATCH /any/m").with("<x/>"), ask("MKCOL /any/m"), ask("COPY /any/m"), ask("MOVE /any/m"),
		ask("LOCK /any/m"), ask("UNLOCK /any/m"), ask("ACL /any/m"), ask("REPORT /any/m"),
		ask("VERSION-CONTROL /any/m"), ask("CHECKIN /any/m"), ask("CHECKOUT /any/m"), ask("UNCHECKOUT /any/m"),
		ask("SEARCH /any/m"), ask("MKWORKSPACE /any/m"), ask("UPDATE /any/m"), ask("LABEL /any/m"),
		ask("MERGE /any/m"), ask("BASELINE-CONTROL /any/m"), ask("MKACTIVITY /any/m"),
		ask("BREW /any/m"), ask("get /any/m"), ask("Query /any/m").with("q"), ask("LINK /any/m"), ask("M-SEARCH /any/m"), ask("CONNECT /any/m").but("CONNECT"),
		ask("OPTIONS *"), ask("GET *"), ask("OPTIONS /"), ask("PRI /any/m"), ask("G@T /any/m"),
	}},
	{name: "targets", probes: []probe{
		ask("GET http://main.test/any/abs"),
		ask("GET http://other.test/any/abs"),
		ask("GET http://main.test/any/abs?x=http://a/b"),
		ask("GET http://main.test:8081/any/abs"),
		ask("GET HTTP://MAIN.TEST/any/abs").but("host spelling"),
		ask("GET https://main.test/any/abs"),
		ask("GET http://main.test"),
		ask("GET http://main.test?q"),
		ask("GET http://own.test/any/abs", "Host: main.test").but("server port"),
		ask("GET http://user@main.test/any/abs"),
		ask("GET ftp://main.test/any/abs"),
		ask("GET any/x"),
		ask("GET /any/x#frag").but("fragment"),
		ask("GET /any/x?q#frag").but("fragment"),
		ask("GET /any/x HTTP/1.0"),
		ask("GET /any/x HTTP/1.0", "-"),
		ask("GET /any/x HTTP/1.0", "-", "Connection: keep-alive").but("hop-by-hop"),
		ask("GET /any/x HTTP/1.1", "-"),
		ask("GET /any/x HTTP/1.2").but("minor version"),
		ask("GET /any/x HTTP/2.0").but("major version"),
		ask("GET /any/" + strings.Repeat("long/", 700) + "x"),
		ask("GET /any/" + strings.Repeat("longer/", 900) + "x").but("long path"),
	}},
	{name: "hosts", probes: []probe{
		ask("GET /any/h", "Host: main.test:8080"),
		ask("GET /any/h", "Host: MAIN.test").but("host spelling"),
		ask("GET /any/h", "Host: main.test.").but("host spelling"),
		ask("GET /any/h", "Host: unknown.test"),
		ask("GET /any/h", "Host: unknown.test:81"),
		ask("GET /any/h", "Host: [::1]"),
		ask("GET /any/h", "Host: [2001:db8::1]:8443"),
		ask("GET /any/h", "Host: 127.0.0.1"),
		ask("GET /any/h", "Host:"),
		ask("GET /any/h", "Host: a b"),
		ask("GET /any/h", "Host: main.test", "Host: main.test"),
		ask("GET /any/h", "Host: main.test:").but("empty port"),
		ask("GET /any/h", "Host: main.test:http"),
		ask("GET /any/h", "Host: under_score.test"),
		ask("GET /only/x", "Host: own.test").but("server port"),
		ask("GET /any/x", "Host: own.test").but("server port"),
		ask("GET /any/static/x", "Host: own.test"),
		ask("GET /any/x", "Host: www.own.test").but("server port"),
		ask("GET /any/x", "Host: xown.test"),
		ask("GET /exact", "Host: own.test"),
		ask("GET /only/x", "Host: both.test"),
		ask("GET /any/x", "Host: both.test"),
		ask("GET /jm/x", "Host: both.test"),
		ask("GET /jm/no/x", "Host: both.test"),
		ask("GET /jm/pipe/x", "Host: both.test"),
		ask("GET /any/unmounted/x", "Host: both.test"),
		ask("GET /src3/x", "Host: both.test"),
		ask("GET /any/x", "Host: none.test"),
		ask("GET /exact", "Host: none.test"),
	}},
	{name: "header fields", probes: []probe{
		ask("GET /any/f", "Accept: a/b", "Accept-Charset: c", "Accept-Encoding: gzip", "Accept-Language: de", "Authorization: Basic eDp5",
			"Cookie: a=b", "Cookie2: $Version=1", "Pragma: no-cache", "Referer: http://r/", "User-Agent: u").but("coded names"),
		ask("GET /any/f", "X-One: 1", "accept: x", "ACCEPT-ENCODING: br", "x-lower: l", "X-UPPER: U").but("coded names"),
		ask("GET /any/f", "X-Two: a", "X-Other: o", "X-Two: b").but("repeated fields"),
		ask("GET /any/f", "Cookie: a=1", "Cookie: b=2").but("repeated fields"),
		ask("GET /any/f", "Accept: a/b", "Accept: c/d", "accept: e/f").but("repeated fields"),
		ask("GET /any/f", "X-Empty:"),
		ask("GET /any/f", "X-Blank:   padded \t "),
		ask("GET /any/f", "X-Tab: a\tb"),
		ask("GET /any/f", "X-Latin: gr\xfc\xdfe"),
		ask("GET /any/f", "X-UTF8: grüße"),
		ask("GET /any/f", "X-Folded: a", " b").but("folded"),
		ask("GET /any/f", "X-Control: a\x01b"),
		ask("GET /any/f", "X Space: a"),
		ask("GET /any/f", "X-Space : a"),
		ask("GET /any/f", "NoColon"),
		ask("GET /any/f", ": none"),
		ask("GET /any/f", "X_Under: a"),
		ask("GET /any/f", "Connection: close").but("hop-by-hop"),
		ask("GET /any/f", "Connection: keep-alive").but("hop-by-hop"),
		ask("GET /any/f", "Connection: close, X-Hop", "X-Hop: 1", "X-Stay: 2").but("hop-by-hop"),
		ask("GET /any/f", "Keep-Alive: 300", "TE: trailers", "Trailer: X-T", "Upgrade: websocket", "Proxy-Connection: keep-alive").but("hop-by-hop"),
		ask("GET /any/f", "Proxy-Authorization: Basic eDp5", "Proxy-Authenticate: x").but("hop-by-hop"),
		ask("GET /any/f", "Proxy: http://evil/"),
		ask("GET /any/f", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT", "If-None-Match: \"x\"", "Range: bytes=0-1").but("ranges"),
		ask("GET /any/f", "Content-Length: 0"),
		ask("GET /any/f", "X-Before: 1", "Content-Length: 0", "X-After: 2").but("length last"),
		ask("GET /any/f", "Content-Type: text/plain"),
		ask("GET /any/f", "X-Forwarded-For: 10.0.0.1", "Via: 1.1 x"),
		ask("GET /any/f", "X-Big: "+strings.Repeat("b", 7000)),
		ask("GET /any/f", "X-Big: "+strings.Repeat("b", 5000), "X-Large: "+strings.Repeat("l", 5000)),
		ask("GET /big/f", "X-Big: "+strings.Repeat("b", 5000), "X-Large: "+strings.Repeat("l", 5000)),
	}},
	{name: "bodies", probes: []probe{
		ask("POST /any/b", "Content-Type: text/plain").with("hello"),
		ask("POST /any/b", "Content-Type: text/plain", "X-After: 1").with(strings.Repeat("b", 8186)),
		ask("POST /any/b").with(strings.Repeat("b", 8187)),
		ask("POST /any/b").with(strings.Repeat("b", 20000)),
		ask("GET /any/b").with("a GET with a body"),
		ask("DELETE /any/b").with("d"),
		ask("POST /any/b", "Transfer-Encoding: chunked").raw("5\r\nhello\r\n0\r\n\r\n").but("hop-by-hop"),
		ask("POST /any/b", "Transfer-Encoding: CHUNKED").raw("1\r\nx\r\n0\r\n\r\n").but("hop-by-hop"),
		ask("POST /any/b", "Transfer-Encoding: chunked").raw("0\r\n\r\n").but("hop-by-hop"),
		ask("POST /any/b", "Transfer-Encoding: chunked").raw("3;ext=1\r\nabc\r\n0\r\nX-Trailer: t\r\n\r\n").but("hop-by-hop"),
		ask("POST /any/b", "Expect: 100-continue").with("expected").but("hop-by-hop"),
		ask("POST /any/b", "Expect: something").with("x"),
		ask("POST /any/b", "Transfer-Encoding: gzip").raw("x").but("transfer coding"),
		ask("POST /any/b", "Transfer-Encoding: gzip, chunked").raw("0\r\n\r\n"),
		ask("POST /any/b", "Transfer-Encoding: chunked", "Content-Length: 5").raw("0\r\n\r\n").but("length and chunking"),
		ask("POST /any/b", "Content-Length: 5", "Content-Length: 5").raw("hello"),
		ask("POST /any/b", "Content-Length: 5", "Content-Length: 6").raw("hello"),
		ask("POST /any/b", "Content-Length: +5").raw("hello"),
		ask("POST /any/b", "Content-Length: 5x").raw("hello"),
		ask("POST /any/b", "Content-Length: ").raw("hello"),
		ask("POST /any/b", "Content-Length: 0x5").raw("hello"),
		ask("POST /any/b", "Transfer-Encoding: chunked").raw("zz\r\nhello\r\n0\r\n\r\n").but("bad chunk"),
		ask("POST /any/b HTTP/1.0").with("old"),
		ask("POST /any/b HTTP/1.0", "Transfer-Encoding: chunked").raw("0\r\n\r\n").but("chunked HTTP/1.0"),
		ask("POST /env/cl/x").with("counted, but not sent as such").but("local address"),
	}},
	{name: "variables and locations", probes: []probe{
		ask("GET /loc/here"), ask("GET /loc/here/x"), ask("GET /loc"),
		ask("GET /env/x").but("local address"), ask("GET /env/tls/x").but("local address"), ask("GET /env/empty/x").but("local address"), ask("GET /any/nojk/x"), ask("GET /any/nojk"),
		ask("GET /any/x", "Host: local.test").but("empty default"), ask("GET /env/x", "Host: local.test").but("empty default", "local address"),
	}},
	{name: "rule extensions", probes: asks(`
		/dead/x
		/fos/x
		/fos/x?status=404
		/fos/x?status=410
		/fos/x?status=500
		/fos/own/x?status=404
		/fos/own/x?status=409
		/fos/own/x?status=503
		/fos/rule/x?status=404
		/fos/rule/x?status=500
		/fos/rule/x?status=501
		/use/x
		/use/x?status=302&field=Location:%20/elsewhere
		/use/x?status=404
		/use/x?status=401&field=WWW-Authenticate:%20Basic%20realm=x
		/use/x?status=503
		/use/x?status=399
		/use5/x?status=404
		/use5/x?status=500
		/use5/x?status=599 -- unknown status
		/any/x?status=404&empty=1 -- empty error
		/any/x?status=401&empty=1&field=WWW-Authenticate:%20Basic%20realm=x -- empty error
		/any/x?status=500&empty=1 -- empty error
		/any/x?status=404&empty=1&nolength=1 -- empty error
		/any/x?status=401&empty=1&nolength=1&field=WWW-Authenticate:%20Basic%20realm=x -- empty error
		/any/x?status=500&empty=1&nolength=1 -- empty error
		/any/x?status=404&nolength=1
		/any/x?nolength=1
		/any/x?status=204&empty=1
		/any/x?status=304&empty=1
		/any/x?status=200&empty=1
		/any/x?status=299
		/any/x?broken=1 -- stale connection
		/rt/x?silent=1
		/rt/two/x?silent=1
		/rt/env/x?silent=1
		/none/x
	`)},
	{name: "sticky requests", probes: []probe{
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.n2"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.n1"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.n3"),
		ask("GET /lb/x", "Cookie: JSESSIONID=\"abc.n2\""),
		ask("GET /lb/x", "Cookie: a=b; JSESSIONID=abc.n3; c=d"),
		ask("GET /lb/x", "Cookie: a=b,JSESSIONID=abc.n3,c=d"),
		ask("GET /lb/x", "Cookie: JSESSIONID = abc.n3"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.unknown; JSESSIONID=abc.n2"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.unknown; JSESSIONID=\"abc.n3\""),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc; JSESSIONID=abc.n3"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.n1; JSESSIONID=abc.n3"),
		ask("GET /lb/x", "Cookie: a=1", "Cookie: JSESSIONID=abc.n3").but("repeated fields"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.n2", "Cookie: JSESSIONID=abc.n3").but("repeated fields"),
		ask("GET /lb/x", "Cookie: JSESSIONID=; JSESSIONID=abc.n2"),
		ask("GET /lb/x;jsessionid=abc.n2"),
		ask("GET /lb/x;jsessionid=abc.n3?q=1"),
		ask("GET /lb;jsessionid=abc.n3/x"),
		ask("GET /lb/x;v=1;jsessionid=abc.n2;w=2"),
		ask("GET /lb/x;jsessionid=abc.n2", "Cookie: JSESSIONID=abc.n3"),
		ask("GET /lb/x;jsessionid=", "Cookie: JSESSIONID=abc.n3"),
		ask("GET /lb/x%3Bjsessionid=abc.n2", "Cookie: JSESSIONID=abc.n3").but("encoded session"),
		ask("GET /lb/x;%6Asessionid=abc.n2", "Cookie: JSESSIONID=abc.n3").but("encoded session"),
		ask("GET /lb/cookie/x", "Cookie: JSESSIONID=abc.n2; OTHER=abc.n3"),
		ask("GET /lb/path/x;oid=abc.n3"),
		ask("GET /lb/route/x", "Cookie: JSESSIONID=abc.n2"),
		ask("GET /lb/route/x"),
	}},
	{name: "requests without a session", probes: []probe{
		ask("GET /lb/x").but("turn"), ask("GET /lb/x").but("turn"), ask("GET /lb/x").but("turn"), ask("GET /lb/x").but("turn"), ask("GET /lb/x").but("turn"), ask("GET /lb/x").but("turn"), ask("GET /lb/x").but("turn"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.unknown").but("turn"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc").but("turn"),
		ask("GET /lb/x", "Cookie: JSESSIONID=abc.").but("turn"),
		ask("GET /lb/x", "Cookie: JSESSIONID=").but("turn"),
		ask("GET /lb/x", "Cookie: XJSESSIONID=abc.n3").but("turn"),
		ask("GET /lb/x", "Cookie: jsessionid=abc.n3").but("turn"),
		ask("GET /lb/x;JSESSIONID=abc.n3").but("turn"),
		ask("GET /lb/ignore/x", "Cookie: JSESSIONID=abc.n3").but("turn"),
		ask("GET /lb/ignore/x", "Cookie: JSESSIONID=abc.n3").but("turn"),
		ask("GET /lb/env/x", "Cookie: JSESSIONID=abc.n1").but("turn"),
		ask("GET /lb/stateless/x").but("turn"), ask("GET /lb/stateless/x").but("turn"), ask("GET /lb/stateless/x").but("turn"),
		ask("GET /lb/x").but("turn"),
		ask("GET /ids/x", "Cookie: SID=abc.i3"), ask("GET /ids/x;sid=abc.i2"), ask("GET /ids/x", "Cookie: JSESSIONID=abc.i3").but("turn"),
		ask("GET /ids/x;jsessionid=abc.i3").but("turn"), ask("GET /ids/x").but("turn"),
	}},
	{name: "activation", probes: []probe{
		ask("GET /states/x"), ask("GET /states/x"),
		ask("GET /states/x", "Cookie: JSESSIONID=abc.a2"),
		ask("GET /states/x", "Cookie: JSESSIONID=abc.a3"),
		ask("GET /states/on/x").but("turn"), ask("GET /states/on/x").but("turn"), ask("GET /states/on/x").but("turn"),
		ask("GET /states/on/x", "Cookie: JSESSIONID=abc.a3"),
		ask("GET /states/none/x"),
		ask("GET /states/none/x", "Cookie: JSESSIONID=abc.a2"),
		ask("GET /states/none/x", "Cookie: JSESSIONID=abc.a1"),
		ask("GET /lb/dis/x").but("turn"), ask("GET /lb/dis/x").but("turn"), ask("GET /lb/dis/x").but("turn"),
		ask("GET /lb/dis/x", "Cookie: JSESSIONID=abc.n2"),
		ask("GET /lb/stop/x"), ask("GET /lb/stop/x"),
		ask("GET /lb/stop/x", "Cookie: JSESSIONID=abc.n2"),
		ask("GET /lb/mixed/x").but("turn"), ask("GET /lb/mixed/x").but("turn"),
		ask("GET /lb/mixed/x", "Cookie: JSESSIONID=abc.n2"),
		ask("GET /lb/mixed/x", "Cookie: JSESSIONID=abc.n1").but("turn"),
	}},
	{name: "failing members", probes: []probe{
		ask("GET /forced/x"),
		ask("GET /forced/x", "Cookie: JSESSIONID=abc.f1"),
		ask("GET /forced/x", "Cookie: JSESSIONID=abc.f2"),
		ask("GET /forced/x", "Cookie: JSESSIONID=abc.f3"),
		ask("GET /forced/x", "Cookie: JSESSIONID=abc.unknown"),
		ask("GET /failing/x").but("route after failover"), ask("GET /failing/x"), ask("GET /failing/x"),
		ask("GET /failing/x", "Cookie: JSESSIONID=abc.e1"),
		ask("GET /failing/x?broken=1").but("stale connection"),
		ask("GET /failing/x").but("route after failover"),
		ask("POST /failing/x").with("body"),
		ask("GET /domains/x"),
		ask("GET /domains/x", "Cookie: JSESSIONID=abc.d1").but("domain route"),
		ask("GET /domains/x", "Cookie: JSESSIONID=abc.west.d2"),
		ask("GET /domains/x", "Cookie: JSESSIONID=abc.west.other").but("domain route"),
		ask("GET /domains/x", "Cookie: JSESSIONID=abc.east").but("domain route"),
		ask("GET /domains/x", "Cookie: JSESSIONID=abc.east.d9").but("domain route"),
		ask("GET /standby/x").but("route after failover"), ask("GET /standby/x"),
		ask("GET /standby/x", "Cookie: JSESSIONID=abc.s1"),
		ask("GET /standby/x", "Cookie: JSESSIONID=abc.s2"),
	}},
	{name: "own cookies and statuses of balancers", probes: []probe{
		ask("GET /cookies/x").but("cookie spelling", "turn"),
		ask("GET /cookies/x", "Cookie: SID=abc.k1"),
		ask("GET /cookies/x", "Cookie: SID=.k2"),
		ask("GET /cookies/x", "Cookie: SID=abc.unknown").but("cookie spelling", "turn"),
		ask("GET /cookies/x?field=Set-Cookie:%20a=b").but("cookie spelling", "turn"),
		ask("GET /cookies/x?status=404").but("cookie spelling", "turn"),
		ask("GET /lb/set/x").but("cookie spelling", "turn"),
		ask("GET /lb/set/x", "Cookie: JSESSIONID=abc.n1"),
		ask("GET /lb/fos/x?status=503").but("turn"),
		ask("GET /lb/fos/x", "Cookie: JSESSIONID=abc.n1"),
		ask("GET /lb/use/x?status=404", "Cookie: JSESSIONID=abc.n1"),
	}},
}

// diffShares are balancers, and how often each member gets one of a number of
// requests without a session.
var diffShares = []struct {
	mount string
	want  map[string]int
}{
	{"/share/r/", map[string]int{"c1": 10, "c2": 20, "c3": 30}},
	{"/share/s/", map[string]int{"c1": 10, "c2": 20, "c3": 30}},
	{"/share/n/", map[string]int{"c1": 10, "c2": 20, "c3": 30}},
	{"/share/b/", map[string]int{"c1": 20, "c2": 20, "c3": 20}},
	{"/share/far/", map[string]int{"c2": 60}},
	{"/share/dis/", map[string]int{"c1": 15, "c3": 45}},
}

// but gives the probes for some targets other differences.
func but(list []probe, targets string, differs ...string) []probe {
	for _, target := range strings.Fields(targets) {
		i := slices.IndexFunc(list, func(p probe) bool { return p.target() == target })
		list[i].differs = differs
	}
	return list
}

// paths are the same for each way of forwarding them.
// Those that do not go by the client's own spelling have fewer differences;
// without are the names of those that a host does not have.
func paths(host string, without ...string) (out []probe) {
	for _, p := range asks(`
		/any/plain
		/any/UPPER
		/any/~a$-_.+!*'(),:@&=x
		/any/a%20b
		/any/a+b
		/any/a%2Bb -- raw path
		/any/%41%42 -- raw path
		/any/%7e -- raw path
		/any/%2e%2e/any/x -- raw path
		/any/%2E/x -- raw path
		/any/a%2Fb -- encoded slash
		/any/a%2fb -- encoded slash
		/any/a%5Cb
		/any/a\b -- raw path
		/any/a%25b
		/any/a%252Fb
		/any/%C3%BC
		/any/%c3%bc -- raw path
		/any/ü -- raw path
		/any/%FF
		/any/%3F
		/any/%23
		/any/%22%3C%3E
		/any/"<> -- raw path
		/any/{}|^ -- raw path
		/any/%7B%7D%7C%5E%60
		/any/[x] -- raw path
		/any/%5Bx%5D
		/any/%09
		/any/%0A
		/any/%7F
		/any/%00 -- NUL
		/any/%
		/any/%4
		/any/%zz
		/any//x -- raw path
		//any/x -- raw path
		/any///x//y -- raw path
		/any/./x -- raw path
		/any/x/../y -- raw path
		/any/x/.. -- raw path
		/any/. -- raw path
		/any/.. -- raw path
		/../any/x
		/any/../../x
		/any/.../x
		/any/..x/x
		/any/;/../x -- parameters first
		/any/..;/exact
		/any/..;x=y/exact
		/any/x;/../..;/exact -- raw path
		/any/static;x/../y -- raw path
		/any/x/..;/static/y
		/any/.;/static/y
		/any/%73tatic/y
		/any//static/y
		/any/x/../static/y
		/any/x/%2e%2e/static/y
		/any/x%2f../static/y -- encoded slash
		/%61ny/x -- raw path
		/exac%74 -- raw path
		/slash/a/b
		/slash/a%2Fb -- encoded slash
		/slash/a%2fb -- encoded slash
		/slash/a//b -- raw path
		/dot/x/y
		/dot/./x/y -- raw path
		/dot/secret/../x/y -- raw path
		/dot//secret/x
		/dot/%73ecret/x
		/dot/secret;a/x
		/enc/a%20b
		/enc/a+b
		/enc/gr%C3%BC%C3%9Fe/x
		/enc/grüße/x -- raw path
		/enc/100%25
	`) {
		if host != "main.test" {
			p.fields = append(p.fields, "Host: "+host)
		}
		p.differs = slices.DeleteFunc(p.differs, func(name string) bool { return slices.Contains(without, name) })
		out = append(out, p)
	}
	return out
}
