package ajp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// bytesOf reads hex with blanks; text in quotes stands for its bytes.
func bytesOf(s string) []byte {
	var b []byte
	for i, part := range strings.Split(s, `"`) {
		if i%2 == 1 {
			b = append(b, part...)
			continue
		}
		h, err := hex.DecodeString(strings.Join(strings.Fields(part), ""))
		if err != nil {
			panic(err)
		}
		b = append(b, h...)
	}
	return b
}

// front and container are whole packets around a payload.
func front(payload string) []byte     { return ajptest.Payload().Raw(bytesOf(payload)).FrontPacket() }
func container(payload string) []byte { return ajptest.Payload().Raw(bytesOf(payload)).Packet() }

const (
	proto = `0008 "HTTP/1.1" 00 `
	who   = `0009 "192.0.2.7" 00 FFFF 000F "www.example.com" 00 0050 00 `
	tail  = `0A 000F "AJP_REMOTE_PORT" 00 0005 "50123" 00 0A 000E "AJP_LOCAL_ADDR" 00 0009 "192.0.2.1" 00 ` +
		`0A 0010 "JK_LB_ACTIVATION" 00 0003 "ACT" 00 FF`
	noBody = `A008 0001 "0" 00 `
)

func fields(nv ...string) []connector.Field {
	var f []connector.Field
	for i := 0; i < len(nv); i += 2 {
		f = append(f, connector.Field{Name: []byte(nv[i]), Value: []byte(nv[i+1])})
	}
	return f
}

