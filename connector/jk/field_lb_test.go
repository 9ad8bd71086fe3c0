package jk

import (
	"fmt"
	"strings"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// F060: the balancer's own cookie through the life of a session.
func TestF060CookieOfASession(t *testing.T) {
	own := func(name string) ajptest.Handler {
		return func(e *ajptest.Exchange) {
			_ = e.Respond(200, name, ajptest.H("Set-Cookie", "JSESSIONID=id; Path=/app"))
		}
	}
	r, cs := newLB(t, 2, map[string]ajptest.Handler{"n1": own("n1"), "n2": own("n2")}, "", "lb.set_session_cookie=1", "lb.session_cookie=STICKY", "lb.session_cookie_path=/shop")
	cookies := func(q *connector.Request, cookie ...string) (string, string) {
		t.Helper()
		body, a := r.send(q, cookie...)
		var out []string
		for _, f := range a.fields {
			if v, ok := strings.CutPrefix(f, "Set-Cookie: "); ok {
				out = append(out, v)
			}
		}
		return body, strings.Join(out, " | ")
	}
	const theirs = "JSESSIONID=id; Path=/app"
	node, got := cookies(request("GET", "/", ""))
	same(t, "first request", got, theirs+" | STICKY=."+node+"; Path=/shop; HttpOnly")
	again, got := cookies(request("GET", "/", ""), "STICKY=."+node)
	same(t, "sticky", again+" "+got, node+" "+theirs)
	for i, name := range []string{"n1", "n2"} {
		if name == node {
			cs[i].Close()
		}
	}
	other, got := cookies(request("GET", "/", ""), "STICKY=."+node)
	if other == node {
		t.Errorf("%s answers and is closed", node)
	}
	same(t, "node down", got, theirs+" | STICKY=."+other+"; Path=/shop; HttpOnly")
	tls := request("GET", "/", "")
	tls.Secure = true
	_, got = cookies(tls, "STICKY=.unknown")
	same(t, "TLS, unknown route", got, theirs+" | STICKY=."+other+"; Path=/shop; HttpOnly; Secure")
}

// F064: which requests another member gets when the first one has read
// everything and dies, for all settings; the body is the same or it isn't sent.
func TestF064Matrix(t *testing.T) {
	for _, tt := range []struct {
		options                     string
		get, head, small, big, late string // late: the answer had begun
	}{
		{"", "n2 0", "200", "502", "502", "502"}, // as 27
		{"0", "n2 0", "200", "n2 10", "502", "502"},
		{"3", "502", "502", "502", "502", "502"},
		{"24", "n2 0", "200", "n2 10", "502", "502"},
		{"27", "n2 0", "200", "502", "502", "502"},
	} {
		for name, want := range map[string]string{"get": tt.get, "head": tt.head, "small": tt.small, "big": tt.big, "late": tt.late} {
			body := map[string]string{"small": "0123456789", "big": strings.Repeat("0123456789", 2000)}[name]
			method := map[string]string{"get": "GET", "late": "GET", "head": "HEAD"}[name]
			if method == "" {
				method = "POST"
			}
			lines := []string{"n1.retries=1"}
			if tt.options != "" {
				lines = append(lines, "n1.recovery_options="+tt.options)
			}
			r, cs := newLB(t, 2, map[string]ajptest.Handler{
				"n1": func(e *ajptest.Exchange) {
					_, _ = e.Body()
					if name == "late" {
						_ = e.Send(ajptest.SendHeaders(200, ""), ajptest.Chunk([]byte("beginning")), ajptest.Flush())
					}
					_ = e.Close()
				},
				"n2": func(e *ajptest.Exchange) {
					b, _ := e.Body()
					if string(b) != body {
						t.Errorf("%s, options %q: another body", name, tt.options)
					}
					_ = e.Respond(200, fmt.Sprint("n2 ", len(b)))
				},
			}, "", lines...)
			got, a := r.send(request(method, "/", body), "JSESSIONID=x.n1")
			if method == "HEAD" && got == "" {
				got = fmt.Sprint(a.status)
			}
			if got != want {
				t.Errorf("%s, options %q: %s, want %s", name, tt.options, got, want)
			}
			if n := cs[1].Requests(); n != map[bool]int{true: 0, false: 1}[want == "502"] {
				t.Errorf("%s, options %q: the other member got %d requests", name, tt.options, n)
			}
		}
	}
}
