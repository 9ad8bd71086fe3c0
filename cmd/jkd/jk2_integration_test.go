//go:build unix

package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
	"jkd/connector/ajp/ajptest"
)

// deployment2003 is the file of a server of 2003 with another port and another
// place for jk2.shm.
func deployment2003(t *testing.T, port int, shm string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/deployments/freebsd-2003-workers2.properties")
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("8009", strconv.Itoa(port), "/var/log/jk2.shm", shm).Replace(string(text))
}

// TestDeployment2003 runs that file before a real Tomcat, told of it as
// httpd.conf did.
func TestDeployment2003(t *testing.T) {
	port := freePort(t)
	tomcat := tomcattest.StartT(t, tomcattest.Options{AJPPort: port, HTTP: true, JVMRoute: fmt.Sprintf("localhost:%d", port)})
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		shm := filepath.Join(openDir(t), "jk2.shm")
		s := start(t, bin, config{
			mpm:   mpm,
			jk2:   []string{"JkSet = config:file ${serverRoot}/workers2.properties", "JkUriSet = /examples/servlets/servlet group lb:lb", "JkUriSet = /test group lb:lb"},
			files: map[string]string{"workers2.properties": deployment2003(t, port, shm)},
		})
		for _, tt := range []struct {
			path   string
			status int
		}{
			{"/examples/jsp/simpletag/foo.jsp", 200},
			{"/examples/jsp/dates/date.jsp", 200},
			{"/examples/servlets/servlet/HelloWorldExample", 200},
			{"/examples/nothing.jsp", 404},
			// Where the servlets were in those days Tomcat has none today.
			{"/examples/servlet/HelloWorldExample", 404},
			{"/examples/servlet/", 404},
			{"/examples/WEB-INF/nothing.jsp", 404},
		} {
			r, body := fetch(t, "GET", s.url(tt.path))
			want, wantBody := fetch(t, "GET", "http://"+tomcat.HTTPAddr()+tt.path)
			if strings.HasSuffix(tt.path, "date.jsp") { // tells the time
				body, wantBody = body[:100], wantBody[:100]
			}
			if r.StatusCode != tt.status || want.StatusCode != tt.status || body != wantBody || r.Header.Get("Content-Type") != want.Header.Get("Content-Type") {
				t.Errorf("%s: %d %.300q, Tomcat itself says %d %.300q", tt.path, r.StatusCode, body, want.StatusCode, wantBody)
			}
		}
		for _, path := range []string{"/examples/", "/examples/index.html", "/examples/servlets/", "/x.jsp", "/"} { // files of the server
			if r, body := fetch(t, "GET", s.url(path)); r.StatusCode != 404 || strings.Contains(body, "Tomcat") {
				t.Errorf("%s: %d %.200q, want a 404 of our own", path, r.StatusCode, body)
			}
		}
		status2003(t, s, port)

		// The route is the container's, so sessions stay.
		jar, _ := cookiejar.New(nil)
		c := client()
		c.Jar = jar
		for visit := 1; visit <= 3; visit++ {
			r, err := c.Get(s.url("/test/session.jsp"))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(r.Body)
			r.Body.Close()
			if id, n, _ := strings.Cut(strings.TrimSpace(string(body)), " "); !strings.HasSuffix(id, fmt.Sprintf(".localhost:%d", port)) || n != strconv.Itoa(visit) {
				t.Errorf("visit %d: %q", visit, body)
			}
		}
		info, err := os.Stat(shm)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("jk2.shm: %v, %v", info, err)
		}
		s.stop()
		if _, err := os.Stat(shm); !os.IsNotExist(err) {
			t.Errorf("jk2.shm after the end: %v", err)
		}
	})
}

// status2003 wants the page to show what there is.
func status2003(t *testing.T, s *server, port int) {
	t.Helper()
	r, body := fetch(t, "GET", s.url("/jkstatus/"))
	for _, want := range []string{fmt.Sprintf("ajp13:localhost:%d", port), fmt.Sprintf("channel.socket:localhost:%d", port), "/examples/servlet/*", "/examples/*.jsp", "lb:lb"} {
		if r.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("/jkstatus/: %d, lacks %s: %.3000s", r.StatusCode, want, body)
		}
	}
	if r, body := fetch(t, "GET", s.url("/jkstatus/?mime=json")); r.StatusCode != 200 || !json.Valid([]byte(body)) {
		t.Errorf("/jkstatus/?mime=json: %d %.1000s", r.StatusCode, body)
	}
}

