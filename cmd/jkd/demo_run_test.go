//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDemo runs jkd -demo as a person would: tries what it says and presses
// Ctrl-C, which a terminal sends to the whole process group.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		var out lockedBuffer
		cmd := exec.Command(bin, "-demo", "-mpm", mpm)
		cmd.Dir = openDir(t)
		cmd.Stdout, cmd.Stderr = &out, &out
		cmd.SysProcAttr = sysProcAttr()
		cmd.SysProcAttr.Setpgid = true
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		group := -cmd.Process.Pid
		doneC := make(chan error, 1)
		go func() { doneC <- cmd.Wait() }()
		t.Cleanup(func() {
			_ = syscall.Kill(group, syscall.SIGKILL) // what is left, if any
			if t.Failed() {
				t.Logf("it wrote:\n%s", out.String())
			}
		})
		s := &server{t: t}
		s.eventually("the list of pages", func() bool {
			select {
			case err := <-doneC:
				t.Fatalf("it ended during its start: %v\n%s", err, out.String())
			default:
			}
			return strings.Contains(out.String(), "Ctrl-C")
		})
		urls := regexp.MustCompile(`http://[0-9.]+:[0-9]+/\S+`).FindAllString(out.String(), -1)
		if len(urls) < 4 {
			t.Fatalf("%d URLs to try: %q", len(urls), urls)
		}
		for _, u := range urls {
			want := 200
			if strings.HasSuffix(u, "/status?s=404") {
				want = 404
			}
			if r, body := fetch(t, "GET", u); r.StatusCode != want {
				t.Errorf("%s: status %d, want %d: %.200q", u, r.StatusCode, want, body)
			}
		}
		base := urls[0][:strings.Index(urls[0][len("http://"):], "/")+len("http://")]
		if r, body := fetch(t, "GET", base+"/examples/servlets/servlet/HelloWorldExample"); r.StatusCode != 200 || len(body) != 387 {
			t.Errorf("HelloWorldExample: status %d, %d bytes, want 387", r.StatusCode, len(body))
		}
		if r, body := fetch(t, "GET", base+"/test/test.jsp"); r.StatusCode != 200 || len(body)/1000 != 113 {
			t.Errorf("test.jsp: status %d, %d bytes, want 113 KB", r.StatusCode, len(body))
		}
		if err := syscall.Kill(group, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-doneC:
			if err != nil {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("it did not end")
		}
		s.eventually(fmt.Sprintf("end of process group %d", -group), func() bool {
			return errors.Is(syscall.Kill(group, 0), syscall.ESRCH)
		})
	})
}
