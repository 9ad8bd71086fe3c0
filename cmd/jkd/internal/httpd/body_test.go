//go:build unix

package httpd

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jkd/connector"
)

// outcome is how a worker's reading of a body ended.
type outcome struct {
	body string
	err  error
}

// reader is a worker that reads the body, reports the outcome and answers.
func reader(ch chan<- outcome) serveFunc {
	return func(r *connector.Request, w connector.ResponseWriter) error {
		b, err := io.ReadAll(r.Body)
		ch <- outcome{string(b), err}
		if err != nil {
			return serviceError(err)
		}
		return reply(w, 200, string(b))
	}
}

func get[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

func TestBodies(t *testing.T) {
	big := repeat("0123456789abcdef", 20000)
	chunkedBig := fmt.Sprintf("%x\r\n%s\r\n1\r\nx\r\n0\r\n\r\n", len(big), big)
	for _, tc := range []struct {
		name, fields, body, want string
		length                   int64
	}{
		{"none", "", "", "", 0},
		{"length", "Content-Length: 5\r\n", "hello", "hello", 5},
		{"long length", "Content-Length: " + itoa(len(big)) + "\r\n", big, big, int64(len(big))},
		{"no chunks", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", "", -1},
		{"chunks", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world", -1},
		{"hex in both cases", "Transfer-Encoding: chunked\r\n", "a\r\n0123456789\r\nB\r\n0123456789a\r\n00\r\n\r\n", "01234567890123456789a", -1},
		{"leading zeros", "Transfer-Encoding: chunked\r\n", "0005\r\nhello\r\n000\r\n\r\n", "hello", -1},
		{"extensions", "Transfer-Encoding: chunked\r\n", "5;a=b;c=\"d\"\r\nhello\r\n0;last\r\n\r\n", "hello", -1},
		{"padded size", "Transfer-Encoding: chunked\r\n", "5  \r\nhello\r\n0\r\n\r\n", "hello", -1},
		{"trailers", "Transfer-Encoding: chunked\r\nTrailer: X\r\n", "5\r\nhello\r\n0\r\nX: y\r\nZ: w\r\n\r\n", "hello", -1},
		{"big chunk", "Transfer-Encoding: chunked\r\n", chunkedBig, big + "x", -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				s := start(t, kind, defaults(), echo)
				c := s.dial()
				go func() { // as a client that reads only afterwards could block
					_, _ = io.WriteString(c.TCPConn, "POST / HTTP/1.1\r\nHost: x\r\n"+tc.fields+"\r\n"+tc.body)
				}()
				if got := c.want(200).body; got != tc.want {
					t.Errorf("got %d bytes, want %d", len(got), len(tc.want))
				}
				c.open() // the next request begins where the body ended
				reqs := s.worker.requests()
				if reqs[0].ContentLength != tc.length {
					t.Errorf("ContentLength %d, want %d", reqs[0].ContentLength, tc.length)
				}
				for _, f := range reqs[0].Fields {
					if strings.HasPrefix(f, "X:") || strings.HasPrefix(f, "Trailer") {
						t.Errorf("the worker saw %s", f)
					}
				}
			})
		})
	}
}

// TestBadChunks has bodies that break the rules: the worker gets a
// ClientError, never the end of the body, and nothing behind them is served.
func TestBadChunks(t *testing.T) {
	for _, tc := range []struct{ name, body string }{
		{"no size", "\r\nhello\r\n0\r\n\r\n"},
		{"size with letters", "5g\r\nhello\r\n0\r\n\r\n"},
		{"size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"},
		{"negative size", "-5\r\nhello\r\n0\r\n\r\n"},
		{"plus", "+5\r\nhello\r\n0\r\n\r\n"},
		{"blank before size", " 5\r\nhello\r\n0\r\n\r\n"},
		{"size of 2^64", "10000000000000005\r\nhello\r\n0\r\n\r\n"},
		{"size of 2^63", "8000000000000000\r\nhello\r\n0\r\n\r\n"},
		{"size ended by LF", "5\nhello\r\n0\r\n\r\n"},
		{"size ended by CR", "5\rhello\r\n0\r\n\r\n"},
		{"LF in extension", "5;a\nhello\r\n0\r\n\r\n"},
		{"chunk ended by LF", "5\r\nhello\n0\r\n\r\n"},
		{"chunk too long", "5\r\nhello!\r\n0\r\n\r\n"},
		{"chunk too short", "5\r\nhell\r\n0\r\n\r\n"},
		{"last chunk ended by LF", "5\r\nhello\r\n0\n\n"},
		{"endless extension", "5;" + repeat("a", 70000)},
		{"endless trailer", "0\r\nA: " + repeat("a", 200000)},
		{"bare LF in trailer", "0\r\nA: b\nC: d\r\n\r\n"},
		{"bare LF behind last chunk", "0\r\n\n"},
		{"control byte in extension", "5;a\x00\r\nhello\r\n0\r\n\r\n"},
		{"many trailer fields", "0\r\n" + repeat("A: b\r\n", 101) + "\r\n"},
		{"much extension in many chunks", repeat("1;"+repeat("a", 2000)+"\r\na\r\n", 10) + "0\r\n\r\n"},
		{"folded trailer", "0\r\nA: b\r\n c\r\n\r\n"},
		{"trailer without colon", "0\r\nA\r\n\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				ch := make(chan outcome, 10)
				s := start(t, kind, defaults(), reader(ch))
				c := s.dial()
				go func() {
					_, _ = io.WriteString(c.TCPConn, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"+
						tc.body+"GET /behind HTTP/1.1\r\nHost: x\r\n\r\n")
				}()
				out := get(t, ch)
				var ce *connector.ClientError
				if !errors.As(out.err, &ce) || ce.Status != 400 {
					t.Fatalf("the worker read %q, %v; want a ClientError with 400", out.body, out.err)
				}
				if a := c.answer("POST"); a.StatusCode != 400 || !a.Close {
					t.Errorf("the client got %d, close %v", a.StatusCode, a.Close)
				}
				c.ended()
				if n := len(s.worker.requests()); n != 1 {
					t.Errorf("%d requests, want 1", n)
				}
			})
		})
	}
}

