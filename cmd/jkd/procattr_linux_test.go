package main_test

import "syscall"

// sysProcAttr lets the kernel end a jkd whose test has died without stopping
// it (a panic, a timeout); its children follow by themselves.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
