//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// socket is a Unix socket that a server listens on.
type socket struct {
	*server
	path string
}

// is tells its mode, which file it is, and whether somebody listens.
func (s socket) is() (mode fs.FileMode, inode uint64, listening bool) {
	s.t.Helper()
	info, err := os.Lstat(s.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.t.Fatal(err)
		}
		return 0, 0, false
	}
	c, err := net.Dial("unix", s.path)
	if err == nil {
		c.Close()
	}
	return info.Mode(), uint64(info.Sys().(*syscall.Stat_t).Ino), err == nil
}

func (s socket) get(path string, fields ...string) (int, string) {
	s.t.Helper()
	status, body, err := dial(s.t, s.path).get(path, fields...)
	if err != nil {
		s.t.Fatalf("GET %s over %s: %v", path, s.path, err)
	}
	return status, body
}

// told is what the back end of the tests below answers: what it was told of the
// connection.
func told(e *ajptest.Exchange) {
	r := e.Request
	e.Respond(200, fmt.Sprintf("%s %s:%d", r.RemoteAddr, r.ServerName, r.ServerPort))
}

// TestUnixListener: requests over a Unix socket, what logs, rules and containers
// are told of its clients, and the socket through reloads under load: it stays
// when they do not concern it or fail, gets another mode, goes, comes again.
func TestUnixListener(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		releaseC := make(chan struct{})
		heldC := make(chan struct{}, 1)
		back := ajptest.New(t, func(e *ajptest.Exchange) {
			if e.Request.URI == "/app/held" {
				heldC <- struct{}{}
				<-releaseC
			}
			told(e)
		})
		const listen = "Listen = unix:jkd.sock mode=0666"
		s := start(t, bin, config{
			mpm: mpm, name: "www.example.test:8443", workers: properties(addrOf(back.Port()), nil), mounts: []string{"/app/* tomcat"},
			server: []string{listen, `CustomLog = access.log "%h %a %A %p %{local}p %{remote}p %U"`, "GracefulShutdownTimeout = 600"},
			jk:     []string{"[status]", "Location = /s"},
		})
		x := socket{s, filepath.Join(s.dir, "jkd.sock")}
		mode, first, _ := x.is()
		if mode != fs.ModeSocket|0o666 {
			t.Errorf("the socket has mode %v", mode)
		}

		// What is known of such a client.
		for _, tt := range []struct {
			path, host string
			status     int
			body       string
		}{
			{"/app/x", "test", 200, "127.0.0.1 test:8443"},
			{"/app/x", "test:81", 200, "127.0.0.1 test:81"},
			{"/s", "test", 403, ""}, // Require local: it may be anybody, behind a proxy
		} {
			c := dial(t, x.path)
			if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", tt.path, tt.host); err != nil {
				t.Fatal(err)
			}
			r, err := c.response("GET")
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != tt.status || tt.body != "" && string(b) != tt.body {
				t.Errorf("%s of %s: %d %q %v", tt.path, tt.host, r.StatusCode, b, err)
			}
		}
		if status, _, err := dial(t, s.addr).get("/s"); status != 200 {
			t.Errorf("the status over TCP: %d, %v", status, err)
		}
		s.eventually("the access log", func() bool {
			b, _ := os.ReadFile(filepath.Join(s.dir, "access.log"))
			return strings.Contains(string(b), "unix: unix: unix: 8443 8443 0 /app/x\n") && strings.Contains(string(b), "unix: unix: unix: 81 8443 0 /app/x\n")
		})
		if log := s.log(); !strings.Contains(log, "listening address="+x.path) {
			t.Errorf("the log does not name the socket: %s", log)
		}

		conf := filepath.Join(s.dir, "jkd.conf")
		b, err := os.ReadFile(conf)
		if err != nil {
			t.Fatal(err)
		}
		good := string(b)
		reload := func(text string) {
			t.Helper()
			s.write("jkd.conf", text)
			if out, err := s.ask(bin, "graceful"); err != nil {
				t.Fatalf("reload: %v, %s", err, out)
			}
		}
		clients := s.crowdAt(x.path, 6, "/app/x")
		for range 3 {
			reload(good)
		}
		s.write("jkd.conf", good+"[server]\nNoSuchDirective = 1\n")
		if _, err := s.ask(bin, "graceful"); err == nil {
			t.Error("a broken configuration was taken")
		}
		if mode, inode, up := x.is(); mode != fs.ModeSocket|0o666 || inode != first || !up {
			t.Errorf("after reloads: mode %v, the same file: %t, listening: %t", mode, inode == first, up)
		}
		reload(strings.Replace(good, "mode=0666", "mode=0606", 1))
		if mode, inode, up := x.is(); mode != fs.ModeSocket|0o606 || inode != first || !up {
			t.Errorf("after the change: mode %v, the same file: %t, listening: %t", mode, inode == first, up)
		}
		clients.home(0)
		t.Logf("%d requests", clients.answered.Load())

		// Removed, while a child of the old generation is busy; a TCP listener
		// comes and goes too.
		running := dial(t, x.path)
		if err := running.send("GET /app/held"); err != nil {
			t.Fatal(err)
		}
		<-heldC
		more := addrOf(freePort(t))
		reload(strings.Replace(good, listen, "Listen = "+more, 1))
		s.eventually("the socket is gone", func() bool { _, inode, _ := x.is(); return inode == 0 })
		if status, body, err := dial(t, more).get("/app/x"); status != 200 || body != "127.0.0.1 test:"+strings.Split(more, ":")[1] {
			t.Errorf("over the TCP listener that was added: %d %q %v", status, body, err)
		}
		close(releaseC)
		r, err := running.response("GET")
		if err != nil || r.StatusCode != 200 {
			t.Errorf("what ran when its socket was removed: %v, %v", r, err)
		}
		reload(good)
		s.eventually("the TCP listener refuses", func() bool {
			c, err := dialErr(more)
			if err == nil {
				c.Close()
			}
			return err != nil
		})
		if _, inode, up := x.is(); inode == 0 || !up {
			t.Error("the socket has not come back")
		}
		if status, _ := x.get("/app/x"); status != 200 {
			t.Errorf("over the socket that came back: %d", status)
		}

		// Somebody has removed it: the next reload makes it anew.
		if err := os.Remove(x.path); err != nil {
			t.Fatal(err)
		}
		reload(good)
		if status, _ := x.get("/app/x"); status != 200 {
			t.Errorf("over the socket that was made anew: %d", status)
		}

		s.stop()
		left, _ := filepath.Glob(x.path + "*")
		if len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// TestUnixListenerStart: what is at the path when jkd starts, and what is there
