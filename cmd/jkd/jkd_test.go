//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience ends what hangs. It judges nothing: nothing here may be asserted to
// be fast.
const patience = 2 * time.Minute

// binary is the jkd under test, built once a test: JKD_BINARY, or a build of
// the tree the test was built from. Children of another user must be able to
// execute it, so its directory is open to all.
func binary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("JKD_BINARY"); path != "" {
		return path
	}
	sourceTree(t)
	path := filepath.Join(openDir(t), "jkd")
	args := []string{"build", "-buildvcs=false", "-o", path}
	cgo := "CGO_ENABLED=0"
	if os.Getenv("JKD_TEST_RACE") != "" {
		args, cgo = append(args, "-race"), "CGO_ENABLED=1"
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Env = append(os.Environ(), cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// openDir is a temporary directory that every user can enter, unlike
// t.TempDir's parent. JKD_KEEP keeps it when the test has failed.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jkd-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && os.Getenv("JKD_KEEP") != "" {
			t.Logf("kept: %s", dir)
			return
		}
		os.RemoveAll(dir)
	})
	return dir
}

// config is what a test wants of jkd.conf. Sections are lines.
type config struct {
	mpm     string
	server  []string // more lines of [server]
	limits  []string // lines of the MPM's section
	workers string   // content of workers.properties
	mounts  []string // values of JkMount
	name    string   // ServerName; empty: the address
	jk      []string // more lines of [connector.jk], and further sections
	jk2     []string // lines of [connector.jk2]; without workers there is no [connector.jk] then
	files   map[string]string
	// httpd, in Apache's language, takes the place of all of these but for mpm
	// and files.
	httpd string
	dir   string // where everything is; empty: a new directory
	// detached: not in the foreground, and so without a keeper.
	detached bool
}

// server is a running jkd.
type server struct {
	t    *testing.T
	addr string // host:port
	dir  string
	cmd  *exec.Cmd // the keeper; nil: it is detached
	out  lockedBuffer

	detached bool

	master int // its pid; 0 before it serves

	doneC chan struct{} // closed when the keeper has been waited for
	err   error         // of Wait, valid after doneC
}

// start writes the configuration, starts jkd in the foreground and waits until
// it serves. At the end of the test it is stopped and must have left nothing.
func start(t *testing.T, bin string, c config) *server {
	t.Helper()
	s := prepare(t, c)
	s.launch(bin)
	return s
}

// prepare writes the configuration.
func prepare(t *testing.T, c config) *server {
	t.Helper()
	s := &server{t: t, dir: c.dir, addr: addrOf(freePort(t)), detached: c.detached}
	if s.dir == "" {
		s.dir = openDir(t)
	}
	lines := []string{
		"[server]",
		"Listen = " + s.addr,
		"ServerName = " + cmp.Or(c.name, s.addr),
		"ServerRoot = " + s.dir,
		"PidFile = jkd.pid",
		"ErrorLog = error.log",
		"LogLevel = info",
		"MPM = " + c.mpm,
	}
	if os.Geteuid() == 0 {
		lines = append(lines, "User = nobody")
	}
	lines = append(lines, c.server...)
	lines = append(append(lines, "[mpm."+c.mpm+"]"), c.limits...)
	if c.jk2 == nil || c.workers != "" {
		lines = append(lines, "[connector.jk]", "JkWorkersFile = workers.properties")
	}
	for _, m := range c.mounts {
		lines = append(lines, "JkMount = "+m)
	}
	lines = append(lines, c.jk...)
	if len(c.jk2) > 0 {
		lines = append(append(lines, "[connector.jk2]"), c.jk2...)
	}
	if c.httpd != "" {
		lines = []string{
			"Listen " + s.addr, "ServerName " + s.addr, "ServerRoot " + s.dir, "PidFile jkd.pid", "ErrorLog error.log", "LogLevel info",
			"LoadModule mpm_" + c.mpm + "_module modules/mod_mpm_" + c.mpm + ".so",
		}
		if os.Geteuid() == 0 {
			lines = append(lines, "User nobody")
		}
		lines = append(lines, c.httpd)
	}
	s.write("jkd.conf", strings.Join(lines, "\n")+"\n")
	s.write("workers.properties", c.workers)
	for name, text := range c.files {
		s.write(name, text)
	}
	return s
}

// launch is the rest of start. It may be called again when that one has ended.
func (s *server) launch(bin string) {
	s.t.Helper()
	t := s.t
	if s.detached {
		s.detach(bin)
		return
	}
	s.master, s.doneC = 0, make(chan struct{})
	s.cmd = exec.Command(bin, "-foreground", "-f", filepath.Join(s.dir, "jkd.conf"))
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.SysProcAttr = sysProcAttr()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func(cmd *exec.Cmd, doneC chan<- struct{}) {
		s.err = cmd.Wait()
		close(doneC)
	}(s.cmd, s.doneC)
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("jkd wrote:\n%s\nerror log:\n%.20000s", s.out.String(), s.log())
		}
	})
	s.eventually("pid file", func() bool {
		select {
		case <-s.doneC:
			t.Fatalf("jkd ended during its start: %v\n%s%s", s.err, s.out.String(), s.log())
		default:
		}
		b, _ := os.ReadFile(filepath.Join(s.dir, "jkd.pid"))
		pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
		if err != nil || !slices.Contains(append(childrenOf(t, s.cmd.Process.Pid), s.cmd.Process.Pid), pid) {
			return false // none yet, or that of one before
		}
		s.master = pid
		return true
	})
}

