//go:build unix

package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/apachetest"
	"jkd/cmd/jkd/internal/tomcattest"
)

const switching = "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: abc\r\n"

// upgrader is a back end that takes an Upgrade, says hello behind its 101 and then
// says everything again in upper case. Paths change what it does.
type upgrader struct {
	net.Listener
	heads chan string
	ends  atomic.Int32
}

func newUpgrader(t *testing.T) *upgrader {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &upgrader{Listener: ln, heads: make(chan string, 100)}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go u.serve(c)
		}
	}()
	return u
}

func (u *upgrader) serve(c net.Conn) {
	defer c.Close()
	defer u.ends.Add(1)
	br := bufio.NewReader(c)
	for {
		var head strings.Builder
		for !strings.HasSuffix(head.String(), "\r\n\r\n") {
			line, err := br.ReadString('\n')
			if err != nil {
				return
			}
			head.WriteString(line)
		}
		u.heads <- head.String()
		path := strings.Fields(head.String())[1]
		if asked := strings.Contains(head.String(), "\r\nUpgrade: "); !asked && !strings.HasSuffix(path, "/unasked") || strings.HasSuffix(path, "/refuse") {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nno\n")
			continue
		}
		protocol := "websocket"
		if strings.HasSuffix(path, "/other") {
			protocol = "other"
		}
		fmt.Fprintf(c, switching+"Connection: Upgrade\r\nUpgrade: %s\r\n\r\nhello ", protocol)
		buf := make([]byte, 32<<10)
		for {
			n, err := br.Read(buf)
			if _, werr := c.Write([]byte(strings.ToUpper(string(buf[:n])))); err != nil || werr != nil {
				if !strings.HasSuffix(path, "/deaf") {
					return
				}
				time.Sleep(50 * time.Millisecond)
				fmt.Fprint(c, "goodbye")
				return
			}
		}
	}
}

const ask101 = "GET %s HTTP/1.1\r\nHost: ws.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n\r\n"

// wsClient is a client's connection that ends the test when it fails.
type wsClient struct {
	*conn
	t *testing.T
}

func dialWS(t *testing.T, addr string) *wsClient {
	t.Helper()
	return &wsClient{dial(t, addr), t}
}

// tcp is what not every connection can do.
func (c *wsClient) tcp() *net.TCPConn { return c.Conn.(*net.TCPConn) }

func (c *wsClient) say(format string, args ...any) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c, format, args...); err != nil {
		c.t.Fatal(err)
	}
}

// head reads the head of an answer.
func (c *wsClient) head() string {
	c.t.Helper()
	var b strings.Builder
	for !strings.HasSuffix(b.String(), "\r\n\r\n") {
		line, err := c.r.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			c.t.Fatalf("%q, %v", b.String(), err)
		}
	}
	return b.String()
}

func (c *wsClient) want(text string) {
	c.t.Helper()
	b := make([]byte, len(text))
	if _, err := io.ReadFull(c.r, b); err != nil || string(b) != text {
		c.t.Fatalf("%.100q, %v, want %.100q", b, err, text)
	}
}

// upgrades is a configuration with rules for a back end.
func upgrades(back string) string {
	return strings.ReplaceAll(`
LogFormat "%r %>s %B" short
CustomLog access.log short
ProxyAddHeaders Off
ProxyPreserveHost On
ProxyPass /ws/ ws://@/ws/
ProxyPass /any/ http://@/any/ upgrade=ANY
ProxyPass /none/ ws://@/none/ upgrade=NONE
ProxyPass /one/ balancer://one/one/
<Proxy balancer://one>
    BalancerMember ws://@ max=1 acquire=1
</Proxy>
ProxyPass /idle/ balancer://idle/idle/
<Proxy balancer://idle>
    BalancerMember http://@ upgrade=websocket timeout=1
</Proxy>
ProxyPass / http://@/
`, "@", back)
}

