package ajp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

var (
	head200  = ajptest.SendHeaders(200, "200")
	flush    = ajptest.Flush()
	bare     = ajptest.FlushBare()
	end      = ajptest.End(true)
	endClose = ajptest.End(false)
)

func chunkOf(s string) []byte { return ajptest.Chunk([]byte(s)) }

func join(p ...[]byte) []byte { return bytes.Join(p, nil) }

// TestAnswers plays good answers in pieces of every size.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		method string
		answer []byte
		head   string
		body   string
		state  State
	}{
		{"smallest", "GET", join(head200, end), "200", "", Idle},
		{"body", "GET", join(head200, chunkOf("hello"), chunkOf(" world"), end), "200", "hello world", Idle},
		{"body without trailing zeros", "GET", join(head200, ajptest.ChunkBare([]byte("hello")), end), "200", "hello", Idle},
		{"length kept", "GET", join(ajptest.SendHeaders(200, "", ajptest.H("Content-Length", "5")), chunkOf("hello"), end), "200; Content-Length: 5", "hello", Idle},
		{"HEAD", "HEAD", join(ajptest.SendHeaders(200, "200", ajptest.H("Content-Length", "5")), end), "200; Content-Length: 5", "", Idle},
		{"HEAD with a body", "HEAD", join(ajptest.SendHeaders(200, "200", ajptest.H("Content-Length", "5")), chunkOf("hello"), flush, end), "200; Content-Length: 5", "", Idle},
		{"204 with a body", "GET", join(ajptest.SendHeaders(204, "204"), chunkOf("hello"), end), "204", "", Idle},
		{"304 with a body", "GET", join(ajptest.SendHeaders(304, "304", ajptest.H("Content-Length", "9")), chunkOf("hello"), end), "304; Content-Length: 9", "", Idle},
		{"odd status", "GET", join(ajptest.SendHeadersNull(299), end), "299", "", Idle},
		{"999", "GET", join(ajptest.SendHeadersNull(999), end), "999", "", Idle},
		{"flushes everywhere", "GET", join(flush, bare, head200, flush, bare, chunkOf("a"), bare, chunkOf("b"), flush, end), "200", "ab", Idle},
		{"flushes behind the end", "GET", join(head200, end, flush, bare, flush), "200", "", Idle},
		{"100 first", "GET", join(ajptest.SendHeaders(100, "100"), head200, end), "200", "", Idle},
		{"102, 103, flush", "GET", join(ajptest.SendHeaders(102, ""), flush, ajptest.SendHeaders(103, "", ajptest.S("Link", "x")), ajptest.SendHeaders(404, ""), end), "404", "", Idle},
		{"199", "GET", join(ajptest.SendHeaders(199, ""), head200, end), "200", "", Idle},
		{"cookies", "GET", join(ajptest.SendHeaders(200, "200", ajptest.H("Set-Cookie", "a=1"), ajptest.S("set-cookie", "b=2"), ajptest.H("Set-Cookie", "c=3")), end),
			"200; Set-Cookie: a=1; set-cookie: b=2; Set-Cookie: c=3", "", Idle},
		{"reuse 0", "GET", join(head200, chunkOf("x"), endClose), "200", "x", Broken},
		{"reuse FF", "GET", join(head200, container("05 FF")), "200", "", Broken},
		{"reuse 2", "GET", join(head200, container("05 02")), "200", "", Broken},
		{"END of one byte", "GET", join(head200, chunkOf("x"), ajptest.EndBare()), "200", "x", Broken},
		{"END of three bytes", "GET", join(head200, container("05 01 00")), "200", "", Broken},
		{"chunk of zeros", "GET", join(head200, chunkOf("\x00\x00\x00"), end), "200", "\x00\x00\x00", Idle},
		{"chunk that looks like packets", "GET", join(head200, chunkOf("AB\x00\x02\x05\x01"), end), "200", "AB\x00\x02\x05\x01", Idle},
		{"largest packet", "GET", join(head200, ajptest.ChunkBare(pattern(8192-3)), end), "200", string(pattern(8192 - 3)), Idle},
		{"GET_BODY_CHUNK without a body", "GET", join(ajptest.GetBody(8186), head200, ajptest.GetBody(1), chunkOf("x"), ajptest.GetBody(0), end), "200", "x", Idle},
		{"longer GET_BODY_CHUNK", "GET", join(container("06 1FFA 00"), head200, end), "200", "", Idle},
	} {
		for _, step := range []int{1, 2, 3, 5, 7, 11, 50, 0} {
			nc := &memConn{script: [][]byte{tt.answer}, step: step}
			c := NewConn(nc, DefaultPacketSize)
			w := &recorder{isHead: tt.method == "HEAD"}
			f := encode(newRequest(tt.method, "/"))
			if err := c.Exchange(f, w, Timeouts{}); err != nil {
				t.Errorf("%s, step %d: %v", tt.name, step, err)
				continue
			}
			got := strings.ReplaceAll(strings.TrimSuffix(w.head(), "\n"), "\n", "; ")
			if got != tt.head || string(w.body) != tt.body || w.starts != 1 || w.finishes != 1 {
				t.Errorf("%s, step %d: %s, %d bytes, %v", tt.name, step, got, len(w.body), w.log)
			}
			// A late flush of which only part has come is not waited for.
			split := tt.name == "flushes behind the end" && step > 1
			if c.State() != tt.state && !split {
				t.Errorf("%s, step %d: then %v, want %v", tt.name, step, c.State(), tt.state)
			}
			if c.Status() != w.status || c.Refused() != (tt.name == "reuse 0") {
				t.Errorf("%s, step %d: status %d, refused %v", tt.name, step, c.Status(), c.Refused())
			}
			want := append(bytes.Clone(f.buf), bytes.Repeat(ajptest.DataEnd(), bytes.Count(tt.answer, []byte{'A', 'B', 0, 3, 6})+bytes.Count(tt.answer, []byte{'A', 'B', 0, 4, 6}))...)
			if !bytes.Equal(nc.out.Bytes(), want) {
				t.Errorf("%s, step %d: %d bytes sent, want %d", tt.name, step, nc.out.Len(), len(want))
			}
		}
	}
}

