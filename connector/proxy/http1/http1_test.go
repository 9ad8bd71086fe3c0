package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"jkd/connector"
	"jkd/connector/connectortest"
)

// pipe is a NetConn whose container has a script: what it says to each request.
type pipe struct {
	net.Conn
	br *bufio.Reader
}

func (p *pipe) Read(b []byte) (int, error) { return p.br.Read(b) }

// Readable waits a moment: the other side of the pipe writes when it can.
func (p *pipe) Readable() (bool, error) {
	if p.br.Buffered() > 0 {
		return true, nil
	}
	_ = p.Conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := p.br.Peek(1)
	_ = p.Conn.SetReadDeadline(time.Time{})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe):
		return true, io.EOF
	}
	return false, nil
}

// scripted is a connection to a container that reads a whole request, writes
// answer and closes if end is set. got receives the request as it came.
func scripted(t testing.TB, answer string, end bool) (c *Conn, got chan string) {
	t.Helper()
	a, b := net.Pipe()
	got = make(chan string, 1)
	go func() {
		br := bufio.NewReader(b)
		var seen bytes.Buffer
		for {
			line, err := br.ReadString('\n')
			seen.WriteString(line)
			if err != nil || line == "\r\n" {
				break
			}
		}
		text := seen.String()
		switch {
		case strings.Contains(text, "chunked"):
			for !strings.HasSuffix(seen.String(), "0\r\n\r\n") {
				c, err := br.ReadByte()
				if err != nil {
					break
				}
				seen.WriteByte(c)
			}
		case strings.Contains(text, "Content-Length: 5"):
			_, _ = io.CopyN(&seen, br, 5)
		}
		got <- seen.String()
		_, _ = io.WriteString(b, answer)
		if end {
			b.Close()
			return
		}
		_, _ = io.Copy(io.Discard, br)
		b.Close()
	}()
	t.Cleanup(func() { a.Close() })
	return NewConn(&pipe{a, bufio.NewReaderSize(a, 128<<10)}), got
}

var get = []byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n")

