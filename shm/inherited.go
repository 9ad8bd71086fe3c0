//go:build unix

package shm

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxInherited is the largest object that [AttachInherited] maps, in bytes.
const MaxInherited = 1 << 30

// AttachInherited maps the object behind a descriptor that another master has
// handed over, for reading only and in its whole length, which may be anything
// up to MaxInherited. The descriptor gets close-on-exec and belongs to the
// segment; on an error it stays the caller's. A file that was inherited counts
// as in use as long as the descriptor is open, and its name stays the other
// master's: Remove does nothing.
//
// The other master's children can write to the object, and a file they can make
// shorter: see [Segment.Guard].
func AttachInherited(fd uintptr) (*Segment, error) {
	name := "descriptor " + strconv.FormatUint(uint64(fd), 10)
	s, err := attachInherited(int(fd))
	if err != nil {
		return nil, &Error{"attach", name, err}
	}
	s.name = name
	return s, nil
}

func attachInherited(fd int) (*Segment, error) {
	st, err := stat(fd)
	if err != nil {
		return nil, err
	}
	switch {
	case !st.regular():
		return nil, ErrType
	case st.size <= 0:
		return nil, ErrSize
	case st.size > MaxInherited:
		return nil, fmt.Errorf("%w: %d bytes are more than %d", ErrResized, st.size, MaxInherited)
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return nil, err
	}
	s, err := newSegment(fd, int(st.size), unix.PROT_READ)
	if err != nil {
		return nil, err
	}
	s.id = st.id
	return s, nil
}

// Guard calls f, which reads the memory of the segment, and returns
// [ErrTruncated] if somebody has made the object shorter, so that not all of the
// memory is there: f has ended where it touched what is missing. Without Guard
// the process would end there. It holds for what f itself does, not for
// goroutines it starts. f must not hold locks while it reads.
func (s *Segment) Guard(f func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		cause := recover()
		if cause == nil {
			return
		}
		if e, ok := cause.(error); ok && s.missing(e) {
			err = &Error{"read", s.name, ErrTruncated}
			return
		}
		panic(cause)
	}()
	f()
	return nil
}

// missing tells whether e is a fault at an address of the segment.
func (s *Segment) missing(e error) bool {
	var fault interface{ Addr() uintptr }
	if len(s.mem) == 0 || !errors.As(e, &fault) {
		return false
	}
	begin := uintptr(unsafe.Pointer(&s.mem[0]))
	return fault.Addr() >= begin && fault.Addr()-begin < uintptr(len(s.mem))
}
