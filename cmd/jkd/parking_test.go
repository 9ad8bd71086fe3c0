//go:build unix

package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
)

// parkingServer is a worker of two children with 25 threads each, in front of a
// container that answers at once.
func parkingServer(t *testing.T, more ...string) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	back := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "hello\n") })
	return start(t, binary(t), config{
		mpm:     "worker",
		server:  append([]string{"KeepAliveTimeout = 600", "MaxKeepAliveRequests = 0"}, more...),
		limits:  []string{"StartServers = 2", "ServerLimit = 2", "ThreadsPerChild = 25", "MaxRequestWorkers = 50", "MinSpareThreads = 1", "MaxSpareThreads = 50"},
		workers: properties(addrOf(back.Port()), nil), mounts: []string{"/* tomcat"}, jk: []string{"[status]", "Location = /jkd-status"},
	})
}

// keptConn is a connection that is kept.
type keptConn struct {
	net.Conn
	br *bufio.Reader
}

const keptRequest = "GET /kept HTTP/1.1\r\nHost: x\r\n\r\n"

func (s *server) keep() (*keptConn, error) {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &keptConn{c, bufio.NewReader(c)}, nil
}

// get asks n times in one piece and reads the answers; last tells what the last
// one says of the connection.
func (k *keptConn) get(n int) (last bool, err error) {
	if _, err := io.WriteString(k, strings.Repeat(keptRequest, n)); err != nil {
		return false, err
	}
	return k.answers(n)
}

func (k *keptConn) answers(n int) (last bool, err error) {
	for range n {
		r, err := http.ReadResponse(k.br, nil)
		if err != nil {
			return false, err
		}
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 || len(b) == 0 {
			return false, fmt.Errorf("%s, %d bytes, %v", r.Status, len(b), err)
		}
		last = r.Close
	}
	return last, nil
}

// each does something with all connections, some at a time.
func each(t *testing.T, all []*keptConn, f func(k *keptConn) error) {
	t.Helper()
	var wg sync.WaitGroup
	placeC := make(chan struct{}, 100)
	for i, k := range all {
		placeC <- struct{}{}
		wg.Go(func() {
			if err := f(k); err != nil {
				t.Errorf("connection %d: %v", i, err)
			}
			<-placeC
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// TestParking: a thousand connections that wait for their next request are
// nobody's hindrance under 50 threads, and none of them is lost.
func TestParking(t *testing.T) {
	n := 1000
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err == nil && uint64(l.Cur) < 4096 {
		n = 200
	}
	s := parkingServer(t)
	all := make([]*keptConn, n)
	for i := range all {
		k, err := s.keep()
		if err != nil {
			t.Fatal(err)
		}
		all[i] = k
	}
	ask := func(k *keptConn) error { _, err := k.get(1); return err }
	each(t, all, ask)
	s.eventually("all are parked", func() bool {
		d := s.document()
		return d.Totals.Parked >= n-1 && d.Totals.Connections >= n
	})

	t.Run("Active", func(t *testing.T) {
		active := make([]*keptConn, 100)
		for i := range active {
			var err error
			if active[i], err = s.keep(); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			each(t, active, ask)
		}
		for _, k := range active {
			k.Close()
		}
	})

	// Requests in one piece with others: the wait in between ends at once.
	t.Run("Pipelined", func(t *testing.T) {
		for i := range 5 {
			each(t, all, func(k *keptConn) error { _, err := k.get(1 + i); return err })
		}
	})

	// A head that comes byte by byte has a seat from its first byte on.
	t.Run("Slow", func(t *testing.T) {
		s.eventually("all are parked", func() bool { return s.document().Totals.Parked >= n-1 })
		slow := all[:20]
		for i := range len(keptRequest) - 1 {
			each(t, slow, func(k *keptConn) error { _, err := k.Write([]byte{keptRequest[i]}); return err })
			if i > 0 {
				continue
			}
			s.eventually("they are being read", func() bool {
				d := s.document()
				return strings.Count(d.Board, "R") >= len(slow) && d.Totals.Parked <= d.Totals.Connections-len(slow)
			})
		}
		each(t, all[20:], ask)
		each(t, slow, func(k *keptConn) error {
			_, _ = k.Write([]byte{'\n'})
			_, err := k.answers(1)
			return err
		})
	})

	// Clients that go away while they are parked are noticed.
	t.Run("Gone", func(t *testing.T) {
		for i, k := range all[:n/2] {
			if i%2 == 0 {
				_ = k.Conn.(*net.TCPConn).SetLinger(0)
			}
			k.Close()
		}
		all = all[n/2:]
		s.eventually("they are closed here too", func() bool { return s.document().Totals.Connections <= len(all)+1 })
		each(t, all, ask)
	})

	// A child that leaves serves each of them once more.
	t.Run("Reload", func(t *testing.T) {
		old := s.children()
		if out, err := s.ask(binary(t), "graceful"); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s.eventually("the new generation serves", func() bool { return s.document().Server.Generation > 1 })
		each(t, all, func(k *keptConn) error {
			last, err := k.get(1)
			if err == nil && !last {
				return fmt.Errorf("the connection goes on")
			}
			return err
		})
		s.gone(old)
		s.eventually("no connection is left", func() bool {
			d := s.document()
			return d.Totals.Connections == 1 && d.Totals.Parked == 0 && d.Totals.Busy == 1
		})
	})
}

// TestParkingOff: each connection has its thread until it ends, as with
// Apache's worker.
func TestParkingOff(t *testing.T) {
	s := parkingServer(t, "KeepAliveParking = Off")
	all := make([]*keptConn, 50)
	for i := range all {
		k, err := s.keep()
		if err == nil {
			_, err = k.get(1)
		}
		if err != nil {
			t.Fatal(err)
		}
		all[i] = k
	}
	late, err := s.keep()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(late, keptRequest); err != nil {
		t.Fatal(err)
	}
	_ = late.SetReadDeadline(time.Now().Add(2 * time.Second))
	if _, err := late.br.Peek(1); !os.IsTimeout(err) {
		t.Fatalf("served without a thread: %v", err)
	}
	_ = late.SetReadDeadline(time.Now().Add(patience))
	all[7].Close()
	if _, err := late.answers(1); err != nil {
		t.Error(err)
	}
}
