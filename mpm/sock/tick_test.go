//go:build unix

package sock

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTickDue(t *testing.T) {
	var none *Tick
	if none.Run(time.Now()) || none.bound(-1, time.Now()) != -1 || none.bound(5, time.Now()) != 5 {
		t.Error("a nil Tick does something")
	}
	nop := func(time.Time) {}
	if NewTick(0, 0, nil, nop) != nil || NewTick(0, -1, nil, nop) != nil || NewTick(0, time.Second, nil, nil) != nil {
		t.Error("a Tick without sense is not nil")
	}
	wake, err := NewWakePipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wake.Close()
	n := 0
	k := NewTick(time.Hour, 2*time.Hour, wake, func(time.Time) { n++ })
	now := k.due.Add(-time.Minute)
	if got := k.bound(-1, now); got != time.Minute {
		t.Errorf("an endless wait is bounded to %s", got)
	}
	if got := k.bound(time.Second, now); got != time.Second {
		t.Errorf("a short wait is bounded to %s", got)
	}
	if k.Run(now) || n != 0 {
		t.Error("run before it was due")
	}
	late := k.due.Add(time.Minute)
	if got := k.bound(-1, late); got != 0 {
		t.Errorf("overdue, and yet there are %s to wait", got)
	}
	if !k.Run(late) || n != 1 {
		t.Error("not run when it was due")
	}
	if k.Run(time.Now()) || n != 1 {
		t.Error("run twice")
	}
	wake.Set()
	if k.Run(k.due) || n != 1 {
		t.Error("run by a process that was told to leave")
	}
	if got := k.bound(-1, k.due); got != 0 {
		t.Errorf("bound is %s", got)
	}
}

// TestTickAsks: the order that Woken would overlook for a tenth of a second.
func TestTickAsks(t *testing.T) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[0])
	defer unix.Close(p[1])
	wake := NewWake(p[0])
	ran := false
	k := NewTick(0, time.Hour, wake, func(time.Time) { ran = true })
	wake.Woken()
	if _, err := unix.Write(p[1], []byte("x")); err != nil {
		t.Fatal(err)
	}
	if k.Run(time.Now().Add(time.Hour)) || ran {
		t.Error("run after the order to leave")
	}
}

// TestMilliseconds covers what poll(2) gets.
func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]int{
		-1: -1, 0: 0, 1: 1, time.Millisecond: 1, time.Millisecond + 1: 2, time.Minute: 60000, 1 << 62: 1 << 30,
	} {
		if got := milliseconds(d); got != want {
			t.Errorf("milliseconds(%d) = %d, want %d", d, got, want)
		}
	}
}

