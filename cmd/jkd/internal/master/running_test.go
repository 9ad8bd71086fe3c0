//go:build unix

package master

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestRunning(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pid")
	for _, tt := range []struct {
		text  string
		pid   int
		alive bool
	}{
		{fmt.Sprintln(os.Getpid()), os.Getpid(), true},
		{fmt.Sprintln(gone.Process.Pid), gone.Process.Pid, false},
		{"", 0, false},
		{"-1\n", 0, false},
		{"jkd\n", 0, false},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if pid, alive := Running(path); alive != tt.alive || (pid != tt.pid && tt.pid != 0) {
			t.Errorf("%q: %d, %v", tt.text, pid, alive)
		}
	}
	if pid, alive := Running(path + ".none"); pid != 0 || alive {
		t.Errorf("no file: %d, %v", pid, alive)
	}
}
