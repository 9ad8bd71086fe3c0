package mpm

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// forkExec executes a child that cannot gain rights by executing a program, be
// it set-uid or have capabilities. The flag is the calling thread's, which the
// child gets and nobody else shall: the thread ends with its goroutine. The
// first thread cannot end, so it is kept busy where that one is met.
func forkExec(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			pid, err = forkExec(path, argv, attr)
			runtime.UnlockOSThread()
			return
		}
		_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		pid, err = syscall.ForkExec(path, argv, attr)
	}()
	<-done
	return pid, err
}

// setDumpable tells the kernel whether processes of the same user may trace
// this one and whether it may leave a core file.
func setDumpable(on bool) {
	var v uintptr
	if on {
		v = 1
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, v, 0, 0, 0)
}
