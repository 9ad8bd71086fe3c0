package ajptest

import "fmt"

// H makes an answer's header, coded if the name has a code, as a container
// does. The name is kept as written for those that have none.
func H(name, value string) Header {
	h := Header{Name: name, Value: value}
	if c := ResponseHeaderCode(name); c != 0 {
		h.Code, h.Name = c, ResponseHeaderName(c)
	}
	return h
}

// S makes a header whose name is sent as a string, even if it has a code.
func S(name, value string) Header { return Header{Name: name, Value: value} }

// SendHeaders builds a SEND_HEADERS packet. Containers of today give the
// status number as the message.
func SendHeaders(status int, msg string, headers ...Header) []byte {
	return sendHeaders(Payload(CodeHeaders).Int(status).String(msg), headers)
}

// SendHeadersNull is [SendHeaders] with "no string" for the message.
func SendHeadersNull(status int, headers ...Header) []byte {
	return sendHeaders(Payload(CodeHeaders).Int(status).Null(), headers)
}

func sendHeaders(p *Builder, headers []Header) []byte {
	p.Int(len(headers))
	for _, h := range headers {
		p.Header(h)
	}
	return p.Packet()
}

// Chunk builds a SEND_BODY_CHUNK packet with the trailing NUL that Tomcat
// sends. data must fit the packet size in use (size - 8 bytes).
func Chunk(data []byte) []byte {
	return Payload(CodeChunk).Int(len(data)).Raw(data).Byte(0).Packet()
}

// ChunkBare is [Chunk] without the trailing NUL, which is right as well.
func ChunkBare(data []byte) []byte {
	return Payload(CodeChunk).Int(len(data)).Raw(data).Packet()
}

// Chunks cuts data into the fewest SEND_BODY_CHUNK packets of at most size
// bytes each, header included.
func Chunks(data []byte, size int) []byte {
	var out []byte
	for len(data) > 0 {
		n := min(len(data), size-8)
		out = append(out, Chunk(data[:n])...)
		data = data[n:]
	}
	return out
}

// Flush builds Tomcat's flush packet: a chunk of length zero with its NUL.
func Flush() []byte { return Chunk(nil) }

// FlushBare is the other right form of [Flush], without the NUL.
func FlushBare() []byte { return ChunkBare(nil) }

// GetBody builds a GET_BODY_CHUNK packet; n is the wanted number of bytes,
// 8186 at the default packet size.
func GetBody(n int) []byte { return Payload(CodeGetBody).Int(n).Packet() }

// End builds an END_RESPONSE packet.
func End(reuse bool) []byte { return Payload(CodeEnd).Bool(reuse).Packet() }

// EndBare builds an END_RESPONSE without its reuse byte: a protocol error after
// an answer that is complete.
func EndBare() []byte { return Payload(CodeEnd).Packet() }

// CPong builds a CPONG packet.
func CPong() []byte { return Payload(CodeCPong).Packet() }

// ResponseHead is a decoded SEND_HEADERS packet.
type ResponseHead struct {
	Status      int
	Message     string
	MessageNull bool
	Headers     []Header
}

// Header returns the value of the first header with that name (any case).
func (r *ResponseHead) Header(name string) (value string, ok bool) {
	for _, h := range r.Headers {
		if equalFold(h.Name, name) {
			return h.Value, true
		}
	}
	return "", false
}

// DecodeHeaders decodes the payload of a SEND_HEADERS packet as strictly as
// [DecodeForward]; only the message may be a null string.
func DecodeHeaders(payload []byte) (*ResponseHead, error) {
	d := &decoder{b: payload}
	r := &ResponseHead{}
	if c := d.byte("prefix code"); d.err == nil && c != CodeHeaders {
		d.fail("prefix code", 0, fmt.Sprintf("%#02x is not SEND_HEADERS", c))
	}
	at := d.off
	r.Status = d.int("status")
	if d.err == nil && (r.Status < 100 || r.Status > 999) {
		d.fail("status", at, fmt.Sprintf("%d is out of range", r.Status))
	}
	r.Message, r.MessageNull = d.strOrNull("message")
	r.Headers = d.headers(responseHeaders[:])
	if d.err == nil && d.off != len(payload) {
		d.fail("payload", d.off, fmt.Sprintf("%d bytes too many", len(payload)-d.off))
	}
	if d.err != nil {
		return nil, d.err
	}
	return r, nil
}

// DecodeChunk decodes the payload of a SEND_BODY_CHUNK packet, with or
// without the trailing NUL. The data lies in payload.
func DecodeChunk(payload []byte) ([]byte, error) {
	d := &decoder{b: payload}
	if c := d.byte("prefix code"); d.err == nil && c != CodeChunk {
		d.fail("prefix code", 0, fmt.Sprintf("%#02x is not SEND_BODY_CHUNK", c))
	}
	n := d.int("chunk length")
	p := d.take("chunk", n)
	if d.err != nil {
		return nil, d.err
	}
	switch rest := payload[d.off:]; {
	case len(rest) == 0, len(rest) == 1 && rest[0] == 0:
		return p, nil
	default:
		return nil, &DecodeError{Offset: d.off, Field: "chunk", Reason: fmt.Sprintf("% x after the data", rest[:min(len(rest), 8)])}
	}
}
