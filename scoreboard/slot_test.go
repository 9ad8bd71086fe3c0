package scoreboard

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func at(ns int64) time.Time { return time.Unix(0, ns) }

// check compares the counters, times and texts of a slot.
type check struct {
	status                 Status
	access, bytes          uint64
	myAccess, myBytes      uint64
	conn, connBytes        uint64
	start, stop, last      int64 // ns, 0: never
	duration               time.Duration
	client, request, vhost string
	protocol               string
}

func (c check) of(t *testing.T, when string, b *Scoreboard, server, thread int) {
	t.Helper()
	w := snapshot(b).Worker(server, thread)
	nanos := func(x time.Time) int64 {
		if x.IsZero() {
			return 0
		}
		return x.UnixNano()
	}
	got := check{w.Status, w.AccessCount, w.BytesServed, w.MyAccessCount, w.MyBytesServed, w.ConnCount, w.ConnBytes,
		nanos(w.StartTime), nanos(w.StopTime), nanos(w.LastUsed), w.Duration,
		string(w.Client), string(w.Request), string(w.VHost), string(w.Protocol)}
	if got != c || w.Torn {
		t.Errorf("%s:\n got %+v (torn %v)\nwant %+v", when, got, w.Torn, c)
	}
}

// The life of a slot: two connections, three requests, the
// end of the child, and the next child.
func TestSlotLife(t *testing.T) {
	b := mustNew(t, testLayout)
	s := b.Slot(1, 2)
	want := check{}
	want.of(t, "new", b, 1, 2)

	s.SetStatus(Starting)
	want.status = Starting
	want.of(t, "starting", b, 1, 2)

	s.SetReady(10)
	want.status, want.last = Ready, 10
	want.of(t, "ready", b, 1, 2)

	s.StartConnection(20, []byte("192.0.2.1"))
	want.status, want.last, want.client = BusyRead, 20, "192.0.2.1"
	want.of(t, "connected", b, 1, 2)

	s.StartRequest(30, []byte("GET"), []byte("/a?b"), []byte("HTTP/1.1"), []byte("www.example.org:80"))
	want.status, want.start, want.last = BusyWrite, 30, 30
	want.request, want.vhost, want.protocol = "GET /a?b HTTP/1.1", "www.example.org:80", "HTTP/1.1"
	want.of(t, "first request", b, 1, 2)

	s.EndRequest(75, 1000)
	want.status, want.stop, want.last, want.duration = Logging, 75, 75, 45
	want.access, want.myAccess, want.conn = 1, 1, 1
	want.bytes, want.myBytes, want.connBytes = 1000, 1000, 1000
	want.of(t, "first answer", b, 1, 2)

	s.SetStatus(KeepAlive)
	want.status = KeepAlive
	want.of(t, "keep-alive", b, 1, 2)

	s.StartRequest(100, []byte("POST"), []byte("/"), []byte("HTTP/1.0"), []byte("x"))
	want.status, want.start, want.last = BusyWrite, 100, 100
	want.request, want.vhost, want.protocol = "POST / HTTP/1.0", "x", "HTTP/1.0"
	want.of(t, "second request", b, 1, 2)

	s.EndRequest(101, 0)
	want.status, want.stop, want.last, want.duration = Logging, 101, 101, 46
	want.access, want.myAccess, want.conn = 2, 2, 2
	want.of(t, "second answer", b, 1, 2)

	s.SetStatus(Closing)
	s.SetReady(200)
	want.status, want.last, want.conn, want.connBytes = Ready, 200, 0, 0
	want.of(t, "ready again, the last request is still there", b, 1, 2)

	s.StartConnection(300, []byte("2001:db8::1"))
	want.status, want.last, want.client = BusyRead, 300, "2001:db8::1"
	want.request, want.vhost, want.protocol = "", "", ""
	want.of(t, "second connection", b, 1, 2)

	// A request that could not be read is answered and counted, but took no time.
	s.EndRequest(310, 7)
	want.status, want.start, want.stop, want.last = Logging, 310, 310, 310
	want.access, want.myAccess, want.conn = 3, 3, 1
	want.bytes, want.myBytes, want.connBytes = 1007, 1007, 7
	want.of(t, "bad request", b, 1, 2)

	b.Reclaim(1)
	want.status = Dead
	want.myAccess, want.conn, want.myBytes, want.connBytes = 0, 0, 0, 0
	want.of(t, "reclaimed", b, 1, 2)

	// The next child counts on from there.
	s = b.Slot(1, 2)
	s.SetReady(400)
	s.StartConnection(410, []byte("192.0.2.1"))
	s.StartRequest(420, []byte("GET"), []byte("/"), []byte("HTTP/1.1"), nil)
	s.EndRequest(430, 1)
	want = check{status: Logging, access: 4, bytes: 1008, myAccess: 1, myBytes: 1, conn: 1, connBytes: 1,
		start: 420, stop: 430, last: 430, duration: 56, client: "192.0.2.1", request: "GET / HTTP/1.1", protocol: "HTTP/1.1"}
	want.of(t, "the next child", b, 1, 2)

	// None of this touched another slot.
	for i, w := range snapshot(b).Workers {
		if i != 1*testLayout.ThreadLimit+2 && (w.Status != Dead || w.AccessCount != 0 || len(w.Request) != 0) {
			t.Errorf("slot %d: %+v", i, w)
		}
	}
}

