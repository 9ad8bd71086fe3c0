//go:build unix

package master

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/child"
	"jkd/mpm"
	"jkd/mpm/prefork"
	"jkd/mpm/sock"
	"jkd/mpm/worker"
	"jkd/scoreboard"
)

// The test binary is also a master and its children.

const masterVar = "MASTERTEST_CONFIG"

// patience is how long anything may take on a slow, busy machine.
const patience = 90 * time.Second

// config travels to the master in the environment and to the children as the
// snapshot.
type config struct {
	MPM            string
	Listen         []string
	PidFile        string
	ScoreBoardFile string
	User           string
	Timeout        time.Duration
	Broken         bool // Build fails
	Background     bool // two goroutines of the master, one that does not end
}

func (c config) module() (mpm.Module, error) {
	if c.MPM == "worker" {
		return worker.New(worker.Config{StartServers: 2, MinSpareThreads: 2, ThreadsPerChild: 2, ServerLimit: 4})
	}
	return prefork.New(prefork.Config{StartServers: 2, MinSpareServers: 1, ServerLimit: 4})
}

func TestMain(m *testing.M) {
	if mpm.IsChild() {
		os.Exit(int(child.Run(child.Options{Build: build, Logger: zerolog.New(os.Stderr)})))
	}
	if s := os.Getenv(masterVar); s != "" {
		os.Exit(masterMain(s))
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

func masterMain(s string) int {
	var c config
	if err := json.Unmarshal([]byte(s), &c); err != nil {
		panic(err)
	}
	module, err := c.module()
	if err != nil {
		panic(err)
	}
	log := zerolog.New(os.Stderr)
	var background []func(<-chan struct{})
	if c.Background {
		background = append(background, func(stop <-chan struct{}) {
			log.Info().Msg("background begins")
			<-stop
			log.Info().Msg("background ends")
		}, func(<-chan struct{}) { select {} })
	}
	return New(Options{
		Listen: c.Listen, PidFile: c.PidFile, ScoreBoardFile: c.ScoreBoardFile, User: c.User,
		Module: module, Snapshot: []byte(s), GracefulShutdownTimeout: c.Timeout, Foreground: true,
		Background: background, OnReclaim: func(server int) { log.Info().Int("server", server).Msg("reclaimed") },
		Logger:  log,
		OnReady: func(addrs []net.Addr) { fmt.Println("ready", addrs[0]) },
	}).Run()
}

func build(snapshot []byte, c *mpm.Child) (mpm.Module, mpm.ConnHandler, error) {
	var conf config
	if err := json.Unmarshal(snapshot, &conf); err != nil {
		return mpm.Module{}, nil, err
	}
	if conf.Broken {
		return mpm.Module{}, nil, fmt.Errorf("cannot be built")
	}
	m, err := conf.module()
	return m, &handler{c}, err
}

// handler answers lines; "hold" runs until the next line comes.
type handler struct{ c *mpm.Child }

func (h *handler) ServeConn(c sock.Conn, seat *scoreboard.Seat) {
	defer c.Close()
	buf := make([]byte, 256)
	for first := true; first || !h.c.Stopping(); first = false {
		_ = c.SetReadDeadline(time.Now().Add(patience))
		read := c.Read
		if !first {
			read = func(p []byte) (int, error) { return c.ReadIdle(p, patience) }
		}
		n, err := read(buf)
		if err != nil {
			return
		}
		if strings.HasPrefix(string(buf[:n]), "hold") {
			_, _ = c.Write([]byte("held\n"))
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
		_, _ = fmt.Fprintln(c, os.Getpid())
	}
}

// process is a master in a process of its own. Its standard output is
// inherited by the children: end of file means that all are gone.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *bufio.Reader
	addr string

	mu  sync.Mutex
	log strings.Builder
	// logDone is closed when the log has ended.
	logDone chan struct{}
}

func launch(t *testing.T, c config) *process {
	t.Helper()
	s, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(exe), logDone: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), masterVar+"="+string(s))
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	go func() {
		defer close(p.logDone)
		for sc := bufio.NewScanner(errs); sc.Scan(); {
			p.mu.Lock()
			p.log.WriteString(sc.Text() + "\n")
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_, _ = p.cmd.Process.Wait()
		<-p.logDone
		if t.Failed() {
			t.Log(p.logged())
		}
	})
	return p
}

