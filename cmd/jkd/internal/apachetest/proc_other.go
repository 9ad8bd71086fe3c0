//go:build unix && !linux

package apachetest

import "syscall"

// sysProcAttr gives Apache a group of its own: it signals all of it when it
// stops.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
