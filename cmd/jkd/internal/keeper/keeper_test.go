//go:build unix

package keeper

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// The test binary is also the keeper and its masters, which play the part of
// that name in parts, and what they leave behind.
const (
	partVar       = "KEEPERTEST_PART"
	generationVar = "KEEPERTEST_GENERATION" // of a master; empty: the first
	orphanVar     = "KEEPERTEST_ORPHAN"
	patienceVar   = "KEEPERTEST_PATIENCE"
	terminalVar   = "KEEPERTEST_TERMINAL"
)

// limit is how long anything may take on a slow, busy machine.
const limit = 60 * time.Second

func TestMain(m *testing.M) {
	part, kind := os.Getenv(partVar), os.Getenv(orphanVar)
	generation, _ := strconv.Atoi(os.Getenv(generationVar))
	// Of two settings of a variable the first one counts.
	os.Unsetenv(orphanVar)
	os.Unsetenv(generationVar)
	switch {
	case kind != "":
		orphanMain(kind)
	case part == "":
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
		os.Exit(m.Run())
	}
	announce, life, ok := Inherited()
	if !ok {
		patience, _ := time.ParseDuration(os.Getenv(patienceVar))
		status, err := Run(Options{
			Args:     os.Args,
			Terminal: os.Getenv(terminalVar) != "",
			Patience: patience,
			Logger:   zerolog.New(os.Stderr),
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 99
		}
		os.Exit(status)
	}
	pm := &testMaster{generation: max(generation, 1), announceFD: announce, lifeFD: life, in: bufio.NewReader(os.Stdin)}
	pm.listen()
	os.Exit(parts[part](pm))
}

// testMaster is a master in a play.
type testMaster struct {
	generation         int
	announceFD, lifeFD int
	sigC               chan os.Signal
	in                 *bufio.Reader
}

func (m *testMaster) listen() {
	m.sigC = make(chan os.Signal, 8)
	signal.Notify(m.sigC, passed...)
}

func (m *testMaster) say(what string) {
	fmt.Printf("%d: %s %d\n", m.generation, what, os.Getpid())
}

func (m *testMaster) serve() {
	if err := Announce(m.announceFD, os.Getpid()); err != nil {
		panic(err)
	}
	m.say("serves")
}

// hear waits for a signal and says which.
func (m *testMaster) hear() syscall.Signal {
	s := (<-m.sigC).(syscall.Signal)
	m.say(s.String())
	return s
}

// cue waits for a line of the test.
func (m *testMaster) cue() {
	if _, err := m.in.ReadString('\n'); err != nil {
		panic(err)
	}
}

// next starts the next generation.
func (m *testMaster) next() *os.Process {
	env := append(os.Environ(), fmt.Sprintf("%s=%d", generationVar, m.generation+1), linkVar+"=3,4")
	self, _ := os.Executable()
	p, err := os.StartProcess(self, os.Args, &os.ProcAttr{Env: env, Files: []*os.File{
		os.Stdin, os.Stdout, os.Stderr, os.NewFile(uintptr(m.announceFD), ""), os.NewFile(uintptr(m.lifeFD), "")}})
	if err != nil {
		panic(err)
	}
	return p
}

// alone waits until the one that has started this master has ended.
func (m *testMaster) alone(parent int) {
	for os.Getppid() == parent {
		time.Sleep(5 * time.Millisecond)
	}
}

// orphan starts a process that does not end with its parent.
func orphan(kind string) *os.Process {
	self, _ := os.Executable()
	p, err := os.StartProcess(self, []string{self}, &os.ProcAttr{
		Env: append(os.Environ(), orphanVar+"="+kind), Files: []*os.File{nil, os.Stdout, os.Stderr}})
	if err != nil {
		panic(err)
	}
	return p
}

func orphanMain(kind string) {
	termC := make(chan os.Signal, 1)
	signal.Notify(termC, syscall.SIGTERM)
	switch kind {
	case "brief": // ends by itself
		time.Sleep(300 * time.Millisecond)
		fmt.Println("orphan: ends")
	case "tree": // leaves orphans of its own
		for range 5 {
			orphan("brief")
		}
	default:
		fmt.Println("orphan: starts")
		<-termC
		fmt.Println("orphan: terminated")
	}
	os.Exit(0)
}

// parts are what masters do; the result is the exit status.
var parts = map[string]func(m *testMaster) int{
	// serves until it is told to stop.
	"one": func(m *testMaster) int {
		m.serve()
		for m.hear() != syscall.SIGTERM {
		}
		return 3
	},
	"environment": func(m *testMaster) int {
		for _, v := range []string{linkVar, notifyVar} {
			if s, set := os.LookupEnv(v); set {
				m.say(v + "=" + s)
			}
		}
		m.say("program " + os.Args[0] + " " + strings.Join(os.Args[1:], " "))
		return 0
	},
	"fails": func(m *testMaster) int { return 5 },
	"slow": func(m *testMaster) int {
		signal.Reset() // as before a master has come to it
		m.say("starts")
		m.cue()
		m.listen()
		m.serve()
		for m.hear() != syscall.SIGTERM {
		}
		return 0
	},
	// a reload for each HUP; generation n ends with status n.
	"reload": func(m *testMaster) int {
		parent := os.Getppid()
		m.serve()
		if m.generation > 1 {
			_ = syscall.Kill(parent, syscall.SIGUSR2) // ready: the old one goes
		}
		for {
			switch m.hear() {
			case syscall.SIGHUP:
				m.next()
			case syscall.SIGTERM, syscall.SIGUSR2:
				return m.generation
			}
		}
	},
	// the second takes over and ends before the keeper looks.
	"fast": func(m *testMaster) int {
		parent := os.Getppid()
		m.serve()
		if m.generation == 1 {
			m.hear()
			m.next()
			m.hear()
			return 0
		}
		_ = syscall.Kill(parent, syscall.SIGUSR2)
		m.alone(parent)
		m.say("ends")
		return 4
	},
	// the second ends first and says its status.
	"leaves": func(m *testMaster) int {
		return reversed(m, func() { _ = Leave(m.announceFD, os.Getpid(), 6) }, func() {})
	},
	// the second just ends first.
	"vanishes": func(m *testMaster) int { return reversed(m, func() {}, func() {}) },
	// the second ends first, and the first one goes on.
	"returns": func(m *testMaster) int { return reversed(m, func() {}, func() { m.serve() }) },
	// a reload that fails.
	"stays": func(m *testMaster) int {
		m.serve()
		m.hear()
		m.serve()
		m.hear()
		return 0
	},
	"killed": func(m *testMaster) int {
		m.serve()
		orphan(os.Getenv("KEEPERTEST_KIND"))
		m.cue()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	},
	// the first is killed while the second is not ready yet.
	"midway": func(m *testMaster) int {
		if m.generation == 1 {
			m.serve()
			m.hear()
			m.next()
			m.hear()
			return 0
		}
		m.say("starts")
		m.cue()
		m.serve()
		m.hear()
		return 9
	},
	"orphans": func(m *testMaster) int {
		for range 4 {
			_, _ = orphan("tree").Wait()
		}
		m.serve()
		m.hear()
		return 0
	},
	"watches": func(m *testMaster) int {
		goneC := make(chan struct{})
		if _, err := Watch(m.lifeFD, func() { close(goneC) }); err != nil {
			panic(err)
		}
		m.serve()
		<-goneC
		m.say("alone")
		return 0
	},
	// nonsense on the pipe.
	"liar": func(m *testMaster) int {
		m.serve()
		for _, s := range []string{"", "1", "0", "-1", "x", os.Getenv("KEEPERTEST_STRANGER"), "007", strings.Repeat("9", 500), "999999999", "2 256", "2 -1", "2 "} {
			if err := writeLine(m.announceFD, s+"\n"); err != nil {
				panic(err)
			}
		}
		m.say("lied")
		for m.hear() != syscall.SIGTERM {
		}
		return 0
	},
}

// reversed is a reload whose new master ends before the old one.
func reversed(m *testMaster, second, first func()) int {
	m.serve()
	m.hear()
	if m.generation == 2 {
		second()
		return 6
	}
	p := m.next()
	m.hear() // until the second was seen
	_ = p.Signal(syscall.SIGUSR2)
	_, _ = p.Wait()
	first()
	m.say("goes on")
	m.hear()
	return 0
}

// play is a keeper that runs.
type play struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lineC chan string
}

