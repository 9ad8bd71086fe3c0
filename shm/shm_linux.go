package shm

import (
	"strings"

	"golang.org/x/sys/unix"
)

// maxMemfdName is what memfd_create(2) takes, in bytes.
const maxMemfdName = 249

// seals keep everybody who holds the descriptor from changing the size, and
// the last one from adding seals: a child could otherwise make the object
// read-only for the children that come after it.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

func anonymous(name string, size int) (int, error) {
	name = strings.ReplaceAll(name, "\x00", "")
	name = name[:min(len(name), maxMemfdName)]
	// Since Linux 6.3 the administrator may insist on MFD_NOEXEC_SEAL; older
	// kernels do not know it.
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return -1, err
	}
	err = retry(func() error { return unix.Ftruncate(fd, int64(size)) })
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
