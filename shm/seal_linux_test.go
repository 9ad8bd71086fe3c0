package shm

import (
	"testing"

	"golang.org/x/sys/unix"
)

const addSeals = unix.F_ADD_SEALS

func TestSealSet(t *testing.T) {
	s := mustCreate(t, 10)
	got, err := unix.FcntlInt(s.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || got&seals != seals {
		t.Errorf("seals are %#x, %v; want at least %#x", got, err, seals)
	}
}
