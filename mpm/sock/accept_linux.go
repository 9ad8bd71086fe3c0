package sock

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller is an epoll instance of this process alone. EPOLLEXCLUSIVE makes the
// kernel wake one of the processes that wait for a connection instead of all.
type poller struct {
	epfd   int
	file   *os.File // epfd for the runtime's poller; nil: not asked for yet
	raw    syscall.RawConn
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

// wait returns when a listener or the wake descriptor is ready, or limit, if
// it is not negative, is over.
func (p *poller) wait(limit time.Duration) (ready, woken bool, err error) {
	n, err := unix.EpollWait(p.epfd, p.events[:], milliseconds(limit))
	if err == unix.EINTR {
		return false, false, nil
	}
	return n > 0, p.woken(n), err
}

// waitUnseen is wait that the scheduler isn't told of, for a limited time.
func (p *poller) waitUnseen(limit time.Duration) (ready, woken bool, err error) {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epfd), uintptr(unsafe.Pointer(&p.events[0])), uintptr(len(p.events)), uintptr(limit.Milliseconds()), 0, 0)
	switch {
	case e == unix.EINTR:
		return false, false, nil
	case e != 0:
		return false, false, e
	}
	return n > 0, p.woken(int(n)), nil
}

// woken looks for the wake descriptor among n events.
func (p *poller) woken(n int) bool {
	for _, e := range p.events[:max(n, 0)] {
		if int(e.Fd) == p.wakeFD {
			return true
		}
	}
	return false
}

// runtime is the same for the runtime's poller, which sees no more than that
// something has come. The file is nil if that is impossible.
func (p *poller) runtime() (*os.File, syscall.RawConn) {
	if p.file == nil && unix.SetNonblock(p.epfd, true) == nil {
		p.file = os.NewFile(uintptr(p.epfd), "epoll")
		p.raw, _ = p.file.SyscallConn()
	}
	return p.file, p.raw
}

func (p *poller) close() error {
	if p.file != nil {
		return p.file.Close()
	}
	return unix.Close(p.epfd)
}
