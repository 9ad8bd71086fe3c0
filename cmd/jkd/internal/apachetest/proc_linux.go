package apachetest

import "syscall"

// sysProcAttr lets the kernel stop Apache when the test dies without stopping
// it. The signal is one that Apache passes on to its children. The group is
// its own: Apache signals all of it when it stops.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
