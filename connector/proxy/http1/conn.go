package http1

import (
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"jkd/connector"
)

// NetConn is the stream a [Conn] runs over.
type NetConn interface {
	net.Conn
	// Readable tells without waiting whether a Read would return at once.
	Readable() (bool, error)
}

// Request is one request. It can be sent again as long as nothing was taken of
// Body.
type Request struct {
	Head   []byte // with the empty line; its framing fields agree with what follows
	First  []byte // the beginning of the body
	Body   io.Reader
	Left   int64 // bytes that Body still has; -1: a number that is not known, and the coding is chunked
	IsHead bool  // the method is HEAD
	// Upgrade is the protocols that Head offers, as a list; empty for none. Then there
	// is no body.
	Upgrade []byte
}

// chunked tells that the body is sent in chunks.
func (r *Request) chunked() bool { return r.Left < 0 }

// Timeouts are the limits of one exchange; 0 means none.
type Timeouts struct {
	Read  time.Duration // of one wait for anything of the answer
	Write time.Duration // of one wait for the container to take what is sent
}

const (
	// smallBuffer is the receive buffer of a connection that has carried short
	// answers only; bulkBuffer replaces it for good.
	smallBuffer = 16 << 10
	bulkBuffer  = 64 << 10
	// lowRoom is when reading on into the rest of the buffer does not pay.
	lowRoom = 4 << 10
	// piece is how much of a body is sent at a time.
	piece = 16 << 10
)

// Conn is one connection to a container. It is used by one goroutine.
type Conn struct {
	nc   NetConn
	idle bool

	// in[r:w] has been received and not yet been used.
	in   []byte
	r, w int
	head head
	out  []byte
	body []byte

	readUntil, writeUntil time.Time // deadlines in force
	t                     Timeouts
	interim               int    // informational answers to this request
	offer                 []byte // the request's Upgrade
	consumed              bool
	sent, read            uint64
}

// NewConn runs HTTP over nc.
func NewConn(nc NetConn) *Conn {
	return &Conn{nc: nc, idle: true, in: make([]byte, smallBuffer)}
}

// Idle tells whether the connection may carry a request.
func (c *Conn) Idle() bool { return c.idle }

// Close closes the connection.
func (c *Conn) Close() error {
	c.idle = false
	return c.nc.Close()
}

// Traffic is how many bytes the last exchange has sent and read.
func (c *Conn) Traffic() (sent, read uint64) { return c.sent, c.read }

// Usable tells whether an idle connection is open with nothing to be read:
// anything that comes unasked could be taken for the next answer. It does not
// wait.
func (c *Conn) Usable() bool {
	if c.idle {
		ready, err := c.nc.Readable()
		c.idle = !ready && err == nil
	}
	return c.idle
}

// Exchange sends r and passes the answer to w, including w.Finish. Afterwards
// the connection may carry another request if it is [Conn.Idle]. Errors are
// *[connector.ExchangeError].
func (c *Conn) Exchange(r *Request, w connector.ResponseWriter, t Timeouts) error {
	fail := func(phase connector.Phase, cause connector.Cause, err error) error {
		return &connector.ExchangeError{Phase: phase, Cause: cause, BodyConsumed: c.consumed, Err: err}
	}
	if !c.idle {
		return fail(connector.PhaseSend, connector.CauseBroken, ErrClosed)
	}
	c.idle, c.t, c.r, c.w, c.offer = false, t, 0, 0, r.Upgrade
	c.interim, c.consumed, c.sent, c.read = 0, false, 0, 0
	answered, err := c.send(r)
	if err != nil {
		return c.sort(connector.PhaseSend, err)
	}
	if !answered {
		if _, err := c.readHead(true); err != nil {
			phase := connector.PhaseReply
			if c.read > 0 {
				phase = connector.PhaseHead
			}
			return c.sort(phase, err)
		}
	}
	h := &c.head
	if h.status == 101 {
		return c.upgrade(w)
	}
	keep := h.persistent() && !answered
	if h.length >= 0 {
		h.fields = append(h.fields, connector.Field{Name: contentLength, Value: strconv.AppendInt(c.lengthText(), h.length, 10)})
	}
	if err := w.Start(h.status, h.fields); err != nil {
		return c.sort(connector.PhaseBody, writerError{err})
	}
	switch {
	case r.IsHead, h.status == 204, h.status == 304, h.length == 0:
	case h.chunked:
		err = c.chunks(w)
	case h.length > 0:
		err = c.bytes(w, h.length)
	default:
		keep = false
		err = c.rest(w)
	}
	if err != nil {
		return c.sort(connector.PhaseBody, err)
	}
	c.idle = keep && c.r == c.w
	if err := w.Finish(); err != nil {
		idle := c.idle // a client that left says nothing about the container
		err = c.sort(connector.PhaseBody, writerError{err})
		if err.(*connector.ExchangeError).Cause == connector.CauseClient {
			c.idle = idle
		}
		return err
	}
	return nil
}

