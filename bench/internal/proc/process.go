package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopTimeout ends a stop that hangs.
const stopTimeout = 15 * time.Second

// Process is a running program. Its methods may be called concurrently.
type Process struct {
	Name  string
	cmd   *exec.Cmd
	out   string        // file with what it writes
	doneC chan struct{} // closed when it has been waited for
	owner *Set
}

// PID is the process id, that of the root of the process's tree.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.doneC }

// Stop ends the process: SIGTERM, and after some seconds SIGKILL for its group.
// It returns when the process has ended; further calls do nothing.
func (p *Process) Stop() { p.end(syscall.SIGTERM) }

// Interrupt is Stop with SIGINT: what measures until then writes its results.
func (p *Process) Interrupt() { p.end(syscall.SIGINT) }

func (p *Process) end(sig syscall.Signal) {
	p.cmd.Process.Signal(sig)
	select {
	case <-p.doneC:
	case <-time.After(stopTimeout):
		killGroup(p.PID())
		<-p.doneC
	}
	p.owner.remove(p)
}

// Kill ends the process at once, as a crash would.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	<-p.doneC
	p.owner.remove(p)
}

// Output is the end of what the process has written.
func (p *Process) Output() string {
	text, err := os.ReadFile(p.out)
	if err != nil {
		return err.Error()
	}
	const limit = 4 << 10
	return string(bytes.TrimSpace(text[max(0, len(text)-limit):]))
}

// Set is all the processes of a measurement. The zero value is an empty set.
// Its methods may be called concurrently.
type Set struct {
	mu      sync.Mutex
	running []*Process
	closed  bool
}

// Start starts a program in the directory dir. What it writes goes to a file
// there. It is the leader of a process group of its own, because Apache signals
// all of its group, and ends with this process (Linux).
func (s *Set) Start(name, dir string, argv ...string) (*Process, error) {
	out, err := os.OpenFile(filepath.Join(dir, "out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("proc: start %s: %w", name, err)
	}
	defer out.Close()
	p := &Process{Name: name, cmd: exec.Command(argv[0], argv[1:]...), out: out.Name(), doneC: make(chan struct{}), owner: s}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), "LC_ALL=C")
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = sysProcAttr()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("proc: start %s: the measurement has ended", name)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("proc: start %s: %w", name, err)
	}
	go func() {
		p.cmd.Wait()
		close(p.doneC)
	}()
	s.running = append(s.running, p)
	return p, nil
}

func (s *Set) remove(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.running {
		if r == p {
			s.running = append(s.running[:i], s.running[i+1:]...)
			return
		}
	}
}

// StopAll stops what still runs, the last that was started first, and refuses
// further starts.
func (s *Set) StopAll() {
	s.mu.Lock()
	s.closed = true
	left := append([]*Process(nil), s.running...)
	s.mu.Unlock()
	for i := len(left) - 1; i >= 0; i-- {
		left[i].Stop()
	}
}

// Run runs a short program to its end and returns what it wrote to its
// standard output, within timeout.
func (s *Set) Run(timeout time.Duration, dir string, argv ...string) (string, error) {
	sub, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return "", fmt.Errorf("proc: run %s: %w", argv[0], err)
	}
	defer os.RemoveAll(sub)
	p, err := s.Start(argv[0], sub, argv...)
	if err != nil {
		return "", err
	}
	defer s.remove(p)
	select {
	case <-p.doneC:
	case <-time.After(timeout):
		p.Kill()
		return "", fmt.Errorf("proc: %s: not done after %v", strings.Join(argv, " "), timeout)
	}
	text, err := os.ReadFile(p.out)
	if err != nil {
		return "", fmt.Errorf("proc: run %s: %w", argv[0], err)
	}
	if !p.cmd.ProcessState.Success() {
		return string(text), fmt.Errorf("proc: %s: %v: %s", strings.Join(argv, " "), p.cmd.ProcessState, p.Output())
	}
	return string(text), nil
}
