package ajptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const longWait = 10 * time.Second // how long a test may wait for what must come

func dial(t *testing.T, c *Container) *Front {
	t.Helper()
	f, err := Dial(c.Network(), c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func do(t *testing.T, f *Front, r *Request, body string) *Response {
	t.Helper()
	resp, err := f.Do(r, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func get(path string) *Request { return NewRequest("GET", path).Add("Content-Length", "0") }

func post(path string, n int) *Request {
	return NewRequest("POST", path).Add("Content-Length", fmt.Sprint(n))
}

func TestContainerDefault(t *testing.T) {
	for _, start := range []func(TB, Handler) *Container{New, NewUnix} {
		c := start(t, nil)
		f := dial(t, c)
		if err := f.CPing(); err != nil {
			t.Error(err)
		}
		r := do(t, f, get("/x"), "")
		if r.Status != 200 || string(r.Body) != "hello" || !r.Reuse || r.Message != "200" {
			t.Errorf("%s: %+v", c.Network(), r)
		}
		if r := do(t, f, NewRequest("HEAD", "/x").Add("Content-Length", "0"), ""); len(r.Body) != 0 {
			t.Errorf("%s: HEAD has a body: %q", c.Network(), r.Body)
		}
		if c.CPings() != 1 || c.Requests() != 2 || c.Accepted() != 1 || c.Open() != 1 {
			t.Errorf("%s: %d pings, %d requests, %d accepted, %d open", c.Network(), c.CPings(), c.Requests(), c.Accepted(), c.Open())
		}
	}
}

func TestContainerRecords(t *testing.T) {
	var seen [][]byte
	c := New(t, func(e *Exchange) {
		if _, err := e.Body(); err != nil {
			t.Error(err)
		}
		seen, _ = e.Packets()
		e.Respond(200, "")
	})
	f := dial(t, c)
	r := post("/r", 8187)
	do(t, f, r, strings.Repeat("z", 8187))
	want := [][]byte{r.Packet(), Data(bytes.Repeat([]byte("z"), 8186)), Data([]byte("z")), DataEnd()}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("exchange saw %d packets, want %d; first % x", len(seen), len(want), seen[0])
	}
	all, dropped := c.Packets()
	if len(all) != 4 || dropped != 0 {
		t.Fatalf("container kept %d packets, dropped %d", len(all), dropped)
	}
	for i, p := range all {
		if p.Conn != 1 || !bytes.Equal(p.Bytes, want[i]) {
			t.Errorf("packet %d of connection %d: %d bytes", i, p.Conn, len(p.Bytes))
		}
	}
}

func TestContainerBody(t *testing.T) {
	for _, tt := range []struct {
		name  string
		r     *Request
		body  string
		asked []int
	}{
		{"none", get("/"), "", nil},
		{"5", post("/", 5), "12345", []int{8186}},
		{"8186", post("/", 8186), strings.Repeat("a", 8186), []int{8186}},
		{"20000", post("/", 20000), strings.Repeat("b", 20000), []int{8186, 8186, 8186}},
		{"unknown length", NewRequest("POST", "/"), strings.Repeat("c", 15000), []int{8186, 8186, 8186}},
		{"unknown length, empty", NewRequest("POST", "/"), "", []int{8186}},
	} {
		for _, inner := range []bool{false, true} {
			var body []byte
			c := New(t, func(e *Exchange) {
				body, _ = e.Body()
				e.Respond(200, "ok")
			})
			f := dial(t, c)
			f.InnerEnd = inner
			r := do(t, f, tt.r, tt.body)
			if string(body) != tt.body || !reflect.DeepEqual(r.Asked, tt.asked) {
				t.Errorf("%s, inner end %v: %d bytes read, asked %v; want %d, %v", tt.name, inner, len(body), r.Asked, len(tt.body), tt.asked)
			}
			if r := do(t, f, get("/again"), ""); string(r.Body) != "ok" {
				t.Errorf("%s: second request: %+v", tt.name, r)
			}
		}
	}
}

// A handler may leave the body unread: what is owed is taken off the wire.
func TestContainerUnreadBody(t *testing.T) {
	c := New(t, func(e *Exchange) {
		if e.Request.URI == "/ask" {
			e.Send(GetBody(1), SendHeaders(200, "200"), End(true))
			return
		}
		e.Respond(413, "")
	})
	f := dial(t, c)
	for _, path := range []string{"/ignore", "/ask", "/ignore"} {
		if r := do(t, f, post(path, 10000), strings.Repeat("x", 10000)); !r.Reuse {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if n := c.RequestsPerConn(); !reflect.DeepEqual(n, []int{3}) {
		t.Errorf("requests per connection: %v", n)
	}
}

func TestContainerComplains(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		send       [][]byte
	}{
		{"HTTP", "not a front end's packet", [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n")}},
		{"container's magic", "not a front end's packet", [][]byte{CPong()}},
		{"SHUTDOWN", "neither CPING nor", [][]byte{Payload(CodeShutdown).FrontPacket()}},
		{"long CPING", "neither CPING nor", [][]byte{Payload(CodeCPing, 0).FrontPacket()}},
		{"stray end of body", "neither CPING nor", [][]byte{DataEnd()}},
		{"bad request", "is_ssl", [][]byte{Payload(CodeForward, 2).String("HTTP/1.1").String("/").String("").Null().String("").Int(80).Byte(7).FrontPacket()}},
		{"oversized", "larger than 8192", [][]byte{post("/", 9000).Packet(), Data(make([]byte, 8187))}},
		{"body packet with a wrong length", "bad body packet", [][]byte{post("/", 5).Packet(), Payload().Int(6).Raw([]byte("12345")).FrontPacket()}},
		{"body longer than announced", "announced", [][]byte{post("/", 5).Packet(), Data([]byte("123456")), DataEnd()}},
		{"body packet of one byte", "bad body packet", [][]byte{post("/", 5).Packet(), Payload(0).FrontPacket()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan error, 10)
			c := NewOptions(t, "tcp", Options{OnError: func(err error) { got <- err }}, func(e *Exchange) {
				if _, err := e.Body(); err != nil {
					e.Close()
				}
			})
			f := dial(t, c)
			if err := f.Send(tt.send...); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-got:
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("complaint %q, want %q in it", err, tt.want)
				}
			case <-time.After(longWait):
				t.Fatal("no complaint")
			}
			if len(c.Errors()) == 0 {
				t.Error("Errors() is empty")
			}
			for { // the connection must come to its end
				if _, err := f.ReadPacket(); err != nil {
					break
				}
			}
		})
	}
}

func TestContainerPartialPacket(t *testing.T) {
	got := make(chan error, 1)
	c := NewOptions(t, "tcp", Options{OnError: func(err error) { got <- err }}, nil)
	for _, n := range []int{1, 3, 4, 9} {
		f := dial(t, c)
		f.Send(get("/").Packet()[:n])
		f.Close()
		select {
		case err := <-got:
			if !strings.Contains(err.Error(), "closed inside") {
				t.Errorf("%d bytes: %v", n, err)
			}
		case <-time.After(longWait):
			t.Fatalf("%d bytes: no complaint", n)
		}
	}
}

func TestContainerCounts(t *testing.T) {
	c := New(t, nil)
	a, b, d := dial(t, c), dial(t, c), dial(t, c)
	for i, f := range []*Front{a, b, b, d, d, d} {
		do(t, f, get(fmt.Sprint("/", i)), "")
	}
	if !c.WaitAccepted(3, longWait) || !c.WaitRequests(6, longWait) || c.MaxOpen() != 3 {
		t.Errorf("%d accepted, %d requests, %d open at a time", c.Accepted(), c.Requests(), c.MaxOpen())
	}
	total := 0
	for _, n := range c.RequestsPerConn() {
		total += n
	}
	if total != 6 || len(c.RequestsPerConn()) != 3 {
		t.Errorf("requests per connection: %v", c.RequestsPerConn())
	}
	a.Close()
	b.Close()
	if !c.WaitOpen(1, longWait) {
		t.Errorf("%d open after two closes", c.Open())
	}
	if c.WaitOpen(5, time.Millisecond) {
		t.Error("WaitOpen(5) came true")
	}
	c.CloseConns()
	if !c.WaitOpen(0, longWait) || c.MaxOpen() != 3 || c.Accepted() != 3 {
		t.Errorf("%d open after CloseConns", c.Open())
	}
	c.StopListening()
	if f, err := Dial(c.Network(), c.Addr()); err == nil {
		f.Close()
		t.Error("connected after StopListening")
	}
}

func TestConnScripts(t *testing.T) {
	waited := make(chan error, 10)
	c := New(t, func(e *Exchange) {
		switch e.Request.URI {
		case "/slowly":
			e.SendSlowly(0, append(e.Answer(200, "slow"), End(true)...))
		case "/half":
			e.Send(SendHeaders(200, "200"), Truncated(Chunk([]byte("abc")), 6))
			e.Close()
		case "/reset":
			e.Reset()
		case "/eof":
			e.CloseWrite()
			waited <- e.WaitClose(longWait)
		case "/hold":
			waited <- e.Hold()
		case "/more":
			e.Send(SendHeaders(200, "200"), End(true))
			waited <- e.WaitClose(longWait)
			e.Close()
		case "/open":
			waited <- e.WaitClose(time.Millisecond)
			e.Respond(200, "")
		}
	})
	if r := do(t, dial(t, c), get("/slowly"), ""); string(r.Body) != "slow" {
		t.Errorf("/slowly: %+v", r)
	}
	for path, want := range map[string]error{"/half": io.ErrUnexpectedEOF, "/reset": nil, "/eof": io.EOF} {
		f := dial(t, c)
		_, err := f.Do(get(path), nil)
		if err == nil || want != nil && err != want {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		f.Close()
	}
	if err := <-waited; err != nil {
		t.Errorf("/eof: %v", err)
	}

	f := dial(t, c)
	f.Send(get("/hold").Packet())
	c.WaitRequests(5, longWait)
	f.Close()
	if err := <-waited; !errors.Is(err, ErrFrontClosed) {
		t.Errorf("/hold: %v", err)
	}

	f = dial(t, c)
	do(t, f, get("/more"), "")
	f.Send(CPing())
	f.Close()
	if err := <-waited; err == nil || !strings.Contains(err.Error(), "12 34 00 01 0a") {
		t.Errorf("/more: %v", err)
	}

	f = dial(t, c)
	do(t, f, get("/open"), "")
	if err := <-waited; err == nil || !strings.Contains(err.Error(), "still open") {
		t.Errorf("/open: %v", err)
	}
}

func TestHooks(t *testing.T) {
	c := NewOptions(t, "tcp", Options{
		OnAccept: func(k *Conn) {
			if k.Number == 1 {
				k.Close()
			}
		},
		OnCPing: func(k *Conn) { k.Send(Flush(), CPong()) },
	}, nil)
	f := dial(t, c)
	if p, err := f.ReadPacket(); err == nil {
		t.Errorf("read % x from a connection closed at once", p)
	}
	f = dial(t, c)
	f.Send(CPing())
	for _, want := range [][]byte{Flush(), CPong()} {
		if p, err := f.ReadPacket(); err != nil || !bytes.Equal(p, want) {
			t.Errorf("% x, %v; want % x", p, err, want)
		}
	}
}

func TestRecordLimit(t *testing.T) {
	c := NewOptions(t, "tcp", Options{RecordLimit: 10000}, func(e *Exchange) {
		n, err := e.DiscardBody(nil)
		kept, dropped := e.Packets()
		if n != 100000 || err != nil || len(kept) != 3 || dropped != 12 {
			t.Errorf("%d bytes, %v; kept %d, dropped %d", n, err, len(kept), dropped)
		}
		e.Respond(200, "")
	})
	// The request and the first of 13 packets of data fit, and so does the end
	// packet.
	do(t, dial(t, c), post("/", 100000), strings.Repeat("x", 100000))
	if _, dropped := c.Packets(); dropped == 0 {
		t.Error("nothing dropped")
	}
}

func TestPacketSize(t *testing.T) {
	c := NewOptions(t, "tcp", Options{PacketSize: 65536}, func(e *Exchange) {
		b, err := e.Body()
		if err != nil {
			t.Error(err)
		}
		e.Respond(200, string(b))
	})
	f := dial(t, c)
	f.PacketSize = 65536
	body := strings.Repeat("x", 200000)
	r := do(t, f, post("/", len(body)), body)
	if string(r.Body) != body || r.Chunks != 4 || r.Asked[0] != 65530 {
		t.Errorf("%d bytes in %d chunks, asked %v", len(r.Body), r.Chunks, r.Asked)
	}
	for _, size := range []int{-1, 15, 65537} {
		if c, err := Start("tcp", "", Options{PacketSize: size}, nil); err == nil {
			c.Close()
			t.Errorf("packet size %d accepted", size)
		}
	}
}

// TestCloseEndsAll closes containers whose handlers hang in every way, and
// counts goroutines.
func TestCloseEndsAll(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, network := range []string{"tcp", "unix"} {
		c, err := Start(network, "", Options{}, func(e *Exchange) {
			switch e.Request.URI {
			case "/sleep":
				e.Sleep(time.Hour)
			case "/hold":
				e.Hold()
			case "/body":
				e.Body()
			case "/send":
				for e.Send(make([]byte, 1<<16)) == nil {
				}
			case "/done":
				<-e.Container().Done()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		var fronts []*Front
		paths := []string{"/sleep", "/hold", "/body", "/send", "/done", "/idle"}
		for _, p := range paths {
			f := dial(t, c)
			f.Send(NewRequest("POST", p).Packet())
			fronts = append(fronts, f)
		}
		fronts = append(fronts, dial(t, c)) // one that never says a word
		if !c.WaitRequests(len(paths), longWait) || !c.WaitAccepted(len(paths)+1, longWait) {
			t.Fatal("requests didn't arrive")
		}
		var wg sync.WaitGroup
		for range 3 { // closing is idempotent and concurrent
			wg.Go(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if c.Open() != 0 {
			t.Errorf("%d open after Close", c.Open())
		}
		if network == "unix" {
			if _, err := os.Stat(filepath.Dir(c.Addr())); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("socket directory is left: %v", err)
			}
		}
		for _, f := range fronts {
			f.Close()
		}
	}
	for deadline := time.Now().Add(longWait); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestStartErrors(t *testing.T) {
	if c, err := Start("unix", filepath.Join(t.TempDir(), "no", "dir"), Options{}, nil); err == nil {
		c.Close()
		t.Error("started on a path that can't be")
	}
	var ne net.Error
	c, err := Start("tcp", "", Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Port() == 0 || c.Network() != "tcp" {
		t.Errorf("%s %s, port %d", c.Network(), c.Addr(), c.Port())
	}
	if d, err := Start("tcp", c.Addr(), Options{}, nil); !errors.As(err, &ne) {
		t.Errorf("second listener on one port: %v", err)
		d.Close()
	}
}
