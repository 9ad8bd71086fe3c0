//go:build unix

package mpmtest

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"jkd/mpm"
	"jkd/scoreboard"
	"jkd/shm"
)

// marks is what the children's maintenance leaves in the connector's segment:
// a few words a child.
type marks struct{ mem []byte }

// The words of a child.
const (
	ticks  = iota // begun so far
	inside        // begun and not ended
	nested        // begun while another one had not ended
	gate          // the test's: not 0 keeps those that begin from ending
	marksPerServer
)

const markServers = 16

// newMarks makes the segment.
func newMarks(t *testing.T) (*shm.Segment, marks) {
	t.Helper()
	seg, err := shm.Create("marks", markServers*marksPerServer*8)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { seg.Close() }) // after the children, which are started later
	return seg, marksOf(seg)
}

func marksOf(seg *shm.Segment) marks {
	if seg == nil {
		return marks{}
	}
	return marks{seg.Bytes()}
}

func (k marks) at(server, word int) *atomic.Uint64 {
	i := (server%markServers*marksPerServer + word) * 8
	return (*atomic.Uint64)(unsafe.Pointer(&k.mem[i : i+8][0]))
}

// tick is the maintenance of the children here.
func (k marks) tick(server int) {
	k.at(server, ticks).Add(1)
	if k.at(server, inside).Add(1) > 1 {
		k.at(server, nested).Add(1)
	}
	for k.at(server, gate).Load() != 0 {
		nap()
	}
	k.at(server, inside).Add(^uint64(0))
}

// nap is a short sleep without a timer of the runtime.
func nap() { _, _ = unix.Poll(nil, 1) }

// tickEvery is the interval in these tests.
const tickEvery = 5 * time.Millisecond

// startTicking runs children with maintenance. At the end of the test all
// gates are open.
func startTicking(t *testing.T, f Factory, n int) (*Server, marks) {
	t.Helper()
	seg, k := newMarks(t)
	p := steady(n)
	p.Maintain = tickEvery
	s := Start(t, f, p, func(o *mpm.Options) { o.Segments = []*shm.Segment{seg} })
	t.Cleanup(func() {
		for i := range markServers {
			k.at(i, gate).Store(0)
			if k.at(i, nested).Load() != 0 {
				t.Errorf("child %d ran two ticks at the same time", i)
			}
		}
	})
	return s, k
}

// more waits until a child has had n more ticks.
func (k marks) more(t *testing.T, server int, n uint64) {
	t.Helper()
	want := k.at(server, ticks).Load() + n
	Eventually(t, "more ticks", func() bool { return k.at(server, ticks).Load() >= want })
}

// block closes the gate of a child and waits until it stands there.
func (k marks) block(t *testing.T, server int) {
	t.Helper()
	k.at(server, gate).Store(1)
	Eventually(t, "a tick is under way", func() bool { return k.at(server, inside).Load() > 0 })
}

// testTicks: maintenance needs no traffic, and a child without it has none.
func testTicks(t *testing.T, f Factory) {
	_, k := startTicking(t, f, 3)
	for server := range 3 {
		k.more(t, server, 10)
	}
}

// testTicksKeepAlive: a connection that idles keeps nothing from being done,
// and the other way round.
func testTicksKeepAlive(t *testing.T, f Factory) {
	s, k := startTicking(t, f, 1)
	c := s.Dial()
	_, pid := c.Who()
	for range 3 {
		k.more(t, 0, 60) // so that the child waits in earnest
		if _, again := c.Who(); again != pid {
			t.Fatal("another child")
		}
	}
}

// testTicksBusy: a child that is never idle gets round to it, with requests on
// one connection and with a connection for each.
func testTicksBusy(t *testing.T, f Factory) {
	s, k := startTicking(t, f, 1)
	for _, keep := range []bool{true, false} {
		c := s.Dial()
		want := k.at(0, ticks).Load() + 20
		for end := time.Now().Add(patience); k.at(0, ticks).Load() < want; {
			if time.Now().After(end) {
				t.Fatalf("keep-alive %t: no ticks", keep)
			}
			c.Who()
			if !keep {
				c.Close()
				c = s.Dial()
			}
		}
		c.Close()
	}
}

// testTicksLeaving: a child that knows that it is to leave begins no more.
func testTicksLeaving(t *testing.T, f Factory) {
	s, k := startTicking(t, f, 1)
	c := s.Dial()
	if got := c.Ask("leave"); got != "waits" {
		t.Fatal(got)
	}
	s.Sup.Graceful(0)
	line, err := c.r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var known uint64
	if _, err := fmt.Sscan(line, &known); err != nil {
		t.Fatal(err)
	}
	c.Closed()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	// One may have been about to begin in another goroutine.
	if n := k.at(0, ticks).Load(); n > known+1 {
		t.Errorf("%d ticks, there were %d when the child was told to leave", n, known)
	}
}

