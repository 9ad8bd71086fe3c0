//go:build unix

package shm

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func mustCreateFile(t *testing.T, path string, size int) *Segment {
	t.Helper()
	s, err := CreateFile(path, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIfOpen(t, s) })
	return s
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestCreateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	for _, umask := range []int{0, 0o022, 0o277} {
		old := unix.Umask(umask)
		s, err := CreateFile(path, 70000)
		unix.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 || info.Size() != 70000 {
			t.Errorf("umask %03o: mode %v, size %d", umask, info.Mode(), info.Size())
		}
		if s.Size() != 70000 || !closeOnExec(t, s.Fd()) {
			t.Errorf("umask %03o: size %d, close-on-exec %v", umask, s.Size(), closeOnExec(t, s.Fd()))
		}
		if !bytes.Equal(s.Bytes(), make([]byte, 70000)) {
			t.Error("not all bytes are zero")
		}
		closeIfOpen(t, s)
	}
}

// A file that a dead master left goes away. One that is in use stays, until it
// is given up: then a mapping of it does not change.
func TestCreateFileReplacesStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	dead, err := CreateFile(path, 50)
	if err != nil {
		t.Fatal(err)
	}
	heir := dup(t, dead)
	closeIfOpen(t, dead)
	for range 2 {
		if s, err := CreateFile(path, 100); s != nil || !errors.Is(err, ErrInUse) {
			t.Fatalf("while an heir has it: %v, %v", s, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 50 {
		t.Fatalf("what was refused is not there any more: %v, %v", info, err)
	}
	unix.Close(heir)
	old := mustCreateFile(t, path, 100)
	old.Bytes()[0] = 9
	if err := old.Remove(); err != nil {
		t.Fatal(err)
	}
	s := mustCreateFile(t, path, 200)
	if s.Bytes()[0] != 0 || s.Size() != 200 {
		t.Errorf("new segment: first byte %d, size %d", s.Bytes()[0], s.Size())
	}
	s.Bytes()[0] = 5
	if old.Bytes()[0] != 9 {
		t.Errorf("the old mapping changed to %d", old.Bytes()[0])
	}
}

// Of many that come at once one has the file.
func TestCreateFileOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	write(t, path, "stale", 0o600)
	made := make(chan *Segment, 16)
	for range cap(made) {
		go func() {
			s, err := CreateFile(path, 64)
			if s == nil && !errors.Is(err, ErrInUse) && !errors.Is(err, fs.ErrExist) {
				t.Errorf("got %v", err)
			}
			made <- s
		}()
	}
	var got []*Segment
	for range cap(made) {
		if s := <-made; s != nil {
			got = append(got, s)
			defer closeIfOpen(t, s)
		}
	}
	info, err := os.Stat(path)
	if err != nil || len(got) > 1 {
		t.Fatalf("%d have the file: %v", len(got), err)
	}
	if len(got) == 1 && (info.Size() != 64 || info.Mode() != 0o600) {
		t.Errorf("%v", info)
	}
}

func TestCreateFileRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir, path string)
		want error
	}{
		{"symbolic link to a file", func(t *testing.T, dir, path string) {
			write(t, filepath.Join(dir, "precious"), "keep me", 0o644)
			symlink(t, filepath.Join(dir, "precious"), path)
		}, ErrSymlink},
		{"symbolic link to nothing", func(t *testing.T, dir, path string) {
			symlink(t, filepath.Join(dir, "precious"), path)
		}, ErrSymlink},
		{"symbolic link to itself", func(t *testing.T, _, path string) { symlink(t, path, path) }, ErrSymlink},
		{"directory", func(t *testing.T, _, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, ErrType},
		{"FIFO", func(t *testing.T, _, path string) { fifo(t, path) }, ErrType},
		{"socket", func(t *testing.T, _, path string) { socket(t, path) }, ErrType},
		{"another user's", func(t *testing.T, _, path string) {
			write(t, path, "theirs", 0o600)
			giveAway(t, path)
		}, ErrOwner},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := shortDir(t)
			path := filepath.Join(dir, "board")
			tt.make(t, dir, path)
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := CreateFile(path, 64)
			if s != nil || !errors.Is(err, tt.want) {
				t.Fatalf("CreateFile = %v, %v; want nil, %v", s, err, tt.want)
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) {
				t.Errorf("what was refused is not there any more: %v", err)
			}
			precious := filepath.Join(dir, "precious")
			switch text, err := os.ReadFile(precious); {
			case tt.name == "symbolic link to a file":
				if string(text) != "keep me" {
					t.Errorf("the target holds %q", text)
				}
			case !errors.Is(err, fs.ErrNotExist):
				t.Errorf("the target came into being: %q, %v", text, err)
			}
		})
	}
}

