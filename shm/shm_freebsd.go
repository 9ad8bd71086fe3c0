package shm

import "golang.org/x/sys/unix"

// Numbers from <sys/syscall.h>, <sys/mman.h> and <fcntl.h>; x/sys has neither
// the newer call nor the seals.
const (
	sysShmOpen2 = 571 // shm_open2(path, flags, mode, shmflags, name), FreeBSD 13
	sysShmOpen  = 482 // shm_open(path, flags, mode), until FreeBSD 12; later only with COMPAT_FREEBSD12

	shmAnon         = 1 // SHM_ANON, in the place of the path pointer
	shmAllowSealing = 0x1

	fAddSeals   = 19
	fSealSeal   = 0x1
	fSealShrink = 0x2
	fSealGrow   = 0x4

	// shmOpen2Since is kern.osreldate of 13.0-RELEASE.
	shmOpen2Since = 1300139
)

// anonymous asks for an object without a name. The kernel's version decides
// which call is made: a call that a kernel does not have is answered with
// SIGSYS, which a Go program does not survive, so it cannot be tried out.
func anonymous(_ string, size int) (int, error) {
	release, err := unix.SysctlUint32("kern.osreldate")
	sealable := err != nil || release >= shmOpen2Since
	var fd uintptr
	err = retry(func() error {
		var e unix.Errno
		if sealable {
			fd, _, e = unix.Syscall6(sysShmOpen2, shmAnon, unix.O_RDWR|unix.O_CLOEXEC, 0o600, shmAllowSealing, 0, 0)
		} else {
			fd, _, e = unix.Syscall(sysShmOpen, shmAnon, unix.O_RDWR, 0o600)
		}
		if e != 0 {
			return e
		}
		return nil
	})
	if err != nil {
		return -1, err
	}
	// The older call sets close-on-exec by itself; saying it again is cheap.
	_, err = unix.FcntlInt(fd, unix.F_SETFD, unix.FD_CLOEXEC)
	if err == nil {
		err = retry(func() error { return unix.Ftruncate(int(fd), int64(size)) })
	}
	if err == nil && sealable {
		// F_SEAL_SEAL too: a child could otherwise make the object read-only
		// for the children that come after it.
		_, err = unix.FcntlInt(fd, fAddSeals, fSealShrink|fSealGrow|fSealSeal)
	}
	if err != nil {
		unix.Close(int(fd))
		return -1, err
	}
	return int(fd), nil
}
