//go:build unix

package httpd

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/scoreboard"
)

// loop is a connection that always has another request waiting, until it has
// given n of them.
type loop struct {
	net.Conn
	request []byte
	n       int
	at      int
	wrote   int
}

func (l *loop) Read(p []byte) (int, error) {
	if l.at == 0 {
		if l.n == 0 {
			return 0, io.EOF
		}
		l.n--
	}
	n := copy(p, l.request[l.at:])
	l.at = (l.at + n) % len(l.request)
	return n, nil
}
func (l *loop) Tunnel(net.Conn, []byte, []byte, time.Duration) (int64, int64, error) {
	return 0, 0, errors.ErrUnsupported
}
func (l *loop) ReadIdle(p []byte, _ time.Duration) (int, error) { return l.Read(p) }
func (l *loop) Write(p []byte) (int, error)                     { l.wrote += len(p); return len(p), nil }
func (l *loop) WriteBuffers(v [][]byte) (n int64, _ error) {
	for _, b := range v {
		n += int64(len(b))
	}
	l.wrote += int(n)
	return n, nil
}
func (l *loop) SendFile(_ *os.File, _, n int64) (int64, error) {
	l.wrote += int(n)
	return n, nil
}
func (l *loop) Readable() (bool, error)          { return false, nil }
func (l *loop) CloseWrite() error                { return nil }
func (l *loop) Abort() error                     { return nil }
func (l *loop) Close() error                     { return nil }
func (l *loop) SetReadDeadline(time.Time) error  { return nil }
func (l *loop) SetWriteDeadline(time.Time) error { return nil }
func (l *loop) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (l *loop) LocalAddr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

const browserGet = "GET /examples/servlets/servlet/HelloWorldExample?a=b HTTP/1.1\r\nHost: www.example.com:8080\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en\r\n" +
	"Accept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\nCookie: JSESSIONID=0123456789ABCDEF0123456789ABCDEF.node1\r\n\r\n"

// quick answers without allocating.
type quick struct {
	fields []connector.Field
	body   []byte
	buf    []byte
}

func (*quick) Name() string                                { return "quick" }
func (q *quick) Match(*connector.Request) connector.Worker { return q }
func (*quick) Close() error                                { return nil }
func (q *quick) Service(r *connector.Request, w connector.ResponseWriter) error {
	for r.ContentLength != 0 {
		if _, err := r.Body.Read(q.buf); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if err := w.Start(200, q.fields); err != nil {
		return err
	}
	if err := w.Append(q.body); err != nil {
		return err
	}
	return w.Finish()
}

func newQuick() *quick {
	return &quick{fields: fields("Content-Type: text/html;charset=UTF-8", "Content-Length: 387"), body: make([]byte, 387), buf: make([]byte, 8192)}
}

func newQuickServer(tb testing.TB, accessLog io.Writer) (*Server, *scoreboard.Slot) {
	l := scoreboard.Layout{ServerLimit: 1, ThreadLimit: 1}
	size, err := scoreboard.Size(l)
	if err != nil {
		tb.Fatal(err)
	}
	board, err := scoreboard.New(make([]byte, size), l, scoreboard.Global{})
	if err != nil {
		tb.Fatal(err)
	}
	o := defaults()
	o.Log = zerolog.Nop()
	o.Connectors = []connector.Connector{newQuick()}
	if accessLog != nil {
		o.Sites = logged(accessLog, combined)
	}
	return New(o), board.Slot(0, 0)
}

var loopRequests = []struct{ name, raw string }{
	{"get", browserGet},
	{"post", "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789"},
	{"chunked", "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"},
	{"http10", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"},
	{"absolute", "GET http://www.example/x HTTP/1.1\r\nHost: y\r\n\r\n"},
}

// TestAllocations serves thousands of requests on one connection: what a
// request allocates shows above what the connection itself does.
func TestAllocations(t *testing.T) {
	for _, tc := range loopRequests {
		t.Run(tc.name, func(t *testing.T) {
			s, slot := newQuickServer(t, io.Discard)
			const n = 2000
			allocs := testing.AllocsPerRun(3, func() {
				c := &loop{request: []byte(tc.raw), n: n}
				s.ServeConn(c, &scoreboard.Seat{Slot: slot})
				if c.n != 0 || c.wrote < n*387 {
					t.Fatalf("%d requests left, %d bytes written", c.n, c.wrote)
				}
			})
			// A change of the second makes a new Date line.
			if allocs > 100 {
				t.Errorf("%v allocations for %d requests", allocs, n)
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, tc := range loopRequests {
		b.Run(tc.name, func(b *testing.B) {
			s, slot := newQuickServer(b, nil)
			b.ReportAllocs()
			s.ServeConn(&loop{request: []byte(tc.raw), n: b.N}, &scoreboard.Seat{Slot: slot})
		})
	}
	b.Run("logged", func(b *testing.B) {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		s, slot := newQuickServer(b, f)
		b.ReportAllocs()
		s.ServeConn(&loop{request: []byte(browserGet), n: b.N}, &scoreboard.Seat{Slot: slot})
	})
}

func BenchmarkScanHead(b *testing.B) {
	raw := []byte(browserGet)
	lim := limits{line: 8190, fields: 100, field: 8190}
	var h head
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		h.reset()
		if n, _, _ := h.scan(raw, lim); n != len(raw) {
			b.Fatal(n)
		}
	}
}

func BenchmarkChunkedBody(b *testing.B) {
	const piece = 8000
	raw := []byte("1f40\r\n" + repeat("x", piece) + "\r\n")
	in := &input{timeout: 0}
	in.reset(&loop{request: raw, n: 1 << 62}, 0)
	c := chunked{in: in}
	p := make([]byte, 8192)
	b.ReportAllocs()
	b.SetBytes(piece)
	for b.Loop() {
		for left := piece; left > 0; {
			n, err := c.Read(p)
			if err != nil {
				b.Fatal(err)
			}
			left -= n
		}
	}
}
