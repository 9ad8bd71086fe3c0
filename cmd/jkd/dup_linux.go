package main

import "syscall"

// dup2 is missing on some of Linux's architectures; dup3 is not.
func dup2(from, to int) error { return syscall.Dup3(from, to, 0) }
