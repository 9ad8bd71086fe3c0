package jk

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// fullListener is a port of 127.0.0.1 whose queue is full: connects to it are
// neither taken nor refused.
func fullListener(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := sa.(*syscall.SockaddrInet4).Port
	addr := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
	for range 8 {
		nc, err := net.DialTimeout("tcp", addr, 300*time.Millisecond)
		if err != nil {
			return port
		}
		t.Cleanup(func() { nc.Close() })
	}
	t.Skip("the queue doesn't get full")
	return 0
}

func TestConnectTimeout(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		r := rigAt(t, dial, 1, "127.0.0.1", fullListener(t), "socket_connect_timeout=50", "retries=1")
		e := r.fails(request("GET", "/", ""), &answer{}, 503)
		var ne net.Error
		if !errors.Is(e, os.ErrDeadlineExceeded) && !(errors.As(e, &ne) && ne.Timeout()) || e.Op != "connect" || !e.Recoverable {
			t.Errorf("%+v", e)
		}
		r.want("requests 1 errors 1 misses 1")
	})
}