// open starts a keeper whose masters play that part.
func open(t *testing.T, part string, env ...string) *play {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return openCmd(t, exec.Command(self), part, env...)
}

func openCmd(t *testing.T, cmd *exec.Cmd, part string, env ...string) *play {
	t.Helper()
	if !Supported {
		t.Skip("no reapers here")
	}
	p := &play{t: t, cmd: cmd, lineC: make(chan string, 100)}
	cmd.Env = append(append(os.Environ(), partVar+"="+part), env...)
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go func() {
		defer close(p.lineC) // all processes have ended
		defer r.Close()
		for s := bufio.NewScanner(r); s.Scan(); {
			p.lineC <- s.Text()
		}
	}()
	t.Cleanup(func() {
		// The group: what a failed test has left.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return p
}

// expect reads until a line that begins so and returns the number at its end.
// Other lines must be the keeper's log.
func (p *play) expect(prefix string) int {
	p.t.Helper()
	timeout := time.After(limit)
	for {
		select {
		case line, ok := <-p.lineC:
			switch {
			case !ok:
				p.t.Fatalf("all ended without %q", prefix)
			case strings.HasPrefix(line, prefix):
				n, _ := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
				return n
			case !strings.HasPrefix(line, "{"):
				p.t.Fatalf("%q, want %q", line, prefix)
			}
			p.t.Log(line)
		case <-timeout:
			p.t.Fatalf("waited in vain for %q", prefix)
		}
	}
}

func (p *play) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) cue() {
	p.t.Helper()
	if _, err := io.WriteString(p.in, "go\n"); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the keeper, and for all others, and compares its status.
func (p *play) ends(status int) {
	p.t.Helper()
	doneC := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(doneC) }()
	select {
	case <-doneC:
	case <-time.After(limit):
		p.t.Fatal("the keeper does not end")
	}
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("the keeper's exit status is %d (%s), want %d", got, p.cmd.ProcessState, status)
	}
	for line := range p.lineC {
		p.t.Log(line)
		if !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "orphan") {
			p.t.Errorf("afterwards: %q", line)
		}
	}
}

