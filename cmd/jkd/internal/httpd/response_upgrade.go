package httpd

import (
	"errors"
	"net"
	"time"

	"jkd/connector"
)

var _ connector.Upgrader = (*response)(nil)

// Upgrade implements connector.Upgrader.
func (w *response) Upgrade(fields []connector.Field, protocol []byte, back net.Conn, first []byte, idle time.Duration) error {
	if w.started {
		return errors.New("httpd: answer started twice")
	}
	if w.instead != 0 {
		return errors.ErrUnsupported // the page for an error is no other protocol
	}
	w.started, w.sent, w.status, w.keep = true, true, 101, false
	b := append(w.head[:0], "HTTP/1.1 101 Switching Protocols\r\n"...)
	for _, f := range fields {
		switch responseKind(f.Name) {
		case respHop, respLength:
			continue
		}
		b = append(append(append(append(b, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	b = append(append(append(b, "Connection: Upgrade\r\nUpgrade: "...), protocol...), "\r\n\r\n"...)
	if w.wantHead {
		w.sentHead = append(w.sentHead[:0], b...)
	}
	if w.wantFirst {
		w.first = time.Now()
	}
	n, err := w.write(b)
	w.wire, w.head = w.wire+int64(n), b[:0]
	if err != nil {
		w.err = clientError(err)
		return w.err
	}
	// How it ends is the two sides' business.
	_, received, _ := w.conn.Tunnel(back, w.early(), first, idle)
	w.out, w.wire, w.finished = received, w.wire+received, true
	return nil
}