// TestJk2Reload edits the file of a running jkd in different ways, while
// clients go on with a path that every text has.
func TestJk2Reload(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		c := newContainers(t, "a", "b")
		limits := []string{"StartServers = 3", "MinSpareServers = 3"}
		if mpm == "worker" {
			limits = []string{"StartServers = 3", "ThreadsPerChild = 4", "MaxRequestWorkers = 12", "MinSpareThreads = 12", "MaxSpareThreads = 12"}
		}
		text := func(more string) string {
			return c.properties("[logger]\nlevel=INFO\n[channel.socket:127.0.0.1:@a@]\ngroup=a\n[channel.socket:127.0.0.1:@b@]\ngroup=b\n" +
				"[status:]\n[uri:/jkstatus/*]\ngroup=status:\n[uri:/always/*]\ngroup=a\n" + more)
		}
		s := start(t, bin, config{mpm: mpm, limits: limits, jk2: []string{"File = workers2.properties"}, files: map[string]string{"workers2.properties": text("")}})
		path := filepath.Join(s.dir, "workers2.properties")

		stop, served := make(chan struct{}), atomic.Int64{}
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					k, err := dialErr(s.addr)
					if err != nil {
						t.Error(err)
						return
					}
					for range 10 {
						if status, body, err := k.get("/always/x"); err != nil || status != 200 || body != "from a\n" {
							t.Errorf("/always/x: %d %q, %v", status, body, err)
						}
						served.Add(1)
					}
					k.Close()
				}
			})
		}
		end := sync.OnceFunc(func() {
			close(stop)
			clients.Wait()
			if served.Load() == 0 {
				t.Error("no request was served meanwhile")
			}
		})
		defer end()
		// all asks several children and wants the same of all of them. While one
		// thread of a child takes over what is new, the others go on with the old.
		all := func(target, want string) {
			t.Helper()
			s.eventually(target+": "+want+" from all", func() bool {
				for range 30 {
					k := dial(t, s.addr)
					status, body, err := k.get(target)
					k.Close()
					got := fmt.Sprint(status)
					if status == 200 {
						got = strings.TrimSpace(body)
					}
					if err != nil {
						t.Errorf("%s: %v", target, err)
					}
					if got != want {
						return false
					}
				}
				return true
			})
		}
		said := map[string]int{}
		// asked asks for the status page until the log has one more such line: a
		// file that was written just now is left for the next question.
		asked := func(line string) {
			t.Helper()
			said[line]++
			s.eventually("the log says "+line, func() bool {
				k := dial(t, s.addr)
				defer k.Close()
				if _, _, err := k.get("/jkstatus/"); err != nil {
					t.Error(err)
				}
				return strings.Count(s.log(), line) >= said[line]
			})
			if n := strings.Count(s.log(), line); n != said[line] {
				t.Errorf("the log says %s %d times, want %d", line, n, said[line])
			}
		}
		const reloaded, refused = "workers2.properties reloaded", "workers2.properties is not reloaded, the old configuration stays"

		all("/new/x", "404")
		s.write("workers2.properties", text("[uri:/new/*]\ngroup=b\n"))
		asked(reloaded)
		all("/new/x", "from b")

		for _, broken := range []string{"[uri:/newer/*]\ngroup=ajp13:nobody\n[uri:/new/*]\n", "[vm:]\n", "[uri:/newer/*\n"} {
			s.write("workers2.properties", text(broken))
			asked(refused)
			all("/new/x", "from b")
			all("/newer/x", "404")
		}

		s.write("w.new", text("[uri:/new/*]\ngroup=a\nver=1\n[uri:/newer/*]\ngroup=b\n")) // as editors do
		if err := os.Rename(filepath.Join(s.dir, "w.new"), path); err != nil {
			t.Fatal(err)
		}
		asked(reloaded)
		all("/new/x", "from a")
		all("/newer/x", "from b")

		// A child that is started later knows it too.
		end()
		for _, pid := range s.children() {
			p, _ := os.FindProcess(pid)
			p.Kill()
		}
		s.eventually("new children", func() bool {
			k, err := dialErr(s.addr)
			if err != nil {
				return false
			}
			defer k.Close()
			status, body, _ := k.get("/newer/x")
			return status == 200 && body == "from b\n"
		})
		all("/newer/x", "from b")
	})
}

