package title

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// arguments are strings in one piece of memory, as the kernel lays them out,
// between two guards.
func arguments(args ...string) (mem []byte, list []string) {
	mem = []byte("<<" + strings.Join(args, "\x00") + "\x00>>")
	at := 2
	for _, a := range args {
		list = append(list, unsafe.String(&mem[at], len(a)))
		at += len(a) + 1
	}
	return mem, list
}

func TestBlock(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		title string
		want  string
	}{
		{[]string{"/usr/sbin/jkd", "-f", "x"}, "jkd: master", "jkd: master\x00\x00\x00\x00\x00\x00\x00\x00"},
		{[]string{"jkd"}, "jkd: master", "jkd\x00"},
		{[]string{"jkd", "", "-t"}, "jkd: master", "jkd: ma\x00"},
		{[]string{"jkd", "-f"}, "", "\x00\x00\x00\x00\x00\x00\x00"},
		{[]string{"123456789ab"}, "jkd: master", "jkd: master\x00"},
		{[]string{""}, "jkd: master", "\x00"}, // an empty name cannot be found
	} {
		mem, args := arguments(tt.args...)
		write(block(args), tt.title)
		if got := string(mem); got != "<<"+tt.want+">>" {
			t.Errorf("%q: %q, want %q", tt.args, got, tt.want)
		}
	}
	write(block(nil), "x")

	// Strings from elsewhere are not touched.
	mem, args := arguments("jkd", "-f")
	args = append(args, string([]byte("elsewhere")))
	write(block(args), "jkd: master")
	if string(mem) != "<<jkd: m\x00>>" || args[2] != "elsewhere" {
		t.Errorf("%q %q", mem, args)
	}
}

// TestSet is with a process of its own, whose command line the kernel shows.
func TestSet(t *testing.T) {
	if os.Getenv("TITLETEST") != "" {
		before := strings.Join(os.Args, " ")
		for _, s := range []string{strings.Repeat("long ", 1000), "jkd: master", "jkd: m"} {
			Set(s)
			text, err := os.ReadFile("/proc/self/cmdline")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.TrimRight(string(text), "\x00")
			if want := s[:min(len(s), len(before))]; got != want {
				t.Errorf("title %q, want %q", got, want)
			}
		}
		if after := strings.Join(os.Args, " "); after != before {
			t.Errorf("os.Args were %q and are %q", before, after)
		}
		if comm, err := os.ReadFile("/proc/self/comm"); err != nil || string(comm) != "jkd\n" {
			t.Errorf("comm %q, %v", comm, err)
		}
		if env := os.Getenv("TITLETEST"); env != "behind the arguments" {
			t.Errorf("the environment was written to: %q", env)
		}
		if text, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getpid()) + "/environ"); err != nil || !strings.HasPrefix(string(text), "TITLETEST=behind the arguments\x00") {
			t.Errorf("the environment was written to: %q, %v", text, err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSet$", "-test.v")
	cmd.Env = append([]string{"TITLETEST=behind the arguments"}, os.Environ()...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS: TestSet") {
		t.Errorf("%v\n%s", err, out)
	}
}
