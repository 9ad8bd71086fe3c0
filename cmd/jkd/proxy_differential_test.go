//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/apachetest"
	"jkd/connector/ajp/ajptest"
)

// proxyRules are directives in the order of the configuration. Apache and jkd
// get the same words.
const proxyRules = `ProxyRequests Off
ProxyPass /app/no !
ProxyPass /app http://BACK/ctx
ProxyPass /slash/ http://BACK/s/
ProxyPass /nc http://BACK/nc nocanon
ProxyPass /nq http://BACK/nq noquery
ProxyPassMatch ^/m/(.*\.jsp)$ http://BACK/mm/$1
ProxyPassMatch ^/w/.*\.do$ http://BACK
BalancerMember balancer://one http://BACK route=a
ProxySet balancer://one stickysession=JSESSIONID|jsessionid
ProxyPass /bal balancer://one/bb
ProxyPass /dead http://DEAD/ retry=0
ProxyPass /slow http://BACK/slow timeout=1
ProxyPass /ajp/ ajp://AJP/a/
ProxyPass /app2/deep http://BACK/deep
ProxyPass /app2 http://BACK/wide
ProxyPassReverse /app http://BACK/ctx
ProxyPassReverse /bal balancer://one/bb
ProxyPassReverseCookiePath /ctx /app
ProxyPassReverseCookieDomain back.test front.test
`

