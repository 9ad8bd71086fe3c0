package httpd

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/headers"
	"jkd/connector"
)

// TestHeaders: what is said of requests reaches workers, and what is said of
// answers clients; of pages that are the server's own only with always.
func TestHeaders(t *testing.T) {
	edit := func(action headers.Action, name, value string) headers.Edit {
		f, err := headers.ParseFormat(value)
		if err != nil {
			t.Fatal(err)
		}
		return headers.Edit{Action: action, Name: name, Value: f}
	}
	o := defaults()
	o.Sites = []Site{{
		Answers: Answers{Headers: Headers{
			Request: []headers.Edit{edit(headers.Set, "X-Set", "main"), edit(headers.Unset, "X-Gone", "")},
			Answer:  []headers.Edit{edit(headers.Set, "X-A", "main")},
			Always:  []headers.Edit{edit(headers.Set, "X-B", "all"), edit(headers.Unset, "X-Worker", "")},
		}},
		Locations: []Location{
			{Path: "/l", Answers: Answers{Headers: Headers{
				Request: []headers.Edit{edit(headers.Append, "X-Set", "location")},
				Answer:  []headers.Edit{edit(headers.Unset, "X-A", "")},
				Always:  []headers.Edit{edit(headers.Set, "Content-Type", "a/b")},
			}}},
		},
	}}
	s := start(t, "blocking", o, func(r *connector.Request, w connector.ResponseWriter) error {
		if strings.HasSuffix(string(r.Path), "/fail") {
			return &connector.Error{Worker: "w", Op: "test", Status: 503}
		}
		var seen []string
		for _, f := range r.Fields {
			seen = append(seen, string(f.Name)+"="+string(f.Value))
		}
		fields := []connector.Field{{Name: []byte("X-Worker"), Value: []byte("w")}, {Name: []byte("Content-Type"), Value: []byte("text/plain")}}
		if err := w.Start(200, fields); err != nil {
			return err
		}
		if err := w.Append([]byte(fmt.Sprint(seen))); err != nil {
			return err
		}
		return w.Finish()
	})
	for _, tt := range []struct {
		path   string
		status int
		body   string
		fields string
	}{
		{"/x", 200, "[Host=x X-Set=main]", "Content-Type=[text/plain] X-A=[main] X-B=[all] X-Worker=[w]"},
		{"/l/x", 200, "[Host=x X-Set=main, location]", "Content-Type=[a/b] X-B=[all] X-Worker=[w]"},
		{"/fail", 503, "", "Content-Type=[text/html; charset=utf-8] X-B=[all]"},
		{"/l/fail", 503, "", "Content-Type=[a/b] X-B=[all]"},
		{"/unmapped", 404, "", "Content-Type=[text/html; charset=utf-8] X-B=[all]"},
		{"/bad%zz", 400, "", "Content-Type=[text/html; charset=utf-8] X-B=[all]"},
	} {
		c := s.dial()
		c.send("GET " + tt.path + " HTTP/1.1\r\nHost: x\r\nX-Gone: 1\r\nX-Set: client\r\n\r\n")
		a := c.want(tt.status)
		if tt.body != "" && a.body != tt.body {
			t.Errorf("%s: %q, want %q", tt.path, a.body, tt.body)
		}
		if got := chosen(a.Header); got != tt.fields {
			t.Errorf("%s: %s, want %s", tt.path, got, tt.fields)
		}
	}
}

func chosen(h http.Header) string {
	var out []string
	for name, values := range h {
		if strings.HasPrefix(name, "X-") || name == "Content-Type" {
			out = append(out, fmt.Sprintf("%s=%s", name, values))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
