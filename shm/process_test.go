//go:build unix

package shm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// childFd is where a child finds the first inherited descriptor.
const childFd = 3

// inherit hands the segment's object to a child as childFd.
func inherit(t *testing.T, s *Segment) *os.File {
	t.Helper()
	f := os.NewFile(uintptr(dup(t, s)), "segment")
	t.Cleanup(func() { f.Close() })
	return f
}

// fillInherited attaches to childFd and adds 1 to each byte. Its argument is
// the size.
func fillInherited(args []string) error {
	size, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	s, err := Attach(childFd, size)
	if err != nil {
		return err
	}
	if flags, err := unix.FcntlInt(childFd, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		return fmt.Errorf("descriptor flags are %#x, %v", flags, err)
	}
	for i := range s.Bytes() {
		s.Bytes()[i]++
	}
	return s.Close()
}

// sumByName opens a file and prints the sum of its bytes.
func sumByName(args []string) error {
	s, err := Open(args[0])
	if err != nil {
		return err
	}
	sum := 0
	for _, b := range s.Bytes() {
		sum += int(b)
	}
	fmt.Print(sum)
	return s.Close()
}

func TestInheritedDescriptor(t *testing.T) {
	const size = 10001
	segments := map[string]*Segment{
		"anonymous": mustCreate(t, size),
		"file":      mustCreateFile(t, filepath.Join(t.TempDir(), "board"), size),
	}
	for name, s := range segments {
		t.Run(name, func(t *testing.T) {
			s.Bytes()[0] = 9
			for range 2 {
				cmd := helper(t, "fill", strconv.Itoa(size))
				cmd.ExtraFiles = []*os.File{inherit(t, s)}
				run(t, cmd)
			}
			for i, b := range s.Bytes() {
				if want := byte(2); b != want && !(i == 0 && b == 11) {
					t.Fatalf("byte %d is %d", i, b)
				}
			}
		})
	}
}

func TestInheritedDescriptorOfAnotherSize(t *testing.T) {
	cmd := helper(t, "fill", "4097")
	cmd.ExtraFiles = []*os.File{inherit(t, mustCreate(t, 4096))}
	out, err := cmd.CombinedOutput()
	want := "shm: attach descriptor 3: object has another size: 4096 bytes, not 4097\n"
	if err == nil || string(out) != want {
		t.Errorf("child says %q, %v; want %q", out, err, want)
	}
}

// Without being handed over, the descriptor does not reach a child.
func TestNotInherited(t *testing.T) {
	mustCreate(t, 4096)
	cmd := helper(t, "fill", "4096")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("child found a descriptor: %q", out)
	}
}

func TestOpenInAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	s := mustCreateFile(t, path, 5000)
	s.Bytes()[0], s.Bytes()[4999] = 200, 100
	if got := run(t, helper(t, "sum", path)); got != "300" {
		t.Errorf("child reads %s", got)
	}
}
