package main_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// descriptorsOf are what the descriptors of a process lead to, without those
// that Go's runtime opens by itself.
func descriptorsOf(t *testing.T, pid int) map[int]string {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if os.IsPermission(err) {
		t.Skip("the descriptors of others are not to be seen here")
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]string{}
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name())
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil && !strings.HasPrefix(to, "/sys/fs/cgroup/") {
			out[fd] = to
		}
	}
	return out
}

// awkward is a program that starts jkd with descriptors that nobody has asked
// for, and lets it make files that everybody may write to.
func awkward(t *testing.T, bin, stray string) string {
	t.Helper()
	path := filepath.Join(openDir(t), "awkward")
	script := fmt.Sprintf("#!/bin/sh\numask 0\nexec 3<%[1]s 4<%[1]s 5<%[1]s 8<%[1]s 9<%[1]s\nexec %[2]s \"$@\"\n", stray, bin)
	if err := writeProgram(path, []byte(script)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestChildDescriptors: a child has what the master passes on purpose and what
// it has opened itself, which nobody else has. Nothing else reaches it: not what
// the master was started with, nor its control socket or its own pipes, before
// and after a reload.
func TestChildDescriptors(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	stray := filepath.Join(openDir(t), "stray")
	if err := os.WriteFile(stray, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	starter := awkward(t, bin, stray)
	back := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "hello") })
	for _, tt := range []struct {
		name   string
		server []string
	}{{"plain", nil}, {"in a jail", []string{"ChrootDir = " + openDir(t)}}} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.server != nil && os.Geteuid() != 0 {
				t.Skip("only root can change the root directory")
			}
			eachMPM(t, func(t *testing.T, mpm string) {
				s := start(t, starter, config{
					mpm: mpm, limits: []string{"StartServers = 2"},
					server:  append([]string{"CustomLog = access.log common", "ScoreBoardFile = board"}, tt.server...),
					workers: properties(addrOf(back.Port()), nil), mounts: []string{"/* tomcat"},
					jk:  []string{"JkLogFile = jk.log", "JkShmFile = jk.shm"},
					jk2: nil,
				})
				if !slices.Contains(slices.Collect(values(descriptorsOf(t, s.pid()))), stray) {
					t.Fatal("the master was not started with strange descriptors")
				}
				s.audit(s.pid())
				s.modes(s.pid())
				if out, err := s.ask(bin, "graceful"); err != nil {
					t.Fatalf("reload: %v, %s", err, out)
				}
				s.audit(s.current())
				s.modes(s.current())
			})
		})
	}
}

