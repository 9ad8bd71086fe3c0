//go:build unix

package shm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAttachInherited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	for name, s := range map[string]*Segment{"anonymous": mustCreate(t, 5000), "file": mustCreateFile(t, path, 5000)} {
		s.Bytes()[4999] = 7
		old := inherited(t, s)
		if old.Size() != 5000 || old.Bytes()[4999] != 7 || !closeOnExec(t, old.Fd()) {
			t.Errorf("%s: %d bytes, %d, close-on-exec %v", name, old.Size(), old.Bytes()[4999], closeOnExec(t, old.Fd()))
		}
		s.Bytes()[0] = 8
		if old.Bytes()[0] != 8 {
			t.Errorf("%s: a later write is not seen", name)
		}
		old.Discard()
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("Discard of what was inherited took the file away: %v", err)
	}
}

func TestAttachInheritedRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		open func(t *testing.T) int
		want error
	}{
		{"nothing", func(*testing.T) int { return 1 << 20 }, unix.EBADF},
		{"empty", func(t *testing.T) int { return open(t, filepath.Join(t.TempDir(), "f"), 0) }, ErrSize},
		{"too large", func(t *testing.T) int { return open(t, filepath.Join(t.TempDir(), "f"), MaxInherited+1) }, ErrResized},
		{"device", func(t *testing.T) int { return open(t, os.DevNull, -1) }, ErrType},
		{"directory", func(t *testing.T) int {
			fd, err := unix.Open(t.TempDir(), unix.O_RDONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unix.Close(fd) })
			return fd
		}, ErrType},
		{"pipe", func(t *testing.T) int {
			var p [2]int
			if err := unix.Pipe(p[:]); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unix.Close(p[0]); unix.Close(p[1]) })
			return p[0]
		}, ErrType},
		{"write only", func(t *testing.T) int {
			path := filepath.Join(t.TempDir(), "f")
			write(t, path, "12345678", 0o600)
			fd, err := unix.Open(path, unix.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { unix.Close(fd) })
			return fd
		}, fs.ErrPermission},
	} {
		s, err := AttachInherited(uintptr(tt.open(t)))
		if s != nil || !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v; want %v", tt.name, s, err, tt.want)
		}
	}
}

// open opens a file, a new one of size bytes (a hole) unless size is -1.
func open(t *testing.T, path string, size int64) int {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if size >= 0 {
		if err := unix.Ftruncate(fd, size); err != nil {
			t.Fatal(err)
		}
	}
	return fd
}

// A child of the other master makes the file shorter while it is read.
func TestGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	old := inherited(t, mustCreateFile(t, path, 1<<20))
	sum := 0
	look := func() {
		for _, b := range old.Bytes() {
			sum += int(b)
		}
	}
	if err := old.Guard(look); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 5); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := old.Guard(look); !errors.Is(err, ErrTruncated) {
			t.Errorf("got %v", err)
		}
	}
	if debug.SetPanicOnFault(false) {
		t.Error("faults are still panics")
	}
	// What has nothing to do with the memory goes through.
	for name, f := range map[string]func(){
		"panic": func() { panic("mine") },
		"nil":   func() { var p *int; sum += *p },
		"index": func() { sum += int(old.Bytes()[len(old.Bytes())+sum]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: did not go through", name)
				}
			}()
			err := old.Guard(f)
			t.Errorf("%s: %v", name, err)
		}()
	}
	runtime.KeepAlive(sum)
}
