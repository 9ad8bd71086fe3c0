package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// adopts waits until the keeper is the parent of pid.
func (p *play) adopts(pid int) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("adoption of %d", pid), func() bool {
		parent, _, err := stat(pid)
		if err != nil {
			p.t.Fatal(err)
		}
		return parent == p.cmd.Process.Pid
	})
}

func (p *play) eventually(what string, cond func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(limit); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatal("waited in vain for ", what)
		}
	}
}

// childrenOf lists living ones and zombies.
func childrenOf(parent int) (living, zombies []int) {
	files, _ := filepath.Glob("/proc/[0-9]*")
	for _, f := range files {
		pid, _ := strconv.Atoi(filepath.Base(f))
		p, dead, err := stat(pid)
		switch {
		case err != nil || p != parent:
		case dead:
			zombies = append(zombies, pid)
		default:
			living = append(living, pid)
		}
	}
	return living, zombies
}

// TestOrphans: processes that nobody else waits for are waited for.
func TestOrphans(t *testing.T) {
	p := open(t, "orphans")
	heard := p.heard(21)
	if heard["1: serves"] != 1 || heard["orphan:"] != 20 {
		t.Errorf("heard %v", heard)
	}
	p.eventually("no zombies, and one child", func() bool {
		living, zombies := childrenOf(p.cmd.Process.Pid)
		return len(living) == 1 && len(zombies) == 0
	})
	p.signal(syscall.SIGTERM)
	p.expect("1: terminated")
	p.ends(0)
}

// TestJobControl: what stops a group stops all and continues all.
func TestJobControl(t *testing.T) {
	p := open(t, "one")
	master := p.expect("1: serves")
	state := func(pid int) byte {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[0][0]
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	p.eventually("both stopped", func() bool { return state(master) == 'T' && state(p.cmd.Process.Pid) == 'T' })
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGUSR1)
	p.expect("1: user defined signal 1")
	p.signal(syscall.SIGTERM)
	p.expect("1: terminated")
	p.ends(3)
}

// TestContainer: the keeper is process 1, with a /proc of its own, or with none
// that is of use.
func TestContainer(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs the superuser")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		proc bool
	}{{"proc", true}, {"no proc", false}} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(self)
			if tt.proc {
				// exec keeps the number.
				cmd = exec.Command("/bin/sh", "-c", `/bin/mount -t proc proc /proc && exec "$0"`, self)
			}
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
			probe := exec.Command("/bin/true")
			if tt.proc {
				probe = exec.Command("/bin/mount", "-t", "proc", "proc", "/proc")
			}
			probe.SysProcAttr = cmd.SysProcAttr
			if out, err := probe.CombinedOutput(); err != nil {
				t.Skipf("no name spaces here: %v %s", err, out)
			}
			p := openCmd(t, cmd, "reload")
			p.expect("1: serves")
			for g := 2; g <= 3; g++ {
				p.signal(syscall.SIGHUP)
				p.expect(fmt.Sprintf("%d: hangup", g-1))
				p.expect(fmt.Sprintf("%d: serves", g))
				p.expect(fmt.Sprintf("%d: user defined signal 2", g-1))
			}
			p.eventually("one child", func() bool {
				living, zombies := childrenOf(p.cmd.Process.Pid)
				return len(living) == 1 && len(zombies) == 0
			})
			p.signal(syscall.SIGTERM)
			p.expect("3: terminated")
			p.ends(3)
		})
	}
	t.Run("left behind", func(t *testing.T) {
		cmd := exec.Command(self)
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		p := openCmd(t, cmd, "killed", "KEEPERTEST_KIND=brief")
		p.expect("1: serves")
		p.cue()
		p.expect("orphan: ends") // the end of process 1 would have cut it off
		p.ends(128 + 9)
	})
}

func TestKin(t *testing.T) {
	if got := kinOf(1); got != kinNone {
		t.Errorf("init is %s", got)
	}
	cmd := exec.Command("/bin/sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := kinOf(cmd.Process.Pid); got != kinDescendant {
		t.Errorf("a child is %s", got)
	}
	_ = cmd.Process.Kill()
	for _, dead, _ := stat(cmd.Process.Pid); !dead; _, dead, _ = stat(cmd.Process.Pid) {
		time.Sleep(5 * time.Millisecond)
	}
	if got := kinOf(cmd.Process.Pid); got != kinDead {
		t.Errorf("a child that has ended is %s", got)
	}
	_ = cmd.Wait()
	if got := kinOf(cmd.Process.Pid); got != kinNone {
		t.Errorf("a child that was waited for is %s", got)
	}
}
