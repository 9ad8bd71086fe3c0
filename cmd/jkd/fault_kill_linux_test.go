package main_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is how far a reload has come.
type step uint8

const (
	stepNone     step = iota // there is none
	stepBegun                // the new master was started and has done nothing yet
	stepChildren             // it starts its children
	stepSettling             // they serve, the old ones too
	stepDraining             // the new generation has taken over, the old one has a request left
)

func (s step) String() string {
	return [...]string{"none", "begun", "children", "settling", "draining"}[s]
}

// handover is a reload that has been stopped at a step.
type handover struct {
	p        *patient
	old, new int         // the masters; new 0: none
	kids     []int       // the old one's children
	askedC   chan string // what the reload has said, in the end; "" is a success
	held     *conn       // of the request that the old generation has; nil: none

	descriptors int // of the old master before the reload, see own
}

// reach begins a reload and stops it at a step: the new master is stopped by a
// signal up to settling.
func (p *patient) reach(at step) *handover {
	p.t.Helper()
	for range 60 {
		h := &handover{p: p, old: p.current(), askedC: make(chan string, 1)}
		h.descriptors = p.own(h.old)
		h.kids = childrenOf(p.t, h.old)
		if at == stepNone {
			close(h.askedC)
			return h
		}
		if at == stepDraining {
			h.held = p.hold()
		}
		if at == stepBegun {
			p.swap("#!/bin/sh\nkill -STOP $$\nexec " + p.program + ".real \"$@\"\n")
		}
		go func() {
			out, err := p.ask(p.program+".real", "graceful")
			if err == nil {
				out = ""
			}
			h.askedC <- out
		}()
		if at == stepDraining {
			if out := <-h.askedC; out != "" {
				p.t.Fatalf("reload: %s", out)
			}
			h.askedC <- ""
			h.new = p.current()
			return h
		}
		p.eventually("a new master", func() bool { h.new = p.successor(h.old); return h.new != 0 })
		if at == stepBegun {
			p.eventually("the new master stops", func() bool { return stopped(h.new) })
			p.swap("")
			return h
		}
		// It runs for a moment at a time, or it would pass the step unseen.
		p.eventually(at.String(), func() bool {
			runShortly(h.new, 500*time.Microsecond)
			return p.reached(h) >= at || !alive(h.new)
		})
		p.eventually("the new master stops", func() bool { return stopped(h.new) || !alive(h.new) })
		if p.reached(h) == at {
			return h
		}
		// Too late: another try.
		send(p.t, h.new, syscall.SIGCONT)
		if out := <-h.askedC; out != "" {
			p.t.Fatalf("reload: %s", out)
		}
		p.alone(p.current())
	}
	p.t.Fatalf("no reload could be stopped while %s", at)
	return nil
}

// runShortly lets a process that is stopped, or not yet, run for a time and stops
// it. Nothing may come between the two signals: neither does the scheduler of
// this process know of the wait, nor, for root, do other processes go first.
func runShortly(pid int, d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
	defer unix.Setpriority(unix.PRIO_PROCESS, 0, 0)
	wait := unix.NsecToTimespec(d.Nanoseconds())
	_, _, _ = syscall.RawSyscall(syscall.SYS_KILL, uintptr(pid), uintptr(syscall.SIGCONT), 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&wait)), 0, 0)
	_, _, _ = syscall.RawSyscall(syscall.SYS_KILL, uintptr(pid), uintptr(syscall.SIGSTOP), 0)
}

