//go:build unix && !linux && !freebsd

package keeper

import (
	"errors"
	"syscall"
)

// Supported: the system has reapers, without which there is no keeper.
const Supported = false

func acquire() error               { return errors.ErrUnsupported }
func kinOf(int) kin                { return kinUnknown }
func signalAll(syscall.Signal) int { return 0 }
