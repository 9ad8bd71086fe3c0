//go:build unix && !linux

package mpm

import "syscall"

func forkExec(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	return syscall.ForkExec(path, argv, attr)
}

// setDumpable: what has changed its user decides the system's own setting, such
// as FreeBSD's kern.sugid_coredump.
func setDumpable(bool) {}
