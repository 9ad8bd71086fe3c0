package jk

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/ajp/ajptest"
)

// freePort is a TCP port of 127.0.0.1 that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

func TestRefused(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		port := freePort(t)
		r := rigAt(t, dial, 1, "127.0.0.1", port)
		e := r.fails(request("POST", "/", "x"), &answer{}, 503)
		if !errors.Is(e, syscall.ECONNREFUSED) || e.Addr != fmt.Sprint("127.0.0.1:", port) || e.Op != "connect" || e.Client || !e.Recoverable {
			t.Errorf("%+v", e)
		}
		for _, part := range []string{"w", e.Addr, "connect", "connection refused"} {
			if !strings.Contains(e.Error(), part) {
				t.Errorf("%q does not name %s", e.Error(), part)
			}
		}
		if dials, _, _ := r.counts(); dials != 2 {
			t.Errorf("%d connects for 2 attempts", dials)
		}
		r.want("requests 1 errors 1 misses 2")
	})
}

// The connects of one attempt have the time of one, however many addresses the
// name has, and an early failure leaves it to the later ones.
func TestConnectTimeoutIsShared(t *testing.T) {
	r := rigAt(t, nil, 1, "many.example", 8009, "retries=1", "socket_connect_timeout=400")
	r.w.own.names.Lookup = answers("192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4")
	var given []time.Duration
	r.w.dial = func(a netip.AddrPort, o DialOptions) (ajp.NetConn, error) {
		given = append(given, o.Timeout)
		if len(given) > 1 {
			time.Sleep(o.Timeout)
		}
		return nil, os.ErrDeadlineExceeded
	}
	e := r.fails(request("GET", "/", ""), &answer{}, 503)
	if len(given) != 4 || e.Addr != "192.0.2.4:8009" || !errors.Is(e, os.ErrDeadlineExceeded) {
		t.Fatalf("%v, %v", given, e)
	}
	var sum time.Duration
	for _, d := range given[1:] {
		sum += d
	}
	if given[0] != 100*time.Millisecond || sum > 400*time.Millisecond {
		t.Errorf("time for each: %v", given)
	}
}

func TestConnectTimeoutDefault(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  time.Duration
	}{
		{nil, defaultConnectTimeout},
		{[]string{"socket_connect_timeout=0"}, defaultConnectTimeout},
		{[]string{"socket_connect_timeout=250"}, 250 * time.Millisecond},
		{[]string{"socket_timeout=7"}, 7 * time.Second},
		{[]string{"socket_timeout=7", "socket_connect_timeout=100"}, 100 * time.Millisecond},
	} {
		r := rigAt(t, nil, 1, "127.0.0.1", 1, append(tt.lines, "retries=1", "socket_keepalive=1", "socket_buffer=65536", "source=127.0.0.9")...)
		r.w.dial = func(a netip.AddrPort, o DialOptions) (ajp.NetConn, error) {
			if o.Timeout != tt.want || !o.KeepAlive || o.Buffer != 65536 || o.Source != netip.MustParseAddr("127.0.0.9") {
				t.Errorf("%q: %+v", tt.lines, o)
			}
			return nil, syscall.ETIMEDOUT
		}
		r.fails(request("GET", "/", ""), &answer{}, 503)
	}
}

// port=0 is a worker that is never contacted.
func TestPortZero(t *testing.T) {
	r := rigAt(t, dialKinds[0].dial, 1, "127.0.0.1", 0, "retries=5")
	e := r.fails(request("POST", "/", "x"), &answer{}, 503)
	if !errors.Is(e, errPortZero) || !e.Recoverable || e.Client {
		t.Errorf("%+v", e)
	}
	if dials, _, _ := r.counts(); dials != 0 {
		t.Errorf("%d connects", dials)
	}
	r.want("requests 1 errors 1")
}

