//go:build !linux

package tomcattest

import "syscall"

func sysProcAttr() *syscall.SysProcAttr { return nil }
