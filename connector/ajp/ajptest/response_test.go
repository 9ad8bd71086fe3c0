package ajptest

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPackets(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  []byte
		want string
	}{
		{"smallest good answer", SendHeaders(200, "OK"), "41 42 00 0A 04 00 C8 00 02 4F 4B 00 00 00"},
		{"null message", SendHeadersNull(200), "41 42 00 07 04 00 C8 FF FF 00 00"},
		{"empty message", SendHeaders(299, ""), "41 42 00 08 04 01 2B 00 00 00 00 00"},
		{"coded header", SendHeaders(304, "304", H("set-cookie", "a=1")), "41 42 00 13 04 01 30 00 03 33 30 34 00 00 01 A0 07 00 03 61 3D 31 00"},
		{"string header", SendHeaders(200, "", S("Date", "x")), "41 42 00 13 04 00 C8 00 00 00 00 01 00 04 44 61 74 65 00 00 01 78 00"},
		{"chunk", Chunk([]byte("hi")), "41 42 00 06 03 00 02 68 69 00"},
		{"chunk without NUL", ChunkBare([]byte("hi")), "41 42 00 05 03 00 02 68 69"},
		{"flush", Flush(), "41 42 00 04 03 00 00 00"},
		{"flush without NUL", FlushBare(), "41 42 00 03 03 00 00"},
		{"get body", GetBody(8186), "41 42 00 03 06 1F FA"},
		{"end", End(true), "41 42 00 02 05 01"},
		{"end and close", End(false), "41 42 00 02 05 00"},
		{"end without flag", EndBare(), "41 42 00 01 05"},
		{"CPONG", CPong(), "41 42 00 01 09"},
		{"CPING", CPing(), "12 34 00 01 0A"},
		{"body packet", Data([]byte("p")), "12 34 00 03 00 01 70"},
		{"empty body packet", Data(nil), "12 34 00 02 00 00"},
		{"end of body", DataEnd(), "12 34 00 00"},
		{"wrong magic", WithMagic(End(true), 0x12, 0x34), "12 34 00 02 05 01"},
		{"wrong length", WithLength(End(true), 65535), "41 42 FF FF 05 01"},
		{"shortened", Shortened(End(true), 1), "41 42 00 01 05"},
		{"truncated", Truncated(End(true), 5), "41 42 00 02 05"},
	} {
		if want := unhex(t, tt.want); !bytes.Equal(tt.got, want) {
			t.Errorf("%s: % x, want % x", tt.name, tt.got, want)
		}
	}
}

func TestChunks(t *testing.T) {
	for _, tt := range []struct{ n, packets int }{{0, 0}, {1, 1}, {8184, 1}, {8185, 2}, {113588, 14}} {
		data := bytes.Repeat([]byte("x"), tt.n)
		out := Chunks(data, DefaultPacketSize)
		var got []byte
		packets := 0
		for len(out) > 0 {
			n := 4 + int(out[2])<<8 + int(out[3])
			if n > DefaultPacketSize {
				t.Fatalf("%d: packet of %d bytes", tt.n, n)
			}
			p, err := DecodeChunk(out[4:n])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p...)
			out = out[n:]
			packets++
		}
		if !bytes.Equal(got, data) || packets != tt.packets {
			t.Errorf("%d bytes: %d in %d packets, want %d packets", tt.n, len(got), packets, tt.packets)
		}
	}
}

func TestBadPackets(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range BadPackets() {
		if seen[b.Name] {
			t.Errorf("%q twice", b.Name)
		}
		seen[b.Name] = true
		if acceptable(b.Bytes) && b.Before == nil {
			t.Errorf("%q is a good first packet: % x", b.Name, b.Bytes)
		}
		if c, err := DecodeChunk(b.Bytes[min(4, len(b.Bytes)):]); err == nil && b.Before != nil && framed(b.Bytes) {
			t.Errorf("%q is a good chunk: %q", b.Name, c)
		}
	}
}

func framed(p []byte) bool {
	return len(p) >= 4 && p[0] == 'A' && p[1] == 'B' && int(p[2])<<8|int(p[3]) == len(p)-4
}

// acceptable tells whether p can begin an answer.
func acceptable(p []byte) bool {
	if !framed(p) {
		return false
	}
	h, err := DecodeHeaders(p[4:])
	return err == nil && h.Status != 101
}

func TestDecodeHeaders(t *testing.T) {
	h, err := DecodeHeaders(SendHeaders(404, "404", H("Content-Type", "a/b"), S("X", ""))[4:])
	if err != nil || h.Status != 404 || h.Message != "404" || h.MessageNull || len(h.Headers) != 2 {
		t.Fatalf("%+v, %v", h, err)
	}
	if v, ok := h.Header("content-type"); v != "a/b" || !ok {
		t.Errorf("Content-Type %q, %v", v, ok)
	}
	if _, err := DecodeHeaders(append(SendHeaders(200, "OK")[4:], 0)); err == nil {
		t.Error("a byte after the headers is accepted")
	}
	if h, err := DecodeHeaders(SendHeadersNull(200)[4:]); err != nil || !h.MessageNull {
		t.Errorf("null message: %+v, %v", h, err)
	}
}
