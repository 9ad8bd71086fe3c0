//go:build unix

package httpd

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"jkd/connector"
)

// headCases are requests without a body and what becomes of them: 200 means
// that the worker is asked, anything else is the front's refusal.
var headCases = []struct {
	name   string
	raw    string
	status int
}{
	{"plain", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"1.0", "GET / HTTP/1.0\r\n\r\n", 200},
	{"1.0 with Host", "GET / HTTP/1.0\r\nHost: x\r\n\r\n", 200},
	{"empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"too many empty lines", "\r\n\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"bare LF first", "\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"method of own", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"method in lower case", "get / HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"method with all token bytes", "A!#$%&'*+-.^_`|~9z / HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"method with a parenthesis", "G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"no method", " / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"method with NUL", "G\x00T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"method with 8 bits", "G\xc3T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"two spaces before the target", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"two spaces before the version", "GET /  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"space behind the version", "GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400},
	{"tab instead of space", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"space in target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"no version (0.9)", "GET /\r\n\r\n", 400},
	{"HTTP/0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505},
	{"HTTP/1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n", 200},
	{"HTTP/2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
	{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	{"HTTP/1.10", "GET / HTTP/1.10\r\nHost: x\r\n\r\n", 400},
	{"HTTP/11", "GET / HTTP/11.\r\nHost: x\r\n\r\n", 400},
	{"http/1.1", "GET / http/1.1\r\nHost: x\r\n\r\n", 400},
	{"HTTPS/1.1", "GET / HTTPS/1.1\r\nHost: x\r\n\r\n", 400},
	{"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
	{"SSH", "SSH-2.0-x\r\n\r\n", 400},

	{"request line ended by LF", "GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
	{"field ended by LF", "GET / HTTP/1.1\r\nHost: x\n\r\n", 400},
	{"head ended by LF", "GET / HTTP/1.1\r\nHost: x\r\n\n", 400},
	{"all LF", "GET / HTTP/1.1\nHost: x\n\n", 400},
	{"bare CR in request line", "GET /\r HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"bare CR in value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n", 400},
	{"bare CR as line end", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n", 400},
	{"two CR", "GET / HTTP/1.1\r\nHost: x\r\r\n\r\n", 400},
	{"NUL in value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n", 400},
	{"control byte in value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\x01c\r\n\r\n", 400},
	{"DEL in value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\x7fc\r\n\r\n", 400},
	{"tab in value", "GET / HTTP/1.1\r\nHost: x\r\nA:\tb\tc\t\r\n\r\n", 200},
	{"8 bits in value", "GET / HTTP/1.1\r\nHost: x\r\nA: \xc3\xa1\r\n\r\n", 200},
	{"empty value", "GET / HTTP/1.1\r\nHost: x\r\nA:\r\n\r\n", 200},
	{"folded by space", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400},
	{"folded by tab", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n", 400},
	{"folded first line", "GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
	{"space before colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400},
	{"tab before colon", "GET / HTTP/1.1\r\nHost: x\r\nA\t: x\r\n\r\n", 400},
	{"no colon", "GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n", 400},
	{"no name", "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n", 400},
	{"space in name", "GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n", 400},
	{"quote in name", "GET / HTTP/1.1\r\nHost: x\r\n\"A\": c\r\n\r\n", 400},
	{"NUL in name", "GET / HTTP/1.1\r\nHost: x\r\nA\x00: c\r\n\r\n", 400},
	{"8 bits in name", "GET / HTTP/1.1\r\nHost: x\r\nA\xe1: c\r\n\r\n", 400},

	{"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
	{"no Host in 1.2", "GET / HTTP/1.2\r\n\r\n", 400},
	{"two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
	{"two equal Hosts", "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n", 400},
	{"two Hosts in 1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400},
	{"empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
	{"empty Host in 1.0", "GET / HTTP/1.0\r\nHost:\r\n\r\n", 200},
	{"Host with a slash", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", 400},
	{"Host with user", "GET / HTTP/1.1\r\nHost: u@x\r\n\r\n", 400},
	{"Host with a space", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n", 400},
	{"Host with an escape", "GET / HTTP/1.1\r\nHost: %41\r\n\r\n", 400},
	{"Host with angle brackets", "GET / HTTP/1.1\r\nHost: <x>\r\n\r\n", 400},
	{"Host with letters as port", "GET / HTTP/1.1\r\nHost: x:http\r\n\r\n", 400},
	{"Host with a signed port", "GET / HTTP/1.1\r\nHost: x:+80\r\n\r\n", 400},
	{"Host with a large port", "GET / HTTP/1.1\r\nHost: x:65536\r\n\r\n", 400},
	{"Host with two ports", "GET / HTTP/1.1\r\nHost: x:80:80\r\n\r\n", 400},
	{"Host with an empty port", "GET / HTTP/1.1\r\nHost: x:\r\n\r\n", 200},
	{"Host of a port alone", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", 400},
	{"Host with bare IPv6", "GET / HTTP/1.1\r\nHost: 2001:db8::1\r\n\r\n", 400},
	{"Host with open bracket", "GET / HTTP/1.1\r\nHost: [2001:db8::1\r\n\r\n", 400},
	{"Host with garbage in brackets", "GET / HTTP/1.1\r\nHost: [zz]\r\n\r\n", 400},
	{"Host with IPv4 in brackets", "GET / HTTP/1.1\r\nHost: [127.0.0.1]\r\n\r\n", 400},
	{"Host with a zone", "GET / HTTP/1.1\r\nHost: [fe80::1%<b>]\r\n\r\n", 400},
	{"Host with garbage behind brackets", "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", 400},
	{"Host with IPv6", "GET / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n\r\n", 200},

	{"absolute", "GET http://shop.example/x HTTP/1.1\r\nHost: y\r\n\r\n", 200},
	{"absolute in 1.0", "GET http://shop.example/x HTTP/1.0\r\n\r\n", 200},
	{"absolute https", "GET HTTPS://shop.example/x HTTP/1.1\r\nHost: y\r\n\r\n", 200},
	{"absolute without path", "GET http://shop.example HTTP/1.1\r\nHost: y\r\n\r\n", 200},
	{"absolute with query alone", "GET http://shop.example?q HTTP/1.1\r\nHost: y\r\n\r\n", 200},
	{"absolute without host", "GET http:///x HTTP/1.1\r\nHost: y\r\n\r\n", 400},
	{"absolute with port alone", "GET http://:80/x HTTP/1.1\r\nHost: y\r\n\r\n", 400},
	{"absolute with user", "GET http://u:p@shop.example/x HTTP/1.1\r\nHost: y\r\n\r\n", 400},
	{"absolute ftp", "GET ftp://shop.example/x HTTP/1.1\r\nHost: y\r\n\r\n", 400},
	{"authority", "CONNECT shop.example:443 HTTP/1.1\r\nHost: shop.example\r\n\r\n", 400},
	{"relative", "GET x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"star", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 204}, // 200, but not from the worker
	{"star with GET", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"star with more", "OPTIONS *x HTTP/1.1\r\nHost: x\r\n\r\n", 400},

	{"two slashes", "GET //x HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"good escapes", "GET /a%20b/%C3%A1/x%2Fy/100%25 HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"percent alone", "GET /% HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"percent and one digit", "GET /%4 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"percent G1", "GET /%G1 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"percent zz", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"percent in query", "GET /?%G1 HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"percent 00", "GET /a%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"NUL in target", "GET /a\x00 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"DEL in target", "GET /a\x7f HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"above root", "GET /../x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"above root, escaped", "GET /a/%2e%2E/../x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"dots inside", "GET /a/../b HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", 200},

	{"line of the limit", "GET /" + repeat("a", 8190-len("GET / HTTP/1.1")) + " HTTP/1.1\r\nHost: x\r\n\r\n", 200},
	{"line above the limit", "GET /" + repeat("a", 8191-len("GET / HTTP/1.1")) + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
	{"line without end", "GET /" + repeat("a", 9000), 414},
	{"field of the limit", "GET / HTTP/1.1\r\nHost: x\r\nA: " + repeat("b", 8190-len("A: ")) + "\r\n\r\n", 200},
	{"field above the limit", "GET / HTTP/1.1\r\nHost: x\r\nA: " + repeat("b", 8191-len("A: ")) + "\r\n\r\n", 400},
	{"field without end", "GET / HTTP/1.1\r\nHost: x\r\nA: " + repeat("b", 9000), 400},
	{"fields of the limit", "GET / HTTP/1.1\r\nHost: x\r\n" + repeat("A: b\r\n", 99) + "\r\n", 200},
	{"fields above the limit", "GET / HTTP/1.1\r\nHost: x\r\n" + repeat("A: b\r\n", 100) + "\r\n", 400},
	{"head above all bounds", "GET / HTTP/1.1\r\nHost: x\r\n" + repeat("A: "+repeat("b", 8000)+"\r\n", 20) + "\r\n", 431},
	{"large head", "GET / HTTP/1.1\r\nHost: x\r\n" + repeat("A: "+repeat("b", 8000)+"\r\n", 10) + "\r\n", 200},

	{"length 0", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200},
	{"length 00", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 00\r\n\r\n", 200},
	{"empty length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 400},
	{"signed length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello", 400},
	{"negative length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nhello", 400},
	{"length with space", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5 5\r\n\r\nhello", 400},
	{"length with letters", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5a\r\n\r\nhello", 400},
	{"length in hex", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello", 400},
	{"length list", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 5\r\n\r\nhello", 400},
	{"two equal lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
	{"two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-length: 0\r\n\r\nhello", 400},
	{"length 2^63", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9223372036854775808\r\n\r\n", 400},
	{"length of 30 digits", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + repeat("9", 30) + "\r\n\r\n", 400},
	{"length in Arabic digits", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \xd9\xa5\r\n\r\n", 400},
	{"length and chunked", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"chunked and length", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
	{"length hidden by Connection", "POST / HTTP/1.1\r\nHost: x\r\nConnection: content-length\r\nContent-Length: +5\r\n\r\nhello", 400},
	{"chunked", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200},
	{"Chunked", "POST / HTTP/1.1\r\nHost: x\r\ntransfer-encoding: ChUnKeD\r\n\r\n0\r\n\r\n", 200},
	{"chunked between blanks", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \t chunked \t\r\n\r\n0\r\n\r\n", 200},
	{"identity", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 501},
	{"empty coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n", 501},
	{"xchunked", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
	{"chunked with VT", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400},
	{"quoted chunked", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 501},
	{"gzip, chunked", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
	{"chunked twice in a list", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501},
	{"chunked twice", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"identity and length", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello", 400},
	{"xchunked and length", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nhello", 400},
	{"chunked in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"chunked with GET", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200},

	{"unknown expectation", "POST / HTTP/1.1\r\nHost: x\r\nExpect: other\r\nContent-Length: 5\r\n\r\nhello", 417},
	{"unknown expectation in 1.0", "GET / HTTP/1.0\r\nExpect: other\r\n\r\n", 200},
	{"too many names in Connection", "GET / HTTP/1.1\r\nHost: x\r\nConnection: " + repeat("a,", 4000) + "\r\n\r\n", 400},
}

// TestHeads sends each head with a second request behind it. After a refusal
// nothing more is served and the connection ends; nothing but what the worker
// is meant to see reaches it.
func TestHeads(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, defaults(), echo)
		for _, tc := range headCases {
			t.Run(tc.name, func(t *testing.T) {
				s.t = t
				before := len(s.worker.requests())
				c := s.dial()
				// The end of a refused head may meet a closed connection.
				_, _ = c.Write([]byte(tc.raw))
				status := tc.status
				if status == 204 {
					status = 200
				}
				if status != 200 {
					_, _ = c.Write([]byte("GET /behind HTTP/1.1\r\nHost: x\r\n\r\n"))
				}
				method, _, _ := strings.Cut(tc.raw, " ")
				a := c.answer(method)
				if a.StatusCode != status {
					t.Fatalf("status %d, want %d", a.StatusCode, status)
				}
				if status != 200 {
					if !a.Close {
						t.Errorf("refused without Connection: close: %v", a.Header)
					}
					c.ended()
				}
				want := before
				if tc.status == 200 {
					want++
				}
				if got := s.worker.requests(); len(got) != want {
					t.Errorf("the worker saw %d requests, want %d: %+v", len(got)-before, want-before, got[before:])
				}
			})
		}
	})
}

// TestScanInPieces has the scanner see every prefix of each head, as from a
// client that sends byte by byte: the verdict must be the same.
func TestScanInPieces(t *testing.T) {
	lim := limits{line: 8190, fields: 100, field: 8190}
	for _, tc := range headCases {
		var whole, pieces head
		b := []byte(tc.raw)
		n, status, reason := whole.scan(b, lim)
		var n2, status2 int
		var reason2 string
		for i := 1; i <= len(b) && n2 == 0 && status2 == 0; i++ {
			n2, status2, reason2 = pieces.scan(b[:i], lim)
		}
		if n2 != n || status2 != status {
			t.Errorf("%s: in pieces %d %d %q, at once %d %d %q", tc.name, n2, status2, reason2, n, status, reason)
		}
		if n > 0 && !reflect.DeepEqual(whole, pieces) {
			t.Errorf("%s: in pieces %+v, at once %+v", tc.name, pieces, whole)
		}
	}
}

// TestHeadByteByByte is the same over a connection.
func TestHeadByteByByte(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, defaults(), hello)
		c := s.dial()
		for _, b := range []byte("\r\nPOST /a?b HTTP/1.1\r\nHost: example:81\r\nX: y\r\n\r\n") {
			if _, err := c.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		c.want(200)
		got := s.worker.requests()
		if len(got) != 1 || got[0].Path != "/a" || got[0].Query != "b" || got[0].ServerName != "example" || got[0].ServerPort != 81 {
			t.Errorf("the worker saw %+v", got)
		}
	})
}

// TestLimitLineSplitBeforeLF has the line end of a line of exactly the limit
// arrive in two pieces.
func TestLimitLineSplitBeforeLF(t *testing.T) {
	lim := limits{line: 20, fields: 1, field: 10}
	b := []byte("GET /" + repeat("a", 20-len("GET / HTTP/1.1")) + " HTTP/1.1\r\nHost: 5678\r\n\r\n")
	var h head
	for i := range b {
		if _, status, reason := h.scan(b[:i], lim); status != 0 {
			t.Fatalf("refused after %q: %d %s", b[:i], status, reason)
		}
	}
	if n, _, _ := h.scan(b, lim); n != len(b) {
		t.Errorf("length %d, want %d", n, len(b))
	}
}

func TestPipelining(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, defaults(), func(r *connector.Request, w connector.ResponseWriter) error {
			return reply(w, 200, string(r.Path))
		})
		c := s.dial()
		var b strings.Builder
		for i := range 10 {
			fmt.Fprintf(&b, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
			fmt.Fprintf(&b, "POST /p%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n\r\n", i) // one CR LF too many
		}
		c.send(b.String())
		for i := range 10 {
			if got := c.want(200).body; got != "/"+itoa(i) {
				t.Fatalf("answer %d is %q", i, got)
			}
			if got := c.want(200).body; got != "/p"+itoa(i) {
				t.Fatalf("answer p%d is %q", i, got)
			}
		}
		c.open()
	})
}

// TestPipelinedBodies has bodies of both framings in one write, behind each
// other.
func TestPipelinedBodies(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, defaults(), echo)
		c := s.dial()
		c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello" +
			"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: x\r\n\r\n" +
			"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nend")
		for _, want := range []string{"hello", "abc", "end"} {
			if got := c.want(200).body; got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	})
}

func TestWhatTheWorkerSees(t *testing.T) {
	type want struct {
		path, match, query string
		hasQuery           bool
		name               string
		port               int
		fields             []string
	}
	for _, tc := range []struct {
		name, raw string
		o         func(*Options)
		want      want
	}{
		{"host and port", "GET / HTTP/1.1\r\nHost: Shop.example:8443\r\n\r\n", nil,
			want{"/", "/", "", false, "Shop.example", 8443, []string{"Host: Shop.example:8443"}}},
		{"IPv6 host", "GET / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n\r\n", nil,
			want{"/", "/", "", false, "2001:db8::1", 8080, []string{"Host: [2001:db8::1]:8080"}}},
		{"IPv6 host without port", "GET / HTTP/1.1\r\nHost: [2001:db8::1]\r\n\r\n", nil,
			want{"/", "/", "", false, "2001:db8::1", -1, []string{"Host: [2001:db8::1]"}}},
		{"absolute replaces Host", "GET http://shop.example:81/x?q HTTP/1.1\r\nA: 1\r\nHost: other\r\nB: 2\r\n\r\n", nil,
			want{"/x", "/x", "q", true, "shop.example", 81, []string{"A: 1", "Host: shop.example:81", "B: 2"}}},
		{"absolute makes Host", "GET http://shop.example/x HTTP/1.0\r\nA: 1\r\nB: 2\r\n\r\n", nil,
			want{"/x", "/x", "", false, "shop.example", -1, []string{"Host: shop.example", "A: 1", "B: 2"}}},
		{"absolute with query alone", "GET http://shop.example?q HTTP/1.1\r\nHost: y\r\n\r\n", nil,
			want{"/", "/", "q", true, "shop.example", -1, []string{"Host: shop.example"}}},
		{"1.0 without Host", "GET /x HTTP/1.0\r\n\r\n", nil,
			want{"/x", "/x", "", false, "127.0.0.1", -1, nil}},
		{"1.0 without Host, named", "GET /x HTTP/1.0\r\n\r\n", func(o *Options) { o.ServerName = "www.example" },
			want{"/x", "/x", "", false, "www.example", -1, nil}},
		{"1.2 is 1.1", "GET /x HTTP/1.2\r\nHost: x\r\n\r\n", nil,
			want{"/x", "/x", "", false, "x", -1, []string{"Host: x"}}},
		{"path byte for byte", "GET /a%20b/%C3%A1/x%2Fy/100%25;v=1/./c//d?x=%G1&y=a%20b HTTP/1.1\r\nHost: x\r\n\r\n", nil,
			want{"/a%20b/%C3%A1/x%2Fy/100%25;v=1/./c//d", "/a b/\xc3\xa1/x%2Fy/100%/c/d", "x=%G1&y=a%20b", true, "x", -1, []string{"Host: x"}}},
		{"empty query", "GET /a? HTTP/1.1\r\nHost: x\r\n\r\n", nil,
			want{"/a", "/a", "", true, "x", -1, []string{"Host: x"}}},
		{"question mark in query", "GET /a?b?c HTTP/1.1\r\nHost: x\r\n\r\n", nil,
			want{"/a", "/a", "b?c", true, "x", -1, []string{"Host: x"}}},
		{"fragment", "GET /a?b#c?d HTTP/1.1\r\nHost: x\r\n\r\n", nil,
			want{"/a", "/a", "b", true, "x", -1, []string{"Host: x"}}},
		{"private by detours", "GET /x;y/../private;z/%61 HTTP/1.1\r\nHost: x\r\n\r\n", nil,
			want{"/x;y/../private;z/%61", "/private/a", "", false, "x", -1, []string{"Host: x"}}},
		{"fields in order, spelling kept", "GET / HTTP/1.1\r\nhOST: x\r\nB: 1\r\na: \t2 3\t \r\nB: 4\r\nEmpty:\r\nCookie: a=b; c=\"d\"\r\n\r\n", nil,
			want{"/", "/", "", false, "x", -1, []string{"hOST: x", "B: 1", "a: 2 3", "B: 4", "Empty: ", "Cookie: a=b; c=\"d\""}}},
		{"hop-by-hop dropped", "GET / HTTP/1.1\r\nX-Private: 1\r\nHost: x\r\nConnection: close, x-private ,, Host\r\n" +
			"Keep-Alive: 300\r\nTE: trailers\r\nTrailer: X\r\nUpgrade: h2c\r\nProxy-Connection: close\r\nProxy-Authorization: Basic eDp5\r\n" +
			"Connection: upgrade\r\nx-private: 2\r\nKept: 1\r\n\r\n", nil,
			want{"/", "/", "", false, "x", -1, []string{"Host: x", "Kept: 1"}}},
		{"framing not forwarded", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Type: a/b\r\nContent-Length: 0\r\n\r\n", nil,
			want{"/", "/", "", false, "x", -1, []string{"Host: x", "Content-Type: a/b"}}},
		{"coding not forwarded", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", nil,
			want{"/", "/", "", false, "x", -1, []string{"Host: x"}}},
		{"1.0 drops Expect", "GET / HTTP/1.0\r\nExpect: 100-continue\r\nA: b\r\n\r\n", nil,
			want{"/", "/", "", false, "127.0.0.1", -1, []string{"A: b"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				o := defaults()
				if tc.o != nil {
					tc.o(&o)
				}
				s := start(t, kind, o, echo)
				c := s.dial()
				c.send(tc.raw)
				c.want(200)
				got := s.worker.requests()[0]
				local, remote := c.RemoteAddr().String(), c.LocalAddr().String()
				localPort := local[strings.LastIndexByte(local, ':')+1:]
				if tc.want.port < 0 && itoa(got.ServerPort) == localPort {
					got.ServerPort = -1
				}
				have := want{got.Path, got.MatchPath, got.Query, got.HasQuery, got.ServerName, got.ServerPort, got.Fields}
				if !reflect.DeepEqual(have, tc.want) {
					t.Errorf("\n got %+v\nwant %+v", have, tc.want)
				}
				if got.RemoteAddr+":"+got.RemotePort != remote || got.LocalAddr+":"+localPort != local || got.Secure {
					t.Errorf("addresses: %+v, want %s from %s", got, local, remote)
				}
				proto := "HTTP/1.1"
				if strings.Contains(tc.raw, "HTTP/1.0") {
					proto = "HTTP/1.0"
				}
				if got.Protocol != proto {
					t.Errorf("protocol %q, want %q", got.Protocol, proto)
				}
			})
		})
	}
}

func TestIPv6Client(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := startOn(t, "[::1]:0", kind, defaults(), hello)
		c := s.dial()
		c.send("GET / HTTP/1.0\r\n\r\n")
		c.want(200)
		got := s.worker.requests()[0]
		if got.RemoteAddr != "::1" || got.LocalAddr != "::1" || got.ServerName != "::1" {
			t.Errorf("the worker saw %+v", got)
		}
	})
}

// TestLengths has the worker told of lengths that no body follows.
func TestLengths(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		for _, tc := range []struct {
			value string
			want  int64
		}{{"0", 0}, {"5000000000", 5000000000}, {"007", 7}, {"9223372036854775807", 1<<63 - 1}} {
			s := start(t, kind, defaults(), hello)
			c := s.dial()
			c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + tc.value + "\r\n\r\n")
			c.want(200)
			if got := s.worker.requests()[0].ContentLength; got != tc.want {
				t.Errorf("Content-Length %s is %d", tc.value, got)
			}
		}
	})
}

// TestNothingLeaksBetweenRequests has a rich request followed by a poor one,
// on one connection and on the next one, which reuses the session.
func TestNothingLeaksBetweenRequests(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, defaults(), echo)
		c := s.dial()
		c.send("POST /secret?key HTTP/1.1\r\nHost: rich:1\r\nExpect: 100-continue\r\nAuthorization: s\r\nContent-Length: 3\r\n\r\nabc")
		if got := c.head(); got != "HTTP/1.1 100 Continue\r\n\r\n" {
			t.Fatalf("got %q", got)
		}
		c.want(200)
		c.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
		c.want(200)
		c.send("\x00")
		c.want(400)
		c.ended()
		d := s.dial()
		d.send("GET / HTTP/1.0\r\n\r\n")
		d.want(200)
		reqs := s.worker.requests()
		for _, got := range reqs[1:] {
			if got.Path != "/" || got.HasQuery || len(got.Query) > 0 || got.ServerName != "127.0.0.1" || len(got.Fields) > 0 || got.ContentLength != 0 {
				t.Errorf("the worker saw %+v", got)
			}
		}
		if len(reqs) != 3 {
			t.Errorf("%d requests, want 3", len(reqs))
		}
	})
}
