package ajptest

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// forward is a FORWARD_REQUEST payload up to and with is_ssl.
func forward(method byte) *Builder {
	return Payload(CodeForward, method).String("HTTP/1.1").String("/a%20b").String("10.0.0.9").
		Null().String("shop.example").Int(8080).Bool(false)
}

func TestDecodeForwardBytes(t *testing.T) {
	payload := []byte("\x02\x02" +
		"\x00\x08HTTP/1.1\x00" + "\x00\x02/x\x00" + "\x00\x091.2.3.255\x00" + "\xff\xff" +
		"\x00\x01s\x00" + "\x1f\x90" + "\x01" +
		"\x00\x02" + "\xa0\x0b\x00\x01h\x00" + "\x00\x03X-Y\x00\x00\x00\x00" +
		"\x05\x00\x00\x00" + "\x0b\x01\x00" + "\x0a\x00\x01n\x00\x00\x01v\x00" + "\xff")
	r, err := DecodeForward(payload)
	if err != nil {
		t.Fatal(err)
	}
	want := &Request{
		Method: "GET", MethodCode: 2, Protocol: "HTTP/1.1", URI: "/x", RemoteAddr: "1.2.3.255",
		RemoteHostNull: true, ServerName: "s", ServerPort: 8080, IsSSL: true,
		Headers: []Header{{Name: "host", Value: "h", Code: 0xA00B}, {Name: "X-Y"}},
		Attributes: []Attribute{
			{Code: AttrQueryString, Name: "query_string"},
			{Code: AttrSSLKeySize, Name: "ssl_key_size", Int: 256},
			{Code: AttrReqAttribute, Name: "n", Value: "v"},
		},
		Raw: payload,
	}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	if got := r.Payload(); !bytes.Equal(got, payload) {
		t.Errorf("encoded again:\n% x\nwant\n% x", got, payload)
	}
	if q, ok := r.Query(); q != "" || !ok {
		t.Errorf("Query() = %q, %v; want an empty one that is there", q, ok)
	}
	if got := r.AttrNames(); !reflect.DeepEqual(got, []string{"query_string", "ssl_key_size", "n"}) {
		t.Errorf("AttrNames() = %q", got)
	}
}

func TestDecodeForwardRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, field string
		payload     *Builder
	}{
		{"nothing", "prefix code", Payload()},
		{"CPING", "prefix code", Payload(CodeCPing)},
		{"method 0", "method", forward(0).Int(0).Byte(AttrDone)},
		{"method 28", "method", forward(28).Int(0).Byte(AttrDone)},
		{"method 254", "method", forward(254).Int(0).Byte(AttrDone)},
		{"stored method missing", "stored_method", forward(MethodStored).Int(0).Byte(AttrDone)},
		{"stored method beside a code", "stored_method", forward(2).Int(0).Byte(AttrStoredMethod).String("PATCH").Byte(AttrDone)},
		{"stored method that has a code", "stored_method", forward(MethodStored).Int(0).Byte(AttrStoredMethod).String("GET").Byte(AttrDone)},
		{"stored method empty", "stored_method", forward(MethodStored).Int(0).Byte(AttrStoredMethod).String("").Byte(AttrDone)},
		{"stored method with a space", "stored_method", forward(MethodStored).Int(0).Byte(AttrStoredMethod).String("A B").Byte(AttrDone)},
		{"protocol null", "protocol", Payload(CodeForward, 2).Null()},
		{"protocol empty", "protocol", Payload(CodeForward, 2).String("")},
		{"uri null", "req_uri", Payload(CodeForward, 2).String("HTTP/1.1").Null()},
		{"uri without NUL", "req_uri", Payload(CodeForward, 2).String("HTTP/1.1").Int(2).Raw([]byte("/xy"))},
		{"uri with NUL inside", "req_uri", Payload(CodeForward, 2).String("HTTP/1.1").String("/x\x00y")},
		{"uri with LF", "req_uri", Payload(CodeForward, 2).String("HTTP/1.1").String("/x\ny")},
		{"uri past the end", "req_uri", Payload(CodeForward, 2).String("HTTP/1.1").Int(4).Raw([]byte("/x\x00"))},
		{"remote_addr null", "remote_addr", Payload(CodeForward, 2).String("HTTP/1.1").String("/").Null()},
		{"server_name null", "server_name", Payload(CodeForward, 2).String("HTTP/1.1").String("/").String("").Null().Null()},
		{"is_ssl 2", "is_ssl", Payload(CodeForward, 2).String("HTTP/1.1").String("/").String("").Null().String("").Int(1).Byte(2)},
		{"no header count", "num_headers", forward(2)},
		{"count without headers", "num_headers", forward(2).Int(1).Byte(AttrDone)},
		{"count 65535", "num_headers", forward(2).Int(0xFFFF).Header(Header{Name: "a", Value: "b"}).Byte(AttrDone)},
		{"header code A000", "header 0 name", forward(2).Int(1).Int(0xA000).String("x").Byte(AttrDone)},
		{"header code A00F", "header 0 name", forward(2).Int(1).Int(0xA00F).String("x").Byte(AttrDone)},
		{"header code A0FF", "header 0 name", forward(2).Int(1).Int(0xA0FF).String("x").Byte(AttrDone)},
		{"header name null", "header 0 name", forward(2).Int(1).Null().String("x").Byte(AttrDone)},
		{"header name empty", "header 0 name", forward(2).Int(1).String("").String("x").Byte(AttrDone)},
		{"header name with a colon", "header 0 name", forward(2).Int(1).String("a:").String("x").Byte(AttrDone)},
		{"header value null", "header 0 value", forward(2).Int(1).Int(0xA001).Null().Byte(AttrDone).Byte(0).Byte(0)},
		{"header value with CR", "header 1 value", forward(2).Int(2).Int(0xA001).String("x").Int(0xA002).String("a\rb").Byte(AttrDone)},
		{"attribute 0", "attribute code", forward(2).Int(0).Byte(0).String("x").Byte(AttrDone)},
		{"attribute 14", "attribute code", forward(2).Int(0).Byte(14).String("x").Byte(AttrDone)},
		{"attribute null", "query_string", forward(2).Int(0).Byte(AttrQueryString).Null().Byte(AttrDone)},
		{"query with LF", "query_string", forward(2).Int(0).Byte(AttrQueryString).String("a\nb").Byte(AttrDone)},
		{"certificate null", "ssl_cert", forward(2).Int(0).Byte(AttrSSLCert).Null().Byte(AttrDone)},
		{"certificate with NUL", "ssl_cert", forward(2).Int(0).Byte(AttrSSLCert).String("a\x00b").Byte(AttrDone)},
		{"certificate past the end", "ssl_cert", forward(2).Int(0).Byte(AttrSSLCert).Int(9).Raw([]byte("abc\x00"))},
		{"key size half", "ssl_key_size", forward(2).Int(0).Byte(AttrSSLKeySize).Byte(1)},
		{"request attribute without value", "n", forward(2).Int(0).Byte(AttrReqAttribute).String("n")},
		{"request attribute without name", "req_attribute name", forward(2).Int(0).Byte(AttrReqAttribute).String("").String("v").Byte(AttrDone)},
		{"attribute twice", "secret", forward(2).Int(0).Byte(AttrSecret).String("a").Byte(AttrSecret).String("a").Byte(AttrDone)},
		{"request attribute twice", "n", forward(2).Int(0).Byte(AttrReqAttribute).String("n").String("1").Byte(AttrReqAttribute).String("n").String("2").Byte(AttrDone)},
		{"no terminator", "attribute code or terminator", forward(2).Int(0)},
		{"byte after the terminator", "payload", forward(2).Int(0).Byte(AttrDone).Byte(0)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := DecodeForward(tt.payload.Bytes())
			var de *DecodeError
			if !errors.As(err, &de) {
				t.Fatalf("got %+v, %v; want a DecodeError", r, err)
			}
			if de.Field != tt.field {
				t.Errorf("error in %q (%v), want it in %q", de.Field, err, tt.field)
			}
		})
	}
}

func TestDecodeForwardTruncated(t *testing.T) {
	full := NewRequest("PATCH", "/p?q").Add("X-Long", strings.Repeat("v", 300)).
		AddReqAttr("AJP_REMOTE_PORT", "1").Payload()
	if _, err := DecodeForward(full); err != nil {
		t.Fatal(err)
	}
	for n := range full {
		if r, err := DecodeForward(full[:n]); err == nil {
			t.Errorf("first %d of %d bytes decode to %+v", n, len(full), r)
		}
	}
}

