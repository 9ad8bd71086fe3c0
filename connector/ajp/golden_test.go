package ajp

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// recorded is what jkd does otherwise than the front end that was recorded, in
// each of the exchanges.
//
//   - coded: a field name with a code that was sent as a string (mod_jk does not
//     use those of Accept-Encoding and Accept-Language) is sent as the code.
//   - last: Content-Length follows the other fields.
//   - zero: a request without a body says so (mod_proxy_ajp leaves it out, and
//     is asked for a body).
//   - hop: Transfer-Encoding and Connection end at the front.
//   - activation: JK_LB_ACTIVATION is sent (mod_proxy_ajp has none).
//   - cut: the recording does not show the whole packet; size, head and tail
//     are compared.
var recorded = map[string]string{
	"mod_jk-close":               "coded hop",
	"mod_jk-cookies-two":         "coded",
	"mod_jk-delete":              "coded",
	"mod_jk-double-slash":        "coded",
	"mod_jk-error-500":           "coded",
	"mod_jk-flush":               "coded",
	"mod_jk-get-query":           "coded",
	"mod_jk-get":                 "coded",
	"mod_jk-head":                "coded",
	"mod_jk-large-header":        "coded cut",
	"mod_jk-not-found":           "coded",
	"mod_jk-options":             "coded",
	"mod_jk-page-113k":           "coded",
	"mod_jk-patch":               "coded",
	"mod_jk-path-param":          "coded",
	"mod_jk-post-20000":          "coded last",
	"mod_jk-post-8186":           "coded",
	"mod_jk-post-8187":           "coded",
	"mod_jk-post-chunked":        "coded hop",
	"mod_jk-post-empty":          "coded",
	"mod_jk-post-small":          "coded last",
	"mod_jk-propfind":            "coded",
	"mod_jk-put":                 "coded",
	"mod_jk-redirect":            "coded",
	"mod_jk-session":             "coded",
	"mod_jk-status-204":          "coded",
	"mod_jk-status-304":          "coded",
	"mod_jk-utf8-path":           "coded",
	"mod_proxy_ajp-close":        "activation hop zero",
	"mod_proxy_ajp-cookies-two":  "activation zero",
	"mod_proxy_ajp-delete":       "activation zero",
	"mod_proxy_ajp-double-slash": "activation zero",
	"mod_proxy_ajp-error-500":    "activation zero",
	"mod_proxy_ajp-flush":        "activation zero",
	"mod_proxy_ajp-get-query":    "activation zero",
	"mod_proxy_ajp-get":          "activation zero",
	"mod_proxy_ajp-head":         "activation zero",
	"mod_proxy_ajp-large-header": "activation zero cut",
	"mod_proxy_ajp-not-found":    "activation zero",
	"mod_proxy_ajp-options":      "activation zero",
	"mod_proxy_ajp-page-113k":    "activation zero",
	"mod_proxy_ajp-patch":        "activation",
	"mod_proxy_ajp-path-param":   "activation zero",
	"mod_proxy_ajp-post-20000":   "activation last",
	"mod_proxy_ajp-post-8186":    "activation",
	"mod_proxy_ajp-post-8187":    "activation",
	"mod_proxy_ajp-post-chunked": "activation hop",
	"mod_proxy_ajp-post-empty":   "activation",
	"mod_proxy_ajp-post-small":   "activation last",
	"mod_proxy_ajp-propfind":     "activation zero",
	"mod_proxy_ajp-put":          "activation",
	"mod_proxy_ajp-redirect":     "activation zero",
	"mod_proxy_ajp-session":      "activation zero",
	"mod_proxy_ajp-status-204":   "activation zero",
	"mod_proxy_ajp-status-304":   "activation zero",
	"mod_proxy_ajp-utf8-path":    "activation zero",
}