func TestAnswers(t *testing.T) {
	big := strings.Repeat("0123456789", 20000)
	for _, tt := range []struct {
		name, answer string
		end          bool
		head         bool
		status       int    // 0: a protocol error
		body         string // and fields
		fields       string
		idle         bool
		broken       bool // the answer breaks off
	}{
		{name: "length", answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: y\r\n\r\nabc", status: 200, body: "abc", fields: "X: y|Content-Length: 3", idle: true},
		{name: "empty", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", status: 200, fields: "Content-Length: 0", idle: true},
		{name: "no reason", answer: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200, fields: "Content-Length: 0", idle: true},
		{name: "chunks", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", status: 200, body: "abcde", idle: true},
		{name: "trailers", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nTrailer: X\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n", status: 200, body: "abc", idle: true},
		{name: "big", answer: fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(big), big), status: 200, body: big, fields: fmt.Sprint("Content-Length: ", len(big)), idle: true},
		{name: "big chunks", answer: fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n5\r\nabcde\r\n0\r\n\r\n", len(big), big), status: 200, body: big + "abcde", idle: true},
		{name: "until close", answer: "HTTP/1.1 200 OK\r\n\r\nabc", end: true, status: 200, body: "abc"},
		{name: "1.0", answer: "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", status: 200, body: "abc", fields: "Content-Length: 3"},
		{name: "1.0 kept", answer: "HTTP/1.0 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\n\r\nabc", status: 200, body: "abc", fields: "Content-Length: 3", idle: true},
		{name: "close", answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: Close\r\n\r\nabc", status: 200, body: "abc", fields: "Content-Length: 3"},
		{name: "hop-by-hop", answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x-a, close\r\nX-A: 1\r\nKeep-Alive: timeout=5\r\nX-B: 2\r\n\r\n", status: 200, fields: "X-B: 2|Content-Length: 0"},
		{name: "HEAD", answer: "HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n", head: true, status: 200, fields: "Content-Length: 300", idle: true},
		{name: "HEAD chunked", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head: true, status: 200, idle: true},
		{name: "304", answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 300\r\nETag: \"x\"\r\n\r\n", status: 304, fields: "ETag: \"x\"|Content-Length: 300", idle: true},
		{name: "204", answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, idle: true},
		{name: "interim", answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", status: 200, body: "a", fields: "Content-Length: 1", idle: true},
		{name: "more than one answer", answer: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n", status: 200, body: "a", fields: "Content-Length: 1"},
		{name: "body of a 204", answer: "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", status: 204, fields: "Content-Length: 3"},

		{name: "short", answer: "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", end: true, status: 200, broken: true},
		{name: "chunks cut", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", end: true, status: 200, broken: true},
		{name: "head cut", answer: "HTTP/1.1 200 OK\r\nContent-Len", end: true, broken: true},
		{name: "both lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"},
		{name: "two lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc"},
		{name: "two equal lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
		{name: "list of lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc"},
		{name: "negative length", answer: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"},
		{name: "signed length", answer: "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc"},
		{name: "huge length", answer: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"},
		{name: "other coding", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
		{name: "two codings", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{name: "chunked 1.0", answer: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{name: "folded", answer: "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n"},
		{name: "bare LF", answer: "HTTP/1.1 200 OK\nContent-Length: 0\n\n"},
		{name: "bare CR", answer: "HTTP/1.1 200 OK\r\nX: a\rY: b\r\nContent-Length: 0\r\n\r\n"},
		{name: "NUL", answer: "HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n"},
		{name: "blank before colon", answer: "HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n"},
		{name: "no colon", answer: "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n"},
		{name: "not HTTP", answer: "SSH-2.0-OpenSSH_9.2\r\n\r\n"},
		{name: "0.9", answer: "<html>\r\n\r\n"},
		{name: "2.0", answer: "HTTP/2.0 200 OK\r\n\r\n"},
		{name: "status 99", answer: "HTTP/1.1 099 X\r\n\r\n"},
		{name: "status x", answer: "HTTP/1.1 2x0 OK\r\n\r\n"},
		{name: "status long", answer: "HTTP/1.1 2000 OK\r\n\r\n"},
		{name: "101", answer: "HTTP/1.1 101 Switching Protocols\r\n\r\n"},
		{name: "empty line first", answer: "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
		{name: "endless interim", answer: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 20)},
		{name: "endless head", answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+strings.Repeat("x", 100)+"\r\n", 700)},
		{name: "endless line", answer: "HTTP/1.1 200 " + strings.Repeat("x", 70000)},
		{name: "many fields", answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 600) + "\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, got := scripted(t, tt.answer, tt.end)
			a := &connectortest.Answer{}
			err := c.Exchange(&Request{Head: get, IsHead: tt.head}, a, Timeouts{Read: 20 * time.Second, Write: 20 * time.Second})
			if req := <-got; req != string(get) {
				t.Errorf("sent %q", req)
			}
			var e *connector.ExchangeError
			switch {
			case tt.broken:
				if !errors.As(err, &e) || e.Cause != connector.CauseBroken || a.Finished || a.Started() != (tt.status != 0) {
					t.Errorf("%v, finished %v, started %v", err, a.Finished, a.Started())
				}
				return
			case tt.status == 0:
				if !errors.As(err, &e) || e.Cause != connector.CauseProtocol || a.Started() || c.Idle() {
					t.Errorf("%v, started %v, idle %v", err, a.Started(), c.Idle())
				}
				return
			}
			if err != nil || a.Status != tt.status || string(a.Body) != tt.body && tt.status != 204 || strings.Join(a.Fields, "|") != tt.fields || !a.Finished {
				t.Errorf("%v, status %d, %d bytes, fields %q", err, a.Status, len(a.Body), a.Fields)
			}
			if idle := c.Idle() && c.Usable(); idle != tt.idle {
				t.Errorf("idle %v, want %v", idle, tt.idle)
			}
		})
	}
}

// Faults that show in the body only: the answer has begun and must not end.
func TestBadChunks(t *testing.T) {
	for _, body := range []string{
		"x\r\n", "\r\nabc", "-1\r\n", "3 \x00\r\nabc", "0x3\r\nabc\r\n", "3\nabc\r\n0\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "3\r\nabcXX0\r\n\r\n",
		"fffffffffffffffff\r\n", "3;\x01\r\nabc\r\n", "3;" + strings.Repeat("x", 5000), "0\r\nX : y\r\n\r\n", "0\r\n folded\r\n\r\n", "0\r\nX: a\nb\r\n\r\n",
		"0\r\n" + strings.Repeat("X: y\r\n", 100) + "\r\n",
	} {
		c, _ := scripted(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+body, false)
		a := &connectortest.Answer{}
		err := c.Exchange(&Request{Head: get}, a, Timeouts{Read: 20 * time.Second})
		var e *connector.ExchangeError
		if !errors.As(err, &e) || e.Cause != connector.CauseProtocol || a.Finished || c.Idle() {
			t.Errorf("%.20q: %v, finished %v, idle %v", body, err, a.Finished, c.Idle())
		}
	}
}

func TestBodies(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	length, chunked := "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, tt := range []struct {
		r    Request
		want string
	}{
		{Request{Head: []byte(length), First: []byte("hello")}, length + "hello"},
		{Request{Head: []byte(length), First: []byte("he"), Body: strings.NewReader("llo"), Left: 3}, length + "hello"},
		{Request{Head: []byte(length), First: []byte("he"), Body: strings.NewReader("llo and more"), Left: 3}, length + "hello"},
		{Request{Head: []byte(chunked), First: []byte("he"), Body: strings.NewReader("llo"), Left: -1}, chunked + "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"},
		{Request{Head: []byte(chunked), Body: strings.NewReader(""), Left: -1}, chunked + "0\r\n\r\n"},
		{Request{Head: []byte(chunked), First: []byte("abc"), Left: -1}, chunked + "3\r\nabc\r\n0\r\n\r\n"},
	} {
		c, got := scripted(t, ok, false)
		if err := c.Exchange(&tt.r, &connectortest.Answer{}, Timeouts{}); err != nil || !c.Idle() {
			t.Errorf("%v, idle %v", err, c.Idle())
		}
		if req := <-got; req != tt.want {
			t.Errorf("sent %q, want %q", req, tt.want)
		}
	}
	// A body that ends too early: the container must not take it for a whole.
	c, _ := scripted(t, ok, false)
	err := c.Exchange(&Request{Head: []byte(length), First: []byte("he"), Body: strings.NewReader("l"), Left: 3}, &connectortest.Answer{}, Timeouts{})
	var e *connector.ExchangeError
	if !errors.As(err, &e) || e.Cause != connector.CauseClient || c.Idle() {
		t.Errorf("short body: %v, idle %v", err, c.Idle())
	}
}

// fixed is a connection from which all is read that there is.
type fixed struct {
	net.Conn
	r io.Reader
}

func (f *fixed) Read(p []byte) (int, error)       { return f.r.Read(p) }
func (f *fixed) Write(p []byte) (int, error)      { return len(p), nil }
func (f *fixed) Readable() (bool, error)          { return true, nil }
func (f *fixed) Close() error                     { return nil }
func (f *fixed) SetReadDeadline(time.Time) error  { return nil }
func (f *fixed) SetWriteDeadline(time.Time) error { return nil }

// slowly gives n bytes at a time.
type slowly struct {
	b []byte
	n int
}

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b[:min(s.n, len(s.b))])
	s.b = s.b[n:]
	return n, nil
}

// FuzzAnswer: whatever comes is an answer or an error, and the same one in
// whichever pieces it comes; what is passed on cannot inject a line.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 304 N\r\n\r\n", "HTTP/1.0 200 OK\r\nConnection: a, close\r\nA: b\r\n\r\nabc",
	} {
		f.Add([]byte(s), 1, false)
		f.Add([]byte(s), 7, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, n int, head bool) {
		run := func(r io.Reader) (*connectortest.Answer, bool, string) {
			c, a := NewConn(&fixed{r: r}), &connectortest.Answer{}
			err := c.Exchange(&Request{Head: get, IsHead: head}, a, Timeouts{})
			text := ""
			var e *connector.ExchangeError
			if err != nil {
				if !errors.As(err, &e) || c.Idle() {
					t.Fatalf("%v, idle %v", err, c.Idle())
				}
				text = fmt.Sprint(e.Phase, e.Cause)
			}
			return a, c.Idle(), text
		}
		n = min(max(n, 1), 1000)
		a, idle, err := run(bytes.NewReader(b))
		x, _, err2 := run(&slowly{b, n})
		if err != err2 || a.Status != x.Status || a.Finished != x.Finished || a.Finished && !bytes.Equal(a.Body, x.Body) || strings.Join(a.Fields, "\n") != strings.Join(x.Fields, "\n") {
			t.Fatalf("whole: %s %d %q %q; in pieces: %s %d %q %q", err, a.Status, a.Fields, a.Body, err2, x.Status, x.Fields, x.Body)
		}
		if a.Started() && (a.Status < 200 || a.Status > 999) {
			t.Fatalf("status %d", a.Status)
		}
		for _, field := range a.Fields {
			if strings.ContainsAny(field, "\r\n\x00") {
				t.Fatalf("field %q", field)
			}
		}
		if idle && !a.Finished {
			t.Fatal("idle in the middle of an answer")
		}
	})
}

// The bytes of an answer cost no memory.
func TestAllocs(t *testing.T) {
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nServer: x\r\nContent-Type: text/plain\r\n\r\nabc")
	r := bytes.NewReader(answer)
	c := NewConn(&fixed{r: r})
	var w discard
	req := &Request{Head: get}
	if n := testing.AllocsPerRun(100, func() {
		r.Reset(answer)
		c.idle = true
		if err := c.Exchange(req, &w, Timeouts{Read: time.Minute, Write: time.Minute}); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Errorf("%v allocations for a request", n)
	}
}

// discard is a ResponseWriter that keeps nothing.
type discard struct{}

func (discard) Start(int, []connector.Field) error { return nil }
func (discard) Append([]byte) error                { return nil }
func (discard) Buffered() int                      { return 0 }
func (discard) Flush() error                       { return nil }
func (discard) Finish() error                      { return nil }
func (discard) Started() bool                      { return true }

// upgrading is an answer that takes an upgrade.
type upgrading struct {
	connectortest.Answer
	protocol, first string
	fields          []string
}

func (u *upgrading) Upgrade(fields []connector.Field, protocol []byte, back net.Conn, first []byte, idle time.Duration) error {
	u.protocol, u.first = string(protocol), string(first)
	for _, f := range fields {
		u.fields = append(u.fields, string(f.Name)+": "+string(f.Value))
	}
	return nil
}

func TestUpgrade(t *testing.T) {
	const head = "HTTP/1.1 101 Switching Protocols\r\n"
	for _, tt := range []struct {
		offer, answer string
		want          string // protocol, fields, first; "" is an error
	}{
		{"websocket", head + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\nfirst", "websocket [Sec-WebSocket-Accept: x] first"},
		{"foo/1, bar", head + "connection: keep-alive, upgrade\r\nUpgrade: BAR\r\n\r\n", "BAR [] "},
		{"foo", "HTTP/1.1 100 Continue\r\n\r\n" + head + "Connection: upgrade\r\nUpgrade: foo\r\n\r\n", "foo [] "},
		{"websocket", head + "Connection: Upgrade\r\nUpgrade: foo\r\n\r\n", ""},
		{"websocket", head + "Connection: Upgrade\r\n\r\n", ""},
		{"websocket", head + "Upgrade: websocket\r\n\r\n", ""},
		{"websocket", head + "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n\r\n", ""},
		{"websocket", head + "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n\r\n", ""},
		{"websocket", "HTTP/1.0 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", ""},
		{"", head + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", ""},
	} {
		c, _ := scripted(t, tt.answer, false)
		u := &upgrading{}
		err := c.Exchange(&Request{Head: get, Upgrade: []byte(tt.offer)}, u, Timeouts{Read: 20 * time.Second})
		var e *connector.ExchangeError
		switch {
		case c.Idle():
			t.Errorf("%q: idle", tt.answer)
		case tt.want == "":
			if !errors.As(err, &e) || e.Cause != connector.CauseProtocol || u.protocol != "" {
				t.Errorf("%q: %v, %+v", tt.answer, err, u)
			}
		case err != nil || fmt.Sprint(u.protocol, " ", u.fields, " ", u.first) != tt.want:
			t.Errorf("%q: %v, %q %q %q, want %s", tt.answer, err, u.protocol, u.fields, u.first, tt.want)
		}
	}
	// Whoever can't be upgraded gets no 101.
	c, _ := scripted(t, head+"Connection: Upgrade\r\nUpgrade: foo\r\n\r\n", false)
	a := &connectortest.Answer{}
	if err := c.Exchange(&Request{Head: get, Upgrade: []byte("foo")}, a, Timeouts{Read: 20 * time.Second}); err == nil || c.Idle() || a.Finished {
		t.Errorf("without an Upgrader: %v", err)
	}
}
