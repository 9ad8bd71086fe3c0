package demo

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"jkd/connector/ajp/ajptest"
)

const longWait = 10 * time.Second // how long a test may wait for what must come

// serve starts a container that ends with the test.
func serve(t testing.TB, network string, o Options) net.Addr {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "s")
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(ln, o) }()
	t.Cleanup(func() {
		ln.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return ln.Addr()
}

func dial(t testing.TB, a net.Addr) *ajptest.Front {
	t.Helper()
	f, err := ajptest.Dial(a.Network(), a.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func do(t testing.TB, f *ajptest.Front, r *ajptest.Request, body string) *ajptest.Response {
	t.Helper()
	resp, err := f.Do(r, strings.NewReader(body))
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URI, err)
	}
	return resp
}

func get(target string) *ajptest.Request {
	return ajptest.NewRequest("GET", target).Add("Content-Length", "0")
}

func post(target string, n int) *ajptest.Request {
	return ajptest.NewRequest("POST", target).Add("Content-Length", strconv.Itoa(n))
}

func TestPages(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{}))
	if err := f.CPing(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		target string
		status int
		kind   string // Content-Type
		in     string // in the body
	}{
		{"/", 200, typeHTML, "/examples/servlets/servlet/HelloWorldExample"},
		{"/examples/servlets/servlet/HelloWorldExample", 200, typeHTML, "<h1>Hello World!</h1>"},
		{"/examples/servlets/servlet/HelloWorldExample;jsessionid=1", 200, typeHTML, "<title>Hello World!</title>"},
		{"/examples/servlets/index.html", 302, typeText, ""},
		{"/test/test.jsp", 200, typeHTML, "<title>113 KB</title>"},
		{"/echo", 200, typeText, "uri=/echo\n"},
		{"/echo/any/path", 200, typeText, "uri=/echo/any/path\n"},
		{"/echoes", 404, typeText, "/echoes"},
		{"/none%0d?x", 404, typeText, "404"},
		{"/status?s=503", 503, typeText, "status 503"},
		{"/status?s=299", 299, typeText, "status 299"},
		{"/status?s=401", 401, typeText, "401"},
		{"/status?s=99", 400, typeText, "400"},
		{"/status?s=1000", 400, typeText, "400"},
		{"/status?s=x", 400, typeText, "400"},
		{"/status", 200, typeText, "status 200"},
		{"/download?size=-1", 400, typeText, "400"},
		{"/download?size=1099511627777", 400, typeText, "400"},
		{"/sse?n=0", 400, typeText, "400"},
		{"/slow?ms=1", 200, typeText, "slept 1 ms\n"},
		{"/slow?ms=60001", 400, typeText, "400"},
		{"/upload", 200, typeText, "body.length=0\n"},
		{"*", 404, typeText, "404"},
	} {
		r := do(t, f, get(tt.target), "")
		kind, _ := r.Header("Content-Type")
		if r.Status != tt.status || r.Message != strconv.Itoa(tt.status) || kind != tt.kind || !strings.Contains(string(r.Body), tt.in) || !r.Reuse {
			t.Errorf("%s: %d %q %q reuse=%v\n%.300s", tt.target, r.Status, r.Message, kind, r.Reuse, r.Body)
		}
		length, ok := r.Header("Content-Length")
		if ok != (tt.target != "/test/test.jsp") || ok && length != strconv.Itoa(len(r.Body)) {
			t.Errorf("%s: Content-Length %q, %v; body of %d bytes", tt.target, length, ok, len(r.Body))
		}

		h := do(t, f, ajptest.NewRequest("HEAD", tt.target).Add("Content-Length", "0"), "")
		if h.Status != tt.status || len(h.Body) != 0 || h.Chunks != 0 || len(h.Headers) != len(r.Headers) {
			t.Errorf("HEAD %s: %+v", tt.target, h)
		}
		if hl, _ := h.Header("Content-Length"); hl != length && !strings.HasPrefix(tt.target, "/echo") {
			t.Errorf("HEAD %s: Content-Length %q, GET %q", tt.target, hl, length)
		}
	}
	for _, s := range []string{"204", "205", "304"} {
		if r := do(t, f, get("/status?s="+s), ""); strconv.Itoa(r.Status) != s || len(r.Body) > 0 || len(r.Headers) > 0 {
			t.Errorf("status %s: %+v", s, r)
		}
	}
}

