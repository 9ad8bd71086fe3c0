package httpd

import (
	"errors"
	"fmt"
	"io"

	"jkd/connector"
)

// body is the request body as connectors read it. One serves all requests of a
// connection.
type body struct {
	in      *input
	left    int64   // bytes of a known length still to come
	inChunk bool    // the length is not known, chunks tells the end
	chunks  chunked // if inChunk
	limit   int64   // LimitRequestBody for what comes in chunks; 0: none
	size    int64   // of a body of known length
	got     int64   // bytes of a chunked body so far
	done    bool
	failed  *connector.ClientError // what the client did wrong, for good
	approve func() error           // sends 100 Continue; nil when it is not awaited (any more)
}

// Read implements io.Reader. The first call sends 100 Continue if the client
// waits for it.
func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	if b.done || len(p) == 0 {
		if b.done {
			return 0, io.EOF
		}
		return 0, nil
	}
	if b.approve != nil {
		err := b.approve()
		b.approve = nil
		if err != nil {
			return 0, b.fail(err)
		}
	}
	if b.inChunk {
		n, err := b.chunks.Read(p)
		b.got += int64(n)
		if b.limit > 0 && b.got > b.limit {
			b.failed = &connector.ClientError{Op: "read body", Status: 413, Err: errors.New("longer than LimitRequestBody")}
			return 0, b.failed
		}
		if err == io.EOF {
			b.done = true
			if n > 0 {
				err = nil
			}
			return n, err
		}
		if err != nil {
			return n, b.fail(err)
		}
		return n, nil
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.in.br.Read(p)
	b.left -= int64(n)
	b.done = b.left == 0
	if err != nil && !b.done {
		return n, b.fail(err)
	}
	return n, nil
}

func (b *body) fail(err error) error {
	status := 400
	if isTimeout(err) {
		status = 408
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if b.inChunk {
		err = fmt.Errorf("%w after %d bytes", err, b.got)
	} else {
		err = fmt.Errorf("%w after %d of %d bytes", err, b.size-b.left, b.size)
	}
	b.failed = &connector.ClientError{Op: "read body", Status: status, Err: err}
	return b.failed
}

// Buffered is what can be read without waiting; for a body in chunks perhaps
// only a sign that there is something.
func (b *body) Buffered() int {
	if b.done {
		return 0
	}
	if b.inChunk {
		return b.chunks.buffered()
	}
	return int(min(int64(b.in.br.Buffered()), b.left))
}

// unread tells that the client has sent, or will send, body bytes that nobody
// has taken.
func (b *body) unread() bool { return !b.done }