// TestAcceptTicks: while there are no connections the Tick is run, what comes
// during one is accepted after it, and the order to leave ends both.
func TestAcceptTicks(t *testing.T) {
	for _, optimistic := range []bool{false, true} {
		ln := listen(t)
		lfd := dup(t, ln)
		defer unix.Close(lfd)
		wake, err := NewWakePipe()
		if err != nil {
			t.Fatal(err)
		}
		defer wake.Close()
		a, err := NewAcceptor([]int{lfd}, wake)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		const idle = 20
		n, conns := 0, 0
		a.Optimistic = optimistic
		a.Tick = NewTick(time.Millisecond, time.Millisecond, wake, func(time.Time) {
			switch n++; {
			case n%idle != 0:
			case conns < 5:
				c, err := net.Dial("tcp", ln.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				conns++
			default:
				wake.Set()
			}
		})
		for want := 1; want <= 5; want++ {
			accepted, err := a.Accept()
			if err != nil {
				t.Fatal(err)
			}
			unix.Close(accepted.FD)
			if conns != want || n != want*idle {
				t.Errorf("accepted number %d after %d connections and %d ticks", want, conns, n)
			}
		}
		if _, err := a.Accept(); err != ErrWoken {
			t.Errorf("Accept = %v; want ErrWoken", err)
		}
		if n != 6*idle {
			t.Errorf("%d ticks, there were %d before the order", n, 6*idle)
		}
	}
}

// TestAcceptTicksLosing: a process that is woken for connections which others
// take has its ticks too, before it waits again.
func TestAcceptTicksLosing(t *testing.T) {
	ln := listen(t)
	lfd := dup(t, ln)
	defer unix.Close(lfd)
	wake, err := NewWakePipe()
	if err != nil {
		t.Fatal(err)
	}
	defer wake.Close()
	a, err := NewAcceptor([]int{lfd}, wake)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	a.Tick = NewTick(0, time.Hour, wake, func(time.Time) { wake.Set() })
	if woken, err := a.wait(true); woken || err != nil || !wake.Woken() {
		t.Errorf("wait after a lost race = %v, %v; the tick that is due was not run first", woken, err)
	}
}

// tickPair is a Blocking and its peer.
func tickPair(t *testing.T) (*Blocking, *net.TCPConn) {
	t.Helper()
	ln := listen(t)
	p, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	lfd := dup(t, ln)
	defer unix.Close(lfd)
	a, err := NewAcceptor([]int{lfd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	accepted, err := a.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := accepted.Blocking(nil)
	t.Cleanup(func() { c.Close() })
	return c, p.(*net.TCPConn)
}

// TestReadIdleTicks: ticks in a wait for a request neither end it nor make it
// endless, whichever way it waits.
func TestReadIdleTicks(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"near": optimistic + optimistic/2, "far": 3 * optimistic} {
		for _, slow := range []bool{false, true} {
			c, peer := tickPair(t)
			n := 0
			c.Tick = NewTick(time.Millisecond, time.Millisecond, nil, func(time.Time) { n++ })
			c.slow = slow
			b := make([]byte, 16)
			if _, err := c.ReadIdle(b, timeout); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: ReadIdle = %v; want deadline exceeded", name, err)
			}
			if n == 0 {
				t.Errorf("%s: no ticks", name)
			}
			// Data ends it, here sent by the tick that finds it waiting.
			n = 0
			c.slow = slow
			c.Tick = NewTick(0, time.Millisecond, nil, func(time.Time) {
				if n++; n == 3 {
					peer.Write([]byte("next"))
				}
			})
			if k, err := c.ReadIdle(b, time.Minute); err != nil || string(b[:k]) != "next" || n < 3 {
				t.Errorf("%s: ReadIdle = %q, %v after %d ticks", name, b[:k], err, n)
			}
		}
	}
}

// TestReadIdleLongTick: a tick that outlasts the time-out. What has come
// meanwhile is not lost; if nothing has, the time is up.
func TestReadIdleLongTick(t *testing.T) {
	for _, data := range []bool{true, false} {
		for _, slow := range []bool{true, false} {
			c, peer := tickPair(t)
			c.slow = slow
			const timeout = 2*optimistic + optimistic/2
			n := 0
			c.Tick = NewTick(timeout-optimistic/2, time.Hour, nil, func(time.Time) {
				n++
				if data {
					peer.Write([]byte("late"))
				}
				time.Sleep(timeout)
			})
			b := make([]byte, 16)
			k, err := c.ReadIdle(b, timeout)
			if n == 0 {
				continue // the machine slept past both moments
			}
			if data && (err != nil || string(b[:k]) != "late") {
				t.Errorf("ReadIdle = %q, %v; want what came during the tick", b[:k], err)
			}
			if !data && !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("ReadIdle = %v; want deadline exceeded", err)
			}
		}
	}
}

// TestReadIdleBusy: a client that never lets the process wait does not keep
// the Tick from running.
func TestReadIdleBusy(t *testing.T) {
	c, peer := tickPair(t)
	n := 0
	c.Tick = NewTick(time.Millisecond, time.Millisecond, nil, func(time.Time) { n++ })
	b := make([]byte, 1)
	for end := time.Now().Add(time.Minute); n < 5 && time.Now().Before(end); {
		if _, err := peer.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReadIdle(b, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if n < 5 {
		t.Errorf("%d ticks in a minute", n)
	}
}

// TestReadIgnoresTicks: within a request nothing else happens.
func TestReadIgnoresTicks(t *testing.T) {
	c, _ := tickPair(t)
	c.Tick = NewTick(0, time.Millisecond, nil, func(time.Time) { t.Error("a tick in Read") })
	_ = c.SetReadDeadline(time.Now().Add(2*optimistic + optimistic/2))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read = %v; want deadline exceeded", err)
	}
}
