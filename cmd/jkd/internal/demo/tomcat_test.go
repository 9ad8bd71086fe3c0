package demo

import (
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
	"jkd/connector/ajp/ajptest"
)

// TestLikeTomcat sends the same packets to this container and to Tomcat and
// compares what both do on the wire.
func TestLikeTomcat(t *testing.T) {
	const secret = "geheim"
	tomcat := tomcattest.StartT(t, tomcattest.Options{Secret: secret})
	theirs, err := net.ResolveTCPAddr("tcp", tomcat.AJPAddr())
	if err != nil {
		t.Fatal(err)
	}
	ours := serve(t, "tcp", Options{Secret: secret})
	with := func(r *ajptest.Request) *ajptest.Request { return r.AddAttr(ajptest.AttrSecret, secret) }

	const hello = "/examples/servlets/servlet/HelloWorldExample"
	big := strings.Repeat("0123456789abcdef!", 6000)
	length := func(s string) *ajptest.Request {
		return with(ajptest.NewRequest("POST", "/echo").Add("Content-Length", s))
	}
	for _, tt := range []struct {
		name     string
		our, its string // paths
		r        *ajptest.Request
		body     string
		sameBody *regexp.Regexp // what must be found in both, with equal groups
	}{
		{"hello", hello, hello, with(get("")), "", regexp.MustCompile(`(<title>.*</title>)|(<h1>.*</h1>)`)},
		{"hello, HEAD", hello, hello, with(ajptest.NewRequest("HEAD", "").Add("Content-Length", "0")), "", nil},
		{"big page", "/test/test.jsp", "/test/test.jsp", with(get("")), "", nil},
		{"GET, no length", "/echo", "/test/echo.jsp", with(ajptest.NewRequest("GET", "?a=b")), "", regexp.MustCompile(`body\.(.*)|contentLength=(.*)|(query=a.*b)`)},
		{"length 0", "/echo", "/test/echo.jsp", with(post("", 0)), "", regexp.MustCompile(`body\.(.*)|contentLength=(.*)`)},
		{"length 5", "/echo", "/test/echo.jsp", with(post("", 5)), "12345", regexp.MustCompile(`body\.(.*)|contentLength=(.*)`)},
		{"length 8186", "/echo", "/test/echo.jsp", with(post("", 8186)), big[:8186], regexp.MustCompile(`body\.(.*)`)},
		{"length 8187", "/echo", "/test/echo.jsp", with(post("", 8187)), big[:8187], regexp.MustCompile(`body\.(.*)`)},
		{"length 102000", "/echo", "/test/echo.jsp", with(post("", len(big))), big, regexp.MustCompile(`body\.(.*)`)},
		{"unknown length", "/echo", "/test/echo.jsp", with(ajptest.NewRequest("POST", "")), big, regexp.MustCompile(`body\.(.*)|contentLength=(.*)`)},
		{"body left unread", hello, "/test/hello.jsp", with(post("", 20000)), big[:20000], nil},
		{"no such page", "/none", "/none", with(get("")), "", nil},
		{"secret missing", hello, hello, get(""), "", nil},
		{"secret wrong", hello, hello, get("").AddAttr(ajptest.AttrSecret, "x"), "", nil},
		{"length x", "/echo", "/test/echo.jsp", length("x"), "", nil},
		{"length twice", "/echo", "/test/echo.jsp", length("0").Add("Content-Length", "0"), "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			query, _ := tt.r.Query()
			var got [2]*ajptest.Response
			for i, side := range []struct {
				addr net.Addr
				path string
			}{{ours, tt.our}, {theirs, tt.its}} {
				f := dial(t, side.addr)
				r := *tt.r
				r.URI = side.path
				got[i] = do(t, f, &r, tt.body)
				// Tomcat leaves it to the front end to close; this one closes.
				if !got[i].Reuse && i == 0 {
					if p, err := f.ReadPacket(); err != io.EOF {
						t.Errorf("%s: % x, %v after an END_RESPONSE without reuse", side.addr, p, err)
					}
				}
			}
			o, c := got[0], got[1]
			if o.Status != c.Status || o.Message != c.Message || o.Reuse != c.Reuse || o.Sent != c.Sent || !reflect.DeepEqual(o.Asked, c.Asked) {
				t.Errorf("?%s: status %d %q, reuse %v, asked %v, %d body packets; Tomcat: %d %q, %v, %v, %d", query,
					o.Status, o.Message, o.Reuse, o.Asked, o.Sent, c.Status, c.Message, c.Reuse, c.Asked, c.Sent)
			}
			if tt.our == tt.its && o.Status == 200 {
				if !reflect.DeepEqual(o.Headers, c.Headers) {
					t.Errorf("headers %+v; Tomcat: %+v", o.Headers, c.Headers)
				}
			}
			if tt.sameBody != nil {
				om, cm := tt.sameBody.FindAllString(string(o.Body), -1), tt.sameBody.FindAllString(string(c.Body), -1)
				if !reflect.DeepEqual(om, cm) && !reflect.DeepEqual(unescape(om), unescape(cm)) || om == nil {
					t.Errorf("in the body %q; Tomcat: %q", om, cm)
				}
			}
		})
	}
	for _, bad := range []struct {
		name  string
		bytes []byte
	}{
		{"container's magic", ajptest.CPong()},
		{"SHUTDOWN", ajptest.Payload(ajptest.CodeShutdown).FrontPacket()},
		{"method 28", ajptest.Payload(append([]byte{2, 28}, get("/").Payload()[2:]...)...).FrontPacket()},
		{"header code A00F", ajptest.Payload(2, 2).String("HTTP/1.1").String("/").String("").Null().String("").Int(80).Byte(0).Int(1).Int(0xA00F).String("x").Byte(255).FrontPacket()},
		{"cut in the middle", ajptest.Payload(get("/").Payload()[:40]...).FrontPacket()},
	} {
		t.Run(bad.name, func(t *testing.T) {
			o, c := outcome(t, ours, bad.bytes), outcome(t, theirs, bad.bytes)
			if o != c {
				t.Errorf("%s; Tomcat: %s", o, c)
			}
		})
	}
}

// unescape makes lines of the two echo pages equal: Tomcat's escapes more.
func unescape(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.NewReplacer("%3D", "=", "%26", "&").Replace(l))
	}
	return out
}

// outcome sends bytes and says in short what came back, until END_RESPONSE or
// a close.
func outcome(t *testing.T, a net.Addr, b []byte) string {
	t.Helper()
	f := dial(t, a)
	f.Send(b)
	var got []string
	for {
		p, err := f.ReadPacket()
		var ne net.Error
		if errors.As(err, &ne) && ne.Timeout() {
			return fmt.Sprint(append(got, "silence"))
		}
		if err != nil {
			return fmt.Sprint(append(got, "closed"))
		}
		switch p[4] {
		case ajptest.CodeHeaders:
			h, err := ajptest.DecodeHeaders(p[4:])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint("status ", h.Status))
		case ajptest.CodeEnd:
			return fmt.Sprint(append(got, fmt.Sprint("end ", p[5])))
		case ajptest.CodeChunk: // pages differ
		default:
			got = append(got, fmt.Sprintf("code %d", p[4]))
		}
	}
}
