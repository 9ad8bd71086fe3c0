package ajp

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// FuzzMessage takes its input for what a container sends. Whatever it is, and
// in whatever pieces it comes: no panic, one Start at most, one Finish and only
// at the end of a good answer, not one byte passed on that was not received,
// and no connection that may be used again while something lies on it.
func FuzzMessage(f *testing.F) {
	for _, x := range captures(f) {
		p := x.answer[:min(len(x.answer), 3000)]
		f.Add(p, uint8(len(p)), x.request.ContentLength > 0)
		if len(p) > 40 {
			f.Add(p[:len(p)/2], uint8(1), false)
		}
	}
	for _, bp := range ajptest.BadPackets() {
		if len(bp.Bytes) < 1000 {
			f.Add(join(bp.Before, bp.Bytes, end), uint8(3), false)
		}
	}
	f.Add(join(flush, head200, bare, chunkOf("x"), ajptest.GetBody(3), end, flush), uint8(0), true)
	f.Add(join(ajptest.SendHeaders(100, ""), head200, end, answer("stolen")), uint8(0), false)
	f.Add(join(pong, flush), uint8(2), false)
	f.Fuzz(func(t *testing.T, data []byte, step uint8, upload bool) {
		var first string
		for _, step := range []int{0, int(step), 1} {
			got := playFuzz(t, data, step, upload)
			if first == "" {
				first = got
			}
			if got != first {
				t.Errorf("in pieces of %d: %s, whole: %s", step, got, first)
			}
		}
		nc := script(data)
		nc.end = errors.New("quiet")
		c := NewConn(nc, DefaultPacketSize)
		if err := c.CPing(0); err == nil {
			checkReuse(t, c, nc)
		}
	})
}

// playFuzz plays one answer and returns all that a client would notice.
func playFuzz(t *testing.T, data []byte, step int, upload bool) string {
	nc := &memConn{script: [][]byte{data}, step: step, end: errors.New("quiet")}
	c := NewConn(nc, DefaultPacketSize)
	w := &recorder{}
	r := newRequest("GET", "/")
	if upload {
		r = post(bytes.NewReader(pattern(20000)), 20000)
	}
	fw := encode(r)
	sent := len(fw.buf)
	err := c.Exchange(fw, w, Timeouts{})
	if w.starts > 1 || w.finishes > w.starts || (err == nil && w.finishes != 1) {
		t.Fatalf("%d starts, %d finishes, %v", w.starts, w.finishes, err)
	}
	passed := len(w.body)
	for _, f := range w.fields {
		passed += len(f.Name) + len(f.Value)
		if !isToken(f.Name) || bytes.ContainsAny(f.Value, "\r\n\x00") {
			t.Fatalf("%q: %q", f.Name, f.Value)
		}
	}
	// Coded names may be longer than their code.
	if passed-len(w.fields)*len("WWW-Authenticate") > len(data)-nc.left() {
		t.Fatalf("%d bytes passed on, %d received", passed, len(data)-nc.left())
	}
	if w.starts == 1 && (w.status < 200 || w.status > 999) {
		t.Fatalf("status %d", w.status)
	}
	checkSent(t, nc.out.Bytes()[sent:], upload)
	cause := "ok"
	switch {
	case err != nil:
		e := exchangeError(err)
		if e.Cause != connector.CauseClient && c.State() != Broken {
			t.Fatalf("%v after %v", c.State(), err)
		}
		cause = fmt.Sprint(e.Cause, e.Phase)
		var pe *ProtocolError
		if errors.As(err, &pe) {
			cause += pe.Fault
			if !bytes.Contains(data, pe.Head) {
				t.Fatalf("% x was not received", pe.Head)
			}
		}
	default:
		checkReuse(t, c, nc)
	}
	if err != nil {
		// How much of a body that was cut reached the client depends on the
		// pieces it came in.
		w.body = nil
	}
	return fmt.Sprintf("%s, %q, body of %d with sum %x, %d sent", cause, w.head(), len(w.body), crc32.ChecksumIEEE(w.body), nc.out.Len())
}

// checkSent checks the packets that answer GET_BODY_CHUNK: nothing is sent but
// body packets, the end only when nothing is left.
func checkSent(t *testing.T, out []byte, upload bool) {
	left := 0
	if upload {
		left = 20000 - 8186
	}
	for len(out) > 0 {
		if len(out) < 4 || out[0] != 0x12 || out[1] != 0x34 {
			t.Fatalf("sent % x", out[:min(len(out), 16)])
		}
		n := int(out[2])<<8 | int(out[3])
		if n == 0 && left > 0 || n == 1 || n == 2 || n > 0 && int(out[4])<<8|int(out[5]) != n-2 {
			t.Fatalf("sent % x with %d bytes left", out[:min(len(out), 16)], left)
		}
		if left -= max(0, n-2); left < 0 {
			t.Fatal("more than the body sent")
		}
		out = out[4+n:]
	}
}

// checkReuse checks that nothing lies on a connection that may be used again.
func checkReuse(t *testing.T, c *Conn, nc *memConn) {
	if c.State() == Idle && c.r != c.w {
		t.Fatalf("idle with % x", c.in[c.r:c.w])
	}
	if c.Usable() && (c.r != c.w || nc.left() > 0) {
		t.Fatalf("usable with %d bytes", c.w-c.r+nc.left())
	}
}

// FuzzSendHeaders compares the decoder with the tests' own, which is stricter:
// what that one takes must come out the same here, and what this one takes must
// be clean.
func FuzzSendHeaders(f *testing.F) {
	for _, c := range ajptest.Captures() {
		for _, p := range c.Packets {
			if !p.Front && len(p.Head) > 5 && p.Head[4] == codeSendHeaders {
				f.Add(whole(p)[5:])
			}
		}
	}
	for _, bp := range ajptest.BadPackets() {
		if len(bp.Bytes) > 5 && bp.Bytes[4] == codeSendHeaders {
			f.Add(bp.Bytes[5:])
		}
	}
	f.Add(ajptest.SendHeaders(302, "x", ajptest.H("Location", "/a\r\nb: c"), ajptest.S("a b", "c"), ajptest.S("X", "\x00"))[5:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) > 65530 {
			return
		}
		var h Head
		err := decodeHead(payload[:len(payload):len(payload)], &h)
		strict, strictErr := ajptest.DecodeHeaders(append([]byte{codeSendHeaders}, payload...))
		if err != nil {
			var pe *ProtocolError
			if strictErr == nil || !errors.As(err, &pe) {
				t.Fatalf("%v, the strict decoder: %v", err, strictErr)
			}
			return
		}
		if h.Status < 100 || h.Status > 999 || len(h.Fields)*minHeader > len(payload) {
			t.Fatalf("%d, %d fields", h.Status, len(h.Fields))
		}
		for _, f := range h.Fields {
			if !isToken(f.Name) || !isFieldValue(f.Value) {
				t.Fatalf("%q: %q", f.Name, f.Value)
			}
		}
		if strictErr != nil {
			return
		}
		var want []connector.Field
		for _, x := range strict.Headers {
			want = append(want, connector.Field{Name: []byte(x.Name), Value: []byte(x.Value)})
		}
		if got, want := fmt.Sprintf("%d %q", h.Status, h.Fields), fmt.Sprintf("%d %q", strict.Status, want); got != want || len(h.Dropped) > 0 {
			t.Fatalf("%s, the strict decoder %s; %q dropped", got, want, h.Dropped)
		}
	})
}
