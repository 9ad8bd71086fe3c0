//go:build unix

package main_test

import (
	_ "embed"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// TestStopping: WINCH lets requests end and answers one more on idle
// connections, TERM ends all at once, and children do not outlive a master that
// was killed.
func TestStopping(t *testing.T) {
	tomcat := tomcattest.StartT(t, tomcattest.Options{HTTP: true})
	direct := "http://" + tomcat.HTTPAddr()
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		for _, tt := range []struct {
			name     string
			signal   syscall.Signal
			finishes bool // the running request
		}{
			{"graceful", syscall.SIGWINCH, true},
			{"term", syscall.SIGTERM, false},
			{"int", syscall.SIGINT, false},
			{"master killed", syscall.SIGKILL, true},
		} {
			t.Run(tt.name, func(t *testing.T) {
				s := start(t, bin, config{
					mpm:     mpm,
					workers: properties(tomcat.AJPAddr(), nil),
					mounts:  []string{"/test/* tomcat"},
					server:  []string{"KeepAliveTimeout = 600", "TimeOut = 600"},
				})
				id := strings.ReplaceAll(fmt.Sprintf("%s-%s-%d", mpm, tt.name, s.pid()), " ", "")
				idle := dial(t, s.addr)
				if status, _, err := idle.get("/test/hello.jsp"); status != 200 {
					t.Fatalf("status %d, %v", status, err)
				}
				running := dial(t, s.addr)
				if err := running.send("GET /test/sse.jsp?n=2&id=" + id); err != nil {
					t.Fatal(err)
				}
				r, err := running.response("GET")
				if err != nil {
					t.Fatal(err)
				}
				first := make([]byte, len("data: 1\n\n"))
				if _, err := io.ReadFull(r.Body, first); err != nil {
					t.Fatal(err)
				}

				kids := s.children()
				if err := syscall.Kill(s.pid(), tt.signal); err != nil {
					t.Fatal(err)
				}
				// The idle connection is served until an answer says that it ends,
				// which is before its timeout.
				for last := !tt.finishes; !last; {
					if err := idle.send("GET /test/hello.jsp"); err != nil {
						t.Fatal(err)
					}
					r, err := idle.response("GET")
					if err != nil || r.StatusCode != 200 {
						t.Fatalf("the idle connection: %v, %v", r, err)
					}
					if _, err := io.Copy(io.Discard, r.Body); err != nil {
						t.Fatal(err)
					}
					last = r.Close
				}
				if b, err := idle.r.ReadByte(); err == nil {
					t.Errorf("the idle connection got %q", b)
				} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
					t.Errorf("the idle connection was kept: %v", err)
				}
				if tt.finishes {
					fetch(t, "GET", direct+"/test/release.jsp?id="+id)
				}
				rest, err := io.ReadAll(r.Body)
				if tt.finishes && (err != nil || string(rest) != "data: 2\n\n") {
					t.Errorf("the running request: %q, %v; want its end", rest, err)
				}
				if !tt.finishes && err == nil {
					t.Errorf("the running request ended as if it were complete: %q", rest)
				}
				if !tt.finishes {
					fetch(t, "GET", direct+"/test/release.jsp?id="+id)
				}
				running.Close() // its answer began before the order, and promised to keep it
				if tt.signal == syscall.SIGKILL {
					<-s.doneC
					s.gone(kids)
				} else {
					s.ended(kids)
				}
				if c, err := dialErr(s.addr); err == nil {
					c.Close()
					t.Error("still listening")
				}
			})
		}
	})
}

// TestBackEndComesAndGoes: no back end is told at once, one that comes is
// used, one that restarts is used again.
func TestBackEndComesAndGoes(t *testing.T) {
	tomcattest.Require(t)
	bin := binary(t)
	port := freePort(t)
	servers := map[string]*server{}
	for _, mpm := range []string{"prefork", "worker"} {
		servers[mpm] = start(t, bin, config{
			mpm:     mpm,
			workers: properties(addrOf(port), nil),
			mounts:  []string{"/test/* tomcat"},
		})
	}
	expect := func(when string, want int) {
		t.Helper()
		for mpm, s := range servers {
			// More often than there are children: each has its own cache.
			for range 12 {
				if r, body := fetch(t, "GET", s.url("/test/hello.jsp")); r.StatusCode != want {
					t.Errorf("%s, %s: status %d %.200q, want %d", when, mpm, r.StatusCode, body, want)
				}
			}
		}
	}
	expect("before it starts", 503)
	for _, when := range []string{"started", "started again"} {
		tomcat, err := tomcattest.Start(tomcattest.Options{AJPPort: port})
		if err != nil {
			t.Fatal(err)
		}
		expect(when, 200)
		tomcat.Kill()
		tomcat.Stop()
		expect("gone", 503)
	}
}

