//go:build unix

package shm

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// helperVar names the helper that the test binary shall be instead of running
// tests.
const helperVar = "JKD_SHM_HELPER"

// helpers run in a process of their own. What one returns as an error goes to
// standard error and makes the exit status 1.
var helpers = map[string]func(args []string) error{
	"fill": fillInherited,
	"sum":  sumByName,
}

func TestMain(m *testing.M) {
	name := os.Getenv(helperVar)
	if name == "" {
		os.Exit(m.Run())
	}
	f, ok := helpers[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no helper", name)
		os.Exit(2)
	}
	if err := f(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// helper makes the command that runs a helper.
func helper(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), helperVar+"="+name)
	return cmd
}

// run runs a helper to its end and returns what it printed.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("helper: %v: %s", err, errs.String())
	}
	return string(out)
}
