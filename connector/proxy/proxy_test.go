package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/connectortest"
)

// node is a scripted HTTP container: serve says what to answer to the request
// with that target, "" closes the connection.
type node struct {
	addr  string
	ln    net.Listener
	serve func(req, body string) string

	mu    sync.Mutex
	conns map[net.Conn]bool
	seen  []string // requests with their heads and bodies

	accepted atomic.Int32
}

func newNode(t *testing.T, network string, serve func(req, body string) string) *node {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "s")
	}
	ln, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{addr: ln.Addr().String(), ln: ln, serve: serve, conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			n.accepted.Add(1)
			n.mu.Lock()
			n.conns[c] = true
			n.mu.Unlock()
			go n.run(c)
		}
	}()
	t.Cleanup(func() { ln.Close(); n.closeConns() })
	return n
}

func (n *node) closeConns() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		c.Close()
	}
	clear(n.conns)
}

func (n *node) run(c net.Conn) {
	defer c.Close()
	br := bufio.NewReader(c)
	for {
		var head strings.Builder
		for {
			line, err := br.ReadString('\n')
			head.WriteString(line)
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
		}
		r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(head.String()), br)))
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		n.mu.Lock()
		n.seen = append(n.seen, head.String()+string(body))
		n.mu.Unlock()
		if err != nil {
			return
		}
		answer := n.serve(r.Method+" "+r.RequestURI, string(body))
		if answer == "" {
			return
		}
		if _, err := io.WriteString(c, answer); err != nil || strings.Contains(answer, "Connection: close") {
			return
		}
	}
}

// last is the last request and forgets all.
func (n *node) last() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.seen) == 0 {
		return ""
	}
	s := n.seen[len(n.seen)-1]
	n.seen = nil
	return s
}

func (n *node) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.seen)
}

func ok(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func do(t *testing.T, c *Connector, q *connector.Request) (*connectortest.Answer, *connector.Error) {
	t.Helper()
	w := c.Match(q)
	if w == nil {
		t.Fatalf("%s is not mapped", q.Path)
	}
	a := &connectortest.Answer{}
	err := w.Service(q, a)
	var e *connector.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("an error of another type: %v", err)
	}
	return a, e
}

func get(path string, fields ...string) *connector.Request {
	q := connectortest.Request("GET", path, "")
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		q.Fields = append(q.Fields, connector.Field{Name: []byte(name), Value: []byte(value)})
	}
	return q
}

// overUnix makes a request one of a Unix socket's client.
func overUnix(q *connector.Request) *connector.Request {
	q.RemoteAddr = []byte(connector.UnixAddr)
	return q
}

// eachModel runs a test under both kinds of connections.
func eachModel(t *testing.T, f func(t *testing.T, threads int)) {
	t.Run("prefork", func(t *testing.T) { f(t, 1) })
	t.Run("worker", func(t *testing.T) { f(t, 8) })
}

