// Package measure reads from Linux' /proc what a program and all its
// descendants have used: CPU time, memory, context switches; and from strace
// the system calls.
package measure