// upgrade hands the connection over after a 101 that was asked for.
func (c *Conn) upgrade(w connector.ResponseWriter) error {
	u, ok := w.(connector.Upgrader)
	if !ok {
		return c.sort(connector.PhaseHead, fault("status 101, but the client's connection can't be upgraded"))
	}
	h := &c.head
	if err := u.Upgrade(h.fields, h.upgrade, c.nc, c.in[c.r:c.w], c.t.Read); err != nil {
		return c.sort(connector.PhaseBody, writerError{err})
	}
	return nil
}

var contentLength = []byte("Content-Length")

// lengthText is room for a number that is not in the way of the body.
func (c *Conn) lengthText() []byte {
	c.out = c.out[:0]
	return c.out
}

// send sends r. answered tells that the answer has come before all of it was
// sent: its head has been read, and the connection can't be used again.
func (c *Conn) send(r *Request) (answered bool, err error) {
	c.out = append(c.out[:0], r.Head...)
	left := r.Left
	more := r.Body != nil && left != 0
	if r.chunked() && len(r.First) > 0 {
		c.out = appendChunk(c.out, r.First)
	} else {
		c.out = append(c.out, r.First...)
	}
	if r.chunked() && !more {
		c.out = append(c.out, "0\r\n\r\n"...)
	}
	if err := c.write(c.out); err != nil {
		return c.early(err)
	}
	for more {
		if ready, err := c.nc.Readable(); ready || err != nil {
			final, err := c.readHead(false)
			if err != nil || final {
				return true, err
			}
		}
		if c.body == nil {
			c.body = make([]byte, piece)
		}
		p := c.body
		if left > 0 {
			p = p[:min(int64(len(p)), left)]
		}
		n, err := r.Body.Read(p)
		c.consumed = c.consumed || n > 0
		switch {
		case err == io.EOF && left < 0:
			more = false
		case err == io.EOF && int64(n) < left:
			return false, writerError{&connector.ClientError{Op: "read body", Status: 400, Err: io.ErrUnexpectedEOF}}
		case err != nil && err != io.EOF:
			return false, writerError{bodyError(err)}
		}
		if left > 0 {
			left -= int64(n)
			more = left > 0
		}
		c.out = c.out[:0]
		switch {
		case !r.chunked():
			c.out = append(c.out, p[:n]...)
		case n > 0:
			c.out = appendChunk(c.out, p[:n])
		}
		if r.chunked() && !more {
			c.out = append(c.out, "0\r\n\r\n"...)
		}
		if len(c.out) == 0 {
			continue
		}
		if err := c.write(c.out); err != nil {
			return c.early(err)
		}
	}
	return false, nil
}

// early looks for an answer after a write has failed: a container that does not
// want a body may answer and close.
func (c *Conn) early(failed error) (bool, error) {
	if ready, err := c.nc.Readable(); !ready || err != nil {
		return false, failed
	}
	for {
		final, err := c.readHead(true)
		if err != nil && c.read == 0 {
			return false, failed
		}
		if err != nil || final {
			return true, err
		}
	}
}