// TestF030Flushes tells when the client gets what.
func TestF030Flushes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script [][]byte
		want   string
	}{
		{"one piece: nothing before the end", [][]byte{join(head200, chunkOf("a"), chunkOf("b"), end)}, "start 200, finish"},
		{"flush packets", [][]byte{join(flush, head200, flush, chunkOf("a"), bare, chunkOf("b"), end)}, "start 200, flush 0, flush 1, finish"},
		{"pieces that follow at once", [][]byte{head200, chunkOf("a"), chunkOf("b"), end}, "start 200, finish"},
		{"pause behind the head", [][]byte{head200, nil, chunkOf("a"), end}, "start 200, flush 0, finish"},
		{"pauses", [][]byte{join(head200, chunkOf("a")), nil, chunkOf("bc"), nil, nil, end}, "start 200, flush 1, flush 3, finish"},
		{"pause inside a packet", [][]byte{join(head200, chunkOf("a"), chunkOf("bc")[:6]), nil, chunkOf("bc")[6:], end}, "start 200, flush 1, finish"},
		{"body wanted with the answer begun", [][]byte{join(head200, chunkOf("a"), ajptest.GetBody(10), chunkOf("b"), end)}, "start 200, flush 1, finish"},
	} {
		c := NewConn(&memConn{script: tt.script}, DefaultPacketSize)
		w := &recorder{}
		err := c.Exchange(get(), w, Timeouts{})
		if got := strings.Join(w.log, ", "); err != nil || got != tt.want || c.State() != Idle {
			t.Errorf("%s: %s; want %s (%v, %v)", tt.name, got, tt.want, err, c.State())
		}
	}
}