// F032: every wrong answer is 502 or a cut answer, costs its connection, and
// nothing else.
func TestF032BadPackets(t *testing.T) {
	for _, bad := range ajptest.BadPackets() {
		t.Run(bad.Name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				c := ajptest.New(t, func(e *ajptest.Exchange) {
					if e.Request.URI != "/bad" {
						e.Respond(200, "fine")
						return
					}
					e.Send(bad.Before, bad.Bytes)
					if strings.HasPrefix(bad.Name, "cut") {
						e.Close()
					}
				})
				r := newRig(t, dial, c, 1, "recovery_options=0")
				a := &answer{}
				e := r.fails(request("GET", "/bad", ""), a, 502)
				if e.Client || e.Recoverable || a.finished || a.started != (bad.Before != nil) || e.Addr != c.Addr() {
					t.Errorf("started %v, finished %v, %+v", a.started, a.finished, e)
				}
				if c.Requests() != 1 {
					t.Errorf("sent %d times", c.Requests())
				}
				if b := r.get("/"); b != "fine" {
					t.Errorf("%q", b)
				}
				r.want("requests 2 errors 1 misses 2 opened 2 closed-error 1 idle 1")
			})
		})
	}
}

// A worker pointed at a web server says so at once.
func TestF032HTTPServerBehind(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			nc.Read(make([]byte, 4096))
			nc.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
			nc.Close()
		}
	}()
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		r := rigAt(t, dial, 1, "127.0.0.1", ln.Addr().(*net.TCPAddr).Port)
		e := r.fails(request("GET", "/", ""), &answer{}, 502)
		if !strings.Contains(e.Error(), "48 54 54 50") {
			t.Errorf("the first bytes are not shown: %v", e)
		}
	})
}

// F048, F063: silence is 504, is not tried again, and a rule's own
// reply_timeout wins over the worker's.
func TestF048ReplyTimeout(t *testing.T) {
	const rules = "/*=w\n/none/*=w;reply_timeout=0\n/own/*=w;reply_timeout=30\n"
	tests := []struct {
		name, path string
		worker     int // reply_timeout
		silent     bool
		status     int
	}{
		{"worker's", "/x", 30, true, 504},
		{"rule's", "/own/x", 0, true, 504},
		{"rule's before the worker's", "/own/x", 3600000, true, 504},
		{"rule's none", "/none/x", 30, false, 200},
		{"none at all", "/x", 0, false, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				c := ajptest.New(t, func(e *ajptest.Exchange) {
					if tt.silent {
						e.Hold()
						return
					}
					e.Sleep(120 * time.Millisecond)
					e.Respond(200, "at last")
				})
				r := rigMap(t, dial, 1, "127.0.0.1", c.Port(), rules, fmt.Sprint("reply_timeout=", tt.worker), "recovery_options=0", "retries=3")
				if tt.status == 200 {
					r.get(tt.path)
					r.want("requests 1 misses 1 opened 1 idle 1")
					return
				}
				e := r.fails(request("GET", tt.path, ""), &answer{}, 504)
				if e.Client || e.Recoverable || c.Requests() != 1 {
					t.Errorf("%d requests, %+v", c.Requests(), e)
				}
				if !c.WaitOpen(0, long) {
					t.Error("the connection is still open")
				}
				r.want("requests 1 errors 1 misses 1 opened 1 closed-error 1")
			})
		})
	}
}

// The clock starts again with every packet; silence in the middle of an answer
// cuts it.
func TestReplyTimeoutInTheBody(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			e.Send(ajptest.SendHeaders(200, "200"), ajptest.Chunk([]byte("half")))
			e.Hold()
		})
		r := newRig(t, dial, c, 1, "reply_timeout=50")
		a := &answer{}
		r.fails(request("GET", "/", ""), a, 504)
		if !a.started || a.finished || string(a.body) != "half" {
			t.Errorf("%+v", a)
		}
	})
}

// socket_timeout is a broken connection, not a reply timeout.
func TestSocketTimeout(t *testing.T) {
	c := ajptest.New(t, func(e *ajptest.Exchange) { e.Hold() })
	r := newRig(t, dialKinds[1].dial, c, 1, "socket_timeout=1", "retries=1")
	r.fails(request("POST", "/", "x"), &answer{}, 502)
}