func TestOne(t *testing.T) {
	p := open(t, "one")
	if pid := p.expect("1: serves"); pid == p.cmd.Process.Pid {
		t.Error("the keeper is the master")
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGINT, syscall.SIGQUIT} {
		p.signal(s)
		p.expect("1: " + s.String())
	}
	p.signal(syscall.SIGTERM)
	p.expect("1: terminated")
	p.ends(3)
}

func TestTerminal(t *testing.T) {
	p := open(t, "one", terminalVar+"=1")
	p.expect("1: serves")
	p.signal(syscall.SIGWINCH) // not passed on
	p.signal(syscall.SIGTERM)
	p.expect("1: terminated")
	p.ends(3)
}

func TestEnvironment(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := t.TempDir() + "/current"
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	p := openCmd(t, exec.Command(link, "-a", "b"), "environment", notifyVar+"=@none", linkVar+"=0,1")
	p.expect("1: program " + link + " -a b ")
	p.ends(0)
}

func TestFails(t *testing.T) { open(t, "fails").ends(5) }

func TestStarting(t *testing.T) {
	t.Run("held", func(t *testing.T) {
		p := open(t, "slow")
		p.expect("1: starts")
		p.signal(syscall.SIGHUP)
		p.signal(syscall.SIGWINCH)
		// Time for the keeper to do it wrong.
		time.Sleep(200 * time.Millisecond)
		p.cue()
		p.expect("1: serves")
		heard := p.heard(2)
		if heard["1: hangup"] != 1 || heard["1: window changed"] != 1 {
			t.Errorf("heard %v", heard)
		}
		p.signal(syscall.SIGTERM)
		p.expect("1: terminated")
		p.ends(0)
	})
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(s.String(), func(t *testing.T) {
			p := open(t, "slow")
			p.expect("1: starts")
			p.signal(s)
			p.ends(128 + int(s))
		})
	}
}

// heard counts the next n lines of masters, without pids.
func (p *play) heard(n int) map[string]int {
	p.t.Helper()
	all := make(map[string]int)
	for range n {
		select {
		case line := <-p.lineC:
			all[line[:max(strings.LastIndexByte(line, ' '), 0)]]++
		case <-time.After(limit):
			p.t.Fatalf("heard %v only", all)
		}
	}
	return all
}

// TestReload: each generation replaces the one before, and the keeper stays.
func TestReload(t *testing.T) {
	p := open(t, "reload")
	p.expect("1: serves")
	const generations = 6
	for g := 2; g <= generations; g++ {
		p.signal(syscall.SIGHUP)
		p.expect(fmt.Sprintf("%d: hangup", g-1))
		pid := p.expect(fmt.Sprintf("%d: serves", g))
		p.expect(fmt.Sprintf("%d: user defined signal 2", g-1))
		p.adopts(pid)
	}
	p.signal(syscall.SIGTERM)
	p.expect(fmt.Sprintf("%d: terminated", generations))
	p.ends(generations)
}

// TestFast: a master that has announced itself and ended before the keeper could
// look is the last one all the same.
func TestFast(t *testing.T) {
	p := open(t, "fast")
	first := p.expect("1: serves")
	p.stopped(func() {
		_ = syscall.Kill(first, syscall.SIGHUP)
		p.expect("1: hangup")
		p.expect("2: serves")
		p.expect("1: user defined signal 2")
		p.expect("2: ends")
		time.Sleep(50 * time.Millisecond)
	})
	p.ends(4)
}

