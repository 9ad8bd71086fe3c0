package demo

import (
	"strings"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// FuzzDecode compares the container's quick decoder with the tests' strict
// one: what the strict one accepts, the quick one reads alike.
func FuzzDecode(f *testing.F) {
	for _, c := range ajptest.Captures() {
		if p := c.Forward(); p.Size > 0 {
			f.Add(p.Head[4:])
		}
	}
	f.Add(ajptest.NewRequest("PATCH", "/p?").AddAttr(ajptest.AttrSecret, "s").AddReqAttr("n", "").Payload())
	f.Add(get("/").Add("Content-Length", "5").Payload())
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) == 0 || payload[0] != codeForward {
			return // never given to the decoder
		}
		var got request
		err := got.decode(payload)
		want, strict := ajptest.DecodeForward(payload)
		if strict != nil {
			return
		}
		if n := want.ContentLength(); (n == -2) != (err == errLength) || n != -2 && err != nil {
			t.Fatalf("Content-Length %d: %v", n, err)
		}
		if err == nil {
			compare(t, &got, want)
		}
	})
}

func compare(t *testing.T, got *request, want *ajptest.Request) {
	t.Helper()
	if got.method != want.Method || string(got.protocol) != want.Protocol || string(got.uri) != want.URI ||
		string(got.remoteAddr) != want.RemoteAddr || string(got.remoteHost) != want.RemoteHost ||
		(got.remoteHost == nil) != want.RemoteHostNull || string(got.serverName) != want.ServerName ||
		got.serverPort != want.ServerPort || got.secure != want.IsSSL || got.contentLength != want.ContentLength() {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if len(got.headers) != len(want.Headers) || len(got.attrs) != len(want.Attributes) {
		t.Fatalf("%d headers, %d attributes; want %d, %d", len(got.headers), len(got.attrs), len(want.Headers), len(want.Attributes))
	}
	for i, h := range want.Headers {
		if g := got.headers[i]; g.Name() != h.Name || string(g.value) != h.Value || (g.code != 0) != h.Coded() {
			t.Errorf("header %d: %s: %s; want %+v", i, g.Name(), g.value, h)
		}
	}
	for i, a := range want.Attributes {
		if g := got.attrs[i]; g.code != a.Code || g.Name() != a.Name || string(g.value) != a.Value || g.num != a.Int {
			t.Errorf("attribute %d: %d %s=%s %d; want %+v", i, g.code, g.Name(), g.value, g.num, a)
		}
	}
	if q, ok := want.Query(); string(got.query) != q || (got.query != nil) != ok {
		t.Errorf("query %q, want %q, %v", got.query, q, ok)
	}
}

func TestDecodeTruncated(t *testing.T) {
	full := ajptest.NewRequest("PATCH", "/p?q").Add("X-Long", strings.Repeat("v", 300)).
		AddReqAttr("AJP_REMOTE_PORT", "1").Payload()
	var r request
	if err := r.decode(full); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(full); n++ {
		if err := r.decode(full[:n]); err == nil {
			t.Errorf("first %d of %d bytes are accepted", n, len(full))
		}
	}
}

// Nothing of one request is left in the next.
func TestDecodeReuse(t *testing.T) {
	var r request
	if err := r.decode(ajptest.NewRequest("PATCH", "/p?q").Add("Content-Length", "7").AddAttr(ajptest.AttrSecret, "s").Payload()); err != nil {
		t.Fatal(err)
	}
	if err := r.decode(ajptest.NewRequest("GET", "/").Payload()); err != nil {
		t.Fatal(err)
	}
	if r.method != "GET" || r.query != nil || r.secret != nil || r.contentLength != -1 || len(r.headers) != 1 || len(r.attrs) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	payload := ajptest.FindCapture("mod_jk-get").Forward().Head[4:]
	var r request
	if n := testing.AllocsPerRun(100, func() {
		if err := r.decode(payload); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a GET", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	payload := ajptest.FindCapture("mod_jk-get").Forward().Head[4:]
	var r request
	b.ReportAllocs()
	for b.Loop() {
		if err := r.decode(payload); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHello is a round trip over loopback on one connection.
func BenchmarkHello(b *testing.B) {
	f := dial(b, serve(b, "tcp", Options{}))
	packet := get("/examples/servlets/servlet/HelloWorldExample").Packet()
	nc := f.Conn()
	in := make([]byte, 8192)
	nc.Write(packet)
	want := len(readAnswer(b, nc))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := nc.Write(packet); err != nil {
			b.Fatal(err)
		}
		for n := 0; n < want; {
			k, err := nc.Read(in)
			if err != nil {
				b.Fatal(err)
			}
			n += k
		}
	}
}

// BenchmarkDownload streams 64 MB an iteration.
func BenchmarkDownload(b *testing.B) {
	const size = 64 << 20
	f := dial(b, serve(b, "tcp", Options{}))
	n := 0
	f.OnChunk = func(p []byte) { n += len(p) }
	b.SetBytes(size)
	for b.Loop() {
		n = 0
		if do(b, f, get("/download?size=67108864"), ""); n != size {
			b.Fatalf("%d bytes", n)
		}
	}
}

// BenchmarkUpload sends 16 MB an iteration, a packet for each one asked for.
func BenchmarkUpload(b *testing.B) {
	body := strings.Repeat("0123456789abcdef", 1<<20)
	f := dial(b, serve(b, "tcp", Options{}))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if r := do(b, f, post("/upload", len(body)), body); r.Status != 200 {
			b.Fatalf("%d %s", r.Status, r.Body)
		}
	}
}