// TestCutUploads has clients leave in the middle of their body.
func TestCutUploads(t *testing.T) {
	for _, tc := range []struct{ name, raw string }{
		{"length", "Content-Length: 100000\r\n\r\n" + repeat("a", 50000)},
		{"chunk", "Transfer-Encoding: chunked\r\n\r\n186a0\r\n" + repeat("a", 50000)},
		{"between chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"},
		{"in chunk size", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1"},
		{"in zero size", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0"},
		{"behind zero size", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"},
		{"in trailer", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n"},
	} {
		for _, how := range []string{"FIN", "RST"} {
			t.Run(tc.name+" "+how, func(t *testing.T) {
				kinds(t, func(t *testing.T, kind string) {
					ch := make(chan outcome, 10)
					s := start(t, kind, defaults(), reader(ch))
					c := s.dial()
					c.send("POST / HTTP/1.1\r\nHost: x\r\n" + tc.raw)
					// Before the reset there must be a request, or it takes
					// the head away with it.
					eventually(t, "request", func() bool { return len(s.worker.requests()) == 1 })
					if how == "RST" {
						_ = c.SetLinger(0)
						_ = c.Close()
					} else {
						_ = c.CloseWrite()
					}
					out := get(t, ch)
					var ce *connector.ClientError
					if !errors.As(out.err, &ce) {
						t.Fatalf("the worker read %d bytes, %v; want a ClientError", len(out.body), out.err)
					}
					if how == "FIN" {
						c.want(400)
						c.ended()
					}
				})
			})
		}
	}
}

func TestSlowBody(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		for _, raw := range []string{"Content-Length: 10\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\na\r\nhello"} {
			ch := make(chan outcome, 1)
			o := defaults()
			o.TimeOut = 50 * time.Millisecond
			s := start(t, kind, o, reader(ch))
			c := s.dial()
			c.send("POST / HTTP/1.1\r\nHost: x\r\n" + raw)
			out := get(t, ch)
			var ce *connector.ClientError
			if !errors.As(out.err, &ce) || ce.Status != 408 || out.body != "hello" {
				t.Fatalf("the worker read %q, %v", out.body, out.err)
			}
			if a := c.answer("POST"); a.StatusCode != 408 || !a.Close {
				t.Errorf("the client got %d, close %v", a.StatusCode, a.Close)
			}
			c.ended()
		}
	})
}

func TestSlowHead(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		o := defaults()
		o.TimeOut = 50 * time.Millisecond
		s := start(t, kind, o, hello)
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHo")
		if a := c.answer("GET"); a.StatusCode != 408 || !a.Close {
			t.Errorf("the client got %d, close %v", a.StatusCode, a.Close)
		}
		c.ended()
		s.dial().ended() // who says nothing is told nothing
	})
}

// clocked notes the read deadlines it is given.
type clocked struct {
	loop
	deadlines []time.Time
}

func (c *clocked) SetReadDeadline(t time.Time) error {
	c.deadlines = append(c.deadlines, t)
	return nil
}

