package httpd

import (
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"jkd/connector"
)

// TestErrorDocument: what failed is answered with what the configuration has for
// its status, and with jkd's own page if that fails too.
func TestErrorDocument(t *testing.T) {
	o := defaults()
	o.Sites = []Site{{
		Answers: Answers{Documents: []ErrorDocument{
			{Status: 503, Path: []byte("/not/this")},
			{Status: 503, Path: []byte("/page?why=503")},
			{Status: 502, Text: "<p>sorry"},
			{Status: 500, URL: "http://other.test/"},
			{Status: 404, Path: []byte("/answer/404/for/itself")},
			{Status: 403, Path: []byte("/denied/too")},
			{Status: 410, Path: []byte("/fail/503")},
			{Status: 411, Path: []byte("/answer/302/to")},
			{Status: 412, Path: []byte("/../out")},
			{Status: 413, Path: []byte("/page")},
		}},
		Locations: []Location{
			{Path: "/fail/503/own", Answers: Answers{Documents: []ErrorDocument{{Status: 503, Text: "of a location"}}}},
			{Path: "/fail/503/own/none", Answers: Answers{Documents: []ErrorDocument{{Status: 503}}}},
			{Path: "/denied", Require: func(netip.Addr) bool { return false }},
			{Path: "/page", Env: []EnvSetting{{Name: "SITE", Value: "page"}}},
		},
	}}
	o.LimitRequestBody = 100
	s := start(t, "blocking", o, func(r *connector.Request, w connector.ResponseWriter) error {
		part := strings.Split(string(r.MatchPath), "/")
		if part[1] == "page" {
			var env, fields []string
			r.Env.Each(func(name, value string) { env = append(env, name+"="+value) })
			for _, f := range r.Fields {
				fields = append(fields, string(f.Name))
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return serviceError(err)
			}
			return reply(w, 200, fmt.Sprintf("%s ?%s %v %v %d %q", r.Method, r.Query, env, fields, r.ContentLength, body))
		}
		status, _ := strconv.Atoi(part[2])
		if part[1] == "answer" {
			return reply(w, status, "the page's own")
		}
		if part[1] == "read" {
			if _, err := io.ReadAll(r.Body); err != nil {
				return serviceError(err)
			}
		}
		return &connector.Error{Worker: "w", Op: "test", Status: status, Fields: []connector.Field{
			{Name: []byte("Retry-After"), Value: []byte("7")}, {Name: []byte("Content-Type"), Value: []byte("text/x")}}}
	})
	for _, tt := range []struct {
		request string
		status  int
		body    string // a part of it
		retry   string
	}{
		{"GET /x/../fail/503?a=b HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1\r\nIf-None-Match: *\r\nX: y\r\n\r\n", 503,
			`GET ?why=503 [SITE=page REDIRECT_STATUS=503 REDIRECT_REQUEST_METHOD=GET REDIRECT_URL=/fail/503 REDIRECT_QUERY_STRING=a=b] [Host X] 0 ""`, "7"},
		{"POST /read/503 HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: 4\r\n\r\nbody", 503,
			`GET ?why=503 [SITE=page REDIRECT_STATUS=503 REDIRECT_REQUEST_METHOD=POST REDIRECT_URL=/read/503] [Host] 0 ""`, "7"},
		{"HEAD /fail/503 HTTP/1.1\r\nHost: x\r\n\r\n", 503, "", "7"},
		{"GET /fail/503/own/x HTTP/1.1\r\nHost: x\r\n\r\n", 503, "of a location", "7"},
		{"GET /fail/503/own/none HTTP/1.1\r\nHost: x\r\n\r\n", 503, "not available at the moment", "7"},
		{"GET /fail/502 HTTP/1.1\r\nHost: x\r\n\r\n", 502, "<p>sorry", "7"},
		{"GET /fail/500 HTTP/1.1\r\nHost: x\r\n\r\n", 302, "at another address", ""},
		{"GET /fail/504 HTTP/1.1\r\nHost: x\r\n\r\n", 504, "did not answer in time", "7"},
		{"GET /fail/404 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "the page's own", "7"},
		{"GET /answer/404 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "the page's own", ""},
		{"GET /denied/x HTTP/1.1\r\nHost: x\r\n\r\n", 403, "You may not see this address", ""},
		{"GET /fail/410 HTTP/1.1\r\nHost: x\r\n\r\n", 410, "gone for good", "7"},
		{"GET /fail/411 HTTP/1.1\r\nHost: x\r\n\r\n", 302, "the page's own", "7"},
		{"GET /fail/412 HTTP/1.1\r\nHost: x\r\n\r\n", 412, "does not meet the conditions", "7"},
		{"POST /read/503 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + strings.Repeat("x", 101) + "\r\n0\r\n\r\n", 413, `GET ? [`, ""},
		{"POST /fail/503 HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n", 503, `[Host] 0 ""`, "7"},
		{"GET /bad%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "could not understand", ""},
	} {
		c := s.dial()
		c.send(tt.request)
		method, _, _ := strings.Cut(tt.request, " ")
		a := c.answer(method)
		if a.StatusCode != tt.status || a.err != nil {
			t.Errorf("%q: status %d, %v, want %d", tt.request, a.StatusCode, a.err, tt.status)
		}
		if !strings.Contains(a.body, tt.body) || a.Header.Get("Retry-After") != tt.retry {
			t.Errorf("%q: %q %v, want %q", tt.request, a.body, a.Header, tt.body)
		}
		if tt.status == 502 && a.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("content type %q", a.Header.Get("Content-Type"))
		}
		// What follows is another request.
		if !a.Close {
			c.send("GET /page HTTP/1.1\r\nHost: x\r\n\r\n")
			if a := c.want(200); !strings.HasPrefix(a.body, "GET ? [SITE=page] [Host] 0") {
				t.Errorf("%q: then %q", tt.request, a.body)
			}
		}
	}
}

// The access log has the request as it came, and the status as it went.
func TestErrorDocumentLog(t *testing.T) {
	out := &logBuffer{}
	o := defaults()
	o.Sites = logged(out, "%r %>s %B")
	o.Sites[0].Documents = []ErrorDocument{{Status: 503, Path: []byte("/page")}}
	s := start(t, "blocking", o, func(r *connector.Request, w connector.ResponseWriter) error {
		if string(r.Path) == "/page" {
			return reply(w, 200, "sorry")
		}
		return &connector.Error{Worker: "w", Op: "test", Status: 503}
	})
	c := s.dial()
	c.send("PUT /x?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	c.want(503)
	const want = "PUT /x?a=b HTTP/1.1 503 5\n"
	eventually(t, "log line", func() bool { return out.String() != "" })
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