// detach is launch without -foreground.
func (s *server) detach(bin string) {
	s.t.Helper()
	cmd := exec.Command(bin, "-f", filepath.Join(s.dir, "jkd.conf"))
	cmd.Stdout, cmd.Stderr = &s.out, &s.out
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("start: %v\n%s\n%s", err, s.out.String(), s.log())
	}
	s.master = s.current()
	s.t.Cleanup(func() {
		master := s.current()
		if s.t.Failed() {
			s.t.Logf("error log:\n%.20000s", s.log())
		}
		if master == 0 {
			return
		}
		kids := append(childrenOf(s.t, master), master)
		_ = syscall.Kill(master, syscall.SIGTERM)
		s.gone(kids)
	})
}

func (s *server) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// pid is that of the master, which the keeper has started.
func (s *server) pid() int            { return s.master }
func (s *server) url(p string) string { return "http://" + s.addr + p }

// log is the error log so far.
func (s *server) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "error.log"))
	return string(b)
}

// children are the processes whose parent is the master.
func (s *server) children() []int { return childrenOf(s.t, s.pid()) }

// stop sends TERM to the keeper unless jkd has ended already, and looks after
// what is left.
func (s *server) stop() {
	s.t.Helper()
	select {
	case <-s.doneC:
		return
	default:
	}
	var kids []int
	if s.pid() != 0 {
		kids = append(s.children(), s.pid())
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.ended(kids)
}

// ended waits for the master's end, which must be a success, and that of the
// processes that were its children.
func (s *server) ended(kids []int) {
	s.t.Helper()
	select {
	case <-s.doneC:
	case <-time.After(patience):
		s.t.Errorf("jkd did not end; killing it")
		s.cmd.Process.Kill()
		<-s.doneC
	}
	if s.err != nil {
		s.t.Errorf("jkd ended with %v", s.err)
	}
	for _, word := range []string{"DATA RACE", "panic:", "fatal error:"} {
		if strings.Contains(s.out.String()+s.log(), word) {
			s.t.Errorf("%q in what jkd wrote", word)
		}
	}
	s.gone(kids)
	if _, err := os.Stat(filepath.Join(s.dir, "jkd.pid")); !errors.Is(err, os.ErrNotExist) {
		s.t.Errorf("pid file after the end: %v", err)
	}
}

// gone waits until none of the processes is alive.
func (s *server) gone(pids []int) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("end of processes %v", pids), func() bool {
		return !slices.ContainsFunc(pids, alive)
	})
}

// eventually waits for a condition.
func (s *server) eventually(what string, cond func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain for: %s", what)
		}
	}
}

func alive(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	// A child that an unwilling init has not waited for yet is not alive.
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}

// childrenOf asks /proc or, where there is none, ps.
func childrenOf(t *testing.T, parent int) (pids []int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		files, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, f := range files {
			stat, err := os.ReadFile(f)
			if err != nil {
				continue // ended meanwhile
			}
			pid, rest, _ := strings.Cut(string(stat), " ")
			fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
			if len(fields) > 1 && fields[1] == strconv.Itoa(parent) && fields[0] != "Z" {
				n, _ := strconv.Atoi(pid)
				pids = append(pids, n)
			}
		}
		return pids
	}
	out, err := exec.Command("ps", "-ax", "-o", "pid=", "-o", "ppid=", "-o", "stat=").Output()
	if err != nil {
		t.Fatalf("ps: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[1] == strconv.Itoa(parent) && !strings.HasPrefix(f[2], "Z") {
			n, _ := strconv.Atoi(f[0])
			pids = append(pids, n)
		}
	}
	return pids
}

func addrOf(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// conn is one client connection without any of net/http's retries: what is
// lost on it is seen.
type conn struct {
	net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, addr string) *conn {
	t.Helper()
	c, err := dialErr(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// dialErr connects to a host and port, or to the path of a Unix socket.
func dialErr(addr string) (*conn, error) {
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	c, err := net.DialTimeout(network, addr, patience)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(patience))
	return &conn{c, bufio.NewReader(c)}, nil
}

// send writes a request: a request line without the protocol and header
// fields.
func (c *conn) send(target string, fields ...string) error {
	req := target + " HTTP/1.1\r\nHost: test\r\n"
	for _, f := range fields {
		req += f + "\r\n"
	}
	_, err := io.WriteString(c, req+"\r\n")
	return err
}

// response reads the head of an answer to a request of that method.
func (c *conn) response(method string) (*http.Response, error) {
	return http.ReadResponse(c.r, &http.Request{Method: method})
}

// get is one GET, answer read to its end.
func (c *conn) get(path string, fields ...string) (int, string, error) {
	if err := c.send("GET "+path, fields...); err != nil {
		return 0, "", err
	}
	r, err := c.response("GET")
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(r.Body)
	return r.StatusCode, string(body), err
}

// lockedBuffer collects a process's output.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// eachMPM runs f as a subtest for both MPMs.
func eachMPM(t *testing.T, f func(t *testing.T, mpm string)) {
	for _, mpm := range []string{"prefork", "worker"} {
		t.Run(mpm, func(t *testing.T) { f(t, mpm) })
	}
}

// properties is a workers.properties of one ajp13 worker named "tomcat", with
// more properties of that worker.
func properties(addr string, more map[string]string) string {
	host, port, _ := net.SplitHostPort(addr)
	lines := []string{
		"worker.list=tomcat",
		"worker.tomcat.type=ajp13",
		"worker.tomcat.host=" + host,
		"worker.tomcat.port=" + port,
	}
	for _, k := range slices.Sorted(maps.Keys(more)) {
		lines = append(lines, "worker.tomcat."+k+"="+more[k])
	}
	return strings.Join(lines, "\n") + "\n"
}
