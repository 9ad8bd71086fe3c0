//go:build unix

package shm

import "golang.org/x/sys/unix"

// status is what the package wants to know about an object, in types that do
// not depend on the system.
type status struct {
	id    fileID
	mode  uint32
	uid   uint32
	links uint64
	size  int64
}

func newStatus(st *unix.Stat_t) status {
	return status{
		id:    fileID{uint64(st.Dev), uint64(st.Ino)},
		mode:  uint32(st.Mode),
		uid:   st.Uid,
		links: uint64(st.Nlink),
		size:  st.Size,
	}
}

func (s status) is(kind uint32) bool { return s.mode&unix.S_IFMT == kind }
func (s status) regular() bool       { return s.is(unix.S_IFREG) }

func stat(fd int) (status, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return status{}, err
	}
	return newStatus(&st), nil
}

// lstat looks at path itself, not at what a symbolic link points to.
func lstat(path string) (status, error) {
	var st unix.Stat_t
	if err := retry(func() error { return unix.Lstat(path, &st) }); err != nil {
		return status{}, err
	}
	return newStatus(&st), nil
}

// retry repeats f while a signal interrupts it.
func retry(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}