func values(m map[int]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// modes are the permissions of what a server makes, whatever it was started
// with.
func (s *server) modes(master int) {
	s.t.Helper()
	for name, want := range map[string]os.FileMode{
		"error.log": 0o640, "access.log": 0o640, "jk.log": 0o640, "jkd.pid": 0o644,
		"jkd.ctl": os.ModeSocket | 0o600, "board": 0o600, "jk.shm": 0o600,
	} {
		info, err := os.Lstat(filepath.Join(s.dir, name))
		if err != nil || info.Mode() != want {
			s.t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	for _, pid := range append(childrenOf(s.t, master), master) {
		want := "0027"
		if pid == master {
			want = "0022"
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if !strings.Contains(string(status), "\nUmask:\t"+want+"\n") {
			s.t.Errorf("the umask of %d is not %s", pid, want)
		}
	}
}

// audit compares what the children of a master have with what they should.
func (s *server) audit(master int) {
	t := s.t
	t.Helper()
	kids := childrenOf(t, master)
	if len(kids) == 0 {
		t.Fatal("no children")
	}
	theirs := descriptorsOf(t, master)
	null, socket := "^/dev/null$", "^socket:"
	// 0 to 2, the control socket, the scoreboard, the segments of jk, jk2
	// (two) and the counters, one listener, the logs.
	want := []string{".", ".", ".", socket, "/board", "/jk.shm", null, null, "^/memfd:jkd-counters", socket, "/error.log$", "/access.log$", "/jk.log$"}
	for _, kid := range kids {
		has := descriptorsOf(t, kid)
		for fd, w := range want {
			if ok, _ := regexp.MatchString(w, has[fd]); !ok {
				t.Errorf("child %d: descriptor %d is %q, want %s", kid, fd, has[fd], w)
			}
		}
		if slices.Contains(slices.Collect(values(theirs)), has[3]) {
			t.Errorf("child %d: its control socket is the master's too", kid)
		}
		for fd, to := range has {
			if fd < len(want) {
				continue
			}
			if !strings.HasPrefix(to, "pipe:") && !strings.HasPrefix(to, "socket:") && !strings.HasPrefix(to, "anon_inode:") {
				t.Errorf("child %d: descriptor %d is %s", kid, fd, to)
			}
			if strings.HasPrefix(to, "anon_inode:") {
				continue // they have no identity
			}
			for name, others := range map[string]map[int]string{"the master": theirs, "its keeper": descriptorsOf(t, s.cmd.Process.Pid)} {
				if slices.Contains(slices.Collect(values(others)), to) {
					t.Errorf("child %d: descriptor %d, %s, is one of %s", kid, fd, to, name)
				}
			}
		}
	}
}

// TestSecretsStayInside: neither the command lines nor the environments of the
// processes, nor anything that is shown or logged, has a secret of the
// configuration.
func TestSecretsStayInside(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	const secret, password, hash = "Never-To-Be-Shown", "jkd-password", "{SHA}4LocKIrgltUj6Hqa/nciR7/CnYs="
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{
			mpm: mpm, limits: []string{"StartServers = 2"},
			server: []string{"LogLevel = trace8", `CustomLog = access.log "%h %u %r %>s %{JK_WORKER_NAME}n"`},
			workers: "worker.list=tomcat,lb,jkstatus\nworker.tomcat.host=127.0.0.1\nworker.tomcat.port=" + strconv.Itoa(deadPort(t)) + "\nworker.tomcat.secret=" + secret + "1\n" +
				"worker.lb.type=lb\nworker.lb.balance_workers=n1\nworker.lb.secret=" + secret + "2\nworker.n1.host=127.0.0.1\nworker.n1.port=" + strconv.Itoa(deadPort(t)) + "\n" +
				"worker.jkstatus.type=status\n",
			mounts: []string{"/app/* tomcat", "/lb/* lb", "/jk jkstatus"},
			jk: []string{"JkLogLevel = trace", "JkWorkerProperty = worker.tomcat.reply_timeout=1000",
				"[status]", "Location = /s", "Metrics = /m", "AuthUserFile = users"},
			jk2:   []string{"File = workers2.properties"},
			files: map[string]string{"users": "joe:" + hash + "\n", "workers2.properties": "[channel.socket:127.0.0.1:1]\n[ajp13:127.0.0.1:1]\nchannel=channel.socket:127.0.0.1:1\nsecretkey=" + secret + "3\n[status:]\n[uri:/jk2]\ngroup=status:\n[uri:/two/*]\ngroup=ajp13:127.0.0.1:1\n"},
		})
		var all strings.Builder
		get := func(path string) int {
			t.Helper()
			r, err := http.NewRequest("GET", s.url(path), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("joe:"+password)))
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			fmt.Fprintf(&all, "== %s\n", path)
			_ = answer.Header.Write(&all)
			if _, err := io.Copy(&all, answer.Body); err != nil {
				t.Fatal(err)
			}
			return answer.StatusCode
		}
		for _, path := range []string{"/app/x", "/lb/x", "/two/x"} {
			if code := get(path); code < 500 {
				t.Errorf("%s: %d", path, code)
			}
		}
		for _, path := range []string{"/s", "/s?auto", "/s?mime=json", "/m", "/jk", "/jk?mime=xml", "/jk?mime=txt", "/jk?mime=prop", "/jk?cmd=dump&mime=txt", "/jk?cmd=dump", "/jk2"} {
			if code := get(path); code != 200 {
				t.Errorf("%s: %d", path, code)
			}
		}
		out, err := s.ask(bin, "status")
		if err != nil {
			t.Errorf("-k status: %v", err)
		}
		fmt.Fprintf(&all, "== -k status\n%s== stderr\n%s", out, s.out.String())
		logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
		for _, name := range logs {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "== %s\n%s", name, text)
		}
		for _, pid := range append(s.children(), s.pid(), s.cmd.Process.Pid) {
			for _, file := range []string{"cmdline", "environ"} {
				text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
				if err != nil && !os.IsPermission(err) {
					t.Error(err)
				}
				fmt.Fprintf(&all, "== %s of %d\n%s\n", file, pid, text)
			}
		}
		for _, line := range strings.Split(all.String(), "\n") {
			for _, s := range []string{secret, password, hash} {
				if strings.Contains(line, s) {
					t.Errorf("a secret is shown: %s", line)
				}
			}
		}
	})
}

