//go:build unix

package mpmtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jkd/mpm"
	"jkd/scoreboard"
)

// testDrainIdle: an idle connection does not end when its child is told to
// leave, but with the answer to its next request. Meanwhile the child has given
// up its listeners, so that nobody queues for it.
func testDrainIdle(t *testing.T, f Factory) {
	s := Start(t, f, steady(1), nil)
	c := s.Dial()
	c.Who()
	s.Sup.Graceful(0)
	// The master's copy too: then nobody listens any more.
	_ = unix.Close(s.a.fd)
	s.a.fd = -1
	Eventually(t, "connections are refused", func() bool {
		c, err := net.Dial("tcp", s.a.addr)
		if err == nil {
			c.Close()
		}
		return errors.Is(err, unix.ECONNREFUSED)
	})
	c.quiet(300 * time.Millisecond)
	c.served()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

// quiet checks that neither an answer nor the end arrives for a while.
func (c *Client) quiet(d time.Duration) {
	c.t.Helper()
	_ = c.c.SetReadDeadline(time.Now().Add(d))
	if b, err := c.r.ReadByte(); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("read %q, %v instead of nothing", b, err)
	}
	_ = c.c.SetReadDeadline(time.Now().Add(patience))
}

// testDrainFresh: a connection that was accepted before the order is served,
// even if it sends its first request after it.
func testDrainFresh(t *testing.T, f Factory) {
	s := Start(t, f, steady(1), nil)
	c := s.Dial()
	Eventually(t, "the connection is accepted", func() bool {
		for i := range s.a.opts.Module.ThreadsPerChild {
			if s.a.opts.Board.Slot(0, i).Status() == scoreboard.BusyRead {
				return true
			}
		}
		return false
	})
	s.Sup.Graceful(0)
	c.quiet(300 * time.Millisecond)
	c.served()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
}

// Clients and generations of testDrainLoad.
const (
	drainClients     = 40
	drainGenerations = 6
	drainRequests    = 20 // on one connection at most
)

// testDrainLoad: while one generation follows the other on the same two
// listeners, clients that keep their connections lose no request: a connection
// ends only after an answer that said so.
func testDrainLoad(t *testing.T, f Factory) {
	var fds []int
	var addrs []string
	for range 2 {
		fd, addr, err := listen()
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		fds, addrs = append(fds, fd), append(addrs, addr)
	}
	share := func(o *mpm.Options) { o.Listeners = fds }
	s := Start(t, f, steady(10), share)
	var requests, connections atomic.Int64
	var end atomic.Bool
	var clients sync.WaitGroup
	for i := range drainClients {
		clients.Go(func() {
			for !end.Load() {
				if err := keepAsking(t, addrs[i%2], &requests); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
				connections.Add(1)
			}
		})
	}
	for n := range drainGenerations {
		want := connections.Load() + 200/drainGenerations + 1
		Eventually(t, "there is traffic", func() bool { return connections.Load() >= want || t.Failed() })
		old := s
		s = Start(t, f, steady(10), share)
		old.Sup.Graceful(0)
		if err := old.Wait(); err != nil {
			t.Errorf("generation %d: %v", n, err)
		}
	}
	end.Store(true)
	clients.Wait()
	t.Logf("%d requests on %d connections", requests.Load(), connections.Load())
}

// keepAsking is one connection with pauses between its requests, some of which
// are longer than children look away.
func keepAsking(t *testing.T, addr string, requests *atomic.Int64) error {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	c := newClient(t, nc)
	for n := range 1 + rand.N(drainRequests) {
		if _, err := c.try("who"); err != nil {
			return fmt.Errorf("request %d of a connection: %w", n+1, err)
		}
		requests.Add(1)
		if c.last {
			if b, err := c.r.ReadByte(); err == nil {
				return fmt.Errorf("%q after the last answer", b)
			}
			return nil
		}
		time.Sleep(rand.N(10 * time.Millisecond))
		if rand.N(40) == 0 {
			time.Sleep(rand.N(250 * time.Millisecond))
		}
	}
	return nil
}

// testGoLate: children that are ready accept nothing before OnReady has
// returned.
func testGoLate(t *testing.T, f Factory) {
	readyC, goC := make(chan struct{}), make(chan struct{})
	s, _ := launch(t, f, steady(2), func(o *mpm.Options) {
		o.OnReady = func() error { close(readyC); <-goC; return nil }
	})
	open := sync.OnceFunc(func() { close(goC) })
	t.Cleanup(open) // before that of launch, which waits for the Supervisor
	select {
	case <-readyC:
	case <-time.After(patience):
		t.Fatal("not ready")
	}
	c := s.Dial()
	if _, err := c.c.Write([]byte("who\n")); err != nil {
		t.Fatal(err)
	}
	c.quiet(300 * time.Millisecond)
	for server := range 2 {
		if got := s.status(server); got != scoreboard.Ready {
			t.Errorf("server %d is %s", server, got)
		}
	}
	open()
	if line, err := c.r.ReadString('\n'); err != nil {
		t.Errorf("answer %q, %v", line, err)
	}
}

// testNoGo: a start that fails touches no connection, although some children
// were ready: those that wait are served by whoever comes next.
func testNoGo(t *testing.T, f Factory) {
	fd, addr, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var waiting []*Client
	for range 4 {
		c := dial(t, addr)
		if _, err := c.c.Write([]byte("who\n")); err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, c)
	}
	share := func(o *mpm.Options) { o.Listeners, o.StartTimeout = []int{fd}, 3*time.Second }
	p := steady(3)
	p.Exit, p.ExitFrom = 7, 1
	bad, _ := launch(t, f, p, share)
	if err := bad.Wait(); err == nil {
		t.Error("a start without all children succeeded")
	}
	if bad.Alive() != 0 {
		t.Error("the board shows children")
	}
	good := Start(t, f, steady(3), func(o *mpm.Options) { o.Listeners = []int{fd} })
	for _, c := range waiting {
		line, err := c.r.ReadString('\n')
		if err != nil {
			t.Fatalf("a waiting connection got %q, %v", line, err)
		}
		var server, pid int
		if _, err := fmt.Sscan(line, &server, &pid); err != nil || good.Pids()[server] != pid {
			t.Errorf("served by %q", line)
		}
		c.Close()
	}
}

// testNoGoMasterKilled: children whose master dies before it has let them go
// leave, and have accepted nothing.
func testNoGoMasterKilled(t *testing.T, f Factory) {
	p := steady(2)
	p.Hang = true
	m := startMaster(t, p)
	c := dial(t, m.addr)
	if _, err := c.c.Write([]byte("who\n")); err != nil {
		t.Fatal(err)
	}
	c.quiet(100 * time.Millisecond)
	if err := m.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	m.allGone(t)
	if b, err := c.r.ReadByte(); err == nil {
		t.Errorf("an answer that begins with %q", b)
	}
}