// start waits until the master is ready.
func start(t *testing.T, c config) *process {
	t.Helper()
	if c.Listen == nil {
		c.Listen = []string{"127.0.0.1:0"}
	}
	p := launch(t, c)
	line, err := p.out.ReadString('\n')
	addr, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ok {
		t.Fatalf("not ready: %q, %v", line, err)
	}
	p.addr = addr
	return p
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// exits waits until all processes are gone and checks the master's status.
func (p *process) exits(status int) {
	p.t.Helper()
	timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	if _, err := io.Copy(io.Discard, p.out); err != nil {
		p.t.Error(err)
	}
	<-p.logDone
	st, err := p.cmd.Process.Wait()
	if err != nil {
		p.t.Fatal(err)
	}
	if st.ExitCode() != status {
		p.t.Errorf("exit status %d (%s), want %d", st.ExitCode(), st, status)
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ask sends one line on c and returns the answer.
func ask(t *testing.T, c net.Conn, line string) string {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write([]byte(line + "\n")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, err := c.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(buf[:n]))
}

func (p *process) dial() net.Conn {
	p.t.Helper()
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return c
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("did not happen: %s", what)
		}
	}
}

func bothMPMs(t *testing.T, f func(t *testing.T, mpm string)) {
	for _, mpm := range []string{"prefork", "worker"} {
		t.Run(mpm, func(t *testing.T) { f(t, mpm) })
	}
}

func TestLife(t *testing.T) {
	bothMPMs(t, func(t *testing.T, mpm string) {
		dir := t.TempDir()
		c := config{MPM: mpm, PidFile: filepath.Join(dir, "jkd.pid"), ScoreBoardFile: filepath.Join(dir, "scoreboard")}
		p := start(t, c)
		if b, err := os.ReadFile(c.PidFile); err != nil || string(b) != strconv.Itoa(p.cmd.Process.Pid)+"\n" {
			t.Errorf("pid file %q, %v", b, err)
		}
		if st, err := os.Stat(c.ScoreBoardFile); err != nil || st.Mode() != 0o600 {
			t.Errorf("scoreboard file %v, %v", st, err)
		}
		if pid := ask(t, p.dial(), "hello"); pid == strconv.Itoa(p.cmd.Process.Pid) {
			t.Error("the master serves")
		}
		p.signal(syscall.SIGHUP) // not yet
		eventually(t, "the log says that reloading is not available", func() bool {
			return strings.Contains(p.logged(), "this jkd cannot be reloaded")
		})
		ask(t, p.dial(), "still there?")
		p.signal(syscall.SIGTERM)
		p.exits(0)
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("%v is left", left)
		}
		if !strings.Contains(p.logged(), "caught SIGTERM, shutting down") {
			t.Error("the log does not tell why")
		}
	})
}

func TestGraceful(t *testing.T) {
	bothMPMs(t, func(t *testing.T, mpm string) {
		c := config{MPM: mpm, PidFile: filepath.Join(t.TempDir(), "jkd.pid")}
		p := start(t, c)
		busy := p.dial()
		if got := ask(t, busy, "hold"); got != "held" {
			t.Fatal(got)
		}
		p.signal(syscall.SIGWINCH)
		eventually(t, "the pid file is gone", func() bool {
			_, err := os.Stat(c.PidFile)
			return os.IsNotExist(err)
		})
		if runtime.GOOS == "linux" { // see shutListeners
			eventually(t, "connections are refused", func() bool {
				c, err := net.Dial("tcp", p.addr)
				if err == nil {
					c.Close()
				}
				return err != nil
			})
		}
		if got := ask(t, busy, "go on"); got == "" {
			t.Error("the running request was not answered")
		}
		busy.Close() // the order may have come after the answer
		p.exits(0)
	})
}

func TestGracefulThenStop(t *testing.T) {
	p := start(t, config{MPM: "worker"})
	busy := p.dial()
	if got := ask(t, busy, "hold"); got != "held" {
		t.Fatal(got)
	}
	p.signal(syscall.SIGWINCH)
	eventually(t, "the graceful stop begins", func() bool { return strings.Contains(p.logged(), "caught SIGWINCH") })
	p.signal(syscall.SIGINT)
	p.exits(0)
}

func TestGracefulTimeout(t *testing.T) {
	p := start(t, config{MPM: "prefork", Timeout: 100 * time.Millisecond})
	busy := p.dial()
	if got := ask(t, busy, "hold"); got != "held" {
		t.Fatal(got)
	}
	p.signal(syscall.SIGWINCH)
	p.exits(0)
	if log := p.logged(); !strings.Contains(log, `"connections":1,`) || !strings.Contains(log, "GracefulShutdownTimeout is over") {
		t.Errorf("the log does not tell why, and how many connections it were: %s", log)
	}
}

// TestBackground: as long as there are children, and no longer.
func TestBackground(t *testing.T) {
	p := start(t, config{MPM: "worker", Background: true})
	busy := p.dial()
	if got := ask(t, busy, "hold"); got != "held" {
		t.Fatal(got)
	}
	p.signal(syscall.SIGWINCH)
	eventually(t, "the other child is gone", func() bool { return strings.Contains(p.logged(), "reclaimed") })
	if strings.Contains(p.logged(), "background ends") {
		t.Error("ended although there is a child")
	}
	ask(t, busy, "go on")
	busy.Close()
	p.exits(0)
	inOrder(t, p.logged(), "background begins", "resuming normal operations", "reclaimed", "reclaimed", "background ends",
		"work in the background did not end within 2s", "stopped")

	// Children that cannot be built.
	p = launch(t, config{Listen: []string{"127.0.0.1:0"}, Broken: true, Background: true})
	p.exits(1)
	inOrder(t, p.logged(), "child could not start", "background ends")
}