// when it has ended, by whatever means.
func TestUnixListenerStart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		back := ajptest.New(t, told)
		s := start(t, bin, config{
			mpm: mpm, workers: properties(addrOf(back.Port()), nil), mounts: []string{"/app/* tomcat"},
			server: []string{"Listen = unix:jkd.sock mode=0600"},
		})
		x := socket{s, filepath.Join(s.dir, "jkd.sock")}
		_, first, _ := x.is()

		// A second server with the same socket, and one with something else there.
		b, err := os.ReadFile(filepath.Join(s.dir, "jkd.conf"))
		if err != nil {
			t.Fatal(err)
		}
		other := &server{t: t, dir: openDir(t), addr: addrOf(freePort(t))}
		text := strings.ReplaceAll(strings.ReplaceAll(string(b), s.addr, other.addr), s.dir, other.dir)
		other.write("workers.properties", "worker.list=tomcat\n")
		other.write("file", "mine")
		if err := os.Symlink(x.path, filepath.Join(other.dir, "link")); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			x.path: "Listen unix:" + x.path + " mode=0600: another program listens there already",
			"file": "jkd.conf:10: Listen: " + filepath.Join(other.dir, "file") + " is something else than a socket",
			"link": "jkd.conf:10: Listen: " + filepath.Join(other.dir, "link") + " is something else than a socket",
		} {
			other.write("jkd.conf", strings.Replace(text, "unix:jkd.sock", "unix:"+path, 1))
			out, err := exec.Command(bin, "-foreground", "-f", filepath.Join(other.dir, "jkd.conf")).CombinedOutput()
			if err == nil || !strings.Contains(string(out)+other.log(), want) {
				t.Errorf("with %s: %v, %s%s; want %s", path, err, out, other.log(), want)
			}
		}
		if _, inode, up := x.is(); inode != first || !up {
			t.Error("the socket of the first one was harmed")
		}

		// Killed: what it leaves is replaced.
		kids := append(s.children(), s.pid())
		if err := syscall.Kill(s.pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-s.doneC
		s.gone(kids)
		if _, inode, up := x.is(); inode != first || up {
			t.Error("a server that was killed has removed its socket, or listens")
		}
		s.launch(bin)
		if status, _ := x.get("/app/x"); status != 200 {
			t.Errorf("after a start over a stale socket: %d", status)
		}

		// A graceful stop refuses at once and lets go of the path, although there
		// is still something to be done.
		idle := dial(t, x.path)
		if status, _, err := idle.get("/app/x"); status != 200 {
			t.Fatal(status, err)
		}
		_, second, _ := x.is()
		if err := syscall.Kill(s.pid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
		s.eventually("the path is free", func() bool { _, inode, _ := x.is(); return inode == 0 })
		ln, err := net.Listen("unix", x.path) // somebody else takes it
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		idle.Close()
		<-s.doneC
		if _, inode, up := x.is(); inode == second || !up {
			t.Error("the socket of the next one was removed")
		}
	})
}

// TestUnixListenerOwner: the owner and group of the socket, and that children who
// cannot see it serve it.
func TestUnixListenerOwner(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away and change the root directory")
	}
	bin := binary(t)
	back := ajptest.New(t, told)
	hidden, jail := openDir(t), openDir(t)
	if err := os.Chmod(hidden, 0o700); err != nil {
		t.Fatal(err)
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		path := filepath.Join(hidden, mpm)
		s := start(t, bin, config{
			mpm: mpm, workers: properties(addrOf(back.Port()), nil), mounts: []string{"/app/* tomcat"},
			server: []string{"Listen = unix:" + path + " owner=#12 group=#13", "ChrootDir = " + jail},
		})
		x := socket{s, path}
		owned := func() string {
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			st := info.Sys().(*syscall.Stat_t)
			return fmt.Sprintf("%v %d %d", info.Mode(), st.Uid, st.Gid)
		}
		if got := owned(); got != "Srw-rw---- 12 13" {
			t.Errorf("the socket is %s", got)
		}
		if status, body := x.get("/app/x", "Connection: close"); status != 200 || !strings.HasPrefix(body, "127.0.0.1 test:") {
			t.Errorf("%d %q", status, body)
		}
		b, err := os.ReadFile(filepath.Join(s.dir, "jkd.conf"))
		if err != nil {
			t.Fatal(err)
		}
		s.write("jkd.conf", strings.Replace(string(b), "owner=#12 group=#13", "group=#14 mode=0620", 1))
		if out, err := s.ask(bin, "graceful"); err != nil {
			t.Fatalf("reload: %v, %s", err, out)
		}
		if got := owned(); got != "Srw--w---- 12 14" {
			t.Errorf("after a reload the socket is %s", got)
		}
		if status, _ := x.get("/app/x", "Connection: close"); status != 200 {
			t.Errorf("after a reload: %d", status)
		}
	})
}
