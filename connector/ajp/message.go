package ajp

import (
	"bytes"
	"encoding/binary"

	"jkd/connector"
)

// message reads the payload of one packet. Every step is checked against the
// length of the packet; the first one that fails is remembered and all later
// ones do nothing.
type message struct {
	b     []byte
	fault string
}

func (m *message) fail(fault string) {
	if m.fault == "" {
		m.fault = fault
	}
	m.b = nil
}

func (m *message) int() int {
	if len(m.b) < 2 {
		m.fail("packet ends inside an integer")
		return 0
	}
	n := binary.BigEndian.Uint16(m.b)
	m.b = m.b[2:]
	return int(n)
}

// string returns a string; ok is false for the null string.
func (m *message) string() (s []byte, ok bool) {
	n := m.int()
	if m.fault != "" || n == 0xFFFF {
		return nil, false
	}
	if len(m.b) < n+1 {
		m.fail("string runs past the end of the packet")
		return nil, false
	}
	if m.b[n] != 0 {
		m.fail("string without its terminating zero")
		return nil, false
	}
	s = m.b[:n:n]
	m.b = m.b[n+1:]
	return s, true
}

// minHeader is the smallest header: a code and an empty value.
const minHeader = 2 + 3

// Head is the head of an answer. The slices of Fields point into the packet.
type Head struct {
	Status int
	Fields []connector.Field
	// Dropped are the names of fields that were left out because a name is
	// not a token or a value has a control byte that could begin another line.
	Dropped [][]byte
}

// decodeHead reads the payload of SEND_HEADERS after its code into h, reusing
// its slices. The reason phrase is read and ignored: current containers send
// the number again.
func decodeHead(payload []byte, h *Head) error {
	m := message{b: payload}
	h.Fields, h.Dropped = h.Fields[:0], h.Dropped[:0]
	h.Status = m.int()
	m.string()
	n := m.int()
	if m.fault == "" && n*minHeader > len(m.b) {
		m.fail("more headers announced than the packet can hold")
	}
	for range n {
		if m.fault != "" {
			break
		}
		var name []byte
		if len(m.b) >= 2 && m.b[0] == 0xA0 {
			code := int(m.b[1])
			if code < 1 || code > len(responseHeaders) {
				m.fail("unknown header code")
				break
			}
			name = responseHeaders[code-1]
			m.b = m.b[2:]
		} else {
			var ok bool
			if name, ok = m.string(); !ok {
				m.fail("null header name")
				break
			}
		}
		value, ok := m.string()
		if !ok {
			m.fail("null header value")
			break
		}
		if !isToken(name) || !isFieldValue(value) {
			if connector.EqualFold(name, "location") {
				m.fail("control byte in Location")
				break
			}
			// The packet will be overwritten before anybody reads this.
			h.Dropped = append(h.Dropped, bytes.Clone(name))
			continue
		}
		h.Fields = append(h.Fields, connector.Field{Name: name, Value: value})
	}
	if m.fault == "" && (h.Status < 100 || h.Status > 999) {
		m.fail("status out of range")
	}
	if m.fault != "" {
		return &ProtocolError{Fault: "SEND_HEADERS: " + m.fault}
	}
	return nil
}

func isToken(b []byte) bool {
	for _, c := range b {
		if !connector.IsTokenByte[c] {
			return false
		}
	}
	return len(b) > 0
}

// isFieldValue refuses what could end a line or a string; other control bytes
// are the container's to send.
func isFieldValue(b []byte) bool {
	for _, c := range b {
		if c == '\r' || c == '\n' || c == 0 {
			return false
		}
	}
	return true
}
