//go:build unix

package mpm

import "golang.org/x/sys/unix"

// IsTerminal tells whether a descriptor is a terminal.
func IsTerminal(fd int) bool {
	_, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	return err == nil
}
