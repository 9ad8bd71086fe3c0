//go:build linux || freebsd

package shm

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Nobody who holds the descriptor can pull the memory from under the others.
func TestCreateIsSealed(t *testing.T) {
	s := mustCreate(t, 8192)
	for _, size := range []int64{0, 4096, 8191, 8193, 1 << 20} {
		if err := unix.Ftruncate(int(s.Fd()), size); err != unix.EPERM {
			t.Errorf("Ftruncate(%d) = %v, want %v", size, err, unix.EPERM)
		}
	}
	st, err := stat(int(s.Fd()))
	if err != nil || st.size != 8192 {
		t.Errorf("size is %d, %v", st.size, err)
	}
	// Nor keep those who come later from writing.
	const fSealWrite = 0x8
	if _, err := unix.FcntlInt(s.Fd(), addSeals, fSealWrite); err != unix.EPERM {
		t.Errorf("adding a seal: %v, want %v", err, unix.EPERM)
	}
	b, err := Attach(uintptr(dup(t, s)), 8192)
	if err != nil {
		t.Fatal(err)
	}
	closeIfOpen(t, b)
}
