//go:build unix

package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOpenLog(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("two"), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("unix", path("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, err := range []error{
		os.Link(path("two"), path("other name")), os.Symlink(path("one"), path("link")), syscall.Mkfifo(path("fifo"), 0o600), syscall.Mkfifo(path("read"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	reader, err := os.OpenFile(path("read"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()

	for name, want := range map[string]error{
		"two": errLogNames, "link": fs.ErrInvalid, "fifo": errLogKind, "read": errLogKind, "socket": errLogKind, ".": fs.ErrInvalid,
	} {
		f, err := openLog(path(name))
		if err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		} else if want != fs.ErrInvalid && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{path("one"), path("new/one"), os.DevNull} {
		for range 2 {
			f, err := openLog(name)
			if err != nil {
				t.Error(err)
				continue
			}
			if _, err := f.WriteString("line\n"); err != nil {
				t.Error(err)
			}
			f.Close()
		}
	}
	if text, err := os.ReadFile(path("one")); err != nil || string(text) != "line\nline\n" {
		t.Errorf("%q, %v", text, err)
	}
}