func TestHeads(t *testing.T) {
	n := newNode(t, "tcp", func(string, string) string { return ok("") })
	for _, tt := range []struct {
		conf string
		q    *connector.Request
		want string
	}{
		{"", get("/a/b", "X-Own: 1"), "GET /ctx/b HTTP/1.1\r\nHost: @\r\nX-Own: 1\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: www.example.org\r\nX-Forwarded-Server: www.example.org\r\n\r\n"},
		{"", overUnix(get("/a")), "GET /ctx HTTP/1.1\r\nHost: @\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: www.example.org\r\nX-Forwarded-Server: www.example.org\r\n\r\n"},
		{"ProxyPreserveHost = On\nProxyAddHeaders = Off\n", get("/a"), "GET /ctx HTTP/1.1\r\nHost: www.example.org\r\n\r\n"},
		{"ProxyAddHeaders = Off\n", get("/a", "X-Forwarded-For: 192.0.2.9"), "GET /ctx HTTP/1.1\r\nHost: @\r\nX-Forwarded-For: 192.0.2.9\r\n\r\n"},
		{"", get("/a", "X-Forwarded-For: 192.0.2.9", "x-forwarded-for: 192.0.2.8"), "GET /ctx HTTP/1.1\r\nHost: @\r\nX-Forwarded-For: 192.0.2.9, 192.0.2.8, 192.0.2.1\r\nX-Forwarded-Host: www.example.org\r\nX-Forwarded-Server: www.example.org\r\n\r\n"},
		{"ProxyAddHeaders = Off\n", connectortest.Request("POST", "/a", "hello"), "POST /ctx HTTP/1.1\r\nHost: @\r\nContent-Length: 5\r\n\r\nhello"},
		{"ProxyAddHeaders = Off\n", connectortest.Request("POST", "/a", ""), "POST /ctx HTTP/1.1\r\nHost: @\r\nContent-Length: 0\r\n\r\n"},
		{"ProxyAddHeaders = Off\nProxySet = http://@ disablereuse=On\n", get("/a"), "GET /ctx HTTP/1.1\r\nHost: @\r\nConnection: close\r\n\r\n"},
	} {
		c := newConnector(t, 1, strings.ReplaceAll("[proxy]\nProxyPass = /a http://@/ctx\n"+tt.conf, "@", n.addr))
		if _, err := do(t, c, tt.q); err != nil {
			t.Error(err)
		}
		if got, want := n.last(), strings.ReplaceAll(tt.want, "@", n.addr); got != want {
			t.Errorf("%q: sent\n%q, want\n%q", tt.conf, got, want)
		}
		c.Close()
	}
}

func TestHTTPBodies(t *testing.T) {
	eachModel(t, func(t *testing.T, threads int) {
		n := newNode(t, "tcp", func(_, body string) string { return ok(fmt.Sprint(len(body))) })
		c := newConnector(t, threads, "[proxy]\nProxyPass = / http://"+n.addr+"/\n")
		defer c.Close()
		for _, size := range []int{0, 1, 16383, 16384, 16385, 200000} {
			for _, chunked := range []bool{false, true} {
				q := connectortest.Request("POST", "/", strings.Repeat("x", size))
				if chunked {
					q.ContentLength = -1
				}
				a, err := do(t, c, q)
				if err != nil || string(a.Body) != fmt.Sprint(size) {
					t.Errorf("%d bytes, chunked %v: %v, the container read %s", size, chunked, err, a.Body)
				}
				if len := strings.Contains(n.last(), "Content-Length: "); len == (chunked && size > 0) {
					t.Errorf("%d bytes, chunked %v: Content-Length %v", size, chunked, len)
				}
			}
		}
		if got := n.accepted.Load(); got != 1 {
			t.Errorf("%d connections", got)
		}
	})
}

// A connection that the container has closed while it was idle costs no request,
// and one that dies under a request is tried again only if that may be.
func TestStale(t *testing.T) {
	eachModel(t, func(t *testing.T, threads int) {
		var fails atomic.Value // the node's goroutines read it
		fails.Store("")
		n := newNode(t, "tcp", func(req, _ string) string {
			if fail := fails.Load().(string); strings.HasSuffix(req, fail) && fail != "" {
				if fail == "/once" {
					fails.Store("")
				}
				return ""
			}
			return ok("fine")
		})
		c := newConnector(t, threads, "[proxy]\nProxyPass = / http://"+n.addr+"/\n")
		defer c.Close()
		for _, method := range []string{"GET", "POST"} {
			do(t, c, get("/"))
			n.closeConns()
			time.Sleep(10 * time.Millisecond) // until the end has come through
			if a, err := do(t, c, connectortest.Request(method, "/x", "")); err != nil || string(a.Body) != "fine" {
				t.Errorf("%s on a closed connection: %v", method, err)
			}
		}
		fails.Store("/once")
		if a, err := do(t, c, get("/once")); err != nil || string(a.Body) != "fine" {
			t.Errorf("GET on a connection that dies: %v", err)
		}
		for _, tt := range []struct{ method, body string }{{"POST", ""}, {"POST", "x"}, {"DELETE", ""}, {"PUT", "y"}, {"GET", "z"}} {
			do(t, c, get("/"))
			n.last()
			fails.Store("/dies")
			if _, err := do(t, c, connectortest.Request(tt.method, "/dies", tt.body)); err == nil || err.Status != 502 || n.count() != 1 {
				t.Errorf("%s %q: %v, sent %d times", tt.method, tt.body, err, n.count())
			}
		}
		fails.Store("/dies")
		if _, err := do(t, c, get("/dies")); err == nil || err.Status != 502 {
			t.Errorf("GET that always dies: %v", err)
		}
		fails.Store("")
		if _, err := do(t, c, get("/")); err != nil {
			t.Errorf("afterwards: %v: a back end that was reached is not in error", err)
		}
	})
}

