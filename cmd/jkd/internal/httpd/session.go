package httpd

import (
	"bufio"
	"strconv"
	"time"

	"jkd/cmd/jkd/internal/logformat"
	"jkd/connector/counters"
	"jkd/scoreboard"
)

const (
	// drainBytes and drainTime bound what is read and dropped of a request
	// body that the application did not want, and of what follows an answer
	// after which the connection is closed.
	drainBytes = 64 << 10
	drainTime  = time.Second
	// forever is a timeout that is none.
	forever = 100 * 365 * 24 * time.Hour
)

// session is everything one connection needs, kept and reused.
type session struct {
	s    *Server
	conn Conn
	seat *scoreboard.Seat
	slot *scoreboard.Slot // that of seat when it was looked at last
	in   input
	h    head
	x    exchange
	body body
	w    response

	lim       limits
	served    int // requests on this connection
	localPort int
	unread    bool // the client may still be sending: close with care
	errPage   []byte
	logLine   []byte
	entry     logformat.Entry
	start     time.Time        // when the request had come
	before    int64            // bytes used when the request began
	record    *counters.Record // where the request is counted
	// findRequestField and findResponseField
	requestField, responseField func(string) []byte
	cont                        func() error
}

func newSession(s *Server) *session {
	ss := &session{s: s}
	ss.lim = limits{line: s.o.LimitRequestLine, fields: s.o.LimitRequestFields, field: s.o.LimitRequestField}
	ss.w.date = &s.date
	ss.w.mayKeep = ss.mayKeep
	ss.w.keepAlive = ss.appendKeepAlive
	ss.w.early = ss.in.takeEarly
	if s.editing {
		ss.w.edit = ss.editAnswer
	}
	ss.cont = ss.sendContinue
	ss.body.in = &ss.in
	ss.requestField, ss.responseField = ss.findRequestField, ss.findResponseField
	return ss
}

// release drops what a pooled session must not keep alive.
func (ss *session) release() {
	ss.conn, ss.seat, ss.slot = nil, nil, nil
	ss.in.conn, ss.w.conn = nil, nil
	ss.in.small.Reset(nil)
	ss.in.br = ss.in.small
}

// begin prepares for a connection that has a seat.
func (ss *session) begin(c Conn, seat *scoreboard.Seat) {
	ss.conn, ss.seat = c, seat
	ss.served, ss.unread = 0, false
	ss.in.reset(c, ss.s.o.TimeOut)
	ss.w.reset(c, ss.s.o.TimeOut)
	ss.localPort = ss.x.setAddrs(c.RemoteAddr(), c.LocalAddr(), ss.s.o.ServerPort)
	ss.sit()
}

// sit makes the slot of the seat show this connection.
func (ss *session) sit() {
	if ss.slot != ss.seat.Slot {
		ss.slot = ss.seat.Slot
		ss.x.Thread = ss.slot.Thread()
		ss.slot.StartConnection(time.Now().UnixNano(), ss.x.RemoteAddr)
	}
}

// serve serves the connection to its end, or until it should be parked, which
// it tells.
func (ss *session) serve() (park bool) {
	for {
		if err := ss.await(); err != nil {
			_, parks := ss.conn.(parker)
			return parks && isTimeout(err)
		}
		if !ss.request() {
			break
		}
		ss.slot.SetStatus(scoreboard.KeepAlive)
	}
	ss.slot.SetStatus(scoreboard.Closing)
	if ss.unread {
		ss.linger()
	}
	return false
}

// await waits for the first bytes of a request.
func (ss *session) await() error {
	if ss.in.br.Buffered() == 0 {
		ss.in.idle, ss.in.idleTimeout = true, ss.idleTimeout()
		if _, ok := ss.conn.(parker); ok {
			ss.in.idleTimeout = min(ss.in.idleTimeout, parkAfter)
		}
		if _, err := ss.in.br.Peek(1); err != nil {
			return err
		}
	}
	ss.sit()
	return nil
}

