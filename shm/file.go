//go:build unix

package shm

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// CreateFile makes a segment of size bytes, all zero, backed by a new file of
// mode 0600, mapped for reading and writing. A regular file of the calling
// user that a dead master left at path is removed first. One whose segment is
// still open somewhere, in its maker or a process that inherited it, is
// [ErrInUse]: two of them would take each other's file away. That and a
// symbolic link, a file of another kind or another user stay as they are. The
// file is never opened through a link: it is created exclusively. The directory
// must be one that only trusted users can write to. The descriptor is
// close-on-exec.
func CreateFile(path string, size int) (*Segment, error) {
	s, err := createFile(path, size)
	if err != nil {
		return nil, &Error{"create", path, err}
	}
	return s, nil
}

// Discard ends a segment with its file, if it has one: Remove and Close. What
// goes wrong there has no remedy.
func (s *Segment) Discard() {
	_ = s.Remove()
	_ = s.Close()
}

func createFile(path string, size int) (*Segment, error) {
	if size <= 0 {
		return nil, ErrSize
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	s, err := fillFile(fd, size)
	if err == nil && !names(path, fd) {
		unix.Munmap(s.mem)
		err = ErrInUse // somebody took it for a stale one before it was locked
	}
	if err != nil {
		if names(path, fd) {
			unix.Unlink(path)
		}
		unix.Close(fd)
		return nil, err
	}
	s.name, s.path = path, path
	return s, nil
}

// fillFile turns a new empty file into a segment.
func fillFile(fd, size int) (*Segment, error) {
	// The umask may have taken more than the others' bits.
	if err := retry(func() error { return unix.Fchmod(fd, 0o600) }); err != nil {
		return nil, err
	}
	if err := lock(fd); err != nil {
		return nil, err
	}
	if err := writeZeros(fd, size); err != nil {
		return nil, err
	}
	st, err := stat(fd)
	if err != nil {
		return nil, err
	}
	if st.size != int64(size) {
		return nil, fmt.Errorf("%w: %d bytes, not %d", ErrResized, st.size, size)
	}
	s, err := newSegment(fd, size, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return nil, err
	}
	s.id = st.id
	return s, nil
}

// writeZeros makes the kernel find the blocks now. A file that is only given a
// length has holes, and a page of a hole that cannot be filled when it is
// touched is a SIGBUS.
func writeZeros(fd, size int) error {
	zeros := make([]byte, min(size, 64<<10))
	for size > 0 {
		n, err := unix.Write(fd, zeros[:min(size, len(zeros))])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return unix.ENOSPC
		default:
			size -= n
		}
	}
	return nil
}

// removeStale removes what an earlier master left at path, if it is ours and no
// longer in use. Should another file take its place between the look and the
// removal, only the directory entry goes, never what it points to, and the
// exclusive open that follows refuses whatever comes next.
func removeStale(path string) error {
	st, err := lstat(path)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return err
	}
	if err := checkFile(st, unix.Geteuid(), -1); err != nil {
		return err
	}
	// The lock is held until the file is gone: whoever comes at the same time
	// finds it in use, or not at all.
	fd, err := lockUnused(path)
	if fd < 0 {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Unlink(path); err != nil && err != unix.ENOENT {
		return err
	}
	return nil
}

// checkUnused is ErrInUse if the file at path is.
func checkUnused(path string) error {
	fd, err := lockUnused(path)
	if fd >= 0 {
		unix.Close(fd)
	}
	return err
}

// lockUnused locks the file at path and returns its descriptor, -1 without an
// error if there is none.
func lockUnused(path string) (fd int, err error) {
	err = retry(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		return err
	})
	if err == unix.ENOENT {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	if err = lock(fd); err == nil && !names(path, fd) {
		err = ErrInUse // somebody was faster
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// lock marks the file behind fd as in use. The mark belongs to what was opened,
// so those who inherit the descriptor hold it too, and it goes with the last of
// them, however that ends. Where the file system knows no locks nothing is
// marked.
func lock(fd int) error {
	if err := retry(func() error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) }); err == unix.EWOULDBLOCK {
		return ErrInUse
	}
	return nil
}

// names tells whether path is a name of what is open as fd.
func names(path string, fd int) bool {
	a, err := stat(fd)
	b, err2 := lstat(path)
	return err == nil && err2 == nil && a.id == b.id
}

// checkFile refuses what is not a regular file of one of two users (-1: no
// second one).
func checkFile(st status, uid, orUID int) error {
	switch {
	case st.is(unix.S_IFLNK):
		return ErrSymlink
	case !st.regular():
		return ErrType
	case int64(st.uid) != int64(uid) && int64(st.uid) != int64(orUID):
		return fmt.Errorf("%w: uid %d", ErrOwner, st.uid)
	}
	return nil
}

// Open maps the file of a segment made by [CreateFile] in another process, for
// reading only, in its whole length. It must be a regular file with one name
// that belongs to the calling user or to root and that nobody else may write
// to; a symbolic link is refused. The check is made on the open descriptor, so
// that no other file can slip in between.
func Open(path string) (*Segment, error) {
	s, err := openFile(path)
	if err != nil {
		return nil, &Error{"open", path, err}
	}
	return s, nil
}

func openFile(path string) (*Segment, error) {
	var fd int
	// O_NONBLOCK, or a FIFO would keep us waiting for a writer.
	err := retry(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		// Kernels disagree about the number (ELOOP, EMLINK, EFTYPE): ask again.
		if st, e := lstat(path); e == nil && st.is(unix.S_IFLNK) {
			err = ErrSymlink
		}
		return nil, err
	}
	s, err := mapFile(fd)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	s.name, s.path = path, path
	return s, nil
}

func mapFile(fd int) (*Segment, error) {
	st, err := stat(fd)
	if err != nil {
		return nil, err
	}
	if err := checkFile(st, unix.Geteuid(), 0); err != nil {
		return nil, err
	}
	switch {
	case st.mode&0o022 != 0:
		return nil, fmt.Errorf("%w: mode %04o", ErrMode, st.mode&0o7777)
	case st.links != 1:
		return nil, fmt.Errorf("%w: %d", ErrLinks, st.links)
	case st.size <= 0 || int64(int(st.size)) != st.size:
		return nil, fmt.Errorf("%w: %d bytes", ErrResized, st.size)
	}
	s, err := newSegment(fd, int(st.size), unix.PROT_READ)
	if err != nil {
		return nil, err
	}
	s.id = st.id
	return s, nil
}

// Remove removes the file of a segment made by [CreateFile] or [MakeBeside],
// before or after Close. A file that another master has put in its place meanwhile stays. It
// does nothing for an anonymous segment or when the file is gone already.
func (s *Segment) Remove() error {
	if s.path == "" {
		return nil
	}
	st, err := lstat(s.path)
	if err == unix.ENOENT || err == nil && st.id != s.id {
		return nil
	}
	if err == nil {
		err = unix.Unlink(s.path)
	}
	if err != nil && err != unix.ENOENT {
		return &Error{"remove", s.path, err}
	}
	return nil
}
