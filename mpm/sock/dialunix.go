//go:build unix

package sock

import (
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// DialUnixBlocking connects to a Unix stream socket for a prefork child. Of the
// options only Timeout and Buffer mean something.
func DialUnixBlocking(path string, o DialOptions) (Conn, error) {
	if err := checkUnixPath(path); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	setOptions(fd, DialOptions{Buffer: o.Buffer})
	err = untilRoom(o.Timeout, func(left time.Duration) error { return connectTo(fd, &unix.SockaddrUnix{Name: path}, left) })
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return NewBlocking(fd, nil), nil
}

// DialUnixPolled connects to a Unix stream socket for a worker child.
func DialUnixPolled(path string, o DialOptions) (Conn, error) {
	if err := checkUnixPath(path); err != nil {
		return nil, err
	}
	var c net.Conn
	err := untilRoom(o.Timeout, func(left time.Duration) (err error) {
		c, err = (&net.Dialer{Timeout: left}).Dial("unix", path)
		return err
	})
	if err != nil {
		return nil, err
	}
	p, err := newPolled(c.(*net.UnixConn))
	if err != nil {
		return nil, err
	}
	_ = p.raw.Control(func(fd uintptr) { setOptions(int(fd), DialOptions{Buffer: o.Buffer}) })
	return p, nil
}

// untilRoom calls connect with what is left of timeout (0: no limit) until it
// does not fail with EAGAIN: that is how Linux tells that the listener's queue is
// full, at once and with nothing that could be waited for.
func untilRoom(timeout time.Duration, connect func(left time.Duration) error) error {
	end := time.Now().Add(timeout)
	left := timeout
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := connect(left)
		if !errors.Is(err, unix.EAGAIN) {
			return err
		}
		if timeout > 0 {
			if left = time.Until(end) - pause; left <= 0 {
				return &net.OpError{Op: "connect", Net: "unix", Err: os.ErrDeadlineExceeded}
			}
		}
		time.Sleep(pause)
	}
}

func checkUnixPath(path string) error {
	if path == "" || len(path) > MaxUnixPath || path[0] != '/' {
		return &net.OpError{Op: "connect", Net: "unix", Err: unix.EINVAL}
	}
	return nil
}