// Everything that Paths promises is there.
func TestPathsExist(t *testing.T) {
	f := dial(t, serve(t, "unix", Options{}))
	for _, p := range Paths() {
		target := p.Path
		if target == "/sse" {
			target += "?ms=0"
		}
		if r := do(t, f, get(target), ""); r.Status != 200 && target != "/status?s=404" || len(r.Body) == 0 {
			t.Errorf("%s: %d, %d bytes", target, r.Status, len(r.Body))
		}
	}
}

// TestHelloBytes pins the whole answer: it is what benchmarks measure.
func TestHelloBytes(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{}))
	f.Send(get("/examples/servlets/servlet/HelloWorldExample").Packet())
	want := [][]byte{
		ajptest.SendHeaders(200, "200", ajptest.H("X-Frame-Options", "DENY"), ajptest.H("X-Content-Type-Options", "nosniff"), ajptest.H("Content-Type", "text/html;charset=UTF-8"), ajptest.H("Content-Length", "387")),
		ajptest.Chunk([]byte(helloPage)),
		ajptest.End(true),
	}
	if len(helloPage) != 387 {
		t.Errorf("the page has %d bytes", len(helloPage))
	}
	for i, w := range want {
		if p, err := f.ReadPacket(); err != nil || !bytes.Equal(p, w) {
			t.Errorf("packet %d: % x, %v; want % x", i, p, err, w)
		}
	}
}

// writes counts the writes of a connection.
type writes struct {
	net.Conn
	n int
}

func (w *writes) Write(p []byte) (int, error) { w.n++; return w.Conn.Write(p) }

// A small page is one write, whatever the request's method and body.
func TestOneWrite(t *testing.T) {
	a, b := net.Pipe()
	o, _ := Options{}.withDefaults()
	s := &server{opts: o, site: newSite(o.PacketSize), sessions: newSessions(""), done: make(chan struct{})}
	w := &writes{Conn: b}
	ended := make(chan struct{})
	go func() { newConn(s, w).serve(); close(ended) }()
	for i, tt := range []struct {
		r      *ajptest.Request
		writes int
	}{
		{get("/examples/servlets/servlet/HelloWorldExample"), 1},
		{get("/echo?x"), 1},
		{ajptest.NewRequest("HEAD", "/").Add("Content-Length", "0"), 1},
		{get("/test/test.jsp"), 1}, // made beforehand
		{get("/none"), 1},
	} {
		before := w.n
		a.Write(tt.r.Packet())
		got := readAnswer(t, a)
		if n := w.n - before; n != tt.writes {
			t.Errorf("%d, %s: %d writes for %d bytes, want %d", i, tt.r.URI, n, len(got), tt.writes)
		}
	}
	a.Close()
	<-ended
}

// readAnswer reads packets up to END_RESPONSE.
func readAnswer(t testing.TB, r io.Reader) []byte {
	t.Helper()
	var all []byte
	for {
		p := make([]byte, 4)
		if _, err := io.ReadFull(r, p); err != nil {
			t.Fatal(err)
		}
		q := make([]byte, int(p[2])<<8|int(p[3]))
		if _, err := io.ReadFull(r, q); err != nil {
			t.Fatal(err)
		}
		all = append(append(all, p...), q...)
		if q[0] == ajptest.CodeEnd {
			return all
		}
	}
}

func TestBigPage(t *testing.T) {
	page := bigPage()
	if len(page) != 113588 || !bytes.Equal(page, bigPage()) {
		t.Fatalf("%d bytes, or not the same twice", len(page))
	}
	if !strings.HasSuffix(string(page), "</body></html>\n") || bytes.Contains(page, []byte("%!")) {
		t.Errorf("ends in %q", page[len(page)-30:])
	}
	r := do(t, dial(t, serve(t, "tcp", Options{})), get("/test/test.jsp"), "")
	if !bytes.Equal(r.Body, page) || r.Chunks != 14 {
		t.Errorf("%d bytes in %d chunks", len(r.Body), r.Chunks)
	}
	for _, size := range []int{8193, 65536} {
		f := dial(t, serve(t, "tcp", Options{PacketSize: size}))
		f.PacketSize = size
		if r := do(t, f, get("/test/test.jsp"), ""); !bytes.Equal(r.Body, page) || r.Chunks != (len(page)+size-9)/(size-8) {
			t.Errorf("size %d: %d bytes in %d chunks", size, len(r.Body), r.Chunks)
		}
	}
}