func TestFailures(t *testing.T) {
	eachModel(t, func(t *testing.T, threads int) {
		n := newNode(t, "tcp", func(req, _ string) string {
			switch req {
			case "GET /bad":
				return "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
			case "GET /slow":
				time.Sleep(1500 * time.Millisecond)
			case "GET /cut":
				return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nab"
			case "GET /404":
				return "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nWWW-Authenticate: Basic\r\n\r\nmine"
			}
			return ok("fine")
		})
		gone := newNode(t, "tcp", nil)
		gone.ln.Close()
		c := newConnector(t, threads, fmt.Sprintf("[proxy]\nProxyPass = /gone http://%s/ retry=600\nProxyPass = /own http://%s\nProxyPass = / http://%s/ timeout=1\n", gone.addr, n.addr, n.addr))
		defer c.Close()
		for path, status := range map[string]int{"/bad": 502, "/slow": 504, "/cut": 502, "/gone": 503} {
			a, err := do(t, c, get(path))
			if err == nil || err.Status != status || err.Client || a.Started() != (path == "/cut") || a.Finished {
				t.Errorf("%s: %v, want %d", path, err, status)
			}
			if a, err := do(t, c, get("/")); err != nil || string(a.Body) != "fine" {
				t.Errorf("after %s: %v", path, err)
			}
		}
		if _, err := do(t, c, get("/gone")); err == nil || err.Op != "choose worker" {
			t.Errorf("a back end that has failed is left alone for retry: %v", err)
		}
		over := newConnector(t, threads, "[proxy]\nProxyErrorOverride = On 404\nProxyPass = / http://"+n.addr+"/\n")
		defer over.Close()
		if a, err := do(t, over, get("/404")); err == nil || !err.Own || err.Status != 404 || len(err.Fields) != 1 || a.Started() {
			t.Errorf("override: %+v", err)
		}
	})
}

// A client that leaves, and a container that answers before it has read the
// body.
func TestEarly(t *testing.T) {
	eachModel(t, func(t *testing.T, threads int) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				go func() {
					defer c.Close()
					br := bufio.NewReader(c)
					for line := ""; line != "\r\n"; {
						if line, err = br.ReadString('\n'); err != nil {
							return
						}
					}
					_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
					_, _ = io.Copy(io.Discard, br)
				}()
			}
		}()
		c := newConnector(t, threads, "[proxy]\nProxyPass = / http://"+ln.Addr().String()+"/\n")
		defer c.Close()
		for range 2 {
			q := connectortest.Request("POST", "/", "")
			q.ContentLength = -1
			q.Body = &paced{left: 1000}
			a, e := do(t, c, q)
			if e != nil || a.Status != 413 || string(a.Body) != "big" {
				t.Errorf("%v, %d", e, a.Status)
			}
			if q.Body.(*paced).left == 0 {
				t.Error("all of the body was sent to a container that did not want it")
			}
		}
		w := c.Match(get("/"))
		err = w.Service(get("/"), &connectortest.Answer{Leaves: true, Gone: -1})
		var ce *connector.Error
		if !errors.As(err, &ce) || !ce.Client {
			t.Errorf("a client that leaves: %v", err)
		}
	})
}