// Somebody who may write to the directory puts links in the way all the time:
// sometimes the file is made, sometimes not, but never through a link.
func TestCreateFileSymlinkRace(t *testing.T) {
	dir := t.TempDir()
	path, precious := filepath.Join(dir, "board"), filepath.Join(dir, "precious")
	write(t, precious, "keep me", 0o644)
	stopC, doneC := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(doneC)
		trap := filepath.Join(dir, "trap")
		for {
			select {
			case <-stopC:
				return
			default:
			}
			os.Symlink(precious, trap)
			os.Rename(trap, path)
		}
	}()
	for range 300 {
		s, err := CreateFile(path, 64)
		if err == nil {
			s.Bytes()[0] = 'X'
			closeIfOpen(t, s)
		}
		os.Remove(path)
	}
	close(stopC)
	<-doneC
	if text, err := os.ReadFile(precious); err != nil || string(text) != "keep me" {
		t.Errorf("the target holds %q, %v", text, err)
	}
	if info, err := os.Stat(precious); err != nil || info.Mode() != 0o644 {
		t.Errorf("the target's mode is %v, %v", info.Mode(), err)
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	w := mustCreateFile(t, path, 9000)
	w.Bytes()[8999] = 77
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIfOpen(t, r)
	if r.Size() != 9000 || r.Bytes()[8999] != 77 || !closeOnExec(t, r.Fd()) {
		t.Errorf("size %d, last byte %d, close-on-exec %v", r.Size(), r.Bytes()[8999], closeOnExec(t, r.Fd()))
	}
	w.Bytes()[3] = 78
	if r.Bytes()[3] != 78 {
		t.Error("a later write is not seen")
	}
	if _, err := unix.Write(int(r.Fd()), []byte{1}); err != unix.EBADF {
		t.Errorf("the descriptor can be written to: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir, path string)
		want error
	}{
		{"nothing", func(*testing.T, string, string) {}, fs.ErrNotExist},
		{"symbolic link", func(t *testing.T, dir, path string) {
			write(t, filepath.Join(dir, "real"), "12345678", 0o600)
			symlink(t, filepath.Join(dir, "real"), path)
		}, ErrSymlink},
		{"directory", func(t *testing.T, _, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, ErrType},
		{"FIFO", func(t *testing.T, _, path string) { fifo(t, path) }, ErrType},
		{"device", func(t *testing.T, dir, path string) {}, ErrType},
		{"empty", func(t *testing.T, _, path string) { write(t, path, "", 0o600) }, ErrResized},
		{"writable by the group", func(t *testing.T, _, path string) { write(t, path, "12345678", 0o660) }, ErrMode},
		{"writable by all", func(t *testing.T, _, path string) { write(t, path, "12345678", 0o602) }, ErrMode},
		{"two names", func(t *testing.T, dir, path string) {
			write(t, path, "12345678", 0o600)
			if err := os.Link(path, filepath.Join(dir, "other")); err != nil {
				t.Skip(err)
			}
		}, ErrLinks},
		{"another user's", func(t *testing.T, _, path string) {
			write(t, path, "12345678", 0o644)
			giveAway(t, path)
		}, ErrOwner},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := shortDir(t)
			path := filepath.Join(dir, "board")
			tt.make(t, dir, path)
			if tt.name == "device" {
				path = os.DevNull
			}
			s, err := Open(path)
			if s != nil || !errors.Is(err, tt.want) {
				t.Fatalf("Open = %v, %v; want nil, %v", s, err, tt.want)
			}
		})
	}
}

// A file that somebody cut is refused before a byte of it is mapped.
func TestTruncatedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	s := mustCreateFile(t, path, 8192)
	fd := uintptr(dup(t, s))
	defer unix.Close(int(fd))
	for _, size := range []int64{8191, 4096, 1, 0} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if a, err := Attach(fd, 8192); a != nil || !errors.Is(err, ErrResized) {
			t.Errorf("%d bytes: Attach = %v, %v", size, a, err)
		}
		r, err := Open(path)
		switch {
		case size == 0:
			if r != nil || !errors.Is(err, ErrResized) {
				t.Errorf("%d bytes: Open = %v, %v", size, r, err)
			}
		case err != nil:
			t.Errorf("%d bytes: Open: %v", size, err)
		default:
			// As long as it is now, and all of it can be read.
			if r.Size() != int(size) || r.Bytes()[size-1] != 0 {
				t.Errorf("%d bytes: Open maps %d", size, r.Size())
			}
			closeIfOpen(t, r)
		}
	}
}

func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	exists := func() bool { _, err := os.Lstat(path); return err == nil }

	s := mustCreateFile(t, path, 64)
	if err := s.Remove(); err != nil || exists() {
		t.Errorf("Remove: %v, file there: %v", err, exists())
	}
	s.Bytes()[0] = 1 // the mapping stays
	if err := s.Remove(); err != nil {
		t.Errorf("second Remove: %v", err)
	}

	old := mustCreateFile(t, path, 64)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	young := mustCreateFile(t, path, 64)
	if err := old.Remove(); err != nil || !exists() {
		t.Errorf("the older segment removed the younger one's file (%v)", err)
	}
	closeIfOpen(t, young)
	if err := young.Remove(); err != nil || exists() {
		t.Errorf("Remove after Close: %v, file there: %v", err, exists())
	}
}

// shortDir is a temporary directory whose name leaves room for that of a
// socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "shm")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func fifo(t *testing.T, path string) {
	t.Helper()
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func socket(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

func giveAway(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
}

// Make and Discard are the ways in and out for a path that may be "".
func TestDiscard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made")
	for _, p := range []string{"", path} {
		s, err := Create("name", 4096)
		if p != "" {
			s, err = CreateFile(p, 4096)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Bytes()) != 4096 {
			t.Errorf("%q: %d bytes", p, len(s.Bytes()))
		}
		if _, err := os.Stat(path); (err == nil) != (p != "") {
			t.Errorf("%q: %v", p, err)
		}
		s.Discard()
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%q: the file is there after its end: %v", p, err)
		}
	}
}