// rebuild makes the request that a front end must have had from what it sent,
// and the payload that jkd has to make of it, with the differences.
func rebuild(d *ajptest.Request) (r *Request, want *ajptest.Request, diffs []string) {
	differ := func(what string) {
		if !slices.Contains(diffs, what) {
			diffs = append(diffs, what)
		}
	}
	q := &connector.Request{
		Method: []byte(d.Method), Protocol: []byte(d.Protocol), Path: []byte(d.URI),
		RemoteAddr: []byte(d.RemoteAddr), ServerName: []byte(d.ServerName), ServerPort: d.ServerPort, Secure: d.IsSSL,
	}
	r = &Request{Request: q}
	w := *d
	w.Headers, w.Attributes = nil, nil
	length := ajptest.Header{Name: "content-length", Code: 0xA008, Value: "0"}
	chunked, hasLength := false, false
	for i, h := range d.Headers {
		switch strings.ToLower(h.Name) {
		case "content-length":
			q.ContentLength, length.Value, hasLength = d.ContentLength(), h.Value, true
			if i != len(d.Headers)-1 {
				differ("last")
			}
			continue
		case "transfer-encoding":
			chunked = true
			differ("hop")
			continue
		case "connection", "keep-alive", "expect":
			differ("hop")
			continue
		}
		q.Fields = append(q.Fields, connector.Field{Name: []byte(h.Name), Value: []byte(h.Value)})
		if code := ajptest.RequestHeaderCode(h.Name); code != h.Code {
			differ("coded")
			h.Code, h.Name = code, ajptest.RequestHeaderName(code)
		}
		w.Headers = append(w.Headers, h)
	}
	if chunked {
		q.ContentLength = -1
	} else {
		w.Headers = append(w.Headers, length)
		if !hasLength {
			differ("zero")
		}
	}
	byName := map[string]ajptest.Attribute{}
	for _, a := range d.Attributes {
		byName[a.Name] = a
	}
	if a, ok := byName["query_string"]; ok {
		q.HasQuery, q.Query = true, []byte(a.Value)
	}
	q.RemotePort, q.LocalAddr = []byte(byName["AJP_REMOTE_PORT"].Value), []byte(byName["AJP_LOCAL_ADDR"].Value)
	if _, ok := byName["JK_LB_ACTIVATION"]; !ok {
		differ("activation")
		byName["JK_LB_ACTIVATION"] = ajptest.Attribute{Code: ajptest.AttrReqAttribute, Name: "JK_LB_ACTIVATION", Value: "ACT"}
	}
	for _, name := range []string{"query_string", "stored_method", "AJP_REMOTE_PORT", "AJP_LOCAL_ADDR", "JK_LB_ACTIVATION"} {
		if a, ok := byName[name]; ok {
			w.Attributes = append(w.Attributes, a)
			delete(byName, name)
		}
	}
	for name := range byName {
		differ("unknown attribute " + name)
	}
	sent := slices.DeleteFunc(slices.Clone(w.Attributes), func(a ajptest.Attribute) bool {
		return a.Name == "JK_LB_ACTIVATION" && slices.Contains(diffs, "activation")
	})
	if !slices.Equal(sent, d.Attributes) {
		differ("order")
	}
	slices.Sort(diffs)
	return r, &w, diffs
}

// whole is a packet with what the recording leaves out filled up.
func whole(p ajptest.CapturedPacket) []byte {
	b := append([]byte(nil), p.Head...)
	if !p.Whole() {
		b = append(b, bytes.Repeat(p.Head[len(p.Head)-1:], p.Size-len(p.Head)-len(p.Tail))...)
		b = append(b, p.Tail...)
	}
	return b
}

// captured is an exchange as jkd has it.
type captured struct {
	*ajptest.Capture
	request *Request
	body    []byte // of the request
	forward []byte // jkd's FORWARD_REQUEST
	answer  []byte
	pinged  bool
	diffs   []string
}

func captures(t testing.TB) []*captured {
	var all []*captured
	for _, c := range ajptest.Captures() {
		p := c.Forward()
		if p.Size == 0 {
			continue // refused by the front end
		}
		x := &captured{Capture: c}
		head := whole(p)
		if !p.Whole() {
			head = largeHeader(p, c.Front)
			if head == nil {
				t.Errorf("%s: the recording is cut in an unexpected place", c.Name)
				continue
			}
		}
		d, err := ajptest.DecodeForward(head[4:])
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		var want *ajptest.Request
		x.request, want, x.diffs = rebuild(d)
		if !p.Whole() {
			x.diffs = append(x.diffs, "cut")
		}
		x.forward = want.Packet()
		for _, p := range c.Packets {
			b := whole(p)
			switch {
			case p.Front && bytes.Equal(b, ajptest.CPing()):
				x.pinged = true
			case p.Front && b[4:] != nil && len(b) > 6 && !bytes.Equal(p.Head, c.Forward().Head):
				x.body = append(x.body, b[6:]...)
			case !p.Front && !bytes.Equal(b, pong):
				x.answer = append(x.answer, b...)
			}
		}
		all = append(all, x)
	}
	return all
}

// largeHeader fills up a request with a long X-Big header of which the
// recording shows the ends only.
func largeHeader(p ajptest.CapturedPacket, front string) []byte {
	base := ajptest.FindCapture(front + "-get")
	d, err := ajptest.DecodeForward(base.Forward().Head[4:])
	if err != nil {
		return nil
	}
	d.URI = "/test/echo.jsp"
	big := ajptest.Header{Name: "X-Big"}
	i := slices.IndexFunc(d.Headers, func(h ajptest.Header) bool { return h.Code == 0xA008 })
	if i < 0 {
		i = len(d.Headers)
	}
	d.Headers = slices.Insert(d.Headers, i, big)
	d.Headers[i].Value = strings.Repeat("h", p.Size-len(d.Packet()))
	b := d.Packet()
	if len(b) != p.Size || !bytes.HasPrefix(b, p.Head[:64]) || !bytes.HasSuffix(b, p.Tail) {
		return nil
	}
	return b
}