func TestClockSetBack(t *testing.T) {
	b := mustNew(t, testLayout)
	s := b.Slot(0, 0)
	s.StartRequest(1000, []byte("GET"), []byte("/"), []byte("HTTP/1.1"), nil)
	s.EndRequest(400, 1)
	w := snapshot(b).Worker(0, 0)
	if w.Duration != 0 || !w.StopTime.Equal(at(400)) || !w.StartTime.Equal(at(1000)) {
		t.Errorf("duration %v, start %v, stop %v", w.Duration, w.StartTime, w.StopTime)
	}
}

func TestRequestText(t *testing.T) {
	long := strings.Repeat("0123456789", 30)
	tests := []struct{ method, target, protocol, want string }{
		{"GET", "/", "HTTP/1.1", "GET / HTTP/1.1"},
		{"GET", "", "", "GET  "},
		{"", "", "", "  "},
		{"OPTIONS", "*", "HTTP/1.0", "OPTIONS * HTTP/1.0"},
		// Cut to 63 bytes, at each part.
		{"GET", "/" + long, "HTTP/1.1", ("GET /" + long)[:63]},
		{"GET", "/" + long[:49], "HTTP/1.1", "GET /" + long[:49] + " HTTP/1.1"},
		{"GET", "/" + long[:50], "HTTP/1.1", "GET /" + long[:50] + " HTTP/1."},
		{"GET", "/" + long[:57], "HTTP/1.1", "GET /" + long[:57] + " "},
		{"GET", "/" + long[:58], "HTTP/1.1", "GET /" + long[:58]},
		{long, "/", "HTTP/1.1", long[:63]},
		{long[:63], "/", "HTTP/1.1", long[:63]},
		{long[:62], "/", "HTTP/1.1", long[:62] + " "},
		{"GET", "/", long, ("GET / " + long)[:63]},
		// Passwords of URLs.
		{"GET", "http://joe:secret@host/x?y=a:b@c", "HTTP/1.1", "GET http://joe@host/x?y=a:b@c HTTP/1.1"},
		{"GET", "http://joe:se:c@ret@host/", "HTTP/1.1", "GET http://joe@host/ HTTP/1.1"},
		{"GET", "http://:secret@host/", "HTTP/1.1", "GET http://@host/ HTTP/1.1"},
		{"GET", "http://joe@host:80/", "HTTP/1.1", "GET http://joe@host:80/ HTTP/1.1"},
		{"GET", "http://host:80/a@b", "HTTP/1.1", "GET http://host:80/a@b HTTP/1.1"},
		{"GET", "http://joe:secret@host", "HTTP/1.1", "GET http://joe@host HTTP/1.1"},
		{"GET", "http://joe:secret@host?q", "HTTP/1.1", "GET http://joe@host?q HTTP/1.1"},
		{"GET", "http://joe:" + long + "@host/", "HTTP/1.1", "GET http://joe@host/ HTTP/1.1"},
		{"CONNECT", "joe:secret@host:443", "HTTP/1.1", "CONNECT joe@host:443 HTTP/1.1"},
		{"CONNECT", "host:443", "HTTP/1.1", "CONNECT host:443 HTTP/1.1"},
		{"GET", "/http://joe:secret@host/", "HTTP/1.1", "GET /http://joe:secret@host/ HTTP/1.1"}, // a path
		{"GET", "://:@", "HTTP/1.1", "GET ://@ HTTP/1.1"},
		{"GET", "@", "HTTP/1.1", "GET @ HTTP/1.1"},
	}
	b := mustNew(t, testLayout)
	s := b.Slot(0, 0)
	for _, tt := range tests {
		s.StartRequest(1, []byte(tt.method), []byte(tt.target), []byte(tt.protocol), nil)
		if got := string(snapshot(b).Worker(0, 0).Request); got != tt.want {
			t.Errorf("%q %.80q %.20q:\n got %q\nwant %q", tt.method, tt.target, tt.protocol, got, tt.want)
		}
	}
}

