package measure

import (
	"os"
	"reflect"
	"runtime"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		line  string
		want  stat
		fails bool
	}{
		{"42 (jkd) S 1 42 42 0 -1 4194560 1 2 3 4 10 20 3 4 20 0 1 0 100 0 0\n", stat{42, 1, 370 * time.Millisecond}, false},
		{"7 (a) b (c)) R 42 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0\n", stat{7, 42, 0}, false},
		{"", stat{}, true},
		{"42 jkd S 1\n", stat{}, true},
		{"42 (jkd) S 1 2 3\n", stat{}, true},
		{"x (jkd) S 1 42 42 0 -1 4194560 1 2 3 4 10 20 3 4 20 0 1\n", stat{}, true},
		{"42 (jkd) S 1 42 42 0 -1 4194560 1 2 3 4 x 20 3 4 20 0 1\n", stat{}, true},
	} {
		got, err := parseStat(tt.line)
		if (err != nil) != tt.fails || err == nil && got != tt.want {
			t.Errorf("%q: %+v, %v", tt.line, got, err)
		}
	}
}

func TestDescendants(t *testing.T) {
	all := []stat{{pid: 1}, {pid: 2, parent: 1}, {pid: 3, parent: 2}, {pid: 4, parent: 2}, {pid: 5, parent: 3}, {pid: 6, parent: 1}}
	for root, want := range map[int][]int{1: {1, 2, 6, 3, 4, 5}, 2: {2, 3, 4, 5}, 5: {5}, 9: nil} {
		var got []int
		for _, s := range descendants(all, root) {
			got = append(got, s.pid)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("below %d: %v, want %v", root, got, want)
		}
	}
}

func TestParseStrace(t *testing.T) {
	const text = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.006000           3      2000           write
 30.00    0.003000           1      2500       500 read
 10.00    0.001000           2       500       500 epoll_pwait
------ ----------- ----------- --------- --------- ----------------
100.00    0.010000           2      5000      1000 total
`
	got, err := parseStrace(text)
	if want := (Syscalls{"write": 2000, "read": 2500, "epoll_pwait": 500}); err != nil || !reflect.DeepEqual(got, want) || got.Total() != 5000 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseStrace("strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted\n"); err == nil {
		t.Errorf("a table of nothing: %v", got)
	}
}

func TestParsePerf(t *testing.T) {
	for _, tt := range []struct {
		text  string
		want  int64
		fails bool
	}{
		{"# started on Thu\n\n12345,,raw_syscalls:sys_enter,1000,100.00,,\n", 12345, false},
		{"<not counted>,,raw_syscalls:sys_enter,0,100.00,,\n", 0, true},
		{"# started on Thu\n", 0, true},
	} {
		if got, err := parsePerf(tt.text); got != tt.want || (err != nil) != tt.fails {
			t.Errorf("%q: %d, %v", tt.text, got, err)
		}
	}
}

func TestField(t *testing.T) {
	const text = "Name:\tjkd\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t 7\nPss:   1024 kB\nEmpty:\n"
	for name, want := range map[string]int64{"voluntary_ctxt_switches:": 150, "nonvoluntary_ctxt_switches:": 7, "Pss:": 1024, "Empty:": 0, "None:": 0} {
		if got := field(text, name); got != want {
			t.Errorf("%s %d, want %d", name, got, want)
		}
	}
}

// This process itself is there, and uses more the more it does.
func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads Linux' /proc")
	}
	pid := os.Getpid()
	before := Of(pid)
	for x, deadline := 0, time.Now().Add(20*time.Second); Of(pid).Sub(before).CPU < 3*tick; x++ {
		if time.Now().After(deadline) {
			t.Fatal("no CPU time was counted")
		}
	}
	if tree := Tree(pid); len(tree) == 0 || tree[0] != pid {
		t.Errorf("the tree of this process: %v", tree)
	}
	if PSS(pid) <= 0 || Of(pid).Switches <= 0 {
		t.Error("no memory, or no context switches")
	}
	if PSS(-1) != 0 || (Of(-1) != Usage{}) {
		t.Error("a process that is not there uses something")
	}
}
