//go:build !linux

package main_test

import "syscall"

func sysProcAttr() *syscall.SysProcAttr { return new(syscall.SysProcAttr) }