// TestJk2MaxConnections: the limit is of a process. With one child of many
// threads 2 of 10 slow requests are served and 8 refused at once, and with one
// request a process it is never reached.
func TestJk2MaxConnections(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		gate, slow := make(chan struct{}), atomic.Int64{}
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			if e.Request.URI == "/slow" {
				slow.Add(1)
				select {
				case <-gate:
				case <-e.Container().Done():
				}
			}
			e.Respond(200, "here")
		})
		limits := []string{"StartServers = 10", "MinSpareServers = 10", "MaxRequestWorkers = 20"}
		served, refused := 10, 0
		if mpm == "worker" {
			limits = []string{"StartServers = 1", "ServerLimit = 1", "ThreadsPerChild = 20", "MaxRequestWorkers = 20", "MinSpareThreads = 1", "MaxSpareThreads = 21"}
			served, refused = 2, 8
		}
		s := start(t, bin, config{mpm: mpm, limits: limits, jk2: []string{"File = w"},
			files: map[string]string{"w": fmt.Sprintf("[channel.socket:%s]\nmax_connections=2\n[uri:/*]\n", c.Addr())}})
		answers := make(chan int, 10)
		for range 10 {
			go func() {
				k, err := dialErr(s.addr)
				if err != nil {
					t.Error(err)
					answers <- 0
					return
				}
				defer k.Close()
				status, _, err := k.get("/slow")
				if err != nil {
					t.Error(err)
				}
				answers <- status
			}()
		}
		for range refused { // at once: nobody has opened the gate yet
			if status := <-answers; status != 503 {
				t.Errorf("beyond the limit: %d", status)
			}
		}
		s.eventually("the slow requests", func() bool { return slow.Load() == int64(served) })
		select {
		case status := <-answers:
			t.Errorf("another answer: %d", status)
		default:
		}
		close(gate)
		for range served {
			if status := <-answers; status != 200 {
				t.Errorf("within the limit: %d", status)
			}
		}
		// The worker is as well as before.
		k := dial(t, s.addr)
		if status, body, err := k.get("/fast"); status != 200 || body != "here" {
			t.Errorf("afterwards: %d %q %v", status, body, err)
		}
		if n := strings.Count(s.log(), "that max_connections allows a process are in use, the request is refused"); n != refused {
			t.Errorf("%d lines of the log, want %d", n, refused)
		}
		if n := strings.Count(s.log(), "max_connections=2"); refused > 0 && n < refused {
			t.Errorf("%d lines of the log name the limit, want %d", n, refused)
		}
	})
}

// TestJk2Nobody is what a browser gets when no worker is left.
func TestJk2Nobody(t *testing.T) {
	bin := binary(t)
	dead := deadPort(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		text := fmt.Sprintf("[channel.socket:127.0.0.1:%d]\ngroup=plain\ngroup=code\ngroup=page\ngroup=away\ngroup=hw\n", dead)
		for name, more := range map[string]string{
			"plain": "", "code": "noWorkerCode=509\n", "page": "noErrorHeader=0\nnoWorkerMsg=Closed <today>\n",
			"away": "noWorkerCode=302\nnoWorkerMsg=http://other.test/x?y\n", "hw": "hwBalanceErr=502\nnoWorkerCode=500\n",
		} {
			text += "[lb:" + name + "]\n" + more + "[uri:/" + name + "/*]\ngroup=" + name + "\n"
		}
		text += fmt.Sprintf("[uri:/direct/*]\ngroup=ajp13:127.0.0.1:%d\n", dead)
		s := start(t, bin, config{mpm: mpm, jk2: []string{"File = w"}, files: map[string]string{"w": text}})
		for _, tt := range []struct {
			path     string
			status   int
			location string
			body     string
		}{
			{"/plain/", 503, "", "<title>503 "},
			{"/code/", 509, "", "<title>509"},
			{"/page/", 503, "", "<p>Closed &lt;today&gt;</p>"},
			{"/away/x", 302, "http://other.test/x?y", ""},
			{"/hw/", 502, "", "<title>502 "},
			{"/direct/", 503, "", "<title>503 "},
		} {
			for _, method := range []string{"GET", "POST"} {
				r, body := fetch(t, method, s.url(tt.path))
				if r.StatusCode != tt.status || r.Header.Get("Location") != tt.location || !strings.Contains(body, tt.body) {
					t.Errorf("%s %s: %d, Location %q, %q", method, tt.path, r.StatusCode, r.Header.Get("Location"), body)
				}
			}
		}
		// HEAD has the same header and no body.
		k := dial(t, s.addr)
		for range 2 {
			if err := k.send("HEAD /page/"); err != nil {
				t.Fatal(err)
			}
			if r, err := k.response("HEAD"); err != nil || r.StatusCode != 503 || r.ContentLength <= 0 {
				t.Fatalf("HEAD: %v, %v", r, err)
			}
		}
	})
}

