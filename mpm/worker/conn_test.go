//go:build unix

package worker

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"jkd/mpm/sock"
)

// dialled is a connection with a seat and its client's end.
func dialled(t *testing.T, s *seats, door *conn) (*conn, *os.File) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	client := os.NewFile(uintptr(fds[1]), "client")
	t.Cleanup(func() { client.Close() })
	c := admit(t, s, door)
	c.seats = s
	c.Polled = sock.Accepted{FD: fds[0]}.Polled()
	c.OnIdle = c.idle
	t.Cleanup(func() { c.Close() })
	return c, client
}

// TestConn: whatever becomes of a connection's seat while it waits, it has one
// when there is something to serve, and what came is all there.
func TestConn(t *testing.T) {
	s, _ := testSeats(t, 2, 10)
	door := &conn{}
	c, client := dialled(t, s, door)
	buf := make([]byte, 16)
	read := func(timeout time.Duration, want string) {
		t.Helper()
		n, err := c.ReadIdle(buf, timeout)
		if string(buf[:n]) != want || err != nil || c.seat.Slot == nil {
			t.Fatalf("%q, %v, seated %v", buf[:n], err, c.seat.Slot != nil)
		}
	}
	timesOut := func(err error) {
		t.Helper()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
	send := func(text string) {
		t.Helper()
		if _, err := io.WriteString(client, text); err != nil {
			t.Fatal(err)
		}
	}

	send("at once")
	read(never, "at once")
	_, err := c.ReadIdle(buf, time.Millisecond)
	timesOut(err)
	if c.seat.Slot == nil {
		t.Error("a seat that nobody wants is gone")
	}
	// Two others take all seats in the next wait.
	a := admit(t, s, door)
	tookC := make(chan *conn)
	go func() { tookC <- admit(t, s, door) }()
	for c.seat.Slot != nil {
		_, err := c.ReadIdle(buf, 5*time.Millisecond)
		timesOut(err)
	}
	b := <-tookC
	timesOut(c.Park(0))
	send("after all")
	s.leave(a)
	read(never, "after all") // without a wait in which to notice
	send("parked")
	if err := c.Park(never); err != nil || c.seat.Slot == nil {
		t.Errorf("%v, seated %v", err, c.seat.Slot != nil)
	}
	read(never, "parked")
	client.Close()
	if err := c.Park(never); err != io.EOF || c.seat.Slot != nil {
		t.Errorf("end: %v, seated %v", err, c.seat.Slot != nil)
	}
	s.leave(c)
	s.leave(b)
	if len(s.free) != 2 || len(s.open) != 0 {
		t.Errorf("%d seats are free, %d connections open", len(s.free), len(s.open))
	}
}
