package httpd

import (
	"errors"
	"strconv"
	"time"

	"jkd/connector"
)

// copyLimit is up to which size a piece of the body is copied behind the head
// instead of being sent from where it lies: for little pieces the copy costs
// less than another element of writev, and a small answer is one write.
const copyLimit = 2048

// smallSize bounds the copied pieces between two flushes.
const smallSize = 4096

// response implements connector.ResponseWriter for one connection, one request
// at a time.
type response struct {
	conn    Conn
	date    *dateCache
	timeout time.Duration
	until   time.Time // the write deadline in force

	// What is to be sent, in order: head, then segs; small holds the copied
	// pieces, of which small[cut:] is not yet among segs.
	head  []byte
	small []byte
	cut   int
	segs  [][]byte
	vec   [][]byte
	body  int // body bytes in segs and small

	status int
	// The answer is an ErrorDocument for instead, if that is not 0, and keeps
	// extra.
	instead int
	extra   []connector.Field
	started bool
	sent    bool // the head is out
	// finished tells that all of the answer is out.
	finished bool
	noBody   bool // HEAD, 204, 205, 304
	isHead   bool
	http10   bool
	keep     bool // as far as the answer is concerned
	keepTok  bool
	chunked  bool
	length   int64 // Content-Length of the answer, -1 if unknown
	written  int64 // body bytes given
	out      int64 // body bytes sent
	err      error

	// For the access log, over all that is sent for one request.
	wire      int64     // bytes, head and framing included
	wantFirst bool      // first is wanted
	first     time.Time // when the first byte was sent
	wantHead  bool      // sentHead is wanted
	sentHead  []byte    // the head as it was sent

	early func() []byte // what the client has sent behind its request
	// edit, if not nil, changes the fields of an answer. own tells that it is
	// jkd's own page.
	edit func(fields []connector.Field, own bool) []connector.Field
	own  bool

	// asked once, when the head is sent
	mayKeep   func() bool
	keepAlive func(b []byte) []byte // appends a Keep-Alive field
}

func (w *response) reset(c Conn, timeout time.Duration) {
	w.conn, w.timeout, w.until = c, timeout, time.Time{}
	if w.small == nil {
		w.small = make([]byte, 0, smallSize)
	}
}

// begin prepares for the answer to one request.
func (w *response) begin(isHead, http10, keep, keepTok bool) {
	w.head, w.small, w.cut, w.segs, w.body = w.head[:0], w.small[:0], 0, w.segs[:0], 0
	w.status, w.started, w.sent, w.finished, w.noBody, w.chunked = 0, false, false, false, false, false
	w.isHead, w.http10, w.keep, w.keepTok = isHead, http10, keep, keepTok
	w.length, w.written, w.out, w.err = -1, 0, 0, nil
	w.instead, w.extra, w.own = 0, nil, false
}

// startLog forgets what was recorded for the request before.
func (w *response) startLog(wantFirst, wantHead bool) {
	w.wire, w.first, w.sentHead = 0, time.Time{}, w.sentHead[:0]
	w.wantFirst, w.wantHead = wantFirst, wantHead
}

// Started implements connector.ResponseWriter.
func (w *response) Started() bool { return w.started }

var _ connector.Leaver = (*response)(nil)

// Left implements connector.Leaver.
func (w *response) Left() bool {
	_, err := w.conn.Readable()
	return err != nil
}

// Start implements connector.ResponseWriter.
func (w *response) Start(status int, fields []connector.Field) error {
	if w.started {
		return errors.New("httpd: answer started twice")
	}
	if w.instead != 0 {
		status, fields = w.asDocument(status, fields)
	}
	if w.edit != nil {
		fields = w.edit(fields, w.own)
	}
	w.started, w.status = true, status
	bodyless := status == 204 || status == 304
	w.noBody = w.isHead || bodyless || status == 205
	b := append(w.head, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, reason(status)...)
	b = append(b, "\r\n"...)
	var hasDate, hasServer bool
	badLength := false
	for i := range fields {
		f := &fields[i]
		switch responseKind(f.Name) {
		case respHop:
			continue
		case respLength:
			n, ok := parseLength(f.Value)
			if !ok || (w.length >= 0 && n != w.length) {
				badLength = true
			} else {
				w.length = n
			}
			continue
		case respDate:
			if hasDate {
				continue
			}
			hasDate = true
		case respServer:
			if hasServer {
				continue
			}
			hasServer = true
		}
		b = append(b, f.Name...)
		b = append(b, ": "...)
		b = append(b, f.Value...)
		b = append(b, "\r\n"...)
	}
	switch {
	case status == 205:
		w.length = 0 // it has none, but is framed like any other
	case badLength || bodyless:
		w.length = -1
	}
	if !hasDate {
		b = w.date.appendTo(b, time.Now())
	}
	if !hasServer {
		b = append(b, "Server: jkd\r\n"...)
	}
	w.head = b
	return nil
}

// Append implements connector.ResponseWriter.
func (w *response) Append(p []byte) error {
	if w.err != nil {
		return w.err
	}
	if w.noBody || len(p) == 0 {
		return nil
	}
	w.written += int64(len(p))
	if w.length >= 0 && w.written > w.length {
		w.err = connector.ErrBodyLength
		return w.err
	}
	w.body += len(p)
	if len(p) <= copyLimit && len(w.small)+len(p) <= cap(w.small) {
		w.small = append(w.small, p...)
		return nil
	}
	w.cutSmall()
	w.segs = append(w.segs, p)
	return nil
}

