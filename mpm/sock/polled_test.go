//go:build unix

package sock

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair is a connection that is not in the poller yet, and its peer.
func pair(t *testing.T) (*Polled, *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	peer := os.NewFile(uintptr(fds[1]), "peer")
	t.Cleanup(func() { peer.Close() })
	c := Accepted{FD: fds[0]}.Polled()
	t.Cleanup(func() { c.Close() })
	return c, peer
}

// TestPolledLate: a connection enters the poller when it has to wait, not
// before, and what was set before holds there.
func TestPolledLate(t *testing.T) {
	c, peer := pair(t)
	buf := make([]byte, 8)
	exchange := func(what string) {
		t.Helper()
		if _, err := peer.WriteString(what); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(buf); err != nil || string(buf[:n]) != what {
			t.Fatalf("read %q, %v; want %q", buf[:n], err, what)
		}
		if _, err := c.Write([]byte(what)); err != nil {
			t.Fatal(err)
		}
		if ok, err := c.Readable(); ok || err != nil {
			t.Fatalf("nothing to read: %v, %v", ok, err)
		}
	}
	exchange("before")
	if c.pollable != nil {
		t.Error("it is in the poller without having waited")
	}
	if err := c.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d, %v; want the end of the deadline", n, err)
	}
	if c.pollable == nil {
		t.Error("it has waited and is not in the poller")
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	exchange("after")
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err == nil {
		t.Error("closed twice")
	}
}

// TestPolledOver: a deadline that is over counts before there is a poller, too.
func TestPolledOver(t *testing.T) {
	c, peer := pair(t)
	if _, err := peer.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d, %v", n, err)
	}
	if n, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("wrote %d, %v", n, err)
	}
}

// TestPolledClose: another goroutine may close it at any moment.
func TestPolledClose(t *testing.T) {
	for range 200 {
		c, peer := pair(t)
		var wg sync.WaitGroup
		wg.Go(func() {
			buf := make([]byte, 8)
			for {
				if _, err := c.Write([]byte("x")); err != nil {
					return
				}
				if _, err := c.Read(buf); err != nil {
					return
				}
			}
		})
		_, _ = peer.WriteString("12")
		_ = c.Close()
		wg.Wait()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("read from a closed connection")
		}
		if err := c.CloseWrite(); err == nil {
			t.Error("closed connection shut down")
		}
	}
}

// TestIdleUnlocked: OnIdle may take a lock under which somebody else closes.
func TestIdleUnlocked(t *testing.T) {
	c, _ := pair(t)
	called := false
	c.OnIdle = func() {
		called = true
		if !c.mu.TryLock() {
			t.Fatal("a Close from elsewhere would wait for OnIdle")
		}
		c.mu.Unlock()
	}
	if n, err := c.ReadIdle(make([]byte, 1), time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d, %v", n, err)
	}
	if !called {
		t.Error("nobody was told of the wait")
	}
}