// swap puts a script in the place of the program, or the program back.
func (p *patient) swap(script string) {
	p.t.Helper()
	next := p.program + ".next"
	var err error
	if script == "" {
		err = os.Link(p.program+".real", next)
	} else {
		err = writeProgram(next, []byte(script))
	}
	if err == nil {
		err = os.Rename(next, p.program)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// successor is the process that a master has started to replace it.
func (p *patient) successor(master int) int {
	for _, pid := range childrenOf(p.t, master) {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if bytes.Contains(env, []byte("TABLEFLIP_HAS_PARENT")) {
			return pid
		}
	}
	return 0
}

// reached tells how far the new master has come.
func (p *patient) reached(h *handover) step {
	switch {
	case p.current() == h.new:
		return stepDraining
	case strings.Contains(p.log(), fmt.Sprintf("mpm=%s pid=%d", p.mpm, h.new)):
		return stepSettling
	case len(childrenOf(p.t, h.new)) > 0:
		return stepChildren
	}
	return stepBegun
}

// TestKills: whichever process of two generations is killed, at whatever step of
// a reload, one generation serves afterwards and can be replaced, or the server
// has ended and can be started anew; nothing is left behind.
func TestKills(t *testing.T) {
	bin := binary(t)
	type row struct {
		at     step
		victim string // old, new, keeper, "old's children", "new's child"
		serves string // old, new, or nobody: then a supervisor sees it
	}
	rows := []row{
		{stepNone, "old", ""},
		{stepNone, "old's children", "old"},
		{stepNone, "keeper", ""},
	}
	for _, at := range []step{stepBegun, stepChildren, stepSettling} {
		rows = append(rows,
			row{at, "old", "new"},
			row{at, "new", "old"},
			row{at, "old's children", "new"},
			row{at, "keeper", ""})
	}
	rows = append(rows,
		row{stepChildren, "new's child", "new"},
		row{stepSettling, "new's child", "new"},
		row{stepDraining, "new's child", "new"},
		row{stepDraining, "old", "new"},
		row{stepDraining, "new", ""},
		row{stepDraining, "old's children", "new"},
		row{stepDraining, "keeper", ""},
	)
	run := func(t *testing.T, c config, skip func(row) bool) {
		for _, r := range rows {
			if skip(r) {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s", r.at, r.victim), func(t *testing.T) {
				t.Parallel() // they wait most of the time
				c := c
				if r.at == stepChildren {
					// So many that the step takes long enough to be met in it.
					c.limits = []string{"StartServers = 24", "MinSpareServers = 2", "MaxSpareServers = 30"}
				}
				newPatient(t, bin, c).kill(r.at, r.victim, r.serves)
			})
		}
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		// Before they serve it does not matter what children are like.
		run(t, config{mpm: mpm}, func(r row) bool { return mpm == "worker" && r.at < stepSettling })
	})
	t.Run("detached", func(t *testing.T) {
		run(t, config{mpm: "prefork", detached: true}, func(r row) bool { return r.victim != "old" && r.victim != "new" })
	})
}

func (p *patient) kill(at step, victim, serves string) {
	h := p.reach(at)
	// Who ends in order loses nothing; a child that is killed loses what it has
	// in hand.
	orderly := serves != "" && !strings.Contains(victim, "child")
	var clients *crowd
	if orderly {
		clients = p.crowd(4, "/")
		p.eventually("requests", func() bool { return clients.answered.Load() > 50 })
	}
	for _, pid := range h.victims(victim) {
		send(p.t, pid, syscall.SIGKILL)
	}
	if h.new != 0 {
		send(p.t, h.new, syscall.SIGCONT)
	}
	switch serves {
	case "":
		switch {
		case victim == "keeper":
			p.over(-1) // nobody knows
		case at == stepDraining:
			p.eventually("the old master notices", func() bool { return strings.Contains(p.log(), "nobody accepts connections") })
			p.over(1) // the keeper has not seen how
		default:
			p.over(137)
		}
		return
	case "old":
		if said := <-h.askedC; at != stepNone && !strings.Contains(said, "jkd goes on as before") {
			p.t.Errorf("whoever asked for the reload heard %q", said)
		}
		if p.current() != h.old {
			p.t.Errorf("the pid file names %d, want the old master, %d", p.current(), h.old)
		}
		p.eventually("the descriptors of before", func() bool { return p.own(h.old) <= h.descriptors })
	case "new":
		p.eventually("the new master serves", func() bool { return p.current() == h.new })
	}
	p.release()
	if h.held != nil && victim != "old's children" {
		if r, err := h.held.response("GET"); err != nil || r.StatusCode != 200 {
			p.t.Errorf("the request that was running: %v, %v", r, err)
		}
	}
	p.sound()
	if orderly {
		clients.home(0)
	}
}

// own is how many descriptors a master has without those that lead to its
// children, one each.
func (p *patient) own(master int) int {
	return len(descriptorsOf(p.t, master)) - len(childrenOf(p.t, master))
}

// victims are the processes of that name.
func (h *handover) victims(name string) (pids []int) {
	h.p.t.Helper()
	switch name {
	case "old":
		pids = []int{h.old}
	case "new":
		pids = []int{h.new}
	case "keeper":
		pids = []int{h.p.cmd.Process.Pid}
	case "old's children":
		pids = h.kids
	case "new's child":
		kids := childrenOf(h.p.t, h.new)
		pids = kids[:min(1, len(kids))]
	}
	if len(pids) == 0 || slices.Contains(pids, 0) {
		h.p.t.Fatalf("there is no %s", name)
	}
	return pids
}