func TestEcho(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{}))
	r := ajptest.NewRequest("PATCH", "/echo/%C3%A1?a=b%20c&d=1+2").
		Add("X-Any", "v\tw\xe9").Add("Content-Length", "3").
		AddAttr(ajptest.AttrSecret, "geheim").AddAttr(ajptest.AttrRemoteUser, "joe").
		AddReqAttr("AJP_REMOTE_PORT", "4711").AddReqAttr("AJP_LOCAL_ADDR", "127.0.0.2")
	r.Attributes = append(r.Attributes, ajptest.Attribute{Code: ajptest.AttrSSLKeySize, Int: 256})
	r.IsSSL, r.ServerPort = true, 8443
	got := string(do(t, f, r, "abc").Body)
	want := `method=PATCH
uri=/echo/%25C3%25A1
query=a=b%2520c&d=1%2B2
protocol=HTTP/1.1
scheme=https
secure=true
serverName=localhost
serverPort=8443
remoteAddr=127.0.0.1
remoteHost=<null>
remotePort=4711
localAddr=127.0.0.2
remoteUser=joe
authType=<null>
contentType=<null>
contentLength=3
header.host=localhost
header.X-Any=v%09w%E9
header.content-length=3
attribute.query_string=a=b%2520c&d=1%2B2
attribute.stored_method=PATCH
attribute.secret=(6 bytes, not shown)
attribute.remote_user=joe
attribute.AJP_REMOTE_PORT=4711
attribute.AJP_LOCAL_ADDR=127.0.0.2
attribute.ssl_key_size=256
body.length=3
` + fmt.Sprintf("body.sha256=%x\n", sha256.Sum256([]byte("abc")))
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r := do(t, f, get("/echo?"), ""); !strings.Contains(string(r.Body), "\nquery=\n") {
		t.Errorf("an empty query is shown as\n%s", r.Body)
	}
	if r := do(t, f, get("/echo"), ""); !strings.Contains(string(r.Body), "\nquery=<null>\n") {
		t.Errorf("no query is shown as\n%s", r.Body)
	}
}

func TestUpload(t *testing.T) {
	big := strings.Repeat("0123456789abcdef!", 6000) // 102,000 bytes
	for _, tt := range []struct {
		name  string
		r     *ajptest.Request
		body  string
		asked int
	}{
		{"length 0", post("/upload", 0), "", 0},
		{"length 5", post("/upload", 5), "12345", 1},
		{"length 8186", post("/upload", 8186), big[:8186], 1},
		{"length 8187", post("/upload", 8187), big[:8187], 2},
		{"length 102000", post("/upload", len(big)), big, 13},
		{"unknown length", ajptest.NewRequest("POST", "/upload"), big, 14},
		{"unknown length, empty", ajptest.NewRequest("PUT", "/upload"), "", 1},
		{"GET without a length", ajptest.NewRequest("GET", "/upload"), "", 1},
	} {
		for _, inner := range []bool{false, true} {
			f := dial(t, serve(t, "tcp", Options{}))
			f.InnerEnd = inner
			for range 2 { // and once more on the same connection
				r := do(t, f, tt.r, tt.body)
				want := fmt.Sprintf("body.length=%d\nbody.sha256=%x\n", len(tt.body), sha256.Sum256([]byte(tt.body)))
				if string(r.Body) != want || r.Status != 200 {
					t.Errorf("%s, inner end %v: %d\n%swant\n%s", tt.name, inner, r.Status, r.Body, want)
				}
				if len(r.Asked) != tt.asked {
					t.Errorf("%s: asked %v, want %d times", tt.name, r.Asked, tt.asked)
				}
				for _, n := range r.Asked {
					if n != 8186 {
						t.Errorf("%s: asked for %d bytes", tt.name, n)
					}
				}
			}
		}
	}
}

func TestUploadShort(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{}))
	f.Send(post("/upload", 10).Packet(), ajptest.Data([]byte("12345")))
	if p, err := f.ReadPacket(); err != nil || !bytes.Equal(p, ajptest.GetBody(8186)) {
		t.Fatalf("% x, %v", p, err)
	}
	f.Send(ajptest.DataEnd())
	p, err := f.ReadPacket()
	if err != nil {
		t.Fatal(err)
	}
	if h, err := ajptest.DecodeHeaders(p[4:]); err != nil || h.Status != 400 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestLargestPackets(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{PacketSize: 65536}))
	f.PacketSize = 65536
	body := strings.Repeat("x", 300000)
	r := do(t, f, post("/upload", len(body)), body)
	if r.Status != 200 || r.Asked[0] != 65530 || !strings.Contains(string(r.Body), "body.length=300000\n") {
		t.Errorf("%+v\n%s", r, r.Body)
	}
}