// TestWebSocket is what mod_proxy does with Upgrade: the request goes to the back
// end with it, the 101 to the client, and then bytes both ways.
func TestWebSocket(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		u := newUpgrader(t)
		one := "" // process, so that max is one connection
		if mpm == "worker" {
			one = "StartServers 1\nServerLimit 1\nThreadsPerChild 16\nMaxRequestWorkers 16\n"
		}
		s := start(t, bin, config{mpm: mpm, httpd: one + upgrades(u.Addr().String())})
		open := func(path string) *wsClient {
			t.Helper()
			c := dialWS(t, s.addr)
			c.say(ask101, path)
			if h := c.head(); !strings.HasPrefix(h, switching) || !strings.HasSuffix(h, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n") {
				t.Fatalf("%s: %q", path, h)
			}
			c.want("hello ")
			return c
		}

		// What the client sends at once, behind its head, is not lost, nor what
		// the back end does.
		c := dialWS(t, s.addr)
		c.say(ask101+"early ", "/ws/a?b=c")
		if got, want := <-u.heads, "GET /ws/a?b=c HTTP/1.1\r\nHost: ws.test\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"; got != want {
			t.Errorf("the back end gets %q, want %q", got, want)
		}
		c.head()
		c.want("hello EARLY ")
		big := strings.Repeat("0123456789abcdef", 1<<16)
		go func() { _, _ = io.WriteString(c, big) }()
		c.want(strings.ToUpper(big))
		_ = c.tcp().CloseWrite()
		if rest, err := io.ReadAll(c.r); err != nil || len(rest) > 0 {
			t.Errorf("at the end: %q, %v", rest, err)
		}

		// The end of one direction leaves the other.
		c = open("/ws/deaf")
		_ = c.tcp().CloseWrite()
		if rest, err := io.ReadAll(c.r); err != nil || string(rest) != "goodbye" {
			t.Errorf("after the client's end: %q, %v", rest, err)
		}
		// A client that vanishes takes the back end's connection along.
		before := u.ends.Load()
		c = open("/ws/x")
		_ = c.tcp().SetLinger(0)
		c.Close()
		s.eventually("the back end's connection ends", func() bool { return u.ends.Load() > before })
		// So does silence.
		c = open("/idle/x")
		if rest, err := io.ReadAll(c.r); err != nil || len(rest) > 0 {
			t.Errorf("after silence: %q, %v", rest, err)
		}
		if c = open("/any/x"); mpm == "worker" {
			open("/ws/while").Close() // another one meanwhile
		}
		c.Close()

		// Who is not upgraded is answered as ever, and asks on.
		for _, tt := range []struct {
			request string
			status  int
			back    string // which it gets, or ""
		}{
			{fmt.Sprintf(ask101, "/ws/refuse"), 200, "Upgrade: websocket"},
			{fmt.Sprintf(ask101, "/plain/x"), 200, ""},
			{fmt.Sprintf(ask101, "/none/x"), 200, ""},
			{"GET /ws/x HTTP/1.1\r\nHost: ws.test\r\nUpgrade: websocket\r\n\r\n", 200, ""},
			{"GET /ws/x HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\n\r\n", 200, ""},
			{"GET /ws/x HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n\r\n", 200, ""},
			{"GET /ws/x HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: h2c, other\r\n\r\n", 200, ""},
			{"GET /any/x HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n", 200, ""},
			{"GET /any/refuse HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: h2c, foo/2\r\n\r\n", 200, "Upgrade: foo/2"},
			{"HEAD /ws/x HTTP/1.1\r\nHost: ws.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 200, ""},
			{"GET /ws/x HTTP/1.0\r\nHost: ws.test\r\nConnection: Upgrade, keep-alive\r\nUpgrade: websocket\r\n\r\n", 200, ""},
			{"GET /ws/unasked HTTP/1.1\r\nHost: ws.test\r\n\r\n", 502, ""},
			{fmt.Sprintf(ask101, "/ws/other"), 502, "Upgrade: websocket"},
		} {
			for len(u.heads) > 0 {
				<-u.heads
			}
			c := dialWS(t, s.addr)
			method, _, _ := strings.Cut(tt.request, " ")
			c.say("%sGET /plain/next HTTP/1.1\r\nHost: ws.test\r\nConnection: close\r\n\r\n", tt.request)
			r, err := http.ReadResponse(c.r, &http.Request{Method: method})
			if err != nil {
				t.Fatalf("%q: %v", tt.request, err)
			}
			_, _ = io.Copy(io.Discard, r.Body)
			if h := <-u.heads; r.StatusCode != tt.status || strings.Contains(h, "Upgrade") != (tt.back != "") || !strings.Contains(h, tt.back) || strings.Contains(h, "h2c") {
				t.Errorf("%q: %d, the back end gets %q", tt.request, r.StatusCode, h)
			}
			if r, err := http.ReadResponse(c.r, nil); err != nil || r.StatusCode != 200 {
				t.Errorf("%q: then %v, %v", tt.request, r, err)
			}
			c.Close()
		}

		// A connection in use as a tunnel is one in use, and it outlives a reload.
		c = open("/one/x")
		if mpm == "worker" {
			d := dialWS(t, s.addr)
			d.say(ask101, "/one/x")
			if h := d.head(); !strings.HasPrefix(h, "HTTP/1.1 503 ") {
				t.Errorf("beyond max=1: %q", h)
			}
		}
		old := s.current()
		_ = syscall.Kill(old, syscall.SIGHUP)
		s.eventually("the reload", func() bool { pid := s.current(); return pid != 0 && pid != old })
		c.say("still here")
		c.want("STILL HERE")
		open("/ws/new").Close()
		c.Close()
		s.eventually("the old generation ends", func() bool { return !alive(old) })
		s.eventually("the log", func() bool {
			text, _ := os.ReadFile(filepath.Join(s.dir, "access.log"))
			return strings.Contains(string(text), fmt.Sprintf("GET /ws/a?b=c HTTP/1.1 101 %d\n", len("hello EARLY ")+len(big))) &&
				strings.Contains(string(text), "GET /one/x HTTP/1.1 101 16\n")
		})
	})
}