// TestJk2Unix serves a scripted container behind a Unix socket.
func TestJk2Unix(t *testing.T) {
	bin := binary(t)
	c := ajptest.NewUnix(t, func(e *ajptest.Exchange) {
		body, _ := e.Body()
		e.Respond(200, fmt.Sprintf("%s %s by the socket, %d bytes", e.Request.Method, e.Request.URI, len(body)))
	})
	if err := os.Chmod(filepath.Dir(c.Addr()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(c.Addr(), 0o666); err != nil { // the children are another user's
		t.Fatal(err)
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{mpm: mpm, jk2: []string{"File = w"}, files: map[string]string{
			"w": fmt.Sprintf("$SOCKET=%s\n[channel.un:${SOCKET}]\n[channel.un:other]\nfile=%s\ngroup=other\n[uri:/a/*]\n[uri:/b/*]\ngroup=other\n", c.Addr(), c.Addr())}})
		k := dial(t, s.addr)
		for _, path := range []string{"/a/x", "/b/x", "/a/x"} {
			if status, body, err := k.get(path); status != 200 || body != "GET "+path+" by the socket, 0 bytes" {
				t.Errorf("%s: %d %q %v", path, status, body, err)
			}
		}
		r, err := client().Post(s.url("/a/post"), "text/plain", strings.NewReader(strings.Repeat("x", 100000)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if body, err := io.ReadAll(r.Body); string(body) != "POST /a/post by the socket, 100000 bytes" {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// TestJk2UnixTomcat serves a real Tomcat that way. The AJP connector takes
// unixDomainSocketPath as the one of HTTP does, though only the latter's
// documentation speaks of it.
func TestJk2UnixTomcat(t *testing.T) {
	socket := filepath.Join(openDir(t), "ajp.sock")
	tomcat := tomcattest.StartT(t, tomcattest.Options{HTTP: true, AJPSocket: socket})
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{mpm: mpm, jk2: []string{"File = w"}, files: map[string]string{"w": "[channel.un:" + socket + "]\n[uri:/examples/*]\n[uri:/test/*]\n"}})
		f := &front{s, "http://" + tomcat.HTTPAddr()}
		t.Run("head", f.head)
		t.Run("post", f.post)
		t.Run("download", f.download)
	})
}

// TestJk2BesideJk: a request is the connector's with the more specific rule,
// and [connector.jk]'s if they are equal.
func TestJk2BesideJk(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		c := newContainers(t, "jk", "jk2")
		s := start(t, bin, config{
			mpm:     mpm,
			workers: c.properties("worker.list=jk\nworker.jk.port=@jk@\n"),
			mounts:  []string{"/both/* jk", "/jk/* jk", "/wide/* jk", "/narrow/deep/* jk", "/*.jsp jk"},
			jk2:     []string{"File = w"},
			files:   map[string]string{"w": c.properties("[channel.socket:127.0.0.1:@jk2@]\n[uri:/both/*]\n[uri:/jk2/*]\n[uri:/wide/deep/*]\n[uri:/narrow/*]\n[uri:/pages/*]\n")},
		})
		k := dial(t, s.addr)
		for path, want := range map[string]string{
			"/both/x": "jk", "/jk/x": "jk", "/jk2/x": "jk2",
			"/wide/x": "jk", "/wide/deep/x": "jk2", "/narrow/x": "jk2", "/narrow/deep/x": "jk",
			"/x.jsp": "jk", "/pages/x.jsp": "jk2", "/both/x.jsp": "jk",
		} {
			if status, body, err := k.get(path); status != 200 || body != "from "+want+"\n" {
				t.Errorf("%s: %d %q %v, want %s", path, status, body, err, want)
			}
		}
		if status, _, _ := k.get("/neither"); status != 404 {
			t.Errorf("/neither: %d", status)
		}
	})
}

// TestJk2VHosts: rules of hosts are by the name and port of the request, those
// of JkUriSet by the virtual host it stands in.
func TestJk2VHosts(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		c := newContainers(t, "a", "b", "c")
		s := start(t, bin, config{
			mpm: mpm,
			jk2: []string{
				"File = w",
				"[vhost one.test]", "ServerAlias = 1.test", "[vhost two.test]",
				"[location two.test /of-two]", "JkUriSet = group b",
				"[location /of-main]", "JkUriSet = group c",
			},
			files: map[string]string{"w": c.properties("[channel.socket:127.0.0.1:@a@]\ngroup=a\n[channel.socket:127.0.0.1:@b@]\ngroup=b\n[channel.socket:127.0.0.1:@c@]\ngroup=c\n" +
				"[uri:/x/*]\ngroup=a\n[uri:one.test/x/*]\ngroup=b\n[uri:one.test]\nalias=uno.test\n[uri:lone.test]\ninheritGlobals=0\n[uri:lone.test/y]\ngroup=c\n" +
				"[uri:any.test:81/z]\ngroup=a\n[uri:/*.jsp]\ngroup=c\n")},
		})
		for _, tt := range []struct{ host, path, want string }{
			{"main.test", "/x/1", "a"},
			{"one.test", "/x/1", "b"},
			{"ONE.test", "/x/1", "b"},
			{"uno.test", "/x/1", "b"},
			{"two.test", "/x/1", "a"},
			{"one.test", "/y.jsp", "c"},
			{"two.test", "/y.jsp", "c"},
			{"lone.test", "/y", "c"},
			{"lone.test", "/x/1", ""},
			{"lone.test", "/y.jsp", ""},
			{"two.test", "/of-two/1", "b"},
			{"one.test", "/of-two/1", ""},
			{"main.test", "/of-two/1", ""},
			{"main.test", "/of-main", "c"},
			{"any.test:81", "/z", "a"},
			{"any.test:82", "/z", ""},
		} {
			k := dial(t, s.addr)
			fmt.Fprintf(k, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", tt.path, tt.host)
			r, err := k.response("GET")
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(r.Body)
			if tt.want == "" && r.StatusCode != 404 || tt.want != "" && string(body) != "from "+tt.want+"\n" {
				t.Errorf("%s %s: %d %.100q, want %q", tt.host, tt.path, r.StatusCode, body, tt.want)
			}
		}
	})
}

