//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const rcScript = "../../rc.d/jkd"

// shells are those of this machine that rc.d/jkd must work under. FreeBSD's
// own is closest to dash.
func shells() (list [][]string) {
	for _, s := range [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"mksh"}, {"ksh"}, {"yash"}} {
		path, err := exec.LookPath(s[0])
		if err != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if !slices.ContainsFunc(list, func(o []string) bool { return o[0] == path }) {
			list = append(list, append([]string{path}, s[1:]...))
		}
	}
	return list
}

// service is rc.d/jkd with jkd itself in a directory that stands for the
// machine, and testdata/rc.subr in place of FreeBSD's.
type service struct {
	t     *testing.T
	dir   string
	bin   string
	shell []string
}

func newService(t *testing.T, shell ...string) *service {
	t.Helper()
	if testing.Short() && os.Getenv("JKD_BINARY") == "" {
		t.Skip("builds and starts jkd: left out with -short")
	}
	script, err := os.ReadFile(rcScript)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("needs the source tree: rc.d/jkd")
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(shell) == 0 {
		shell = []string{"sh"}
	}
	s := &service{t: t, dir: openDir(t), shell: shell}
	s.bin = filepath.Join(s.dir, "sbin", "jkd")
	text := string(script)
	for _, r := range []struct{ old, new string }{
		{"\n. /etc/rc.subr\n", "\n. " + s.dir + "/rc.subr\n"},
		{"\ncommand=\"/usr/local/sbin/jkd\"\n", "\ncommand=\"" + s.bin + "\"\n"},
		{"/usr/local/etc/jkd", s.dir + "/etc"},
		{"/var/run/jkd", s.dir + "/run/jkd"},
		{"/var/log/jkd", s.dir + "/log/jkd"},
	} {
		if !strings.Contains(text, r.old) {
			t.Fatalf("the script does not have %q", r.old)
		}
		text = strings.ReplaceAll(text, r.old, r.new)
	}
	s.write("jkd", text)
	subr, err := os.ReadFile("testdata/rc.subr")
	if err != nil {
		t.Fatal(err)
	}
	s.write("rc.subr", string(subr))
	for _, d := range []string{"etc", "run", "log", "sbin"} {
		if err := os.Mkdir(filepath.Join(s.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.install(binary(t))
	t.Cleanup(s.killAll)
	return s
}

// install puts a program in place, as an installation does: by rename, so that
// one that runs is not written to.
func (s *service) install(from string) {
	s.t.Helper()
	install(s.t, from, s.bin+".new")
	if err := os.Rename(s.bin+".new", s.bin); err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// configure writes the configuration of an instance.
func (s *service) configure(name, addr string, more ...string) {
	s.t.Helper()
	lines := []string{
		"[server]",
		"Listen = " + addr,
		"ServerRoot = " + s.dir,
		"PidFile = run/jkd/" + name + ".pid",
		"ErrorLog = log/jkd/" + name + ".log",
		"LogLevel = info",
		"User = nobody",
		"MPM = prefork",
	}
	lines = append(lines, more...)
	lines = append(lines, "[mpm.prefork]", "StartServers = 1", "[mpm.worker]", "StartServers = 1",
		"[connector.jk]", "JkWorkersFile = etc/workers.properties", "JkMount = /app/* tomcat")
	s.write("etc/"+name+".conf", strings.Join(lines, "\n")+"\n")
	s.workers("127.0.0.1:9")
}

// workers writes the configuration of the container.
func (s *service) workers(addr string) {
	s.t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("etc/workers.properties", "worker.list=tomcat\nworker.tomcat.type=ajp13\nworker.tomcat.host="+host+"\nworker.tomcat.port="+port+"\n")
}

// command is service jkd ARGS.
func (s *service) command(args ...string) *exec.Cmd {
	argv := append(append(slices.Clone(s.shell), filepath.Join(s.dir, "jkd")), args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "RC_TEST="+s.dir)
	cmd.WaitDelay = patience
	return cmd
}

// do runs a verb, which must succeed or fail as said and print the parts of
// text. It returns what has been called.
func (s *service) do(verb string, ok bool, parts ...string) (calls string) {
	s.t.Helper()
	return s.check(s.command(strings.Fields(verb)...), verb, ok, parts)
}

func (s *service) check(cmd *exec.Cmd, verb string, ok bool, parts []string) (calls string) {
	s.t.Helper()
	file := filepath.Join(s.dir, "calls")
	os.Remove(file)
	out, err := cmd.CombinedOutput()
	if (err == nil) != ok {
		s.t.Errorf("service jkd %s: %v, want success %t\n%s", verb, err, ok, out)
	}
	for _, p := range parts {
		if want, isNot := strings.CutPrefix(p, "!"); strings.Contains(string(out), want) == isNot {
			s.t.Errorf("service jkd %s prints %q, want %q in it (!: not)", verb, out, p)
		}
	}
	data, _ := os.ReadFile(file)
	return string(data)
}

// pid is what the pid file of an instance says; 0: there is none.
func (s *service) pid(name string) int {
	data, _ := os.ReadFile(filepath.Join(s.dir, "run", "jkd", name+".pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return pid
}

func (s *service) log(name string) string {
	data, _ := os.ReadFile(filepath.Join(s.dir, "log", "jkd", name+".log"))
	return string(data)
}

// killAll leaves nothing behind when a test has failed half-way.
func (s *service) killAll() {
	files, _ := filepath.Glob(filepath.Join(s.dir, "run", "jkd", "*.pid"))
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".pid")
		if pid := s.pid(name); pid > 1 && alive(pid) && s.isJkd(pid) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

func (s *service) isJkd(pid int) bool {
	out, _ := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return strings.HasPrefix(string(out), s.bin) || strings.HasPrefix(string(out), "jkd:")
}

// serves checks that an instance answers, or that nobody does.
func (s *service) serves(addr string, want bool) {
	s.t.Helper()
	c := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := c.Get("http://" + addr + "/")
	if err == nil {
		r.Body.Close()
	}
	if (err == nil) != want {
		s.t.Errorf("%s: %v, want an answer: %t", addr, err, want)
	}
}

// TestService goes through the life of one instance, with jkd itself.
func TestService(t *testing.T) {
	for _, shell := range shells() {
		t.Run(filepath.Base(shell[0]), func(t *testing.T) { testService(t, newService(t, shell...)) })
	}
}

func testService(t *testing.T, s *service) {
	addr := addrOf(freePort(t))
	s.write("rc.conf", "")
	s.configure("jkd", addr)

	// Off: nothing happens, politely.
	s.do("start", true, "Cannot 'start' jkd. Set jkd_enable to YES")
	s.do("quietstart", true, "!jkd")
	s.do("status", true, "Set jkd_enable to YES")
	s.do("reload", true, "Set jkd_enable to YES")
	s.do("stop", true, "Set jkd_enable to YES")
	s.do("onestatus", false, "jkd is not running")
	s.serves(addr, false)

	s.write("rc.conf", "jkd_enable=YES\njkd_limits='-n 4096'\n")
	s.do("status", false, "jkd is not running")
	s.do("stop", false, "jkd not running?")
	s.do("gracefulstop", false, "jkd not running?")
	s.do("faststop", true)
	s.do("rcvar", true, `jkd_enable="YES"`)
	s.do("describe", true, "servlet")
	s.do("explode", false, "unknown directive 'explode'", "|status|", "|upgrade|")
	s.do("", false, "Usage:", "|configtest|")
	if calls := s.do("enable", true); calls != "enable jkd_enable\n" {
		t.Errorf("enable calls %q", calls)
	}
	s.do("stop web1", false, "web1 is not in jkd_profiles")

	// What cannot start does not.
	fine, _ := os.ReadFile(filepath.Join(s.dir, "etc", "jkd.conf"))
	broken := "[server]\nListen = nowhere\n"
	if err := os.Remove(filepath.Join(s.dir, "etc", "jkd.conf")); err != nil {
		t.Fatal(err)
	}
	s.do("start", false, "etc/jkd.conf is not readable", "!Starting")
	s.write("etc/jkd.conf", broken)
	s.do("configtest", false, "jkd.conf:2: Listen", "nowhere")
	if calls := s.do("start", false, "jkd.conf:2: Listen", "failed precmd routine", "!Starting"); strings.Contains(calls, "limits") {
		t.Errorf("start with a broken file calls %q", calls)
	}
	if st, err := os.Stat(filepath.Join(s.dir, "run/jkd")); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("run/jkd: %v, %v; want a directory of mode 755", st, err)
	}
	s.do("forcestart", false, "jkd.conf:2: Listen", "Starting", "failed to start jkd")
	s.write("etc/jkd.conf", string(fine))
	s.do("configtest", true, "Syntax OK")

	// It starts, once, and is recognised.
	calls := s.do("start", true, "Starting jkd.", "!Syntax OK")
	if calls != "limits -C daemon -n 4096\n" { // the directory is there since the attempt before
		t.Errorf("start calls %q", calls)
	}
	pid := s.pid("jkd")
	s.serves(addr, true)
	running := fmt.Sprintf("jkd is running as pid %d.", pid)
	s.do("status", true, running)
	s.do("start", false, "already running", strconv.Itoa(pid))
	s.do("start", false, "!Starting")

	// A broken file stops nothing.
	s.write("etc/jkd.conf", broken)
	s.do("restart", false, "jkd.conf:2: Listen", "!Stopping")
	s.do("status", true, running)
	s.write("etc/jkd.conf", string(fine))

	// What stands in rc.conf takes effect.
	s.write("rc.conf", "jkd_enable=YES\njkd_mpm=worker\njkd_env='BACK=127.0.0.1'\njkd_nice=1\n")
	s.workers("$(BACK):9")
	s.do("restart", true, "Stopping jkd.", "Starting jkd.")
	if now := s.pid("jkd"); now == pid || now == 0 || alive(pid) {
		t.Errorf("after a restart the pid is %d, was %d, which lives: %t", now, pid, alive(pid))
	}
	if log := s.log("jkd"); !strings.Contains(log, "mpm=worker") {
		t.Errorf("jkd_mpm=worker is not in the log:\n%s", log)
	}
	s.serves(addr, true)
	if calls := s.do("gracefulstop", true, "Stopping jkd."); calls != "kill -WINCH\n" {
		t.Errorf("gracefulstop calls %q", calls)
	}
	s.serves(addr, false)
	s.do("status", false, "jkd is not running")

	// Off again, what runs can be stopped.
	s.write("rc.conf", "")
	s.configure("jkd", addr)
	s.do("onestart", true, "Starting jkd.")
	pid = s.pid("jkd")
	s.serves(addr, true)
	if calls := s.do("stop", true, "Stopping jkd."); calls != "kill -TERM\n" {
		t.Errorf("stop calls %q", calls)
	}
	if alive(pid) || s.pid("jkd") != 0 {
		t.Errorf("after stop: process %d lives: %t; pid file: %d", pid, alive(pid), s.pid("jkd"))
	}

	// A pid that was given to somebody else is nobody's.
	s.write("run/jkd/jkd.pid", strconv.Itoa(os.Getpid())+"\n")
	s.do("onestatus", false, "jkd is not running")
	s.do("onestop", false, "jkd not running?")
	os.Remove(filepath.Join(s.dir, "run/jkd/jkd.pid"))
}

// TestServiceProfiles: verbs are for each instance, or for one.
func TestServiceProfiles(t *testing.T) {
	s := newService(t)
	web1, web2, off := addrOf(freePort(t)), addrOf(freePort(t)), addrOf(freePort(t))
	rcConf := "jkd_enable=YES\njkd_profiles='web1 web2 off'\njkd_off_enable=NO\njkd_mpm=worker\njkd_web1_mpm=prefork\n" +
		"jkd_limits='-n 1024'\njkd_web2_limits='-n 2048'\n"
	s.write("rc.conf", rcConf)
	for name, addr := range map[string]string{"web1": web1, "web2": web2, "off": off} {
		s.configure(name, addr)
	}
	s.do("status", false, "profile: web1", "profile: web2", "!profile: off", "status has failed for web1 web2")
	s.do("start web9", false, "web9 is not in jkd_profiles")
	s.do("start off", true, "Set jkd_off_enable to YES")
	s.do("rcvar web1", true, `jkd_web1_enable="YES"`)
	s.do("rcvar", true, `jkd_enable="YES"`, "!profile")
	s.do("enabled off", false)

	calls := s.do("start", true, "profile: web1", "profile: web2")
	for _, want := range []string{"limits -C daemon -n 1024\n", "limits -C daemon -n 2048\n"} {
		if strings.Count(calls, want) != 1 {
			t.Errorf("start calls %q, want %q once", calls, want)
		}
	}
	for name, mpm := range map[string]string{"web1": "prefork", "web2": "worker"} {
		if log := s.log(name); !strings.Contains(log, "mpm="+mpm) {
			t.Errorf("%s does not run %s:\n%s", name, mpm, log)
		}
	}
	s.serves(web1, true)
	s.serves(web2, true)
	s.serves(off, false)

	// One fails, the others are done all the same.
	first, second := s.pid("web1"), s.pid("web2")
	fine, _ := os.ReadFile(filepath.Join(s.dir, "etc/web1.conf"))
	s.write("etc/web1.conf", "[server]\nListen = nowhere\n")
	s.do("configtest", false, "web1.conf:2", "Syntax OK", "configtest has failed for web1\n")
	s.do("configtest web2", true, "Syntax OK")
	s.do("restart", false, "restart has failed for web1\n")
	if s.pid("web1") != first || s.pid("web2") == second {
		t.Errorf("pids %d %d after a restart, were %d %d; web1's configuration was broken", s.pid("web1"), s.pid("web2"), first, second)
	}
	s.write("etc/web1.conf", string(fine))

	if s.reloads() {
		first, second = s.pid("web1"), s.pid("web2")
		s.do("reload web2", true)
		if s.pid("web1") != first || s.pid("web2") == second {
			t.Errorf("pids %d %d after a reload of web2, were %d %d", s.pid("web1"), s.pid("web2"), first, second)
		}
		second = s.pid("web2")
		s.do("reload", true, "profile: web1", "profile: web2", "!profile: off")
		if s.pid("web1") == first || s.pid("web2") == second {
			t.Errorf("pids %d %d after a reload, were %d %d", s.pid("web1"), s.pid("web2"), first, second)
		}
	}
	s.do("stop web1", true, "Stopping")
	s.serves(web1, false)
	s.serves(web2, true)
	s.do("status", false, "status has failed for web1\n", "jkd is running as pid "+strconv.Itoa(s.pid("web2")))
	s.do("onestart off", true, "Starting")
	s.serves(off, true)

	// One that is off but runs is stopped with the others; at boot and at the
	// end there is no $0.
	s.do("start web1", true)
	atBoot := func(verb string) *exec.Cmd {
		cmd := s.command()
		cmd.Args = []string{s.shell[0], "-c", `( set ` + verb + `; . "$RC_TEST/jkd" )`}
		return cmd
	}
	s.check(atBoot("faststop"), "faststop", true, []string{"profile: off"})
	for _, addr := range []string{web1, web2, off} {
		s.serves(addr, false)
	}
	s.check(atBoot("faststart"), "faststart", true, []string{"profile: web1", "!profile: off"})
	s.serves(web1, true)
	s.serves(web2, true)
	s.do("gracefulstop", true)
	s.serves(web1, false)
	s.serves(web2, false)

	s.write("rc.conf", "jkd_profiles='we/b1'\n")
	s.do("onestart", false, "we/b1")
}

// TestServiceAcceptFilters: modules are loaded before the start, if asked for.
func TestServiceAcceptFilters(t *testing.T) {
	s := newService(t)
	addr := addrOf(freePort(t))
	s.configure("jkd", addr)
	s.write("rc.conf", "jkd_enable=YES\njkd_http_accept_enable=YES\nRC_TEST_NO_KLD=yes\n")
	if calls := s.do("start", false, "failed precmd"); !strings.HasSuffix(calls, "kldload accf_http\n") {
		t.Errorf("start calls %q", calls)
	}
	s.write("rc.conf", "jkd_enable=YES\njkd_http_accept_enable=YES\n")
	if calls := s.do("start", true); !strings.Contains(calls, "kldload accf_http\nkldload accf_data\nlimits") {
		t.Errorf("start calls %q", calls)
	}
	s.serves(addr, true)
	s.do("stop", true)
}

// TestServiceUser is F088: jkd_user without root, and /var/run empty.
func TestServiceUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be somebody else")
	}
	if runtime.GOOS == "linux" {
		if err := exec.Command("su", "-s", "/bin/sh", "-m", "nobody", "-c", "true").Run(); err != nil {
			t.Skip("cannot become nobody here: ", err)
		}
	}
	s := newService(t)
	addr := addrOf(freePort(t))
	s.configure("jkd", addr)
	s.write("rc.conf", "jkd_enable=YES\njkd_user=nobody\n")
	owner := func(path string) uint32 {
		t.Helper()
		st, err := os.Stat(filepath.Join(s.dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return st.Sys().(*syscall.Stat_t).Uid
	}
	// Left by the package, root's; nothing in it.
	if err := os.Mkdir(filepath.Join(s.dir, "log/jkd"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.do("start", true, "Starting jkd.")
	s.serves(addr, true)
	nobody := owner("run/jkd")
	for _, path := range []string{"run/jkd/jkd.pid", "log/jkd", "log/jkd/jkd.log"} {
		if uid := owner(path); uid == 0 || uid != nobody {
			t.Errorf("%s belongs to %d, want nobody", path, uid)
		}
	}
	s.do("status", true, strconv.Itoa(s.pid("jkd")))
	s.do("restart", true)
	if uid := owner("run/jkd/jkd.pid"); uid != nobody {
		t.Errorf("after a restart the pid file belongs to %d", uid)
	}
	s.serves(addr, true)
	if s.reloads() {
		s.rotated("jkd")
	}
	s.do("stop", true)
	s.serves(addr, false)

	// What has somebody's files in it is not given away.
	if err := os.Chown(filepath.Join(s.dir, "log/jkd"), 0, 0); err != nil {
		t.Fatal(err)
	}
	s.do("start", false, "log/jkd")
	if owner("log/jkd") != 0 {
		t.Error("a directory of root's with files in it was given away")
	}
}

// reloads tells whether this jkd has -k graceful.
func (s *service) reloads() bool {
	out, _ := exec.Command(s.bin, "-k", "graceful", "-f", filepath.Join(s.dir, "none")).CombinedOutput()
	return !strings.Contains(string(out), "-k graceful: it is")
}

// rotated renames the log as newsyslog does, has it opened anew and checks
// that the new file gets lines.
func (s *service) rotated(name string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "log", "jkd", name+".log")
	if err := os.Rename(path, path+".0"); err != nil {
		s.t.Fatal(err)
	}
	s.do("reopen", true)
	if !strings.Contains(s.log(name), "jkd is ready") {
		s.t.Errorf("after reopen the log is %q", s.log(name))
	}
}

// TestServiceReload: reload and upgrade tell the truth, and status is right
// right after them.
func TestServiceReload(t *testing.T) {
	s := newService(t)
	if !s.reloads() {
		t.Skip("this jkd does not reload")
	}
	addr, other := addrOf(freePort(t)), addrOf(freePort(t))
	s.configure("jkd", addr)
	s.write("rc.conf", "jkd_enable=YES\n")
	for _, verb := range []string{"reload", "graceful", "upgrade", "reopen"} {
		s.do(verb, false, "not running")
	}
	s.do("start", true)
	pid := s.pid("jkd")
	for _, verb := range []string{"reload", "graceful", "upgrade", "reopen"} {
		s.do(verb, true)
		now := s.pid("jkd")
		if now == pid || now == 0 {
			t.Errorf("after %s the pid is %d, was %d", verb, now, pid)
		}
		pid = now
		s.do("status", true, fmt.Sprintf("running as pid %d.", pid))
		s.serves(addr, true)
	}

	// status is right at every moment of an upgrade (F086).
	upgrade := s.command("upgrade")
	if err := upgrade.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- upgrade.Wait() }()
	for looking := true; looking; {
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("upgrade: %v", err)
			}
			looking = false
		default:
		}
		s.do("status", true, "running as pid ")
	}
	if pid == s.pid("jkd") {
		t.Errorf("after an upgrade the pid is still %d", pid)
	}
	pid = s.pid("jkd")

	// A file with a mistake, and one that is right but cannot be served.
	fine, _ := os.ReadFile(filepath.Join(s.dir, "etc/jkd.conf"))
	s.write("etc/jkd.conf", "[server]\nListen = nowhere\n")
	for _, verb := range []string{"reload", "graceful", "upgrade", "reopen", "restart"} {
		s.do(verb, false, "jkd.conf:2: Listen")
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	busy := ln.Addr().String()
	s.write("etc/jkd.conf", strings.Replace(string(fine), "Listen = "+addr, "Listen = "+addr+"\nListen = "+busy, 1))
	s.do("reload", false, busy)
	s.write("etc/jkd.conf", string(fine))
	if s.pid("jkd") != pid {
		t.Errorf("after reloads that failed the pid is %d, was %d", s.pid("jkd"), pid)
	}
	s.serves(addr, true)
	s.do("status", true, fmt.Sprintf("running as pid %d.", pid))

	// A program that cannot start.
	if err := os.Rename(s.bin, s.bin+".good"); err != nil {
		t.Fatal(err)
	}
	if err := writeProgram(s.bin, []byte("#!/bin/sh\nexit 9\n")); err != nil {
		t.Fatal(err)
	}
	s.do("upgrade", false)
	if err := os.Rename(s.bin+".good", s.bin); err != nil {
		t.Fatal(err)
	}
	s.serves(addr, true)

	// The configuration is that of now; status is right while the old
	// generation drains, for a request that the container never answers, and
	// stop waits for both.
	s.write("etc/jkd.conf", string(fine))
	s.workers(busy)
	s.do("reload", true)
	pid = s.pid("jkd")
	// A child of the generation before may still take the first connection, and
	// answers it: its container is another one.
	var back net.Conn
	for until := time.Now().Add(patience); back == nil; {
		held := dial(t, addr)
		if err := held.send("GET /app/"); err != nil {
			t.Fatal(err)
		}
		if err := ln.(*net.TCPListener).SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if back, err = ln.Accept(); err != nil && time.Now().After(until) {
			t.Fatal(err)
		}
	}
	defer back.Close()
	s.write("etc/jkd.conf", strings.Replace(string(fine), "Listen = "+addr, "Listen = "+other, 1))
	s.do("upgrade", true)
	s.serves(other, true)
	s.do("status", true, fmt.Sprintf("running as pid %d.", s.pid("jkd")))
	old, now := pid, s.pid("jkd")
	if !alive(old) {
		t.Error("the old master has not waited for its last request")
	}
	s.do("stop", true)
	if alive(old) || alive(now) {
		t.Errorf("after stop the old master lives: %t, the new one: %t", alive(old), alive(now))
	}
	s.serves(other, false)
}

func TestRCScriptSyntax(t *testing.T) {
	if _, err := os.Stat(rcScript); err != nil {
		t.Skip("needs the source tree")
	}
	for _, shell := range shells() {
		if out, err := exec.Command(shell[0], append(shell[1:], "-n", rcScript)...).CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
	}
	// What service(8) reads with grep to list what is enabled.
	text, err := os.ReadFile(rcScript)
	if err != nil {
		t.Fatal(err)
	}
	for _, re := range []string{`(?m)^name="jkd"$`, `(?m)^rcvar.*=`, `(?m)^# PROVIDE: jkd$`} {
		if n := len(regexp.MustCompile(re).FindAll(text, -1)); n != 1 {
			t.Errorf("%s is there %d times, want once", re, n)
		}
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("no shellcheck here: only -n was run")
	}
	// SC1091: rc.subr is not here; SC2034, SC2154: it uses and sets variables.
	if out, err := exec.Command("shellcheck", "-s", "sh", "-e", "SC1091,SC2034,SC2154", rcScript, "testdata/rc.subr").CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
