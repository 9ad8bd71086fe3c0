package httpd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

const (
	// inputSize is the read buffer of a connection; a request whose head does
	// not fit gets one of maxHead bytes for as long as the connection lasts.
	inputSize = 8 << 10
	maxHead   = 128 << 10
)

// input reads a client's connection with TimeOut on every wait.
type input struct {
	conn    Conn
	br      *bufio.Reader
	timeout time.Duration
	until   time.Time // the read deadline in force
	// idle makes the next read one for the first bytes of a request, with a
	// timeout of its own.
	idle        bool
	idleTimeout time.Duration
	total       int64         // bytes received
	frozen      bool          // reads fail: what is buffered has to do
	small       *bufio.Reader // kept when br is a big one
}

func (in *input) reset(c Conn, timeout time.Duration) {
	if in.small == nil {
		in.small = bufio.NewReaderSize(in, inputSize)
	} else {
		in.small.Reset(in)
	}
	in.br = in.small
	in.conn, in.timeout, in.until, in.total, in.idle, in.frozen = c, timeout, time.Time{}, 0, false, false
}

var errFrozen = errors.New("httpd: head incomplete at second reading")

// Read implements io.Reader for br.
func (in *input) Read(p []byte) (int, error) {
	if in.frozen {
		return 0, errFrozen
	}
	if in.idle {
		in.idle = false
		in.until = time.Time{}
		n, err := in.conn.ReadIdle(p, in.idleTimeout)
		if n <= 0 && err != io.EOF {
			// Time is up, but what has arrived is served: the connection's
			// answer promised as much.
			if ok, e := in.conn.Readable(); ok && e == nil {
				n, err = in.conn.ReadIdle(p, drainTime)
			}
		}
		in.total += int64(max(n, 0))
		return n, err
	}
	if in.timeout > 0 {
		// A deadline is renewed when a sixteenth of it is used up: setting it
		// at every read would cost more than it tells.
		now := time.Now()
		if in.until.Sub(now) < in.timeout-in.timeout/16 {
			in.until = now.Add(in.timeout)
			if err := in.conn.SetReadDeadline(in.until); err != nil {
				return 0, err
			}
		}
	} else if in.until.IsZero() {
		in.until = time.Unix(1, 0)
		if err := in.conn.SetReadDeadline(time.Time{}); err != nil {
			return 0, err
		}
	}
	n, err := in.conn.Read(p)
	in.total += int64(max(n, 0))
	return n, err
}

// taken is how many bytes have been received and used.
func (in *input) taken() int64 { return in.total - int64(in.br.Buffered()) }

// takeEarly takes what has been read and not been used. It is good until the
// next read.
func (in *input) takeEarly() []byte {
	b, _ := in.br.Peek(in.br.Buffered())
	_, _ = in.br.Discard(len(b))
	return b
}

// more reads once more behind what is buffered and returns all of it.
func (in *input) more() ([]byte, error) {
	have := in.br.Buffered()
	if have == in.br.Size() {
		if have >= maxHead {
			return nil, bufio.ErrBufferFull
		}
		b, _ := in.br.Peek(have)
		rest := bytes.NewReader(bytes.Clone(b))
		in.br = bufio.NewReaderSize(io.MultiReader(rest, in), maxHead)
		if _, err := in.br.Peek(have); err != nil {
			return nil, err
		}
	}
	b, err := in.br.Peek(have + 1)
	if len(b) > have {
		return in.br.Peek(in.br.Buffered())
	}
	return b, err
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || (errors.As(err, &ne) && ne.Timeout())
}
