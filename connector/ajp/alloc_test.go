//go:build unix

package ajp

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/mpm/sock"
)

// fixedServer answers every request of want bytes with the same bytes, without
// looking at it and without allocating.
func fixedServer(tb testing.TB, want int, answer []byte) netip.AddrPort {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		in := make([]byte, want)
		for {
			if _, err := io.ReadFull(nc, in); err != nil {
				return
			}
			if _, err := nc.Write(answer); err != nil {
				return
			}
		}
	}()
	tb.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().(*net.TCPAddr).AddrPort()
}

// sink is a ResponseWriter that keeps nothing.
type sink struct {
	started  bool
	buffered int
	bytes    int
}

func (w *sink) Start(int, []connector.Field) error { w.started = true; w.buffered++; return nil }
func (w *sink) Append(p []byte) error              { w.buffered += len(p); w.bytes += len(p); return nil }
func (w *sink) Buffered() int                      { return w.buffered }
func (w *sink) Flush() error                       { w.buffered = 0; return nil }
func (w *sink) Finish() error                      { w.buffered = 0; return nil }
func (w *sink) Started() bool                      { return w.started }

// browser is a request as browsers send it.
func browser() *Request {
	r := newRequest("GET", "/examples/servlets/servlet/HelloWorldExample")
	r.Fields = fields("Host", "www.example.com", "User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
		"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Accept-Language", "en-US,en;q=0.5",
		"Accept-Encoding", "gzip, deflate", "Cookie", "JSESSIONID=0123456789ABCDEF0123456789ABCDEF.n1", "Upgrade-Insecure-Requests", "1")
	r.HasQuery, r.Query, r.Route = true, []byte("a=1"), "n1"
	return r
}

var kinds = []struct {
	name string
	dial sock.DialFunc
}{{"blocking", sock.DialBlocking}, {"polled", sock.DialPolled}}

func page(n int) []byte {
	body := strings.Repeat("x", n)
	return join(ajptest.SendHeaders(200, "200", ajptest.H("Content-Type", "text/html;charset=UTF-8"), ajptest.H("Content-Length", strconv.Itoa(n)),
		ajptest.S("X-Own", "v")), ajptest.Chunks([]byte(body), 8192), end)
}

// TestAllocations: a request costs no memory once its connection is warm.
func TestAllocations(t *testing.T) {
	var f Forward
	r := browser()
	if n := testing.AllocsPerRun(100, func() {
		if err := f.Encode(r, DefaultPacketSize); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Encode: %v allocations", n)
	}
	body := pattern(5000)
	p := post(nil, int64(len(body)))
	rd := bytes.NewReader(body)
	p.Body = rd
	if n := testing.AllocsPerRun(100, func() {
		rd.Reset(body)
		if err := f.Encode(p, DefaultPacketSize); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Encode with a body: %v allocations", n)
	}
	if err := f.Encode(r, DefaultPacketSize); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		for _, size := range []int{387, 113 << 10} {
			for name, limit := range map[string]Timeouts{"no limits": {}, "limits": {Reply: long, Socket: long, Write: long}} {
				nc, err := kind.dial(fixedServer(t, len(f.buf), page(size)), sock.DialOptions{})
				if err != nil {
					t.Fatal(err)
				}
				c := NewConn(nc, DefaultPacketSize)
				var w sink
				// AllocsPerRun leaves one processor, on which a blocking read
				// and the server can only take turns: few runs.
				if n := testing.AllocsPerRun(20, func() {
					w = sink{}
					if !c.Usable() {
						t.Fatal("not usable")
					}
					if err := f.Encode(r, DefaultPacketSize); err != nil {
						t.Fatal(err)
					}
					if err := c.Exchange(&f, &w, limit); err != nil || w.bytes != size {
						t.Fatal(err, w.bytes)
					}
				}); n != 0 {
					t.Errorf("%s, %d bytes, %s: %v allocations an exchange", kind.name, size, name, n)
				}
				_ = c.Close()
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	var f Forward
	r := browser()
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Encode(r, DefaultPacketSize); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(f.buf)))
}

func BenchmarkExchange(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"small", 387}, {"113K", 113 << 10}} {
		for _, kind := range kinds {
			b.Run(size.name+"/"+kind.name, func(b *testing.B) {
				var f Forward
				r := browser()
				if err := f.Encode(r, DefaultPacketSize); err != nil {
					b.Fatal(err)
				}
				nc, err := kind.dial(fixedServer(b, len(f.buf), page(size.n)), sock.DialOptions{})
				if err != nil {
					b.Fatal(err)
				}
				c := NewConn(nc, DefaultPacketSize)
				defer c.Close()
				b.ReportAllocs()
				b.SetBytes(int64(size.n))
				var w sink
				for b.Loop() {
					if err := f.Encode(r, DefaultPacketSize); err != nil {
						b.Fatal(err)
					}
					w = sink{}
					if err := c.Exchange(&f, &w, Timeouts{Reply: long}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkDecode is an answer without a socket.
func BenchmarkDecode(b *testing.B) {
	answer := page(387)
	f := get()
	nc := &memConn{script: make([][]byte, 1)}
	c := NewConn(nc, DefaultPacketSize)
	b.ReportAllocs()
	b.SetBytes(int64(len(answer)))
	store := nc.script
	var w sink
	for b.Loop() {
		nc.out.Reset()
		nc.script = store
		nc.script[0] = answer
		w = sink{}
		if err := c.Exchange(f, &w, Timeouts{}); err != nil {
			b.Fatal(err)
		}
	}
}
