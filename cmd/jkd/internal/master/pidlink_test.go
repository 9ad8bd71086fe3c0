//go:build unix

package master

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// TestPidFileLinks: a link or a pipe in the place of the pid file is not read,
// and a new file takes its place without touching what a link leads to.
func TestPidFileLinks(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte(strconv.Itoa(os.Getppid())+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"link":          func(path string) error { return os.Symlink(other, path) },
		"dangling link": func(path string) error { return os.Symlink(filepath.Join(dir, "none"), path) },
		"pipe":          func(path string) error { return syscall.Mkfifo(path, 0o644) },
	} {
		path := filepath.Join(dir, name)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		if pid, ok := readPid(path); ok {
			t.Errorf("%s: names process %d", name, pid)
		}
		p, err := preparePidFile(path, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := p.publish(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode() != 0o644 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if pid, ok := readPid(path); !ok || pid != os.Getpid() {
			t.Errorf("%s: names %d", name, pid)
		}
		p.remove()
	}
	if b, err := os.ReadFile(other); err != nil || string(b) != strconv.Itoa(os.Getppid())+"\n" {
		t.Errorf("what the link leads to: %q, %v", b, err)
	}
}