func bodyError(err error) error {
	var ce *connector.ClientError
	if errors.As(err, &ce) {
		return ce
	}
	return &connector.ClientError{Op: "read body", Status: 400, Err: err}
}

func appendChunk(b, data []byte) []byte {
	b = strconv.AppendInt(b, int64(len(data)), 16)
	b = append(b, "\r\n"...)
	b = append(b, data...)
	return append(b, "\r\n"...)
}

// writerError marks an error of a ResponseWriter or of the client's body.
type writerError struct{ error }

// sort makes a *connector.ExchangeError.
func (c *Conn) sort(phase connector.Phase, err error) error {
	e := &connector.ExchangeError{Phase: phase, BodyConsumed: c.consumed, Err: err}
	switch x := err.(type) {
	case writerError:
		e.Err, e.Cause = x.error, connector.CauseClient
		switch {
		case errors.Is(x.error, connector.ErrBodyLength):
			e.Cause = connector.CauseProtocol
		case errors.Is(x.error, connector.ErrRejected):
			e.Cause = connector.CauseRejected
		}
	case *ProtocolError:
		e.Cause = connector.CauseProtocol
	}
	if phase == connector.PhaseSend && c.read > 0 {
		e.Phase = connector.PhaseHead
	}
	c.idle = false
	return e
}

// readHead reads the head of the answer; without wait only that of one
// informational answer if it is one, and final tells that it was not.
func (c *Conn) readHead(wait bool) (final bool, err error) {
	for {
		from := 0
		var n int
		for {
			if n, err = headEnd(c.in[c.r:c.w], &from); err != nil {
				return false, err
			}
			if n > 0 {
				break
			}
			if err := c.fillHead(); err != nil {
				return false, err
			}
		}
		err = c.head.parse(c.in[c.r : c.r+n])
		c.r += n
		switch {
		case err != nil:
			return false, err
		case c.head.status == 101:
			return true, c.head.upgradeTo(c.offer)
		case c.head.status >= 200:
			return true, nil
		}
		if c.interim++; c.interim > maxInterim {
			return false, fault("too many informational answers")
		}
		if !wait {
			return false, nil
		}
	}
}

// fillHead reads more of a head that begins at r.
func (c *Conn) fillHead() error {
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
	if c.w == len(c.in) {
		in := c.in
		if c.r == 0 {
			in = make([]byte, max(bulkBuffer+lowRoom, maxHead+lowRoom))
		}
		c.w = copy(in, c.in[c.r:c.w])
		c.r, c.in = 0, in
	}
	return c.readMore()
}

// readMore reads behind w.
func (c *Conn) readMore() error {
	if c.t.Read > 0 {
		now := time.Now()
		if c.readUntil.Sub(now) < c.t.Read-c.t.Read/16 || c.readUntil.Sub(now) > c.t.Read {
			c.readUntil = now.Add(c.t.Read)
			_ = c.nc.SetReadDeadline(c.readUntil)
		}
	} else if !c.readUntil.IsZero() {
		c.readUntil = time.Time{}
		_ = c.nc.SetReadDeadline(time.Time{})
	}
	n, err := c.nc.Read(c.in[c.w:])
	c.w += n
	c.read += uint64(n)
	switch {
	case n > 0:
		return nil // an error comes again with the next read
	case err == io.EOF:
		return ErrClosed
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}

func (c *Conn) write(p []byte) error {
	if c.t.Write > 0 {
		now := time.Now()
		if c.writeUntil.Sub(now) < c.t.Write-c.t.Write/16 || c.writeUntil.Sub(now) > c.t.Write {
			c.writeUntil = now.Add(c.t.Write)
			_ = c.nc.SetWriteDeadline(c.writeUntil)
		}
	} else if !c.writeUntil.IsZero() {
		c.writeUntil = time.Time{}
		_ = c.nc.SetWriteDeadline(time.Time{})
	}
	n, err := c.nc.Write(p)
	c.sent += uint64(n)
	return err
}
