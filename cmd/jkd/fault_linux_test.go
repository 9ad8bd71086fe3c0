package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
)

// What faults do to a running server, and what is to be looked at afterwards.

// patient is a server in whose way a test puts things. Its program is a copy in
// a directory of its own, by which all its processes are known.
type patient struct {
	*server
	mpm     string
	program string
	held    chan struct{} // requests for /held that are running
	release func()        // lets them end
	names   []string      // of the files that belong to a running server
}

// newPatient starts a server whose back end answers at once, but for /held.
func newPatient(t *testing.T, bin string, c config) *patient {
	t.Helper()
	if testing.Short() {
		t.Skip("starts jkd many times: left out with -short")
	}
	p := &patient{mpm: c.mpm, program: filepath.Join(openDir(t), "jkd"), held: make(chan struct{}, 100)}
	install(t, bin, p.program)
	if err := os.Link(p.program, p.program+".real"); err != nil {
		t.Fatal(err)
	}
	releaseC := make(chan struct{})
	p.release = sync.OnceFunc(func() { close(releaseC) })
	back := ajptest.New(t, func(e *ajptest.Exchange) {
		if e.Request.URI == "/held" {
			p.held <- struct{}{}
			<-releaseC
		}
		e.Respond(200, "hello")
	})
	c.workers, c.mounts = properties(addrOf(back.Port()), nil), []string{"/* tomcat"}
	c.server = append(c.server, "ScoreBoardFile = board")
	if !slices.ContainsFunc(c.server, func(s string) bool { return strings.HasPrefix(s, "Graceful") }) {
		c.server = append(c.server, "GracefulShutdownTimeout = 600")
	}
	c.jk = append(c.jk, "JkShmFile = jk.shm")
	if c.limits == nil {
		c.limits = []string{"StartServers = 3", "MinSpareServers = 2", "MaxSpareServers = 6"}
		if c.mpm == "worker" {
			c.limits = []string{"StartServers = 2", "ThreadsPerChild = 8"}
		}
	}
	p.server = prepare(t, c)
	p.launch(p.program)
	t.Cleanup(p.release) // before the server is stopped
	p.names = p.files()
	return p
}

// files are the names in the server's directory, hidden ones too, without logs.
func (p *patient) files() (names []string) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".log") {
			names = append(names, e.Name())
		}
	}
	return names
}

// processes are all that run the patient's program, or one that it was.
func (p *patient) processes() (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		to, err := os.Readlink(link)
		if err == nil && strings.HasPrefix(to, filepath.Dir(p.program)+"/") {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// hold leaves a request running and returns its connection.
func (p *patient) hold() *conn {
	p.t.Helper()
	c := dial(p.t, p.addr)
	if err := c.send("GET /held"); err != nil {
		p.t.Fatal(err)
	}
	<-p.held
	return c
}

// sound checks that one generation serves and nothing is left of any other: no
// process, no name of a file; and that it can be replaced.
func (p *patient) sound() {
	p.t.Helper()
	p.release()
	master := p.current()
	p.healthy(master)
	if out, err := p.ask(p.program, "graceful"); err != nil {
		p.t.Fatalf("a reload: %v, %s", err, out)
	}
	if p.current() == master {
		p.t.Errorf("after a reload the pid file still names %d", master)
	}
	p.healthy(p.current())
	if got := p.files(); !slices.Equal(got, p.names) {
		p.t.Errorf("files %q, want %q", got, p.names)
	}
}

// healthy is sound without the reload.
func (p *patient) healthy(master int) {
	p.t.Helper()
	if !alive(master) {
		p.t.Fatalf("the pid file names %d, which does not live", master)
	}
	if _, err := dial(p.t, p.addr).once("/", true); err != nil {
		p.t.Errorf("a request: %v", err)
	}
	if out, err := p.ask(p.program, "status"); err != nil {
		p.t.Errorf("the status: %v, %s", err, out)
	}
	p.alone(master)
}

// alone waits until there is no process but the keeper, the master and its
// children.
func (p *patient) alone(master int) {
	p.t.Helper()
	var left []int
	defer func() {
		for _, pid := range left {
			p.t.Logf("left: %d %q", pid, commandLine(pid))
		}
	}()
	p.eventually("the end of all but one generation", func() bool {
		family := append(childrenOf(p.t, master), master)
		if p.cmd != nil {
			family = append(family, p.cmd.Process.Pid)
		}
		left = slices.DeleteFunc(p.processes(), func(pid int) bool { return slices.Contains(family, pid) || !alive(pid) })
		return len(left) == 0
	})
}

// over checks that the keeper, if there is one, has ended with a status, that
// nothing is left, and that the server can be started anew.
func (p *patient) over(status int) {
	p.t.Helper()
	p.release()
	if p.cmd != nil {
		select {
		case <-p.doneC:
		case <-time.After(patience):
			p.t.Fatal("the keeper did not end")
		}
		if got := p.cmd.ProcessState; status >= 0 && got.ExitCode() != status {
			p.t.Errorf("the keeper ended with %s, want status %d", got, status)
		}
	}
	p.eventually("the end of all processes", func() bool { return !slices.ContainsFunc(p.processes(), alive) })
	p.launch(p.program)
	p.sound()
}

func commandLine(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.TrimRight(bytes.ReplaceAll(b, []byte{0}, []byte{' '}), " "))
}

// descriptors is how many a process has open.
func descriptors(pid int) int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries)
}

// stopped tells whether a process was stopped by a signal.
func stopped(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return bytes.Contains(b, []byte(") T "))
}

func send(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatalf("signal %d to %d: %v", s, pid, err)
	}
}
