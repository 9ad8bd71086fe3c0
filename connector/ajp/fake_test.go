package ajp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"jkd/connector"
)

// memConn is a connection in memory: reads come from a script, writes are kept.
type memConn struct {
	// script is what the container sends; nil is a pause, which ends a read
	// that has a deadline.
	script [][]byte
	// step is the most that one read returns; 0 means no limit.
	step int
	// end is what a read gets when the script is over; nil means io.EOF.
	end error

	out                 bytes.Buffer
	readUntil, writeEnd time.Time
	reads               int
	closed              bool
}

// memTimeout is a deadline in no hurry: it stands for any wait that is too
// long.
var memTimeout = os.ErrDeadlineExceeded

func (c *memConn) Read(p []byte) (int, error) {
	c.reads++
	if len(p) == 0 {
		return 0, errors.New("read without room")
	}
	for len(c.script) > 0 {
		s := c.script[0]
		if s == nil {
			c.script = c.script[1:]
			if !c.readUntil.IsZero() {
				return 0, memTimeout
			}
			continue
		}
		if len(s) == 0 {
			c.script = c.script[1:]
			continue
		}
		n := len(s)
		if c.step > 0 {
			n = min(n, c.step)
		}
		n = copy(p, s[:n])
		c.script[0] = s[n:]
		return n, nil
	}
	if c.end != nil {
		return 0, c.end
	}
	return 0, io.EOF
}

func (c *memConn) left() int {
	n := 0
	for _, s := range c.script {
		n += len(s)
	}
	return n
}

func (c *memConn) Write(p []byte) (int, error) {
	if !c.writeEnd.IsZero() && time.Now().After(c.writeEnd) {
		return 0, os.ErrDeadlineExceeded
	}
	return c.out.Write(p)
}

// Readable implements NetConn: at the end of the script only an end of file
// would be noticed.
func (c *memConn) Readable() (bool, error) {
	return c.left() > 0 || c.end == io.EOF, nil
}

func (c *memConn) Close() error                       { c.closed = true; return nil }
func (c *memConn) LocalAddr() net.Addr                { return nil }
func (c *memConn) RemoteAddr() net.Addr               { return nil }
func (c *memConn) SetDeadline(t time.Time) error      { c.readUntil, c.writeEnd = t, t; return nil }
func (c *memConn) SetReadDeadline(t time.Time) error  { c.readUntil = t; return nil }
func (c *memConn) SetWriteDeadline(t time.Time) error { c.writeEnd = t; return nil }

// script makes a memConn that sends the packets as one piece.
func script(packets ...[]byte) *memConn {
	return &memConn{script: [][]byte{bytes.Join(packets, nil)}}
}

// recorder is a ResponseWriter that keeps the answer. It holds on to what it is
// given until the next Flush or Finish, as a front may, so that a buffer that
// is overwritten too early shows.
type recorder struct {
	isHead bool

	status   int
	fields   []connector.Field
	body     []byte
	pending  [][]byte
	unsent   int // head waiting
	buffered int
	length   int64
	written  int64
	noBody   bool
	starts   int
	finishes int
	log      []string // calls, without the Appends that a piece of body takes

	onFlush   func()
	failAfter int   // calls until fail is returned
	fail      error // nil: never
}

func (w *recorder) failing() error {
	if w.fail == nil {
		return nil
	}
	if w.failAfter--; w.failAfter >= 0 {
		return nil
	}
	return w.fail
}

func (w *recorder) Start(status int, fields []connector.Field) error {
	w.starts++
	w.log = append(w.log, fmt.Sprint("start ", status))
	w.status, w.length, w.unsent = status, -1, 1
	w.noBody = w.isHead || status == 204 || status == 304
	for _, f := range fields {
		w.fields = append(w.fields, connector.Field{Name: bytes.Clone(f.Name), Value: bytes.Clone(f.Value)})
		if strings.EqualFold(string(f.Name), "content-length") && !w.noBody {
			if _, err := fmt.Sscan(string(f.Value), &w.length); err != nil {
				w.length = -1
			}
		}
	}
	return w.failing()
}

func (w *recorder) Append(p []byte) error {
	if err := w.failing(); err != nil {
		return err
	}
	if w.noBody {
		return nil
	}
	if w.written += int64(len(p)); w.length >= 0 && w.written > w.length {
		return connector.ErrBodyLength
	}
	w.pending = append(w.pending, p)
	w.buffered += len(p)
	return nil
}

func (w *recorder) Buffered() int { return w.buffered + w.unsent }
func (w *recorder) Started() bool { return w.starts > 0 }

func (w *recorder) take() {
	for _, p := range w.pending {
		w.body = append(w.body, p...)
	}
	w.pending, w.buffered, w.unsent = w.pending[:0], 0, 0
}

func (w *recorder) Flush() error {
	w.take()
	w.log = append(w.log, fmt.Sprint("flush ", len(w.body)))
	if w.onFlush != nil {
		w.onFlush()
	}
	return w.failing()
}

func (w *recorder) Finish() error {
	w.finishes++
	w.log = append(w.log, "finish")
	w.take()
	if w.length >= 0 && w.written < w.length {
		return connector.ErrBodyLength
	}
	return w.failing()
}

// head is the head as text, one header a line.
func (w *recorder) head() string {
	s := fmt.Sprint(w.status, "\n")
	for _, f := range w.fields {
		s += string(f.Name) + ": " + string(f.Value) + "\n"
	}
	return s
}

// newRequest is a plain request of a client at 192.0.2.7.
func newRequest(method, path string) *Request {
	return &Request{Request: &connector.Request{
		Method: []byte(method), Protocol: []byte("HTTP/1.1"), Path: []byte(path),
		ServerName: []byte("www.example.com"), ServerPort: 80,
		RemoteAddr: []byte("192.0.2.7"), RemotePort: []byte("50123"), LocalAddr: []byte("192.0.2.1"),
		Body: strings.NewReader(""),
	}}
}

// post is a request with a body of known length.
func post(body io.Reader, length int64) *Request {
	r := newRequest("POST", "/up")
	r.Body, r.ContentLength = body, length
	return r
}

// encode encodes r for packets of the default size; it must fit.
func encode(r *Request) *Forward {
	f := new(Forward)
	if err := f.Encode(r, DefaultPacketSize); err != nil {
		panic(err)
	}
	return f
}

// get is a small GET, encoded.
func get() *Forward { return encode(newRequest("GET", "/")) }

// pattern is n bytes in which every place is recognised.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// pieces is a body that comes in the given pieces, and knows when the next
// read would wait for the client.
type pieces struct {
	left [][]byte
	cur  []byte
	err  error // at the end; nil: io.EOF
}

func (b *pieces) Buffered() int { return len(b.cur) }

func (b *pieces) Read(p []byte) (int, error) {
	for len(b.cur) == 0 {
		if len(b.left) == 0 {
			if b.err != nil {
				return 0, b.err
			}
			return 0, io.EOF
		}
		b.cur, b.left = b.left[0], b.left[1:]
	}
	n := copy(p, b.cur)
	b.cur = b.cur[n:]
	return n, nil
}

// exchangeError returns the *ExchangeError that err must be.
func exchangeError(err error) *connector.ExchangeError {
	var e *connector.ExchangeError
	if !errors.As(err, &e) {
		panic(fmt.Sprintf("%T %v is not an *connector.ExchangeError", err, err))
	}
	return e
}
