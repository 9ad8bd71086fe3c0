//go:build unix

package ajp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/mpm/sock"
)

// long is how long a test waits for what must come.
const long = 10 * time.Second

// bothKinds runs a test over both kinds of socket.
func bothKinds(t *testing.T, f func(t *testing.T, dial func(addr string) *Conn)) {
	t.Helper()
	for name, dial := range map[string]sock.DialFunc{"blocking": sock.DialBlocking, "polled": sock.DialPolled} {
		t.Run(name, func(t *testing.T) {
			f(t, func(addr string) *Conn {
				t.Helper()
				nc, err := dial(netip.MustParseAddrPort(addr), sock.DialOptions{Timeout: long})
				if err != nil {
					t.Fatal(err)
				}
				c := NewConn(nc, DefaultPacketSize)
				t.Cleanup(func() { _ = c.Close() })
				return c
			})
		})
	}
}

// limits are generous ones: a test that hangs says so.
var limits = Timeouts{Reply: long, Write: long}

func TestSocketRequests(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		for _, network := range []string{"slow", "whole"} {
			ct := ajptest.New(t, func(e *ajptest.Exchange) {
				body, err := e.Body()
				if err != nil {
					return
				}
				b := append(e.Answer(200, string(body), ajptest.H("Content-Type", "text/plain")), end...)
				if network == "slow" && len(b) < 30000 {
					_ = e.SendSlowly(0, b)
				} else {
					_ = e.Send(b)
				}
			})
			c := dial(ct.Addr())
			for i, n := range []int{0, 1, 8186, 8187, 20000, 100 << 10, 0, 5} {
				for _, known := range []bool{true, false} {
					if i%2 == 0 {
						if err := c.CPing(long); err != nil {
							t.Fatal(err)
						}
					}
					body := pattern(n)
					r := post(bytes.NewReader(body), -1)
					if known {
						r.ContentLength = int64(n)
					}
					w := &recorder{}
					if err := c.Exchange(encode(r), w, limits); err != nil {
						t.Fatalf("%d bytes, known %v: %v", n, known, err)
					}
					if w.status != 200 || !bytes.Equal(w.body, body) || c.State() != Idle || !c.Usable() {
						t.Errorf("%d bytes, known %v: %d, %d bytes back, %v", n, known, w.status, len(w.body), c.State())
					}
				}
			}
			if ct.Accepted() != 1 || ct.Requests() != 16 {
				t.Errorf("%d connections, %d requests", ct.Accepted(), ct.Requests())
			}
		}
	})
}

// TestStreaming: what a container sends reaches the client although more is to
// come and nothing was flushed, on either kind of socket; with flush packets
// likewise.
func TestStreaming(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		for name, parts := range map[string][][]byte{
			"no flush":        {head200, chunkOf("one"), chunkOf("two"), chunkOf("three")},
			"flush":           {join(head200, flush), join(chunkOf("one"), bare), join(chunkOf("two"), flush)},
			"inside a packet": {head200, join(chunkOf("one"), chunkOf("two")[:6]), join(chunkOf("two")[6:], chunkOf("three"))},
		} {
			flushed := make(chan int, 100)
			w := &recorder{}
			w.onFlush = func() { flushed <- len(w.body) }
			ct := ajptest.New(t, func(e *ajptest.Exchange) {
				for _, p := range parts {
					_ = e.Send(p)
					select {
					case <-flushed:
					case <-time.After(long):
						t.Errorf("%s: held back", name)
					}
				}
				_ = e.Send(end)
			})
			c := dial(ct.Addr())
			if err := c.Exchange(get(), w, limits); err != nil || c.State() != Idle {
				t.Errorf("%s: %v", name, err)
			}
			if want := "onetwothree"; !strings.HasPrefix(want, string(w.body)) || len(w.body) < 6 {
				t.Errorf("%s: %q", name, w.body)
			}
		}
	})
}

// TestLongAnswerOverSocket sends in bursts that fit no packet.
func TestLongAnswerOverSocket(t *testing.T) {
	body := pattern(2 << 20)
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		ct := ajptest.New(t, func(e *ajptest.Exchange) {
			b := join(ajptest.SendHeaders(200, "200", ajptest.H("Content-Length", strconv.Itoa(len(body)))), ajptest.Chunks(body, 8192), end)
			for len(b) > 0 {
				n := min(len(b), 100<<10)
				if e.Send(b[:n]) != nil {
					return
				}
				b = b[n:]
			}
		})
		c := dial(ct.Addr())
		for range 2 {
			w := &recorder{}
			if err := c.Exchange(get(), w, limits); err != nil || !bytes.Equal(w.body, body) || !c.Usable() {
				t.Errorf("%v, %d bytes, %v", err, len(w.body), c.State())
			}
		}
	})
}

