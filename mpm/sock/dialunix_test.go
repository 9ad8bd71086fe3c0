//go:build unix

package sock

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func eachUnixDial(t *testing.T, f func(t *testing.T, dial func(string, DialOptions) (Conn, error))) {
	t.Run("blocking", func(t *testing.T) { f(t, DialUnixBlocking) })
	t.Run("polled", func(t *testing.T) { f(t, DialUnixPolled) })
}

// unixPath is short enough wherever the tests run.
func unixPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jkd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func TestDialUnix(t *testing.T) {
	eachUnixDial(t, func(t *testing.T, dial func(string, DialOptions) (Conn, error)) {
		path := unixPath(t)
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err == nil {
				_, _ = io.Copy(c, c)
				c.Close()
			}
		}()
		c, err := dial(path, DialOptions{Timeout: 10 * time.Second, Buffer: 1 << 16, KeepAlive: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.WriteBuffers([][]byte{[]byte("to "), []byte("and fro")}); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 10)
		if _, err := io.ReadFull(c, b); err != nil || string(b) != "to and fro" {
			t.Fatalf("%q, %v", b, err)
		}
		if r, err := c.Readable(); r || err != nil {
			t.Error("readable", r, err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("read:", err)
		}
		if c.LocalAddr() == nil || c.RemoteAddr() == nil {
			t.Error("no address")
		}
		_, _ = c.LocalAddr().String(), c.RemoteAddr().String()
	})
}

func TestDialUnixRefused(t *testing.T) {
	eachUnixDial(t, func(t *testing.T, dial func(string, DialOptions) (Conn, error)) {
		path := unixPath(t)
		for _, p := range []string{path, "", "relative", "/" + strings.Repeat("x", MaxUnixPath)} {
			if c, err := dial(p, DialOptions{Timeout: time.Second}); err == nil {
				c.Close()
				t.Errorf("%q: connected", p)
			}
		}
	})
}

// A listener that accepts nobody: its queue fills up, and then the time-out
// counts.
func TestDialUnixFull(t *testing.T) {
	eachUnixDial(t, func(t *testing.T, dial func(string, DialOptions) (Conn, error)) {
		path := unixPath(t)
		l := silentUnix(t, path)
		defer l()
		for range 64 {
			c, err := dial(path, DialOptions{Timeout: 20 * time.Millisecond})
			if err != nil {
				return
			}
			defer c.Close()
		}
		t.Error("the queue has no end")
	})
}

// silentUnix listens with the shortest queue and never accepts.
func silentUnix(t *testing.T, path string) (end func()) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: path})
	}
	if err == nil {
		err = unix.Listen(fd, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() { unix.Close(fd) }
}
