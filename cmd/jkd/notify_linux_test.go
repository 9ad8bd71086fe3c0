package main_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// supervisor is what systemd is to a service of Type=notify: a socket.
type supervisor struct {
	t *testing.T
	l *net.UnixConn
}

func newSupervisor(t *testing.T) *supervisor {
	t.Helper()
	name := filepath.Join(openDir(t), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	t.Setenv("NOTIFY_SOCKET", name)
	return &supervisor{t, l}
}

// hears waits for the next thing that is told, which must be just that. The
// master that serves is named by pid; in place of <now> is the time, which it
// returns.
func (v *supervisor) hears(want string) (usec uint64) {
	v.t.Helper()
	var b [1000]byte
	_ = v.l.SetReadDeadline(time.Now().Add(patience))
	n, err := v.l.Read(b[:])
	if err != nil {
		v.t.Fatalf("waiting for %q: %v", want, err)
	}
	got := string(b[:n])
	if before, after, ok := strings.Cut(want, "<now>"); ok {
		number := strings.TrimSuffix(strings.TrimPrefix(got, before), after)
		if usec, err = strconv.ParseUint(number, 10, 64); err != nil || usec == 0 {
			v.t.Errorf("%q is no time", number)
		}
		want = before + number + after
	}
	if got != want {
		v.t.Errorf("systemd was told %q, want %q", got, want)
	}
	return usec
}

// silent checks that nothing more was told: what the test says itself is next.
func (v *supervisor) silent() {
	v.t.Helper()
	c, err := net.DialUnix("unixgram", nil, v.l.LocalAddr().(*net.UnixAddr))
	if err != nil {
		v.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("nothing more")); err != nil {
		v.t.Fatal(err)
	}
	v.hears("nothing more")
}

// TestNotify: what systemd is told during a life with reloads that go well and
// one that does not. The main process stays, so MAINPID is never told.
func TestNotify(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts jkd: left out with -short")
	}
	bin := binary(t)
	const reloading, stopping = "RELOADING=1\nMONOTONIC_USEC=<now>\nSTATUS=reloading", "STOPPING=1\nSTATUS=stopping"
	eachMPM(t, func(t *testing.T, mpm string) {
		for name, end := range map[string]syscall.Signal{"stop": syscall.SIGTERM, "graceful stop": syscall.SIGWINCH} {
			t.Run(name, func(t *testing.T) {
				v := newSupervisor(t)
				s := start(t, bin, config{mpm: mpm})
				keeper := s.cmd.Process.Pid
				serves := func() string { return fmt.Sprintf("READY=1\nSTATUS=process %d serves", s.current()) }
				v.hears(serves())

				// By a signal: systemd hears of the beginning, and of the end when
				// the pid file names the next master.
				var last uint64
				for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1} {
					before := s.current()
					send(t, keeper, sig)
					now := v.hears(reloading)
					if now <= last {
						t.Errorf("the time %d is not after %d", now, last)
					}
					last = now
					s.eventually("another master", func() bool { pid := s.current(); return pid != 0 && pid != before })
					v.hears(serves())
				}

				// One that fails is over too, and the same master serves.
				conf := filepath.Join(s.dir, "jkd.conf")
				good, err := os.ReadFile(conf)
				if err != nil {
					t.Fatal(err)
				}
				s.write("jkd.conf", "[server]\nNoSuchDirective = 1\n")
				want := serves()
				send(t, keeper, syscall.SIGHUP)
				v.hears(reloading)
				v.hears(want)
				s.write("jkd.conf", string(good))

				// By the control socket only its end reaches the keeper.
				if out, err := s.ask(bin, "graceful"); err != nil {
					t.Fatalf("-k graceful: %v, %s", err, out)
				}
				if serves() == want {
					t.Error("after -k graceful the master is the same")
				}
				v.hears(serves())

				s.master = s.current()
				kids := append(s.children(), s.master)
				send(t, keeper, end)
				v.hears(stopping)
				s.ended(kids)
				v.silent()
			})
		}
	})
}
