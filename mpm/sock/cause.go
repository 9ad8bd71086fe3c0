//go:build unix

package sock

import (
	"errors"
	"io/fs"
	"net"
	"os"
)

// Cause cuts the address or path, which the caller names, out of an error of
// package net or os. That of nil is nil.
func Cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		err = le.Err
	}
	if se, ok := errors.AsType[*os.SyscallError](err); ok {
		err = se.Err
	}
	return err
}
