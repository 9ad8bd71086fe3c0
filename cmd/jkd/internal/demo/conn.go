package demo

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// conn is one connection; everything but nc.Close belongs to its goroutine.
type conn struct {
	s  *server
	nc net.Conn

	in   []byte // bytes received; in[r:w] are unread
	r, w int
	head []byte // copy of the FORWARD_REQUEST payload: in is needed for the body
	out  []byte // packets to be sent

	req  request
	body body
	ans  answer
}

func newConn(s *server, nc net.Conn) *conn {
	// Room for a request and its first body packet in one read.
	c := &conn{s: s, nc: nc, in: make([]byte, 2*s.opts.PacketSize)}
	c.body.c = c
	return c
}

var errClosed = errors.New("connection closed")

// serve answers requests until the front end closes the connection or breaks
// the protocol.
func (c *conn) serve() {
	defer c.nc.Close()
	for {
		payload, err := c.readPacket()
		if err == nil {
			switch {
			case len(payload) == 1 && payload[0] == codeCPing:
				_, err = c.nc.Write(packetCPong)
			case len(payload) > 0 && payload[0] == codeForward:
				err = c.forward(payload)
			default:
				err = fmt.Errorf("packet is neither CPING nor FORWARD_REQUEST: % x", payload[:min(len(payload), 16)])
			}
		}
		if err != nil {
			c.report(err)
			return
		}
	}
}

// report logs why the connection ends, if it is anything but a close.
func (c *conn) report(err error) {
	var ne *net.OpError
	if err == errClosed || errors.As(err, &ne) {
		return
	}
	select {
	case <-c.s.done:
	default:
		c.s.log.Warn().Err(err).Stringer("peer", c.nc.RemoteAddr()).Msg("connection closed")
	}
}

// readPacket returns the payload of the next packet. It lies in c.in and is
// valid until the next call. The error is errClosed if the connection was
// closed between two packets.
func (c *conn) readPacket() ([]byte, error) {
	if err := c.fill(4); err != nil {
		return nil, err
	}
	h := c.in[c.r:]
	n := int(h[2])<<8 | int(h[3])
	if h[0] != 0x12 || h[1] != 0x34 {
		return nil, fmt.Errorf("no AJP13 packet: % x", h[:4])
	}
	if n > c.s.opts.PacketSize-4 {
		return nil, fmt.Errorf("packet of %d bytes is larger than %d", n+4, c.s.opts.PacketSize)
	}
	if err := c.fill(4 + n); err != nil {
		return nil, err
	}
	p := c.in[c.r+4 : c.r+4+n]
	c.r += 4 + n
	return p, nil
}

// fill reads until n bytes are unread; n is at most a packet.
func (c *conn) fill(n int) error {
	if c.w-c.r >= n {
		return nil
	}
	if c.r == c.w {
		c.r, c.w = 0, 0
	} else if c.r+n > len(c.in) {
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	for c.w-c.r < n {
		got, err := c.nc.Read(c.in[c.w:])
		c.w += got
		if err == io.EOF {
			if c.w > c.r {
				return io.ErrUnexpectedEOF
			}
			return errClosed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forward answers one request. An error means that the connection is of no
// use any more.
func (c *conn) forward(payload []byte) error {
	c.head = append(c.head[:0], payload...)
	switch err := c.req.decode(c.head); {
	case err == errLength:
		return c.refuse(400, err)
	case err != nil:
		return c.refuse(500, err)
	}
	c.body.reset(c.req.contentLength)
	if s := c.s.opts.Secret; s != "" && subtle.ConstantTimeCompare([]byte(s), c.req.secret) != 1 {
		// The first body packet is under way and must not cause a reset that
		// overtakes the answer.
		if err := c.body.swallow(); err != nil {
			return err
		}
		return c.refuse(403, errors.New("secret missing or wrong"))
	}
	c.ans = answer{c: c}
	if err := c.s.site.find(c.req.path())(&c.ans, &c.req); err != nil {
		return err
	}
	return c.ans.finish()
}

// refuse answers without a body, in the way that closes the connection, and
// returns why.
func (c *conn) refuse(status int, why error) error {
	c.out = appendHeaders(c.out[:0], status, field{"Content-Length", "0"})
	c.out = append(c.out, packetEndClose...)
	if _, err := c.nc.Write(c.out); err != nil {
		return err
	}
	c.lingerClose()
	return fmt.Errorf("answered %d: %w", status, why)
}

// lingerClose sends the end of file and reads away what is on its way for a
// moment: closing with bytes unread would reset the connection and could
// destroy the answer before the front end has read it.
func (c *conn) lingerClose() {
	if w, ok := c.nc.(interface{ CloseWrite() error }); ok && w.CloseWrite() == nil {
		c.nc.SetReadDeadline(time.Now().Add(time.Second))
		for range 64 {
			if _, err := c.nc.Read(c.in); err != nil {
				break
			}
		}
	}
}
