package title

import (
	"syscall"
	"unsafe"
)

// sysctl kern.proc.args, which a process may set for itself (-1).
const (
	ctlKern      = 1
	kernProc     = 14
	kernProcArgs = 7
	self         = -1
)

// limit is below the default of kern.ps_arg_cache_limit, beyond which nothing
// would be set.
const limit = 200

func set(s string) {
	b := append([]byte(s[:min(len(s), limit)]), 0)
	mib := [4]int32{ctlKern, kernProc, kernProcArgs, self}
	_, _, _ = syscall.Syscall6(syscall.SYS___SYSCTL, uintptr(unsafe.Pointer(&mib[0])), uintptr(len(mib)),
		0, 0, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
}