// TestTimeOutIsPerWait has reads happen at several times of one TimeOut: each
// has nearly all of it.
func TestTimeOutIsPerWait(t *testing.T) {
	const timeout = time.Hour
	c := &clocked{loop: loop{request: []byte("x"), n: 1 << 30}}
	var in input
	in.reset(c, timeout)
	read := func(used time.Duration, deadlines int) {
		t.Helper()
		if !in.until.IsZero() {
			in.until = time.Now().Add(timeout - used) // as if so much had passed
		}
		if _, err := in.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if len(c.deadlines) != deadlines {
			t.Fatalf("%d deadlines were set, want %d", len(c.deadlines), deadlines)
		}
		if left := time.Until(in.until); left < timeout*7/8 || left > timeout {
			t.Fatalf("%v left for a wait", left)
		}
	}
	read(0, 1)
	read(time.Minute, 1) // not worth it
	read(timeout/2, 2)
	read(timeout, 3)
	in.idle, in.idleTimeout = true, time.Minute
	if _, err := in.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	read(0, 4) // ReadIdle's own is not in force any more
}

const expecting = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"

func TestContinue(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		for _, tc := range []struct{ name, framing, body string }{
			{"length", "Content-Length: 5\r\n\r\n", "hello"},
			{"chunked", "Transfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				gate := make(chan struct{})
				s := start(t, kind, defaults(), func(r *connector.Request, w connector.ResponseWriter) error {
					<-gate // only reading sends it
					return echo(r, w)
				})
				c := s.dial()
				c.send(expecting + tc.framing)
				eventually(t, "request", func() bool { return len(s.worker.requests()) == 1 })
				_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
				if b, err := c.br.ReadByte(); err == nil {
					t.Fatalf("the client got %q before anyone read the body", b)
				}
				_ = c.SetReadDeadline(time.Now().Add(patience))
				close(gate)
				if got := c.head(); got != "HTTP/1.1 100 Continue\r\n\r\n" {
					t.Fatalf("got %q", got)
				}
				c.send(tc.body)
				if got := c.want(200).body; got != "hello" {
					t.Errorf("got %q", got)
				}
				c.open() // and no second 100
			})
		}
	})
}

func TestNoContinue(t *testing.T) {
	early := func(r *connector.Request, w connector.ResponseWriter) error { return reply(w, 403, "no") }
	late := func(r *connector.Request, w connector.ResponseWriter) error {
		if err := w.Start(200, nil); err != nil {
			return serviceError(err)
		}
		if err := w.Flush(); err != nil {
			return serviceError(err)
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return serviceError(err)
		}
		if err := w.Append(b); err != nil {
			return serviceError(err)
		}
		if err := w.Finish(); err != nil {
			return serviceError(err)
		}
		return nil
	}
	kinds(t, func(t *testing.T, kind string) {
		for _, tc := range []struct {
			name, raw string
			serve     serveFunc
			status    int
			body      string
		}{
			{"answer first", expecting + "Content-Length: 5\r\n\r\n", early, 403, "no"},
			{"answer first, chunked", expecting + "Transfer-Encoding: chunked\r\n\r\n", early, 403, "no"},
			{"answer first, then read", expecting + "Content-Length: 5\r\n\r\nhello", late, 200, "hello"},
			{"1.0", "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello", echo, 200, "hello"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				s := start(t, kind, defaults(), tc.serve)
				c := s.dial()
				c.send(tc.raw)
				a := c.want(tc.status) // ReadResponse would return a 100
				if a.body != tc.body || !a.Close {
					t.Errorf("got %q, close %v", a.body, a.Close)
				}
				c.ended()
			})
		}
		t.Run("no body to wait for", func(t *testing.T) {
			s := start(t, kind, defaults(), echo)
			c := s.dial()
			c.send(expecting + "Content-Length: 0\r\n\r\n")
			c.want(200)
			c.open()
		})
	})
}

func TestLimitRequestBody(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		o := defaults()
		o.LimitRequestBody = 10
		s := start(t, kind, o, echo)
		c := s.dial()
		c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789")
		c.want(200)
		c.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n")
		c.want(200)
		c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n0123456789a")
		c.want(413)
		c.ended()
		if n := len(s.worker.requests()); n != 2 {
			t.Errorf("the worker saw %d requests, want 2", n)
		}
		c = s.dial()
		c.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n")
		c.want(413)
		c.ended()
		c = s.dial()
		c.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n")
		c.want(413) // and no 100
		c.ended()
	})
}

