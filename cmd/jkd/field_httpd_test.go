//go:build unix

package main_test

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// Files in Apache's language as people have them. The tests change nothing of
// them but hosts, ports and paths.
//
//go:embed testdata/field
var fieldHTTPD embed.FS

func fieldConf(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := fieldHTTPD.ReadFile("testdata/field/" + name + ".conf")
	if err != nil {
		t.Fatal(err)
	}
	out := string(text)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(out, replace[i]) {
			t.Fatalf("%s is not in\n%s", replace[i], out)
		}
		out = strings.ReplaceAll(out, replace[i], replace[i+1])
	}
	return out
}

// remarks are what jkd -t says.
func (s *server) remarks(bin string) string {
	s.t.Helper()
	cmd := exec.Command(bin, "-t", "-f", filepath.Join(s.dir, "jkd.conf"))
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// get asks one of the server's ports for a path of a host. from is the address
// of the client, "" for any.
func (s *server) get(addr, from, host, path string, fields ...string) (int, string, http.Header) {
	s.t.Helper()
	d := net.Dialer{Timeout: patience}
	if from != "" {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	c, err := d.Dial("tcp", addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n", path, host, strings.Join(append(fields, ""), "\r\n"))
	in := bufio.NewReader(c)
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		s.t.Fatalf("GET %s: %v", path, err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatalf("GET %s: %v", path, err)
	}
	// The connection ends when all that belongs to the request has: before, its
	// member of a balancer can still be busy.
	if more, err := io.ReadAll(in); err != nil || len(more) > 0 {
		s.t.Fatalf("GET %s: after the answer %q, %v", path, more, err)
	}
	return r.StatusCode, string(body), r.Header
}

// TestFieldHTTPDJk is a server with mod_jk and three virtual hosts.
func TestFieldHTTPDJk(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		c := newContainers(t, "node")
		tls, plain := addrOf(freePort(t)), addrOf(freePort(t))
		s := prepare(t, config{mpm: mpm})
		_, port, _ := net.SplitHostPort(s.addr)
		text := fieldConf(t, "17", "*:80>", "*:"+port+">", "*:443>", "*"+tls[len("127.0.0.1"):]+">", "*:8080>", "*"+plain[len("127.0.0.1"):]+">",
			"/srv/www/shop", filepath.Join(s.dir, "shop"))
		for _, name := range []string{"conf", "run", "logs", "bin", "shop"} {
			if err := os.Mkdir(filepath.Join(s.dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s.write("shop/favicon.ico", "icon")
		s.write("bin/rotatelogs", "#!/bin/sh\n{ echo \"$*\"; cat; } >"+s.dir+"/logs/got\n")
		s.write("conf/workers.properties", c.properties("worker.list=lb,jkstatus\nworker.lb.type=lb\nworker.lb.balance_workers=node\n"+
			"worker.node.host=127.0.0.1\nworker.node.port=@node@\nworker.jkstatus.type=status\nworker.extra.host=localhost\n"))
		s.write("conf/uriworkermap.properties", "/mapped/*=lb\n")
		if err := os.Chmod(filepath.Join(s.dir, "bin/rotatelogs"), 0o755); err != nil {
			t.Fatal(err)
		}
		again := prepare(t, config{mpm: mpm, dir: s.dir, httpd: "Listen " + tls + "\nListen " + plain + "\n" + text})
		again.write("jkd.conf", strings.ReplaceAll(readFile(t, filepath.Join(s.dir, "jkd.conf")), again.addr, s.addr))
		again.addr = s.addr
		s = again

		said := s.remarks(bin)
		for _, part := range []string{
			"vhost plain.example.test: maps nothing",
			"/status: not in vhost shop.example.test: /* ",
			"SSLEngine: jkd listens without TLS", "SSLOptions: is not done: jkd listens without TLS", "Syntax OK",
		} {
			if !strings.Contains(said, part) {
				t.Errorf("%q is not in\n%s", part, said)
			}
		}

		s.launch(bin)
		for _, tt := range []struct {
			addr, host, path string
			want             string // lb, status, file, or a number
		}{
			{s.addr, "shop", "/x.do", "lb"}, {s.addr, "shop", "/anything", "lb"}, {s.addr, "shop", "/", "lb"},
			{s.addr, "shop", "/favicon.ico", "icon"}, {s.addr, "shop", "/static/a.png", "404"},
			{s.addr, "shop", "/global/x", "lb"}, {s.addr, "shop", "/status", "lb"}, {s.addr, "shop", "/app/static/x", "404"}, {s.addr, "shop", "/app/other/x", "lb"},
			{tls, "shop", "/global/x", "lb"}, {tls, "shop", "/status", "status"}, {tls, "shop", "/mapped/x", "lb"}, {tls, "shop", "/x.do", "404"},
			{tls, "shop", "/examples", "lb"}, {tls, "shop", "/examples/x", "lb"}, {tls, "shop", "/examplesx", "404"},
			{tls, "shop", "/jkstatus", "status"}, {tls, "shop", "/api/v2/x", "lb"}, {tls, "shop", "/api/vx/x", "404"},
			{plain, "plain", "/x.do", "404"}, {plain, "plain", "/global/x", "404"}, {plain, "plain", "/status", "404"}, {plain, "plain", "/mapped/x", "404"},
		} {
			c.take()
			status, body, _ := s.get(tt.addr, "", tt.host+".example.test", tt.path)
			got := strconv.Itoa(status)
			switch arrived := c.take(); {
			case len(arrived) == 1 && status == 200:
				got = "lb"
				same(t, tt.path+": path in the container", arrived[0].request.URI, tt.path)
			case status == 200 && strings.Contains(body, "JK Status Manager"):
				got = "status"
			case status == 200:
				got = body
			}
			same(t, tt.addr+" "+tt.path, got, tt.want)
		}
		same(t, "/jkstatus from elsewhere", statusOf(s.get(tls, "127.0.0.2", "shop.example.test", "/jkstatus")), 403)

		// The path goes on as it came, the session's id without JkStripSession too.
		c.take()
		s.get(tls, "", "shop.example.test", "/global/a%20b/../%7Ex;jsessionid=1.node")
		a := c.take()
		if len(a) != 1 || a[0].request.URI != "/global/a%20b/../%7Ex;jsessionid=1.node" {
			t.Fatalf("got %+v", a)
		}
		eppn, there := a[0].request.ReqAttr("eppn")
		if _, user := a[0].request.ReqAttr("REMOTE_USER"); user || !there || eppn != "" {
			t.Errorf("REMOTE_USER: %v, eppn: %v %q", user, there, eppn)
		}

		// reply_timeout=30000 of a mount, which a test can't wait for; the page
		// of workers shows what the map has.
		_, page, _ := s.get(tls, "", "shop.example.test", "/jkstatus?mime=txt&cmd=list")
		for _, part := range []string{"name=extra", "name=lb", "reply_timeout=30000"} {
			if !strings.Contains(page, part) {
				t.Errorf("%q is not in\n%s", part, page)
			}
		}
		s.eventually("a line of the log, in both formats, by way of the program", func() bool {
			text, _ := os.ReadFile(filepath.Join(s.dir, "logs/got"))
			return regexp.MustCompile(`^logs/mod_jk\.log-%Y%m%d 86400 540\n\[[A-Z](?s:.*)\[... ... .. ..:..:.. \d{4}\] .*lb shop\.example\.test \d`).Match(text)
		})
	})
}

func statusOf(status int, _ string, _ http.Header) int { return status }

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFieldHTTPDProxy is a server with mod_proxy_balancer over AJP.
func TestFieldHTTPDProxy(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		c := newContainers(t, "n1", "n2", "n3", "cfm")
		back := newUpgrader(t)
		s := prepare(t, config{mpm: mpm})
		_, port, _ := net.SplitHostPort(s.addr)
		at := func(name string) string { return addrOf(c.byName[name].Port()) }
		text := fieldConf(t, "18", "ws://app1.example.test:8080", "ws://"+back.Addr().String(), "127.0.0.1:8009", at("cfm"), "app1.example.test:8009", at("n1"), "app2.example.test", at("n2"),
			"app3.example.test:8009", at("n3"), "*:80>", "*:"+port+">")
		// One process, so that one balancer counts.
		limits := "StartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nMaxRequestWorkers 1\nServerLimit 1\n"
		if mpm == "worker" {
			limits = "StartServers 1\nServerLimit 1\nThreadsPerChild 4\nMaxRequestWorkers 4\n"
		}
		again := prepare(t, config{mpm: mpm, dir: s.dir, httpd: limits + text})
		again.write("jkd.conf", strings.ReplaceAll(readFile(t, filepath.Join(s.dir, "jkd.conf")), again.addr, s.addr))
		again.addr = s.addr
		s = again
		said := s.remarks(bin)
		for _, part := range []string{
			at("n2") + " has no secret, but another member has one", at("n3") + " has no secret, but another member has one",
			"Remote_User is always empty", "Syntax OK",
		} {
			if !strings.Contains(said, part) {
				t.Errorf("%q is not in\n%s", part, said)
			}
		}
		s.launch(bin)
		ask := func(path string, fields ...string) (int, []arrival, string, http.Header) {
			t.Helper()
			c.take()
			status, body, h := s.get(s.addr, "", "app.example.test", path, fields...)
			return status, c.take(), body, h
		}
		to := func(path, want string, fields ...string) *ajptest.Request {
			t.Helper()
			status, a, body, _ := ask(path, fields...)
			if status != 200 || len(a) != 1 || a[0].container != want {
				t.Fatalf("%s: %d %q, %+v, want %s", path, status, body, a, want)
			}
			return a[0].request
		}

		// The first rule that matches counts.
		for _, path := range []string{"/static/x", "/static/x.cfm", "/x.html", "/"} {
			status, a, _, _ := ask(path)
			same(t, path, fmt.Sprint(status, len(a)), "404 0")
		}
		same(t, "path", to("/a/b.cfm/more?q=1", "cfm").URI, "/a/b.cfm/more")
		same(t, "path", to("/b.cfc", "cfm").URI, "/b.cfc")
		status, _, body, _ := ask("/app/ws/x?a=b")
		if head := <-back.heads; status != 200 || body != "no\n" || !strings.HasPrefix(head, "GET /app/ws/x?a=b HTTP/1.1\r\nHost: app.example.test\r\n") {
			t.Errorf("what a rule for ws:// proxies: %d %q, %q", status, body, head)
		}
		ws := dialWS(t, s.addr)
		ws.say(strings.Replace(ask101, "ws.test", "app.example.test", 1)+"ping", "/app/ws/x")
		if head := ws.head(); !strings.HasPrefix(head, switching) {
			t.Errorf("a WebSocket: %q", head)
		}
		ws.want("hello PING")
		ws.Close()

		// By load factors, the standby left alone.
		var order []string
		for range 8 {
			_, a, _, _ := ask("/app/x.cfm")
			for _, a := range a {
				order = append(order, a.container)
			}
		}
		same(t, "order", strings.Join(order, " "), "n1 n1 n2 n1 n1 n1 n2 n1")
		r := to("/app/x", "n1", "Cookie: JSESSIONID=a.n1")
		host, _ := r.Header("host")
		same(t, "request", fmt.Sprint(r.URI, " ", r.ServerName, " ", host), "/app/x app.example.test app.example.test")
		if secret, _ := r.Attr(ajptest.AttrSecret); secret.Value != "s1" {
			t.Errorf("secret %q", secret.Value)
		}
		if user, there := r.ReqAttr("USER"); !there || user != "" {
			t.Errorf("USER: %v, %q", there, user)
		}
		if r = to("/app/x;jsessionid=a.n2", "n2"); len(r.AttrNames()) == 0 {
			t.Error("no attributes")
		}
		if _, has := r.Attr(ajptest.AttrSecret); has {
			t.Error("n2 gets a secret")
		}
		if c.byName["n1"].CPings() == 0 || c.byName["n2"].CPings() != 0 {
			t.Errorf("CPING: %d to n1, %d to n2", c.byName["n1"].CPings(), c.byName["n2"].CPings())
		}
		big := strings.Repeat("x", 7000)
		to("/app/x", "n1", "X-A: "+big, "X-B: "+big, "X-C: "+big, "Cookie: JSESSIONID=a.n1")

		// What the container says of itself.
		_, _, _, h := ask("/app/x?field=Set-Cookie:+a%3Db%3B+Path%3D/app&field=Location:+http://app.example.test:" + port + "/app/y")
		same(t, "cookie", h.Get("Set-Cookie"), "a=b; Path=/")
		status, a, body, _ := ask("/app/x?status=404", "Cookie: JSESSIONID=a.n1")
		if status != 404 || len(a) != 1 || strings.Contains(body, "from ") {
			t.Errorf("ProxyErrorOverride: %d %q", status, body)
		}

		// failonstatus, nofailover, and the standby in need.
		status, _, _, _ = ask("/app/x?status=500", "Cookie: JSESSIONID=a.n2")
		same(t, "failonstatus", status, 500)
		status, a, _, _ = ask("/app/x", "Cookie: JSESSIONID=a.n2")
		same(t, "nofailover", fmt.Sprint(status, len(a)), "503 0")
		for range 3 {
			to("/app/x", "n1")
		}
		status, _, _, _ = ask("/app/x?status=503", "Cookie: JSESSIONID=a.n1")
		same(t, "failonstatus", status, 503)
		to("/app/x", "n3")
	})
}
