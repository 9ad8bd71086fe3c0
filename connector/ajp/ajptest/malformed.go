package ajptest

// WithMagic returns a copy of packet with other first two bytes.
func WithMagic(packet []byte, m0, m1 byte) []byte {
	p := append([]byte(nil), packet...)
	p[0], p[1] = m0, m1
	return p
}

// WithLength returns a copy of packet whose header claims n payload bytes;
// the payload stays as it is.
func WithLength(packet []byte, n int) []byte {
	p := append([]byte(nil), packet...)
	p[2], p[3] = byte(n>>8), byte(n)
	return p
}

// Shortened returns a copy of packet without the last n payload bytes, its
// header saying so: the framing is right and the content isn't.
func Shortened(packet []byte, n int) []byte {
	p := append([]byte(nil), packet[:len(packet)-n]...)
	return WithLength(p, len(p)-4)
}

// Truncated returns the packet's first n bytes with the header unchanged:
// what arrives when a container dies while it writes.
func Truncated(packet []byte, n int) []byte {
	return append([]byte(nil), packet[:n]...)
}

// BadPacket is one kind of wrong answer.
type BadPacket struct {
	Name string
	// Before is sent first and is good; nil if the bad packet comes first.
	Before []byte
	// Bytes is what no front end may take for an answer.
	Bytes []byte
}

// BadPackets returns wrong answers to a FORWARD_REQUEST without a body. Each
// is complete on the wire unless its name begins with "cut": those are
// followed by a close.
func BadPackets() []BadPacket {
	ok := SendHeaders(200, "OK")
	chunk := Chunk([]byte("hello"))
	long := WithLength(chunk, 0xFFFF)
	return []BadPacket{
		{"magic of a front end", nil, WithMagic(ok, 0x12, 0x34)},
		{"magic zero", nil, WithMagic(ok, 0, 0)},
		{"HTTP answer", nil, []byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")},
		{"TLS alert", nil, []byte{0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46}},
		{"empty payload", nil, Payload().Packet()},
		{"code 0", nil, Payload(0).Packet()},
		{"code 1", nil, Payload(1).Packet()},
		{"FORWARD_REQUEST", nil, Payload(CodeForward).Packet()},
		{"SHUTDOWN", nil, Payload(CodeShutdown).Packet()},
		{"PING", nil, Payload(CodePing).Packet()},
		{"CPONG", nil, CPong()},
		{"CPING", nil, Payload(CodeCPing).Packet()},
		{"code 11", nil, Payload(11).Packet()},
		{"code 255", nil, Payload(255).Packet()},
		{"body before headers", nil, chunk},
		{"END_RESPONSE before headers", nil, End(true)},
		{"SEND_HEADERS without status", nil, Payload(CodeHeaders).Packet()},
		{"SEND_HEADERS half a status", nil, Payload(CodeHeaders, 0).Packet()},
		{"status 0", nil, SendHeaders(0, "OK")},
		{"status 99", nil, SendHeaders(99, "OK")},
		{"status 101", nil, SendHeaders(101, "101")},
		{"status 1000", nil, SendHeaders(1000, "OK")},
		{"status 65535", nil, SendHeaders(65535, "OK")},
		{"message past the end", nil, Payload(CodeHeaders).Int(200).Int(100).Raw([]byte("OK")).Byte(0).Int(0).Packet()},
		{"message without NUL", nil, Payload(CodeHeaders).Int(200).Int(2).Raw([]byte("OK")).Byte('x').Int(0).Packet()},
		{"message ends the payload before its NUL", nil, Payload(CodeHeaders).Int(200).Int(2).Raw([]byte("OK")).Packet()},
		{"no header count", nil, Payload(CodeHeaders).Int(200).String("OK").Packet()},
		{"half a header count", nil, Payload(CodeHeaders).Int(200).String("OK").Byte(0).Packet()},
		{"header count without headers", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Packet()},
		{"header count 65535", nil, Payload(CodeHeaders).Int(200).String("OK").Int(0xFFFF).Header(S("A", "b")).Packet()},
		{"header code A000", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Int(0xA000).String("x").Packet()},
		{"header code A00C", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Int(0xA00C).String("x").Packet()},
		{"header code A0FF", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Int(0xA0FF).String("x").Packet()},
		{"header name null", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Null().String("x").Packet()},
		{"header value null", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Int(0xA001).Null().Packet()},
		{"header name past the end", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Int(0x4000).Raw([]byte("Name")).Byte(0).String("x").Packet()},
		{"header value past the end", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Int(0xA001).Int(9).Raw([]byte("text")).Byte(0).Packet()},
		{"header value without NUL", nil, Payload(CodeHeaders).Int(200).String("OK").Int(1).Int(0xA001).Int(4).Raw([]byte("text!")).Packet()},
		{"header value cut by one", nil, Shortened(SendHeaders(200, "OK", H("Content-Type", "text/plain")), 1)},
		{"second SEND_HEADERS", ok, SendHeaders(200, "OK")},
		{"chunk without length", ok, Payload(CodeChunk).Packet()},
		{"chunk half a length", ok, Payload(CodeChunk, 0).Packet()},
		{"chunk longer than its packet by one", ok, Payload(CodeChunk).Int(6).Raw([]byte("hello")).Packet()},
		{"chunk of 65535 in a small packet", ok, Payload(CodeChunk).Int(0xFFFF).Raw([]byte("hello")).Byte(0).Packet()},
		{"packet longer than any size", ok, append(long, make([]byte, 0xFFFF-(len(chunk)-4))...)},
		{"GET_BODY_CHUNK without a length", ok, Payload(CodeGetBody).Packet()},
		{"GET_BODY_CHUNK half a length", ok, Payload(CodeGetBody, 0x1F).Packet()},
		{"unknown code in the body", ok, Payload(0x42).Packet()},
		{"CPONG in the body", ok, CPong()},
		{"HTTP in the body", ok, []byte("<html>not AJP at all</html>")},
		{"cut in the packet header", nil, Truncated(ok, 3)},
		{"cut in SEND_HEADERS", nil, Truncated(ok, 9)},
		{"cut in a chunk", ok, Truncated(chunk, 8)},
		{"cut in END_RESPONSE", ok, Truncated(End(true), 5)},
		{"cut before END_RESPONSE", append(ok, chunk...), nil},
	}
}
