//go:build unix

package keeper

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// maxLine bounds a line of a report: two numbers.
const maxLine = 24

// report is one line of a master.
type report struct {
	pid    int
	leaves bool // about to end, with status; else it serves
	status int
}

// parseReport reads "pid" or "pid status". ok is false for anything else.
func parseReport(line []byte) (r report, ok bool) {
	pid, status, leaves := bytes.Cut(line, []byte(" "))
	n, ok := number(pid, 1<<30)
	if !ok || n <= 1 {
		return report{}, false // 1 is never a master: it is the keeper or init
	}
	r = report{pid: n, leaves: leaves}
	if leaves {
		if r.status, ok = number(status, 255); !ok {
			return report{}, false
		}
	}
	return r, true
}

// number reads decimal digits and nothing else, up to limit.
func number(b []byte, limit uint64) (int, bool) {
	n, err := strconv.ParseUint(string(b), 10, 31)
	if err != nil || n > limit || b[0] == '0' && len(b) > 1 {
		return 0, false
	}
	return int(n), true
}

// maxReports bounds what is kept until the keeper looks at it.
const maxReports = 64

// reports is the reading end of the masters' pipe. A goroutine waits for lines;
// the keeper can also look for itself, because what was written before a process
// ended must be known before its end is judged.
type reports struct {
	wakeC chan struct{} // there is something to take
	endC  chan struct{} // closed when the goroutine has ended
	f     *os.File

	mu    sync.Mutex
	line  []byte // what has come of a line that is not complete
	skip  bool   // the rest of a line is too long to mean anything
	taken []report
	bad   int // lines that were not understood since the last take
}

// readReports owns f from now on.
func readReports(f *os.File) (*reports, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &reports{wakeC: make(chan struct{}, 1), endC: make(chan struct{}), f: f}
	go func() {
		defer close(r.endC)
		for {
			more := false
			err := raw.Read(func(fd uintptr) bool {
				var got bool
				got, more = r.drain(int(fd))
				return got || !more
			})
			select {
			case r.wakeC <- struct{}{}:
			default:
			}
			if err != nil || !more {
				return
			}
		}
	}()
	return r, nil
}

// close ends the goroutine.
func (r *reports) close() {
	_ = r.f.Close()
	<-r.endC
}

// take returns what was written up to now, and how many lines were nonsense.
func (r *reports) take() (list []report, bad int) {
	if raw, err := r.f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { r.drain(int(fd)) })
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	list, bad = r.taken, r.bad
	r.taken, r.bad = nil, 0
	return list, bad
}

// drain reads until there is nothing more for now. got: something was read;
// more is false at the end of the pipe.
func (r *reports) drain(fd int) (got, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b [128]byte
	for {
		n, err := syscall.Read(fd, b[:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return got, true
		case err != nil || n == 0:
			return got, false
		default:
			got = true
			r.feed(b[:n])
		}
	}
}

// feed cuts lines.
func (r *reports) feed(b []byte) {
	for _, c := range b {
		switch {
		case c == '\n':
			rep, ok := parseReport(r.line)
			if ok && !r.skip && len(r.taken) < maxReports {
				r.taken = append(r.taken, rep)
			} else {
				r.bad++
			}
			r.line, r.skip = r.line[:0], false
		case len(r.line) == maxLine:
			r.skip = true
		default:
			r.line = append(r.line, c)
		}
	}
}