// cutSmall makes the copied pieces a segment.
func (w *response) cutSmall() {
	if w.cut < len(w.small) {
		w.segs = append(w.segs, w.small[w.cut:])
		w.cut = len(w.small)
	}
}

// Buffered implements connector.ResponseWriter.
func (w *response) Buffered() int {
	n := w.body
	if w.started && !w.sent {
		n++
	}
	return n
}

// Flush implements connector.ResponseWriter.
func (w *response) Flush() error { return w.send(false) }

// Finish implements connector.ResponseWriter.
func (w *response) Finish() error {
	if w.err == nil && !w.noBody && w.length >= 0 && w.written < w.length {
		w.err = connector.ErrBodyLength
	}
	err := w.send(true)
	w.finished = err == nil && w.started
	return err
}

const hexDigits = "0123456789abcdef"

// send puts the head, the framing and the body together and writes them.
func (w *response) send(last bool) error {
	if w.err != nil || !w.started {
		return w.err
	}
	if !w.sent {
		w.frame(last)
		w.sent = true
		if w.wantHead {
			w.sentHead = append(w.sentHead[:0], w.head...)
		}
		if w.wantFirst {
			w.first = time.Now()
		}
	}
	head := w.head
	if w.chunked && w.body > 0 {
		head = appendHex(head, w.body)
		head = append(head, "\r\n"...)
	}
	tail := ""
	switch {
	case !w.chunked:
	case w.body > 0 && last:
		tail = "\r\n0\r\n\r\n"
	case w.body > 0:
		tail = "\r\n"
	case last:
		tail = "0\r\n\r\n"
	}
	front, n, err := len(head), 0, error(nil)
	if len(w.segs) == 0 {
		head = append(append(head, w.small...), tail...)
		if len(head) > 0 {
			n, err = w.write(head)
		}
	} else {
		w.cutSmall()
		// Behind the head there is room for the tail.
		at := len(head)
		head = append(head, tail...)
		w.vec = append(append(append(w.vec[:0], head[:at]), w.segs...), head[at:])
		n, err = w.writeVec()
		clear(w.vec)
		clear(w.segs)
	}
	w.wire += int64(n)
	w.out += int64(min(max(n-front, 0), w.body))
	w.head, w.small, w.cut, w.segs, w.body = head[:0], w.small[:0], 0, w.segs[:0], 0
	if err != nil {
		w.err = clientError(err)
	}
	return w.err
}

// clientError is a failure to write.
func clientError(err error) error {
	status := 400
	if isTimeout(err) {
		status = 408
	}
	return &connector.ClientError{Op: "write", Status: status, Err: err}
}

// write sends b. TimeOut is for a wait, not for all of them: a client that has
// taken something gets another one for the rest.
func (w *response) write(b []byte) (n int, err error) {
	for {
		w.limit()
		k, err := w.conn.Write(b[n:])
		n += k
		if err == nil || k == 0 || !isTimeout(err) {
			return n, err
		}
	}
}

// writeVec is write for vec.
func (w *response) writeVec() (n int, err error) {
	v := w.vec
	for {
		w.limit()
		k, err := w.conn.WriteBuffers(v)
		n += int(k)
		if err == nil || k == 0 || !isTimeout(err) {
			return n, err
		}
		for k >= int64(len(v[0])) {
			k -= int64(len(v[0]))
			v = v[1:]
		}
		v[0] = v[0][k:]
	}
}

// limit renews the write deadline as input does the read deadline.
func (w *response) limit() {
	if w.timeout <= 0 {
		return
	}
	now := time.Now()
	if w.until.Sub(now) < w.timeout-w.timeout/16 {
		w.until = now.Add(w.timeout)
		_ = w.conn.SetWriteDeadline(w.until)
	}
}

// frame decides how the client will know the end of the answer and ends the
// head. With last, all of the body is there, so its length is known.
func (w *response) frame(last bool) {
	b := w.head
	switch {
	case w.isHead && w.length < 0, w.status == 204, w.status == 304: // none
	case w.noBody || w.length >= 0:
		b = appendLength(b, w.length)
	case last:
		w.length = w.written
		b = appendLength(b, w.length)
	case !w.http10:
		w.chunked = true
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	default:
		w.keep = false // the end of the connection is the end of the answer
	}
	if w.keep && !w.mayKeep() {
		w.keep = false
	}
	switch {
	case !w.keep:
		b = append(b, "Connection: close\r\n"...)
	case w.keepTok:
		b = w.keepAlive(b)
		b = append(b, "Connection: Keep-Alive\r\n"...)
	}
	w.head = append(b, "\r\n"...)
}

func appendLength(b []byte, n int64) []byte {
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, n, 10)
	return append(b, "\r\n"...)
}

func appendHex(b []byte, n int) []byte {
	shift := 0
	for n>>shift > 15 {
		shift += 4
	}
	for ; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[n>>shift&15])
	}
	return b
}

type respKind uint8

const (
	respPass respKind = iota
	respHop
	respLength
	respDate
	respServer
)

// responseKind tells what the front does with a field of the answer. Framing
// is its own business, whatever the container says.
func responseKind(name []byte) respKind {
	switch len(name) {
	case 4:
		if connector.EqualFold(name, "date") {
			return respDate
		}
	case 6:
		if connector.EqualFold(name, "server") {
			return respServer
		}
	case 10:
		if connector.EqualFold(name, "connection") {
			return respHop
		}
	case 14:
		if connector.EqualFold(name, "content-length") {
			return respLength
		}
	case 17:
		if connector.EqualFold(name, "transfer-encoding") {
			return respHop
		}
	}
	if connector.HopByHop(name) {
		return respHop
	}
	return respPass
}