// TestDripping: a container that sends byte after byte, never so slowly that a
// read has to wait, can't hold back what is complete.
func TestDripping(t *testing.T) {
	nc := &dripping{slowAfter: 1}
	nc.script = [][]byte{join(head200, chunkOf("first")), chunkOf(strings.Repeat("x", 100)), end}
	c := NewConn(nc, DefaultPacketSize)
	w := &recorder{}
	if err := c.Exchange(get(), w, Timeouts{}); err != nil || len(w.body) != 105 {
		t.Fatal(err, len(w.body))
	}
	if len(w.log) < 3 || w.log[1] != "flush 5" {
		t.Errorf("%v", w.log)
	}
}

// dripping sends single bytes, a millisecond apart, whatever the deadline.
type dripping struct {
	memConn
	slowAfter int // reads
}

func (c *dripping) Read(p []byte) (int, error) {
	if c.reads >= c.slowAfter {
		c.step = 1
		time.Sleep(time.Millisecond)
	}
	return c.memConn.Read(p)
}

// TestReplyTimeoutPerPacket: the clock starts anew with every packet, and not
// with every byte.
func TestReplyTimeoutPerPacket(t *testing.T) {
	nc := &dripping{memConn: memConn{script: [][]byte{head200}}}
	w := &recorder{}
	e := exchangeError(NewConn(nc, DefaultPacketSize).Exchange(get(), w, Timeouts{Reply: 5 * time.Millisecond}))
	if e.Cause != connector.CauseTimeout || e.Phase != connector.PhaseHead || w.starts != 0 {
		t.Errorf("dripping head: %v, %v, %v", e, e.Cause, e.Phase)
	}
	nc = &dripping{memConn: memConn{script: [][]byte{pong}}}
	if err := NewConn(nc, DefaultPacketSize).CPing(3 * time.Millisecond); !errors.Is(err, errReplyTimeout) {
		t.Errorf("dripping pong: %v", err)
	}
	// Many packets take longer than one may.
	nc = &dripping{memConn: memConn{script: [][]byte{bytes.Repeat(bare, 60), join(head200, end)}}}
	if err := NewConn(nc, DefaultPacketSize).Exchange(get(), &recorder{}, Timeouts{Reply: 200 * time.Millisecond}); err != nil {
		t.Errorf("many packets: %v", err)
	}
	// The time a client takes is not the container's.
	mc := &memConn{script: [][]byte{join(head200, chunkOf("a"), chunkOf("b")[:6]), nil, chunkOf("b")[6:], end}}
	w = &recorder{onFlush: func() { time.Sleep(30 * time.Millisecond) }}
	if err := NewConn(mc, DefaultPacketSize).Exchange(get(), w, Timeouts{Reply: 20 * time.Millisecond}); err != nil || string(w.body) != "ab" {
		t.Errorf("slow client: %v", err)
	}
}