// A page that doesn't read the body leaves the connection usable, and its
// answer doesn't wait for a body packet that is late.
func TestUnreadBody(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{}))
	for _, target := range []string{"/", "/test/test.jsp", "/status?s=204", "/none", "/download?size=100000", "/session"} {
		f.Send(post(target, 5).Packet())
		p, err := f.ReadPacket()
		if err != nil || p[4] != ajptest.CodeHeaders {
			t.Fatalf("%s: % x, %v", target, p, err)
		}
		f.Send(ajptest.Data([]byte("12345")))
		readAnswer(t, &reader{f: f})
		if r := do(t, f, get("/echo/after"), ""); !strings.Contains(string(r.Body), "uri=/echo/after\n") {
			t.Errorf("after %s: %+v", target, r)
		}
	}
}

// reader makes a stream of a front's packets.
type reader struct {
	f    *ajptest.Front
	left []byte
}

func (r *reader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		b, err := r.f.ReadPacket()
		if err != nil {
			return 0, err
		}
		r.left = b
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

func TestDownload(t *testing.T) {
	for _, size := range []int{8192, 65536} {
		f := dial(t, serve(t, "tcp", Options{PacketSize: size}))
		f.PacketSize = size
		for _, n := range []int{0, 1, 8184, 8185, 1_000_003} {
			for _, query := range []string{"", "&length=no"} {
				r := do(t, f, get(fmt.Sprint("/download?size=", n, query)), "")
				if len(r.Body) != n {
					t.Errorf("%d bytes: %d came", n, len(r.Body))
				}
				for i, c := range r.Body {
					if c != byte(i%251) {
						t.Errorf("%d bytes: byte %d is %d", n, i, c)
						break
					}
				}
				if v, ok := r.Header("Content-Length"); ok != (query == "") || ok && v != strconv.Itoa(n) {
					t.Errorf("%d bytes%s: Content-Length %q, %v", n, query, v, ok)
				}
			}
		}
	}
}

func TestEvents(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{}))
	var order []string
	f.OnChunk = func(p []byte) { order = append(order, string(p)) }
	r := do(t, f, get("/sse?n=3&ms=1"), "")
	want := []string{"id: 1\ndata: event 1 of 3\n\n", "", "id: 2\ndata: event 2 of 3\n\n", "", "id: 3\ndata: event 3 of 3\n\n", ""}
	if fmt.Sprint(order) != fmt.Sprint(want) || r.Flushes != 3 {
		t.Errorf("%q", order)
	}
	if v, _ := r.Header("content-type"); v != "text/event-stream" {
		t.Errorf("Content-Type %q", v)
	}
}

func TestSession(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{Route: "node1"}))
	r := do(t, f, get("/session"), "")
	cookie, ok := r.Header("Set-Cookie")
	name, rest, _ := strings.Cut(cookie, "=")
	id, flags, _ := strings.Cut(rest, ";")
	if !ok || name != "JSESSIONID" || len(id) != 32+len(".node1") || !strings.HasSuffix(id, ".node1") || flags != " Path=/; HttpOnly" {
		t.Fatalf("Set-Cookie %q", cookie)
	}
	for i, again := range []*ajptest.Request{
		get("/session").Add("Cookie", "JSESSIONID="+id),
		get("/session").Add("Cookie", "x=y; JSESSIONID=unknown").Add("Cookie", `a=b; JSESSIONID="`+id+`"; c`),
		get("/session;a=b;jsessionid=" + id + ";c=d"),
	} {
		r := do(t, f, again, "")
		want := fmt.Sprintf("session=%s\nnew=false\nvisits=%d\n", id, i+2)
		if _, set := r.Header("Set-Cookie"); set || string(r.Body) != want {
			t.Errorf("%d: cookie set: %v\n%swant\n%s", i, set, r.Body, want)
		}
	}
	if r := do(t, f, get("/session").Add("Cookie", "JSESSIONID=made-up"), ""); strings.Contains(string(r.Body), "made-up") {
		t.Errorf("an unknown id is taken over: %s", r.Body)
	}
}

func TestSessionsBounded(t *testing.T) {
	s := newSessions("")
	for range maxSessions + 10 {
		s.create()
	}
	if len(s.visits) != maxSessions {
		t.Errorf("%d sessions kept", len(s.visits))
	}
}