// TestUnreadUpload has answers come before uploads that nobody wants, from
// clients that go on sending for a while: they get all of the answer.
func TestUnreadUpload(t *testing.T) {
	page := repeat("answer ", 5000)
	for _, tc := range []struct{ name, head string }{
		{"length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n"},
		{"close", "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 10000000\r\n\r\n"},
		{"1.0", "POST / HTTP/1.0\r\nContent-Length: 10000000\r\n\r\n"},
		{"chunked", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n989680\r\n"},
		{"refused", "POST / HTTP/1.1\r\nHost: x\r\nBad\r\nContent-Length: 10000000\r\n\r\n"},
		{"unmapped", "POST /unmapped HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				s := start(t, kind, defaults(), func(_ *connector.Request, w connector.ResponseWriter) error {
					return reply(w, 401, page)
				})
				c := s.dial()
				c.send(tc.head)
				done := make(chan struct{})
				var stop atomic.Bool
				go func() {
					defer close(done)
					b := make([]byte, 1000)
					for i := 0; i < 10000 && !stop.Load(); i++ {
						if _, err := c.Write(b); err != nil {
							return
						}
						time.Sleep(100 * time.Microsecond)
					}
				}()
				a := c.answer("POST")
				if a.StatusCode == 401 && a.body != page || a.err != nil || !a.Close || a.StatusCode < 400 {
					t.Errorf("status %d, %d bytes of %d, %v", a.StatusCode, len(a.body), len(page), a.err)
				}
				stop.Store(true)
				<-done
				c.ended()
			})
		})
	}
}

// TestLingerIsBounded has clients that never stop sending, a byte at a time or
// not at all: the connection ends nevertheless.
func TestLingerIsBounded(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		t.Parallel()
		for _, pause := range []time.Duration{time.Millisecond, patience} {
			s := start(t, kind, defaults(), hello)
			c := s.dial()
			c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n")
			c.want(200)
			quit := make(chan struct{})
			go func() {
				for {
					select {
					case <-quit:
						return
					case <-time.After(pause):
					}
					if _, err := c.Write([]byte{'a'}); err != nil {
						return
					}
				}
			}()
			c.ended() // our side is ended at once
			v := s.watch()
			eventually(t, "slot left", func() bool { return v().Status.Letter() == '_' })
			close(quit)
		}
	})
}

// TestPartlyReadBody reads all of one body and a part of the next: only the
// first leaves the connection usable.
func TestPartlyReadBody(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, defaults(), func(r *connector.Request, w connector.ResponseWriter) error {
			_, _ = io.ReadFull(r.Body, make([]byte, 3))
			return reply(w, 200, "x")
		})
		c := s.dial()
		c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
		c.want(200)
		c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nabcGET /evil HTTP/1.1\r\nHost: x\r\n\r\n")
		if a := c.want(200); !a.Close {
			t.Error("kept with half a body unread")
		}
		c.ended()
		if n := len(s.worker.requests()); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

// TestEarlyAnswerDuringUpload streams both ways at once.
func TestEarlyAnswerDuringUpload(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, defaults(), func(r *connector.Request, w connector.ResponseWriter) error {
			if err := w.Start(200, nil); err != nil {
				return serviceError(err)
			}
			b := make([]byte, 100)
			for {
				n, err := r.Body.Read(b)
				if err := errors.Join(w.Append(b[:n]), w.Flush()); err != nil {
					return serviceError(err)
				}
				if err == io.EOF {
					break
				}
				if err != nil {
					return serviceError(err)
				}
			}
			if err := w.Finish(); err != nil {
				return serviceError(err)
			}
			return nil
		})
		c := s.dial()
		c.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n")
		var res *http.Response
		for i := range 3 {
			c.send(repeat(itoa(i), 10))
			if i == 0 {
				var err error
				if res, err = http.ReadResponse(c.br, nil); err != nil {
					t.Fatal(err)
				}
			}
			b := make([]byte, 10)
			if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != repeat(itoa(i), 10) {
				t.Fatalf("got %q, %v", b, err)
			}
		}
		if b, err := io.ReadAll(res.Body); len(b) > 0 || err != nil {
			t.Errorf("rest %q, %v", b, err)
		}
		c.ended() // the body was unread when the head went out
	})
}

// TestClosePipelined ends a connection while more requests are on the way: the
// last answer must survive.
func TestClosePipelined(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		page := repeat("x", 300000)
		for range 20 {
			gate := make(chan struct{})
			s := start(t, kind, defaults(), func(_ *connector.Request, w connector.ResponseWriter) error {
				<-gate
				return reply(w, 200, page)
			})
			c := s.dial()
			c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			eventually(t, "request", func() bool { return len(s.worker.requests()) == 1 })
			c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") // in the kernel, not in our buffer
			close(gate)
			time.Sleep(5 * time.Millisecond)
			if a := c.want(200); a.body != page {
				t.Fatal("incomplete")
			}
			if _, err := c.rest(); err != nil {
				t.Fatalf("after the answer: %v", err)
			}
		}
	})
}

// trickle always has a byte ready before a wait would become visible, so that
// its deadline is never looked at.
type trickle struct{ loop }

func (*trickle) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	p[0] = 'a'
	return 1, nil
}

func TestLingerEndsUnderATrickle(t *testing.T) {
	s, _ := newQuickServer(t, nil)
	ss := newSession(s)
	ss.conn = &trickle{}
	ss.in.reset(ss.conn, time.Minute)
	done := make(chan struct{})
	go func() { ss.linger(); close(done) }()
	get(t, done)
}
