package ajptest

import "strconv"

// Header is one header field of a request or of an answer.
type Header struct {
	// Name as it was on the wire, or the table's spelling if it was coded.
	Name  string
	Value string
	// Code is the two-byte code that stood for the name, 0 if the name was
	// sent as a string.
	Code uint16
}

// Coded tells whether the name was sent as a two-byte code.
func (h Header) Coded() bool { return h.Code != 0 }

// Attribute is one attribute of a FORWARD_REQUEST.
type Attribute struct {
	Code byte
	// Name is the attribute's own name for code 0A, else the table's name for
	// the code, such as "query_string".
	Name  string
	Value string // unused for ssl_key_size
	Int   int    // ssl_key_size only
}

// Request is a decoded FORWARD_REQUEST.
type Request struct {
	// Method is the method's name, whether it was sent as a code or in the
	// stored_method attribute; MethodCode is the byte on the wire.
	Method     string
	MethodCode byte

	Protocol   string
	URI        string // path, without query
	RemoteAddr string
	RemoteHost string
	// RemoteHostNull tells "no string" from an empty one.
	RemoteHostNull bool
	ServerName     string
	ServerPort     int
	IsSSL          bool

	Headers    []Header    // in the order sent
	Attributes []Attribute // in the order sent, without the final FF

	// Raw is a copy of the payload that was decoded.
	Raw []byte
}

// Header returns the value of the first header with that name (any case).
func (r *Request) Header(name string) (value string, ok bool) {
	for _, h := range r.Headers {
		if equalFold(h.Name, name) {
			return h.Value, true
		}
	}
	return "", false
}

// HeaderValues returns the values of all headers with that name, in order.
func (r *Request) HeaderValues(name string) []string {
	var v []string
	for _, h := range r.Headers {
		if equalFold(h.Name, name) {
			v = append(v, h.Value)
		}
	}
	return v
}

// Attr returns the first attribute with that code.
func (r *Request) Attr(code byte) (Attribute, bool) {
	for _, a := range r.Attributes {
		if a.Code == code {
			return a, true
		}
	}
	return Attribute{}, false
}

// ReqAttr returns the value of the request attribute (code 0A) of that name.
func (r *Request) ReqAttr(name string) (value string, ok bool) {
	for _, a := range r.Attributes {
		if a.Code == AttrReqAttribute && a.Name == name {
			return a.Value, true
		}
	}
	return "", false
}

// AttrNames returns the names of all attributes in the order sent.
func (r *Request) AttrNames() []string {
	names := make([]string, 0, len(r.Attributes))
	for _, a := range r.Attributes {
		names = append(names, a.Name)
	}
	return names
}

// Query returns the query string; ok tells an empty one from none.
func (r *Request) Query() (query string, ok bool) {
	a, ok := r.Attr(AttrQueryString)
	return a.Value, ok
}

// ContentLength returns the announced length of the body: -1 if there is no
// Content-Length, -2 if there are several or one is not a decimal number
// below 2^63. Above zero, one body packet follows unasked.
func (r *Request) ContentLength() int64 {
	v := r.HeaderValues("content-length")
	switch {
	case len(v) == 0:
		return -1
	case len(v) > 1 || v[0] == "":
		return -2
	}
	for i := 0; i < len(v[0]); i++ {
		if v[0][i] < '0' || v[0][i] > '9' {
			return -2
		}
	}
	n, err := strconv.ParseInt(v[0], 10, 64)
	if err != nil {
		return -2
	}
	return n
}
