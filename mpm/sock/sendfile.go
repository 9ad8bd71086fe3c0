//go:build unix

package sock

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// sendfileMax bounds one call, below what any kernel takes.
const sendfileMax = 1 << 30

// sendfile sends a part of a file. Unlike the other calls it may wait for a
// disk, so the scheduler is told. It may have sent something when it fails, and
// sends nothing at the end of the file.
func sendfile(fd int, file uintptr, offset, n int64) (int64, error) {
	k, err := unix.Sendfile(fd, int(file), &offset, int(min(n, sendfileMax)))
	if err == unix.EINTR {
		err = unix.EAGAIN // looked at the clock first, as in again
	}
	return int64(max(k, 0)), err
}

// sendError is the error of a SendFile that has sent done bytes.
func sendError(err error, done int64) error {
	if done == 0 && (err == unix.EINVAL || errors.Is(err, errors.ErrUnsupported)) {
		return errors.ErrUnsupported
	}
	return &net.OpError{Op: "sendfile", Net: "tcp", Err: err}
}

// SendFile implements [Conn].
func (c *Blocking) SendFile(f *os.File, offset, n int64) (done int64, err error) {
	defer runtime.KeepAlive(f)
	file := f.Fd()
	for done < n {
		k, err := sendfile(c.fd, file, offset+done, n-done)
		done += k
		switch {
		case err == unix.EAGAIN:
			err = c.wait(unix.POLLOUT, c.wd, false)
		case err != nil:
			err = sendError(err, done)
		case k == 0:
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// SendFile implements [Conn].
func (c *Polled) SendFile(f *os.File, offset, n int64) (done int64, err error) {
	defer runtime.KeepAlive(f)
	file := f.Fd()
	// The disk may take its time, which the lock of a connection that is not in
	// the poller must not.
	if err := c.enter(); err != nil {
		return 0, err
	}
	var failed error
	err = c.raw.Write(func(fd uintptr) bool {
		for done < n {
			k, err := sendfile(int(fd), file, offset+done, n-done)
			done += k
			switch {
			case err == unix.EAGAIN:
				return false
			case err != nil:
				failed = sendError(err, done)
				return true
			case k == 0:
				failed = io.ErrUnexpectedEOF
				return true
			}
		}
		return true
	})
	if failed != nil {
		err = failed
	}
	return done, err
}