// TestJk2Log: the logger that workerEnv selects is the connector's log, of the
// master and of all children; [logger] is the server's.
func TestJk2Log(t *testing.T) {
	bin := binary(t)
	const head = `^\[(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \d{4}\] \((error|info |warn |debug)\) `
	line := regexp.MustCompile(head)
	eachMPM(t, func(t *testing.T, mpm string) {
		for _, tt := range []struct {
			name, text string
			file       string // where it is: a file, "" for the error log, "stderr"
		}{
			{"none", "", ""},
			{"server's", "[logger]\nlevel=INFO\n", ""},
			{"default", "[workerEnv:]\nlogger=logger.file:\n[logger.file:]\nlevel=INFO\n", "logs/jk2.log"},
			{"file", "[workerEnv:]\nlogger=logger.file:x\n[logger.file:x]\nlevel=INFO\nfile=own/jk2.log\n", "own/jk2.log"},
			{"stderr", "[workerEnv:]\nlogger=logger.file:x\n[logger.file:x]\nlevel=INFO\nfile=stderr\n", "stderr"},
			{"not selected", "[logger.file:x]\nlevel=INFO\nfile=own/jk2.log\n", ""},
		} {
			t.Run(tt.name, func(t *testing.T) {
				s := start(t, bin, config{mpm: mpm, limits: []string{"StartServers = 1"}, jk2: []string{"File = w"}, files: map[string]string{
					"w": fmt.Sprintf("%s[channel.socket:127.0.0.1:%d]\n[uri:/*]\n[status:]\n[uri:/jkstatus/*]\ngroup=status:\n", tt.text, deadPort(t))}})
				logs := func() map[string]string {
					out := map[string]string{"": s.log(), "stderr": s.out.String()}
					for _, f := range []string{"logs/jk2.log", "own/jk2.log"} {
						b, _ := os.ReadFile(filepath.Join(s.dir, f))
						out[f] = string(b)
					}
					return out
				}
				k := dial(t, s.addr)
				if status, _, err := k.get("/x"); status != 503 {
					t.Errorf("%d %v", status, err)
				}
				const child, master = "the worker failed", "w is not reloaded"
				s.write("w", "[vm:]\n")
				s.eventually("the master's line", func() bool {
					if _, _, err := dial(t, s.addr).get("/jkstatus/"); err != nil {
						t.Error(err)
					}
					return strings.Contains(logs()[tt.file], master)
				})
				for file, text := range logs() {
					if file == "stderr" && tt.file == "" {
						continue // where jkd was started hears of the master's troubles too
					}
					info := file == tt.file && strings.Contains(tt.text, "level=INFO") && tt.name != "not selected"
					if strings.Contains(text, child) != info || strings.Contains(text, master) != (file == tt.file) {
						t.Errorf("%q: %s", file, text)
					}
					if file == "" || file != tt.file {
						continue
					}
					for l := range strings.Lines(text) {
						if !line.MatchString(l) {
							t.Errorf("%q: %s", file, l)
						}
					}
				}
			})
		}
	})
}
