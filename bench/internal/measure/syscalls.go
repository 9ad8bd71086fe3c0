package measure

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"jkd/bench/internal/proc"
)

// Syscalls are numbers of system calls by name.
type Syscalls map[string]int64

// Total is the number of all.
func (s Syscalls) Total() (n int64) {
	for _, calls := range s {
		n += calls
	}
	return n
}

// Trace counts the system calls of a tree while load runs. It slows the
// processes down by much, so a load under it is measured by nothing else.
func Trace(set *proc.Set, dir string, root int, load func() error) (Syscalls, error) {
	dir, err := os.MkdirTemp(dir, "strace-")
	if err != nil {
		return nil, fmt.Errorf("measure: strace: %w", err)
	}
	table := filepath.Join(dir, "table")
	argv := []string{"strace", "-f", "-c", "-o", table}
	pids := Tree(root)
	for _, pid := range pids {
		argv = append(argv, "-p", strconv.Itoa(pid))
	}
	p, err := set.Start("strace", dir, argv...)
	if err != nil {
		return nil, err
	}
	if err := attached(p, pids); err != nil {
		p.Stop()
		return nil, err
	}
	loadErr := load()
	p.Interrupt()
	if loadErr != nil {
		return nil, loadErr
	}
	text, err := os.ReadFile(table)
	if err != nil {
		return nil, fmt.Errorf("measure: strace: %w", err)
	}
	return parseStrace(string(text))
}

// attached waits until strace has all of the processes.
func attached(p *proc.Process, pids []int) error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-p.Done():
			return fmt.Errorf("measure: strace ended: %s", p.Output())
		default:
		}
		missing := 0
		for _, pid := range pids {
			names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
			for _, name := range names {
				if text, err := os.ReadFile(name); err == nil && field(string(text), "TracerPid:") == 0 {
					missing++
				}
			}
		}
		if missing == 0 {
			return nil
		}
	}
	return errors.New("measure: strace did not attach to all threads")
}

// parseStrace reads the table of strace -c: % time, seconds, usecs/call, calls,
// errors (may be empty), syscall.
func parseStrace(text string) (Syscalls, error) {
	s := Syscalls{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 || len(f) > 6 || f[len(f)-1] == "total" {
			continue
		}
		calls, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			continue // headings and rules
		}
		s[f[len(f)-1]] += calls
	}
	if len(s) == 0 {
		return nil, fmt.Errorf("measure: strace counted nothing: %.200q", text)
	}
	return s, nil
}
