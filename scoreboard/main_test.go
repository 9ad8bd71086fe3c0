//go:build unix

package scoreboard

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"jkd/shm"
)

// helperVar names the helper that the test binary shall be instead of running
// tests.
const helperVar = "JKD_SCOREBOARD_HELPER"

// helpers are other processes on the same segment. What one returns as an error
// goes to standard error and makes the exit status 1.
var helpers = map[string]func(args []string) error{
	"hammer":  hammer,
	"die":     dieInside,
	"scatter": scatter,
	"look":    look,
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

// mustShare is a scoreboard in a segment, to be shared with other processes.
func mustShare(t testing.TB, l Layout) (*Scoreboard, *shm.Segment) {
	t.Helper()
	size, err := Size(l)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := shm.Create("scoreboard test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := seg.Close(); err != nil {
			t.Error(err)
		}
	})
	b, err := New(seg.Bytes(), l, testGlobal)
	if err != nil {
		t.Fatal(err)
	}
	return b, seg
}

// command makes the command that runs a helper.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), helperVar+"="+name)
	return cmd
}

// output runs a helper to its end and returns all it said.
func output(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	out, err := command(t, name, args...).CombinedOutput()
	return string(out), err
}

// start starts a helper that inherits the segment as descriptor 3. At the end
// of the test it is killed if it still runs.
func start(t *testing.T, seg *shm.Segment, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, name, args...)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{borrow(t, seg)}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return cmd
}

// borrow is a second descriptor of the segment's object, closed at the end.
func borrow(t *testing.T, seg *shm.Segment) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(seg.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "segment")
	t.Cleanup(func() { f.Close() })
	return f
}

// attachInherited is the child's side of start.
func attachInherited(l Layout) (*Scoreboard, error) {
	size, err := Size(l)
	if err != nil {
		return nil, err
	}
	seg, err := shm.Attach(3, size)
	if err != nil {
		return nil, err
	}
	return Attach(seg.Bytes(), &l)
}

// waitFor waits until the condition holds; the test ends if it never does.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited for a minute: %s", what)
		}
	}
}