// paced is a client that sends a body bit by bit.
type paced struct{ left int }

func (p *paced) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	p.left--
	time.Sleep(time.Millisecond)
	return copy(b, "some bytes"), nil
}

func TestUnix(t *testing.T) {
	eachModel(t, func(t *testing.T, threads int) {
		n := newNode(t, "unix", func(req, _ string) string { return ok(req) })
		c := newConnector(t, threads, "[proxy]\nProxyPass = /a unix:"+n.addr+"|http://localhost/b\n")
		defer c.Close()
		if a, err := do(t, c, get("/a/x")); err != nil || string(a.Body) != "GET /b/x" {
			t.Errorf("%v, %q", err, a.Body)
		}
		if got := n.last(); !strings.Contains(got, "Host: localhost\r\n") {
			t.Errorf("sent %q", got)
		}
	})
}

func TestReverse(t *testing.T) {
	var fields atomic.Value // the node's goroutines read it
	n := newNode(t, "tcp", func(string, string) string {
		return "HTTP/1.1 302 Found\r\n" + fields.Load().(string) + "\r\nContent-Length: 0\r\n\r\n"
	})
	c := newConnector(t, 1, strings.ReplaceAll(`[proxy]
BalancerMember = balancer://b http://@/m
ProxyPass = /bal balancer://b/x
ProxyPass = /app http://@/ctx
ProxyPassReverse = /app http://@/ctx
ProxyPassReverse = /bal balancer://b/x
ProxyPassReverse = /rel /inner
ProxyPassReverseCookiePath = /ctx /app
ProxyPassReverseCookieDomain = back.test www.example.org
`, "@", n.addr))
	defer c.Close()
	for in, want := range map[string]string{
		"Location: http://@/ctx/login?x=y":                       "Location: http://www.example.org/app/login?x=y",
		"Location: HTTP://@/ctx":                                 "Location: http://www.example.org/app",
		"Location: http://@/ctxother":                            "Location: http://@/ctxother",
		"Location: http://elsewhere/ctx":                         "Location: http://elsewhere/ctx",
		"Location: /inner/x":                                     "Location: http://www.example.org/rel/x",
		"Content-Location: http://@/m/x/y":                       "Content-Location: http://www.example.org/bal/y",
		"Set-Cookie: a=b; Path=/ctx; HttpOnly":                   "Set-Cookie: a=b; Path=/app; HttpOnly",
		"Set-Cookie: a=path=/ctx; path=/ctx/s; Domain=back.test": "Set-Cookie: a=path=/ctx; path=/app/s; Domain=www.example.org",
		"X-Location: http://@/ctx/x":                             "X-Location: http://@/ctx/x",
	} {
		fields.Store(strings.ReplaceAll(in, "@", n.addr))
		a, err := do(t, c, get("/app/"))
		if want = strings.ReplaceAll(want, "@", n.addr); err != nil || !slices.Contains(a.Fields, want) {
			t.Errorf("%s: %v, %q, want %q", in, err, a.Fields, want)
		}
	}
}

