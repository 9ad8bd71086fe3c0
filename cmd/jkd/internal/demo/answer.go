package demo

import "strconv"

// answer writes one answer. Packets gather in the connection's buffer and are
// sent when it holds sendAbove bytes, at flush and at finish: a small page is
// one write.
type answer struct {
	c      *conn
	noBody bool // HEAD, or a status without a body
	ended  bool // END_RESPONSE is written
}

const sendAbove = 64 << 10

// send writes the packets gathered so far.
func (c *conn) send() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.nc.Write(c.out)
	c.out = c.out[:0]
	return err
}

// start writes status and fields.
func (a *answer) start(status int, fields ...field) {
	a.noBody = a.c.req.method == "HEAD" || status == 204 || status == 205 || status == 304
	a.c.out = appendHeaders(a.c.out, status, fields...)
}

// write adds p to the body.
func (a *answer) write(p []byte) error {
	if a.noBody {
		return nil
	}
	size := a.c.s.opts.PacketSize
	for len(p) > 0 {
		n := min(len(p), size-chunkFrame)
		a.c.out = appendBody(a.c.out, p[:n], size)
		p = p[n:]
		if len(a.c.out) >= sendAbove {
			if err := a.c.send(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush sends everything so far and tells the front end to do the same.
func (a *answer) flush() error {
	a.c.out = append(a.c.out, packetFlush...)
	return a.c.send()
}

// text answers with a whole page of the given type.
func (a *answer) text(status int, contentType string, body []byte, more ...field) error {
	a.start(status, append([]field{
		{"Content-Type", contentType},
		{"Content-Length", strconv.Itoa(len(body))},
	}, more...)...)
	return a.write(body)
}

// packets answers with packets made beforehand, END_RESPONSE among them.
func (a *answer) packets(whole []byte) error {
	if a.c.body.owed || len(a.c.out) > 0 {
		a.c.out = append(a.c.out, whole[:len(whole)-len(packetEnd)]...)
		return nil
	}
	a.ended = true
	_, err := a.c.nc.Write(whole)
	return err
}

// finish ends the answer and leaves the connection ready for another request.
func (a *answer) finish() error {
	if a.ended {
		return nil
	}
	if a.c.body.owed {
		// The packet may take its time: what is known goes out before.
		if err := a.c.send(); err != nil {
			return err
		}
		if err := a.c.body.swallow(); err != nil {
			return err
		}
	}
	a.c.out = append(a.c.out, packetEnd...)
	return a.c.send()
}
