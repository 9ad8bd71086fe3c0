//go:build unix

package shm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// inherited is what a successor gets of a segment.
func inherited(t *testing.T, s *Segment) *Segment {
	t.Helper()
	fd := dup(t, s)
	old, err := AttachInherited(uintptr(fd))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIfOpen(t, old) })
	return old
}

func mustMakeBeside(t *testing.T, path string, size int, old *Segment) *Segment {
	t.Helper()
	s, err := MakeBeside("name", path, size, old)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIfOpen(t, s) })
	return s
}

// first is the first byte of the file, -1 if there is none.
func first(t *testing.T, path string) int {
	t.Helper()
	s, err := Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1
	}
	if err != nil {
		t.Fatal(err)
	}
	defer closeIfOpen(t, s)
	return int(s.Bytes()[0])
}

// Three generations, one after the other, each while the one before it still has
// its file.
func TestMakeBeside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "board")
	s := mustCreateFile(t, path, 64)
	s.Bytes()[0] = 1
	for generation := 2; generation <= 4; generation++ {
		old := inherited(t, s)
		next := mustMakeBeside(t, path, 64*generation, old)
		next.Bytes()[0] = byte(generation)
		if got := first(t, path); got != generation-1 {
			t.Errorf("before Publish: %d", got)
		}
		if info, err := os.Lstat(path + besideSuffix); err != nil || info.Mode() != 0o600 || info.Size() != int64(64*generation) {
			t.Errorf("%v, %v", info, err)
		}
		for range 2 {
			if err := next.Publish(); err != nil {
				t.Fatal(err)
			}
			if got := first(t, path); got != generation {
				t.Errorf("after Publish: %d", got)
			}
		}
		// The older one ends: it takes nothing away that is not its own.
		s.Discard()
		closeIfOpen(t, old)
		if got := first(t, path); got != generation {
			t.Errorf("after the older one's end: %d", got)
		}
		if other, err := CreateFile(path, 64); other != nil || !errors.Is(err, ErrInUse) {
			t.Errorf("a stranger: %v, %v", other, err)
		}
		s = next
	}
	s.Discard()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A successor that fails takes away what it made and nothing else; what one left
// that was killed goes with the next one.
func TestMakeBesideFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "board")
	s := mustCreateFile(t, path, 64)
	s.Bytes()[0] = 1
	old := inherited(t, s)
	closeIfOpen(t, mustMakeBeside(t, path, 32, old)) // killed
	lost := mustMakeBeside(t, path, 64, old)         // killed, but its children live
	failed := mustMakeBeside(t, path, 64, old)
	if err := lost.Publish(); !errors.Is(err, ErrInUse) {
		t.Errorf("one whose place was taken: %v", err)
	}
	lost.Discard()
	if !names(path+besideSuffix, failed.fd) {
		t.Error("it has taken the other's file away")
	}
	failed.Discard()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || first(t, path) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	next := mustMakeBeside(t, path, 64, old)
	next.Bytes()[0] = 2
	if err := os.Remove(path + besideSuffix); err != nil {
		t.Fatal(err)
	}
	write(t, path+besideSuffix, "another file", 0o600)
	if err := next.Publish(); !errors.Is(err, ErrInUse) || first(t, path) != 1 {
		t.Errorf("with another file in its place: %v, %d", err, first(t, path))
	}
}

