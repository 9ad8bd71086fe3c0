//go:build unix

package shm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// mustCreate returns an anonymous segment that is closed at the end.
func mustCreate(t *testing.T, size int) *Segment {
	t.Helper()
	s, err := Create("test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIfOpen(t, s) })
	return s
}

func closeIfOpen(t *testing.T, s *Segment) {
	if s.Bytes() == nil {
		return
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// dup is a second descriptor of the segment's object, as a child inherits one.
func dup(t *testing.T, s *Segment) int {
	t.Helper()
	fd, err := unix.FcntlInt(s.Fd(), unix.F_DUPFD, 3)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

func closeOnExec(t *testing.T, fd uintptr) bool {
	t.Helper()
	flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.FD_CLOEXEC != 0
}

func TestCreate(t *testing.T) {
	page := os.Getpagesize()
	for _, size := range []int{1, 8, page - 1, page, page + 1, 3*page + 17, 1 << 20} {
		s := mustCreate(t, size)
		if s.Size() != size || len(s.Bytes()) != size || cap(s.Bytes()) != size {
			t.Errorf("size %d: Size %d, len %d, cap %d", size, s.Size(), len(s.Bytes()), cap(s.Bytes()))
		}
		for i, b := range s.Bytes() {
			if b != 0 {
				t.Fatalf("size %d: byte %d is %d", size, i, b)
			}
		}
		s.Bytes()[0], s.Bytes()[size-1] = 1, 2
		if !closeOnExec(t, s.Fd()) {
			t.Errorf("size %d: descriptor would be inherited by everybody", size)
		}
		st, err := stat(int(s.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		if st.size != int64(size) || !st.regular() {
			t.Errorf("size %d: object has %d bytes, mode %o", size, st.size, st.mode)
		}
	}
}

func TestCreateNames(t *testing.T) {
	for _, name := range []string{"", "jkd scoreboard", "with/slash", "nul\x00inside", strings.Repeat("x", 1000)} {
		s, err := Create(name, 64)
		if err != nil {
			t.Errorf("%.20q: %v", name, err)
			continue
		}
		closeIfOpen(t, s)
	}
}

// Segments are apart from each other.
func TestCreateTwice(t *testing.T) {
	a, b := mustCreate(t, 64), mustCreate(t, 64)
	a.Bytes()[5] = 7
	if b.Bytes()[5] != 0 {
		t.Error("two segments share memory")
	}
}

func TestAttachShares(t *testing.T) {
	a := mustCreate(t, 5000)
	fd := dup(t, a)
	if closeOnExec(t, uintptr(fd)) {
		t.Fatal("the duplicate has close-on-exec already")
	}
	b, err := Attach(uintptr(fd), 5000)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIfOpen(t, b)
	if b.Fd() != uintptr(fd) || !closeOnExec(t, b.Fd()) {
		t.Errorf("Fd %d, close-on-exec %v; want %d, true", b.Fd(), closeOnExec(t, b.Fd()), fd)
	}
	a.Bytes()[4999] = 42
	if b.Bytes()[4999] != 42 {
		t.Error("a's write is not seen by b")
	}
	b.Bytes()[0] = 43
	if a.Bytes()[0] != 43 {
		t.Error("b's write is not seen by a")
	}
	// The memory lives as long as anybody maps it.
	closeIfOpen(t, a)
	if b.Bytes()[4999] != 42 {
		t.Error("memory lost with its creator")
	}
}

func TestAttachRefuses(t *testing.T) {
	s := mustCreate(t, 4096)
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	closed := dup(t, s)
	unix.Close(closed)

	tests := []struct {
		name string
		fd   uintptr
		size int
		want error
	}{
		{"no bytes", s.Fd(), 0, ErrSize},
		{"negative", s.Fd(), -1, ErrSize},
		{"larger", s.Fd(), 4097, ErrResized},
		{"larger by pages", s.Fd(), 1 << 20, ErrResized},
		{"smaller", s.Fd(), 4095, ErrResized},
		{"directory", dir.Fd(), 4096, ErrType},
		{"pipe", r.Fd(), 4096, ErrType},
		{"closed", uintptr(closed), 4096, unix.EBADF},
		{"none", ^uintptr(0), 4096, unix.EBADF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Attach(tt.fd, tt.size)
			if got != nil || !errors.Is(err, tt.want) {
				t.Fatalf("Attach = %v, %v; want nil, %v", got, err, tt.want)
			}
			var e *Error
			if !errors.As(err, &e) || e.Op != "attach" {
				t.Errorf("error is %#v", err)
			}
		})
	}
	// The descriptors stayed the caller's.
	if _, err := stat(int(s.Fd())); err != nil {
		t.Errorf("the refused descriptor was closed: %v", err)
	}
}

func TestClose(t *testing.T) {
	s := mustCreate(t, 100)
	fd := int(s.Fd())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.Bytes() != nil || s.Size() != 0 || s.Fd() != ^uintptr(0) {
		t.Errorf("closed segment has %d bytes, descriptor %d", s.Size(), s.Fd())
	}
	if _, err := stat(fd); err != unix.EBADF {
		t.Errorf("descriptor after Close: %v", err)
	}
	if err := s.Close(); !errors.Is(err, ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if err := s.Remove(); err != nil {
		t.Errorf("Remove of an anonymous segment: %v", err)
	}
	var zero Segment
	if zero.Bytes() != nil || zero.Fd() != ^uintptr(0) || !errors.Is(zero.Close(), ErrClosed) {
		t.Error("the zero Segment is not a closed one")
	}
}

func TestErrorTexts(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "no", "board")
	tests := []struct {
		do   func() (*Segment, error)
		want string
	}{
		{func() (*Segment, error) { return Create("board", 0) },
			"shm: create board: size is not positive"},
		{func() (*Segment, error) { return CreateFile(missing, 64) },
			"shm: create " + missing + ": no such file or directory"},
		{func() (*Segment, error) { return CreateFile(missing, -1) },
			"shm: create " + missing + ": size is not positive"},
		{func() (*Segment, error) { return CreateFile(dir, 64) },
			"shm: create " + dir + ": is not a regular file"},
		{func() (*Segment, error) { return Open(missing) },
			"shm: open " + missing + ": no such file or directory"},
		{func() (*Segment, error) { return Attach(^uintptr(0)>>1, 64) },
			"shm: attach descriptor 9223372036854775807: bad file descriptor"},
	}
	for _, tt := range tests {
		s, err := tt.do()
		if s != nil || err == nil || err.Error() != tt.want {
			t.Errorf("got %v, %v\nwant %s", s, err, tt.want)
		}
	}
}
