//go:build unix

package jkshm

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"jkd/shm"
)

// helperVar names the helper that the test binary shall be instead of running
// tests.
const helperVar = "JKD_JKSHM_HELPER"

// helpers are other processes on the same segment. What one returns as an error
// goes to standard error and makes the exit status 1.
var helpers = map[string]func(s *Segment, args []string) error{
	"hammer":  hammer,
	"compete": compete,
	"edit":    editForever,
	"die":     dieEditing,
	"scatter": scatter,
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
	s, err := attachInherited()
	if err == nil {
		err = f(s, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// attachInherited is the child's side of start.
func attachInherited() (*Segment, error) {
	size, err := Size(testLayout())
	if err != nil {
		return nil, err
	}
	seg, err := shm.Attach(3, size)
	if err != nil {
		return nil, err
	}
	return Attach(seg.Bytes(), testLayout())
}

// mustShare is a segment of the kernel's, to be shared with other processes.
func mustShare(t *testing.T) (*Segment, *shm.Segment) {
	t.Helper()
	size, err := Size(testLayout())
	if err != nil {
		t.Fatal(err)
	}
	seg, err := shm.Create("jkshm test", size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := seg.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := Format(seg.Bytes(), testLayout())
	if err != nil {
		t.Fatal(err)
	}
	configure(t, s)
	return s, seg
}

// child is a helper process. Closing in tells it to come to its end.
type child struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// start starts a helper that inherits the segment as descriptor 3. At the end
// of the test it is killed if it still runs.
func start(t *testing.T, seg *shm.Segment, name string, args ...string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Dup(int(seg.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "segment")
	defer f.Close()
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), helperVar+"="+name)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{f}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return c
}

// kill ends a child as nobody can prevent, and waits for it.
func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err == nil {
		t.Fatal("the child ended before it was killed")
	}
}

// line waits for the child to say something.
func (c *child) line(t *testing.T) string {
	t.Helper()
	s, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal("the child said nothing: ", err)
	}
	return s
}

// told is closed when standard input is at its end.
func told() <-chan struct{} {
	ch := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(ch)
	}()
	return ch
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
