//go:build unix

package pipedlog

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The pause before a program that has ended is started again: none the first
// time, then so long, twice as long each time until the most, and none again
// after one that lived for steady.
const (
	firstPause = time.Second
	mostPause  = time.Minute
	steady     = time.Minute
)

// How long Close waits for the program to read the rest and end, and then, after
// a SIGTERM, before the SIGKILL.
const (
	endPatience  = 3 * time.Second
	termPatience = time.Second
)

// Options are how a program is run.
type Options struct {
	// Command is the program and its arguments, at least the program.
	Command []string
	// Dir is where it runs.
	Dir string
	// Stderr is where its complaints go; nil: nowhere.
	Stderr *os.File
	// Tell is told of each end and of failed starts; nil: nobody. It is called
	// by a goroutine of the Program.
	Tell func(text string)
	// Lost is told of the lines that the program does not read in time.
	Lost Lost
}

// Program is a running program and the pipe that leads to it.
type Program struct {
	*Writer
	o       Options
	r       *os.File      // what the program reads from
	pause   time.Duration // before the next start
	closeC  chan struct{}
	closedC chan struct{}
}

// Start starts a program, which runs until Close.
func Start(o Options) (*Program, error) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	r, fd, err := pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	p := &Program{
		Writer: &Writer{fd: fd, patience: Patience, lost: o.Lost}, o: o, r: r,
		closeC: make(chan struct{}), closedC: make(chan struct{}),
	}
	cmd, err := p.start()
	if err != nil {
		_ = r.Close()
		_ = p.Writer.Close()
		return nil, err
	}
	go p.keep(cmd)
	return p, nil
}

// pipe makes a pipe with an end for reading that blocks and one for writing,
// a bare descriptor, that does not.
func pipe() (*os.File, int, error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	err := syscall.Pipe(fds[:])
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, 0, err
	}
	if err := syscall.SetNonblock(fds[1], true); err != nil {
		_ = syscall.Close(fds[0])
		_ = syscall.Close(fds[1])
		return nil, 0, err
	}
	return os.NewFile(uintptr(fds[0]), "piped log"), fds[1], nil
}

func (p *Program) start() (*exec.Cmd, error) {
	cmd := exec.Command(p.o.Command[0], p.o.Command[1:]...)
	cmd.Dir, cmd.Stdin = p.o.Dir, p.r
	if p.o.Stderr != nil {
		cmd.Stderr = p.o.Stderr
	}
	// A group of its own: what the terminal sends us is not for it, it has
	// lines to read yet.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd, cmd.Start()
}

// keep waits for the program and starts it again, until Close.
func (p *Program) keep(cmd *exec.Cmd) {
	defer close(p.closedC)
	for {
		if cmd != nil {
			began := time.Now()
			if p.wait(cmd) {
				return
			}
			if time.Since(began) >= steady {
				p.pause = 0
			}
			again := "now"
			if p.pause > 0 {
				again = "in " + p.pause.String()
			}
			p.o.Tell(fmt.Sprintf("the log program %s has ended (%s), it is started again %s", p.o.Command[0], cmd.ProcessState, again))
		}
		timer := time.NewTimer(p.pause)
		select {
		case <-p.closeC:
			timer.Stop()
			return
		case <-timer.C:
		}
		p.pause = min(max(2*p.pause, firstPause), mostPause)
		var err error
		if cmd, err = p.start(); err != nil {
			cmd = nil
			p.o.Tell(fmt.Sprintf("the log program %s cannot be started, next try in %s: %v", p.o.Command[0], p.pause, err))
		}
	}
}

// wait returns when the program has ended; closing tells that this is the end
// of all.
func (p *Program) wait(cmd *exec.Cmd) (closing bool) {
	endC := make(chan struct{})
	go func() {
		defer close(endC)
		_ = cmd.Wait()
	}()
	select {
	case <-endC:
		select {
		case <-p.closeC:
			return true
		default:
			return false
		}
	case <-p.closeC:
	}
	for _, next := range []struct {
		patience time.Duration
		signal   syscall.Signal
	}{{endPatience, syscall.SIGTERM}, {termPatience, syscall.SIGKILL}} {
		timer := time.NewTimer(next.patience)
		select {
		case <-endC:
			timer.Stop()
			return true
		case <-timer.C:
			_ = syscall.Kill(-cmd.Process.Pid, next.signal) // not waited for yet: the number is still its own
		}
	}
	select {
	case <-endC:
	case <-time.After(termPatience): // it is in the kernel's hands: nothing helps
	}
	return true
}

// Close gives up the pipe and waits until the program has read what is in it
// and has ended, a few seconds at the most; then it is made to. It may be called
// once, when nobody writes any more.
func (p *Program) Close() error {
	close(p.closeC) // first: the program's end is no surprise then
	err := p.Writer.Close()
	// The program has an end for reading of its own, which is enough.
	err = errors.Join(err, p.r.Close())
	<-p.closedC
	return err
}