func TestForwardBytes(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*Request)
		want string // payload
	}{
		{"plain", func(*Request) {},
			`02 02 ` + proto + `0001 "/" 00 ` + who + `0001 ` + noBody + tail},
		{"HTTP/1.0, TLS, port, IPv6", func(r *Request) {
			r.Protocol, r.Secure, r.ServerPort = []byte("HTTP/1.0"), true, 65535
			r.RemoteAddr, r.LocalAddr, r.ServerName = []byte("2001:db8::7"), []byte("::1"), []byte("2001:db8::1")
		}, `02 02 0008 "HTTP/1.0" 00 0001 "/" 00 000B "2001:db8::7" 00 FFFF 000B "2001:db8::1" 00 FFFF 01 0001 ` + noBody +
			`0A 000F "AJP_REMOTE_PORT" 00 0005 "50123" 00 0A 000E "AJP_LOCAL_ADDR" 00 0003 "::1" 00 0A 0010 "JK_LB_ACTIVATION" 00 0003 "ACT" 00 FF`},
		{"Unix socket", func(r *Request) {
			r.RemoteAddr, r.RemotePort, r.LocalAddr = []byte(connector.UnixAddr), []byte("0"), []byte(connector.UnixAddr)
		}, `02 02 ` + proto + `0001 "/" 00 ` + strings.Replace(who, `0009 "192.0.2.7"`, `0009 "127.0.0.1"`, 1) + `0001 ` + noBody +
			`0A 000F "AJP_REMOTE_PORT" 00 0001 "0" 00 0A 000E "AJP_LOCAL_ADDR" 00 0009 "127.0.0.1" 00 0A 0010 "JK_LB_ACTIVATION" 00 0003 "ACT" 00 FF`},
		{"query", func(r *Request) { r.HasQuery, r.Query = true, []byte("a=%20&b") },
			`02 02 ` + proto + `0001 "/" 00 ` + who + `0001 ` + noBody + `05 0007 "a=%20&b" 00 ` + tail},
		{"empty query", func(r *Request) { r.HasQuery = true },
			`02 02 ` + proto + `0001 "/" 00 ` + who + `0001 ` + noBody + `05 0000 00 ` + tail},
		{"path as it came", func(r *Request) { r.Path = []byte("/a%20b;j=1//%2F%25") },
			`02 02 ` + proto + `0012 "/a%20b;j=1//%2F%25" 00 ` + who + `0001 ` + noBody + tail},
		{"OPTIONS *", func(r *Request) { r.Method, r.Path = []byte("OPTIONS"), []byte("*") },
			`02 01 ` + proto + `0001 "*" 00 ` + who + `0001 ` + noBody + tail},
		{"stored method", func(r *Request) { r.Method = []byte("PATCH") },
			`02 FF ` + proto + `0001 "/" 00 ` + who + `0001 ` + noBody + `0D 0005 "PATCH" 00 ` + tail},
		{"method in small letters", func(r *Request) { r.Method = []byte("get") },
			`02 FF ` + proto + `0001 "/" 00 ` + who + `0001 ` + noBody + `0D 0003 "get" 00 ` + tail},
		{"fields in order, coded and not, repeated, empty", func(r *Request) {
			r.Fields = fields("Host", "h:8", "X-One", "1", "COOKIE", "a=b", "x-one", "", "Cookie", "c=d")
		}, `02 02 ` + proto + `0001 "/" 00 ` + who + `0006 A00B 0003 "h:8" 00 0005 "X-One" 00 0001 "1" 00 ` +
			`A009 0003 "a=b" 00 0005 "x-one" 00 0000 00 A009 0003 "c=d" 00 ` + noBody + tail},
		{"chunked: no length, no packet", func(r *Request) {
			r.Method, r.ContentLength, r.Body = []byte("POST"), -1, strings.NewReader("hello")
		}, `02 04 ` + proto + `0001 "/" 00 ` + who + `0000 ` + tail},
		{"length above 32 bits", func(r *Request) {
			r.Method, r.ContentLength, r.Body = []byte("PUT"), 5000000000, zeros{}
		}, `02 05 ` + proto + `0001 "/" 00 ` + who + `0001 A008 000A "5000000000" 00 ` + tail},
		{"all attributes in mod_jk's order", func(r *Request) {
			r.Method, r.HasQuery, r.Query = []byte("LINK"), true, []byte("q")
			r.Secret, r.Route, r.Activation = "s3", "n1", "DIS"
			r.RemoteUser, r.AuthType = []byte("joe"), []byte("Basic")
			r.Attributes = []Attribute{{"A1", "v"}, {"A2", ""}}
		}, `02 FF ` + proto + `0001 "/" 00 ` + who + `0001 ` + noBody +
			`0C 0002 "s3" 00 03 0003 "joe" 00 04 0005 "Basic" 00 05 0001 "q" 00 06 0002 "n1" 00 0D 0004 "LINK" 00 ` +
			`0A 000F "AJP_REMOTE_PORT" 00 0005 "50123" 00 0A 000E "AJP_LOCAL_ADDR" 00 0009 "192.0.2.1" 00 ` +
			`0A 0010 "JK_LB_ACTIVATION" 00 0003 "DIS" 00 0A 0002 "A1" 00 0001 "v" 00 0A 0002 "A2" 00 0000 00 FF`},
	} {
		r := newRequest("GET", "/")
		tt.edit(r)
		var f Forward
		if err := f.Encode(r, DefaultPacketSize); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		want := front(tt.want)
		if got := f.buf[:min(len(want), len(f.buf))]; !bytes.Equal(got, want) {
			t.Errorf("%s:\n got % x\nwant % x", tt.name, got, want)
		}
		if r.ContentLength <= 0 && len(f.buf) != len(want) {
			t.Errorf("%s: %d bytes follow", tt.name, len(f.buf)-len(want))
		}
		if _, err := ajptest.DecodeForward(want[4:]); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestMethods has every name and number written out: the table in the code is
// not its own witness.
func TestMethods(t *testing.T) {
	names := strings.Fields("OPTIONS GET HEAD POST PUT DELETE TRACE PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK " +
		"ACL REPORT VERSION-CONTROL CHECKIN CHECKOUT UNCHECKOUT SEARCH MKWORKSPACE UPDATE LABEL MERGE BASELINE-CONTROL MKACTIVITY")
	if len(names) != 27 {
		t.Fatal(len(names))
	}
	for i, name := range names {
		f := encode(newRequest(name, "/"))
		if f.buf[5] != byte(i+1) {
			t.Errorf("%s is %d, want %d", name, f.buf[5], i+1)
		}
		if r, err := ajptest.DecodeForward(f.buf[4:]); err != nil || r.Method != name {
			t.Errorf("%s: %v", name, err)
		}
		if lower := strings.ToLower(name); methodCode([]byte(lower)) != methodStored {
			t.Errorf("%s has a number", lower)
		}
	}
	for _, name := range []string{"PATCH", "QUERY", "CONNECT", "BREW", "GETS", "GE", "Get", "VERSION-CONTROLS", "x"} {
		r, err := ajptest.DecodeForward(encode(newRequest(name, "/")).buf[4:])
		if err != nil || r.MethodCode != 0xFF || r.Method != name {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestHeaderCodes(t *testing.T) {
	names := strings.Fields("accept accept-charset accept-encoding accept-language authorization connection content-type " +
		"content-length cookie cookie2 host pragma referer user-agent")
	if len(names) != 14 {
		t.Fatal(len(names))
	}
	for i, name := range names {
		mixed := []byte(name)
		for j := 0; j < len(mixed); j += 2 {
			mixed[j] = strings.ToUpper(string(mixed[j]))[0]
		}
		for _, n := range []string{name, strings.ToUpper(name), string(mixed)} {
			if c := headerCode([]byte(n)); c != byte(i+1) {
				t.Errorf("%s is %d, want %d", n, c, i+1)
			}
		}
		// A name that differs in one place, or in length, has no code.
		for j := range name {
			b := []byte(name)
			b[j] = '!'
			if c := headerCode(b); c != 0 {
				t.Errorf("%s is %d", b, c)
			}
			// Characters that differ from letters only by the bit that tells
			// large from small.
			b[j] = name[j] ^ 0x20
			if isLetter := 'a' <= name[j] && name[j] <= 'z'; !isLetter && headerCode(b) != 0 {
				t.Errorf("%q has a code", b)
			}
		}
		if headerCode([]byte(name+"x")) != 0 || (headerCode([]byte(name[:len(name)-1])) != 0 && name != "cookie2") {
			t.Errorf("code for a name near %s", name)
		}
	}
	for _, n := range []string{"", "x", "Transfer-Encoding", "X-Host", "\xc3\xa4ccept"} {
		if c := headerCode([]byte(n)); c != 0 {
			t.Errorf("%q is %d", n, c)
		}
	}
}

// TestSecret looks for the secret where it belongs and nowhere else.
func TestSecret(t *testing.T) {
	r := newRequest("GET", "/")
	r.Secret = "open sesame"
	f := encode(r)
	d, err := ajptest.DecodeForward(f.buf[4:])
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := d.Attr(ajptest.AttrSecret); !ok || a.Value != r.Secret || d.Attributes[0].Code != ajptest.AttrSecret {
		t.Errorf("attributes %v", d.AttrNames())
	}
	if n := bytes.Count(f.buf, []byte(r.Secret)); n != 1 {
		t.Errorf("secret sent %d times", n)
	}
	// No error has it.
	err = NewConn(&memConn{}, DefaultPacketSize).Exchange(f, &recorder{}, Timeouts{})
	r.Fields = fields("X", strings.Repeat("y", 9000))
	if long := f.Encode(r, DefaultPacketSize); strings.Contains(fmt.Sprintf("%+v %+v", err, long), r.Secret) {
		t.Errorf("secret in %v or %v", err, long)
	}
	if d, _ := ajptest.DecodeForward(get().buf[4:]); d == nil || strings.Join(d.AttrNames(), " ") != "AJP_REMOTE_PORT AJP_LOCAL_ADDR JK_LB_ACTIVATION" {
		t.Errorf("attributes by default: %+v", d)
	}
}

func TestTooLong(t *testing.T) {
	base := len(encode(newRequest("GET", "/")).buf)
	const field = 2 + 1 + 1 + 2 + 1 // name "X", value without its bytes
	for _, size := range []int{8192, 9216, 16384, 65535, 65536} {
		fit := size - base - field
		for _, over := range []int{0, 1, 2, 5000} {
			r := newRequest("GET", "/")
			r.Fields = fields("X", strings.Repeat("v", fit+over))
			var f Forward
			err := f.Encode(r, size)
			if over == 0 {
				if err != nil || len(f.buf) != size {
					t.Errorf("size %d: a packet of exactly that size: %d bytes, %v", size, len(f.buf), err)
				} else if d, err := ajptest.DecodeForward(f.buf[4:]); err != nil || len(d.Headers) != 2 {
					t.Errorf("size %d: %v", size, err)
				}
				continue
			}
			var long *TooLongError
			if !errors.As(err, &long) || long.Need != size+over || long.Max != size {
				t.Errorf("size %d, %d bytes too many: %v", size, over, err)
			}
		}
	}
	want := "ajp: request needs a packet of 9000 bytes, max_packet_size is 8192"
	if got := (&TooLongError{Need: 9000, Max: 8192}).Error(); got != want {
		t.Error(got)
	}
}

// TestNoLengthConfusion has strings that 16 bits can't say, or only as "no
// string" or as a code.
func TestNoLengthConfusion(t *testing.T) {
	for _, n := range []int{65534, 65535, 65536, 65537, 65536 + 5, 2 * 65536, 2*65536 + 10} {
		long := bytes.Repeat([]byte("a"), n)
		for where, edit := range map[string]func(*Request){
			"path":      func(r *Request) { r.Path = append([]byte("/"), long[1:]...) },
			"query":     func(r *Request) { r.HasQuery, r.Query = true, long },
			"value":     func(r *Request) { r.Fields = fields("X", string(long)) },
			"name":      func(r *Request) { r.Fields = fields(string(long), "x") },
			"method":    func(r *Request) { r.Method = long },
			"attribute": func(r *Request) { r.Attributes = []Attribute{{"A", string(long)}} },
			"secret":    func(r *Request) { r.Secret = string(long) },
			"name of host": func(r *Request) {
				r.ServerName = long
			},
		} {
			r := newRequest("GET", "/")
			edit(r)
			var f Forward
			var tooLong *TooLongError
			if err := f.Encode(r, MaxPacketSize); !errors.As(err, &tooLong) || tooLong.Need <= tooLong.Max {
				t.Errorf("%s of %d bytes: %v", where, n, err)
			}
		}
	}
	// More fields than the count can say.
	r := newRequest("GET", "/")
	r.Fields = make([]connector.Field, 65537)
	for i := range r.Fields {
		r.Fields[i] = connector.Field{Name: []byte("host")}
	}
	var f Forward
	var tooLong *TooLongError
	if err := f.Encode(r, MaxPacketSize); !errors.As(err, &tooLong) {
		t.Errorf("65537 fields: %v", err)
	}
	if cap(f.buf) > keepBuffer {
		t.Errorf("a buffer of %d bytes is kept", cap(f.buf))
	}
	// Names from 0xA000 bytes on would read as codes; packets of 64 KB could
	// hold them.
	for n, ok := range map[int]bool{0x9FFF: true, 0xA000: false, 0xA00B: false, 0xA0FF: false, 0xB000: false} {
		r := newRequest("GET", "/")
		r.Fields = fields(strings.Repeat("n", n), "x")
		err := f.Encode(r, MaxPacketSize)
		if ok != (err == nil) {
			t.Errorf("name of %#x bytes: %v", n, err)
		}
		if !ok && (!errors.As(err, &tooLong) || tooLong.Need <= tooLong.Max) {
			t.Errorf("name of %#x bytes: %v", n, err)
		}
	}
	// The Forward still works.
	if err := f.Encode(newRequest("GET", "/"), DefaultPacketSize); err != nil || !bytes.Equal(f.buf, get().buf) {
		t.Errorf("after refusals: %v", err)
	}
}

// TestFirstBodyPacket checks what goes with FORWARD_REQUEST unasked, exactly.
func TestFirstBodyPacket(t *testing.T) {
	for _, size := range []int{8192, 9216, 65535, 65536} {
		for _, n := range []int{1, 5, 8185, 8186, 8187, 20000, size - 6, size - 5, 3 * size} {
			body := pattern(n)
			r := post(bytes.NewReader(body), int64(n))
			var f Forward
			if err := f.Encode(r, size); err != nil {
				t.Fatal(err)
			}
			head := newRequest("POST", "/up")
			want, _ := appendForward(nil, &Request{Request: &connector.Request{
				Method: head.Method, Protocol: head.Protocol, Path: head.Path, RemoteAddr: head.RemoteAddr,
				ServerName: head.ServerName, ServerPort: head.ServerPort, RemotePort: head.RemotePort,
				LocalAddr: head.LocalAddr, ContentLength: int64(n),
			}})
			want[2], want[3] = byte((len(want)-4)>>8), byte(len(want)-4)
			first := min(n, size-6)
			want = append(want, ajptest.Data(body[:first])...)
			if !bytes.Equal(f.buf, want) {
				t.Errorf("size %d, body of %d: %d bytes, want %d", size, n, len(f.buf), len(want))
			}
			if f.left != int64(n-first) || f.Consumed() {
				t.Errorf("size %d, body of %d: %d left, consumed %v", size, n, f.left, f.Consumed())
			}
		}
	}
}

// TestNextBody checks the answers to GET_BODY_CHUNK.
func TestNextBody(t *testing.T) {
	type ask struct {
		want int // asked for
		got  int // data bytes; 0 is the end
	}
	for _, tt := range []struct {
		name   string
		size   int
		length int  // of the body
		known  bool // Content-Length
		asks   []ask
	}{
		{"none", 8192, 0, true, []ask{{8186, 0}, {8186, 0}}},
		{"all in the first", 8192, 8186, true, []ask{{8186, 0}, {1, 0}}},
		{"one more", 8192, 8187, true, []ask{{8186, 1}, {8186, 0}, {8186, 0}}},
		{"20000", 8192, 20000, true, []ask{{8186, 8186}, {8186, 3628}, {8186, 0}, {8186, 0}}},
		{"small wishes", 8192, 8186 + 12, true, []ask{{1, 1}, {5, 5}, {0xFFFF, 6}, {1, 0}}},
		{"nothing wanted", 8192, 8186 + 10000, true, []ask{{0, 8186}, {0, 1814}, {0, 0}}},
		{"more wanted than fits", 8192, 30000, true, []ask{{65530, 8186}, {65535, 8186}, {8187, 5442}, {8186, 0}}},
		{"large packets", 65536, 200000, true, []ask{{65530, 65530}, {65535, 65530}, {8186, 3410}, {8186, 0}}},
		{"large packets, small asks", 65536, 70000, true, []ask{{8186, 4470}, {8186, 0}}},
		{"chunked", 8192, 20000, false, []ask{{8186, 8186}, {8186, 8186}, {8186, 3628}, {8186, 0}, {8186, 0}}},
		{"chunked, exact", 8192, 8186, false, []ask{{8186, 8186}, {8186, 0}}},
		{"chunked, small wishes", 8192, 10, false, []ask{{1, 1}, {4, 4}, {0, 5}, {3, 0}}},
		{"chunked, empty", 8192, 0, false, []ask{{8186, 0}, {8186, 0}}},
		{"chunked, large", 65536, 100000, false, []ask{{65535, 65530}, {65530, 34470}, {1, 0}}},
	} {
		body := pattern(tt.length)
		r := post(bytes.NewReader(body), -1)
		if tt.known {
			r.ContentLength = int64(tt.length)
		}
		var f Forward
		if err := f.Encode(r, tt.size); err != nil {
			t.Fatal(err)
		}
		at := 0
		if tt.known {
			at = min(tt.length, tt.size-6)
		}
		var p []byte
		for i, a := range tt.asks {
			var err error
			if p, err = f.nextBody(p, a.want); err != nil {
				t.Fatalf("%s, ask %d: %v", tt.name, i, err)
			}
			want := ajptest.DataEnd()
			if a.got > 0 {
				want = ajptest.Data(body[at : at+a.got])
			}
			at += a.got
			if !bytes.Equal(p, want) {
				t.Errorf("%s, ask %d: %d bytes, % x, want %d", tt.name, i, len(p), p[:min(len(p), 8)], len(want))
			}
		}
		if at != tt.length {
			t.Errorf("%s: %d of %d bytes sent", tt.name, at, tt.length)
		}
	}
}

// TestConsumed tells which requests may be sent again.
func TestConsumed(t *testing.T) {
	for _, tt := range []struct {
		length int
		known  bool
		asks   int
		want   bool
	}{
		{0, true, 2, false}, {5, true, 0, false}, {5, true, 2, false}, {8186, true, 1, false},
		{8187, true, 0, false}, {8187, true, 1, true}, {5, false, 0, false}, {5, false, 1, true},
	} {
		r := post(bytes.NewReader(pattern(tt.length)), -1)
		if tt.known {
			r.ContentLength = int64(tt.length)
		}
		f := encode(r)
		for range tt.asks {
			if _, err := f.nextBody(nil, 8186); err != nil {
				t.Fatal(err)
			}
		}
		if f.Consumed() != tt.want {
			t.Errorf("%+v: %v", tt, f.Consumed())
		}
		if err := f.Encode(newRequest("GET", "/"), DefaultPacketSize); err != nil || f.Consumed() {
			t.Errorf("%+v: consumed stays: %v", tt, err)
		}
	}
}

// TestChunkedPassesOnWhatIsThere: an application that reads what the client
// has sent so far must get it while the client waits for the application.
func TestChunkedPassesOnWhatIsThere(t *testing.T) {
	body := &pieces{left: [][]byte{[]byte("abc"), []byte("defgh"), pattern(10000)}}
	f := encode(post(body, -1))
	for i, want := range [][]byte{[]byte("abc"), []byte("defgh"), pattern(10000)[:8186], pattern(10000)[8186:], nil} {
		p, err := f.nextBody(nil, 8186)
		w := ajptest.DataEnd()
		if want != nil {
			w = ajptest.Data(want)
		}
		if err != nil || !bytes.Equal(p, w) {
			t.Errorf("packet %d: %d bytes, %v; want %d", i, len(p), err, len(w))
		}
	}
}

// TestClientErrors: a body that can't be read is the client's failure, whatever
// the reader calls it.
func TestClientErrors(t *testing.T) {
	slow := &connector.ClientError{Op: "read body", Status: 408, Err: errors.New("too slow")}
	for _, tt := range []struct {
		name   string
		err    error
		status int
	}{
		{"client error", slow, 408},
		{"wrapped", fmt.Errorf("body: %w", slow), 408},
		{"short", io.EOF, 400},
		{"short, said so", io.ErrUnexpectedEOF, 400},
		{"other", errors.New("reset"), 400},
	} {
		for _, first := range []bool{true, false} {
			n := 100
			if !first {
				n = 9000
			}
			r := post(&pieces{left: [][]byte{pattern(n)}, err: tt.err}, 10000)
			var f Forward
			err := f.Encode(r, DefaultPacketSize)
			if !first {
				if err != nil {
					t.Fatal(err)
				}
				_, err = f.nextBody(nil, 8186)
			}
			var ce *connector.ClientError
			if !errors.As(err, &ce) || ce.Status != tt.status {
				t.Errorf("%s, in the first packet %v: %v", tt.name, first, err)
			}
		}
		if tt.err == io.EOF {
			continue // the proper end of what has no length
		}
		f := encode(post(&pieces{left: [][]byte{pattern(10)}, err: tt.err}, -1))
		_, err := f.nextBody(nil, 8186)
		if err == nil {
			_, err = f.nextBody(nil, 8186)
		}
		var ce *connector.ClientError
		if !errors.As(err, &ce) || ce.Status != tt.status {
			t.Errorf("%s, chunked: %v", tt.name, err)
		}
	}
}

func TestForwardReused(t *testing.T) {
	var f Forward
	for i := range 50 {
		r := post(bytes.NewReader(pattern(i*500)), int64(i*500))
		r.Path = []byte("/" + strconv.Itoa(i))
		if err := f.Encode(r, DefaultPacketSize); err != nil {
			t.Fatal(err)
		}
		r.Body = bytes.NewReader(pattern(i * 500))
		if want := encode(r); !bytes.Equal(f.buf, want.buf) || f.left != want.left {
			t.Fatalf("request %d differs from one in a new Forward", i)
		}
	}
}

// TestF018ForwardTLS checks what a container learns of an encrypted connection,
// and that it learns nothing without one (F018).
func TestF018ForwardTLS(t *testing.T) {
	tls := &connector.TLS{Protocol: "TLSv1.3", Cipher: "TLS_AES_128_GCM_SHA256", SessionID: "ab", KeySize: 128, ClientCert: "A", Chain: []string{"B", "C"}}
	for _, tt := range []struct {
		name            string
		secure          bool
		tls             *connector.TLS
		keySize, chain  bool
		codes, protocol string
		cert            string
	}{
		{"plain", false, nil, true, true, "", "", ""},
		{"facts without TLS are not sent", false, tls, true, true, "", "", ""},
		{"TLS, nothing known", true, nil, true, true, "", "", ""},
		{"everything", true, tls, true, false, "07 08 09 0B", "TLSv1.3", "A"},
		{"chain", true, tls, true, true, "07 08 09 0B", "TLSv1.3", "ABC"},
		{"no key size", true, tls, false, false, "07 08 09", "TLSv1.3", "A"},
	} {
		r := newRequest("GET", "/")
		r.Secure, r.TLS, r.ForwardKeySize, r.ForwardChain = tt.secure, tt.tls, tt.keySize, tt.chain
		d, err := ajptest.DecodeForward(encode(r).buf[4:])
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if d.IsSSL != tt.secure {
			t.Errorf("%s: is_ssl %v", tt.name, d.IsSSL)
		}
		var codes []string
		cert, protocol := "", ""
		for _, a := range d.Attributes {
			switch a.Code {
			case attrSSLCert, attrSSLCipher, attrSSLSession, attrSSLKeySize:
				codes = append(codes, fmt.Sprintf("%02X", a.Code))
			}
			if a.Code == attrSSLCert {
				cert = a.Value
			}
			if a.Name == "AJP_SSL_PROTOCOL" {
				protocol = a.Value
			}
		}
		if got := strings.Join(codes, " "); got != tt.codes || cert != tt.cert || protocol != tt.protocol {
			t.Errorf("%s: codes %q, certificate %q, protocol %q", tt.name, got, cert, protocol)
		}
	}
}

// TestForwardAgain checks that a request can be made out for another container
// with the same beginning of its body.
func TestForwardAgain(t *testing.T) {
	r := newRequest("POST", "/")
	r.ContentLength, r.Body = 10, strings.NewReader("0123456789")
	r.Secret, r.Route = "one", "a"
	f := &Forward{}
	if err := f.Encode(r, 8192); err != nil {
		t.Fatal(err)
	}
	first := bytes.Clone(f.buf)
	r.Secret, r.Route, r.Activation = "another", "b", "DIS"
	if err := f.EncodeHead(r); err != nil {
		t.Fatal(err)
	}
	fresh := newRequest("POST", "/")
	fresh.ContentLength, fresh.Body = 10, strings.NewReader("0123456789")
	fresh.Secret, fresh.Route, fresh.Activation = "another", "b", "DIS"
	if want := encode(fresh).buf; !bytes.Equal(f.buf, want) || bytes.Equal(f.buf, first) {
		t.Errorf("got  % x\nwant % x", f.buf, want)
	}
	if f.Consumed() {
		t.Error("the body counts as used up")
	}
}