// TestNoBackEnd needs no Tomcat: nothing listens where one should.
func TestNoBackEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		port := freePort(t)
		s := start(t, bin, config{
			mpm:     mpm,
			workers: properties(addrOf(port), nil),
			mounts:  []string{"/app/* tomcat"},
		})
		for _, tt := range []struct {
			path   string
			status int
		}{{"/app/page", 503}, {"/", 404}, {"/elsewhere", 404}} {
			r, body := fetch(t, "GET", s.url(tt.path))
			if r.StatusCode != tt.status || !strings.Contains(body, strconv.Itoa(tt.status)) || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
				t.Errorf("%s: status %d, %q, body %q; want a page for %d", tt.path, r.StatusCode, r.Header.Get("Content-Type"), body, tt.status)
			}
		}
		s.eventually("a log line naming worker and address", func() bool {
			for line := range strings.Lines(s.log()) {
				if strings.Contains(line, "tomcat") && strings.Contains(line, strconv.Itoa(port)) {
					return true
				}
			}
			return false
		})
	})
}

//go:embed testdata/deployments/freebsd-2003-workers.properties
var freebsd2003 string

//go:embed testdata/deployments/tomcat6-2009-workers.properties
var tomcat62009 string

// TestDeployments takes over two servers that were run with mod_jk: their
// files unchanged but for the port, their JkMount lines.
func TestDeployments(t *testing.T) {
	tomcat := tomcattest.StartT(t, tomcattest.Options{})
	bin := binary(t)
	type page struct {
		path   string
		status int
		text   string // a part of it
	}
	for _, tt := range []struct {
		name    string
		workers string
		mounts  []string
		pages   []page
	}{
		{"freebsd-2003", freebsd2003, []string{"/examples/servlet/* ajp13", "/examples/*.jsp ajp13"}, []page{
			{"/examples/jsp/simpletag/foo.jsp", 200, "Radio stations that rock"},
			{"/examples/jsp/dates/date.jsp", 200, "Day of month"},
			{"/examples/servlet/HelloWorldExample", 404, "Tomcat"}, // has moved since, but Tomcat says so
			{"/examples/servlets/servlet/HelloWorldExample", 404, ""},
			{"/examples/index.html", 404, ""},
		}},
		{"tomcat6-2009", tomcat62009, []string{"/test/* worker1"}, []page{
			{"/test/test.jsp", 200, "a line of a page"},
			{"/test/hello.jsp", 200, "Hello from the container"},
			{"/test/none", 404, "Tomcat"},
			{"/examples/jsp/simpletag/foo.jsp", 404, ""},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			workers := strings.Replace(tt.workers, ".port=8009", ".port="+strconv.Itoa(tomcat.AJPPort), 1)
			if workers == tt.workers {
				t.Fatal("no port to replace")
			}
			eachMPM(t, func(t *testing.T, mpm string) {
				s := start(t, bin, config{mpm: mpm, workers: workers, mounts: tt.mounts})
				for _, p := range tt.pages {
					r, body := fetch(t, "GET", s.url(p.path))
					if r.StatusCode != p.status || !strings.Contains(body, p.text) {
						t.Errorf("%s: status %d, %.300q; want %d and %q", p.path, r.StatusCode, body, p.status, p.text)
					}
					if p.text == "" && strings.Contains(body, "Tomcat") {
						t.Errorf("%s: went to Tomcat, which it is not mounted on: %.200q", p.path, body)
					}
				}
			})
		})
	}
}

// TestFlags are the ways to run jkd that start nothing.
func TestFlags(t *testing.T) {
	if testing.Short() {
		t.Skip("builds jkd: left out with -short")
	}
	bin := binary(t)
	dir := openDir(t)
	s := &server{t: t, dir: dir}
	s.write("workers.properties", properties("127.0.0.1:8009", nil))
	const fine = "[server]\nListen = 127.0.0.1:8088\nUser = nobody\n[connector.jk]\nJkWorkersFile = workers.properties\nJkMount = /* tomcat\n"
	s.write("fine.conf", fine)
	s.write("broken.conf", strings.Replace(fine, "Listen =", "Listne =", 1)+"[mpm.prefork]\nStartServers = many\n")
	for _, tt := range []struct {
		name string
		args []string
		code int
		want []string // parts of the output
	}{
		{"check", []string{"-t", "-f", "fine.conf"}, 0, []string{"Syntax OK"}},
		{"check with an MPM", []string{"-t", "-f", "fine.conf", "-mpm", "worker"}, 0, []string{"Syntax OK"}},
		{"all faults at once", []string{"-t", "-f", "broken.conf"}, 1, []string{"broken.conf:2: Listne:", "Listen", "broken.conf:8: StartServers:"}},
		{"nothing is started", []string{"-foreground", "-f", "broken.conf"}, 1, []string{"broken.conf:2: Listne:"}},
		{"no such file", []string{"-t", "-f", "none.conf"}, 1, []string{"none.conf"}},
		{"no such MPM", []string{"-t", "-f", "fine.conf", "-mpm", "event"}, -1, []string{"event"}},
		{"version", []string{"-V"}, 0, []string{"jkd"}},
		{"version, long", []string{"-version"}, 0, []string{"jkd"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(bin, tt.args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			code := cmd.ProcessState.ExitCode()
			if code != tt.code && !(tt.code < 0 && code > 0) {
				t.Errorf("exit status %d (%v), want %d\n%s", code, err, tt.code, out)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("output %q, want it to contain %q", out, want)
				}
			}
		})
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 3 {
		t.Errorf("files afterwards: %q, want the three from before", files)
	}
}
