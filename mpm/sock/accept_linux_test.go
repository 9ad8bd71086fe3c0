package sock

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// hot makes an acceptor that waits in the runtime's poller.
func hot(t *testing.T) (a *Acceptor, wake *Wake, dial func()) {
	t.Helper()
	ln := listen(t)
	lfd := dup(t, ln)
	t.Cleanup(func() { unix.Close(lfd) })
	wake, err := NewWakePipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wake.Close() })
	if a, err = NewAcceptor([]int{lfd}, wake); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	dial = func() {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { c.Close() })
	}
	dial()
	take(t, a)
	if !a.hot {
		t.Skip("a connection that was there took longer than soon")
	}
	return a, wake, dial
}

func take(t *testing.T, a *Acceptor) {
	t.Helper()
	accepted, err := a.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Close(accepted.FD); err != nil {
		t.Error(err)
	}
}

// TestAcceptInRuntime: an acceptor that has just had a connection takes those
// that are there, those that come while it waits, and those that come later.
func TestAcceptInRuntime(t *testing.T) {
	a, _, dial := hot(t)
	for range 3 {
		dial()
	}
	for range 3 {
		take(t, a)
	}
	if file, _ := a.poller.runtime(); file == nil {
		t.Fatal("the runtime's poller does not take the acceptor's")
	}
	go dial()
	take(t, a)
	a.hot = true
	time.AfterFunc(3*cold, dial)
	take(t, a)
	if a.hot {
		t.Error("a wait that was long has left it hot")
	}
}

// TestWakeInRuntime: that wait ends when the process is to leave.
func TestWakeInRuntime(t *testing.T) {
	for _, before := range []bool{false, true} {
		a, wake, _ := hot(t)
		if before {
			wake.Set()
		} else {
			time.AfterFunc(cold/2, wake.Set)
		}
		if _, err := a.Accept(); !errors.Is(err, ErrWoken) {
			t.Errorf("set before the wait %v: %v", before, err)
		}
	}
}

// TestNudge: it ends a wait wherever that is, once, and is not an order to leave.
func TestNudge(t *testing.T) {
	a, wake, dial := hot(t)
	for _, hot := range []bool{true, false} {
		a.hot = hot
		wake.Nudge()
		wake.Nudge()
		if _, err := a.Accept(); err != ErrNone {
			t.Fatalf("hot %v: nudged before the wait: %v", hot, err)
		}
		a.hot = hot
		time.AfterFunc(cold/2, wake.Nudge)
		if _, err := a.Accept(); err != ErrNone {
			t.Fatalf("hot %v: nudged in the wait: %v", hot, err)
		}
		if _, err := a.TryAccept(); err != ErrNone {
			t.Fatalf("hot %v: nothing is there: %v", hot, err)
		}
		a.hot = hot
		go dial()
		take(t, a)
	}
	wake.Nudge()
	wake.Set()
	if _, err := a.Accept(); !errors.Is(err, ErrWoken) {
		t.Errorf("nudged and told to leave: %v", err)
	}
}

// TestNudgeAndSet: an order to leave is not lost among nudges.
func TestNudgeAndSet(t *testing.T) {
	for range 100 {
		a, wake, _ := hot(t)
		go func() {
			for range 50 {
				wake.Nudge()
			}
			wake.Set()
		}()
		err := ErrNone
		for err == ErrNone {
			_, err = a.Accept()
		}
		if err != ErrWoken {
			t.Fatal(err)
		}
	}
}