// A client that fails has nothing to do with the worker: its status is its
// own, nothing is tried again, and the container sees no end of a body.
func TestClientErrors(t *testing.T) {
	tests := []struct {
		name          string
		length, fails int // bytes
		status, want  int
		reached       bool
	}{
		{"left at once", 5, 0, 0, 400, false},
		{"broke the rules", 5, 2, 400, 400, false},
		{"too slow", 5, 3, 408, 408, false},
		{"sent too much", 8000, 7999, 413, 413, false},
		{"left in a large body", 50000, 20000, 0, 400, true},
		{"too slow in a large body", 50000, 30000, 408, 408, true},
		{"bad chunk at once", -1, 0, 400, 400, true},
		{"bad chunk later", -1, 20000, 400, 400, true},
		{"chunks too large", -1, 20000, 413, 413, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bothKinds(t, func(t *testing.T, dial DialFunc) {
				ends := make(chan error, 1)
				c := ajptest.New(t, func(e *ajptest.Exchange) {
					if e.Request.Method != "POST" {
						e.Respond(200, "")
						return
					}
					_, err := e.DiscardBody(nil)
					ends <- err
				})
				r := newRig(t, dial, c, 1, "recovery_options=0", "retries=5")
				r.get("/")
				q := request("POST", "/", "")
				q.ContentLength = int64(tt.length)
				q.Body = &brokenReader{tt.fails, &connector.ClientError{Op: "read body", Status: tt.status, Err: syscall.ECONNRESET}}
				e := r.fails(q, &answer{}, tt.want)
				if !e.Client || e.Recoverable {
					t.Errorf("%+v", e)
				}
				if !tt.reached {
					if c.Requests() != 1 {
						t.Error("the request reached the container")
					}
					r.get("/")
					r.want("requests 3 client 1 hits 1 misses 1 opened 1 idle 1")
					return
				}
				if err := <-ends; err == nil {
					t.Error("the container took the body for complete")
				}
				if c.Requests() != 2 {
					t.Errorf("%d requests", c.Requests())
				}
				r.want("requests 2 client 1 hits 1 misses 1 opened 1 closed-client 1")
			})
		})
	}
}

// F001: what does not fit is refused with nothing sent, and costs nobody
// anything.
func TestF001TooLong(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		c := ajptest.New(t, nil)
		r := newRig(t, dial, c, 1)
		r.get("/")
		q := request("GET", "/", "")
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Authorization"), Value: []byte(strings.Repeat("x", 9000))})
		e := r.fails(q, &answer{}, 413)
		var long *ajp.TooLongError
		if !e.Client || e.Recoverable || !errors.As(e, &long) || long.Max != 8192 || long.Need <= 9000 {
			t.Errorf("%+v", e)
		}
		for _, part := range []string{"w", "max_packet_size", "8192", fmt.Sprint(long.Need)} {
			if !strings.Contains(e.Error(), part) {
				t.Errorf("%q does not name %s", e.Error(), part)
			}
		}
		r.get("/")
		if packets, _ := c.Packets(); len(packets) != 2 || c.Accepted() != 1 {
			t.Errorf("the container got %d packets on %d connections", len(packets), c.Accepted())
		}
		r.want("requests 3 client 1 hits 1 misses 1 opened 1 idle 1")
	})
}

// A large packet fits if both sides are told so.
func TestLargePackets(t *testing.T) {
	c := ajptest.NewOptions(t, "tcp", ajptest.Options{PacketSize: 65536}, nil)
	r := newRig(t, dialKinds[0].dial, c, 1, "max_packet_size=65536")
	q := request("POST", "/", strings.Repeat("b", 200000))
	q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte(strings.Repeat("x", 60000))})
	if err := r.do(q, &answer{}); err != nil {
		t.Error(err)
	}
}