// proxyProbes are what both are asked. differs says why an answer is not the
// same, "" that it is.
var proxyProbes = []struct {
	request string // without Host
	differs string
}{
	{"GET /app HTTP/1.1\r\n\r\n", ""},
	{"GET /app/ HTTP/1.1\r\n\r\n", ""},
	{"GET /app/x/y.jsp?a=b&c=%20d HTTP/1.1\r\nX-Own: one\r\n\r\n", ""},
	{"GET /app/x;jsessionid=12.a HTTP/1.1\r\n\r\n", ""},
	{"GET /app/x;v=1/y;w=2 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/a%20b%7E%41 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/%C3%A4 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/a+b,c=d@e:f!$&'()* HTTP/1.1\r\n\r\n", ""},
	{"GET /app//x//y HTTP/1.1\r\n\r\n", ""},
	{"GET //app/x HTTP/1.1\r\n\r\n", ""},
	{"GET /app/x/../y HTTP/1.1\r\n\r\n", ""},
	{"GET /app/./x HTTP/1.1\r\n\r\n", ""},
	{"GET /x/../app/y HTTP/1.1\r\n\r\n", ""},
	{"GET /apple HTTP/1.1\r\n\r\n", ""},
	{"GET /app/no HTTP/1.1\r\n\r\n", ""},
	{"GET /app/no/x HTTP/1.1\r\n\r\n", ""},
	{"GET /app/nox HTTP/1.1\r\n\r\n", ""},
	{"GET /app/%6Eo/x HTTP/1.1\r\n\r\n", ""},
	{"GET /app/no;x/y HTTP/1.1\r\n\r\n", "to a container the path parameter is none of the name: the rule with ! counts"},
	{"GET /app;v=1/x HTTP/1.1\r\n\r\n", "to a container this is below /app"},
	{"GET /app/x%2Fy HTTP/1.1\r\n\r\n", "AllowEncodedSlashes: jkd passes an escaped slash on as it is"},
	{"GET /slash HTTP/1.1\r\n\r\n", ""},
	{"GET /slash/ HTTP/1.1\r\n\r\n", ""},
	{"GET /slash/x HTTP/1.1\r\n\r\n", ""},
	{"GET /nc/a%7Eb%41?x HTTP/1.1\r\n\r\n", ""},
	{"GET /nc/a;b HTTP/1.1\r\n\r\n", ""},
	{"GET /nq/x?a=b HTTP/1.1\r\n\r\n", ""},
	{"GET /m/a/b.jsp HTTP/1.1\r\n\r\n", ""},
	{"GET /m/a/b.jsp?x=y HTTP/1.1\r\n\r\n", ""},
	{"GET /m/a/b.html HTTP/1.1\r\n\r\n", ""},
	{"GET /m/a/b%20c.jsp HTTP/1.1\r\n\r\n", ""},
	{"GET /m/b.jsp;jsessionid=1 HTTP/1.1\r\n\r\n", "expressions are matched without path parameters"},
	{"GET /w/x.do HTTP/1.1\r\n\r\n", ""},
	{"GET /bal/x HTTP/1.1\r\n\r\n", ""},
	{"GET /bal HTTP/1.1\r\nCookie: JSESSIONID=1.a\r\n\r\n", ""},
	{"GET /bal/redirect/bal HTTP/1.1\r\n\r\n", ""},
	{"GET /app2/deep/x HTTP/1.1\r\n\r\n", ""},
	{"GET /app2/x HTTP/1.1\r\n\r\n", ""},
	{"GET /nowhere HTTP/1.1\r\n\r\n", ""},
	{"GET /dead/x HTTP/1.1\r\n\r\n", ""},
	{"GET /slow HTTP/1.1\r\n\r\n", "a back end that is too slow is a 504, as with the connectors for AJP"},
	{"HEAD /app/x HTTP/1.1\r\n\r\n", ""},
	{"OPTIONS /app/x HTTP/1.1\r\n\r\n", ""},
	{"DELETE /app/x HTTP/1.1\r\n\r\n", ""},
	{"PROPFIND /app/x HTTP/1.1\r\n\r\n", ""},
	{"POST /app/x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", ""},
	{"POST /app/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n", ""},
	{"PUT /app/x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", ""},
	{"POST /app/x HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello", ""},
	{"POST /app/big HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 100000), ""},
	{"GET /app/x HTTP/1.1\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nUpgrade: x\r\n\r\n", ""},
	{"GET /app/x HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: h1\r\n\r\n", ""},
	{"GET /app/x HTTP/1.1\r\nAuthorization: Basic YTpi\r\nCookie: a=b\r\nCookie: c=d\r\nRange: bytes=0-1\r\n\r\n", "repeated Cookie fields stay as they are"},
	{"GET /app/status/404 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/status/304 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/status/204 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/status/500 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/status/503 HTTP/1.1\r\n\r\n", ""},
	{"GET /app/chunked HTTP/1.1\r\n\r\n", ""},
	{"GET /app/untilclose HTTP/1.1\r\n\r\n", ""},
	{"GET /app/interim HTTP/1.1\r\n\r\n", ""},
	{"GET /app/redirect/ctx HTTP/1.1\r\n\r\n", ""},
	{"GET /app/redirect/other HTTP/1.1\r\n\r\n", ""},
	{"GET /app/cookie HTTP/1.1\r\n\r\n", ""},
	{"GET /app/hop HTTP/1.1\r\n\r\n", ""},
	{"GET /app/bad/lengths HTTP/1.1\r\n\r\n", "an answer with two lengths is refused; Apache takes the first"},
	{"GET /app/bad/both HTTP/1.1\r\n\r\n", "an answer with both lengths is refused; Apache drops one of them"},
	{"GET /app/bad/start HTTP/1.1\r\n\r\n", "what has no status line is refused; Apache takes it for HTTP/0.9"},
	{"GET /app/bad/nothing HTTP/1.1\r\n\r\n", ""},
	{"GET /ajp/x%20y;v=1?q=1 HTTP/1.1\r\n\r\n", ""},
	{"POST /ajp/x HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", ""},
}

// rawBack is a back end that shows in the body of its answers what has reached
// it, or answers in bytes as the end of the path asks for.
func rawBack(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	addr := ln.Addr().String()
	serve := func(c net.Conn) {
		defer c.Close()
		br := bufio.NewReader(c)
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			if r.Header.Get("Expect") != "" {
				_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
			}
			var out strings.Builder
			fmt.Fprintf(&out, "%s %s\nHost: %s\n", r.Method, r.RequestURI, r.Host)
			var names []string
			for name := range r.Header {
				if name != "Connection" && name != "X-Forwarded-Server" {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			for _, name := range names {
				fmt.Fprintf(&out, "%s: %q\n", name, r.Header[name])
			}
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(&out, "length %d chunked %v: %.20q\n", len(body), len(r.TransferEncoding) > 0, body)
			if len(body) > 0 {
				out.Reset() // the framing of a body is each one's own affair
				fmt.Fprintf(&out, "%s %s\n%d bytes, %.20q\n", r.Method, r.RequestURI, len(body), body)
			}
			answer := func(status, fields, body string) string {
				return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), fields, body)
			}
			text := answer("200 OK", "X-Own: yes\r\nContent-Type: text/plain\r\n", out.String())
			end := false
			path, _, _ := strings.Cut(strings.TrimPrefix(r.RequestURI, "/ctx"), "?")
			switch path {
			case "/status/404":
				text = answer("404 Not Found", "Content-Type: text/plain\r\n", "mine")
			case "/status/500":
				text = answer("500 Internal", "Content-Type: text/plain\r\n", "mine")
			case "/status/503":
				text = answer("503 Busy", "Content-Type: text/plain\r\nRetry-After: 5\r\n", "mine")
			case "/status/304":
				text = "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"
			case "/status/204":
				text = "HTTP/1.1 204 No Content\r\n\r\n"
			case "/chunked":
				text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nX: y\r\n\r\n"
			case "/untilclose":
				text, end = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello", true
			case "/interim":
				text = "HTTP/1.1 102 Processing\r\n\r\n" + text
			case "/redirect/ctx":
				text = answer("302 Found", "Location: http://"+addr+"/ctx/login?x\r\n", "")
			case "/redirect/other":
				text = answer("302 Found", "Location: http://elsewhere.test/ctx/\r\n", "")
			case "/bb/redirect/bal":
				text = answer("302 Found", "Location: http://"+addr+"/bb/there\r\n", "")
			case "/cookie":
				text = answer("200 OK", "Set-Cookie: a=b; Path=/ctx; Domain=back.test\r\nSet-Cookie: c=d; Path=/\r\n", "")
			case "/hop":
				text = answer("200 OK", "Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=1\r\nX-Stay: 1\r\n", "")
			case "/bad/lengths":
				text, end = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nhello", true
			case "/bad/both":
				text, end = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true
			case "/bad/start":
				text, end = "garbage\r\n\r\n", true
			case "/bad/nothing":
				text, end = "", true
			case "/slow":
				time.Sleep(3 * time.Second)
			}
			if r.Method == "HEAD" {
				head, _, _ := strings.Cut(text, "\r\n\r\n")
				text = head + "\r\n\r\n"
			}
			if _, err := io.WriteString(c, text); err != nil || end {
				return
			}
		}
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return addr
}

// answerOf sends a request, to which Host is added, on a connection of its own,
// and reads the answer. err tells that the body was broken off; without an
// answer r is nil.
func answerOf(t *testing.T, addr, request string) (r *http.Response, body []byte, err error) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	line, rest, _ := strings.Cut(request, "\r\n")
	if !strings.Contains(rest, "Connection: ") {
		rest = "Connection: close\r\n" + rest
	}
	go func() { _, _ = io.WriteString(c, line+"\r\nHost: main.test\r\n"+rest) }()
	method, _, _ := strings.Cut(line, " ")
	br := bufio.NewReader(c)
	for {
		if r, err = http.ReadResponse(br, &http.Request{Method: method}); err != nil {
			return nil, nil, err
		}
		if r.StatusCode >= 200 {
			break
		}
	}
	body, err = io.ReadAll(r.Body)
	return r, body, err
}

