//go:build unix

package jk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/connectortest"
	"jkd/connector/jk/jkshm"
	"jkd/shm"
)

// A crowd is processes with a connector each, over one segment that they have
// inherited, as the children of a master are. What the configuration is they
// are told by variables, what to ask for by lines of standard input.
const (
	crowdWorkers = "JKD_JK_WORKERS" // text of workers.properties
	crowdSize    = "JKD_JK_SERVERS"
	crowdServer  = "JKD_JK_SERVER"
)

func init() { helpers["serve"] = crowdChild }

// crowdSetup is the configuration with everything mounted on the balancer lb.
func crowdSetup(text string) (*Setup, error) {
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(text)})
	if err != nil {
		return nil, err
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile("/*=lb\n"))
	if err != nil {
		return nil, err
	}
	return &Setup{Config: cfg, Maps: []*URIMap{m}}, nil
}

// crowdChild serves the requests that lines of the form "count path cookie
// aborts" ask for, one after the other, and answers each line with how many
// of them failed otherwise than by the client's fault. With aborts n > 0 the
// client leaves during every n-th.
func crowdChild() error {
	setup, err := crowdSetup(os.Getenv(crowdWorkers))
	if err != nil {
		return err
	}
	servers, _ := strconv.Atoi(os.Getenv(crowdSize))
	server, _ := strconv.Atoi(os.Getenv(crowdServer))
	layout := SegmentLayout(setup, servers)
	size, err := jkshm.Size(layout)
	if err != nil {
		return err
	}
	mem, err := shm.Attach(3, size)
	if err != nil {
		return err
	}
	seg, err := jkshm.Attach(mem.Bytes(), layout)
	if err != nil {
		return err
	}
	c := New(setup, Options{Threads: 1, Dial: dialKinds[0].dial, Segment: seg, Server: server, Logger: zerolog.Nop(), WriteTimeout: long})
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var count, aborts int
		var path, cookie string
		if _, err := fmt.Sscan(in.Text(), &count, &path, &cookie, &aborts); err != nil {
			return err
		}
		failed := 0
		for i := range count {
			q := request("GET", path, "")
			if cookie != "-" {
				q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte("JSESSIONID=" + cookie)})
			}
			a := &answer{leaves: aborts > 0 && i%aborts == 0, gone: i%3*100 - 1}
			var e *connector.Error
			if err := c.Match(q).Service(q, a); errors.As(err, &e) && !e.Client {
				failed++
			}
		}
		if _, err := fmt.Println(failed); err != nil {
			return err
		}
	}
	return in.Err()
}

// crowd is the master's side.
type crowd struct {
	t     *testing.T
	setup *Setup
	seg   *jkshm.Segment
	nodes []*backEnd
	kids  []*crowdKid
}

type crowdKid struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// newCrowd starts so many processes before so many back ends n1, n2, ...
func newCrowd(t *testing.T, kids, nodes int, lines ...string) *crowd {
	t.Helper()
	c := &crowd{t: t}
	text := "worker.list=lb\nworker.lb.type=lb\n"
	for i := range nodes {
		n := newBackEnd(t)
		c.nodes = append(c.nodes, n)
		text += fmt.Sprintf("worker.lb.balance_workers=n%d\nworker.n%[1]d.host=127.0.0.1\nworker.n%[1]d.port=%d\nworker.n%[1]d.retries=1\n", i+1, n.port())
	}
	for _, l := range lines {
		text += "worker." + l + "\n"
	}
	var err error
	if c.setup, err = crowdSetup(text); err != nil {
		t.Fatal(err)
	}
	size, err := jkshm.Size(SegmentLayout(c.setup, kids))
	if err != nil {
		t.Fatal(err)
	}
	mem, err := shm.Create("jk test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mem.Close() })
	if c.seg, err = FormatSegment(mem.Bytes(), c.setup, kids); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range kids {
		fd, err := syscall.Dup(int(mem.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "segment")
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), helperVar+"=serve", crowdWorkers+"="+text, fmt.Sprint(crowdSize, "=", kids), fmt.Sprint(crowdServer, "=", i), "GOMAXPROCS=1")
		cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{f}
		k := &crowdKid{cmd: cmd}
		if k.in, err = cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		k.out = bufio.NewReader(out)
		err = cmd.Start()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		c.kids = append(c.kids, k)
	}
	t.Cleanup(func() {
		for i, k := range c.kids {
			k.in.Close()
			if k.cmd.ProcessState == nil {
				if err := k.cmd.Wait(); err != nil {
					t.Errorf("process %d: %v", i, err)
				}
			}
		}
	})
	return c
}

