//go:build unix

package sock

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// kinds runs a test over both kinds of connection, each with a plain net.Conn
// as its peer.
func kinds(t *testing.T, f func(t *testing.T, c Conn, peer *net.TCPConn, leave func())) {
	t.Helper()
	ln := listen(t)
	for _, kind := range []string{"blocking", "polled"} {
		t.Run(kind, func(t *testing.T) {
			p, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			wake, err := NewWakePipe()
			if err != nil {
				t.Fatal(err)
			}
			defer wake.Close()
			lfd := dup(t, ln)
			defer unix.Close(lfd)
			a, err := NewAcceptor([]int{lfd}, wake)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			a.Optimistic = kind == "blocking"
			accepted, err := a.Accept()
			if err != nil {
				t.Fatal(err)
			}
			var c Conn
			if kind == "blocking" {
				c = accepted.Blocking(wake)
			} else {
				c = accepted.Polled()
			}
			defer c.Close()
			f(t, c, p.(*net.TCPConn), wake.Set)
		})
	}
}

func listen(t *testing.T) *net.TCPListener {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln.(*net.TCPListener)
}

// dup copies a socket's descriptor without changing its mode, as Fd would.
func dup(t *testing.T, ln syscall.Conn) int {
	t.Helper()
	raw, err := ln.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	fd := -1
	if err := raw.Control(func(s uintptr) { fd, err = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func TestReadWrite(t *testing.T) {
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, _ func()) {
		if ok, err := c.Readable(); ok || err != nil {
			t.Errorf("Readable before data = %v, %v", ok, err)
		}
		go func() {
			time.Sleep(3 * optimistic) // make the read wait visibly
			peer.Write([]byte("hello"))
		}()
		b := make([]byte, 16)
		n, err := c.Read(b)
		if err != nil || string(b[:n]) != "hello" {
			t.Fatalf("Read = %q, %v", b[:n], err)
		}
		if _, err := c.Write([]byte("world")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(peer, b[:5]); err != nil || string(b[:5]) != "world" {
			t.Fatalf("peer read %q, %v", b[:5], err)
		}
		peer.Close()
		if n, err := c.Read(b); n != 0 || err != io.EOF {
			t.Errorf("Read at end = %d, %v; want EOF", n, err)
		}
		if ok, err := c.Readable(); !ok || err != io.EOF {
			t.Errorf("Readable at end = %v, %v", ok, err)
		}
	})
}

// TestWriteBuffers writes more than any socket buffer holds while the peer
// reads slowly, so that partial writes happen at every kind of place.
func TestWriteBuffers(t *testing.T) {
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, _ func()) {
		var v [][]byte
		var want []byte
		for i := range 3000 { // more than IOV_MAX
			b := bytes.Repeat([]byte{byte(i)}, i%5000)
			v = append(v, b)
			want = append(want, b...)
		}
		var wg sync.WaitGroup
		wg.Add(1)
		var got []byte
		go func() {
			defer wg.Done()
			time.Sleep(2 * optimistic)
			got, _ = io.ReadAll(io.LimitReader(peer, int64(len(want))))
		}()
		n, err := c.WriteBuffers(v)
		wg.Wait()
		if err != nil || n != int64(len(want)) {
			t.Fatalf("WriteBuffers = %d, %v; want %d", n, err, len(want))
		}
		if !bytes.Equal(got, want) {
			t.Error("the peer got other bytes")
		}
		if n, err := c.WriteBuffers([][]byte{nil, {}}); n != 0 || err != nil {
			t.Errorf("WriteBuffers of nothing = %d, %v", n, err)
		}
	})
}

func TestDeadlines(t *testing.T) {
	kinds(t, func(t *testing.T, c Conn, _ *net.TCPConn, _ func()) {
		b := make([]byte, 1<<20)
		c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Read = %v; want deadline exceeded", err)
		}
		if _, err := c.ReadIdle(b, 15*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("ReadIdle = %v; want deadline exceeded", err)
		}
		c.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		var err error
		for i := 0; i < 64 && err == nil; i++ {
			_, err = c.Write(b)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write = %v; want deadline exceeded", err)
		}
	})
}

func TestReadIdle(t *testing.T) {
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, leave func()) {
		b := make([]byte, 16)
		peer.Write([]byte("one"))
		if n, err := c.ReadIdle(b, time.Minute); err != nil || string(b[:n]) != "one" {
			t.Fatalf("ReadIdle = %q, %v", b[:n], err)
		}
		// The order to leave does not end the wait: what the peer has sent by
		// then may not have arrived yet.
		go func() {
			time.Sleep(2 * optimistic)
			leave()
			time.Sleep(2 * optimistic)
			peer.Write([]byte("two"))
		}()
		if n, err := c.ReadIdle(b, time.Minute); err != nil || string(b[:n]) != "two" {
			t.Fatalf("ReadIdle while told to leave = %q, %v", b[:n], err)
		}
		peer.Write([]byte("three"))
		if n, err := c.ReadIdle(b, time.Minute); err != nil || string(b[:n]) != "three" {
			t.Errorf("ReadIdle after that = %q, %v", b[:n], err)
		}
		if _, err := c.ReadIdle(b, time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("ReadIdle without a word = %v; want deadline exceeded", err)
		}
	})
}