// shown is an answer without what is the server's own.
func shown(t *testing.T, addr, request string) string {
	t.Helper()
	r, body, err := answerOf(t, addr, request)
	if r == nil {
		return "no answer: " + err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d", r.StatusCode)
	for _, name := range []string{"Location", "Set-Cookie", "X-Own", "X-Hop", "X-Stay", "Etag", "Retry-After", "Www-Authenticate"} {
		if v := r.Header.Values(name); len(v) > 0 {
			fmt.Fprintf(&b, "\n%s: %q", name, v)
		}
	}
	if r.StatusCode < 400 || bytes.Equal(body, []byte("mine")) { // other pages are each one's own
		fmt.Fprintf(&b, "\n%s", body)
	}
	if err != nil {
		b.WriteString("\nbroken off")
	}
	_, port, _ := net.SplitHostPort(addr)
	return strings.ReplaceAll(b.String(), "main.test:"+port, "main.test:PORT")
}

// TestProxyDifferential asks Apache with mod_proxy and jkd for the same with the
// same rules, and compares what reaches the back end and what comes back.
func TestProxyDifferential(t *testing.T) {
	back := rawBack(t)
	ajp := ajptest.New(t, func(e *ajptest.Exchange) {
		body, _ := e.Body()
		e.Respond(200, fmt.Sprintf("%s %s ?%s %q", e.Request.Method, e.Request.URI, attribute(e.Request, "query_string"), body), ajptest.H("X-Own", "ajp"))
	})
	dead := addrOf(freePort(t))
	rules := strings.NewReplacer("BACK", back, "AJP", ajp.Addr(), "DEAD", dead).Replace(proxyRules)
	apache := apachetest.StartT(t, apachetest.Options{
		MPM: "worker", Modules: []string{"proxy", "proxy_http", "proxy_ajp", "proxy_balancer", "slotmem_shm", "lbmethod_byrequests"}, Config: rules,
	})
	lines := []string{"[proxy]"}
	for line := range strings.Lines(rules) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines = append(lines, name+" = "+value)
	}
	theirs := make([]string, len(proxyProbes))
	for i, p := range proxyProbes {
		theirs[i] = shown(t, apache.Addr(), p.request)
	}
	bin := binary(t)
	for _, mpm := range []string{"prefork", "worker"} {
		t.Run(mpm, func(t *testing.T) {
			s := start(t, bin, config{mpm: mpm, jk2: []string{}, jk: lines})
			for i, p := range proxyProbes {
				theirs, ours := theirs[i], shown(t, s.addr, p.request)
				line, _, _ := strings.Cut(p.request, "\r\n")
				switch {
				case theirs == ours && p.differs != "":
					t.Errorf("%s: the difference is gone: %s", line, p.differs)
				case theirs != ours && p.differs == "":
					t.Errorf("%s:\nApache: %s\njkd: %s", line, theirs, ours)
				case theirs != ours:
					t.Logf("%s: %s\nApache: %s\njkd: %s", line, p.differs, theirs, ours)
				}
			}
		})
	}
}
