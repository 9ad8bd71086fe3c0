package ajptest

import "fmt"

// DecodeError tells where in a payload a decoder stopped and why.
type DecodeError struct {
	Offset int    // into the payload
	Field  string // what was being read
	Reason string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("ajptest: %s at offset %d: %s", e.Field, e.Offset, e.Reason)
}

// DecodeForward decodes the payload of a FORWARD_REQUEST, its first byte 02.
// It is stricter than any container: what a careful front end would not send
// is an error here, even if a container would shrug it off. Refused are
//
//   - whatever runs past the end, bytes after the terminator, no terminator,
//   - a string without its NUL, or with a NUL, CR or LF inside,
//   - a null string anywhere but in remote_host,
//   - an unknown method, header or attribute code, a boolean other than 0 or 1,
//   - an empty protocol, URI or header name, a name that is not a token,
//   - method byte FF without stored_method, or stored_method beside another,
//   - an attribute code twice, or a request attribute's name twice.
func DecodeForward(payload []byte) (*Request, error) {
	d := &decoder{b: payload}
	r := &Request{}
	if c := d.byte("prefix code"); d.err == nil && c != CodeForward {
		d.fail("prefix code", 0, fmt.Sprintf("%#02x is not FORWARD_REQUEST", c))
	}
	r.MethodCode = d.byte("method")
	if d.err == nil && r.MethodCode != MethodStored {
		if r.Method = MethodName(r.MethodCode); r.Method == "" {
			d.fail("method", d.off-1, fmt.Sprintf("unknown code %#02x", r.MethodCode))
		}
	}
	r.Protocol = d.nonEmpty("protocol")
	r.URI = d.nonEmpty("req_uri")
	r.RemoteAddr = d.str("remote_addr")
	r.RemoteHost, r.RemoteHostNull = d.strOrNull("remote_host")
	r.ServerName = d.str("server_name")
	r.ServerPort = d.int("server_port")
	r.IsSSL = d.bool("is_ssl")
	r.Headers = d.headers(requestHeaders[:])
	r.Attributes = d.attributes()
	if d.err == nil && d.off != len(payload) {
		d.fail("payload", d.off, fmt.Sprintf("%d bytes after the terminator", len(payload)-d.off))
	}
	if d.err == nil {
		d.storedMethod(r)
	}
	if d.err != nil {
		return nil, d.err
	}
	r.Raw = append([]byte(nil), payload...)
	return r, nil
}

// decoder reads fields of a payload; after the first error every read returns
// a zero value.
type decoder struct {
	b   []byte
	off int
	err error
}

func (d *decoder) fail(field string, off int, reason string) {
	if d.err == nil {
		d.err = &DecodeError{Offset: off, Field: field, Reason: reason}
	}
}

func (d *decoder) take(field string, n int) []byte {
	if d.err != nil {
		return nil
	}
	if n > len(d.b)-d.off {
		d.fail(field, d.off, fmt.Sprintf("%d bytes wanted, %d left", n, len(d.b)-d.off))
		return nil
	}
	p := d.b[d.off : d.off+n]
	d.off += n
	return p
}

func (d *decoder) byte(field string) byte {
	if p := d.take(field, 1); p != nil {
		return p[0]
	}
	return 0
}

func (d *decoder) int(field string) int {
	if p := d.take(field, 2); p != nil {
		return int(p[0])<<8 | int(p[1])
	}
	return 0
}

func (d *decoder) bool(field string) bool {
	b := d.byte(field)
	if b > 1 {
		d.fail(field, d.off-1, fmt.Sprintf("%#02x is not a boolean", b))
	}
	return b == 1
}

func (d *decoder) strOrNull(field string) (s string, null bool) {
	at := d.off
	n := d.int(field)
	if d.err != nil {
		return "", false
	}
	if n == nullLength {
		return "", true
	}
	p := d.take(field, n+1)
	if p == nil {
		return "", false
	}
	if p[n] != 0 {
		d.fail(field, at+2+n, fmt.Sprintf("string ends with %#02x, not NUL", p[n]))
		return "", false
	}
	for i, c := range p[:n] {
		if c == 0 || c == '\r' || c == '\n' {
			d.fail(field, at+2+i, fmt.Sprintf("byte %#02x in a string", c))
			return "", false
		}
	}
	return string(p[:n]), false
}

