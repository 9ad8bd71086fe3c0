//go:build unix

package mpmtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"jkd/mpm"
	"jkd/scoreboard"
	"jkd/shm"
)

// patience is how long anything may take on a slow, busy machine.
const patience = 90 * time.Second

// Eventually waits until f is true.
func Eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("did not happen: %s", what)
		}
	}
}

// logBuffer collects the log.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// assembly is all that a Supervisor works with.
type assembly struct {
	opts mpm.Options
	seg  *shm.Segment
	addr string
	fd   int
}

func assemble(f Factory, p Params, change func(*mpm.Options)) (*assembly, error) {
	m, err := f(p)
	if err != nil {
		return nil, err
	}
	l := scoreboard.Layout{ServerLimit: m.ServerLimit, ThreadLimit: m.ThreadLimit}
	size, err := scoreboard.Size(l)
	if err != nil {
		return nil, err
	}
	seg, err := shm.Create("test", size)
	if err != nil {
		return nil, err
	}
	board, err := scoreboard.New(seg.Bytes(), l, scoreboard.Global{Generation: 1, BuildID: mpm.BuildID(), StartTime: time.Now()})
	if err != nil {
		return nil, err
	}
	fd, addr, err := listen()
	if err != nil {
		return nil, err
	}
	snapshot, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	a := &assembly{seg: seg, addr: addr, fd: fd}
	a.opts = mpm.Options{
		Module: m, Generation: 1, Board: board, BoardSegment: seg, Listeners: []int{fd}, Snapshot: snapshot,
	}
	if change != nil {
		change(&a.opts)
	}
	return a, nil
}

func (a *assembly) close() {
	_ = unix.Close(a.fd)
	_ = a.seg.Close()
}

func listen() (fd int, addr string, err error) {
	if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return -1, "", err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(fd, 511)
	}
	var sa unix.Sockaddr
	if err == nil {
		sa, err = unix.Getsockname(fd)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, "", err
	}
	return fd, net.JoinHostPort("127.0.0.1", strconv.Itoa(sa.(*unix.SockaddrInet4).Port)), nil
}

// Server is a Supervisor in this process with real children.
type Server struct {
	t    *testing.T
	Sup  *mpm.Supervisor
	log  logBuffer
	a    *assembly
	endC chan error
}

