package proc

import "syscall"

// sysProcAttr makes a group, and lets the kernel end the program when the
// measurement dies without stopping it. All programs pass SIGTERM on to their
// children.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// killGroup ends the group that pid leads.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