func TestCloseAndReset(t *testing.T) {
	whole := join(head200, chunkOf("hello"), end)
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		for n := range len(whole) {
			for _, reset := range []bool{false, true} {
				if reset && n%5 != 0 {
					continue
				}
				ct := ajptest.New(t, func(e *ajptest.Exchange) {
					_ = e.Send(whole[:n])
					if reset {
						_ = e.Reset()
					} else {
						_ = e.Close()
					}
				})
				c := dial(ct.Addr())
				w := &recorder{}
				e := exchangeError(c.Exchange(get(), w, limits))
				if e.Cause != connector.CauseBroken || w.finishes != 0 || c.State() != Broken {
					t.Errorf("%d bytes, reset %v: %v (%v)", n, reset, e, e.Cause)
				}
				if n == 0 && e.Phase != connector.PhaseReply {
					t.Errorf("reset %v: phase %v with no byte of an answer", reset, e.Phase)
				}
				_ = ct.Close()
			}
		}
	})
}

// TestLostWhileIdle: a connection that the container has closed is not usable.
func TestLostWhileIdle(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		for name, after := range map[string]func(e *ajptest.Exchange){
			"close":        func(e *ajptest.Exchange) { _ = e.Close() },
			"reset":        func(e *ajptest.Exchange) { _ = e.Reset() },
			"stray answer": func(e *ajptest.Exchange) { _ = e.Send(answer("not yours")) },
			"stray pong":   func(e *ajptest.Exchange) { _ = e.Send(pong) },
			"stray flush":  func(e *ajptest.Exchange) { _ = e.Send(flush) },
		} {
			again := make(chan struct{})
			ct := ajptest.New(t, func(e *ajptest.Exchange) {
				_ = e.Respond(200, "hello")
				if e.N == 1 {
					<-again
					after(e)
				}
			})
			c := dial(ct.Addr())
			if err := c.Exchange(get(), &recorder{}, Timeouts{Reply: long}); err != nil || !c.Usable() {
				t.Fatal(err)
			}
			close(again)
			want := name == "stray flush"
			stop := time.Now().Add(long)
			for ready := false; !ready && time.Now().Before(stop); time.Sleep(time.Millisecond) {
				ready, _ = c.nc.Readable()
			}
			if got := c.Usable(); got != want {
				t.Errorf("%s: usable %v", name, got)
			}
			if want {
				w := &recorder{}
				if err := c.Exchange(get(), w, limits); err != nil || string(w.body) != "hello" {
					t.Errorf("%s: next: %v", name, err)
				}
			}
		}
	})
}

func TestReplyTimeoutOverSocket(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		for name, before := range map[string][]byte{"before headers": nil, "in headers": head200[:6], "in the body": join(head200, chunkOf("x"))} {
			ct := ajptest.New(t, func(e *ajptest.Exchange) {
				_ = e.Send(before)
				_ = e.Hold()
			})
			for _, by := range []Timeouts{{Reply: 20 * time.Millisecond}, {Socket: 20 * time.Millisecond, Reply: long}} {
				c := dial(ct.Addr())
				w := &recorder{}
				e := exchangeError(c.Exchange(get(), w, by))
				cause := connector.CauseTimeout
				if by.Socket > 0 {
					cause = connector.CauseBroken
				}
				if e.Cause != cause || w.finishes != 0 || c.State() != Broken || (string(w.body) == "x") != w.Started() {
					t.Errorf("%s: %v (%v), %q", name, e, e.Cause, w.body)
				}
			}
		}
		// A ping.
		ct := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: func(k *ajptest.Conn) { _ = k.Hold() }}, nil)
		c := dial(ct.Addr())
		if err := c.CPing(20 * time.Millisecond); !errors.Is(err, errReplyTimeout) || c.State() != Broken {
			t.Errorf("ping: %v", err)
		}
	})
}

// TestPingLimitEnds: the limits of a ping do not hold for the request after it.
func TestPingLimitEnds(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		c := dial(ajptest.New(t, nil).Addr())
		if err := c.CPing(50 * time.Millisecond); err != nil {
			t.Skip("the machine is too slow for this one:", err)
		}
		time.Sleep(60 * time.Millisecond)
		if err := c.Exchange(get(), &recorder{}, Timeouts{}); err != nil {
			t.Error(err)
		}
	})
}