// Texts of every length, after each other, in each field.
func TestTextLengths(t *testing.T) {
	b := mustNew(t, testLayout)
	s := b.Slot(3, 2)
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []byte("abcdefghijklmnopqrstuvwxyzäöü")
	text := func() []byte {
		p := make([]byte, rnd.IntN(80))
		for i := range p {
			p[i] = letters[rnd.IntN(len(letters))]
		}
		return p
	}
	cut := func(p []byte, most int) string { return string(p[:min(len(p), most)]) }
	var v View
	for range 3000 {
		client, method, vhost, protocol := text(), text(), text(), text()
		s.StartConnection(1, client)
		s.StartRequest(2, method, nil, protocol, vhost)
		b.Snapshot(&v)
		w := v.Worker(3, 2)
		request := append(append(method, "  "...), protocol...)
		if string(w.Client) != cut(client, MaxClient) || string(w.Request) != cut(request, MaxRequest) ||
			string(w.VHost) != cut(vhost, MaxVHost) || string(w.Protocol) != cut(protocol, MaxProtocol) {
			t.Fatalf("client %q %q, request %q %q, vhost %q %q, protocol %q %q", w.Client, client, w.Request, request,
				w.VHost, vhost, w.Protocol, protocol)
		}
	}
	if MaxRequest != 63 || MaxVHost != 31 || MaxProtocol != 15 || MaxClient != 47 {
		t.Errorf("bounds are %d, %d, %d, %d", MaxRequest, MaxVHost, MaxProtocol, MaxClient)
	}
}

func TestPack(t *testing.T) {
	text := []byte("\x81\x92\xa3\xb4\xc5\xd6\xe7\xf8\x09")
	for n := range len(text) + 1 {
		var want uint64
		for i, c := range text[:min(n, wordSize)] {
			want |= uint64(c) << (8 * i)
		}
		if got := pack(text[:n]); got != want {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}

// A zero byte ends a text; nothing of an older, longer text shows behind it.
func TestTextZeroByte(t *testing.T) {
	b := mustNew(t, testLayout)
	s := b.Slot(0, 0)
	s.StartConnection(1, []byte("a long name of a client"))
	s.StartConnection(2, []byte("x\x00y"))
	if got := string(snapshot(b).Worker(0, 0).Client); got != "x" {
		t.Errorf("client is %q", got)
	}
	s.StartConnection(2, nil)
	if got := string(snapshot(b).Worker(0, 0).Client); got != "" {
		t.Errorf("client is %q", got)
	}
}

// A handle taken later sees what an earlier one wrote, and one that outlives a
// Reclaim goes on rightly.
func TestHandles(t *testing.T) {
	b := mustNew(t, testLayout)
	first := b.Slot(0, 1)
	first.StartConnection(1, []byte("a"))
	first.StartRequest(2, []byte("GET"), []byte("/first"), []byte("HTTP/1.1"), []byte("v"))
	first.EndRequest(3, 10)
	second := b.Slot(0, 1)
	second.StartRequest(4, []byte("GET"), []byte("/"), []byte("HTTP/1.1"), []byte("v"))
	second.EndRequest(5, 1)
	want := check{status: Logging, access: 2, bytes: 11, myAccess: 2, myBytes: 11, conn: 2, connBytes: 11,
		start: 4, stop: 5, last: 5, duration: 2, client: "a", request: "GET / HTTP/1.1", vhost: "v", protocol: "HTTP/1.1"}
	want.of(t, "second handle", b, 0, 1)
	b.Reclaim(0)
	second.StartConnection(6, []byte("a"))
	second.EndRequest(7, 1)
	want = check{status: Logging, access: 3, bytes: 12, myAccess: 1, myBytes: 1, conn: 1, connBytes: 1,
		start: 7, stop: 7, last: 7, duration: 2, client: "a"}
	want.of(t, "after Reclaim", b, 0, 1)
}

func TestSlotDoesNotAllocate(t *testing.T) {
	b := mustNew(t, testLayout)
	s, p := b.Slot(0, 0), b.Process(0)
	client, method, target := []byte("192.0.2.1"), []byte("GET"), []byte("http://joe:secret@host/path")
	protocol, vhost := []byte("HTTP/1.1"), []byte("www.example.org:80")
	now := int64(0)
	if n := testing.AllocsPerRun(100, func() {
		now++
		s.SetReady(now)
		s.StartConnection(now, client)
		s.StartRequest(now, method, target, protocol, vhost)
		s.EndRequest(now, 5)
		s.SetStatus(KeepAlive)
		_ = s.Status()
		p.SetPID(1, 2, now)
		p.SetCPU(1, 2)
		p.SetQuiescing(true)
		p.SetNotAccepting(true)
		_ = p.Quiescing()
		_ = b.Counts(0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
