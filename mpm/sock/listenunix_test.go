//go:build unix

package sock

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestListenUnix(t *testing.T) {
	path := unixPath(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil { // what is there goes on until Publish
		t.Fatal(err)
	}
	before := unix.Umask(0o077)
	defer unix.Umask(before)
	ln, f, err := ListenUnix(path, 0o626, os.Geteuid(), os.Getegid())
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if mask := unix.Umask(0o077); mask != 0o077 {
		t.Errorf("the mask is %o afterwards", mask)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || f.There() {
		t.Errorf("before Publish: %v, %v, there: %t", info, err, f.There())
	}
	if err := f.Publish(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o626 || !f.There() {
		t.Errorf("after Publish: %v, %v, there: %t", info.Mode(), err, f.There())
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Errorf("there are %v", names)
	}
	// Another one that knows which file it is.
	other := UnixFile{Path: f.Path, Dev: f.Dev, Ino: f.Ino}
	if !other.There() {
		t.Error("another process does not find it")
	}
	if err := other.Publish(); err != nil {
		t.Errorf("what is published already: %v", err)
	}
	if err := other.Change(0o604, os.Geteuid(), -1); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o604 {
		t.Errorf("after Change: %v, %v", info.Mode(), err)
	}
	if err := (UnixFile{Path: path, Dev: f.Dev, Ino: f.Ino + 1}).Change(0o600, -1, -1); err == nil {
		t.Error("the file of somebody else was changed")
	}
	f.Remove()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || other.There() {
		t.Errorf("after Remove: %v", err)
	}

	// Removed before it was published, and not when it is another one's.
	ln2, f2, err := ListenUnix(path, 0o600, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer ln2.Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	f2.Remove()
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Errorf("there are %v", names)
	}
	if b, err := os.ReadFile(path); string(b) != "mine" {
		t.Errorf("the file of somebody else: %q, %v", b, err)
	}

	if _, _, err := ListenUnix(filepath.Join(path, "s"), 0o600, -1, -1); err == nil || !strings.HasSuffix(err.Error(), ": not a directory") {
		t.Errorf("below a file: %v", err)
	}
	if os.Geteuid() != 0 {
		if _, _, err := ListenUnix(path, 0o600, 0, -1); err == nil || err.Error() != "operation not permitted" {
			t.Errorf("for root: %v", err)
		}
		if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
			t.Errorf("there are %v", names)
		}
	}

	// No room for a longer name.
	long := filepath.Join(filepath.Dir(path), strings.Repeat("x", MaxUnixPath))[:MaxUnixPath]
	for range 2 { // the second one replaces the first
		ln, f, err := ListenUnix(long, 0o600, -1, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		if err := f.Publish(); err != nil || !f.There() {
			t.Errorf("long path: %v, there: %t", err, f.There())
		}
	}
}

func TestVacantUnix(t *testing.T) {
	path := unixPath(t)
	at := func(name string) string { return path + name }
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("living"), at("link")); err != nil {
		t.Fatal(err)
	}
	ours, f, err := ListenUnix(at("living"), 0o600, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if err := f.Publish(); err != nil {
		t.Fatal(err)
	}
	stale, g, err := ListenUnix(at("stale"), 0o600, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	stale.Close()
	if err := g.Publish(); err != nil {
		t.Fatal(err)
	}
	defer silentUnix(t, at("full"))()
	for range 64 {
		c, err := DialUnixBlocking(at("full"), DialOptions{Timeout: 1})
		if err != nil {
			break
		}
		defer c.Close()
	}
	datagram, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at("datagram"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer datagram.Close()
	const other = "there is something else of this name, which is not a socket"
	for _, tt := range []struct {
		name, want string
	}{
		{"none", ""},
		{"stale", ""},
		{"living", ErrUnixInUse.Error()},
		{"full", ErrUnixInUse.Error()},
		{"datagram", "protocol wrong type for socket"},
		{"file", other},
		{"link", other},
		{"file/s", "not a directory"},
	} {
		err := VacantUnix(at(tt.name))
		if err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	// What tells a full queue where that refuses connections.
	for name, want := range map[string]bool{"none": false, "stale": false, "living": true, "full": true, "datagram": false, "file": false} {
		if got := openUnix(at(name)); got != want {
			t.Errorf("%s is open: %t", name, got)
		}
	}
}