func TestSecret(t *testing.T) {
	a := serve(t, "tcp", Options{Secret: "geheim"})
	f := dial(t, a)
	if err := f.CPing(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if r := do(t, f, get("/echo").AddAttr(ajptest.AttrSecret, "geheim"), ""); r.Status != 200 || strings.Contains(string(r.Body), "geheim") {
			t.Errorf("right secret: %d\n%s", r.Status, r.Body)
		}
	}
	for _, r := range []*ajptest.Request{
		get("/echo"), get("/echo").AddAttr(ajptest.AttrSecret, ""), get("/echo").AddAttr(ajptest.AttrSecret, "geheim2"),
		get("/echo").AddReqAttr("secret", "geheim"), post("/echo", 5).AddAttr(ajptest.AttrSecret, "Geheim"),
	} {
		f := dial(t, a)
		resp := do(t, f, r, "12345")
		if resp.Status != 403 || len(resp.Body) != 0 || resp.Reuse {
			t.Errorf("%+v: %+v", r.Attributes, resp)
		}
		if p, err := f.ReadPacket(); err != io.EOF {
			t.Errorf("after 403: % x, %v", p, err)
		}
	}
}

// TestBadInput: what Tomcat answers with an error and no reuse, or with a
// close.
func TestBadInput(t *testing.T) {
	a := serve(t, "tcp", Options{})
	good := get("/echo").Payload()
	head := ajptest.Payload(ajptest.CodeForward, 2).String("HTTP/1.1").String("/").Null().Null().Null().Int(80).Byte(0)
	build := func(f func(b *ajptest.Builder)) []byte {
		b := ajptest.Payload(head.Bytes()...)
		f(b)
		return b.FrontPacket()
	}
	for _, tt := range []struct {
		name   string
		bytes  []byte
		status int // 0: closed without an answer
	}{
		{"HTTP", []byte("GET / HTTP/1.1\r\n\r\n"), 0},
		{"container's magic", ajptest.CPong(), 0},
		{"end of body", ajptest.DataEnd(), 0},
		{"SHUTDOWN", ajptest.Payload(ajptest.CodeShutdown).FrontPacket(), 0},
		{"PING", ajptest.Payload(ajptest.CodePing).FrontPacket(), 0},
		{"long CPING", ajptest.Payload(ajptest.CodeCPing, 0).FrontPacket(), 0},
		{"oversized", ajptest.Payload(make([]byte, 8189)...).FrontPacket(), 0},
		{"nothing but the code", ajptest.Payload(ajptest.CodeForward).FrontPacket(), 500},
		{"no terminator", ajptest.Payload(good[:len(good)-1]...).FrontPacket(), 500},
		{"half", ajptest.Payload(good[:len(good)/2]...).FrontPacket(), 500},
		{"method 0", ajptest.Payload(append([]byte{2, 0}, good[2:]...)...).FrontPacket(), 500},
		{"method 28", ajptest.Payload(append([]byte{2, 28}, good[2:]...)...).FrontPacket(), 500},
		{"stored method missing", ajptest.Payload(append([]byte{2, 255}, good[2:]...)...).FrontPacket(), 500},
		{"null URI", ajptest.Payload(ajptest.CodeForward, 2).String("HTTP/1.1").Null().Null().Null().Null().Int(80).Byte(0).Int(0).Byte(255).FrontPacket(), 500},
		{"header count", build(func(b *ajptest.Builder) { b.Int(0xFFFF).Byte(255) }), 500},
		{"header code A000", build(func(b *ajptest.Builder) { b.Int(1).Int(0xA000).String("x").Byte(255) }), 500},
		{"header code A00F", build(func(b *ajptest.Builder) { b.Int(1).Int(0xA00F).String("x").Byte(255) }), 500},
		{"null header value", build(func(b *ajptest.Builder) { b.Int(1).Int(0xA001).Null().Byte(255) }), 500},
		{"header without NUL", build(func(b *ajptest.Builder) { b.Int(1).Int(0xA001).Int(1).Raw([]byte("xy")).Byte(255) }), 500},
		{"attribute 0", build(func(b *ajptest.Builder) { b.Int(0).Byte(0).Byte(255) }), 500},
		{"attribute 14", build(func(b *ajptest.Builder) { b.Int(0).Byte(14).String("x").Byte(255) }), 500},
		{"two lengths", get("/echo").Add("Content-Length", "0").Packet(), 400},
		{"length as a string and coded", func() []byte {
			r := get("/echo")
			r.Headers = append(r.Headers, ajptest.S("Content-LENGTH", "0"))
			return r.Packet()
		}(), 400},
		{"length x", ajptest.NewRequest("POST", "/echo").Add("Content-Length", "x").Packet(), 400},
		{"length +1", ajptest.NewRequest("POST", "/echo").Add("Content-Length", "+1").Packet(), 400},
		{"length empty", ajptest.NewRequest("POST", "/echo").Add("Content-Length", "").Packet(), 400},
		{"length 2^63", ajptest.NewRequest("POST", "/echo").Add("Content-Length", "9223372036854775808").Packet(), 400},
		{"bad body packet", append(post("/echo", 5).Packet(), ajptest.Payload().Int(9).Raw([]byte("12345")).FrontPacket()...), 0},
		{"body packet of one byte", append(post("/echo", 5).Packet(), ajptest.Payload(1).FrontPacket()...), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := dial(t, a)
			f.Send(tt.bytes)
			p, err := f.ReadPacket()
			if tt.status == 0 {
				if err == nil {
					t.Fatalf("answered % x", p)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if h, err := ajptest.DecodeHeaders(p[4:]); err != nil || h.Status != tt.status {
				t.Errorf("%+v, %v; want status %d", h, err, tt.status)
			}
			if p, err := f.ReadPacket(); err != nil || !bytes.Equal(p, ajptest.End(false)) {
				t.Errorf("% x, %v; want an END_RESPONSE without reuse", p, err)
			}
			if p, err := f.ReadPacket(); err != io.EOF {
				t.Errorf("% x, %v after it", p, err)
			}
		})
	}
}

// A request may arrive in any pieces, and several packets at once.
func TestPieces(t *testing.T) {
	f := dial(t, serve(t, "tcp", Options{}))
	r := post("/upload", 3)
	for _, b := range append(r.Packet(), ajptest.Data([]byte("abc"))...) {
		if err := f.Send([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := f.ReadPacket(); err != nil || p[4] != ajptest.CodeGetBody {
		t.Fatalf("% x, %v", p, err)
	}
	// The end of the body, a ping and a whole further request together.
	f.Send(ajptest.DataEnd(), ajptest.CPing(), get("/echo/next").Packet())
	all := string(readAnswer(t, &reader{f: f}))
	if !strings.Contains(all, "body.length=3\n") {
		t.Errorf("%q", all)
	}
	if p, err := f.ReadPacket(); err != nil || p[4] != ajptest.CodeCPong {
		t.Errorf("% x, %v", p, err)
	}
	if all := string(readAnswer(t, &reader{f: f})); !strings.Contains(all, "uri=/echo/next\n") {
		t.Errorf("%q", all)
	}
}

func TestMaxConnections(t *testing.T) {
	a := serve(t, "tcp", Options{MaxConnections: 2})
	f, g := dial(t, a), dial(t, a)
	for _, x := range []*ajptest.Front{f, g} {
		if err := x.CPing(); err != nil {
			t.Fatal(err)
		}
	}
	if err := dial(t, a).CPing(); err == nil {
		t.Error("a third connection is served")
	}
	f.Close()
	for deadline := time.Now().Add(longWait); dial(t, a).CPing() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no connection after one ended")
		}
	}
}

func TestServeErrors(t *testing.T) {
	for _, o := range []Options{{PacketSize: 8191}, {PacketSize: 65537}, {MaxConnections: -1}, {Secret: strings.Repeat("x", 1025)}, {Route: strings.Repeat("x", 65)}} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := Serve(ln, o); err == nil {
			t.Errorf("served with packet size %d, %d connections", o.PacketSize, o.MaxConnections)
		}
		if nc, err := net.Dial("tcp", ln.Addr().String()); err == nil {
			nc.Close()
			t.Error("the listener is left open")
		}
	}
}

// Closing the listener ends everything, whatever the connections are at.
func TestServeEnds(t *testing.T) {
	before := runtime.NumGoroutine()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(ln, Options{}) }()
	fronts := []*ajptest.Front{dial(t, ln.Addr())}
	for _, p := range [][]byte{
		ajptest.CPing(),
		ajptest.CPing()[:3],
		get("/sse?ms=60000").Packet(),
		ajptest.NewRequest("POST", "/upload").Packet(),
		get("/download?size=1000000000").Packet(),
	} {
		f := dial(t, ln.Addr())
		f.Send(p)
		fronts = append(fronts, f)
		if len(p) > 3 {
			if _, err := f.ReadPacket(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ln.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	for _, f := range fronts {
		f.Close()
	}
	for deadline := time.Now().Add(longWait); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
