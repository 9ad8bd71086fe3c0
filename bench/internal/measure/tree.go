package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stat is what is needed of a line of /proc/PID/stat.
type stat struct {
	pid, parent int
	cpu         time.Duration // its own and of the children it has waited for
}

// tick is the unit of CPU times in /proc: USER_HZ, 100 a second on all of
// Linux' architectures of today.
const tick = 10 * time.Millisecond

// parseStat reads a line of /proc/PID/stat: the name, in parentheses, may hold
// anything.
func parseStat(line string) (s stat, err error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return s, fmt.Errorf("measure: no process in %.80q", line)
	}
	f := strings.Fields(line[end+1:])
	if len(f) < 15 {
		return s, fmt.Errorf("measure: %d fields in %.80q", len(f), line)
	}
	if s.pid, err = strconv.Atoi(strings.TrimSpace(line[:open])); err != nil {
		return s, fmt.Errorf("measure: process id in %.80q: %w", line, err)
	}
	if s.parent, err = strconv.Atoi(f[1]); err != nil {
		return s, fmt.Errorf("measure: parent in %.80q: %w", line, err)
	}
	for _, v := range f[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return s, fmt.Errorf("measure: CPU time in %.80q: %w", line, err)
		}
		s.cpu += time.Duration(n) * tick
	}
	return s, nil
}

// descendants picks root and all below it.
func descendants(all []stat, root int) (tree []stat) {
	children := map[int][]stat{}
	for _, s := range all {
		if s.pid == root {
			tree = append(tree, s)
		}
		children[s.parent] = append(children[s.parent], s)
	}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i].pid]...)
	}
	return tree
}

// processes are all there are. One that ends while we look is no error.
func processes() (all []stat) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if s, err := parseStat(string(text)); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// Tree is the process root and all its living descendants.
func Tree(root int) (pids []int) {
	for _, s := range descendants(processes(), root) {
		pids = append(pids, s.pid)
	}
	return pids
}

// Leaves are those of the tree that have no children themselves: the processes
// that serve, without their masters.
func Leaves(root int) (pids []int) {
	tree := descendants(processes(), root)
	parents := map[int]bool{}
	for _, s := range tree {
		parents[s.parent] = true
	}
	for _, s := range tree {
		if !parents[s.pid] {
			pids = append(pids, s.pid)
		}
	}
	return pids
}
