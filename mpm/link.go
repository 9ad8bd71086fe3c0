//go:build unix

package mpm

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// linkPatience is how long one message may wait for a child that doesn't read.
// A child that is stopped in its start is dealt with by other means.
const linkPatience = 60 * time.Second

// link is the master's end of one control socket. Its goroutine writes, so
// that a child that doesn't read can never make the Supervisor wait; it ends
// when the link is closed, and the Supervisor waits for it in Run.
type link struct {
	f       *os.File
	ordersC chan Order // buffered; written and closed by the Supervisor
}

// socketpair makes a control socket: the master's end, non-blocking, and the
// child's, blocking. Both are close-on-exec.
func socketpair() (master, child int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	p, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return -1, -1, os.NewSyscallError("socketpair", err)
	}
	syscall.CloseOnExec(p[0])
	syscall.CloseOnExec(p[1])
	if err := syscall.SetNonblock(p[0], true); err != nil {
		_ = syscall.Close(p[0])
		_ = syscall.Close(p[1])
		return -1, -1, os.NewSyscallError("fcntl", err)
	}
	return p[0], p[1], nil
}

// newLink takes over fd and sends head and snapshot, which it only reads.
func newLink(fd int, head, snapshot []byte, wg *sync.WaitGroup) *link {
	l := &link{f: os.NewFile(uintptr(fd), "control"), ordersC: make(chan Order, 4)}
	wg.Go(func() { l.run(head, snapshot) })
	return l
}

func (l *link) run(head, snapshot []byte) {
	if l.write(head) && l.write(snapshot) {
		for o := range l.ordersC {
			if !l.write(o.frame()) {
				break
			}
		}
	}
	// After an error: the child is gone or stuck, and will be reaped. Until
	// then the socket stays open, as end of file would mean something else.
	for range l.ordersC {
	}
}

func (l *link) write(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	_ = l.f.SetWriteDeadline(time.Now().Add(linkPatience))
	_, err := l.f.Write(b)
	return err == nil
}

// send passes an order on. It never waits: with four unread orders in the
// queue the child knows what there is to know.
func (l *link) send(o Order) {
	select {
	case l.ordersC <- o:
	default:
	}
}

// close ends the link; the child, if it is still there, sees end of file.
func (l *link) close() {
	close(l.ordersC)
	_ = l.f.Close()
}
