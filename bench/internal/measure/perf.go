package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"jkd/bench/internal/proc"
)

// Count counts the system calls of a tree while load runs, at full speed, with
// perf. It needs the rights to.
func Count(set *proc.Set, dir string, root int, load func() error) (calls int64, err error) {
	dir, err = os.MkdirTemp(dir, "perf-")
	if err != nil {
		return 0, fmt.Errorf("measure: perf: %w", err)
	}
	control, err := newControl(dir)
	if err != nil {
		return 0, fmt.Errorf("measure: perf: %w", err)
	}
	defer control.close()
	var pids []string
	for _, pid := range Tree(root) {
		pids = append(pids, strconv.Itoa(pid))
	}
	table := filepath.Join(dir, "table")
	p, err := set.Start("perf", dir, "perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-o", table,
		"-D", "-1", "--control", "fifo:"+control.names[0]+","+control.names[1], "-p", strings.Join(pids, ","))
	if err != nil {
		return 0, err
	}
	if err := errors.Join(control.say("enable"), load(), control.say("disable")); err != nil {
		p.Stop()
		return 0, fmt.Errorf("%w: %s", err, p.Output())
	}
	p.Interrupt()
	text, err := os.ReadFile(table)
	if err != nil {
		return 0, fmt.Errorf("measure: perf: %w", err)
	}
	return parsePerf(string(text))
}

// parsePerf reads the one line of perf stat -x, that is no comment.
func parsePerf(text string) (int64, error) {
	for line := range strings.Lines(text) {
		count, rest, ok := strings.Cut(line, ",")
		if !ok || !strings.Contains(rest, "sys_enter") {
			continue
		}
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("measure: perf counted %q", count)
		}
		return n, nil
	}
	return 0, fmt.Errorf("measure: perf counted nothing: %.200q", text)
}

// control is perf's pair of pipes: what it is told, what it answers.
type control struct {
	names [2]string
	files [2]*os.File
}

func newControl(dir string) (c control, err error) {
	for i, name := range []string{"tell", "answer"} {
		c.names[i] = filepath.Join(dir, name)
		if err = syscall.Mkfifo(c.names[i], 0o600); err != nil {
			break
		}
		// Both ways, so that opening does not wait for perf.
		if c.files[i], err = os.OpenFile(c.names[i], os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
			break
		}
	}
	if err != nil {
		c.close()
	}
	return c, err
}

func (c control) close() {
	for _, f := range c.files {
		if f != nil {
			f.Close()
		}
	}
}

// say gives a command and waits until it has been obeyed.
func (c control) say(command string) error {
	if _, err := c.files[0].WriteString(command + "\n"); err != nil {
		return fmt.Errorf("measure: perf: %w", err)
	}
	c.files[1].SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.files[1].Read(make([]byte, 64)); err != nil {
		return fmt.Errorf("measure: perf does not answer %q: %w", command, err)
	}
	return nil
}
