//go:build unix

package pipedlog

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// Patience is how long a write waits for room in the pipe.
const Patience = 5 * time.Second

// ErrFull is the error of a write that found no room in time.
var ErrFull = errors.New("pipedlog: the program does not read its log")

// Writer writes lines into the pipe. It may be used concurrently. Lines of up
// to PIPE_BUF bytes (4096 on Linux, 512 on FreeBSD) don't mix with those of other
// processes.
type Writer struct {
	fd       int
	patience time.Duration

	mu    sync.Mutex
	stuck bool // the last write found no room: the next one does not wait
	torn  bool // the last line was given up in its midst
}

// NewWriter is for a descriptor that a child has inherited.
func NewWriter(fd int) (*Writer, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return &Writer{fd: fd, patience: Patience}, nil
}

// Fd is the descriptor.
func (w *Writer) Fd() uintptr { return uintptr(w.fd) }

// Write writes a line, or gives it up.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		p = append([]byte("\n"), p...)
	}
	n, err := w.write(p)
	w.stuck = errors.Is(err, ErrFull)
	if w.torn {
		w.torn = n == 0
		n = max(n-1, 0)
	} else {
		w.torn = n > 0 && err != nil
	}
	return n, err
}

// write writes all of p, waiting where that is still worth it.
func (w *Writer) write(p []byte) (n int, err error) {
	var end time.Time
	for pause := time.Millisecond; n < len(p); {
		m, err := syscall.Write(w.fd, p[n:])
		switch {
		case m > 0:
			n += m
		case err == syscall.EINTR:
		case err != syscall.EAGAIN:
			if err == nil {
				err = syscall.EIO
			}
			return n, err
		case w.stuck && n == 0:
			return n, ErrFull
		case end.IsZero():
			end = time.Now().Add(w.patience)
		case time.Now().After(end):
			return n, ErrFull
		default:
			time.Sleep(pause)
			pause = min(2*pause, 50*time.Millisecond)
		}
	}
	return n, nil
}

// Close closes the descriptor.
func (w *Writer) Close() error { return syscall.Close(w.fd) }
