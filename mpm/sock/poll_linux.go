package sock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawPoll is poll(2) unseen by the scheduler.
func rawPoll(p []unix.PollFd, timeout time.Duration) (int, error) {
	ts := unix.NsecToTimespec(int64(timeout))
	n, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if e != 0 {
		return 0, again(e)
	}
	return int(n), nil
}
