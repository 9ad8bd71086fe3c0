package ajptest

// Payload encodes r as the payload of a FORWARD_REQUEST. Method and
// MethodCode are used as they are (a stored method must be among the
// Attributes); see [NewRequest] for one that is ready to be sent.
// DecodeForward(r.Payload()) gives back r.
func (r *Request) Payload() []byte {
	p := Payload(CodeForward, r.MethodCode).String(r.Protocol).String(r.URI).String(r.RemoteAddr)
	if r.RemoteHostNull {
		p.Null()
	} else {
		p.String(r.RemoteHost)
	}
	p.String(r.ServerName).Int(r.ServerPort).Bool(r.IsSSL).Int(len(r.Headers))
	for _, h := range r.Headers {
		p.Header(h)
	}
	for _, a := range r.Attributes {
		p.Byte(a.Code)
		switch a.Code {
		case AttrReqAttribute:
			p.String(a.Name).String(a.Value)
		case AttrSSLKeySize:
			p.Int(a.Int)
		default:
			p.String(a.Value)
		}
	}
	return p.Byte(AttrDone).Bytes()
}

// Packet is Payload with a front end's packet header.
func (r *Request) Packet() []byte { return frame(0x12, 0x34, r.Payload()) }

// NewRequest makes a plain HTTP/1.1 request from 127.0.0.1 to localhost:80.
// What follows '?' in target becomes the query string; a method without a
// code is stored. Add headers with [Request.Add]; without a Content-Length
// the container takes the body's length for unknown.
func NewRequest(method, target string) *Request {
	r := &Request{
		Method: method, MethodCode: MethodCode(method), Protocol: "HTTP/1.1",
		URI: target, RemoteAddr: "127.0.0.1", RemoteHostNull: true,
		ServerName: "localhost", ServerPort: 80,
	}
	for i := 0; i < len(target); i++ {
		if target[i] == '?' {
			r.URI = target[:i]
			r.AddAttr(AttrQueryString, target[i+1:])
			break
		}
	}
	if r.MethodCode == MethodStored {
		r.AddAttr(AttrStoredMethod, method)
	}
	return r.Add("Host", "localhost")
}

// Add appends a header, coded if the name has a code, and returns r.
func (r *Request) Add(name, value string) *Request {
	h := Header{Name: name, Value: value}
	if c := RequestHeaderCode(name); c != 0 {
		h.Code, h.Name = c, RequestHeaderName(c)
	}
	r.Headers = append(r.Headers, h)
	return r
}

// AddAttr appends an attribute with a string for a value and returns r.
func (r *Request) AddAttr(code byte, value string) *Request {
	r.Attributes = append(r.Attributes, Attribute{Code: code, Name: attributeNames[code], Value: value})
	return r
}

// AddReqAttr appends a request attribute (code 0A) and returns r.
func (r *Request) AddReqAttr(name, value string) *Request {
	r.Attributes = append(r.Attributes, Attribute{Code: AttrReqAttribute, Name: name, Value: value})
	return r
}

// Data builds a request body packet; the empty one is 12 34 00 02 00 00.
func Data(p []byte) []byte { return Payload().Int(len(p)).Raw(p).FrontPacket() }

// DataEnd builds the end of a request body: 12 34 00 00.
func DataEnd() []byte { return frame(0x12, 0x34, nil) }

// CPing builds a CPING packet.
func CPing() []byte { return frame(0x12, 0x34, []byte{CodeCPing}) }
