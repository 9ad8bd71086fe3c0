//go:build unix

package mpmtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jkd/mpm"
)

// The user and groups of startAs.
const (
	uid   = 60001
	gid   = 60002
	extra = 60003
)

// startAs starts one child as somebody else.
func startAs(t *testing.T, f Factory, change func(*mpm.Options)) *Server {
	t.Helper()
	s, readyC := launch(t, f, steady(1), func(o *mpm.Options) {
		o.Credential = &mpm.Credential{UID: uid, GID: gid, Groups: []uint32{extra}}
		if change != nil {
			change(o)
		}
	})
	select {
	case <-readyC:
	case err := <-s.endC:
		s.endC <- nil
		if !strings.Contains(s.log.String(), "permission denied") {
			t.Fatalf("ended before it was ready: %v\n%s", err, s.log.String())
		}
		t.Skip("that user may not execute the test binary")
	case <-time.After(patience):
		t.Fatal("not ready")
	}
	return s
}

func checkIDs(t *testing.T, c *Client) {
	t.Helper()
	got := strings.Fields(c.Ask("ids"))
	if strings.Join(got[:4], " ") != fmt.Sprint(uid, uid, gid, gid) {
		t.Errorf("ids are %v", got)
	}
	groups := map[string]bool{}
	for _, g := range got[4:] {
		groups[strings.Trim(g, "[]")] = true
	}
	if !groups[fmt.Sprint(extra)] || len(groups) > 2 || len(groups) == 2 && !groups[fmt.Sprint(gid)] {
		t.Errorf("groups are %v", groups)
	}
}

// checkStatus asks the kernel about every thread of the child: none can get
// back what was given up.
func checkStatus(t *testing.T, s *Server) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	pid := s.Pids()[0]
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("threads of %d: %q, %v", pid, threads, err)
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a thread that has ended
		}
		have := map[string]string{}
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(line, ":")
			have[key] = strings.Join(strings.Fields(value), " ")
		}
		for key, want := range map[string]string{
			"Uid": fmt.Sprint(uid, uid, uid, uid), "Gid": fmt.Sprint(gid, gid, gid, gid),
			"CapPrm": "0000000000000000", "CapEff": "0000000000000000", "NoNewPrivs": "1",
		} {
			if have[key] != want {
				t.Errorf("%s: %s is %s, want %s", name, key, have[key], want)
			}
		}
	}
	Eventually(t, "no thread of the master has lost rights", func() bool {
		mine, _ := filepath.Glob("/proc/self/task/*/status")
		for _, name := range mine {
			if text, err := os.ReadFile(name); err == nil && !strings.Contains(string(text), "NoNewPrivs:\t0") {
				return false
			}
		}
		return true
	})
	// A process that cannot be traced belongs to root in /proc.
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/environ", pid), &st); err != nil || (st.Uid == 0) != (s.a.opts.CoreDumpDirectory == "") {
		t.Errorf("the child's memory is open to user %d, %v", st.Uid, err)
	}
}

// openDir is a directory that everybody may look into.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mpmtest-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// testChroot: children in an empty directory, which need nothing inside, not
// even the file of their time zone.
func testChroot(t *testing.T, f Factory) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can change the root directory")
	}
	t.Setenv("TZ", "Asia/Kolkata")
	dir := openDir(t)
	if err := os.WriteFile(filepath.Join(dir, "mark"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := startAs(t, f, func(o *mpm.Options) { o.ChrootDir = dir })
	c := s.Dial()
	checkIDs(t, c)
	checkStatus(t, s)
	for path, want := range map[string]string{"/mark": "<nil>", "mark": "<nil>", "/../../mark": "<nil>", dir: "no such file or directory", "/etc": "no such file or directory"} {
		if got := c.Ask("see " + path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if _, err := os.Stat("/usr/share/zoneinfo/Asia/Kolkata"); err == nil {
		if got := c.Ask("zone"); got != "IST 19800" {
			t.Errorf("time zone %s", got)
		}
	}
}

// testChrootFails: a child that cannot get there ends the start instead of
// serving as the superuser.
func testChrootFails(t *testing.T, f Factory) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can change the root directory")
	}
	s, readyC := launch(t, f, steady(1), func(o *mpm.Options) {
		o.Credential = &mpm.Credential{UID: uid, GID: gid}
		o.ChrootDir = "/no/where"
	})
	select {
	case <-readyC:
		t.Error("ready")
	case err := <-s.endC:
		s.endC <- err
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
}

// testCores: where core files go, a child works and can be traced, and a crash
// is a signal.
func testCores(t *testing.T, f Factory) {
	if os.Geteuid() != 0 {
		t.Skip("the child is to be somebody else")
	}
	dir := openDir(t)
	cores := filepath.Join(dir, "cores")
	if err := os.Mkdir(cores, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(cores, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cores, "mark"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*mpm.Options){
		"alone":     func(o *mpm.Options) { o.CoreDumpDirectory = cores },
		"in a jail": func(o *mpm.Options) { o.ChrootDir, o.CoreDumpDirectory = dir, "/cores" },
	} {
		s := startAs(t, f, change)
		c := s.Dial()
		checkIDs(t, c)
		checkStatus(t, s)
		if got := c.Ask("see mark"); got != "<nil>" {
			t.Errorf("%s: not in the directory: %s", name, got)
		}
		_, _ = c.try("crash")
		Eventually(t, name+": the child ends by a signal", func() bool {
			return strings.Contains(s.log.String(), "SIGABRT") || strings.Contains(s.log.String(), "abort")
		})
	}
}
