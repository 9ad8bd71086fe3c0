package ajptest

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

func TestCapturesDecode(t *testing.T) {
	all := Captures()
	if len(all) != 58 {
		t.Fatalf("%d captures, want 58", len(all))
	}
	whole := 0
	for _, c := range all {
		forwards := 0
		for i, p := range c.Packets {
			if !p.Front {
				continue
			}
			if !p.Whole() {
				forwards += bytes.Count(p.Head[4:5], []byte{CodeForward})
				continue
			}
			payload := p.Head[4:]
			switch {
			case len(payload) == 1 && payload[0] == CodeCPing:
				if !bytes.Equal(p.Head, CPing()) {
					t.Errorf("%s, packet %d: CPING % x", c.Name, i, p.Head)
				}
			case len(payload) == 0:
				if !bytes.Equal(p.Head, DataEnd()) {
					t.Errorf("%s, packet %d: end of body % x", c.Name, i, p.Head)
				}
			case forwards > 0:
				if !bytes.Equal(p.Head, Data(payload[2:])) {
					t.Errorf("%s, packet %d: body packet % x", c.Name, i, p.Head)
				}
			default:
				forwards++
				whole++
				checkForward(t, c, p.Head)
			}
		}
	}
	// Two requests were refused by the front end, two are shown shortened.
	if whole != 54 {
		t.Errorf("%d FORWARD_REQUESTs shown whole, want 54", whole)
	}
}

func checkForward(t *testing.T, c *Capture, packet []byte) {
	t.Helper()
	r, err := DecodeForward(packet[4:])
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	target := r.URI
	if q, ok := r.Query(); ok {
		target += "?" + q
	}
	// Apache merges slashes before either module sees the path.
	if want := strings.ReplaceAll(c.Target, "//", "/"); r.Method != c.Method || target != want {
		t.Errorf("%s: decoded %s %s, the client sent %s %s", c.Name, r.Method, target, c.Method, c.Target)
	}
	if r.RemoteAddr != "127.0.0.1" || !r.RemoteHostNull || r.IsSSL || r.Protocol != "HTTP/1.1" {
		t.Errorf("%s: %+v", c.Name, r)
	}
	if _, ok := r.ReqAttr("AJP_REMOTE_PORT"); !ok {
		t.Errorf("%s: no AJP_REMOTE_PORT among %q", c.Name, r.AttrNames())
	}
	if act, _ := r.ReqAttr("JK_LB_ACTIVATION"); (act == "ACT") != (c.Front == "mod_jk") {
		t.Errorf("%s: JK_LB_ACTIVATION %q", c.Name, act)
	}
	if got := r.Packet(); !bytes.Equal(got, packet) {
		t.Errorf("%s: encoded again\n% x\nwant\n% x", c.Name, got, packet)
	}
}

// TestCapturesRebuild builds each packet of the container from its decoded
// content; the body is what the client saw.
func TestCapturesRebuild(t *testing.T) {
	counts := map[byte]int{}
	for _, c := range Captures() {
		body := 0
		for i, p := range c.Packets {
			if p.Front {
				continue
			}
			code := p.Head[4]
			counts[code]++
			var got []byte
			switch code {
			case CodeHeaders:
				h, err := DecodeHeaders(p.Head[4:])
				if err != nil {
					t.Errorf("%s, packet %d: %v", c.Name, i, err)
					continue
				}
				if h.Status != c.Status || h.Message != strconv.Itoa(c.Status) {
					t.Errorf("%s: status %d %q, the client saw %d", c.Name, h.Status, h.Message, c.Status)
				}
				hs := make([]Header, 0, len(h.Headers))
				for _, x := range h.Headers {
					hs = append(hs, H(x.Name, x.Value))
				}
				got = SendHeaders(h.Status, h.Message, hs...)
			case CodeChunk:
				n := int(p.Head[5])<<8 | int(p.Head[6])
				body += n
				if !p.Whole() {
					if n != p.Size-8 || p.Tail[len(p.Tail)-1] != 0 {
						t.Errorf("%s, packet %d: chunk of %d in %d bytes, last byte %#x", c.Name, i, n, p.Size, p.Tail[len(p.Tail)-1])
					}
					continue
				}
				data, err := DecodeChunk(p.Head[4:])
				if err != nil {
					t.Errorf("%s, packet %d: %v", c.Name, i, err)
				}
				if got = Chunk(data); n == 0 {
					got = Flush()
				}
			case CodeGetBody:
				got = GetBody(DefaultPacketSize - 6)
			case CodeEnd:
				got = End(true)
			case CodeCPong:
				got = CPong()
			default:
				t.Errorf("%s, packet %d: code %d", c.Name, i, code)
			}
			if !bytes.Equal(got, p.Head) {
				t.Errorf("%s, packet %d: built\n% x\nrecorded\n% x", c.Name, i, got, p.Head)
			}
		}
		if body != c.BodyBytes && len(c.Packets) > 0 {
			t.Errorf("%s: %d body bytes in the packets, the client saw %d", c.Name, body, c.BodyBytes)
		}
	}
	for _, code := range []byte{CodeChunk, CodeHeaders, CodeEnd, CodeGetBody, CodeCPong} {
		if counts[code] == 0 {
			t.Errorf("no packet with code %d in any capture", code)
		}
	}
}

func TestReadCaptureErrors(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"bytes first":       "41 42\n",
		"bad size":          "> x bytes\n",
		"size 3":            "> 3 bytes\n 12 34 00\n",
		"too few":           "> 5 bytes\n 12 34 00 01\n",
		"too many":          "> 4 bytes\n 12 34 00 00 00\n",
		"bad hex":           "> 4 bytes\n 12 34 0 00\n",
		"wrong direction":   "< 4 bytes\n 12 34 00 00\n",
		"wrong length":      "> 4 bytes\n 12 34 00 01\n",
		"shown too much":    "> 8 bytes, first 6 and last 6 shown\n 12 34 00 04 00 00\n...\n 0 0 0 0 0 0\n",
		"tail missing":      "> 9 bytes, first 4 and last 2 shown\n 12 34 00 05\n",
		"nonsense in shown": "> 9 bytes, some shown\n 12 34 00 05\n",
	} {
		if c, err := ReadCapture("x", strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %+v", name, c)
		}
	}
	c, err := ReadCapture("x", strings.NewReader("# f: GET /a b\n# client saw: 200, 3 body bytes\n> 9 bytes, first 4 and last 2 shown\n 12 34 00 05\n...\n aa bb\n"))
	if err != nil || c.Front != "f" || c.Method != "GET" || c.Target != "/a b" || c.Status != 200 || c.BodyBytes != 3 || c.Packets[0].Whole() {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestFindCapture(t *testing.T) {
	if c := FindCapture("mod_jk-get"); c.Target != "/test/hello.jsp" || c.Forward().Size != 205 {
		t.Errorf("%+v", c)
	}
}
