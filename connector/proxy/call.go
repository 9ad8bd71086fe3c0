package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/proxy/http1"
)

// firstPiece is how much of a body is read before a connection is taken, so
// that a slow client keeps none from others.
const firstPiece = 16 << 10

// call is what one request needs besides a connection. It is kept and used
// again.
type call struct {
	target *ruleTarget
	r      *connector.Request
	answer *answer
	room   answer

	path    []byte
	noReuse bool
	why     counters.CloseReason // why a connection that is not idle is closed
	read    uint64               // bytes of the last exchange
	route   string               // of the member, for AJP

	// http
	http    http1.Request
	head    []byte
	first   []byte
	begun   bool // first has been read
	ended   bool // and was all of the body
	cookies [][]byte
	offer   []byte // the protocols that the back end may upgrade to

	// ajp
	fwd     ajp.Forward
	ajp     ajp.Request
	base    connector.Request
	encoded bool // the first part of the body has been read
}

func (c *call) begin(t *ruleTarget, r *connector.Request, rw connector.ResponseWriter) {
	c.target, c.r, c.begun, c.encoded, c.route, c.noReuse = t, r, false, false, "", false
	c.room = answer{ResponseWriter: rw, c: c, fields: c.room.fields[:0]}
	c.answer = &c.room
	if r.Env.Len() > 0 {
		_, c.noReuse = r.Env.Get("proxy-nokeepalive")
	}
}

func (c *call) end() {
	c.target, c.r = nil, nil
	c.room.ResponseWriter, c.room.kept = nil, nil
	c.http.Body, c.ajp.Request, c.base = nil, nil, connector.Request{}
	clear(c.room.fields)
	clear(c.cookies)
}

// idempotent tells whether the request may be sent again although a back end
// may have seen it: it has no body, and its method is one of those that
// mod_proxy repeats, but for those that change something.
func (c *call) idempotent() bool {
	if c.r.ContentLength != 0 {
		return false
	}
	switch string(c.r.Method) {
	case "GET", "HEAD", "OPTIONS", "TRACE":
		return true
	}
	return false
}

// make makes the request for a worker.
func (c *call) make(w *worker) *connector.Error {
	fail := func(op string, err error) *connector.Error {
		return &connector.Error{Worker: w.name, Op: op, Client: true, Status: 400, Err: err}
	}
	var err error
	if c.path, err = c.target.rule.appendPath(c.path[:0], w.path, c.r); err != nil {
		return fail("map path", err)
	}
	if w.scheme == "ajp" {
		return c.makeAJP(w)
	}
	if err := c.readFirst(); err != nil {
		return &connector.Error{Worker: w.name, Op: "read request body", Client: true, Status: connector.ClientStatus(err), Err: err}
	}
	c.makeHTTP(w)
	return nil
}

// attributePrefix begins the names of variables that AJP back ends get.
const attributePrefix = "AJP_"

func (c *call) makeAJP(w *worker) *connector.Error {
	c.base = *c.r
	c.base.Path = c.path
	c.ajp = ajp.Request{Request: &c.base, Secret: w.Secret, Route: c.route, ForwardKeySize: true, Attributes: c.ajp.Attributes[:0]}
	c.r.Env.Each(func(name, value string) {
		if rest, ok := strings.CutPrefix(name, attributePrefix); ok && rest != "" {
			c.ajp.Attributes = append(c.ajp.Attributes, ajp.Attribute{Name: rest, Value: value})
		}
	})
	encode := c.fwd.EncodeHead
	if !c.encoded {
		encode = func(r *ajp.Request) error { return c.fwd.Encode(r, w.packet) }
	}
	if err := encode(&c.ajp); err != nil {
		return ajp.RequestError(w.name, err)
	}
	c.encoded = true
	return nil
}

// readFirst reads the beginning of the body.
func (c *call) readFirst() error {
	if c.begun || c.r.ContentLength == 0 {
		return nil
	}
	if cap(c.first) < firstPiece {
		c.first = make([]byte, 0, firstPiece)
	}
	c.first, c.ended = c.first[:0], false
	if n := c.r.ContentLength; n > 0 {
		c.first = c.first[:min(n, firstPiece)]
		if _, err := io.ReadFull(c.r.Body, c.first); err != nil {
			return clientError(err)
		}
		c.ended = int64(len(c.first)) == n
	} else {
		buffered, _ := c.r.Body.(interface{ Buffered() int })
		for len(c.first) < firstPiece {
			n, err := c.r.Body.Read(c.first[len(c.first):firstPiece])
			c.first = c.first[:len(c.first)+n]
			if err == io.EOF {
				c.ended = true
				break
			}
			if err != nil {
				return clientError(err)
			}
			if buffered == nil || buffered.Buffered() == 0 {
				break
			}
		}
	}
	c.begun = true
	return nil
}

func clientError(err error) error {
	if ce, ok := err.(*connector.ClientError); ok {
		return ce
	}
	return &connector.ClientError{Op: "read body", Status: 400, Err: err}
}

