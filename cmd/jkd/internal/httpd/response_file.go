package httpd

import (
	"errors"
	"io"
	"os"

	"jkd/connector"
)

var _ connector.FileSender = (*response)(nil)

// SendFile implements connector.FileSender.
func (w *response) SendFile(f *os.File, offset, n int64) error {
	switch {
	case w.err != nil:
		return w.err
	case w.noBody || n == 0:
		return nil
	case w.length < 0 || !w.started:
		return errors.ErrUnsupported // its length would have to be announced
	case w.written+n > w.length:
		w.err = connector.ErrBodyLength
		return w.err
	}
	if err := w.send(false); err != nil {
		return err
	}
	sent, err := w.sendFile(f, offset, n)
	w.wire, w.out, w.written = w.wire+sent, w.out+sent, w.written+sent
	switch {
	case err == nil, errors.Is(err, errors.ErrUnsupported) && sent == 0:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		w.err = connector.ErrBodyLength
	default:
		w.err = clientError(err)
	}
	return w.err
}

// sendFile is write for a part of a file.
func (w *response) sendFile(f *os.File, offset, n int64) (sent int64, err error) {
	for {
		w.limit()
		k, err := w.conn.SendFile(f, offset+sent, n-sent)
		sent += k
		if err == nil || k == 0 || !isTimeout(err) {
			return sent, err
		}
	}
}
