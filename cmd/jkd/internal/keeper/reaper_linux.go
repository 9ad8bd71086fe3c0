package keeper

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
)

// Supported: the system has reapers, without which there is no keeper.
const Supported = true

// acquire makes this process the one that orphans among its descendants become
// the children of. Process 1 is that anyway.
func acquire() error {
	const prSetChildSubreaper = 36
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 && os.Getpid() != 1 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}

// stat is what /proc/PID/stat tells. dead: it ended and was not waited for.
func stat(pid int) (parent int, dead bool, err error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false, err
	}
	// The name, in parentheses, may contain anything.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 2 || len(f[0]) != 1 {
		return 0, false, errors.New("/proc: stat: not understood")
	}
	parent, err = strconv.Atoi(string(f[1]))
	return parent, f[0][0] == 'Z' || f[0][0] == 'X', err
}

// kinOf follows the parents of pid up.
func kinOf(pid int) kin {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return kinNone
	}
	self := os.Getpid()
	if _, _, err := stat(self); err != nil {
		return kinUnknown // no /proc, or that of other processes
	}
	for depth := 0; pid > 1 && depth < maxDepth; depth++ {
		parent, dead, err := stat(pid)
		if err != nil || dead && depth == 0 {
			return kinNone
		}
		if parent == self {
			return kinDescendant
		}
		pid = parent
	}
	return kinNone
}

// signalAll sends to all descendants and returns how many there were.
func signalAll(s syscall.Signal) (n int) {
	d, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	names, err := d.Readdirnames(maxProcesses)
	_ = d.Close()
	if err != nil {
		return 0
	}
	self := os.Getpid()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self || kinOf(pid) != kinDescendant {
			continue
		}
		if syscall.Kill(pid, s) == nil {
			n++
		}
	}
	return n
}