// TestRootIsRefused: neither jkd -t nor a start takes a configuration by which
// root's children would be root; what is missing is said at once.
func TestRootIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("builds jkd: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root's children are root")
	}
	bin := binary(t)
	s := &server{t: t, dir: openDir(t)}
	conf := filepath.Join(s.dir, "jkd.conf")
	text := "[server]\nListen = " + addrOf(freePort(t)) + "\nPidFile = jkd.pid\nErrorLog = error.log\n[connector.jk]\nJkWorkerProperty = worker.list=w\n"
	s.write("jkd.conf", text)
	for _, args := range [][]string{{"-t"}, {"-foreground"}, nil} {
		out, err := exec.Command(bin, append(args, "-f", conf)...).CombinedOutput()
		if want := conf + ": User: jkd is started by root"; err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "AllowRootChildren = On") {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
	s.write("jkd.conf", strings.Replace(text, "PidFile", "AllowRootChildren = On\nPidFile", 1))
	if out, err := exec.Command(bin, "-t", "-f", conf).CombinedOutput(); err != nil {
		t.Errorf("allowed: %v, %s", err, out)
	}
}

// TestChroot: requests, files and logs of children that have a root directory
// of their own, through a reload too.
func TestChroot(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can change the root directory")
	}
	bin := binary(t)
	jail := openDir(t)
	if err := os.MkdirAll(filepath.Join(jail, "webapps/shop"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(jail, "webapps/shop/logo.svg"), []byte("<svg/>"), 0o644); err != nil {
		t.Fatal(err)
	}
	back := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "hello") })
	eachMPM(t, func(t *testing.T, mpm string) {
		t.Setenv("TZ", "Asia/Kolkata")
		s := start(t, bin, config{
			mpm: mpm, limits: []string{"StartServers = 2"},
			server:  []string{"ChrootDir = " + jail, `CustomLog = access.log "%U %>s %{%z}t"`},
			workers: properties("localhost:"+strconv.Itoa(back.Port()), nil), mounts: []string{"/app/* tomcat"},
			jk: []string{"JkAutoAlias = /webapps", "[status]", "Location = /s"},
		})
		check := func() {
			t.Helper()
			for path, want := range map[string]string{"/app/x": "hello", "/shop/logo.svg": "<svg/>"} {
				if r, text := look(t, s.url(path)); r.StatusCode != 200 || text != want {
					t.Errorf("%s: %d %q, want %q", path, r.StatusCode, text, want)
				}
			}
			if r, _ := look(t, s.url("/s")); r.StatusCode != 200 {
				t.Errorf("status: %d", r.StatusCode)
			}
			for _, pid := range childrenOf(t, s.current()) {
				if root, err := os.Readlink(fmt.Sprintf("/proc/%d/root", pid)); err == nil && root != jail {
					t.Errorf("the root directory of %d is %s", pid, root)
				}
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
				if m := regexp.MustCompile(`(?m)^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$`).FindSubmatch(status); m == nil || slices.ContainsFunc(m[1:], func(b []byte) bool { return string(b) == "0" }) {
					t.Errorf("child %d may become root again: %s", pid, m)
				}
			}
		}
		check()
		if out, err := s.ask(bin, "graceful"); err != nil {
			t.Fatalf("reload: %v, %s", err, out)
		}
		check()
		s.eventually("the access log has local time", func() bool {
			b, _ := os.ReadFile(filepath.Join(s.dir, "access.log"))
			if strings.Contains(string(b), "+0000") {
				t.Fatalf("access log: %s", b)
			}
			return strings.Count(string(b), "/shop/logo.svg 200 +0530") == 2
		})
	})
}