func TestDecodeForwardAllMethods(t *testing.T) {
	for code := byte(1); code <= 27; code++ {
		name := MethodName(code)
		if name == "" || MethodCode(name) != code {
			t.Errorf("code %d: name %q, code of that %d", code, name, MethodCode(name))
		}
		r, err := DecodeForward(NewRequest(name, "/").Payload())
		if err != nil || r.Method != name || r.MethodCode != code {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, name := range []string{"PATCH", "get", "BREW", "CONNECT", "Get"} {
		r, err := DecodeForward(NewRequest(name, "/").Payload())
		if err != nil || r.Method != name || r.MethodCode != MethodStored {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	// The ones that are easily mistaken, by number.
	for name, code := range map[string]byte{"OPTIONS": 1, "GET": 2, "HEAD": 3, "DELETE": 6, "TRACE": 7, "PROPFIND": 8, "REPORT": 16, "SEARCH": 21, "MKACTIVITY": 27} {
		if got := MethodCode(name); got != code {
			t.Errorf("MethodCode(%s) = %d, want %d", name, got, code)
		}
	}
}

func TestHeaderCodes(t *testing.T) {
	for name, code := range map[string]uint16{
		"Accept": 0xA001, "ACCEPT-ENCODING": 0xA003, "authorization": 0xA005, "Connection": 0xA006,
		"Content-Type": 0xA007, "content-length": 0xA008, "Cookie": 0xA009, "Host": 0xA00B,
		"User-Agent": 0xA00E, "Transfer-Encoding": 0, "Accept-": 0,
	} {
		if got := RequestHeaderCode(name); got != code {
			t.Errorf("RequestHeaderCode(%s) = %04X, want %04X", name, got, code)
		}
	}
	for name, code := range map[string]uint16{
		"content-type": 0xA001, "Content-Length": 0xA003, "Date": 0xA004, "Location": 0xA006,
		"Set-Cookie": 0xA007, "Status": 0xA00A, "WWW-Authenticate": 0xA00B, "Host": 0,
	} {
		if got := ResponseHeaderCode(name); got != code {
			t.Errorf("ResponseHeaderCode(%s) = %04X, want %04X", name, got, code)
		}
	}
	if RequestHeaderName(0xA000) != "" || RequestHeaderName(0xA00F) != "" || ResponseHeaderName(0xA00C) != "" || ResponseHeaderName(3) != "" {
		t.Error("a code outside the tables has a name")
	}
}

func TestContentLength(t *testing.T) {
	for _, tt := range []struct {
		values []string
		want   int64
	}{
		{nil, -1}, {[]string{"0"}, 0}, {[]string{"5000000000"}, 5000000000},
		{[]string{"9223372036854775807"}, 1<<63 - 1}, {[]string{"9223372036854775808"}, -2},
		{[]string{"+5"}, -2}, {[]string{"-1"}, -2}, {[]string{""}, -2}, {[]string{"5 "}, -2}, {[]string{"5", "5"}, -2},
	} {
		r := NewRequest("POST", "/")
		for _, v := range tt.values {
			r.Add("Content-Length", v)
		}
		if got := r.ContentLength(); got != tt.want {
			t.Errorf("%q: %d, want %d", tt.values, got, tt.want)
		}
	}
}

// FuzzDecodeForward: no panic, and what is accepted encodes to the same bytes.
func FuzzDecodeForward(f *testing.F) {
	for _, c := range Captures() {
		if p := c.Forward(); p.Size > 0 {
			f.Add(p.Head[4:])
		}
	}
	f.Add(NewRequest("PATCH", "/p?q").AddAttr(AttrSecret, "s").AddAttr(AttrSSLCert, "-----BEGIN\n").Payload())
	f.Add(forward(2).Int(0).Byte(AttrSSLKeySize).Int(256).Byte(AttrDone).Bytes())
	f.Add(forward(2).Int(0xFFFF).Byte(AttrDone).Bytes())
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := DecodeForward(payload)
		if err != nil {
			return
		}
		if got := r.Payload(); !bytes.Equal(got, payload) {
			t.Errorf("decoded and encoded:\n% x\nfrom\n% x", got, payload)
		}
	})
}
