package demo

import (
	"bytes"
	"errors"
	"math"
)

// header is one header of a request; its bytes lie in the packet.
type header struct {
	code        byte   // low byte of the code, 0 if the name came as a string
	name, value []byte // name is nil for a coded one
}

// is tells whether it is the header with that code.
func (h header) is(code byte) bool {
	return h.code == code || h.code == 0 && len(h.name) == len(headerNames[code]) && bytes.EqualFold(h.name, []byte(headerNames[code]))
}

func (h header) Name() string {
	if h.code != 0 {
		return headerNames[h.code]
	}
	return string(h.name)
}

// attribute is one attribute of a request; its bytes lie in the packet.
type attribute struct {
	code  byte
	name  []byte // of a pair (code 0A)
	value []byte
	num   int // of ssl_key_size
}

func (a attribute) Name() string {
	if a.code == attrPair {
		return string(a.name)
	}
	return attributeNames[a.code]
}

// request is a decoded FORWARD_REQUEST. It is reused from one request of a
// connection to the next; its bytes are valid while the request is served.
type request struct {
	method     string
	protocol   []byte
	uri        []byte
	remoteAddr []byte // nil for "no string", like the next two
	remoteHost []byte
	serverName []byte
	serverPort int
	secure     bool
	headers    []header
	attrs      []attribute

	contentLength int64  // -1 without the header
	query         []byte // nil if there is none
	secret        []byte
}

var (
	errMalformed = errors.New("malformed FORWARD_REQUEST")
	errLength    = errors.New("bad Content-Length")
)

// decode reads a payload. It allocates nothing once the slices have grown,
// but for methods that AJP has no number for.
func (r *request) decode(payload []byte) error {
	*r = request{headers: r.headers[:0], attrs: r.attrs[:0], contentLength: -1}
	d := decoder{b: payload, ok: true}
	d.byte() // prefix code, looked at by the caller
	code := d.byte()
	r.protocol = d.string()
	r.uri = d.string()
	r.remoteAddr = d.string()
	r.remoteHost = d.string()
	r.serverName = d.string()
	r.serverPort = d.int()
	r.secure = d.byte() != 0
	if !d.ok || len(r.protocol) == 0 || len(r.uri) == 0 {
		return errMalformed
	}
	r.decodeHeaders(&d)
	r.decodeAttributes(&d)
	if !d.ok {
		return errMalformed
	}
	if code != methodStored {
		if int(code) >= len(methodNames) || code == 0 {
			return errMalformed
		}
		r.method = methodNames[code]
	} else if r.method == "" {
		return errMalformed
	}
	return r.findLength()
}

func (r *request) decodeHeaders(d *decoder) {
	n := d.int()
	for ; n > 0 && d.ok; n-- {
		var h header
		if d.peek() == 0xA0 {
			d.byte()
			h.code = d.byte()
			if h.code == 0 || int(h.code) >= len(headerNames) {
				d.ok = false
				return
			}
		} else if h.name = d.string(); len(h.name) == 0 {
			d.ok = false
			return
		}
		if h.value = d.string(); h.value == nil {
			d.ok = false
			return
		}
		r.headers = append(r.headers, h)
	}
}

func (r *request) decodeAttributes(d *decoder) {
	for d.ok {
		a := attribute{code: d.byte()}
		switch {
		case !d.ok || a.code == attrDone:
			return
		case a.code == attrSSLKeySize:
			a.num = d.int()
		case a.code == attrPair:
			if a.name = d.string(); a.name == nil {
				d.ok = false
			}
			a.value = d.string()
		case a.code == 0 || int(a.code) >= len(attributeNames):
			// Its value can't be skipped: nobody knows its shape.
			d.ok = false
		default:
			a.value = d.string()
		}
		switch a.code {
		case attrQuery:
			r.query = a.value
		case attrSecret:
			r.secret = a.value
		case attrStoredMethod:
			r.method = string(a.value)
		}
		r.attrs = append(r.attrs, a)
	}
}

// findLength reads Content-Length: one decimal number, or the request is bad.
func (r *request) findLength() error {
	for _, h := range r.headers {
		if !h.is(headerContentLength) {
			continue
		}
		if r.contentLength >= 0 || len(h.value) == 0 {
			return errLength
		}
		var n int64
		for _, c := range h.value {
			if c < '0' || c > '9' || n > (math.MaxInt64-int64(c-'0'))/10 {
				return errLength
			}
			n = n*10 + int64(c-'0')
		}
		r.contentLength = n
	}
	return nil
}

// header returns the value of the first header with that code, whether the
// name was coded or came as a string; nil if there is none.
func (r *request) header(code byte) []byte {
	for _, h := range r.headers {
		if h.is(code) {
			return h.value
		}
	}
	return nil
}

// param returns the value of a query parameter, undecoded.
func (r *request) param(name string) (value []byte, ok bool) {
	for q := r.query; len(q) > 0; {
		pair := q
		if i := bytes.IndexByte(q, '&'); i >= 0 {
			pair, q = q[:i], q[i+1:]
		} else {
			q = nil
		}
		if i := bytes.IndexByte(pair, '='); i >= 0 && string(pair[:i]) == name {
			return pair[i+1:], true
		}
	}
	return nil, false
}

// path is the URI without path parameters.
func (r *request) path() []byte {
	if i := bytes.IndexByte(r.uri, ';'); i >= 0 {
		return r.uri[:i]
	}
	return r.uri
}

// decoder reads fields of a payload; once ok is false every read gives zero.
type decoder struct {
	b  []byte
	ok bool
}

func (d *decoder) peek() byte {
	if !d.ok || len(d.b) == 0 {
		return 0
	}
	return d.b[0]
}

func (d *decoder) byte() byte {
	if !d.ok || len(d.b) < 1 {
		d.ok = false
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) int() int {
	if !d.ok || len(d.b) < 2 {
		d.ok = false
		return 0
	}
	v := int(d.b[0])<<8 | int(d.b[1])
	d.b = d.b[2:]
	return v
}

// string returns nil for "no string" and a slice that isn't nil for an empty
// one.
func (d *decoder) string() []byte {
	n := d.int()
	if !d.ok || n == nullString {
		return nil
	}
	if len(d.b) < n+1 || d.b[n] != 0 {
		d.ok = false
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n+1:]
	return v
}