// launch begins to run a Supervisor and does not wait for it to be ready.
func launch(t *testing.T, f Factory, p Params, change func(*mpm.Options)) (s *Server, readyC chan struct{}) {
	t.Helper()
	s = &Server{t: t, endC: make(chan error, 1)}
	readyC = make(chan struct{})
	var err error
	s.a, err = assemble(f, p, func(o *mpm.Options) {
		o.Logger = zerolog.New(&s.log)
		o.OnReady = func() error { close(readyC); return nil }
		if change != nil {
			change(o)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Sup, err = mpm.NewSupervisor(s.a.opts); err != nil {
		t.Fatal(err)
	}
	go func() { s.endC <- s.Sup.Run() }()
	t.Cleanup(func() {
		s.Sup.Stop()
		_ = s.Wait()
		s.a.close()
		if t.Failed() {
			t.Log(s.log.String())
		}
	})
	return s, readyC
}

// Start runs a module and waits until it is ready. It is stopped at the end of
// the test at the latest.
func Start(t *testing.T, f Factory, p Params, change func(*mpm.Options)) *Server {
	t.Helper()
	s, readyC := launch(t, f, p, change)
	select {
	case <-readyC:
	case err := <-s.endC:
		s.endC <- err
		t.Fatalf("ended before it was ready: %v", err)
	case <-time.After(patience):
		t.Fatal("not ready")
	}
	return s
}

// Wait waits for the end of Run. It may be called again.
func (s *Server) Wait() error {
	s.t.Helper()
	select {
	case err := <-s.endC:
		s.endC <- err
		return err
	case <-time.After(patience):
		s.t.Error("the supervisor does not end")
		return errors.New("the supervisor does not end")
	}
}

// Pids are those of the children by server index; 0: none.
func (s *Server) Pids() []int {
	var v scoreboard.View
	s.a.opts.Board.Snapshot(&v)
	pids := make([]int, len(v.Processes))
	for i, p := range v.Processes {
		pids[i] = p.PID
	}
	return pids
}

// Alive counts the children.
func (s *Server) Alive() (n int) {
	for _, pid := range s.Pids() {
		if pid != 0 {
			n++
		}
	}
	return n
}

// Client is one connection.
type Client struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
	// last tells that the last answer said to be the last one.
	last bool
}

// Dial connects.
func (s *Server) Dial() *Client { s.t.Helper(); return dial(s.t, s.a.addr) }

func dial(t *testing.T, addr string) *Client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return newClient(t, c)
}

// Ask sends a command and returns the answer.
func (c *Client) Ask(command string) string {
	c.t.Helper()
	answer, err := c.try(command)
	if err != nil {
		c.t.Fatalf("%s: %v", command, err)
	}
	return answer
}

func (c *Client) try(command string) (string, error) {
	if _, err := c.c.Write([]byte(command + "\n")); err != nil {
		return "", err
	}
	line, err := c.r.ReadString('\n')
	c.last = strings.HasSuffix(line, "\r\n")
	return strings.TrimSpace(line), err
}

// Who asks which child serves the connection.
func (c *Client) Who() (server, pid int) {
	c.t.Helper()
	if _, err := fmt.Sscan(c.Ask("who"), &server, &pid); err != nil {
		c.t.Fatal(err)
	}
	return server, pid
}

// Close ends the connection.
func (c *Client) Close() { c.c.Close() }

// Closed waits for the server to close the connection in an orderly way.
func (c *Client) Closed() {
	c.t.Helper()
	if b, err := c.r.ReadByte(); err != io.EOF {
		c.t.Fatalf("read %q, %v instead of end of file", b, err)
	}
}

// served asks until an answer says that it is the last one, which is soon after
// the child was told to leave. Then the connection is closed.
func (c *Client) served() {
	c.t.Helper()
	for c.last = false; !c.last; nap() {
		c.Who()
	}
	c.Closed()
}

// masterMain is a process that runs a Supervisor until SIGTERM. It prints its
// address when it is ready. Standard output is inherited by the children, so
// its reader sees end of file when all processes are gone.
func masterMain(f Factory, params string) int {
	var p Params
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var a *assembly
	a, err := assemble(f, p, func(o *mpm.Options) {
		o.Logger = zerolog.New(os.Stderr)
		o.OnReady = func() error {
			fmt.Println(a.addr)
			if p.Hang {
				select {}
			}
			return nil
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	sup, err := mpm.NewSupervisor(a.opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	termC := make(chan os.Signal, 1)
	signal.Notify(termC, unix.SIGTERM)
	go func() {
		<-termC
		sup.Stop()
	}()
	if err := sup.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// masterProcess is a master that is a process of its own.
type masterProcess struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	addr string
}

func startMaster(t *testing.T, p Params) *masterProcess {
	t.Helper()
	params, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := &masterProcess{cmd: exec.Command(exe)}
	m.cmd.Env = append(os.Environ(), masterVar+"="+string(params))
	m.cmd.Stderr = os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	m.out = bufio.NewReader(out)
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill()
		_, _ = m.cmd.Process.Wait()
		out.Close()
	})
	line, err := m.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	m.addr = strings.TrimSpace(line)
	return m
}

// allGone waits until the master and all children have ended.
func (m *masterProcess) allGone(t *testing.T) {
	t.Helper()
	endC := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, m.out)
		endC <- err
	}()
	select {
	case err := <-endC:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("there are still children")
	}
}

func newClient(t *testing.T, c net.Conn) *Client {
	return &Client{t: t, c: c, r: bufio.NewReader(c)}
}
