//go:build unix

package sock

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// wakeCheck is how often at the most Woken asks the kernel. Leaving a tenth of
// a second later is nothing; a system call per request is not.
const wakeCheck = 100 * time.Millisecond

// Wake is a descriptor that becomes readable, or reports end of file, when the
// process is to leave. Nobody here reads from it, so it stays readable and
// ends every wait that includes it. The methods may be called concurrently.
type Wake struct {
	fd      int
	w       int // write end of an own pipe, or -1
	set     atomic.Bool
	nudged  atomic.Bool
	checked atomic.Int64 // unix nanoseconds of the last look
}

// NewWake watches fd, which stays the caller's.
func NewWake(fd int) *Wake { return &Wake{fd: fd, w: -1} }

// NewWakePipe makes a Wake of its own that only Set fires.
func NewWakePipe() (*Wake, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, err
	}
	return &Wake{fd: p[0], w: p[1]}, nil
}

// FD is the descriptor to wait on.
func (w *Wake) FD() int { return w.fd }

// Set fires the Wake for good. A Wake made by NewWake only remembers it: it
// does not end waits in progress.
func (w *Wake) Set() {
	if w.set.Swap(true) || w.w < 0 {
		return
	}
	_, _ = unix.Write(w.w, []byte{1})
}

// Nudge ends a wait for a connection that is going on, or the next one. It is
// for a Wake made by NewWakePipe and one Acceptor.
func (w *Wake) Nudge() {
	if !w.nudged.Swap(true) {
		_, _ = unix.Write(w.w, []byte{1})
	}
}

// leave tells whether to leave, after the descriptor was seen to be readable or
// a nudge was seen, which it takes away.
func (w *Wake) leave() bool {
	if w.w < 0 {
		w.set.Store(true)
		return true
	}
	if !w.set.Load() {
		w.nudged.Store(false)
		var b [8]byte
		_, _ = rawRead(w.fd, b[:])
	}
	return w.set.Load() // again: its byte may have been among those
}

// Woken tells whether the Wake has fired. It looks at the descriptor at most
// ten times a second and is otherwise a comparison.
func (w *Wake) Woken() bool {
	if w == nil {
		return false
	}
	if w.set.Load() {
		return true
	}
	if w.w >= 0 {
		return false
	}
	now := time.Now().UnixNano()
	if last := w.checked.Load(); now-last < int64(wakeCheck) && now >= last {
		return false
	}
	w.checked.Store(now)
	return w.look()
}

// fired is Woken that always asks the kernel.
func (w *Wake) fired() bool {
	if w == nil {
		return false
	}
	return w.set.Load() || w.w < 0 && w.look()
}

// look asks the kernel.
func (w *Wake) look() bool {
	p := [1]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p[:], 0)
	if err == nil && n > 0 {
		w.set.Store(true)
		return true
	}
	return false
}

// Close closes an own pipe.
func (w *Wake) Close() error {
	if w.w < 0 {
		return nil
	}
	_ = unix.Close(w.w)
	return unix.Close(w.fd)
}
