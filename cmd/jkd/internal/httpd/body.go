package httpd

import (
	"errors"
	"io"

	"jkd/connector"
)

// body is the request body as connectors read it. One serves all requests of a
// connection.
type body struct {
	in      *input
	left    int64     // bytes of a known length still to come
	chunks  io.Reader // fasthttp's reader of a chunked body, or nil
	limit   int64     // LimitRequestBody for what comes in chunks; 0: none
	got     int64     // bytes of a chunked body so far
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
	if b.chunks != nil {
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
	b.failed = &connector.ClientError{Op: "read body", Status: status, Err: err}
	return b.failed
}

// Buffered is what can be read without waiting, or at least a sign of it.
func (b *body) Buffered() int {
	if b.done {
		return 0
	}
	return b.in.br.Buffered()
}

// unread tells that the client has sent, or will send, body bytes that nobody
// has taken.
func (b *body) unread() bool { return !b.done }