// idleTimeout is how long the client may take to begin its first or next
// request.
func (ss *session) idleTimeout() time.Duration {
	switch o := &ss.s.o; {
	case ss.served > 0:
		return o.KeepAliveTimeout
	case o.TimeOut > 0:
		return o.TimeOut
	}
	return forever
}

// request serves one request and tells whether another one may follow.
func (ss *session) request() bool {
	ss.h.reset()
	ss.before = ss.in.taken()
	n, refused, err := ss.readHead()
	if err != nil {
		return false // nothing, or not enough, came
	}
	ss.start = time.Now()
	ss.served++
	ss.record = ss.s.own
	ss.x.reset(ss.s.needs.Notes, ss.localPort)
	ss.w.startLog(ss.s.needs.FirstByte, ss.s.needs.ResponseFields)
	if refused.status == 0 {
		b, _ := ss.in.br.Peek(n)
		ss.x.raw = append(ss.x.raw, b...)
		refused = ss.parse(n)
	}
	if refused.status != 0 {
		return ss.refuse(refused)
	}
	x := &ss.x
	ss.s.place(x, ss.localPort)
	ss.slot.StartRequest(ss.start.UnixNano(), x.Method, ss.h.target.of(x.raw), x.Protocol, x.ServerName)
	ss.openBody()
	ss.w.begin(string(x.Method) == "HEAD", x.http10, x.keep, x.keepTok)
	ss.answer()
	now := time.Now()
	ss.slot.EndRequest(now.UnixNano(), uint64(ss.w.out))
	ss.record.Request(ss.w.status, ss.w.err != nil, now.Sub(ss.start), uint64(ss.w.out))
	ss.log(now)
	if ss.w.err != nil || ss.w.status == 101 {
		return false // cut, or the client is gone, or it has spoken something else since
	}
	if !ss.w.keep {
		ss.unread = ss.body.unread() || ss.in.br.Buffered() > 0
		if !ss.unread {
			ss.unread, _ = ss.conn.Readable()
		}
		return false
	}
	return true
}

// readHead waits for a whole request head and returns its length.
func (ss *session) readHead() (n int, _ refusal, _ error) {
	b, _ := ss.in.br.Peek(ss.in.br.Buffered())
	for {
		if len(b) > 0 {
			ss.slot.SetStatus(scoreboard.BusyRead)
			n, status, reason := ss.h.scan(b, ss.lim)
			if n > 0 || status != 0 {
				return n, refusal{status, reason}, nil
			}
		}
		more, err := ss.in.more()
		if err != nil {
			switch {
			case err == bufio.ErrBufferFull:
				return 0, refusal{431, "request head too large"}, nil
			case len(b) > 0 && isTimeout(err):
				return 0, refusal{408, "request head incomplete"}, nil
			}
			return 0, refusal{}, err
		}
		b = more
	}
}

// parse makes the request of a head of n bytes, and reads the head a second
// time, with fasthttp.
func (ss *session) parse(n int) refusal {
	x := &ss.x
	if refused := x.build(&ss.h, &ss.s.o, ss.localPort); refused.status != 0 {
		return refused
	}
	fh := &x.second
	fh.DisableNormalizing()
	fh.SetNoDefaultContentType(true)
	before := ss.in.br.Buffered()
	ss.in.frozen = true
	err := fh.Read(ss.in.br)
	ss.in.frozen = false
	if err != nil {
		// Its error quotes the head, and what a head holds may be secret.
		return refusal{400, "refused at second reading"}
	}
	// The two readings must agree on where the head ends and on where the
	// request ends.
	if before-ss.in.br.Buffered() != n {
		return refusal{400, "ambiguous end of head"}
	}
	switch n := fh.ContentLength(); {
	case x.ContentLength < 0 && n != -1,
		x.ContentLength > 0 && int64(n) != x.ContentLength,
		x.ContentLength == 0 && n != 0 && n != -2:
		return refusal{400, "ambiguous message length"}
	}
	if limit := ss.s.o.LimitRequestBody; limit > 0 && x.ContentLength > limit {
		return refusal{413, "Content-Length above LimitRequestBody"}
	}
	return refusal{}
}