func (d *decoder) str(field string) string {
	at := d.off
	s, null := d.strOrNull(field)
	if null {
		d.fail(field, at, "null string")
	}
	return s
}

func (d *decoder) nonEmpty(field string) string {
	at := d.off
	s := d.str(field)
	if s == "" {
		d.fail(field, at, "empty string")
	}
	return s
}

// headers reads a count and that many name/value pairs.
func (d *decoder) headers(table []string) []Header {
	at := d.off
	n := d.int("num_headers")
	// The shortest header is a code and an empty string.
	if d.err == nil && n*5 > len(d.b)-d.off {
		d.fail("num_headers", at, fmt.Sprintf("%d headers can't be in %d bytes", n, len(d.b)-d.off))
	}
	var hs []Header
	for i := 0; i < n && d.err == nil; i++ {
		hs = append(hs, d.header(table, i))
	}
	return hs
}

func (d *decoder) header(table []string, i int) Header {
	name, value := fmt.Sprintf("header %d name", i), fmt.Sprintf("header %d value", i)
	var h Header
	if d.off < len(d.b) && d.b[d.off] == 0xA0 {
		at := d.off
		code := uint16(d.int(name))
		if d.err == nil {
			h.Code = code
			if h.Name = tableName(table, code); h.Name == "" {
				d.fail(name, at, fmt.Sprintf("unknown code %04X", code))
			}
		}
	} else {
		at := d.off
		h.Name = d.nonEmpty(name)
		if d.err == nil && !isToken(h.Name) {
			d.fail(name, at, fmt.Sprintf("%q is not a token", h.Name))
		}
	}
	h.Value = d.str(value)
	return h
}

// attributes reads attributes up to and with the terminator FF.
func (d *decoder) attributes() []Attribute {
	var as []Attribute
	seen := make(map[Attribute]bool) // only Code and, for 0A, Name are set
	for d.err == nil {
		at := d.off
		a := Attribute{Code: d.byte("attribute code or terminator")}
		if d.err != nil || a.Code == AttrDone {
			break
		}
		key := Attribute{Code: a.Code}
		switch a.Code {
		case AttrReqAttribute:
			a.Name = d.nonEmpty("req_attribute name")
			a.Value = d.attrValue(a.Name)
			key.Name = a.Name
		case AttrSSLKeySize:
			a.Name = attributeNames[a.Code]
			a.Int = d.int(a.Name)
		default:
			if a.Name = attributeNames[a.Code]; a.Name == "" {
				d.fail("attribute code", at, fmt.Sprintf("unknown code %#02x", a.Code))
				break
			}
			a.Value = d.attrValue(a.Name)
		}
		if d.err == nil && seen[key] {
			d.fail(a.Name, at, "attribute sent twice")
		}
		seen[key] = true
		as = append(as, a)
	}
	return as
}

// attrValue reads an attribute's string. A certificate is PEM text and has
// line ends; nothing else may.
func (d *decoder) attrValue(name string) string {
	if name != attributeNames[AttrSSLCert] {
		return d.str(name)
	}
	at := d.off
	n := d.int(name)
	if d.err == nil && n == nullLength {
		d.fail(name, at, "null string")
	}
	p := d.take(name, n+1)
	if p == nil {
		return ""
	}
	for i, c := range p {
		if (c == 0) != (i == n) {
			d.fail(name, at+2+i, "NUL missing or in the wrong place")
			return ""
		}
	}
	return string(p[:n])
}

func (d *decoder) storedMethod(r *Request) {
	a, ok := r.Attr(AttrStoredMethod)
	switch {
	case r.MethodCode != MethodStored && ok:
		d.fail("stored_method", d.off, "the method byte already names "+r.Method)
	case r.MethodCode == MethodStored && !ok:
		d.fail("stored_method", d.off, "missing, though the method byte is FF")
	case ok && !isToken(a.Value):
		d.fail("stored_method", d.off, fmt.Sprintf("%q is not a token", a.Value))
	case ok && MethodCode(a.Value) != MethodStored:
		d.fail("stored_method", d.off, a.Value+" has a code of its own")
	case ok:
		r.Method = a.Value
	}
}

// isToken tells whether s is an HTTP token (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		default:
			switch c {
			case '!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~':
			default:
				return false
			}
		}
	}
	return s != ""
}