// TestOnWake: the process learns of the order while its only connection idles,
// whether the wait has begun or not, and once.
func TestOnWake(t *testing.T) {
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, leave func()) {
		bc, ok := c.(*Blocking)
		if !ok {
			t.Skip("others have a goroutine for the orders")
		}
		calls := 0
		bc.OnWake = func() {
			calls++
			peer.Write([]byte("x"))
		}
		b := make([]byte, 16)
		time.AfterFunc(2*optimistic, leave)
		if n, err := c.ReadIdle(b, time.Minute); err != nil || n != 1 {
			t.Fatalf("ReadIdle = %d, %v", n, err)
		}
		peer.Write([]byte("y"))
		if n, err := c.ReadIdle(b, time.Minute); err != nil || string(b[:n]) != "y" || calls != 1 {
			t.Errorf("ReadIdle = %q, %v, OnWake was called %d times", b[:n], err, calls)
		}
	})
}

func TestAbortResets(t *testing.T) {
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, _ func()) {
		if err := c.Abort(); err != nil {
			t.Fatal(err)
		}
		c.Close()
		peer.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := peer.Read(make([]byte, 1)); !errors.Is(err, unix.ECONNRESET) {
			t.Errorf("peer read %v; want connection reset", err)
		}
	})
}

func TestAddresses(t *testing.T) {
	kinds(t, func(t *testing.T, c Conn, peer *net.TCPConn, _ func()) {
		if got, want := c.RemoteAddr().String(), peer.LocalAddr().String(); got != want {
			t.Errorf("RemoteAddr = %s, want %s", got, want)
		}
		if got, want := c.LocalAddr().String(), peer.RemoteAddr().String(); got != want {
			t.Errorf("LocalAddr = %s, want %s", got, want)
		}
	})
}

func TestDial(t *testing.T) {
	ln := listen(t)
	addr := netip.MustParseAddrPort(ln.Addr().String())
	for name, dial := range map[string]DialFunc{"blocking": DialBlocking, "polled": DialPolled} {
		t.Run(name, func(t *testing.T) {
			c, err := dial(addr, DialOptions{Timeout: 5 * time.Second, KeepAlive: true, Buffer: 65536, Source: netip.MustParseAddr("127.0.0.1")})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			s, err := ln.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.Write([]byte("x"))
			b := make([]byte, 2)
			if n, err := c.Read(b); n != 1 || err != nil {
				t.Errorf("Read = %d, %v", n, err)
			}
			dead := listen(t)
			to := netip.MustParseAddrPort(dead.Addr().String())
			dead.Close()
			if _, err := dial(to, DialOptions{Timeout: 5 * time.Second}); !errors.Is(err, unix.ECONNREFUSED) {
				t.Errorf("dial to nobody = %v; want connection refused", err)
			}
		})
	}
}

// TestAcceptorShared has several acceptors on one pair of listeners: every
// connection is accepted once, and a wake-up ends them all.
func TestAcceptorShared(t *testing.T) {
	l1, l2 := listen(t), listen(t)
	fds := []int{dup(t, l1), dup(t, l2)}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	wake, err := NewWakePipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wake.Close()
	got := make(chan int, 100)
	var wg sync.WaitGroup
	for range 4 {
		a, err := NewAcceptor(fds, wake)
		if err != nil {
			t.Fatal(err)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer a.Close()
			for {
				accepted, err := a.Accept()
				if err == ErrWoken {
					return
				}
				if err != nil {
					t.Errorf("Accept = %v, %v", accepted, err)
					return
				}
				got <- accepted.FD
			}
		}()
	}
	for i := range 40 {
		c, err := net.Dial("tcp", []*net.TCPListener{l1, l2}[i%2].Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fd := <-got
		if fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || fl&unix.FD_CLOEXEC == 0 {
			t.Errorf("accepted descriptor is not close-on-exec: %x %v", fl, err)
		}
		unix.Close(fd)
	}
	wake.Set()
	wg.Wait()
	if !wake.Woken() {
		t.Error("Woken is false after Set")
	}
}

func TestWakeFollowsDescriptor(t *testing.T) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	w := NewWake(p[0])
	if w.Woken() {
		t.Error("woken from the start")
	}
	unix.Close(p[1]) // the master is gone
	for deadline := time.Now().Add(10 * time.Second); !w.Woken(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("end of file does not wake")
		}
	}
}

func BenchmarkBlockingRoundTrip(b *testing.B) { benchmarkRoundTrip(b, DialBlocking) }
func BenchmarkPolledRoundTrip(b *testing.B)   { benchmarkRoundTrip(b, DialPolled) }

func benchmarkRoundTrip(b *testing.B, dial DialFunc) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err == nil {
			io.Copy(c, c)
		}
	}()
	c, err := dial(netip.MustParseAddrPort(ln.Addr().String()), DialOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	buf := make([]byte, 256)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}
