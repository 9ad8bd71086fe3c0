//go:build unix

package worker

import (
	"time"

	"jkd/mpm/sock"
	"jkd/scoreboard"
)

// conn is a connection that lets others have its seat while it waits for a
// request.
type conn struct {
	*sock.Polled
	seats   *seats
	seat    scoreboard.Seat
	at      int      // number of the seat's slot
	turnC   chan int // brings the number of a slot to who queues for one
	offered bool     // the seat was offered to others in this wait
}

// ReadIdle implements sock.Conn. The connection has a seat afterwards if
// something was read; otherwise it may have none.
func (c *conn) ReadIdle(p []byte, timeout time.Duration) (int, error) {
	n, err := c.Polled.ReadIdle(p, timeout)
	if c.offered {
		c.offered = false
		c.seats.retake(c)
	}
	if n > 0 && c.seat.Slot == nil {
		c.seats.sit(c)
	}
	return n, err
}

// idle is Polled.OnIdle.
func (c *conn) idle() {
	if !c.offered && c.seat.Slot != nil {
		c.offered = true
		c.seats.offer(c)
	}
}

// Park is ReadIdle that reads nothing, for a connection from which nothing has
// come for so long that its buffers are of more use elsewhere. The seat is
// given up at once; the connection has one again if the error is nil.
func (c *conn) Park(timeout time.Duration) error {
	if c.seat.Slot != nil {
		c.seats.rise(c)
	}
	if err := c.Polled.WaitReadable(timeout); err != nil {
		return err
	}
	c.seats.sit(c)
	return nil
}