// TestGoldenForward compares with what mod_jk and mod_proxy_ajp sent.
func TestGoldenForward(t *testing.T) {
	seen := 0
	for _, x := range captures(t) {
		seen++
		x.request.Body = bytes.NewReader(x.body)
		var f Forward
		if err := f.Encode(x.request, DefaultPacketSize); err != nil {
			t.Errorf("%s: %v", x.Name, err)
			continue
		}
		if got := f.buf[:min(len(f.buf), len(x.forward))]; !bytes.Equal(got, x.forward) {
			t.Errorf("%s:\n got % x\nwant % x", x.Name, got, x.forward)
		}
		diffs, ok := recorded[x.Name]
		if got := strings.Join(x.diffs, " "); !ok || got != diffs {
			t.Errorf("%s: differs in %q, not in %q", x.Name, got, diffs)
		}
		// Where mod_jk's spelling of two names is the only difference, it is
		// undone in the recorded bytes themselves.
		if diffs == "coded" {
			b := bytes.Replace(x.Forward().Head, bytesOf(`000F "Accept-Encoding" 00`), bytesOf(`A003`), 1)
			b = bytes.Replace(b, bytesOf(`000F "Accept-Language" 00`), bytesOf(`A004`), 1)
			b[2], b[3] = byte((len(b)-4)>>8), byte(len(b)-4)
			if !bytes.HasPrefix(f.buf, b) || len(b) != len(x.forward) {
				t.Errorf("%s: not the recorded bytes", x.Name)
			}
		}
		// The body packet that goes with it.
		if n := x.request.ContentLength; n > 0 {
			want := ajptest.Data(x.body[:min(int(n), 8186)])
			if int64(len(x.body)) != n || !bytes.Equal(f.buf[len(x.forward):], want) {
				t.Errorf("%s: first body packet of %d bytes, want %d", x.Name, len(f.buf)-len(x.forward), len(want))
			}
		}
	}
	if seen != len(recorded) {
		t.Errorf("%d exchanges, %d expected", seen, len(recorded))
	}
}

// TestGoldenAnswers plays every recorded answer, in pieces of several sizes.
// What jkd sends is compared as well: the body as recorded, and the end of it
// as mod_jk has it.
func TestGoldenAnswers(t *testing.T) {
	for _, x := range captures(t) {
		for _, step := range []int{0, 1, 1448} {
			nc := &memConn{script: [][]byte{x.answer}, step: step}
			c := NewConn(nc, DefaultPacketSize)
			if x.pinged {
				nc.script = [][]byte{pong}
				if err := c.CPing(0); err != nil {
					t.Errorf("%s: %v", x.Name, err)
				}
				nc.script = [][]byte{x.answer}
				nc.out.Reset()
			}
			x.request.Body = bytes.NewReader(x.body)
			w := &recorder{isHead: x.Method == "HEAD"}
			if err := c.Exchange(encode(x.request), w, Timeouts{}); err != nil {
				t.Errorf("%s, step %d: %v", x.Name, step, err)
				continue
			}
			if w.status != x.Status || len(w.body) != x.BodyBytes || w.finishes != 1 {
				t.Errorf("%s, step %d: status %d, %d bytes; the client saw %d, %d", x.Name, step, w.status, len(w.body), x.Status, x.BodyBytes)
			}
			if reuse := bytes.HasSuffix(x.answer, end); reuse != (c.State() == Idle) || reuse == c.Refused() {
				t.Errorf("%s, step %d: then %v", x.Name, step, c.State())
			}
			compareHead(t, x, w)
			want := append([]byte(nil), x.forward...)
			rest := x.body
			ask := func() []byte {
				n := min(len(rest), 8186)
				if n == 0 {
					return ajptest.DataEnd()
				}
				p := ajptest.Data(rest[:n])
				rest = rest[n:]
				return p
			}
			if x.request.ContentLength > 0 {
				want = append(want, ask()...)
			}
			for range bytes.Count(x.answer, ajptest.GetBody(8186)) {
				want = append(want, ask()...)
			}
			if !bytes.Equal(nc.out.Bytes(), want) {
				t.Errorf("%s, step %d: %d bytes sent, want %d", x.Name, step, nc.out.Len(), len(want))
			}
		}
	}
}

// compareHead compares the head that was passed on with one decoded by the
// tests' own decoder.
func compareHead(t *testing.T, x *captured, w *recorder) {
	t.Helper()
	for _, p := range x.Packets {
		if p.Front || len(p.Head) < 5 || p.Head[4] != ajptest.CodeHeaders {
			continue
		}
		h, err := ajptest.DecodeHeaders(whole(p)[4:])
		if err != nil {
			t.Errorf("%s: %v", x.Name, err)
			continue
		}
		want := fmt.Sprint(h.Status, "\n")
		for _, f := range h.Headers {
			want += f.Name + ": " + f.Value + "\n"
		}
		if got := w.head(); got != want {
			t.Errorf("%s:\n got %q\nwant %q", x.Name, got, want)
		}
	}
}
