package master

import "syscall"

const somaxconnName = "kern.ipc.soacceptqueue"

// somaxconn is the longest listen queue that the kernel grants, 0 if unknown.
func somaxconn() int {
	for _, name := range []string{somaxconnName, "kern.ipc.somaxconn"} {
		if n, err := syscall.SysctlUint32(name); err == nil {
			return int(n)
		}
	}
	return 0
}