// ask gives one process its line.
func (c *crowd) ask(kid, count int, path, cookie string, aborts int) {
	c.t.Helper()
	if _, err := fmt.Fprintln(c.kids[kid].in, count, path, cookie, aborts); err != nil {
		c.t.Fatal(err)
	}
}

// failed waits for what the process has to say.
func (c *crowd) failed(kid int) int {
	c.t.Helper()
	s, err := c.kids[kid].out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("process %d said nothing: %v", kid, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// all has every process ask, all at once, and returns how many requests failed.
func (c *crowd) all(count int, path, cookie string) (failed int) {
	c.t.Helper()
	for i := range c.kids {
		c.ask(i, count, path, cookie, 0)
	}
	for i := range c.kids {
		failed += c.failed(i)
	}
	return failed
}

// kill ends a process as nobody can prevent, and does what the master does then.
func (c *crowd) kill(kid int) {
	c.t.Helper()
	k := c.kids[kid]
	if err := k.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	if err := k.cmd.Wait(); err == nil {
		c.t.Fatal("the process ended before it was killed")
	}
	c.seg.Reclaim(kid)
}

// held is what the segment says of a member: requests in hand, connections.
func (c *crowd) held(member int) (busy, connected int) {
	w := c.seg.Balancer(0).Member(member).Worker()
	return w.Busy(), w.Connected()
}

// wait waits until the condition holds.
func (c *crowd) wait(what string, cond func() bool) {
	c.t.Helper()
	for end := time.Now().Add(long); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatal("waited in vain: ", what)
		}
	}
}

// backEnd is a back end that costs little. Every packet is answered with the same
// page; a path with "hold" in it only after release.
type backEnd struct {
	ln       net.Listener
	accepted atomic.Int64
	requests atomic.Int64
	open     atomic.Int64
	dead     atomic.Bool // connections are closed at once

	mu    sync.Mutex
	conns map[net.Conn]bool
	gate  chan struct{}
}

func newBackEnd(t *testing.T) *backEnd {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &backEnd{ln: ln, conns: map[net.Conn]bool{}, gate: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			n.accepted.Add(1)
			if n.dead.Load() {
				nc.Close()
				continue
			}
			n.mu.Lock()
			n.conns[nc] = true
			n.mu.Unlock()
			n.open.Add(1)
			wg.Go(func() { n.serve(nc) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		n.closeAll()
		n.release()
		wg.Wait()
	})
	return n
}

func (n *backEnd) port() int { return n.ln.Addr().(*net.TCPAddr).Port }

func (n *backEnd) serve(nc net.Conn) {
	defer func() {
		nc.Close()
		n.mu.Lock()
		delete(n.conns, nc)
		n.mu.Unlock()
		n.open.Add(-1)
	}()
	buf := make([]byte, 8<<10)
	for {
		k, err := nc.Read(buf) // requests here are smaller than a segment
		if err != nil {
			return
		}
		n.mu.Lock()
		gate := n.gate
		n.mu.Unlock()
		n.requests.Add(1)
		if strings.Contains(string(buf[:k]), "hold") {
			<-gate
		}
		if _, err := nc.Write(connectortest.Hello); err != nil {
			return
		}
	}
}

// release lets go what is held.
func (n *backEnd) release() {
	n.mu.Lock()
	close(n.gate)
	n.gate = make(chan struct{})
	n.mu.Unlock()
}

func (n *backEnd) closeAll() {
	n.mu.Lock()
	for nc := range n.conns {
		nc.Close()
	}
	n.mu.Unlock()
}

// die closes all connections, and from now on those that are made.
func (n *backEnd) die() {
	n.dead.Store(true)
	n.closeAll()
}