// TestDeadlines tells which deadlines are set, and that none outlives its use.
func TestDeadlines(t *testing.T) {
	nc := script(pong, answer("hello"))
	nc.step = len(pong)
	c := NewConn(nc, DefaultPacketSize)
	if err := c.CPing(time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if nc.readUntil.IsZero() || nc.writeEnd.IsZero() {
		t.Error("a ping without a limit")
	}
	time.Sleep(2 * time.Millisecond)
	nc.step = 0
	if err := c.Exchange(get(), &recorder{}, Timeouts{}); err != nil {
		t.Fatalf("the ping's limit holds for the request: %v", err)
	}
	if !nc.readUntil.IsZero() || !nc.writeEnd.IsZero() {
		t.Error("a limit where none was given")
	}
	for _, tt := range []struct {
		t     Timeouts
		cause connector.Cause
	}{
		{Timeouts{Reply: time.Hour}, connector.CauseTimeout},
		{Timeouts{Socket: time.Hour}, connector.CauseBroken},
		{Timeouts{Reply: time.Hour, Socket: 2 * time.Hour}, connector.CauseTimeout},
		{Timeouts{Reply: 2 * time.Hour, Socket: time.Hour}, connector.CauseBroken},
	} {
		for at, before := range map[string][]byte{"before headers": nil, "inside headers": head200[:7], "in the body": join(head200, chunkOf("x"))} {
			nc := &memConn{script: [][]byte{before, nil, nil}, end: memTimeout}
			w := &recorder{}
			e := exchangeError(NewConn(nc, DefaultPacketSize).Exchange(get(), w, tt.t))
			phase := map[string]connector.Phase{"before headers": connector.PhaseReply, "inside headers": connector.PhaseHead, "in the body": connector.PhaseBody}[at]
			if e.Cause != tt.cause || e.Phase != phase || w.finishes != 0 || e.BodyConsumed {
				t.Errorf("%+v, %s: %v, %v, %v", tt.t, at, e, e.Cause, e.Phase)
			}
			if isDeadline := errors.Is(e, os.ErrDeadlineExceeded); isDeadline != (tt.cause == connector.CauseBroken) {
				t.Errorf("%+v, %s: %v", tt.t, at, e)
			}
		}
	}
}

// TestF032BadPackets: whatever is wrong, the answer is not finished, the connection
// is Broken, and the cause names the packet.
func TestF032BadPackets(t *testing.T) {
	for _, bp := range ajptest.BadPackets() {
		for _, step := range []int{1, 4, 0} {
			nc := &memConn{script: [][]byte{join(bp.Before, bp.Bytes)}, step: step}
			c := NewConn(nc, DefaultPacketSize)
			w := &recorder{}
			e := exchangeError(c.Exchange(get(), w, Timeouts{}))
			phase := connector.PhaseHead
			if bp.Before != nil {
				phase = connector.PhaseBody
			}
			cause := connector.CauseProtocol
			if strings.HasPrefix(bp.Name, "cut") {
				cause = connector.CauseBroken
			}
			if c.State() != Broken || w.finishes != 0 || e.Cause != cause || e.Phase != phase || w.Started() != (bp.Before != nil) {
				t.Errorf("%s, step %d: %v (%v, %v), %v, %v", bp.Name, step, e, e.Cause, e.Phase, c.State(), w.log)
			}
			var pe *ProtocolError
			if cause == connector.CauseProtocol && (!errors.As(e, &pe) || pe.Fault == "" || !bytes.HasPrefix(bp.Bytes, pe.Head) || len(pe.Head) > 16 ||
				(step == 0 && len(pe.Head) != min(len(bp.Bytes), 16))) {
				t.Errorf("%s, step %d: %v, head % x", bp.Name, step, e, pe.Head)
			}
		}
	}
}

func TestPacketSizes(t *testing.T) {
	for _, size := range []int{8192, 9216, 16384, 65535, 65536} {
		// mod_jk takes a payload as large as max_packet_size.
		most := min(size, 65535)
		body := pattern(most - 3)
		c := NewConn(script(head200, ajptest.ChunkBare(body), end), size)
		w := &recorder{}
		if err := c.Exchange(get(), w, Timeouts{}); err != nil || !bytes.Equal(w.body, body) || c.State() != Idle {
			t.Errorf("size %d: payload of %d: %v", size, most, err)
		}
		if size > 65534 {
			continue
		}
		e := exchangeError(NewConn(script(head200, ajptest.ChunkBare(pattern(most-2)), end), size).Exchange(get(), &recorder{}, Timeouts{}))
		if e.Cause != connector.CauseProtocol || !strings.Contains(e.Error(), "max_packet_size") {
			t.Errorf("size %d: payload of %d: %v", size, most+1, e)
		}
	}
}

// TestEveryPrefix ends a good answer at every byte.
func TestEveryPrefix(t *testing.T) {
	whole := join(flush, ajptest.SendHeaders(200, "200", ajptest.H("Content-Type", "text/plain"), ajptest.H("Content-Length", "10")), chunkOf("hello"), bare, chunkOf("world"), end)
	headers := len(flush) + len(whole) - len(join(flush, chunkOf("hello"), bare, chunkOf("world"), end))
	for n := range len(whole) {
		for _, step := range []int{0, 1} {
			for _, how := range []error{io.EOF, errors.New("connection reset")} {
				c := NewConn(&memConn{script: [][]byte{whole[:n]}, step: step, end: how}, DefaultPacketSize)
				w := &recorder{}
				e := exchangeError(c.Exchange(get(), w, Timeouts{Reply: time.Minute}))
				phase := connector.PhaseBody
				switch {
				case n == 0:
					phase = connector.PhaseReply
				case n < headers:
					phase = connector.PhaseHead
				}
				if e.Phase != phase || e.Cause != connector.CauseBroken || e.BodyConsumed || c.State() != Broken || w.finishes != 0 || w.Started() != (phase == connector.PhaseBody) {
					t.Errorf("%d bytes, step %d: %v (%v, %v), %v", n, step, e, e.Phase, e.Cause, w.log)
				}
				if c.Usable() {
					t.Errorf("%d bytes: usable", n)
				}
			}
		}
	}
	c := NewConn(script(whole), DefaultPacketSize)
	if err := c.Exchange(get(), &recorder{}, Timeouts{}); err != nil || c.State() != Idle {
		t.Errorf("whole: %v", err)
	}
}

// TestLeftovers: what follows the answer must never be the next one.
func TestLeftovers(t *testing.T) {
	for name, more := range map[string][]byte{
		"answer": answer("stolen"), "chunk": chunkOf("x"), "half a flush": flush[:5], "one byte": {'A'}, "END": end,
		"flush, answer": join(flush, answer("stolen")), "pong": pong, "flush with other byte": container("03 0000 01"), "junk": []byte("junk"),
	} {
		// Arrived with the answer.
		c := NewConn(script(answer("mine"), more), DefaultPacketSize)
		w := &recorder{}
		if err := c.Exchange(get(), w, Timeouts{}); err != nil || string(w.body) != "mine" || c.State() != Broken {
			t.Errorf("%s with the answer: %v, %q, %v", name, err, w.body, c.State())
		}
		// Arrived later.
		c = NewConn(&memConn{script: [][]byte{answer("mine"), more}}, DefaultPacketSize)
		if err := c.Exchange(get(), &recorder{}, Timeouts{}); err != nil || c.State() != Idle || c.Usable() || c.State() != Broken {
			t.Errorf("%s later: %v, %v", name, err, c.State())
		}
		// Arrived with a pong.
		c = NewConn(script(pong, more), DefaultPacketSize)
		if err := c.CPing(0); err == nil || c.State() != Broken {
			t.Errorf("%s with a pong: %v, %v", name, err, c.State())
		}
	}
}

func TestUsable(t *testing.T) {
	for _, tt := range []struct {
		name string
		more [][]byte
		end  error
		want bool
	}{
		{"quiet", nil, errors.New("quiet"), true},
		{"closed", nil, io.EOF, false},
		{"flush", [][]byte{flush}, errors.New("quiet"), true},
		{"flushes", [][]byte{join(flush, bare), bare, flush}, errors.New("quiet"), true},
		{"flush, closed", [][]byte{flush}, io.EOF, false},
		{"flushes without end", bytes.SplitAfter(bytes.Repeat(bare, 1000), bare), errors.New("quiet"), false},
		{"answer", [][]byte{answer("x")}, errors.New("quiet"), false},
	} {
		nc := &memConn{script: append([][]byte{answer("mine")}, tt.more...), end: tt.end}
		c := NewConn(nc, DefaultPacketSize)
		if err := c.Exchange(get(), &recorder{}, Timeouts{Reply: time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		if got := c.Usable(); got != tt.want || (c.State() == Idle) != tt.want {
			t.Errorf("%s: %v, %v", tt.name, got, c.State())
		}
		if len(tt.more) > 0 && !nc.readUntil.IsZero() {
			t.Errorf("%s: late packets are read with the last exchange's deadline", tt.name)
		}
		if tt.want {
			nc.script = [][]byte{answer("yours")}
			w := &recorder{}
			if err := c.Exchange(get(), w, Timeouts{}); err != nil || string(w.body) != "yours" {
				t.Errorf("%s: next: %v", tt.name, err)
			}
		}
	}
}

// TestF045CPing has the variants of F045.
func TestF045CPing(t *testing.T) {
	for _, tt := range []struct {
		name string
		nc   *memConn
		want string // part of the error
	}{
		{"pong", script(pong), ""},
		{"byte by byte", &memConn{script: [][]byte{pong}, step: 1}, ""},
		{"flush, pong", script(flush, pong), ""},
		{"bare flush, pong", script(bare, pong), ""},
		{"pong, flush", script(pong, flush), ""},
		{"two flushes", script(flush, bare, pong), "awaited reply cpong, received"},
		{"chunk, pong", script(chunkOf("x"), pong), "awaited reply cpong, received"},
		{"END, pong", script(end, pong), "awaited reply cpong, received"},
		{"wrong code", script(container("0A")), "awaited reply cpong, received"},
		{"long pong", script(container("09 00")), "awaited reply cpong, received"},
		{"empty packet", script(container("")), "empty packet"},
		{"front end's magic", script(ajptest.CPing()), "wrong message format 0x1234"},
		{"HTTP", script([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")), "wrong message format 0x4854"},
		{"close", script(), "closed the connection"},
		{"half a pong, close", script(pong[:3]), "closed the connection"},
		{"silence", &memConn{end: memTimeout}, "timeout in reply cpong after 60000 ms"},
		{"two pongs", script(pong, pong), "awaited reply cpong, received more"},
		{"answer behind", script(pong, answer("x")), "awaited reply cpong, received more"},
	} {
		c := NewConn(tt.nc, DefaultPacketSize)
		err := c.CPing(time.Minute)
		if (err == nil) != (tt.want == "") || (err != nil && !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if (c.State() == Idle) != (err == nil) || (err != nil && c.State() != Broken) {
			t.Errorf("%s: %v", tt.name, c.State())
		}
		if !bytes.Equal(tt.nc.out.Bytes(), bytesOf("1234 0001 0A")) {
			t.Errorf("%s: sent % x", tt.name, tt.nc.out.Bytes())
		}
	}
}

// TestUpload plays bodies of all kinds and compares what was sent, byte for
// byte.
func TestUpload(t *testing.T) {
	for _, n := range []int{1, 8186, 8187, 20000} {
		for _, known := range []bool{true, false} {
			body := pattern(n)
			r := post(bytes.NewReader(body), -1)
			var want []byte
			rest := body
			if known {
				r.ContentLength = int64(n)
				rest = body[min(n, 8186):]
			}
			f := encode(r)
			want = append(want, f.buf...)
			var asks [][]byte
			for range 5 {
				asks = append(asks, ajptest.GetBody(8186))
				k := min(len(rest), 8186)
				if k > 0 {
					want = append(want, ajptest.Data(rest[:k])...)
				} else {
					want = append(want, ajptest.DataEnd()...)
				}
				rest = rest[k:]
			}
			nc := script(join(asks...), answer("thanks"))
			c := NewConn(nc, DefaultPacketSize)
			w := &recorder{}
			if err := c.Exchange(f, w, Timeouts{}); err != nil || string(w.body) != "thanks" || c.State() != Idle {
				t.Errorf("%d bytes, known %v: %v", n, known, err)
			}
			if !bytes.Equal(nc.out.Bytes(), want) {
				t.Errorf("%d bytes, known %v: %d bytes sent, want %d", n, known, nc.out.Len(), len(want))
			}
		}
	}
}

// TestF008UploadCut: nothing that reads as the end of the body follows a body that
// the client did not finish (F008).
func TestF008UploadCut(t *testing.T) {
	broke := &connector.ClientError{Op: "read body", Status: 400, Err: io.ErrUnexpectedEOF}
	for _, known := range []bool{true, false} {
		r := post(&pieces{left: [][]byte{pattern(50000)}, err: broke}, -1)
		if known {
			r.ContentLength = 100000
		}
		f := encode(r)
		nc := script(bytes.Repeat(ajptest.GetBody(8186), 20))
		c := NewConn(nc, DefaultPacketSize)
		e := exchangeError(c.Exchange(f, &recorder{}, Timeouts{}))
		var ce *connector.ClientError
		if e.Cause != connector.CauseClient || !e.BodyConsumed || !errors.As(e, &ce) || ce != broke || c.State() != Broken || e.Phase != connector.PhaseHead {
			t.Errorf("known %v: %v (%v, %v)", known, e, e.Cause, e.Phase)
		}
		out := nc.out.Bytes()
		total := 0
		for len(out) > 0 {
			n := int(out[2])<<8 | int(out[3])
			if n == 0 || (n == 2 && out[4] == 0 && out[5] == 0) {
				t.Errorf("known %v: an end of the body was sent", known)
			}
			if out[4] != codeForwardRequest {
				total += n - 2
			}
			out = out[4+n:]
		}
		if total > 50000 || total < 50000-8186 {
			t.Errorf("known %v: %d body bytes sent", known, total)
		}
	}
}

// TestEarlyAnswer: an answer that comes before the upload is over is passed on
// at once, and the rest of the body is left alone.
func TestEarlyAnswer(t *testing.T) {
	for _, known := range []bool{true, false} {
		body := &counting{}
		r := post(body, -1)
		taken := 0
		if known {
			r.ContentLength, taken = 10<<20, 8186
		}
		c := NewConn(script(ajptest.SendHeaders(413, "413"), chunkOf("no"), end), DefaultPacketSize)
		w := &recorder{}
		if err := c.Exchange(encode(r), w, Timeouts{}); err != nil || w.status != 413 || string(w.body) != "no" || c.State() != Idle {
			t.Errorf("known %v: %v", known, err)
		}
		if body.n != taken {
			t.Errorf("known %v: %d bytes taken from the client, want %d", known, body.n, taken)
		}
	}
}

// counting is a body without an end that counts.
type counting struct{ n int }

func (b *counting) Read(p []byte) (int, error) { b.n += len(p); return len(p), nil }

// TestWriterErrors sorts failures of the client's side from the container's.
func TestWriterErrors(t *testing.T) {
	gone := &connector.ClientError{Op: "write", Status: 400, Err: errors.New("broken pipe")}
	whole := [][]byte{join(head200, chunkOf("a"), flush, ajptest.GetBody(5), chunkOf("b")), nil, join(chunkOf("c"), end)}
	for after := range 7 { // Start, Append, Flush, Append, Flush (pause), Append, Finish
		c := NewConn(&memConn{script: append([][]byte(nil), whole...)}, DefaultPacketSize)
		w := &recorder{fail: gone, failAfter: after}
		e := exchangeError(c.Exchange(get(), w, Timeouts{}))
		want := Broken
		if after == 6 {
			want = Idle // the container has done its part
		}
		if e.Cause != connector.CauseClient || e.Phase != connector.PhaseBody || !errors.Is(e, gone) || c.State() != want {
			t.Errorf("call %d: %v (%v, %v), %v, %v", after, e, e.Cause, e.Phase, c.State(), w.log)
		}
	}
	length := func(n string, chunks ...[]byte) *memConn {
		return script(ajptest.SendHeaders(200, "200", ajptest.H("Content-Length", n)), join(chunks...), end)
	}
	for name, nc := range map[string]*memConn{
		"too few":         length("5000000000", chunkOf("hello")),
		"none":            length("1"),
		"too many":        length("4", chunkOf("hello")),
		"too many at end": length("5", chunkOf("hello"), chunkOf("!")),
	} {
		c := NewConn(nc, DefaultPacketSize)
		e := exchangeError(c.Exchange(get(), &recorder{}, Timeouts{}))
		if e.Cause != connector.CauseProtocol || e.Phase != connector.PhaseBody || c.State() != Broken || !strings.Contains(e.Error(), "Content-Length") {
			t.Errorf("%s: %v (%v, %v), %v", name, e, e.Cause, e.Phase, c.State())
		}
	}
}

// TestDropped: the names are those of the last answer, and are still right when
// its packet has been overwritten.
func TestDropped(t *testing.T) {
	// The flush lets the next read begin where the headers were.
	first := join(ajptest.SendHeaders(200, "200", ajptest.S("bad name", "x"), ajptest.S("X", "a\r\nb")), flush)
	nc := &memConn{script: [][]byte{first, chunkOf(strings.Repeat("y", 8000)), end, answer(""), {}}}
	c := NewConn(nc, DefaultPacketSize)
	if err := c.Exchange(get(), &recorder{}, Timeouts{}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q", c.Dropped()); got != `["bad name" "X"]` {
		t.Errorf("dropped %s", got)
	}
	if err := c.Exchange(get(), &recorder{}, Timeouts{}); err != nil || len(c.Dropped()) != 0 {
		t.Errorf("next answer: %v, dropped %q", err, c.Dropped())
	}
	// An exchange that fails before its headers has none.
	nc.script = [][]byte{join(ajptest.SendHeaders(200, "200", ajptest.S("bad name", "x")), end), {}}
	if err := c.Exchange(get(), &recorder{}, Timeouts{}); err != nil || len(c.Dropped()) != 1 {
		t.Fatal(err)
	}
	if err := c.Exchange(get(), &recorder{}, Timeouts{}); err == nil || len(c.Dropped()) != 0 || c.Status() != 0 {
		t.Errorf("after a failure: %v, dropped %q, status %d", err, c.Dropped(), c.Status())
	}
}

// TestLongAnswers compares every byte of long answers in pieces of many sizes,
// with a writer that holds on to them as long as it may.
func TestLongAnswers(t *testing.T) {
	body := pattern(1 << 20)
	for _, size := range []int{8192, 16384, 65536} {
		whole := join(ajptest.SendHeaders(200, "200", ajptest.H("Content-Length", strconv.Itoa(len(body)))), ajptest.Chunks(body, min(size, 65535)), end)
		for _, step := range []int{1, 1000, 1448, 8191, 8192, 8200, 65536, 100 << 10, 0} {
			if step == 1 && size != 8192 {
				continue
			}
			nc := &memConn{script: [][]byte{whole}, step: step}
			c := NewConn(nc, size)
			w := &recorder{}
			if err := c.Exchange(get(), w, Timeouts{}); err != nil || !bytes.Equal(w.body, body) || c.State() != Idle {
				t.Errorf("size %d, step %d: %v, %d bytes", size, step, err, len(w.body))
			}
			// The same connection carries a small one as well.
			nc.script = [][]byte{answer("small")}
			w = &recorder{}
			if err := c.Exchange(get(), w, Timeouts{}); err != nil || string(w.body) != "small" {
				t.Errorf("size %d, step %d: small: %v", size, step, err)
			}
		}
	}
}
