//go:build unix && !linux

package sock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawPoll is poll(2) unseen by the scheduler.
func rawPoll(p []unix.PollFd, timeout time.Duration) (int, error) {
	ms := (timeout + time.Millisecond - 1) / time.Millisecond
	n, _, e := unix.RawSyscall(unix.SYS_POLL, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(ms))
	if e != 0 {
		return 0, again(e)
	}
	return int(n), nil
}