// TestWebSocketApache asks Apache and jkd with the same rules for the same. Apache
// takes an Upgrade that Connection does not name, too, which RFC 9110 section 7.8
// does not let anybody send.
func TestWebSocketApache(t *testing.T) {
	apachetest.Require(t)
	bin := binary(t)
	u := newUpgrader(t)
	text := upgrades(u.Addr().String())
	apache := apachetest.StartT(t, apachetest.Options{Populate: func(dir string, port int) error {
		conf := fmt.Sprintf("ServerRoot %q\nListen 127.0.0.1:%d\nServerName x\nDefaultRuntimeDir %q\nPidFile httpd.pid\nErrorLog error.log\n%s\n", dir, port, dir, httpdUser())
		for _, m := range []string{"mpm_event", "authz_core", "proxy", "proxy_http", "proxy_wstunnel", "proxy_balancer", "slotmem_shm", "lbmethod_byrequests"} {
			conf += fmt.Sprintf("LoadModule %s_module %s/mod_%s.so\n", m, apachetest.Modules, m)
		}
		return os.WriteFile(filepath.Join(dir, "httpd.conf"), []byte(conf+text), 0o644)
	}})
	s := start(t, bin, config{mpm: "worker", httpd: text})
	for _, request := range []string{
		fmt.Sprintf(ask101, "/ws/a?b=c"),
		fmt.Sprintf(ask101, "/ws/refuse"),
		fmt.Sprintf(ask101, "/any/x"),
		fmt.Sprintf(ask101, "/idle/x"),
		fmt.Sprintf(ask101, "/plain/x"),
		"GET /ws/x HTTP/1.1\r\nHost: ws.test\r\n\r\n",
		"GET /plain/x HTTP/1.1\r\nHost: ws.test\r\n\r\n",
	} {
		ask := func(addr string) (answer, arrived string, talk string) {
			c := dialWS(t, addr)
			defer c.Close()
			c.say("%s", request)
			h := c.head()
			lines := strings.Split(h, "\r\n")
			status := strings.Join(strings.Fields(lines[0])[:2], " ")
			for _, l := range lines[1:] {
				if name, _, _ := strings.Cut(l, ":"); strings.EqualFold(name, "Upgrade") || strings.EqualFold(name, "Connection") && strings.HasSuffix(status, "101") || strings.HasPrefix(name, "Sec-") {
					status += " " + l
				}
			}
			if strings.Contains(status, " 101") {
				c.say("ping")
				c.want("hello PING")
				talk = "talked"
			}
			return status, <-u.heads, talk
		}
		fields := func(head string) string { // in any order, without what Apache says of keep-alive
			lines := strings.Split(strings.TrimSpace(head), "\r\n")
			var kept []string
			for _, l := range lines[1:] {
				if l != "Connection: Keep-Alive" {
					kept = append(kept, l)
				}
			}
			return strings.Join(append(lines[:1], sorted(kept)...), "\n")
		}
		theirs, theirHead, theirTalk := ask(apache.Addr())
		ours, ourHead, ourTalk := ask(s.addr)
		if !strings.EqualFold(fields(theirHead), fields(ourHead)) {
			t.Errorf("%.40q: the back end gets of Apache\n%q, of jkd\n%q", request, theirHead, ourHead)
		}
		if same := func(s string) string { return strings.Join(sorted(strings.Fields(strings.ToLower(s))), " ") }; same(theirs) != same(ours) || theirTalk != ourTalk {
			t.Errorf("%.40q: Apache answers %q, jkd %q", request, theirs, ours)
		}
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// TestWebSocketTomcat talks to the echo of Tomcat's examples.
func TestWebSocketTomcat(t *testing.T) {
	tc := tomcattest.StartT(t, tomcattest.Options{HTTP: true})
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{mpm: mpm, httpd: "ProxyPass / http://" + tc.HTTPAddr() + "/ upgrade=websocket"})
		c := dialWS(t, s.addr)
		c.say("GET /examples/websocket/echoProgrammatic HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nOrigin: http://%[1]s\r\n\r\n", s.addr)
		// RFC 6455 section 1.3 has this key and this answer.
		if h := strings.ToLower(c.head()); !strings.HasPrefix(h, "http/1.1 101 ") || !strings.Contains(h, "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=") {
			t.Fatalf("%q", h)
		}
		for range 3 { // section 5.7: "Hello", masked, and what comes back
			c.say("%s", "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58")
			c.want("\x81\x05Hello")
		}
		c.say("%s", "\x88\x82\x00\x00\x00\x00\x03\xe8") // a close frame, 1000
		c.want("\x88\x02\x03\xe8")
		if rest, err := io.ReadAll(c.r); err != nil || len(rest) > 0 {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	})
}
