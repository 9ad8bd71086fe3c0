//go:build unix

package httpd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"jkd/connector"
)

// plain is the head of an answer without Date and Server, of which it must
// have one each, and the rest of what the client got.
func plain(t *testing.T, got string) (head, body string) {
	t.Helper()
	head, body, ok := strings.Cut(got, "\r\n\r\n")
	if !ok {
		t.Fatalf("no end of head in %q", got)
	}
	var kept []string
	count := map[string]int{}
	for _, l := range strings.Split(head, "\r\n") {
		name, value, _ := strings.Cut(l, ": ")
		switch name {
		case "Date":
			if _, err := time.Parse(http.TimeFormat, value); err != nil {
				t.Errorf("Date: %v", err)
			}
			count[name]++
			continue
		case "Server":
			count[name]++
			continue
		}
		kept = append(kept, l)
	}
	if count["Date"] != 1 || count["Server"] != 1 {
		t.Errorf("not one Date and one Server in %q", head)
	}
	return strings.Join(kept, "\n"), body
}

// script makes a serveFunc of the steps of an answer.
func script(status int, lines []string, steps ...string) serveFunc {
	return func(_ *connector.Request, w connector.ResponseWriter) error {
		if err := w.Start(status, fields(lines...)); err != nil {
			return serviceError(err)
		}
		for _, st := range steps {
			var err error
			switch st {
			case "FLUSH":
				err = w.Flush()
			case "FAIL":
				return &connector.Error{Worker: "fake", Op: "read reply", Status: 502, Err: errors.New("broken")}
			default:
				err = w.Append([]byte(st))
			}
			if err != nil {
				return serviceError(err)
			}
		}
		if err := w.Finish(); err != nil {
			return serviceError(err)
		}
		return nil
	}
}

