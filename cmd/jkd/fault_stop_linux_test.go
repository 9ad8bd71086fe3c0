package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestStoppedMaster: children go on serving without a master that was stopped;
// what was asked of it meanwhile it does when it is continued.
func TestStoppedMaster(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		for _, detached := range []bool{false, true} {
			t.Run(fmt.Sprintf("detached %t", detached), func(t *testing.T) {
				t.Parallel() // they wait for the end of patience
				p := newPatient(t, bin, config{mpm: mpm, detached: detached})
				master, kids := p.current(), childrenOf(t, p.current())
				clients := p.crowd(4, "/")
				send(t, master, syscall.SIGSTOP)
				p.eventually("the master stops", func() bool { return stopped(master) })
				before := clients.answered.Load()
				p.eventually("requests", func() bool { return clients.answered.Load() > before+100 })
				if out, err := p.ask(p.program, "status"); err == nil || !strings.Contains(out, "does not answer") {
					t.Errorf("-k status: %v, %s", err, out)
				}
				clients.home(0)

				// A child that ends is waited for later, and so is a reload.
				send(t, kids[0], syscall.SIGKILL)
				send(t, master, syscall.SIGHUP)
				if _, err := dial(t, p.addr).once("/", true); err != nil {
					t.Errorf("a request of the children that are left: %v", err)
				}
				if p.current() != master {
					t.Errorf("the pid file names %d, want %d", p.current(), master)
				}
				send(t, master, syscall.SIGCONT)
				p.eventually("the reload", func() bool { pid := p.current(); return pid != 0 && pid != master })
				p.gone(append(kids, master))
				p.sound()
			})
		}
	})
}

// TestStoppedOldMaster: a generation that cannot be told that it is replaced
// serves beside the new one until it can. A new one that begins asks it who it
// is, and without an answer does not take its place.
func TestStoppedOldMaster(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		for at, replaced := range map[step]bool{stepBegun: false, stepSettling: true} {
			t.Run(at.String(), func(t *testing.T) {
				t.Parallel()
				p := newPatient(t, bin, config{mpm: mpm})
				h := p.reach(at)
				clients := p.crowd(4, "/")
				send(t, h.old, syscall.SIGSTOP)
				p.eventually("the old master stops", func() bool { return stopped(h.old) })
				send(t, h.new, syscall.SIGCONT)
				p.eventually("the end of the start", func() bool { return p.current() == h.new || !alive(h.new) })
				before := clients.answered.Load()
				p.eventually("requests", func() bool { return clients.answered.Load() > before+100 })
				send(t, h.old, syscall.SIGCONT)
				said := <-h.askedC
				if now := p.current(); now == h.new != replaced {
					t.Errorf("the old master is %d, the new one %d, and the pid file names %d", h.old, h.new, now)
				}
				switch {
				case replaced:
					p.gone(append(h.kids, h.old))
					if said != "" {
						t.Errorf("whoever asked for the reload heard %q", said)
					}
				case !strings.Contains(said, "does not answer") || !strings.Contains(said, "jkd goes on as before"):
					t.Errorf("whoever asked for the reload heard %q", said)
				}
				clients.home(0)
				p.sound()
			})
		}
	})
}

// TestHungSuccessor: a new master that hangs is ended after its time, and the
// old one goes on as if nothing had been.
func TestHungSuccessor(t *testing.T) {
	bin := binary(t)
	for _, tt := range []struct {
		mpm string
		at  step
	}{
		{"prefork", stepBegun}, // before it serves it does not matter what children are like
		{"prefork", stepSettling},
		{"worker", stepSettling},
	} {
		t.Run(fmt.Sprintf("%s, %s", tt.mpm, tt.at), func(t *testing.T) {
			t.Parallel() // they wait a minute
			p := newPatient(t, bin, config{mpm: tt.mpm})
			h := p.reach(tt.at)
			clients := p.crowd(2, "/")
			if said := <-h.askedC; !strings.Contains(said, "jkd goes on as before") {
				t.Errorf("whoever asked for the reload heard %q", said)
			}
			if p.current() != h.old {
				t.Errorf("the pid file names %d, want the old master, %d", p.current(), h.old)
			}
			p.gone([]int{h.new})
			p.alone(h.old)
			clients.home(0)
			p.eventually("the descriptors of before", func() bool { return p.own(h.old) <= h.descriptors })
			p.sound()
		})
	}
}
