package measure

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Usage is what a tree of processes has used since its start.
type Usage struct {
	// CPU is user and system time, that of children that have ended included.
	// Its grain is 10 ms for each process.
	CPU time.Duration
	// Switches are context switches, voluntary and not, of the threads that
	// live.
	Switches int64
}

// Sub is what was used since before.
func (u Usage) Sub(before Usage) Usage {
	return Usage{u.CPU - before.CPU, u.Switches - before.Switches}
}

// Of is the usage of all trees with these roots.
func Of(roots ...int) (u Usage) {
	all := processes()
	for _, root := range roots {
		for _, s := range descendants(all, root) {
			u.CPU += s.cpu
			u.Switches += switches(s.pid)
		}
	}
	return u
}

// switches of all threads of a process; 0 if it has ended meanwhile.
func switches(pid int) (n int64) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		n += field(string(text), "voluntary_ctxt_switches:") + field(string(text), "nonvoluntary_ctxt_switches:")
	}
	return n
}

// field is the number after name at the beginning of a line; 0 without one.
func field(text, name string) int64 {
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(f[0], 10, 64)
				return n
			}
		}
	}
	return 0
}

// PSS is the sum of the proportional set sizes of the processes, in bytes: a
// page that n processes share counts as 1/n in each. One that has ended counts
// as nothing.
func PSS(pids ...int) (bytes int64) {
	for _, pid := range pids {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)); err == nil {
			bytes += field(string(text), "Pss:") << 10
		}
	}
	return bytes
}
