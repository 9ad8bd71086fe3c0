package keeper

import (
	"syscall"
	"time"
	"unsafe"
)

// monotonic is CLOCK_MONOTONIC.
func monotonic() (time.Duration, error) {
	const clockMonotonic = 1
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0, errno
	}
	return time.Duration(ts.Nano()), nil
}
