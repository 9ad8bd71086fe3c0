//go:build unix

package mpm

import "syscall"

// sealLimit is how far SealDescriptors looks. What the starter of the server
// left open are small numbers.
const sealLimit = 4096

// SealDescriptors sets close-on-exec on everything above standard error. What
// Go opens has it; what the master itself inherited, from a careless shell or
// through an upgrade, has not, and would be passed on to the children, which a
// Supervisor prevents by itself, and to what else is executed before.
func SealDescriptors() {
	for fd := 3; fd < sealLimit; fd++ {
		syscall.CloseOnExec(fd)
	}
}
