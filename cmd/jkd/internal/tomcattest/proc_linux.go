package tomcattest

import "syscall"

// sysProcAttr lets the kernel end Tomcat when the test dies without stopping
// it (a panic, a timeout).
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
