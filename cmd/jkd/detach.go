//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// readyVar tells a master that it was detached: its descriptor 3 is a pipe on
// which the process that was called waits for the news.
const readyVar = "JKD_DETACHED"

const (
	readyFD    = 3
	timeFormat = time.RFC3339
)

// starting is true until the master is ready or turned out not to get there.
var starting atomic.Bool

func init() { starting.Store(true) }

// isDetached is decided before the variable is taken away from the processes
// that are started from here.
var isDetached = func() bool {
	set := os.Getenv(readyVar) != ""
	_ = os.Unsetenv(readyVar)
	if set {
		syscall.CloseOnExec(readyFD)
	}
	return set
}()

func detached() bool { return isDetached }

// detach starts the master in a session of its own and waits until it serves
// or has failed, so that whoever started jkd knows which. It returns the exit
// status.
func detach(f flags) int {
	if detached() {
		return runMaster(f)
	}
	// What is wrong with the configuration is said here, at once.
	if _, err := loadConfig(f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r, w, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, "jkd: pipe:", err)
		return 1
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	if err := absolute(); err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	cmd := exec.Command(self)
	cmd.Args = append(os.Args[:1:1], f.server()...)
	cmd.Env = append(os.Environ(), readyVar+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "jkd:", err)
		return 1
	}
	_ = w.Close()
	var b [1]byte
	if n, _ := r.Read(b[:]); n == 1 {
		return 0
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, "jkd: the master ended before it was ready:", err)
	return 1
}

// letGo takes a detached master off the terminal, or the pipe, that it was
// started from before there are children to inherit it: whoever reads the
// other end waits for the last holder. What the start has to say still goes
// there, through the file that is returned.
func letGo(errorLog logFile) (*os.File, error) {
	fd, err := syscall.Dup(2)
	if err != nil {
		return nil, fmt.Errorf("dup: %w", err)
	}
	syscall.CloseOnExec(fd)
	caller := os.NewFile(uintptr(fd), "caller")
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return caller, err
	}
	defer null.Close()
	// What the runtime itself has to say, in the worst case, belongs in the
	// log too, the children's included.
	last := errorLog
	if e, ok := errorLog.(*errorProgram); ok {
		w, err := e.standardError()
		if err != nil {
			return caller, err
		}
		defer w.Close()
		last = w
	}
	var errs []error
	for to, from := range []logFile{null, null, last} {
		if to != int(errorLog.Fd()) { // ErrorLog may be /dev/stderr
			errs = append(errs, dup2(int(from.Fd()), to))
		}
	}
	return caller, errors.Join(errs...)
}

// reportReady tells the process that was called, and lets go of its last
// descriptor.
func reportReady(caller *os.File) {
	starting.Store(false)
	_ = caller.Close()
	_, _ = syscall.Write(readyFD, []byte{1})
	_ = syscall.Close(readyFD)
}