// TestContainerDoesNotRead: a container that takes nothing more must not hold a
// child forever.
func TestContainerDoesNotRead(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		ct := ajptest.NewOptions(t, "tcp", ajptest.Options{OnAccept: func(k *ajptest.Conn) {
			_ = k.Send(bytes.Repeat(ajptest.GetBody(8186), 5000))
			<-k.Container().Done()
			_ = k.Close()
		}}, nil)
		c := dial(ct.Addr())
		e := exchangeError(c.Exchange(encode(post(zeros{}, -1)), &recorder{}, Timeouts{Reply: long, Write: 50 * time.Millisecond}))
		if e.Cause != connector.CauseBroken || !e.BodyConsumed || c.State() != Broken {
			t.Errorf("%v (%v)", e, e.Cause)
		}
	})
}

// TestUploadCutOverSocket: the container sees a close, and never an end of the
// body.
func TestUploadCutOverSocket(t *testing.T) {
	broke := &connector.ClientError{Op: "read body", Status: 400, Err: io.ErrUnexpectedEOF}
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		for _, known := range []bool{true, false} {
			got := make(chan error, 1)
			ct := ajptest.New(t, func(e *ajptest.Exchange) {
				_, err := e.DiscardBody(nil)
				got <- err
				_ = e.Close()
			})
			r := post(&pieces{left: [][]byte{pattern(50000)}, err: broke}, -1)
			if known {
				r.ContentLength = 100000
			}
			c := dial(ct.Addr())
			e := exchangeError(c.Exchange(encode(r), &recorder{}, limits))
			if e.Cause != connector.CauseClient || c.State() != Broken {
				t.Errorf("known %v: %v (%v)", known, e, e.Cause)
			}
			_ = c.Close()
			if err := <-got; err != ajptest.ErrFrontClosed {
				t.Errorf("known %v: the container saw %v", known, err)
			}
		}
	})
}

// TestWrongServer: a worker that points at an HTTP server fails for the right
// reason.
func TestWrongServer(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		c := dial(srv.Listener.Addr().String())
		// A line end makes a server that reads lines answer.
		r := newRequest("GET", "/")
		r.ServerPort = '\n'
		w := &recorder{}
		e := exchangeError(c.Exchange(encode(r), w, limits))
		if e.Cause != connector.CauseProtocol || w.starts != 0 || !strings.Contains(e.Error(), "wrong message format 0x4854 (packet begins 48 54 54 50") {
			t.Errorf("%v (%v)", e, e.Cause)
		}
	})
}

// TestSecretOverSocket: a container that wants a secret and one that closes
// without a word.
func TestSecretOverSocket(t *testing.T) {
	ct := ajptest.New(t, func(e *ajptest.Exchange) {
		if a, _ := e.Request.Attr(ajptest.AttrSecret); a.Value != "right" {
			_ = e.Send(ajptest.SendHeaders(403, "403", ajptest.H("Content-Length", "0")), endClose)
			_ = e.Close()
			return
		}
		_ = e.Respond(200, "in")
	})
	bothKinds(t, func(t *testing.T, dial func(string) *Conn) {
		for secret, status := range map[string]int{"right": 200, "wrong": 403, "": 403} {
			c := dial(ct.Addr())
			r := newRequest("GET", "/")
			r.Secret = secret
			w := &recorder{}
			if err := c.Exchange(encode(r), w, limits); err != nil || w.status != status || c.Refused() != (status == 403) {
				t.Errorf("%q: %v, %d", secret, err, w.status)
			}
		}
	})
}

// TestUnixSocket runs over a kind of stream that is not TCP.
func TestUnixSocket(t *testing.T) {
	ct := ajptest.NewUnix(t, nil)
	nc, err := net.Dial("unix", ct.Addr())
	if err != nil {
		t.Fatal(err)
	}
	f, err := nc.(*net.UnixConn).File()
	if err != nil {
		t.Fatal(err)
	}
	_ = nc.Close()
	c := NewConn(sock.NewBlocking(int(f.Fd()), nil), DefaultPacketSize)
	w := &recorder{}
	if err := c.Exchange(get(), w, limits); err != nil || string(w.body) != "hello" || !c.Usable() {
		t.Error(err)
	}
	_ = f.Close()
}
