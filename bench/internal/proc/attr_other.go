//go:build unix && !linux

package proc

import "syscall"

// sysProcAttr makes a group.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends the group that pid leads.
func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