func TestBalancer(t *testing.T) {
	status := map[string]string{}
	var mu sync.Mutex
	nodes := map[string]*node{}
	replace := []string{}
	for _, name := range []string{"n1", "n2", "n3"} {
		n := newNode(t, "tcp", func(string, string) string {
			mu.Lock()
			defer mu.Unlock()
			if s := status[name]; s != "" {
				return "HTTP/1.1 " + s + " X\r\nContent-Length: 2\r\n\r\n" + name
			}
			return ok(name)
		})
		nodes[name] = n
		replace = append(replace, "@"+name, "http://"+n.addr)
	}
	gone := newNode(t, "tcp", nil)
	gone.ln.Close()
	replace = append(replace, "@gone", "http://"+gone.addr)
	make := func(lines ...string) *Connector {
		c := newConnector(t, 8, strings.NewReplacer(replace...).Replace("[proxy balancer://b]\n"+strings.Join(lines, "\n")+"\n[proxy]\nProxyPass = / balancer://b/\n"))
		t.Cleanup(func() { c.Close() })
		return c
	}
	served := func(c *Connector, q *connector.Request) string {
		a, err := do(t, c, q)
		if err != nil {
			return fmt.Sprint(err.Status)
		}
		return string(a.Body)
	}
	times := func(c *Connector, n int) string {
		var s []string
		for range n {
			s = append(s, served(c, get("/")))
		}
		return strings.Join(s, " ")
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	want("by requests", times(make("BalancerMember = @n1 loadfactor=2", "BalancerMember = @n2"), 6), "n1 n2 n1 n1 n2 n1")
	want("by traffic", times(make("BalancerMember = @n1", "BalancerMember = @n2", "ProxySet = lbmethod=bytraffic"), 4), "n1 n2 n1 n2")
	want("by busyness", times(make("BalancerMember = @n1", "BalancerMember = @n2", "ProxySet = lbmethod=bybusyness"), 4), "n1 n2 n1 n2")
	want("standby", times(make("BalancerMember = @n1 status=+H", "BalancerMember = @n2"), 2), "n2 n2")
	want("standby in need", times(make("BalancerMember = @n1 status=+H", "BalancerMember = @gone"), 2), "n1 n1")
	want("spare before standby", times(make("BalancerMember = @n1 status=H", "BalancerMember = @n2 status=R", "BalancerMember = @gone", "ProxySet = maxattempts=5"), 2), "n2 n2")
	want("sets", times(make("BalancerMember = @n1 lbset=1", "BalancerMember = @n2 lbset=0"), 2), "n2 n2")
	want("disabled", times(make("BalancerMember = @n1 status=D", "BalancerMember = @n2"), 2), "n2 n2")
	want("all gone", times(make("BalancerMember = @gone"), 2), "503 503")
	want("no failover", times(make("BalancerMember = @gone", "BalancerMember = @n1", "ProxySet = maxattempts=0"), 2), "503 n1")

	sticky := make("BalancerMember = @n1 route=one", "BalancerMember = @n2 route=two", "BalancerMember = @gone route=lost redirect=two", "ProxySet = stickysession=JSESSIONID|jsessionid")
	for range 3 {
		want("cookie", served(sticky, get("/", "Cookie: x=y; JSESSIONID=abc.two")), "n2")
		want("path", served(sticky, get("/x;jsessionid=abc.one")), "n1")
		q := get("/x")
		q.Query, q.HasQuery = []byte("a=b&jsessionid=1.two"), true
		want("query", served(sticky, q), "n2")
	}
	want("redirect", served(sticky, get("/", "Cookie: JSESSIONID=abc.lost")), "n2")
	forced := make("BalancerMember = @n1 route=one", "BalancerMember = @gone route=lost", "ProxySet = stickysession=S nofailover=On")
	want("nofailover", served(forced, get("/", "Cookie: S=abc.lost")), "503")
	want("nofailover, again", served(forced, get("/", "Cookie: S=abc.lost")), "503")
	want("nofailover, new", served(forced, get("/")), "n1")

	failing := make("BalancerMember = @n1", "BalancerMember = @n2", "ProxySet = failonstatus=503,500")
	mu.Lock()
	status["n1"] = "503"
	mu.Unlock()
	want("failonstatus", times(failing, 4), "n1 n2 n2 n2")
}

func TestPool(t *testing.T) {
	hold := make(chan bool)
	n := newNode(t, "tcp", func(req, _ string) string {
		if req == "GET /hold" {
			<-hold
		}
		return ok("")
	})
	c := newConnector(t, 8, "[proxy]\nProxyPass = / http://"+n.addr+"/ max=2 acquire=50\n")
	defer c.Close()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { do(t, c, get("/hold")) })
	}
	for n.count() < 2 {
		time.Sleep(time.Millisecond)
	}
	if _, err := do(t, c, get("/")); err == nil || err.Status != 503 || err.Op != "acquire connection" {
		t.Errorf("beyond max: %v", err)
	}
	close(hold)
	wg.Wait()
	if _, err := do(t, c, get("/")); err != nil || n.accepted.Load() != 2 {
		t.Errorf("then: %v, %d connections", err, n.accepted.Load())
	}
	old := newConnector(t, 8, "[proxy]\nProxyPass = / http://"+n.addr+"/ ttl=1\n")
	defer old.Close()
	now := time.Now()
	old.workers[0].now = func() time.Time { return now }
	before := n.accepted.Load()
	do(t, old, get("/"))
	do(t, old, get("/"))
	now = now.Add(2 * time.Second)
	do(t, old, get("/"))
	if got := n.accepted.Load() - before; got != 2 {
		t.Errorf("ttl: %d connections, want 2", got)
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"ProxyPass = /a https://h/", "https is not supported"},
		{"ProxyPass = /a wss://h/", "wss is not supported"},
		{"ProxyPass = /a ajp://h/ upgrade=websocket", "upgrade: is for HTTP"},
		{"ProxyPass = /a http://h/ upgrade=a,b", "is no protocol"},
		{"ProxyPass = /a h:80", "no URL"},
		{"ProxyPass = /a http://u@h/", "without a user"},
		{"ProxyPass = /a http://h:0/", "no port"},
		{"ProxyPass = /a http://h/?x", "blanks, '?'"},
		{"ProxyPass = /a balancer://none", "no BalancerMember"},
		{"ProxyPass = /a http://h/ tiemout=5", "did you mean timeout"},
		{"ProxyPass = /a http://h/ timeout=x", "no time"},
		{"ProxyPass = /a http://h/ secret=x", "is for AJP"},
		{"ProxyPass = /a http://h/ timeout", "has no value"},
		{"ProxyPass = /a unix:s|http://h/", "no unix:"},
		{"ProxyPassMatch = ^/(?!x) http://h/", "rules with !"},
		{"ProxyPassMatch = ^/(x) http://h/$2", "has 1 groups"},
		{"ProxyPassMatch = ^/(.*) http://$1/", "must be written out"},
		{"ProxyPass = /a ! retry=5", "nothing follows !"},
		{"ProxySet = http://other/ retry=5", "no ProxyPass"},
		{"BalancerMember = balancer://b balancer://c", "can't be a member"},
		{"BalancerMember = balancer://b http://h loadfactor=0", "no number from 1 to 100"},
		{"BalancerMember = balancer://b http://h status=X", "unknown status"},
	} {
		cfg, _, err := conf.Parse("/etc/jkd.conf", []byte("[server]\nListen = 127.0.0.1:1\n[proxy]\n"+tt.line+"\n"), conf.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if _, _, err = Load(cfg); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "/etc/jkd.conf:4: ") {
			t.Errorf("%s: %v, want %q", tt.line, err, tt.want)
		}
	}
}

// TestMemberAndRule: a back end of a rule that is a member of a balancer too has
// parameters and connections for each.
func TestMemberAndRule(t *testing.T) {
	s, _ := setup(t, "[proxy balancer://b]\nBalancerMember = http://h max=3\n[proxy]\nProxyPass = /a balancer://b\nProxyPass = /b http://h/ max=5\nProxySet = http://h/ retry=7\n")
	if len(s.Workers) != 2 || s.Workers[0].Max != 3 || s.Workers[1].Max != 5 || s.Workers[1].Retry != 7*time.Second {
		t.Errorf("%+v", s.Workers)
	}
}
