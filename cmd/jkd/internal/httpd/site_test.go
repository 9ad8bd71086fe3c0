//go:build unix

package httpd

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/scoreboard"
)

func TestLocationCovers(t *testing.T) {
	for _, tc := range []struct {
		path string
		yes  []string
		no   []string
	}{
		{"/app", []string{"/app", "/app/", "/app/x/y"}, []string{"/application", "/ap", "/", "/App", "/x/app", "*"}},
		{"/app/", []string{"/app/", "/app/x"}, []string{"/app", "/apps/"}},
		{"/", []string{"/", "/x", "/x/y"}, []string{"*", ""}},
		{"/*.do", []string{"/a.do", "/.do"}, []string{"/a/b.do", "/a.dox", "/a.d"}},
		{"/a/*/c", []string{"/a/b/c", "/a//c"}, []string{"/a/b/b/c", "/a/c", "/a/b/c/d"}},
		{"/a/*", []string{"/a/", "/a/b"}, []string{"/a", "/a/b/c"}},
		{"/v?/x", []string{"/v1/x"}, []string{"/v/x", "/v12/x", "/v//x"}},
		{"/*/*", []string{"/a/b"}, []string{"/a", "/a/b/c"}},
		{"/" + repeat("*a", 50) + "b", nil, []string{"/" + repeat("a", 2000)}},
		{"", nil, []string{"/", ""}},
	} {
		l := Location{Path: tc.path}
		for _, p := range tc.yes {
			if !l.covers([]byte(p)) {
				t.Errorf("%s does not cover %s", tc.path, p)
			}
		}
		for _, p := range tc.no {
			if l.covers([]byte(p)) {
				t.Errorf("%.20s covers %.20s", tc.path, p)
			}
		}
	}
}

// sites are a main server and one virtual host, "v" on any port.
func sites(o Options) Options {
	o.VHost = func(host []byte, port int) int {
		if port == 0 {
			return 0
		}
		if string(host) == "v" {
			return 1
		}
		return 0
	}
	o.Sites = []Site{
		{Env: []EnvSetting{{Name: "A", Value: "main"}}, Locations: []Location{
			{Path: "/app", Handler: "h", Env: []EnvSetting{{Name: "B", Value: "app"}}},
			{Path: "/app/deep", Env: []EnvSetting{{Name: "A", Unset: true}, {Name: "B", Value: "deep"}}},
		}},
		{Env: []EnvSetting{{Name: "A", Value: "main"}, {Name: "A", Value: "v"}, {Name: "empty"}}},
	}
	return o
}

// placed answers with what the configuration set for the request.
func placed(r *connector.Request, w connector.ResponseWriter) error {
	s := fmt.Sprintf("%d %q", r.VHost, r.Handler)
	for _, name := range []string{"A", "B", "empty"} {
		if v, ok := r.Env.Get(name); ok {
			s += fmt.Sprintf(" %s=%s", name, v)
		}
	}
	if r.Notes.Wanted() {
		s += " notes"
	}
	return reply(w, 200, s)
}

func TestSites(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, sites(defaults()), placed)
		c := s.dial()
		// One connection: nothing of a request is left to the next.
		for _, tc := range [][3]string{
			{"/", "x", `0 "" A=main`},
			{"/app", "x:80", `0 "h" A=main B=app`},
			{"/app/deep/x", "x", `0 "h" B=deep`},
			{"/%61pp;x=y/./deep", "x", `0 "h" B=deep`},
			{"/application", "x", `0 "" A=main`},
			{"/app", "v:1234", `1 "" A=v empty=`},
			{"/app", "", `0 "h" A=main B=app`},
			{"http://v/", "x", `1 "" A=v empty=`},
			{"/", "x", `0 "" A=main`},
		} {
			if tc[1] == "" {
				c.send("GET " + tc[0] + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
			} else {
				c.send("GET " + tc[0] + " HTTP/1.1\r\nHost: " + tc[1] + "\r\n\r\n")
			}
			if a := c.want(200); a.body != tc[2] {
				t.Errorf("%s of %s: got %s, want %s", tc[0], tc[1], a.body, tc[2])
			}
		}
	})
	t.Run("nothing configured", func(t *testing.T) {
		s := start(t, "blocking", defaults(), placed)
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if a := c.want(200); a.body != `0 ""` {
			t.Errorf("got %s", a.body)
		}
	})
}

// What a container answers for the front to make the page of is no failure.
func TestOwnErrorPage(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		own := &connector.Error{Worker: "fake", Op: "answer", Status: 401, Own: true, Fields: fields(
			`WWW-Authenticate: Basic realm="x"`, "Set-Cookie: a=b", "Set-Cookie: c=d", "Content-Length: 7", "Content-Type: text/secret",
			"Content-Encoding: gzip", "ETag: x", "Connection: close", "Transfer-Encoding: chunked")}
		s := start(t, kind, defaults(), func(r *connector.Request, w connector.ResponseWriter) error {
			if string(r.Path) == "/started" {
				_ = w.Start(401, own.Fields)
				_ = w.Append([]byte("secret!"))
			}
			if string(r.Path) == "/moved" {
				return &connector.Error{Worker: "fake", Op: "answer", Status: 302, Own: true, Fields: fields("Location: /there")}
			}
			return own
		})
		c := s.dial()
		for _, path := range []string{"/", "/started"} {
			c.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
			a := c.want(401)
			if a.Header.Get("WWW-Authenticate") != `Basic realm="x"` || len(a.Header.Values("Set-Cookie")) != 2 ||
				a.Header.Get("Content-Type") != "text/html; charset=utf-8" || len(a.Header.Values("Content-Type")) != 1 ||
				a.Header.Get("Content-Encoding") != "" || a.Header.Get("ETag") != "" || a.Close ||
				!strings.Contains(a.body, "<h1>Unauthorized</h1>") || strings.Contains(a.body, "secret") {
				t.Errorf("%s: got %v %s", path, a.Header, a.body)
			}
		}
		c.send("GET /moved HTTP/1.1\r\nHost: x\r\n\r\n")
		if a := c.want(302); a.Header.Get("Location") != "/there" {
			t.Errorf("got %v", a.Header)
		}
		c.open401()
		if log := s.log.String(); strings.Contains(log, `"level":"error"`) || !strings.Contains(log, `"level":"debug"`) {
			t.Errorf("logged %s", log)
		}
	})
}

// open401 checks that the connection is served another request.
func (c *client) open401() {
	c.t.Helper()
	c.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
	if a := c.answer(http.MethodHead); a.StatusCode != 401 || a.body != "" {
		c.t.Fatalf("status %d, body %q", a.StatusCode, a.body)
	}
}

// TestSiteAllocations: variables, locations and logs cost no memory either.
func TestSiteAllocations(t *testing.T) {
	_, slot := newQuickServer(t, nil)
	o := sites(defaults())
	o.Log = zerolog.Nop()
	o.Connectors = []connector.Connector{newQuick()}
	o.Sites[0].Logs = []AccessLog{{W: io.Discard, Format: format("%{Content-Type}o %{B}e %{N}n %^FB %I"), Env: "B"}, {W: io.Discard, Format: format("%v"), Env: "!B"}}
	s := New(o)
	const n = 2000
	for _, raw := range []string{"GET /app/deep HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: v\r\n\r\n"} {
		allocs := testing.AllocsPerRun(3, func() { s.ServeConn(&loop{request: []byte(raw), n: n}, &scoreboard.Seat{Slot: slot}) })
		if allocs > 100 {
			t.Errorf("%v allocations for %d requests", allocs, n)
		}
	}
}