// inOrder checks that text holds all of want, one after the other.
func inOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		_, rest, ok := strings.Cut(text, w)
		if !ok {
			t.Errorf("%q is missing or too early", w)
			return
		}
		text = rest
	}
}

// TestReclaim: the hook is told of a killed child before the next one is there.
func TestReclaim(t *testing.T) {
	bothMPMs(t, func(t *testing.T, mpm string) {
		p := start(t, config{MPM: mpm})
		pid, err := strconv.Atoi(ask(t, p.dial(), "hello"))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the child is replaced", func() bool {
			_, rest, ok := strings.Cut(p.logged(), "reclaimed")
			return ok && strings.Contains(rest, "child started")
		})
		p.signal(syscall.SIGTERM)
		p.exits(0)
		if began, ended := strings.Count(p.logged(), "child started"), strings.Count(p.logged(), "reclaimed"); began != ended {
			t.Errorf("%d children were started, %d reclaimed", began, ended)
		}
	})
}

// TestStartFails: one clear error, status 1, nothing left.
func TestStartFails(t *testing.T) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err != nil {
		t.Fatal(err)
	}
	free := []string{"127.0.0.1:0"}
	for _, c := range []struct {
		name   string
		config config
		want   string
		lines  int
		root   bool
	}{
		{"address in use", config{Listen: []string{ln.Addr().String()}}, "could not bind to " + ln.Addr().String() + ": address already in use", 1, false},
		{"no listener", config{}, "at least one is needed", 1, false},
		{"pid directory", config{Listen: free, PidFile: "/nonexistent/jkd.pid"}, "PidFile /nonexistent/jkd.pid: could not be written", 1, false},
		{"scoreboard link", config{Listen: free, ScoreBoardFile: link}, link, 1, false},
		{"unknown user", config{Listen: free, User: "no-such-user-here"}, "unknown user", 1, true},
		{"children that fail", config{Listen: free, Broken: true}, "ended before any was ready", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && os.Geteuid() != 0 {
				t.Skip("only the superuser can become somebody else")
			}
			if c.config.PidFile == "" {
				c.config.PidFile = filepath.Join(dir, "jkd.pid")
			}
			p := launch(t, c.config)
			p.exits(1)
			var errs []string
			for line := range strings.Lines(p.logged()) {
				if strings.Contains(line, `"level":"error"`) && !strings.Contains(line, "child could not start") {
					errs = append(errs, line)
				}
			}
			if len(errs) == 0 || !strings.Contains(errs[len(errs)-1], c.want) || c.lines > 0 && len(errs) != c.lines {
				t.Errorf("errors %q, want %q", errs, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*pid*")); len(left) != 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestSecondMaster: one pid file, one master.
func TestSecondMaster(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jkd.pid")
	first := start(t, config{PidFile: path})
	second := launch(t, config{PidFile: path, Listen: []string{"127.0.0.1:0"}})
	second.exits(1)
	want := fmt.Sprintf("process %d is running already", first.cmd.Process.Pid)
	if !strings.Contains(second.logged(), want) {
		t.Errorf("the log does not say %q", want)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != strconv.Itoa(first.cmd.Process.Pid)+"\n" {
		t.Errorf("pid file %q, %v", b, err)
	}
	// After a crash the file is stale and in nobody's way.
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.cmd.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	third := start(t, config{PidFile: path})
	third.signal(syscall.SIGTERM)
	third.exits(0)
}

// TestMasterSleeps: connections are the children's business. A master whose
// runtime watches the listeners would wake for each.
func TestMasterSleeps(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts context switches in /proc")
	}
	p := start(t, config{MPM: "prefork"})
	before := p.switches()
	const n = 2000
	for range n {
		c, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		ask(t, c, "hello")
		c.Close()
	}
	if used := p.switches() - before; used > n/4 {
		t.Errorf("the master woke %d times in %d connections", used, n)
	}
}

// switches counts the voluntary context switches of all threads.
func (p *process) switches() (n int) {
	p.t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", p.cmd.Process.Pid))
	if err != nil || len(files) == 0 {
		p.t.Fatal(err)
	}
	for _, name := range files {
		b, _ := os.ReadFile(name)
		for line := range strings.Lines(string(b)) {
			if v, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				k, _ := strconv.Atoi(strings.TrimSpace(v))
				n += k
			}
		}
	}
	return n
}
