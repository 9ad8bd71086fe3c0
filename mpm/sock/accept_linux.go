package sock

import "golang.org/x/sys/unix"

// poller is an epoll instance of this process alone. EPOLLEXCLUSIVE makes the
// kernel wake one of the processes that wait for a connection instead of all.
type poller struct {
	epfd   int
	wakeFD int
	events [8]unix.EpollEvent
}

func (p *poller) open(listeners []int, wake *Wake) error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return err
	}
	p.epfd, p.wakeFD = fd, -1
	if wake != nil {
		p.wakeFD = wake.fd
		err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, wake.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(wake.fd)})
	}
	for _, ln := range listeners {
		if err == nil {
			err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, ln, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLEXCLUSIVE, Fd: int32(ln)})
		}
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return err
}

// wait returns when a listener or the wake descriptor is ready.
func (p *poller) wait() (woken bool, err error) {
	n, err := unix.EpollWait(p.epfd, p.events[:], -1)
	if err == unix.EINTR {
		return false, nil
	}
	for _, e := range p.events[:max(n, 0)] {
		if int(e.Fd) == p.wakeFD {
			woken = true
		}
	}
	return woken, err
}

func (p *poller) close() error { return unix.Close(p.epfd) }
