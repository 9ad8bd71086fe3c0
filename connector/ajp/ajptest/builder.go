package ajptest

import "fmt"

// Builder puts a payload together field by field. Its methods return it, so
// that a packet can be written as one expression; they check nothing but what
// can't be expressed at all.
type Builder struct{ b []byte }

// Payload starts a payload with the given bytes, usually one prefix code.
func Payload(b ...byte) *Builder { return &Builder{b: append([]byte(nil), b...)} }

// Byte appends one byte.
func (p *Builder) Byte(v byte) *Builder { p.b = append(p.b, v); return p }

// Bool appends 1 or 0.
func (p *Builder) Bool(v bool) *Builder {
	if v {
		return p.Byte(1)
	}
	return p.Byte(0)
}

// Int appends the low 16 bits of v.
func (p *Builder) Int(v int) *Builder { p.b = append(p.b, byte(v>>8), byte(v)); return p }

// String appends length, bytes and NUL. It panics above 65534 bytes, which
// the length can't say.
func (p *Builder) String(s string) *Builder {
	if len(s) >= nullLength {
		panic(fmt.Sprintf("ajptest: string of %d bytes", len(s)))
	}
	p.Int(len(s))
	p.b = append(append(p.b, s...), 0)
	return p
}

// Null appends "no string".
func (p *Builder) Null() *Builder { return p.Int(nullLength) }

// Raw appends bytes as they are.
func (p *Builder) Raw(b []byte) *Builder { p.b = append(p.b, b...); return p }

// Header appends one name/value pair: the code if there is one, else the name.
func (p *Builder) Header(h Header) *Builder {
	if h.Coded() {
		p.Int(int(h.Code))
	} else {
		p.String(h.Name)
	}
	return p.String(h.Value)
}

// Bytes returns a copy of the payload so far.
func (p *Builder) Bytes() []byte { return append([]byte(nil), p.b...) }

// Packet returns the payload as a container's packet (41 42).
func (p *Builder) Packet() []byte { return frame('A', 'B', p.b) }

// FrontPacket returns the payload as a front end's packet (12 34).
func (p *Builder) FrontPacket() []byte { return frame(0x12, 0x34, p.b) }

func frame(m0, m1 byte, payload []byte) []byte {
	n := len(payload)
	if n > 0xFFFF {
		panic(fmt.Sprintf("ajptest: payload of %d bytes", n))
	}
	return append([]byte{m0, m1, byte(n >> 8), byte(n)}, payload...)
}
