//go:build unix

package master

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func pairOf(t *testing.T) (pair [2]int) {
	t.Helper()
	pair, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(pair[0]); syscall.Close(pair[1]) })
	return pair
}

// TestOffer: what one generation sends the next one has, each descriptor under
// its key, and close-on-exec.
func TestOffer(t *testing.T) {
	pair := pairOf(t)
	o := offer{Generation: 7}
	var fds []int
	for i := range 200 {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fmt.Fprint(f, i)
		o.Files, fds = append(o.Files, listenerKey("tcp4", fmt.Sprint("127.0.0.1:", i))), append(fds, int(f.Fd()))
	}
	if err := send(pair[0], o, fds); err != nil {
		t.Fatal(err)
	}
	got, files, err := receive(pair[1])
	if err != nil || got.Generation != 7 || len(files) != len(fds) {
		t.Fatalf("%v, %d files, %v", got.Generation, len(files), err)
	}
	for i, key := range o.Files {
		fd := files[key]
		var b [8]byte
		n, err := syscall.Pread(fd, b[:], 0)
		if err != nil || string(b[:n]) != fmt.Sprint(i) {
			t.Errorf("%s: %q, %v", key, b[:n], err)
		}
		if flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); flags&syscall.FD_CLOEXEC == 0 {
			t.Errorf("%s is inherited by everybody", key)
		}
		syscall.Close(fd)
	}
}

// TestOfferBroken: errors, no panics, and nothing is waited for.
func TestOfferBroken(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{}", "temporarily unavailable"}, // no end
		{"nonsense\n", "invalid character"},
		{`{"Files":["a"]}` + "\n", "a: "},
		{`{"Files":["a"]}` + "\n.", "a: no descriptor came"},
		{`{"Files":[` + strings.Repeat(`"",`, maxInherited) + `""]}` + "\n", "4097 descriptors"},
	} {
		pair := pairOf(t)
		if _, err := syscall.Write(pair[0], []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		_, _, err := receive(pair[1])
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20s: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestDrain: what a successor has not read, and what it has said.
func TestDrain(t *testing.T) {
	pair := pairOf(t)
	if err := send(pair[0], offer{Files: []string{"a", "b"}}, []int{0, 0}); err != nil {
		t.Fatal(err)
	}
	drain(pair[1])
	if left := drain(pair[1]); left != nil {
		t.Errorf("%q is left", left)
	}
	if _, err := syscall.Write(pair[1], []byte("cannot\n  do that \n\nready 42\n")); err != nil {
		t.Fatal(err)
	}
	said := drain(pair[0])
	if got := report(said); got != "cannot\ndo that" {
		t.Errorf("report %q", got)
	}
	if got := readyPID(said); got != 42 {
		t.Errorf("ready %d", got)
	}
	if got := readyPID([]byte("ready x\n")); got != 0 {
		t.Errorf("ready %d", got)
	}
}
