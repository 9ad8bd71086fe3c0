//go:build unix

package shm

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Segment is shared memory mapped into this process. The zero value is a
// closed segment. Bytes, Fd and Size may be called concurrently; Close,
// Publish and Remove belong to the owner alone.
type Segment struct {
	mem  []byte
	fd   int // valid while mem is not nil
	name string
	path string // with CreateFile, MakeBeside and Open; else empty
	id   fileID

	// Between MakeBeside and Publish: what path shall become, and the file that
	// may be there, zero if none may.
	final    string
	replaces fileID
}

// fileID tells one file from another that came to bear its name.
type fileID struct{ dev, ino uint64 }

// Create makes an anonymous segment of size bytes, all zero, mapped for
// reading and writing; size is not rounded. name is only for people: it shows
// in /proc on Linux and in errors. The descriptor is close-on-exec and, on
// Linux and FreeBSD, sealed: nobody who inherits it can change its size. It
// fails when size is not positive or the kernel refuses.
func Create(name string, size int) (*Segment, error) {
	if size <= 0 {
		return nil, &Error{"create", name, ErrSize}
	}
	fd, err := anonymous(name, size)
	if err != nil {
		return nil, &Error{"create", name, err}
	}
	s, err := newSegment(fd, size, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		unix.Close(fd)
		return nil, &Error{"create", name, err}
	}
	s.name = name
	return s, nil
}

// Attach maps the object behind an inherited descriptor for reading and
// writing. The object must have exactly size bytes, which is looked at before
// it is mapped. The owner is not looked at: a child of a privileged master
// inherits what root made. The descriptor gets close-on-exec and belongs to
// the segment; on an error it stays the caller's.
func Attach(fd uintptr, size int) (*Segment, error) {
	name := "descriptor " + strconv.FormatUint(uint64(fd), 10)
	if size <= 0 {
		return nil, &Error{"attach", name, ErrSize}
	}
	st, err := stat(int(fd))
	if err != nil {
		return nil, &Error{"attach", name, err}
	}
	if !st.regular() {
		return nil, &Error{"attach", name, ErrType}
	}
	if st.size != int64(size) {
		return nil, &Error{"attach", name, fmt.Errorf("%w: %d bytes, not %d", ErrResized, st.size, size)}
	}
	if _, err := unix.FcntlInt(fd, unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return nil, &Error{"attach", name, err}
	}
	s, err := newSegment(int(fd), size, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return nil, &Error{"attach", name, err}
	}
	s.name = name
	return s, nil
}

func newSegment(fd, size, prot int) (*Segment, error) {
	mem, err := unix.Mmap(fd, 0, size, prot, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	return &Segment{mem: mem, fd: fd}, nil
}

// Bytes is the memory, nil once the segment is closed. Its capacity is its
// length. After [Open] it may only be read: a write kills the process.
func (s *Segment) Bytes() []byte { return s.mem }

// Size is the number of bytes, 0 once the segment is closed.
func (s *Segment) Size() int { return len(s.mem) }

// Fd is the descriptor, to be handed to a child; it stays the segment's. Once
// the segment is closed it is the largest uintptr, which no call accepts.
func (s *Segment) Fd() uintptr {
	if s.mem == nil {
		return ^uintptr(0)
	}
	return uintptr(s.fd)
}

// Close unmaps the memory and closes the descriptor. Nothing in this process
// may use the bytes, or anything made from them, any more: touching them kills
// the process. The file of a named segment stays; see [Segment.Remove].
func (s *Segment) Close() error {
	if s.mem == nil {
		return &Error{"close", s.name, ErrClosed}
	}
	err := unix.Munmap(s.mem)
	s.mem = nil
	if e := unix.Close(s.fd); err == nil {
		err = e
	}
	s.fd = -1
	if err != nil {
		return &Error{"close", s.name, err}
	}
	return nil
}
