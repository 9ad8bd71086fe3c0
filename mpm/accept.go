//go:build unix

package mpm

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"jkd/mpm/sock"
)

const (
	backoffMin   = 10 * time.Millisecond
	backoffMax   = time.Second
	backoffTries = 20 // in a row; about 14 s
)

// AcceptBackoff is what a child does when accept fails for want of descriptors
// or memory: it lets others finish and tries again, for a while. Apache's
// children leave at once, and take their keep-alive connections with them. The
// zero value is ready; it belongs to the accepting goroutine.
type AcceptBackoff struct {
	tries int
	delay time.Duration
}

// Reset is called after each success.
func (b *AcceptBackoff) Reset() { *b = AcceptBackoff{} }

// next returns how long to wait before the next try, or false to give up.
func (b *AcceptBackoff) next(err error) (time.Duration, bool) {
	if !scarce(err) || b.tries >= backoffTries {
		return 0, false
	}
	b.tries++
	b.delay = min(max(b.delay*2, backoffMin), backoffMax)
	return b.delay, true
}

// Wait waits after a failed accept, at most until the child is told to leave.
// It returns false when there is no point in trying again: the child is sick.
// It does not use a timer of the runtime, which would start its poller.
func (b *AcceptBackoff) Wait(err error, c *Child) bool {
	delay, ok := b.next(err)
	if !ok {
		c.Logger.Error().Err(err).Int("server", c.Server).Msg("could not accept connections, child is leaving")
		return false
	}
	if b.tries == 1 {
		c.Logger.Warn().Err(err).Int("server", c.Server).Msg("could not accept a connection, trying again")
	}
	p := []unix.PollFd{{Fd: int32(c.Wake.FD()), Events: unix.POLLIN}}
	_, _ = unix.Poll(p, int(delay/time.Millisecond))
	return true
}

// scarce are the accept errors that may pass.
func scarce(err error) bool {
	for _, e := range []error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.ENETDOWN} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Leaving tells the accept errors that mean to go: an order, and a listener
// that the master has shut down, which it does only at the very end.
func Leaving(err error) bool {
	return errors.Is(err, sock.ErrWoken) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EBADF)
}