// stopped does something while the keeper cannot.
func (p *play) stopped(f func()) {
	p.signal(syscall.SIGSTOP)
	f()
	p.signal(syscall.SIGCONT)
}

// TestReversed: the new master ends before the old one, which waits for it.
func TestReversed(t *testing.T) {
	for part, status := range map[string]int{"leaves": 6, "vanishes": unknownStatus, "returns": 0} {
		t.Run(part, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "notify")
			l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			p := open(t, part, notifyVar+"="+name)
			first := p.expect("1: serves")
			p.signal(syscall.SIGHUP)
			p.expect("1: hangup")
			second := p.expect("2: serves")
			// The keeper knows it before it vanishes.
			_ = l.SetDeadline(time.Now().Add(limit))
			for buf := make([]byte, 1000); ; {
				n, err := l.Read(buf)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(buf[:n]), fmt.Sprintf("process %d serves", second)) {
					break
				}
			}
			// It is the current one now, but the first is told to end it.
			if err := syscall.Kill(first, syscall.SIGUSR1); err != nil {
				t.Fatal(err)
			}
			p.expect("1: user defined signal 1")
			p.expect("2: user defined signal 2")
			if part == "returns" {
				p.expect("1: serves")
			}
			p.expect("1: goes on")
			p.signal(syscall.SIGTERM)
			p.expect("1: terminated")
			p.ends(status)
		})
	}
}

// TestKilled: what a killed master leaves may end what it is at, for a time.
func TestKilled(t *testing.T) {
	t.Run("ends by itself", func(t *testing.T) {
		p := open(t, "killed", "KEEPERTEST_KIND=brief")
		p.expect("1: serves")
		p.cue()
		p.expect("orphan: ends")
		p.ends(128 + 9)
	})
	t.Run("is terminated", func(t *testing.T) {
		p := open(t, "killed", "KEEPERTEST_KIND=lasting", patienceVar+"=300ms")
		heard := p.heard(2)
		if heard["1: serves"] != 1 || heard["orphan:"] != 1 {
			t.Fatalf("heard %v", heard)
		}
		p.cue()
		p.expect("orphan: terminated")
		p.ends(128 + 9)
	})
	t.Run("is terminated on demand", func(t *testing.T) {
		p := open(t, "killed", "KEEPERTEST_KIND=lasting", patienceVar+"=1h")
		first := 0
		for range 2 {
			if line := <-p.lineC; strings.HasPrefix(line, "1: serves ") {
				first, _ = strconv.Atoi(line[len("1: serves "):])
			}
		}
		p.cue()
		for syscall.Kill(first, 0) == nil { // until the keeper has waited for it
			time.Sleep(5 * time.Millisecond)
		}
		p.signal(syscall.SIGTERM)
		p.expect("orphan: terminated")
		p.ends(128 + 9)
	})
}

// TestMidway: a master that is killed during a reload is replaced by the one
// that was about to replace it.
func TestMidway(t *testing.T) {
	p := open(t, "midway")
	first := p.expect("1: serves")
	p.signal(syscall.SIGHUP)
	p.expect("1: hangup")
	second := p.expect("2: starts")
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.adopts(second)
	p.cue()
	p.expect("2: serves")
	p.signal(syscall.SIGTERM)
	p.expect("2: terminated")
	p.ends(9)
}

// TestStopMidway: the end of the service is that of a master too which announces
// itself only after the one before was told.
func TestStopMidway(t *testing.T) {
	p := open(t, "midway")
	p.expect("1: serves")
	p.signal(syscall.SIGHUP)
	p.expect("1: hangup")
	second := p.expect("2: starts")
	p.signal(syscall.SIGWINCH)
	p.expect("1: window changed")
	p.adopts(second)
	p.cue()
	p.expect("2: serves")
	p.expect("2: window changed")
	p.ends(9)
}

func TestKeeperKilled(t *testing.T) {
	p := open(t, "watches")
	p.expect("1: serves")
	p.signal(syscall.SIGKILL)
	p.expect("1: alone")
	p.ends(-1)
}

func TestLiar(t *testing.T) {
	p := open(t, "liar", fmt.Sprintf("KEEPERTEST_STRANGER=%d", os.Getpid()))
	p.expect("1: serves")
	p.expect("1: lied")
	p.signal(syscall.SIGUSR1)
	p.expect("1: user defined signal 1")
	p.signal(syscall.SIGTERM)
	p.expect("1: terminated")
	p.ends(0)
}