// openBody prepares the request body for the connector.
func (ss *session) openBody() {
	x, b := &ss.x, &ss.body
	*b = body{in: &ss.in, left: x.ContentLength, size: x.ContentLength, done: x.ContentLength == 0, limit: ss.s.o.LimitRequestBody}
	if x.ContentLength < 0 {
		b.left, b.inChunk = 0, true
		b.chunks = chunked{in: &ss.in, lim: ss.lim}
	}
	if x.expect && !b.done {
		b.approve = ss.cont
	}
	x.Body = b
}

// sendContinue tells the client to go on with the body.
func (ss *session) sendContinue() error {
	if ss.w.sent {
		return nil // too late to say so; the answer is under way
	}
	ss.w.limit()
	n, err := ss.conn.Write(continueLine)
	ss.w.wire += int64(max(n, 0))
	return err
}

var continueLine = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// refuse answers a request that the front does not pass on, and closes.
func (ss *session) refuse(r refusal) bool {
	x := &ss.x
	method, target := []byte("-"), []byte("-")
	if ss.h.seen && len(x.raw) == 0 {
		b, _ := ss.in.br.Peek(ss.h.proto.to) // the request line is there
		x.raw = append(x.raw, b...)
	}
	if ss.h.seen && len(x.raw) >= ss.h.proto.to {
		method, target = ss.h.method.of(x.raw), ss.h.target.of(x.raw)
	}
	x.Method, x.Protocol = method, nil
	if x.ServerName != nil {
		ss.s.place(x, ss.localPort) // whose log it is for is known
	}
	ss.slot.StartRequest(ss.start.UnixNano(), method, target, nil, nil)
	ss.w.begin(string(method) == "HEAD", ss.h.seen && ss.h.minor == 0, false, false)
	ss.page(r.status, nil)
	now := time.Now()
	ss.slot.EndRequest(now.UnixNano(), uint64(ss.w.out))
	ss.record.Request(ss.w.status, ss.w.err != nil, now.Sub(ss.start), uint64(ss.w.out))
	ss.s.o.Log.Info().Int("thread", ss.slot.Thread()).Str("client", string(x.RemoteAddr)).Int("status", r.status).Str("reason", r.reason).Msg("request refused")
	ss.log(now)
	ss.unread = ss.w.err == nil
	return false
}

// mayKeep decides, when the head of an answer is sent, whether the connection
// may carry another request.
func (ss *session) mayKeep() bool {
	o := &ss.s.o
	switch {
	case !o.KeepAlive, o.MaxKeepAliveRequests > 0 && ss.served >= o.MaxKeepAliveRequests, o.Stopping():
		return false
	case ss.body.in != nil && ss.body.unread():
		// The rest of the upload is nobody's; reading it all could take for
		// ever.
		return false
	}
	return true
}

// appendKeepAlive says how long the connection is kept, in Apache's words.
func (ss *session) appendKeepAlive(b []byte) []byte {
	o := &ss.s.o
	b = append(b, "Keep-Alive: timeout="...)
	b = strconv.AppendInt(b, int64((o.KeepAliveTimeout+time.Second-1)/time.Second), 10)
	if o.MaxKeepAliveRequests > 0 {
		b = append(b, ", max="...)
		b = strconv.AppendInt(b, int64(o.MaxKeepAliveRequests-ss.served), 10)
	}
	return append(b, "\r\n"...)
}

// linger ends our side and reads away a little of what the client is still
// sending: closing at once would reset the connection, and the client could
// lose the answer.
func (ss *session) linger() {
	if ss.conn.CloseWrite() != nil {
		return
	}
	end := time.Now().Add(drainTime)
	_ = ss.conn.SetReadDeadline(end)
	buf := ss.in.small
	left := drainBytes - ss.in.br.Buffered()
	buf.Reset(ss.conn)
	// The deadline ends a wait; a client that always has a byte ready never
	// makes us wait.
	for left > 0 && time.Now().Before(end) {
		_, err := buf.Peek(1)
		if err != nil {
			return
		}
		n, _ := buf.Discard(buf.Buffered())
		left -= n
	}
}