// testTickSlow: while one child is busy with its maintenance, the others get
// all the connections, and a request that comes on an idle one in its hands is
// answered afterwards.
func testTickSlow(t *testing.T, f Factory) {
	s, k := startTicking(t, f, 2)
	// An idle connection in the child to be held up.
	c := s.Dial()
	server, pid := c.Who()
	k.block(t, server)
	for range 10 {
		other := s.Dial()
		other.Who()
		other.Close()
	}
	if _, err := c.c.Write([]byte("who\n")); err != nil {
		t.Fatal(err)
	}
	k.at(server, gate).Store(0)
	line, err := c.r.ReadString('\n')
	if want := fmt.Sprintf("%d %d", server, pid); err != nil || strings.TrimSpace(line) != want {
		t.Errorf("answer %q, %v; want %q", line, err, want)
	}
	c.Close()
	// The same without a connection.
	k.more(t, server, 3)
	k.block(t, server)
	if s.a.opts.Module.ThreadsPerChild == 1 && s.status(server) == scoreboard.Ready {
		t.Error("the child calls itself ready during its maintenance")
	}
	for range 10 {
		other := s.Dial()
		other.Who()
		other.Close()
	}
}

// testTickSlowAll: connections that come while all children are at it are
// served when the first is back.
func testTickSlowAll(t *testing.T, f Factory) {
	s, k := startTicking(t, f, 2)
	for range 3 {
		k.block(t, 0)
		k.block(t, 1)
		var waiting []*Client
		for range 8 {
			c := s.Dial()
			if _, err := c.c.Write([]byte("who\n")); err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, c)
		}
		k.at(1, gate).Store(0) // one of them has to do
		for _, c := range waiting {
			if line, err := c.r.ReadString('\n'); err != nil || line == "" {
				t.Fatalf("a waiting connection got %q, %v", line, err)
			}
			c.Close()
		}
		k.at(0, gate).Store(0)
	}
}

// testTickSlowLeaving: a graceful stop waits for maintenance that is under way,
// a stop does not.
func testTickSlowLeaving(t *testing.T, f Factory) {
	s, k := startTicking(t, f, 2)
	k.block(t, 0)
	s.Sup.Graceful(0)
	Eventually(t, "the other child is gone", func() bool { return s.Pids()[1] == 0 })
	if s.Pids()[0] == 0 {
		t.Error("the child was gone before its maintenance had ended")
	}
	k.at(0, gate).Store(0)
	if err := s.Wait(); err != nil {
		t.Error(err)
	}

	s, k = startTicking(t, f, 1)
	k.block(t, 0)
	s.Sup.Stop()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	if k.at(0, inside).Load() == 0 {
		t.Error("the maintenance has ended although the gate is closed")
	}
}

// testTicksMany: connections that come at any moment of many ticks, some of
// them just when all children fall asleep.
func testTicksMany(t *testing.T, f Factory) {
	s, k := startTicking(t, f, 3)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 100 {
				if err := askOnce(s.a.addr); err != nil {
					t.Errorf("client %d, connection %d: %v", i, n, err)
					return
				}
				time.Sleep(time.Duration((i*100+n)%11) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	for server := range 3 {
		k.more(t, server, 1)
	}
}

// askOnce makes a connection for one question.
func askOnce(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write([]byte("who\n")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 64))
	return err
}

// testReclaim: the hook is told of each child that ended, and before there is
// another one in its place.
func testReclaim(t *testing.T, f Factory) {
	var mu sync.Mutex
	var reclaimed []int
	var board *scoreboard.Scoreboard
	s := Start(t, f, steady(2), func(o *mpm.Options) {
		board = o.Board
		o.OnReclaim = func(server int) {
			var v scoreboard.View
			board.Snapshot(&v)
			mu.Lock()
			defer mu.Unlock()
			reclaimed = append(reclaimed, server)
			if pid := v.Processes[server].PID; pid != 0 {
				t.Errorf("server %d is reclaimed while process %d has its place", server, pid)
			}
		}
	})
	_, pid := s.Dial().Who()
	server := slices.Index(s.Pids(), pid)
	kill(t, pid, unix.SIGKILL)
	Eventually(t, "the killed child is replaced", func() bool {
		now := s.Pids()[server]
		return now != 0 && now != pid
	})
	mu.Lock()
	if !slices.Equal(reclaimed, []int{server}) {
		t.Errorf("reclaimed %v, want %d", reclaimed, server)
	}
	mu.Unlock()
	s.Sup.Stop()
	if err := s.Wait(); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(reclaimed[1:])
	if !slices.Equal(reclaimed[1:], []int{0, 1}) {
		t.Errorf("reclaimed at the end %v", reclaimed[1:])
	}
}
