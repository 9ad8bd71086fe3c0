package redirect

import (
	"errors"
	"testing"

	"jkd/conf"
	"jkd/connector"
)

func request(target string) *connector.Request {
	r := &connector.Request{Path: []byte(target), ServerName: []byte("www.test"), ServerPort: 80}
	for i, c := range target {
		if c == '?' {
			r.Path, r.Query, r.HasQuery = []byte(target[:i]), []byte(target[i+1:]), true
			break
		}
	}
	r.MatchPath, _ = connector.CleanPath(nil, r.Path)
	return r
}

// The comparison with Apache has more; this is what is jkd's own.
func TestTargets(t *testing.T) {
	cfg := &conf.Config{Redirects: []conf.Redirect{
		{Path: "/a", Status: 302, URL: "/b"}, {Path: "/s/", Status: 301, URL: "https://s.test/"},
		{Path: `^/m/(.*)$`, Match: true, Status: 302, URL: "http://m.test/?q=$1"}, {Path: "^/n(.*)", Match: true, Status: 302, URL: "$1"},
	}}
	early, late := New(cfg, nil)
	if late != nil {
		t.Error("no location has any")
	}
	for target, want := range map[string]string{
		"/a":                     "http://www.test/b",
		"/a/x%2Fy/%C3%A4?q":      "http://www.test/b/x%2fy/%c3%a4?q",
		"/a;jsessionid=1/x;v=2":  "http://www.test/b;jsessionid=1/x;v=2",
		"/a/..;/a/x":             "http://www.test/b/x",
		"/s/x":                   "https://s.test/x",
		"/m/x%0d%0aSet-Cookie:y": "http://m.test/?q=x%0d%0aSet-Cookie:y",
		"/nhttps://evil.test":    "https:/evil.test",
		"/n/x":                   "http://www.test/x",
		"/njavascript%0a:alert":  "",
		"/n":                     "",
		"/s":                     "none",
		"/A":                     "none",
		"/other":                 "none",
		"/%61//x":                "http://www.test/b/x",
		"/a?x=y%20z":             "http://www.test/b?x=y%20z",
	} {
		r := request(target)
		w := early.Match(r)
		if w == nil {
			if want != "none" {
				t.Errorf("%s: not redirected", target)
			}
			continue
		}
		var e *connector.Error
		got := ""
		if !errors.As(w.Service(r, nil), &e) {
			t.Fatal("no error")
		}
		if len(e.Fields) > 0 {
			got = string(e.Fields[0].Value)
		}
		if got != want || (e.Status == 500) != (want == "") {
			t.Errorf("%s: %d %q, want %q", target, e.Status, got, want)
		}
	}
	if e, l := New(&conf.Config{VHosts: make([]conf.VHost, 2)}, nil); e != nil || l != nil {
		t.Error("something for nothing")
	}
}
