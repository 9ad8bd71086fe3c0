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
	lost     Lost

	mu    sync.Mutex
	stuck bool      // the last write found no room: the next one does not wait
	torn  bool      // the last line was given up in its midst
	lines uint64    // given up since the last report
	told  time.Time // when that was
}

// Lost is told of lines that were given up.
type Lost struct {
	// Tell gets their number since it was told last; nil: nobody is told. It is
	// called after a write and by its goroutine, once in a while at the most.
	Tell func(lines uint64)
	// Afterwards is for the log that Tell itself writes to: it is called once
	// there is room again.
	Afterwards bool
}

// reportEvery is the least time from one report of lost lines to the next.
const reportEvery = time.Minute

// NewWriter is for a descriptor that a child has inherited.
func NewWriter(fd int, lost Lost) (*Writer, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return &Writer{fd: fd, patience: Patience, lost: lost}, nil
}

// Fd is the descriptor.
func (w *Writer) Fd() uintptr { return uintptr(w.fd) }

// Write writes a line, or gives it up.
func (w *Writer) Write(p []byte) (int, error) {
	n, lines, err := w.put(p)
	if lines > 0 {
		w.lost.Tell(lines)
	}
	return n, err
}

// put is Write but for the report: it returns how many lost lines are to be
// reported now.
func (w *Writer) put(p []byte) (n int, report uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.torn {
		p = append([]byte("\n"), p...)
	}
	n, err = w.write(p)
	w.stuck = errors.Is(err, ErrFull)
	if w.torn {
		w.torn = n == 0
		n = max(n-1, 0)
	} else {
		w.torn = n > 0 && err != nil
	}
	if err != nil {
		w.lines++
	}
	return n, w.due(err), err
}

// due takes the number of lost lines when it is time to report them.
func (w *Writer) due(err error) uint64 {
	if w.lines == 0 || w.lost.Tell == nil || (w.lost.Afterwards && err != nil) || time.Since(w.told) < reportEvery {
		return 0
	}
	lines := w.lines
	w.lines, w.told = 0, time.Now()
	return lines
}

// whole is what a pipe takes as a whole or not at all, on every system.
const whole = 512

// write writes all of p, waiting where that is still worth it.
func (w *Writer) write(p []byte) (n int, err error) {
	var end time.Time
	for pause := time.Millisecond; n < len(p); {
		next := p[n:]
		if w.stuck {
			// Not a scrap of each line into the last few bytes of room.
			next = next[:min(len(next), whole)]
		}
		m, err := syscall.Write(w.fd, next)
		switch {
		case m > 0:
			n += m
		case err == syscall.EINTR:
		case err != syscall.EAGAIN:
			if err == nil {
				err = syscall.EIO
			}
			return n, err
		case w.stuck:
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

// Close closes the descriptor. What is written later is lost.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	fd := w.fd
	w.fd = -1 // the number may soon be another file's
	return syscall.Close(fd)
}
