package demo

import (
	"fmt"
	"io"
)

// body reads a request body the way Tomcat does. An announced length above 0
// makes the front end send the first packet unasked; every further packet is
// asked for, until one is empty. The announced length is not taken for the
// end, so one more packet is asked for after it.
type body struct {
	c      *conn
	length int64 // announced, -1 for unknown
	read   int64
	owed   bool // a packet is under way that wasn't read yet
	ended  bool
}

func (b *body) reset(length int64) {
	*b = body{c: b.c, length: length, owed: length > 0, ended: length == 0}
}

// next returns the data of the next packet, valid until the following call,
// and io.EOF at the end of the body.
func (b *body) next() ([]byte, error) {
	if b.ended {
		return nil, io.EOF
	}
	if !b.owed {
		n := b.c.s.opts.PacketSize - dataFrame
		ask := [...]byte{'A', 'B', 0, 3, codeGetBody, byte(n >> 8), byte(n)}
		// Whatever the page has written so far goes first, as in any stream.
		b.c.out = append(b.c.out, ask[:]...)
		if err := b.c.send(); err != nil {
			return nil, err
		}
		b.owed = true
	}
	return b.packet()
}

// packet reads a packet that is owed.
func (b *body) packet() ([]byte, error) {
	payload, err := b.c.readPacket()
	if err != nil {
		return nil, err
	}
	b.owed = false
	// The end is a packet without payload (mod_jk) or with a length of 0
	// inside (mod_proxy_ajp).
	if len(payload) == 0 {
		b.ended = true
		return nil, io.EOF
	}
	if len(payload) < 2 || int(payload[0])<<8|int(payload[1]) != len(payload)-2 {
		return nil, fmt.Errorf("bad body packet of %d bytes: % x", len(payload), payload[:min(len(payload), 16)])
	}
	if len(payload) == 2 {
		b.ended = true
		return nil, io.EOF
	}
	b.read += int64(len(payload) - 2)
	return payload[2:], nil
}

// swallow reads away the packet that is under way, if any, so that it isn't
// taken for the next request.
func (b *body) swallow() error {
	if !b.owed {
		return nil
	}
	_, err := b.packet()
	if err == io.EOF {
		err = nil
	}
	return err
}

// whole tells whether as many bytes came as were announced.
func (b *body) whole() bool { return b.length < 0 || b.read == b.length }
