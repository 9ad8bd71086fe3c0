//go:build unix

package apachetest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/peertest"
)

// startTimeout and stopTimeout end a start or stop that hangs. They judge
// nothing.
const (
	startTimeout = time.Minute
	stopTimeout  = 30 * time.Second
)

// Options describe the server to start. The zero value is one under the MPM
// prefork that maps nothing to a container.
type Options struct {
	// MPM is "prefork", "worker" or "event"; empty: prefork.
	MPM string
	// Modules are more modules to load, without "mod_" and ".so". Those that
	// do not depend on the test are there: the MPM, authz_core and jk.
	Modules []string
	// Config is more of httpd.conf. Relative paths start from [Apache.Dir], and
	// @PORT@ stands for the port.
	Config string
	// Files are written into [Apache.Dir] before the start, content by name.
	Files map[string]string
	// Populate, if it is not nil, writes all files into [Apache.Dir], in place
	// of the others: httpd.conf, which has to name the port and the PidFile
	// httpd.pid, and whatever that needs.
	Populate func(dir string, port int) error
}

// Apache is a running server. Its methods may be called concurrently.
type Apache struct {
	Port int
	Dir  string // ServerRoot; its htdocs is the DocumentRoot

	cmd   *exec.Cmd
	out   bytes.Buffer  // read after doneC only
	doneC chan struct{} // closed when the process has been waited for
	stop  sync.Once
}

// Addr is the address that it listens on, host:port.
func (a *Apache) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(a.Port)) }

// PID is the process id of the parent.
func (a *Apache) PID() int { return a.cmd.Process.Pid }

// StartT is [Start] for a test: it skips or fails as [Require] does, stops the
// server when the test and its subtests are over, and shows its logs if the
// test has failed.
func StartT(t testing.TB, o Options) *Apache {
	t.Helper()
	Require(t)
	a, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		log := ""
		if t.Failed() {
			log = a.Log()
		}
		a.Stop()
		if log != "" {
			t.Logf("what Apache wrote:\n%s", log)
		}
	})
	return a
}

// Start starts a server and returns when it listens. The caller must stop it.
func Start(o Options) (*Apache, error) {
	// A port that was free a moment ago may be taken when Apache binds it.
	for try := 1; ; try++ {
		a, err := start(o)
		if err == nil || try == 3 || !errors.Is(err, syscall.EADDRINUSE) {
			return a, err
		}
	}
}

func start(o Options) (_ *Apache, err error) {
	a := &Apache{doneC: make(chan struct{})}
	if a.Port, err = peertest.FreePort(); err != nil {
		return nil, err
	}
	if a.Dir, err = os.MkdirTemp("", "jkd-apache-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(a.Dir)
		}
	}()
	if err := a.write(o); err != nil {
		return nil, fmt.Errorf("apachetest: write server root: %w", err)
	}
	a.cmd = exec.Command(program, "-d", a.Dir, "-f", filepath.Join(a.Dir, "httpd.conf"), "-DFOREGROUND")
	a.cmd.Dir = a.Dir
	a.cmd.Env = append(os.Environ(), "LC_ALL=C")
	a.cmd.Stdout, a.cmd.Stderr = &a.out, &a.out
	a.cmd.SysProcAttr = sysProcAttr()
	if err := a.cmd.Start(); err != nil {
		return nil, fmt.Errorf("apachetest: start %s: %w", program, err)
	}
	go func() {
		a.cmd.Wait()
		close(a.doneC)
	}()
	if err := a.waitReady(); err != nil {
		log := a.Log()
		a.Stop()
		return nil, fmt.Errorf("apachetest: %w; it wrote:\n%s%s", err, a.out.String(), log)
	}
	return a, nil
}

// write fills the server root. Children of another user have to read it.
func (a *Apache) write(o Options) error {
	if err := os.Chmod(a.Dir, 0o755); err != nil {
		return err
	}
	if o.Populate != nil {
		return o.Populate(a.Dir, a.Port)
	}
	if err := os.Mkdir(filepath.Join(a.Dir, "htdocs"), 0o755); err != nil {
		return err
	}
	files := map[string]string{"httpd.conf": httpdConf(a.Dir, a.Port, o)}
	for name, text := range o.Files {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(a.Dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// httpdConf is the configuration: the least that serves, and the test's own.
func httpdConf(dir string, port int, o Options) string {
	mpm := o.MPM
	if mpm == "" {
		mpm = "prefork"
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("ServerRoot %q", dir)
	line("DefaultRuntimeDir %q", dir)
	line("PidFile httpd.pid")
	line("ErrorLog error.log")
	line("LogLevel info")
	line("Listen 127.0.0.1:%d", port)
	line("ServerName localhost:%d", port)
	line("DocumentRoot htdocs")
	for _, m := range append([]string{"mpm_" + mpm, "authz_core", "jk"}, o.Modules...) {
		line("LoadModule %s_module %q", m, modules+"/mod_"+m+".so")
	}
	if os.Geteuid() == 0 {
		line("User nobody")
		line("Group #65534")
	}
	line("StartServers 1")
	if mpm == "prefork" {
		line("MinSpareServers 1")
		line("MaxSpareServers 2")
		line("MaxRequestWorkers 8")
	} else {
		line("ThreadsPerChild 4")
		line("MinSpareThreads 4")
		line("MaxSpareThreads 8")
		line("MaxRequestWorkers 8")
	}
	b.WriteString(strings.ReplaceAll(o.Config, "@PORT@", strconv.Itoa(port)))
	b.WriteByte('\n')
	return b.String()
}

// waitReady returns when the pid file is there: Apache writes it after it has
// bound its port, and connections wait in the kernel's queue until a child
// takes them.
func (a *Apache) waitReady() error {
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); {
		pid, err := os.ReadFile(filepath.Join(a.Dir, "httpd.pid"))
		if err == nil && strings.TrimSpace(string(pid)) == strconv.Itoa(a.PID()) {
			return nil
		}
		select {
		case <-a.doneC:
			if strings.Contains(a.out.String()+a.Log(), "Address already in use") {
				return fmt.Errorf("bind: %w", syscall.EADDRINUSE)
			}
			return fmt.Errorf("Apache ended during its start: %v", a.cmd.ProcessState)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return fmt.Errorf("not ready after %v", startTimeout)
}

// logLimit is how much of each log [Apache.Log] returns.
const logLimit = 64 << 10

// Log is the end of each log file in the server root.
func (a *Apache) Log() string {
	names, _ := filepath.Glob(filepath.Join(a.Dir, "*.log"))
	var b strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil || len(text) == 0 {
			continue
		}
		fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(name), text[max(0, len(text)-logLimit):])
	}
	return b.String()
}

// Stop ends the server and removes its files. It returns when the parent and,
// with it, all children are gone; further calls do nothing.
func (a *Apache) Stop() {
	a.stop.Do(func() {
		a.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-a.doneC:
		case <-time.After(stopTimeout):
			syscall.Kill(-a.PID(), syscall.SIGKILL) // its own group
			<-a.doneC
		}
		os.RemoveAll(a.Dir)
	})
}