// What is at the path: each is either replaced or stays as it is.
func TestPublish(t *testing.T) {
	type scene struct {
		path string
		old  *Segment // inherited
	}
	tests := []struct {
		name  string
		early bool // before MakeBeside, which refuses it as well
		make  func(t *testing.T, s *scene)
		want  error
	}{
		{"nothing", false, func(*testing.T, *scene) {}, nil},
		{"stale", true, func(t *testing.T, s *scene) { write(t, s.path, "stale", 0o644) }, nil},
		{"stale since then", false, func(t *testing.T, s *scene) { write(t, s.path, "stale", 0o644) }, nil},
		{"inherited", true, func(t *testing.T, s *scene) { s.old = inherited(t, mustCreateFile(t, s.path, 64)) }, nil},
		{"inherited, removed since then", true, func(t *testing.T, s *scene) {
			o := mustCreateFile(t, s.path, 64)
			s.old = inherited(t, o)
			if err := o.Remove(); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"inherited, anonymous", true, func(t *testing.T, s *scene) { s.old = inherited(t, mustCreate(t, 64)) }, nil},
		{"inherited, of another path", true, func(t *testing.T, s *scene) {
			s.old = inherited(t, mustCreateFile(t, s.path+".before", 64))
		}, nil},
		{"another master's", true, func(t *testing.T, s *scene) {
			s.old = inherited(t, mustCreateFile(t, s.path+".before", 64))
			mustCreateFile(t, s.path, 64)
		}, ErrInUse},
		{"another master's since then", false, func(t *testing.T, s *scene) { mustCreateFile(t, s.path, 64) }, ErrInUse},
		{"symbolic link", true, func(t *testing.T, s *scene) { symlink(t, s.path+".real", s.path) }, ErrSymlink},
		{"symbolic link since then", false, func(t *testing.T, s *scene) { symlink(t, s.path+".real", s.path) }, ErrSymlink},
		{"directory", true, func(t *testing.T, s *scene) {
			if err := os.Mkdir(s.path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, ErrType},
		{"another user's", true, func(t *testing.T, s *scene) {
			write(t, s.path, "theirs", 0o600)
			giveAway(t, s.path)
		}, ErrOwner},
		{"another user's since then", false, func(t *testing.T, s *scene) {
			write(t, s.path, "theirs", 0o600)
			giveAway(t, s.path)
		}, ErrOwner},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := scene{path: filepath.Join(shortDir(t), "board")}
			if tt.early {
				tt.make(t, &s)
			}
			next, err := MakeBeside("name", s.path, 100, s.old)
			if tt.early && tt.want != nil {
				if next != nil || !errors.Is(err, tt.want) {
					t.Fatalf("MakeBeside: %v, %v; want %v", next, err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer closeIfOpen(t, next)
			if !tt.early {
				tt.make(t, &s)
			}
			before, _ := os.Lstat(s.path)
			if err := next.Publish(); !errors.Is(err, tt.want) {
				t.Fatalf("Publish: %v; want %v", err, tt.want)
			}
			after, err := os.Lstat(s.path)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want != nil {
				if !os.SameFile(before, after) {
					t.Error("what was refused is not there any more")
				}
				next.Discard()
				if _, err := os.Lstat(s.path); err != nil {
					t.Error("Discard took away what is not the segment's")
				}
				return
			}
			var st unix.Stat_t
			if err := unix.Lstat(s.path, &st); err != nil || st.Nlink != 1 || st.Size != 100 {
				t.Errorf("%+v, %v", st, err)
			}
			if _, err := os.Lstat(s.path + besideSuffix); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the temporary name: %v", err)
			}
		})
	}
}

// Whoever opens the path while generations replace each other finds a file.
func TestPublishReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	s := mustCreateFile(t, path, 64)
	stopC, doneC := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(doneC)
		for {
			select {
			case <-stopC:
				return
			default:
			}
			r, err := Open(path)
			// Between open and stat the file may lose its name.
			if err != nil && !errors.Is(err, ErrLinks) {
				t.Errorf("a reader: %v", err)
				return
			}
			if err == nil {
				closeIfOpen(t, r)
			}
		}
	}()
	for range 200 {
		old := inherited(t, s)
		next := mustMakeBeside(t, path, 64, old)
		if err := next.Publish(); err != nil {
			t.Fatal(err)
		}
		closeIfOpen(t, old)
		s.Discard()
		s = next
	}
	close(stopC)
	<-doneC
}

func TestMakeBesideAnonymous(t *testing.T) {
	s := mustMakeBeside(t, "", 64, nil)
	if err := s.Publish(); err != nil {
		t.Error(err)
	}
	var zero Segment
	if err := zero.Publish(); err != nil {
		t.Error(err)
	}
}
