package ajp

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"jkd/connector"
)

// Request is what FORWARD_REQUEST is made of: the client's request and what
// the connector adds.
type Request struct {
	*connector.Request
	Secret     string // attribute 0x0C; empty: none
	Route      string // attribute 0x06; empty: none
	Activation string // JK_LB_ACTIVATION: ACT, DIS or STP; empty: ACT
	// RemoteHost is sent as remote_host; empty: no string.
	RemoteHost string
	// ForwardKeySize and ForwardChain are JkOptions of these names (the latter
	// ForwardSSLCertChain); they mean something with TLS only.
	ForwardKeySize, ForwardChain bool
	Attributes                   []Attribute
}

// Attribute is a configured request attribute (JkEnvVar).
type Attribute struct{ Name, Value string }

// Forward is a request in packets, kept until the exchange is over so that it
// can be sent again on another connection. The zero value is ready; it may be
// reused for any number of requests, one at a time.
type Forward struct {
	buf   []byte // FORWARD_REQUEST, then a copy of first
	first []byte // the first body packet, if there is one
	max   int    // packet size
	left  int64  // body bytes of known length beyond the first packet
	body  io.Reader
	// chunked tells that the length of the body is not known.
	chunked bool
	// consumed tells that body bytes beyond buf have been taken.
	consumed bool
	ended    bool // the end of a chunked body has been seen
}

// Encode makes the packets of r, none larger than max bytes. It reads the
// first part of a body of known length from the client, so it may fail with a
// *connector.ClientError; a request that does not fit is a *TooLongError.
func (f *Forward) Encode(r *Request, max int) error {
	f.Reset(r.Request, max)
	// First the head: one that does not fit needs no body.
	if err := f.EncodeHead(r); err != nil {
		return err
	}
	if err := f.ReadFirst(r.Request); err != nil {
		return err
	}
	f.buf = append(f.buf, f.first...)
	return nil
}

// Reset forgets the request before and prepares for r, with packets of at most
// max bytes.
func (f *Forward) Reset(r *connector.Request, max int) {
	*f = Forward{buf: f.buf[:0], first: f.first[:0], max: max, body: r.Body, chunked: r.ContentLength < 0}
	if r.ContentLength > 0 {
		f.left = r.ContentLength
	}
}

// ReadFirst reads the part of a body of known length that is sent unasked,
// right after the request. It is kept, so that the request can go to another
// container.
func (f *Forward) ReadFirst(r *connector.Request) error {
	if r.ContentLength <= 0 {
		return nil
	}
	return f.readFirst(int(min(f.left, int64(f.room()))))
}

// EncodeHead makes the FORWARD_REQUEST of r, and what [Forward.ReadFirst] has
// read goes behind it. It may be called again with another secret, route or
// activation for another try.
func (f *Forward) EncodeHead(r *Request) error {
	var ok bool
	f.buf, ok = appendForward(f.buf[:0], r)
	n := len(f.buf) - headLen
	if n > f.max-headLen || n > maxPayload || !ok {
		err := &TooLongError{Need: len(f.buf), Max: f.max}
		if err.Need <= f.max {
			err.Need = f.max + 1 // a field name that no packet can say
		}
		f.buf = f.buf[:0]
		if cap(f.buf) > keepBuffer {
			f.buf = nil
		}
		return err
	}
	binary.BigEndian.PutUint16(f.buf[2:], uint16(n))
	f.buf = append(f.buf, f.first...)
	return nil
}

// keepBuffer is the largest buffer kept after a request that did not fit. Those
// that fit need less: two packets.
const keepBuffer = 2 * MaxPacketSize

// room is how much data fits one body packet.
func (f *Forward) room() int { return min(f.max, maxPayload+headLen) - bodyHeadLen }

// Consumed tells that part of the body has been used up that is not kept: the
// request can be sent once only.
func (f *Forward) Consumed() bool { return f.consumed }

// readFirst makes first a packet of exactly n body bytes.
func (f *Forward) readFirst(n int) error {
	f.first = append(f.first[:0], 0x12, 0x34, byte((n+2)>>8), byte(n+2), byte(n>>8), byte(n))
	f.first = grow(f.first, n)
	if _, err := io.ReadFull(f.body, f.first[bodyHeadLen:]); err != nil {
		return bodyError(err)
	}
	f.left -= int64(n)
	return nil
}

// bufferedReader is a body that knows what it can give without waiting.
type bufferedReader interface{ Buffered() int }

// nextBody makes the packet that answers GET_BODY_CHUNK(want) in p and returns
// it. The end of the body is the packet with an empty payload; a container
// that asks for nothing gets as much as fits, for an empty packet would tell
// it that a body in its middle is complete.
func (f *Forward) nextBody(p []byte, want int) ([]byte, error) {
	n := f.room()
	if want > 0 {
		n = min(want, n)
	}
	if f.ended || (!f.chunked && f.left == 0) {
		return append(p[:0], 0x12, 0x34, 0, 0), nil
	}
	f.consumed = true
	if !f.chunked {
		n = int(min(int64(n), f.left))
	}
	p = grow(p[:0], bodyHeadLen+n)
	data := p[bodyHeadLen:]
	got := 0
	if !f.chunked {
		if _, err := io.ReadFull(f.body, data); err != nil {
			return p, bodyError(err)
		}
		got = n
		f.left -= int64(n)
	} else {
		// Pass on what has come: the application may be waiting for it while
		// the client waits for the application. What is at hand is taken
		// together.
		for got < n {
			k, err := f.body.Read(data[got:])
			got += k
			if err == io.EOF {
				f.ended = true
				break
			}
			if err != nil {
				return p, bodyError(err)
			}
			if b, ok := f.body.(bufferedReader); ok && got > 0 && b.Buffered() == 0 {
				break
			}
		}
		if got == 0 {
			return append(p[:0], 0x12, 0x34, 0, 0), nil
		}
	}
	p = p[:bodyHeadLen+got]
	p[0], p[1] = 0x12, 0x34
	binary.BigEndian.PutUint16(p[2:], uint16(got+2))
	binary.BigEndian.PutUint16(p[4:], uint16(got))
	return p, nil
}

