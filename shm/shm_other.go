//go:build unix && !linux && !freebsd

package shm

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymous makes a temporary file and takes its name away. It is enough to
// develop on; the object can be resized by whoever inherits it.
func anonymous(_ string, size int) (int, error) {
	f, err := os.CreateTemp("", "jkd-shm-")
	if err != nil {
		return -1, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return -1, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return -1, err
	}
	if err := writeZeros(fd, size); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
