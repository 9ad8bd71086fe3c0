//go:build unix

package sock

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAcceptedOptions: every connection has the options, whether it queued
// before its listener had them or not, and is in the right mode.
func TestAcceptedOptions(t *testing.T) {
	for _, blocking := range []bool{true, false} {
		var lc net.ListenConfig
		lc.SetMultipathTCP(false) // whose sockets take over less
		l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ln := l.(*net.TCPListener)
		defer ln.Close()
		lfd := dup(t, ln)
		defer unix.Close(lfd)
		a, err := NewAcceptor([]int{lfd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		a.Optimistic = blocking
		dial := func() net.Conn {
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
			return c
		}
		clients := []net.Conn{dial(), dial()} // before anything was set
		for i := range 5 {
			if i >= len(clients) {
				clients = append(clients, dial())
			}
			accepted, err := a.Accept()
			if err != nil {
				t.Fatal(err)
			}
			var c Conn
			if blocking {
				c = accepted.Blocking(nil)
			} else {
				c = accepted.Polled()
			}
			defer c.Close()
			if !tuned(accepted.FD, blocking) {
				t.Errorf("blocking %v: connection %d does not have the options", blocking, i)
			}
			if flags, err := unix.FcntlInt(uintptr(accepted.FD), unix.F_GETFL, 0); err != nil || (flags&unix.O_NONBLOCK == 0) != blocking {
				t.Errorf("blocking %v: connection %d has flags %#x, %v", blocking, i, flags, err)
			}
			if got, want := c.RemoteAddr().String(), clients[i].LocalAddr().String(); got != want {
				t.Errorf("connection %d is from %s, not %s", i, got, want)
			}
			if got, want := c.LocalAddr().String(), ln.Addr().String(); got != want {
				t.Errorf("connection %d is to %s, not %s", i, got, want)
			}
		}
		if !a.listeners[0].handsDown {
			t.Errorf("blocking %v: this kernel was not seen to hand options down", blocking)
		}
	}
}

// TestAcceptedWildcard: a listener of all addresses says nothing about those of
// its connections.
func TestAcceptedWildcard(t *testing.T) {
	for any, to := range map[string]string{"0.0.0.0:0": "127.0.0.2", "[::]:0": "::1"} {
		t.Run(to, func(t *testing.T) { wildcard(t, any, to) })
	}
}

func wildcard(t *testing.T, any, to string) {
	ln, err := net.Listen("tcp", any)
	if err != nil {
		t.Skip(err)
	}
	defer ln.Close()
	lfd := dup(t, ln.(*net.TCPListener))
	defer unix.Close(lfd)
	a, err := NewAcceptor([]int{lfd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	p, err := net.Dial("tcp", net.JoinHostPort(to, port(ln)))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	accepted, err := a.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := accepted.Blocking(nil)
	defer c.Close()
	if got := c.LocalAddr().String(); got != p.RemoteAddr().String() {
		t.Errorf("it is to %s, not %s", got, p.RemoteAddr())
	}
	if got := c.RemoteAddr().String(); got != p.LocalAddr().String() {
		t.Errorf("it is from %s, not %s", got, p.LocalAddr())
	}
}

func port(ln net.Listener) string {
	_, p, _ := net.SplitHostPort(ln.Addr().String())
	return p
}

// TestAcceptedUnix: what a Unix socket can't hand down is set for each.
func TestAcceptedUnix(t *testing.T) {
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	f, err := ln.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, err := NewAcceptor([]int{int(f.Fd())}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Optimistic = true
	for range 3 {
		p, err := net.Dial("unix", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		accepted, err := a.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c := accepted.Blocking(nil)
		defer c.Close()
		if tv, err := unix.GetsockoptTimeval(accepted.FD, unix.SOL_SOCKET, unix.SO_RCVTIMEO); err != nil || tv.Nano() == 0 {
			t.Errorf("it has a time-out of %v, %v", tv, err)
		}
	}
}
