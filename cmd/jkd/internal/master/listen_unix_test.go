//go:build unix

package master

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jkd/conf"
	"jkd/mpm/sock"
)

// TestUnixListeners: what a generation makes, publishes and removes, and what it
// takes over and leaves to the one before.
func TestUnixListeners(t *testing.T) {
	// A short name: a test's own directory may be longer than a socket's path.
	dir, err := os.MkdirTemp("", "jkd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	names := func() string {
		all, _ := filepath.Glob(filepath.Join(dir, "*"))
		for i := range all {
			all[i] = filepath.Base(all[i])
		}
		return strings.Join(all, " ")
	}
	eps := func(mode os.FileMode) []endpoint {
		eps, err := endpoints(nil, []conf.ListenUnix{{Path: path, Mode: mode, UID: -1, GID: -1}})
		if err != nil {
			t.Fatal(err)
		}
		return eps
	}
	open := func(h *Heritage, mode os.FileMode) []listener {
		t.Helper()
		ls, err := openListeners(h, eps(mode), 5)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeListeners(ls) })
		return ls
	}
	publish := func(ls []listener) {
		t.Helper()
		if err := publishUnix(ls); err != nil {
			t.Fatal(err)
		}
	}
	// heir is what the next generation inherits, as if over the socket.
	heir := func(ls []listener) *Heritage {
		fd, err := copyFD(ls[0].fd)
		if err != nil {
			t.Fatal(err)
		}
		f := ls[0].file
		return &Heritage{files: map[string]int{ls[0].key: fd}, offer: offer{Sockets: []sock.UnixFile{{Path: f.Path, Dev: f.Dev, Ino: f.Ino}}}}
	}

	// A start that fails leaves nothing.
	ls := open(nil, 0o600)
	if got := names(); got != "s.new" {
		t.Errorf("before it is published there is %q", got)
	}
	removeUnix(ls)
	if got := names(); got != "" {
		t.Errorf("after a failed start there is %q", got)
	}

	ls = open(nil, 0o600)
	publish(ls)
	if got := names(); got != "s" || ls[0].addr.String() != path || ls[0].key != "listener unix "+path {
		t.Errorf("there is %q; %v %s", got, ls[0].addr, ls[0].key)
	}
	if _, err := openListeners(nil, eps(0o600), 5); !errors.Is(err, sock.ErrUnixInUse) || !strings.HasPrefix(err.Error(), "Listen unix:"+path+" mode=0600: ") {
		t.Errorf("a second server: %v", err)
	}

	// A successor that fails does not harm it, one that takes over changes it.
	next := open(heir(ls), 0o640)
	removeUnix(next)
	shutListeners(next)
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("after a successor that failed: %v", err)
	}
	c.Close()
	next = open(heir(ls), 0o640)
	publish(next)
	share(next, false)
	share(ls, true)
	removeUnix(ls)
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o640 || !next[0].file.There() || next[0].file.Ino != ls[0].file.Ino {
		t.Errorf("after the change of generations: %v, %v", info, err)
	}

	// Somebody has put another socket there; then nothing is there.
	thief, err := net.Listen("unix", filepath.Join(dir, "thief"))
	if err != nil {
		t.Fatal(err)
	}
	defer thief.Close()
	if err := os.Rename(filepath.Join(dir, "thief"), path); err != nil {
		t.Fatal(err)
	}
	h := heir(next)
	defer h.giveBack()
	if _, err := openListeners(h, eps(0o640), 5); !errors.Is(err, sock.ErrUnixInUse) {
		t.Errorf("over the socket of somebody else: %v", err)
	}
	removeUnix(next)
	if got := names(); got != "s" {
		t.Errorf("the socket of somebody else is gone: %q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	anew := open(h, 0o640)
	publish(anew)
	if !anew[0].file.There() || anew[0].shared || len(h.files) != 1 {
		t.Errorf("made anew: %+v, inherited %v", anew[0], h.files)
	}
	removeUnix(anew)
	if got := names(); got != "" {
		t.Errorf("left behind: %q", got)
	}
}

// TestWithout: what a successor has no use for, between other things that it says.
func TestWithout(t *testing.T) {
	pair := pairOf(t)
	fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	h := &Heritage{up: pair[1], room: maxReport, files: map[string]int{listenerKey("unix", "/a b"): fd}}
	defer h.giveBack()
	_, _ = h.Write([]byte("something is odd\n"))
	h.announce()
	said := drain(pair[0])
	for key, want := range map[string]bool{
		listenerKey("unix", "/a b"): true, listenerKey("unix", "/a"): false, listenerKey("tcp4", "127.0.0.1:80"): false,
	} {
		if without(said, key) != want {
			t.Errorf("%s: %t in %q", key, !want, said)
		}
	}
	if readyPID(said) != os.Getpid() || report(said) != "something is odd" {
		t.Errorf("%q: ready %d, report %q", said, readyPID(said), report(said))
	}
}
