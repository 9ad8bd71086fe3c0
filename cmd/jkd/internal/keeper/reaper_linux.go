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
	if link, _ := os.Readlink("/proc/self"); link != strconv.Itoa(self) {
		return kinUnknown // no /proc, or that of another name space
	}
	for range maxTries {
		if k, ok := climbTo(self, pid); ok {
			return k
		}
	}
	return kinNone
}

// maxTries bounds how often the way up is begun again.
const maxTries = 8

// climbTo follows the parents of pid up to self. ok is false if one of them has
// ended meanwhile, so that those below have another parent now.
func climbTo(self, pid int) (k kin, ok bool) {
	k = kinDescendant
	for depth := 0; pid > 1 && depth < maxDepth; depth++ {
		parent, dead, err := stat(pid)
		switch {
		case err != nil:
			return kinNone, depth == 0
		case dead && depth == 0:
			// Not to be waited for yet, maybe: other threads can take longer.
			k = kinDead
		}
		if parent == self {
			return k, true
		}
		pid = parent
	}
	return kinNone, true
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
