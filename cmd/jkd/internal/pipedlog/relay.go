//go:build unix

package pipedlog

import (
	"bufio"
	"io"
	"os"
	"syscall"
	"time"
)

// Relay passes on what comes through a pipe that blocks, as a standard error
// output has to: what the runtime and a log program itself complain of. A
// Program's own pipe would be no good there, because an os.Stderr that doesn't
// block is watched by the poller of each process, and waits for ever.
type Relay struct {
	r    *os.File
	endC chan struct{}
}

// NewRelay begins to pass lines on to a writer. The caller puts the end for
// writing where it belongs and closes it.
func NewRelay(to io.Writer) (*Relay, *os.File, error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	err := syscall.Pipe(fds[:])
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("pipe", err)
	}
	_ = syscall.SetNonblock(fds[0], true) // for Close to end a read
	r := &Relay{r: os.NewFile(uintptr(fds[0]), "relay"), endC: make(chan struct{})}
	go r.run(to)
	return r, os.NewFile(uintptr(fds[1]), "relay"), nil
}

func (r *Relay) run(to io.Writer) {
	defer close(r.endC)
	in := bufio.NewReader(r.r)
	for {
		// A line that is too long comes in pieces.
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			_, _ = to.Write(line)
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// Close waits for the last one who writes, a second at the most.
func (r *Relay) Close() error {
	select {
	case <-r.endC:
	case <-time.After(time.Second):
	}
	err := r.r.Close()
	<-r.endC
	return err
}
