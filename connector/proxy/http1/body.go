package http1

import (
	"bytes"

	"jkd/connector"
)

// maxLine bounds the line of a chunk's size and of a trailer field, in bytes.
const maxLine = 4 << 10

// maxTrailers bounds the trailer fields of an answer, which are read and
// dropped.
const maxTrailers = 64

// fill reads more of a body. What w still refers to lies before c.r: it is
// flushed before it is overwritten, and when nothing more is there to go with
// it.
func (c *Conn) fill(w connector.ResponseWriter) error {
	if w.Buffered() > 0 {
		if len(c.in)-c.w >= lowRoom {
			if ready, err := c.nc.Readable(); ready && err == nil {
				return c.readMore()
			}
		}
		if err := w.Flush(); err != nil {
			return writerError{err}
		}
	}
	in := c.in
	if len(in) < bulkBuffer && c.w > len(in)/2 {
		in = make([]byte, bulkBuffer)
	}
	c.w = copy(in, c.in[c.r:c.w])
	c.r, c.in = 0, in
	return c.readMore()
}

// take passes at most n bytes of what has been received on and returns how many.
func (c *Conn) take(w connector.ResponseWriter, n int64) (int64, error) {
	n = min(n, int64(c.w-c.r))
	if n == 0 {
		return 0, nil
	}
	end := c.r + int(n)
	err := w.Append(c.in[c.r:end:end])
	c.r = end
	if err != nil {
		return n, writerError{err}
	}
	return n, nil
}

// bytes passes on exactly n bytes.
func (c *Conn) bytes(w connector.ResponseWriter, n int64) error {
	for {
		k, err := c.take(w, n)
		if n -= k; err != nil || n == 0 {
			return err
		}
		if err := c.fill(w); err != nil {
			return err
		}
	}
}

// rest passes on what comes until the container closes the connection in order.
func (c *Conn) rest(w connector.ResponseWriter) error {
	for {
		if _, err := c.take(w, int64(c.w-c.r)); err != nil {
			return err
		}
		switch err := c.fill(w); err {
		case nil:
		case ErrClosed:
			return nil
		default:
			return err
		}
	}
}

// chunks passes on a body in chunks (RFC 9112 section 7.1), with its trailer
// read and dropped.
func (c *Conn) chunks(w connector.ResponseWriter) error {
	for {
		line, err := c.line(w)
		if err != nil {
			return err
		}
		n, err := chunkSize(line)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if err := c.bytes(w, n); err != nil {
			return err
		}
		if line, err = c.line(w); err != nil {
			return err
		}
		if len(line) > 0 {
			return fault("a chunk does not end with CR LF")
		}
	}
	for i := 0; ; i++ {
		line, err := c.line(w)
		if err != nil || len(line) == 0 {
			return err
		}
		if i == maxTrailers {
			return fault("too many trailer fields")
		}
		if _, _, err := splitField(line); err != nil {
			return err
		}
	}
}

// line takes a line. It is good until the next read.
func (c *Conn) line(w connector.ResponseWriter) ([]byte, error) {
	from := 0
	for {
		b := c.in[c.r:c.w]
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			i += from
			if i == 0 || b[i-1] != '\r' {
				return nil, fault("a line of the chunked coding does not end with CR LF")
			}
			c.r += i + 1
			return b[:i-1], nil
		}
		if from = len(b); from > maxLine {
			return nil, fault("a line of the chunked coding is too long")
		}
		if err := c.fill(w); err != nil {
			return nil, err
		}
	}
}

// chunkSize reads the line before a chunk. Extensions are dropped.
func chunkSize(line []byte) (n int64, err error) {
	i := 0
	for ; i < len(line); i++ {
		d := line[i]
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			d = d | 0x20 - 'a' + 10
		default:
			d = 16
		}
		if d == 16 {
			break
		}
		if i == 15 {
			return 0, fault("a chunk is too long")
		}
		n = n<<4 | int64(d)
	}
	if i == 0 {
		return 0, fault("a malformed chunk size")
	}
	rest := bytes.TrimLeft(line[i:], " \t")
	if len(rest) > 0 && rest[0] != ';' {
		return 0, fault("a malformed chunk size")
	}
	for _, d := range rest {
		if d < ' ' && d != '\t' || d == 0x7f {
			return 0, fault("a control character in a chunk extension")
		}
	}
	return n, nil
}