// F020: the secret goes to the container and nowhere else.
func TestF020Secret(t *testing.T) {
	const secret = "kT9-unlikely-to-be-guessed"
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		var mu sync.Mutex
		said := map[string]bool{}
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			a, _ := e.Request.Attr(ajptest.AttrSecret)
			mu.Lock()
			said[a.Value] = true
			mu.Unlock()
			switch e.Request.URI {
			case "/refused":
				e.Send(ajptest.SendHeaders(403, "403"), ajptest.End(false))
			case "/close":
				e.Close()
			case "/second":
				if e.N > 1 {
					e.Close()
					return
				}
				e.Respond(200, "")
			case "/echo": // a server that sends back what it gets
				p, _ := e.Packets()
				e.Send(p[0])
			case "/echoed": // and one that does it in a packet of its own
				p, _ := e.Packets()
				e.Send(ajptest.Payload().Raw(p[0][4:]).Packet())
			case "/tail":
				e.Send(ajptest.SendHeaders(200, "200"), ajptest.Payload(0x42).Raw([]byte(secret)).Packet())
			case "/slow":
				e.Hold()
			default:
				e.Respond(200, "")
			}
		})
		r := rigMap(t, dial, 1, "127.0.0.1", c.Port(), "/*=w\n/slow=w;reply_timeout=20\n", "secret="+secret, "retry_interval=0")
		var out strings.Builder
		try := func(q *connector.Request) {
			if err := r.do(q, &answer{}); err != nil {
				fmt.Fprintf(&out, "%v\n%+v\n", err, err)
			}
		}
		for _, path := range []string{"/refused", "/refused", "/", "/close", "/second", "/second", "/echo", "/echoed", "/slow", "/tail"} {
			try(request("GET", path, ""))
			try(request("POST", path, "x"))
		}
		big := request("GET", "/", "")
		big.Fields = append(big.Fields, connector.Field{Name: []byte("X"), Value: make([]byte, 9000)})
		try(big)
		c.Close()
		try(request("GET", "/", ""))
		fmt.Fprintf(&out, "%+v\n", r.c.Stats())
		out.WriteString(r.log.String())
		mu.Lock()
		defer mu.Unlock()
		if len(said) != 1 || !said[secret] {
			t.Errorf("the container was told %v", said)
		}
		if strings.Contains(out.String(), secret) {
			t.Errorf("the secret is out:\n%s", &out)
		}
		if !strings.Contains(out.String(), "connection refused") || strings.Count(out.String(), "\n") < 10 {
			t.Errorf("too little was said for this test to mean much:\n%s", &out)
		}
	})
}

// One hint for a worker whose requests are refused before any application sees
// them; it names what was sent, and never the secret.
func TestF020Hint(t *testing.T) {
	refusal := []byte(string(ajptest.SendHeaders(403, "403")) + string(ajptest.End(false)))
	answer200 := func(reuse bool) []byte {
		return []byte(string(ajptest.SendHeaders(200, "200")) + string(ajptest.End(reuse)))
	}
	tests := []struct {
		name    string
		answers [][]byte
		hint    bool
	}{
		{"refused twice", [][]byte{refusal, refusal, refusal}, true},
		{"served first", [][]byte{answer200(true), refusal, refusal}, true},
		{"served first, closing", [][]byte{answer200(false), refusal}, true},
		{"forbidden by the application", [][]byte{[]byte(string(ajptest.SendHeaders(403, "403")) + string(ajptest.End(true)))}, false},
		{"refused with a page", [][]byte{[]byte(string(ajptest.SendHeaders(403, "403")) + string(ajptest.Chunk([]byte("no"))) + string(ajptest.End(false)))}, true},
		{"forbidden with a page", [][]byte{[]byte(string(ajptest.SendHeaders(403, "403")) + string(ajptest.Chunk([]byte("no"))) + string(ajptest.End(true)))}, false},
		{"never refused", [][]byte{answer200(true), answer200(false)}, false},
	}
	for _, tt := range tests {
		c := ajptest.New(t, func(e *ajptest.Exchange) { e.Send(tt.answers[e.Seq-1]) })
		r := newRig(t, dialKinds[0].dial, c, 1, "secret=x1y2z3")
		for range tt.answers {
			var own *connector.Error // an answer without a page gets the front's
			if err := r.do(request("GET", "/", ""), &answer{}); err != nil && !(errors.As(err, &own) && own.Own && own.Status == 403) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		log := r.log.String()
		n := 0
		for l := range strings.Lines(log) {
			if strings.Contains(l, `"level":"warn"`) && strings.Contains(l, "it refuses the secret or a request attribute") {
				n++
			}
		}
		if n != map[bool]int{true: 1}[tt.hint] {
			t.Errorf("%s: %d hints", tt.name, n)
		}
		if tt.hint && (!strings.Contains(log, `"worker":"w"`) || !strings.Contains(log, c.Addr()) || !strings.Contains(log, `"level":"warn"`) ||
			!strings.Contains(log, `"attributes":["secret","AJP_REMOTE_PORT","AJP_LOCAL_ADDR","JK_LB_ACTIVATION"]`) || strings.Contains(log, "x1y2z3")) {
			t.Errorf("%s: %s", tt.name, log)
		}
		if s := r.w.stats(); s.Errors != 0 {
			t.Errorf("%s: a refusal counts as the worker's failure: %+v", tt.name, s)
		}
	}
}