// makeHTTP makes the head of a request, with the fields that mod_proxy_http
// adds.
func (c *call) makeHTTP(w *worker) {
	r, s := c.r, c.target.server
	b := append(c.head[:0], r.Method...)
	b = append(b, ' ')
	b = append(b, c.path...)
	if r.HasQuery {
		b = append(b, '?')
		b = append(b, r.Query...)
	}
	b = append(b, " HTTP/1.1\r\nHost: "...)
	host := connector.Value(r.Fields, "host")
	if s.PreserveHost && host != "" {
		b = append(b, host...)
	} else {
		b = w.appendHost(b)
	}
	var forwarded [3][]byte
	for i := range r.Fields {
		f := &r.Fields[i]
		switch len(f.Name) {
		case 4:
			if connector.EqualFold(f.Name, "host") {
				continue
			}
		case 15, 16, 18:
			if !s.AddHeaders {
				break
			}
			if at := slices.IndexFunc(forwardedNames[:], func(n string) bool { return connector.EqualFold(f.Name, n) }); at >= 0 {
				if len(forwarded[at]) > 0 {
					forwarded[at] = append(append(bytes.Clone(forwarded[at]), ", "...), f.Value...)
				} else {
					forwarded[at] = f.Value
				}
				continue
			}
		}
		b = append(b, "\r\n"...)
		b = append(append(append(b, f.Name...), ": "...), f.Value...)
	}
	if s.AddHeaders {
		add := func(name string, before []byte, value ...string) {
			b = append(append(append(b, "\r\n"...), name...), ": "...)
			if len(before) > 0 {
				b = append(append(b, before...), ", "...)
			}
			for _, v := range value {
				b = append(b, v...)
			}
		}
		add("X-Forwarded-For", forwarded[0], string(connector.Numeric(r.RemoteAddr)))
		if host != "" {
			add("X-Forwarded-Host", forwarded[1], host)
		}
		name := s.Name
		if name == "" {
			name = string(r.ServerName)
		}
		add("X-Forwarded-Server", forwarded[2], name)
	}
	h := &c.http
	*h = http1.Request{IsHead: string(r.Method) == "HEAD"}
	switch {
	case r.ContentLength == 0:
		switch string(r.Method) {
		case "POST", "PUT", "PATCH": // they are expected to have one
			b = append(b, "\r\nContent-Length: 0"...)
		}
	case r.ContentLength > 0 || c.ended:
		h.First = c.first
		n := max(r.ContentLength, int64(len(c.first)))
		b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), n, 10)
		if h.Left = n - int64(len(c.first)); h.Left > 0 {
			h.Body = r.Body
		}
	default:
		b = append(b, "\r\nTransfer-Encoding: chunked"...)
		h.First, h.Left, h.Body = c.first, -1, r.Body
	}
	upgrade := &w.Upgrade
	if u := c.target.rule.Upgrade; u != nil {
		upgrade = u
	}
	c.offer = upgrade.offer(c.offer[:0], r.Upgrade)
	h.Upgrade = c.offer
	switch {
	case len(c.offer) > 0:
		b = append(append(b, "\r\nConnection: Upgrade\r\nUpgrade: "...), c.offer...)
	case w.NoReuse || c.noReuse:
		b = append(b, "\r\nConnection: close"...)
	}
	c.head = append(b, "\r\n\r\n"...)
	h.Head = c.head
}

var forwardedNames = [...]string{"x-forwarded-for", "x-forwarded-host", "x-forwarded-server"}

// appendHost appends the Host of the worker's URL.
func (w *Worker) appendHost(b []byte) []byte {
	if strings.Contains(w.host, ":") {
		b = append(append(append(b, '['), w.host...), ']')
	} else {
		b = append(b, w.host...)
	}
	if w.port != 80 && w.socket == "" {
		b = strconv.AppendInt(append(b, ':'), int64(w.port), 10)
	}
	return b
}

// answer stands between a back end and the front: it turns the container's own
// places into ours, and refuses pages that jkd replaces.
type answer struct {
	connector.ResponseWriter
	c        *call
	status   int
	override int               // the status of a page that was refused
	kept     []connector.Field // that goes with it
	fields   []connector.Field
}

// Start implements connector.ResponseWriter.
func (a *answer) Start(status int, fields []connector.Field) error {
	t := a.c.target
	a.status = status
	if s := &t.server.ProxyServer; s.ErrorOverride && status >= 400 && status <= 599 && (len(s.ErrorStatuses) == 0 || slices.Contains(s.ErrorStatuses, status)) {
		a.override = status
		for _, f := range fields {
			if connector.EqualFold(f.Name, "www-authenticate") {
				a.kept = append(a.kept, connector.Field{Name: bytes.Clone(f.Name), Value: bytes.Clone(f.Value)})
			}
		}
		return connector.ErrRejected
	}
	return a.ResponseWriter.Start(status, a.reversed(fields))
}

// Upgrade implements connector.Upgrader.
func (a *answer) Upgrade(fields []connector.Field, protocol []byte, back net.Conn, first []byte, idle time.Duration) error {
	u, ok := a.ResponseWriter.(connector.Upgrader)
	if !ok {
		return errors.ErrUnsupported
	}
	a.status = 101
	return u.Upgrade(a.reversed(fields), protocol, back, first, idle)
}

// reversed are fields that name our places instead of the container's.
func (a *answer) reversed(fields []connector.Field) []connector.Field {
	t := a.c.target
	if t.reverse == nil {
		return fields
	}
	a.fields = append(a.fields[:0], fields...)
	t.reverse.apply(a.fields, a.c.r)
	return a.fields
}

// Append implements connector.ResponseWriter.
func (a *answer) Append(p []byte) error {
	err := a.ResponseWriter.Append(p)
	if err == nil && a.c.target.flushAll {
		err = a.Flush()
	}
	return err
}
