package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// rlimit sets a limit of another process, the hard one only if it is not 0, and
// returns what undoes that.
func rlimit(t *testing.T, pid, resource int, soft, hard uint64) (undo func()) {
	t.Helper()
	set := func(new, old *syscall.Rlimit) {
		t.Helper()
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(resource), uintptr(unsafe.Pointer(new)), uintptr(unsafe.Pointer(old)), 0, 0)
		if errno == syscall.EPERM {
			t.Skip("limits of others cannot be set here")
		}
		if errno != 0 && errno != syscall.ESRCH {
			t.Fatalf("prlimit: %v", errno)
		}
	}
	var before syscall.Rlimit
	set(nil, &before)
	if hard == 0 {
		hard = before.Max
	}
	set(&syscall.Rlimit{Cur: soft, Max: hard}, nil)
	return func() { t.Helper(); set(&before, nil) }
}

const rlimitNproc = 6

// logs waits for a line of the error log.
func (p *patient) logs(text string) {
	p.t.Helper()
	p.eventually("in the log: "+text, func() bool { return strings.Contains(p.log(), text) })
}

// TestDiskFull: without room for logs requests are served, a reload that needs
// room says so, and all is well when there is some again.
func TestDiskFull(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		dir := openDir(t)
		if err := syscall.Mount("jkd-test", dir, "tmpfs", 0, "size=8m,mode=755"); err != nil {
			t.Skipf("there is no disk to fill: mount: %v", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Errorf("unmount: %v", err)
			}
		})
		p := newPatient(t, bin, config{mpm: mpm, dir: dir, server: []string{"CustomLog = access.log common"}})
		filler, err := os.Create(filepath.Join(dir, "filler.log"))
		if err != nil {
			t.Fatal(err)
		}
		defer filler.Close()
		for size := 64 << 10; size > 0; {
			if _, err := filler.Write(bytes.Repeat([]byte{'x'}, size)); err != nil {
				size /= 2
			}
		}
		master := p.current()
		clients := p.crowd(4, "/")
		p.eventually("requests", func() bool { return clients.answered.Load() > 200 })
		if out, err := p.ask(p.program, "graceful"); err == nil || !strings.Contains(out, "no space left on device") {
			t.Errorf("a reload: %v, %q", err, out)
		}
		kids := childrenOf(t, master)
		send(t, kids[0], syscall.SIGKILL) // its successor writes too
		p.eventually("another child", func() bool { return len(childrenOf(t, master)) >= len(kids) && !alive(kids[0]) })
		p.healthy(master)
		if err := filler.Truncate(0); err != nil {
			t.Fatal(err)
		}
		size := func() int64 {
			info, err := os.Stat(filepath.Join(dir, "access.log"))
			if err != nil {
				t.Fatal(err)
			}
			return info.Size()
		}
		before := size()
		p.eventually("lines of the access log", func() bool { return size() > before })
		p.sound()
		clients.home(4) // of the child, at the most
	})
}

// TestAcceptFails: what a child has no descriptor for waits until it has one.
// Under prefork it has too little to do to run out of them.
func TestAcceptFails(t *testing.T) {
	p := newPatient(t, binary(t), config{mpm: "worker", limits: []string{"StartServers = 1", "ThreadsPerChild = 60", "MaxRequestWorkers = 60"}})
	master := p.current()
	kid := p.children()[0]
	rlimit(t, master, syscall.RLIMIT_NOFILE, 48, 48)
	send(t, kid, syscall.SIGKILL)
	p.eventually("a child with few descriptors", func() bool { kids := p.children(); return len(kids) == 1 && kids[0] != kid })
	var clients []*conn
	for range 50 {
		c := dial(t, p.addr)
		if _, err := c.Write([]byte("GET / HTTP/1.1\r\n")); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	p.logs("could not accept a connection")
	for _, c := range clients[:40] {
		c.Close()
	}
	for _, c := range clients[40:] {
		if _, err := c.Write([]byte("Host: test\r\nConnection: close\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if r, err := c.response("GET"); err != nil || r.StatusCode != 200 {
			t.Errorf("one of those that had to wait: %v, %v", r, err)
		}
	}
	p.sound()
}

// TestDescriptorsRunOut: a master that can open nothing goes on with what it
// has.
func TestDescriptorsRunOut(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		p := newPatient(t, bin, config{mpm: mpm})
		master := p.current()
		clients := p.crowd(4, "/")
		undo := rlimit(t, master, syscall.RLIMIT_NOFILE, uint64(descriptors(master)), 0)
		send(t, master, syscall.SIGHUP)
		p.logs("the reload has failed, this generation goes on")
		p.logs("too many open files")
		send(t, p.children()[0], syscall.SIGKILL)
		p.logs("could not start a child")
		undo()
		p.healthy(master)
		p.sound()
		clients.home(4) // of the child, at the most
	})
}

// TestForkFails: without a process for another child the ones that are there go
// on, a reload says what is missing, and all is well when there is room again.
func TestForkFails(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("children must be another user's, for whom there is a limit")
	}
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		p := newPatient(t, bin, config{mpm: mpm, limits: constant[mpm]})
		master := p.current()
		kids := p.children()
		undo := rlimit(t, master, rlimitNproc, 1, 0)
		send(t, kids[0], syscall.SIGKILL)
		p.logs("could not start a child")
		if out, err := p.ask(p.program, "graceful"); err == nil || !strings.Contains(out, "resource temporarily unavailable") {
			t.Errorf("a reload: %v, %q", err, out)
		}
		p.healthy(master)
		undo()
		p.eventually("another child", func() bool { return len(p.children()) >= len(kids) })
		p.sound()
	})
}

// TestStoppedChild: a child that was stopped, and so neither obeys nor ends,
// keeps nobody from anything for ever.
func TestStoppedChild(t *testing.T) {
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		for _, how := range []string{"stop", "graceful-stop", "graceful", "restart"} {
			t.Run(how, func(t *testing.T) {
				t.Parallel() // they wait for the end of patience
				p := newPatient(t, bin, config{mpm: mpm, server: []string{"GracefulShutdownTimeout = 1"}})
				master, kids := p.current(), p.children()
				send(t, kids[0], syscall.SIGSTOP)
				if out, err := p.ask(p.program, how); err != nil {
					t.Fatalf("-k %s: %v, %s", how, err, out)
				}
				if strings.Contains(how, "stop") {
					p.over(0)
					return
				}
				p.gone(slices.Concat(kids, []int{master}))
				p.sound()
			})
		}
	})
}
