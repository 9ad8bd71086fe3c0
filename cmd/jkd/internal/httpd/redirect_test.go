package httpd

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"

	"jkd/connector"
)

// TestRedirect: a request that is for another path is placed and mapped anew, with
// what is left of it, but not for ever.
func TestRedirect(t *testing.T) {
	o := defaults()
	o.Sites = []Site{{Env: []EnvSetting{{Name: "site", Value: "1"}}, Locations: []Location{
		{Path: "/from", Env: []EnvSetting{{Name: "from", Value: "1"}}, Handler: "h", Number: 1},
		{Path: "/to", Env: []EnvSetting{{Name: "to", Value: "1"}}, Number: 3},
		{Path: "/denied", Require: func(netip.Addr) bool { return false }},
	}}}
	s := start(t, "blocking", o, func(r *connector.Request, w connector.ResponseWriter) error {
		if to, ok := strings.CutPrefix(string(r.Path), "/from"); ok {
			return &connector.Redirect{Path: []byte(to)}
		}
		if string(r.Path) == "/loop" {
			return &connector.Redirect{Path: []byte("/loop")}
		}
		var env []string
		r.Env.Each(func(name, _ string) { env = append(env, name) })
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return serviceError(err)
		}
		return reply(w, 200, fmt.Sprintf("%s %s %s ?%s %v %s%v %s", r.Method, r.Path, r.MatchPath, r.Query, env, r.Handler, r.Locations, body))
	})
	for _, tt := range []struct {
		request string
		status  int
		body    string
	}{
		{"GET /from/to?a=b HTTP/1.1\r\nHost: x\r\n\r\n", 200, "GET /to /to ?a=b [site to] [2] "},
		{"GET /from/from/to/%41;v HTTP/1.1\r\nHost: x\r\n\r\n", 200, "GET /to/%41;v /to/A ? [site to] [2] "},
		{"POST /from/else HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", 200, "POST /else /else ? [site] [] body"},
		{"GET /from/denied HTTP/1.1\r\nHost: x\r\n\r\n", 403, ""},
		{"GET /from/../loop HTTP/1.1\r\nHost: x\r\n\r\n", 500, ""},
		{"GET /loop HTTP/1.1\r\nHost: x\r\n\r\n", 500, ""},
		{"GET /from/%zz-not-reached HTTP/1.1\r\nHost: x\r\n\r\n", 400, ""},
		{"GET /else HTTP/1.1\r\nHost: x\r\n\r\n", 200, "GET /else /else ? [site] [] "},
	} {
		c := s.dial()
		c.send(tt.request)
		if tt.body == "" {
			c.want(tt.status)
		} else if a := c.want(tt.status); a.body != tt.body {
			t.Errorf("%q: %q, want %q", tt.request, a.body, tt.body)
		}
	}
}
