//go:build unix && !linux

package sock

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller is poll(2): all waiting processes wake for each connection and all
// but one find nothing. kqueue has no exclusive wake-up between processes
// either, so its set-up would buy nothing here.
type poller struct {
	fds  []unix.PollFd
	wake int // index in fds, or -1
}

func (p *poller) open(listeners []int, wake *Wake) error {
	p.wake = -1
	for _, fd := range listeners {
		p.fds = append(p.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	if wake != nil {
		p.wake = len(p.fds)
		p.fds = append(p.fds, unix.PollFd{Fd: int32(wake.fd), Events: unix.POLLIN})
	}
	return nil
}

// wait returns when a listener or the wake descriptor is ready, or limit, if
// it is not negative, is over.
func (p *poller) wait(limit time.Duration) (ready, woken bool, err error) {
	n, err := unix.Poll(p.fds, milliseconds(limit))
	if err == unix.EINTR {
		return false, false, nil // nothing was written to fds
	}
	return n > 0, n > 0 && p.wake >= 0 && p.fds[p.wake].Revents != 0, err
}

// waitUnseen is wait that the scheduler isn't told of, for a limited time.
func (p *poller) waitUnseen(limit time.Duration) (ready, woken bool, err error) {
	n, err := rawPoll(p.fds, limit)
	if err == unix.EAGAIN {
		return false, false, nil
	}
	return n > 0, n > 0 && p.wake >= 0 && p.fds[p.wake].Revents != 0, err
}

// runtime has nothing for the runtime's poller.
func (p *poller) runtime() (*os.File, syscall.RawConn) { return nil, nil }

func (p *poller) close() error { return nil }
