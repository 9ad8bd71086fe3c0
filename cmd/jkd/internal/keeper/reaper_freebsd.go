package keeper

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// Supported: the system has reapers, without which there is no keeper.
const Supported = true

// Of sys/procctl.h.
const (
	pPID            = 0
	procReapAcquire = 2
	procReapStatus  = 4
	procReapGetPids = 5
	procReapKill    = 6

	reaperValid  = 0x1  // reaperPid.flags: the element is filled in
	reaperZombie = 0x10 // it ended and was not waited for; since 14
)

type reaperStatus struct {
	flags, children, descendants uint32
	reaper, pid                  int32
	_                            [15]uint32
}

type reaperPid struct {
	pid, subtree int32
	flags        uint32
	_            [15]uint32
}

type reaperPids struct {
	count uint32
	_     [15]uint32
	pids  *reaperPid
}

type reaperKill struct {
	signal  int32
	flags   uint32
	subtree int32
	killed  uint32
	failed  int32
	_       [15]uint32
}

// procctl is about this process. The number of a process has 64 bits, in one
// register on the machines that jkd is made for.
func procctl(command int, data unsafe.Pointer) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_PROCCTL, pPID, uintptr(os.Getpid()), uintptr(command), uintptr(data), 0, 0)
	if errno != 0 {
		return os.NewSyscallError("procctl", errno)
	}
	return nil
}

// acquire makes this process the one that orphans among its descendants become
// the children of. Process 1 is that anyway, and so is one that a reaper has
// replaced by exec.
func acquire() error {
	err := procctl(procReapAcquire, nil)
	if err == nil {
		return nil
	}
	var st reaperStatus
	if procctl(procReapStatus, unsafe.Pointer(&st)) == nil && int(st.reaper) == os.Getpid() {
		return nil
	}
	return err
}

// descendants lists them; ok is false if the system does not tell.
func descendants() (list []reaperPid, ok bool) {
	var st reaperStatus
	if procctl(procReapStatus, unsafe.Pointer(&st)) != nil {
		return nil, false
	}
	// Some more: there may be new ones meanwhile.
	list = make([]reaperPid, min(st.descendants+64, maxProcesses))
	q := reaperPids{count: uint32(len(list)), pids: &list[0]}
	err := procctl(procReapGetPids, unsafe.Pointer(&q))
	runtime.KeepAlive(list)
	if err != nil {
		return nil, false
	}
	for i, p := range list {
		if p.flags&reaperValid == 0 {
			return list[:i], true
		}
	}
	return list, true
}

// kinOf looks pid up among the descendants.
func kinOf(pid int) kin {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return kinNone
	}
	list, ok := descendants()
	if !ok {
		return kinUnknown
	}
	for _, p := range list {
		switch {
		case int(p.pid) != pid:
		case p.flags&reaperZombie != 0:
			return kinDead
		default:
			return kinDescendant
		}
	}
	return kinNone
}

// signalAll sends to all descendants and returns how many there were.
func signalAll(s syscall.Signal) int {
	k := reaperKill{signal: int32(s)}
	if procctl(procReapKill, unsafe.Pointer(&k)) != nil {
		return 0
	}
	return int(k.killed)
}
