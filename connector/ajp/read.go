package ajp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"jkd/connector"
)

// next returns the payload of the next packet, at least one byte, valid until
// the following call.
func (c *Conn) next(w connector.ResponseWriter) ([]byte, error) {
	c.until = time.Time{}
	return c.packet(w)
}

// packet is next without a new start of the clock.
func (c *Conn) packet(w connector.ResponseWriter) ([]byte, error) {
	for {
		need := headLen
		have := c.in[c.r:c.w]
		if len(have) >= 2 && (have[0] != 'A' || have[1] != 'B') {
			c.at = c.r
			return nil, c.protocolError(fmt.Sprintf("wrong message format 0x%02x%02x", have[0], have[1]))
		}
		if len(have) >= headLen {
			n := int(have[2])<<8 | int(have[3])
			c.at = c.r
			if n == 0 {
				return nil, c.protocolError("empty packet")
			}
			if n > c.max {
				return nil, c.protocolError(fmt.Sprintf("wrong message size %d: longer than max_packet_size", n))
			}
			need += n
			if len(have) >= need {
				c.r += need
				return have[headLen:need:need], nil
			}
		}
		if err := c.fill(need, w); err != nil {
			return nil, err
		}
	}
}

// fill reads more, with room for a packet of need bytes at r. Body data that w
// still refers to lies before r; it is flushed before it is overwritten, and
// when the container takes its time.
func (c *Conn) fill(need int, w connector.ResponseWriter) error {
	pending := w != nil && w.Buffered() > 0
	if c.r == c.w && !pending {
		c.r, c.w = 0, 0
	}
	if c.r+need > len(c.in) || (c.r > 0 && len(c.in)-c.w < lowRoom) {
		in := c.in
		if len(in) < bulkBuffer && (pending || need > len(in)) {
			in = make([]byte, bulkBuffer)
		}
		if pending {
			if err := c.flush(w); err != nil {
				return &clientError{err}
			}
			pending = false
		}
		c.w = copy(in, c.in[c.r:c.w])
		c.r, c.in = 0, in
	}
	if pending {
		now := time.Now()
		if c.held.IsZero() {
			c.held = now.Add(gather)
			_ = c.nc.SetReadDeadline(c.held)
			c.limited = true
		}
		if now.Before(c.held) {
			n, err := c.nc.Read(c.in[c.w:])
			c.w += n
			c.read += uint64(n)
			if n > 0 {
				return nil
			}
			if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
				return c.readError(err, false)
			}
		}
		if err := c.flush(w); err != nil {
			return &clientError{err}
		}
	}
	reply, err := c.limit()
	if err != nil {
		return err
	}
	n, err := c.nc.Read(c.in[c.w:])
	c.w += n
	c.read += uint64(n)
	if n > 0 {
		return nil // an error comes again with the next read
	}
	return c.readError(err, reply)
}

// flush sends what w holds to the client. The container's clock does not run
// meanwhile: nothing is held any more once the wait for a packet has begun.
func (c *Conn) flush(w connector.ResponseWriter) error {
	c.held = time.Time{}
	return w.Flush()
}

// limit sets the deadline of the next read: the end of the time for the packet
// awaited, so that a container can't stretch it by sending byte after byte, or
// that of one read if it comes first; reply tells which.
func (c *Conn) limit() (reply bool, err error) {
	if c.t.Reply <= 0 && c.t.Socket <= 0 {
		c.unlimit()
		return false, nil
	}
	now := time.Now()
	var at time.Time
	if c.t.Reply > 0 {
		if c.until.IsZero() {
			c.until = now.Add(c.t.Reply)
		}
		if !now.Before(c.until) {
			return true, &timeoutError{errReplyTimeout}
		}
		at, reply = c.until, true
	}
	if c.t.Socket > 0 {
		if s := now.Add(c.t.Socket); !reply || s.Before(at) {
			at, reply = s, false
		}
	}
	_ = c.nc.SetReadDeadline(at)
	c.limited = true
	return reply, nil
}

// unlimit takes the read deadline away.
func (c *Conn) unlimit() {
	if c.limited {
		_ = c.nc.SetReadDeadline(time.Time{})
		c.limited = false
	}
}

// clientError marks a failure of w inside next.
type clientError struct{ error }

// timeoutError marks the expiry of reply_timeout.
type timeoutError struct{ error }

func (e *timeoutError) Unwrap() error { return e.error }

func (c *Conn) readError(err error, reply bool) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF:
		return ErrClosed
	case reply && errors.Is(err, os.ErrDeadlineExceeded):
		return &timeoutError{errReplyTimeout}
	}
	return err
}

var (
	// ErrClosed tells that the container closed the connection.
	ErrClosed       = errors.New("ajp: the container closed the connection")
	errReplyTimeout = errors.New("ajp: no packet within reply_timeout")
)