// bodyError makes every failure of the request body the client's.
func bodyError(err error) error {
	var ce *connector.ClientError
	if errors.As(err, &ce) {
		return ce
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the body ended before its announced length")
	}
	return &connector.ClientError{Op: "read body", Status: 400, Err: err}
}

func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n {
		b = append(b, make([]byte, n)...)
		return b
	}
	return b[:len(b)+n]
}

func appendInt(b []byte, n int) []byte { return append(b, byte(n>>8), byte(n)) }

// appendString writes a string. One that is too long for its length field is
// cut here, but makes the packet too long by itself and is refused there.
func appendString[S ~[]byte | ~string](b []byte, s S) []byte {
	b = append(b, byte(len(s)>>8), byte(len(s)))
	b = append(b, s...)
	return append(b, 0)
}

func appendAttr(b []byte, name, value string) []byte {
	b = append(b, attrRequest)
	b = appendString(b, name)
	return appendString(b, value)
}

// appendForward writes a FORWARD_REQUEST packet; the length in its head is
// left open. Fields and attributes are in mod_jk's order. It is not ok if a
// field name is so long that it would read as a code.
func appendForward(b []byte, r *Request) (packet []byte, ok bool) {
	ok = true
	method := methodCode(r.Method)
	b = append(b, 0x12, 0x34, 0, 0, codeForwardRequest, method)
	b = appendString(b, r.Protocol)
	b = appendString(b, r.Path)
	b = appendString(b, connector.Numeric(r.RemoteAddr))
	if r.RemoteHost == "" {
		b = append(b, 0xFF, 0xFF)
	} else {
		b = appendString(b, r.RemoteHost)
	}
	b = appendString(b, r.ServerName)
	b = appendInt(b, r.ServerPort)
	b = append(b, bit(r.Secure))

	n := len(r.Fields)
	if r.ContentLength >= 0 {
		n++
	}
	b = appendInt(b, n)
	for i := range r.Fields {
		f := &r.Fields[i]
		if code := headerCode(f.Name); code != 0 {
			b = append(b, 0xA0, code)
		} else {
			ok = ok && len(f.Name) < 0xA000
			b = appendString(b, f.Name)
		}
		b = appendString(b, f.Value)
	}
	if r.ContentLength >= 0 {
		// A container takes a missing length for an unknown one.
		b = append(b, 0xA0, headerContentLength, 0, 0)
		at := len(b)
		b = strconv.AppendInt(b, r.ContentLength, 10)
		b[at-1] = byte(len(b) - at)
		b = append(b, 0)
	}

	if r.Secret != "" {
		b = appendString(append(b, attrSecret), r.Secret)
	}
	if len(r.RemoteUser) > 0 {
		b = appendString(append(b, attrRemoteUser), r.RemoteUser)
	}
	if len(r.AuthType) > 0 {
		b = appendString(append(b, attrAuthType), r.AuthType)
	}
	if r.HasQuery {
		b = appendString(append(b, attrQueryString), r.Query)
	}
	if r.Route != "" {
		b = appendString(append(b, attrRoute), r.Route)
	}
	if r.TLS != nil && r.Secure {
		b = appendTLS(b, r)
	}
	if method == methodStored {
		b = appendString(append(b, attrStoredMethod), r.Method)
	}
	if r.Secure && r.TLS != nil && r.TLS.Protocol != "" {
		b = appendAttr(b, "AJP_SSL_PROTOCOL", r.TLS.Protocol)
	}
	b = appendString(append(b, attrRequest), "AJP_REMOTE_PORT")
	b = appendString(b, r.RemotePort)
	b = appendString(append(b, attrRequest), "AJP_LOCAL_ADDR")
	b = appendString(b, connector.Numeric(r.LocalAddr))
	activation := r.Activation
	if activation == "" {
		activation = "ACT"
	}
	b = appendAttr(b, "JK_LB_ACTIVATION", activation)
	for _, a := range r.Attributes {
		b = appendAttr(b, a.Name, a.Value)
	}
	return append(b, attrDone), ok
}

// appendTLS writes what is known of the client's encrypted connection, and
// nothing of what isn't.
func appendTLS(b []byte, r *Request) []byte {
	t := r.TLS
	if t.ClientCert != "" {
		cert := t.ClientCert
		if r.ForwardChain {
			for _, c := range t.Chain {
				cert += c
			}
		}
		b = appendString(append(b, attrSSLCert), cert)
	}
	if t.Cipher != "" {
		b = appendString(append(b, attrSSLCipher), t.Cipher)
	}
	if t.SessionID != "" {
		b = appendString(append(b, attrSSLSession), t.SessionID)
	}
	if t.KeySize > 0 && r.ForwardKeySize {
		b = appendInt(append(b, attrSSLKeySize), min(t.KeySize, 0xFFFF)) // a number, not a string
	}
	return b
}

func bit(v bool) byte {
	if v {
		return 1
	}
	return 0
}