func TestAnswers(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	const closing = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	const head = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
	const old = "GET / HTTP/1.0\r\n\r\n"
	const oldKept = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"
	for _, tc := range []struct {
		name, raw string
		serve     serveFunc
		head      string
		body      string // as on the wire
	}{
		{"length passed", get, script(200, []string{"Content-Length: 5"}, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5", "hello"},
		{"length passed, flushed", get, script(200, []string{"content-length: 5"}, "FLUSH", "he", "FLUSH", "llo"),
			"HTTP/1.1 200 OK\nContent-Length: 5", "hello"},
		{"length computed", get, script(200, nil, "hel", "lo"),
			"HTTP/1.1 200 OK\nContent-Length: 5", "hello"},
		{"nothing at all", get, script(200, nil),
			"HTTP/1.1 200 OK\nContent-Length: 0", ""},
		{"chunked", get, script(200, nil, "hel", "lo", "FLUSH", repeat("x", 17)),
			"HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "5\r\nhello\r\n11\r\n" + repeat("x", 17) + "\r\n0\r\n\r\n"},
		{"chunked, flushed at once", get, script(200, nil, "FLUSH", "FLUSH", "hello", "FLUSH"),
			"HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"},
		{"chunked, empty", get, script(200, nil, "FLUSH"),
			"HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "0\r\n\r\n"},
		{"close", closing, script(200, nil, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close", "hello"},
		{"chunked and close", closing, script(200, nil, "FLUSH", "hello"),
			"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\nConnection: close", "5\r\nhello\r\n0\r\n\r\n"},
		{"1.0", old, script(200, nil, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close", "hello"},
		{"1.0 without length", old, script(200, nil, "hel", "FLUSH", "lo"),
			"HTTP/1.1 200 OK\nConnection: close", "hello"},
		{"1.0 kept", oldKept, script(200, nil, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5\nKeep-Alive: timeout=40, max=99\nConnection: Keep-Alive", "hello"},
		{"1.0 kept, without length", oldKept, script(200, nil, "hel", "FLUSH", "lo"),
			"HTTP/1.1 200 OK\nConnection: close", "hello"},
		{"1.0 kept and closed", "GET / HTTP/1.0\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n", script(200, nil, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5\nConnection: close", "hello"},
		{"1.1 with the token", "GET / HTTP/1.1\r\nHost: x\r\nConnection: Keep-Alive\r\n\r\n", script(200, nil, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5\nKeep-Alive: timeout=40, max=99\nConnection: Keep-Alive", "hello"},

		{"HEAD", head, script(200, []string{"Content-Length: 5"}),
			"HTTP/1.1 200 OK\nContent-Length: 5", ""},
		{"HEAD with a body", head, script(200, []string{"Content-Length: 5"}, "hello", "FLUSH", "more than it should be"),
			"HTTP/1.1 200 OK\nContent-Length: 5", ""},
		{"HEAD without length", head, script(200, nil, "hello", "FLUSH", "x"),
			"HTTP/1.1 200 OK", ""},
		{"HEAD 404", head, script(404, []string{"Content-Length: 700"}, "FLUSH"),
			"HTTP/1.1 404 Not Found\nContent-Length: 700", ""},
		{"204", get, script(204, []string{"Content-Length: 5"}, "hello", "FLUSH"),
			"HTTP/1.1 204 No Content", ""},
		{"304", get, script(304, []string{"Content-Length: 5", "ETag: \"x\""}, "hello"),
			"HTTP/1.1 304 Not Modified\nETag: \"x\"", ""},
		{"205", get, script(205, []string{"Content-Length: 5"}, "hello"),
			"HTTP/1.1 205 Reset Content\nContent-Length: 0", ""},
		{"205 flushed", get, script(205, nil, "FLUSH", "hello"),
			"HTTP/1.1 205 Reset Content\nContent-Length: 0", ""},

		{"status 299", get, script(299, nil), "HTTP/1.1 299 Status\nContent-Length: 0", ""},
		{"status 999", get, script(999, nil), "HTTP/1.1 999 Status\nContent-Length: 0", ""},
		{"hop-by-hop dropped", get, script(200, []string{"A: 1", "Connection: close, A", "keep-alive: timeout=9", "Transfer-Encoding: chunked",
			"Upgrade: h2c", "Trailer: T", "TE: t", "Proxy-Connection: x", "B: 2"}, "hello"),
			"HTTP/1.1 200 OK\nA: 1\nB: 2\nContent-Length: 5", "hello"},
		{"bad length", get, script(200, []string{"Content-Length: +5"}, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5", "hello"},
		{"bad length, flushed", get, script(200, []string{"Content-Length: 5, 5"}, "hel", "FLUSH", "lo"),
			"HTTP/1.1 200 OK\nTransfer-Encoding: chunked", "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"},
		{"two lengths", get, script(200, []string{"Content-Length: 5", "Content-Length: 6"}, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5", "hello"},
		{"two equal lengths", get, script(200, []string{"Content-Length: 5", "Content-Length: 5"}, "hello"),
			"HTTP/1.1 200 OK\nContent-Length: 5", "hello"},
		{"cookies in order", get, script(200, []string{"Set-Cookie: a=1", "X: y", "set-cookie: b=2", "Set-Cookie: c=3"}),
			"HTTP/1.1 200 OK\nSet-Cookie: a=1\nX: y\nset-cookie: b=2\nSet-Cookie: c=3\nContent-Length: 0", ""},
		{"Date and Server of the container", get, script(200, []string{"Date: Sun, 06 Nov 1994 08:49:37 GMT", "Server: Apache-Coyote/1.1",
			"server: again", "date: Sun, 06 Nov 1994 08:49:38 GMT"}),
			"HTTP/1.1 200 OK\nContent-Length: 0", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				o := defaults()
				o.MaxKeepAliveRequests = 100
				s := start(t, kind, o, tc.serve)
				c := s.dial()
				c.send(tc.raw)
				kept := !strings.Contains(tc.head, "Connection: close")
				var got string
				var err error
				if kept {
					// What follows at once is the answer to the next request.
					c.send("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
					if got, err = c.rest(); err != nil {
						t.Fatal(err)
					}
					i := strings.LastIndex(got, "HTTP/1.1 200 OK\r\nAllow: ")
					if i < 0 {
						t.Fatalf("no second answer in %q", got)
					}
					got = got[:i]
				} else if got, err = c.rest(); err != nil {
					t.Fatal(err)
				}
				head, body := plain(t, got)
				if head != tc.head {
					t.Errorf("head\n%s\nwant\n%s", head, tc.head)
				}
				if body != tc.body {
					t.Errorf("body %q, want %q", body, tc.body)
				}
			})
		})
	}
}

func TestErrorPages(t *testing.T) {
	fail := func(status int) serveFunc {
		return func(*connector.Request, connector.ResponseWriter) error {
			return &connector.Error{Worker: "fake", Addr: "127.0.0.1:8009", Op: "connect", Status: status, Err: errors.New("secret detail")}
		}
	}
	for _, tc := range []struct {
		name, path string
		serve      serveFunc
		status     int
	}{
		{"unmapped", "/unmapped", hello, 404},
		{"500", "/", fail(500), 500},
		{"502", "/", fail(502), 502},
		{"503", "/", fail(503), 503},
		{"504", "/", fail(504), 504},
		{"no status", "/", fail(0), 502},
		{"good status", "/", fail(204), 502},
		{"any error", "/", func(*connector.Request, connector.ResponseWriter) error { return io.ErrUnexpectedEOF }, 502},
		{"nothing done", "/", func(*connector.Request, connector.ResponseWriter) error { return nil }, 502},
		{"started only", "/", func(_ *connector.Request, w connector.ResponseWriter) error { return w.Start(200, nil) }, 502},
		{"failed after start", "/", script(200, []string{"Content-Length: 5", "Set-Cookie: a=1"}, "hel", "FAIL"), 502},
		{"too short", "/", script(200, []string{"Content-Length: 5"}, "hell"), 502},
		{"too long", "/", script(200, []string{"Content-Length: 5"}, "hello", "!"), 502},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kinds(t, func(t *testing.T, kind string) {
				s := start(t, kind, defaults(), tc.serve)
				c := s.dial()
				c.send("GET " + tc.path + " HTTP/1.1\r\nHost: x\r\n\r\n")
				a := c.want(tc.status)
				if !strings.Contains(a.body, http.StatusText(tc.status)) || a.Header.Get("Content-Type") != "text/html; charset=utf-8" {
					t.Errorf("page %q, %v", a.body, a.Header)
				}
				if strings.Contains(a.body, "secret") || a.Header.Get("Set-Cookie") != "" || a.ContentLength != int64(len(a.body)) {
					t.Errorf("page %q, %v", a.body, a.Header)
				}
				c.send("HEAD " + tc.path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				status := tc.status
				if tc.name == "too short" || tc.name == "too long" { // nothing wrong with a HEAD
					status = 200
				}
				if a := c.answer("HEAD"); a.StatusCode != status || a.body != "" {
					t.Errorf("HEAD: %d %q", a.StatusCode, a.body)
				}
				c.ended()
				lines := strings.Count(s.log.String(), "\n")
				want := 2
				if status == 200 {
					want = 1
				}
				if lines != want {
					t.Errorf("%d log lines, want %d: %s", lines, want, s.log)
				}
			})
		})
	}
}

// TestCutAnswers has answers fail when the client has seen a part of them: it
// must be able to tell.
func TestCutAnswers(t *testing.T) {
	for _, tc := range []struct {
		name  string
		serve serveFunc
	}{
		{"error", script(200, nil, "hello", "FLUSH", "more", "FAIL")},
		{"error with length", script(200, []string{"Content-Length: 50"}, "hello", "FLUSH", "FAIL")},
		{"error at once", script(200, nil, "FLUSH", "FAIL")},
		{"too short", script(200, []string{"Content-Length: 50"}, "hello", "FLUSH", "more")},
		{"too long", script(200, []string{"Content-Length: 7"}, "hello", "FLUSH", "more")},
		{"5e9 announced", script(200, []string{"Content-Length: 5000000000"}, "hello", "FLUSH", "FAIL")},
		{"not finished", func(_ *connector.Request, w connector.ResponseWriter) error {
			return errors.Join(w.Start(200, nil), w.Append([]byte("hello")), w.Flush())
		}},
	} {
		for _, raw := range []string{
			"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET / HTTP/1.0\r\n\r\n",
			// With something left unread behind it.
			"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\nhello",
			"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		} {
			t.Run(tc.name, func(t *testing.T) {
				kinds(t, func(t *testing.T, kind string) {
					s := start(t, kind, defaults(), tc.serve)
					c := s.dial()
					c.send(raw)
					res, err := http.ReadResponse(c.br, nil)
					if err != nil {
						if errors.Is(err, syscall.ECONNRESET) {
							return // a reset may overtake all of it
						}
						t.Fatal(err)
					}
					if b, err := io.ReadAll(res.Body); err == nil {
						t.Errorf("the client takes %q for a whole answer; %+v", b, res)
					}
					if n := len(s.worker.requests()); n != 1 {
						t.Errorf("%d requests were served", n)
					}
				})
			})
		}
	}
}

// oneWrite counts the writes of a connection.
type oneWrite struct {
	Conn
	writes [][]byte
}

func (c *oneWrite) Write(p []byte) (int, error) {
	c.writes = append(c.writes, bytes.Clone(p))
	return len(p), nil
}

func (c *oneWrite) WriteBuffers(v [][]byte) (int64, error) {
	b := bytes.Join(v, nil)
	c.writes = append(c.writes, b)
	return int64(len(b)), nil
}
func (c *oneWrite) SetWriteDeadline(time.Time) error { return nil }

func newResponse(c Conn) *response {
	w := &response{date: &dateCache{}, mayKeep: func() bool { return true }, keepAlive: func(b []byte) []byte { return b }}
	w.reset(c, time.Minute)
	return w
}

func TestSmallAnswerIsOneWrite(t *testing.T) {
	c := &oneWrite{}
	w := newResponse(c)
	w.begin(false, false, true, false)
	if err := script(200, []string{"Date: d", "Server: s", "A: b"}, "hel", "lo")(nil, w); err != nil {
		t.Fatal(err)
	}
	want := "HTTP/1.1 200 OK\r\nDate: d\r\nServer: s\r\nA: b\r\nContent-Length: 5\r\n\r\nhello"
	if len(c.writes) != 1 || string(c.writes[0]) != want {
		t.Errorf("%q\nwant %q", c.writes, want)
	}
	w.begin(false, false, true, false)
	c.writes = nil
	if err := script(200, nil, repeat("x", 100000), "tail")(nil, w); err != nil {
		t.Fatal(err)
	}
	if len(c.writes) != 1 || !strings.HasSuffix(string(c.writes[0]), "xxxtail") {
		t.Errorf("%d writes", len(c.writes))
	}
}

// TestPieces gives a response pieces of random sizes, with flushes between
// them, and compares what a client makes of it.
func TestPieces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	sizes := []int{0, 1, 7, 100, copyLimit - 1, copyLimit, copyLimit + 1, smallSize, 8000, 70000}
	c := &oneWrite{}
	w := newResponse(c)
	for round := range 2000 {
		c.writes = nil
		http10, known := rnd.IntN(4) == 0, rnd.IntN(3) == 0
		var pieces [][]byte
		var whole []byte
		for range rnd.IntN(12) {
			p := make([]byte, sizes[rnd.IntN(len(sizes))])
			for i := range p {
				p[i] = byte(rnd.Uint32())
			}
			pieces, whole = append(pieces, p), append(whole, p...)
		}
		w.begin(false, http10, !http10, false)
		var f []connector.Field
		if known {
			f = fields("Content-Length: " + itoa(len(whole)))
		}
		if err := w.Start(200, f); err != nil {
			t.Fatal(err)
		}
		buffered := 1
		for _, p := range pieces {
			if err := w.Append(p); err != nil {
				t.Fatal(err)
			}
			if buffered += len(p); w.Buffered() != buffered {
				t.Fatalf("Buffered %d, want %d", w.Buffered(), buffered)
			}
			if rnd.IntN(3) == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				if buffered = 0; w.Buffered() != 0 {
					t.Fatalf("Buffered %d after Flush", w.Buffered())
				}
				for i := range p { // it is the caller's again
					p[i] = 0
				}
			}
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		wire := bytes.Join(c.writes, nil)
		res, err := http.ReadResponse(newReader(wire), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || !bytes.Equal(got, whole) {
			t.Fatalf("round %d: %d bytes of %d, %v", round, len(got), len(whole), err)
		}
		if w.out != int64(len(whole)) {
			t.Fatalf("counted %d of %d bytes", w.out, len(whole))
		}
	}
}

func TestKeepAliveLimits(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		o := defaults()
		o.MaxKeepAliveRequests, o.KeepAliveTimeout = 3, 1500*time.Millisecond
		s := start(t, kind, o, hello)
		c := s.dial()
		for i := range 3 {
			c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
			a := c.want(200)
			want := fmt.Sprintf("timeout=2, max=%d", 2-i)
			if i == 2 {
				want = ""
			}
			if a.Close != (i == 2) || a.Header.Get("Keep-Alive") != want {
				t.Errorf("request %d: close %v, Keep-Alive %q, want %q", i, a.Close, a.Header.Get("Keep-Alive"), want)
			}
		}
		c.ended()
	})
}

func TestNoKeepAlive(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		for name, set := range map[string]func(*Options){
			"KeepAlive Off":      func(o *Options) { o.KeepAlive = false },
			"KeepAliveTimeout 0": func(o *Options) { o.KeepAliveTimeout = 0 },
			"stopping":           func(o *Options) { o.Stopping = func() bool { return true } },
		} {
			t.Run(name, func(t *testing.T) {
				o := defaults()
				set(&o)
				s := start(t, kind, o, hello)
				c := s.dial()
				c.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")
				if a := c.want(200); !a.Close || a.Header.Get("Keep-Alive") != "" {
					t.Errorf("close %v, %v", a.Close, a.Header)
				}
				c.ended()
			})
		}
	})
}

func TestKeepAliveTimeout(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		o := defaults()
		o.KeepAliveTimeout = 30 * time.Millisecond
		s := start(t, kind, o, hello)
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		c.want(200)
		c.ended()
		// It is for the pause between requests only.
		c = s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT")
		c.want(200)
		time.Sleep(100 * time.Millisecond)
		c.send("TP/1.1\r\nHost: x\r\n\r\n")
		c.want(200)
		c.ended()
	})
}

// TestWoken tells the process to leave: the idle connection is served once more,
// the one that has sent nothing yet too, and the one with a request finishes it;
// all are told that this was all.
func TestWoken(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		gate := make(chan struct{})
		s := start(t, kind, defaults(), func(r *connector.Request, w connector.ResponseWriter) error {
			if string(r.Path) == "/wait" {
				<-gate
			}
			return hello(r, w)
		})
		idle, busy, fresh := s.dial(), s.dial(), s.dial()
		idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		idle.want(200)
		busy.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
		eventually(t, "request", func() bool { return len(s.worker.requests()) == 2 })
		s.leave()
		close(gate)
		for _, c := range []*client{idle, busy, fresh} {
			if c != busy {
				c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			}
			if r := c.want(200); !r.Close {
				t.Error("the answer does not say that the connection is closed")
			}
			c.ended()
		}
	})
}

// TestWokenWithRequestWaiting has the next request arrive before the order to
// leave is seen: it is served, as the answer to the first one promised.
func TestWokenWithRequestWaiting(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		gate := make(chan struct{})
		o := defaults()
		var asked atomic.Int32
		o.Stopping = func() bool { return asked.Add(1) > 1 }
		s := start(t, kind, o, func(r *connector.Request, w connector.ResponseWriter) error {
			<-gate
			return hello(r, w)
		})
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		eventually(t, "request", func() bool { return len(s.worker.requests()) == 1 })
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		s.leave()
		close(gate)
		c.want(200)
		c.want(200)
		c.ended()
	})
}

// big is a worker that sends more than all buffers hold, and reports how its
// writing ended and after how many bytes.
func big(ch chan<- error) serveFunc {
	piece := make([]byte, 64<<10)
	return func(_ *connector.Request, w connector.ResponseWriter) error {
		err := w.Start(200, nil)
		for i := 0; i < 4096 && err == nil; i++ {
			if err = w.Append(piece); err == nil {
				err = w.Flush()
			}
		}
		ch <- err
		if err != nil {
			return serviceError(err)
		}
		return w.Finish()
	}
}

func TestSlowReader(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		ch := make(chan error, 1)
		o := defaults()
		o.TimeOut = 100 * time.Millisecond
		s := start(t, kind, o, big(ch))
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		var ce *connector.ClientError
		if err := get(t, ch); !errors.As(err, &ce) || ce.Status != 408 {
			t.Errorf("the worker got %v; want a ClientError with 408", err)
		}
		if _, err := io.Copy(io.Discard, http.MaxBytesReader(nil, io.NopCloser(c.br), 1<<30)); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		if !strings.Contains(s.log.String(), `"level":"info"`) {
			t.Errorf("log: %s", s.log)
		}
	})
}

// grudging takes some bytes of every write and lets the rest run into the
// deadline.
type grudging struct {
	oneWrite
	rnd       *rand.Rand
	got       []byte
	deadlines int
	patience  int // writes until it takes nothing; below 0: for ever
}

func (c *grudging) take(b []byte) (int, error) {
	if c.patience == 0 {
		return 0, &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
	}
	c.patience--
	n := min(len(b), 1+c.rnd.IntN(50000))
	c.got = append(c.got, b[:n]...)
	if n < len(b) {
		return n, &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}
	}
	return n, nil
}

func (c *grudging) Write(p []byte) (int, error) { return c.take(p) }
func (c *grudging) WriteBuffers(v [][]byte) (int64, error) {
	n, err := c.take(bytes.Join(v, nil))
	return int64(n), err
}
func (c *grudging) SendFile(f *os.File, offset, n int64) (int64, error) {
	b := make([]byte, n)
	if _, err := f.ReadAt(b, offset); err != nil {
		return 0, err
	}
	k, err := c.take(b)
	return int64(k), err
}
func (c *grudging) SetWriteDeadline(time.Time) error { c.deadlines++; return nil }

// TestPatientReader has a client take an answer more slowly than TimeOut
// allows for all of it, but always something in time: it gets all of it.
func TestPatientReader(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		c := &grudging{rnd: rnd, patience: -1}
		w := newResponse(c)
		w.timeout = 1 // each write may need its own
		w.begin(false, false, true, false)
		var want []byte
		if err := w.Start(200, nil); err != nil {
			t.Fatal(err)
		}
		for range 1 + rnd.IntN(4) {
			p := make([]byte, 1+rnd.IntN(100000)>>rnd.IntN(8))
			for i := range p {
				p[i] = byte(rnd.Uint32())
			}
			want = append(want, p...)
			if err := w.Append(p); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(3) == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(newReader(c.got), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, want) || w.out != int64(len(want)) {
			t.Fatalf("%d of %d bytes, %d counted, %v", len(got), len(want), w.out, err)
		}
	}
}

// TestReaderThatStops takes nothing within TimeOut: that is the end.
func TestReaderThatStops(t *testing.T) {
	for _, size := range []int{100, 1 << 20} {
		c := &grudging{rnd: rand.New(rand.NewPCG(5, 6)), patience: 0}
		w := newResponse(c)
		w.begin(false, false, true, false)
		err := errors.Join(w.Start(200, nil), w.Append(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		var ce *connector.ClientError
		if err := w.Finish(); !errors.As(err, &ce) || ce.Status != 408 {
			t.Errorf("Finish = %v; want a ClientError with 408", err)
		}
		if err := w.Append(nil); !errors.As(err, &ce) {
			t.Errorf("Append after that = %v", err)
		}
		if c.deadlines != 1 {
			t.Errorf("%d deadlines were set, want 1", c.deadlines)
		}
	}
}

func TestClientGone(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		ch := make(chan error, 1)
		s := start(t, kind, defaults(), big(ch))
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := io.ReadFull(c.br, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		var ce *connector.ClientError
		if err := get(t, ch); !errors.As(err, &ce) {
			t.Errorf("the worker got %v; want a ClientError", err)
		}
	})
}

// TestEventsArriveAsFlushed reads each event before the next is sent.
func TestEventsArriveAsFlushed(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		next := make(chan string)
		s := start(t, kind, defaults(), func(_ *connector.Request, w connector.ResponseWriter) error {
			err := errors.Join(w.Start(200, nil), w.Flush())
			for ev := range next {
				err = errors.Join(err, w.Append([]byte(ev)), w.Flush())
			}
			return errors.Join(err, w.Finish())
		})
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(c.br, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			ev := "event " + itoa(i)
			next <- ev
			b := make([]byte, len(ev))
			if _, err := io.ReadFull(res.Body, b); err != nil || string(b) != ev {
				t.Fatalf("%q, %v", b, err)
			}
		}
		close(next)
		if b, err := io.ReadAll(res.Body); len(b) > 0 || err != nil {
			t.Errorf("rest %q, %v", b, err)
		}
	})
}
