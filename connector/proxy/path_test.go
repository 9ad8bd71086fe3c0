package proxy

import (
	"bytes"
	"testing"

	"jkd/connector"
)

// request is one for a path as the front would make it; nil if it would refuse.
func request(path string) *connector.Request {
	match, err := connector.CleanPath(nil, []byte(path))
	if err != nil {
		return nil
	}
	return &connector.Request{Method: []byte("GET"), Path: []byte(path), MatchPath: match}
}

func TestPath(t *testing.T) {
	for _, tt := range []struct{ rules, path, want string }{
		{"ProxyPass = / http://h/", "/", "/"},
		{"ProxyPass = / http://h/", "/a/b;x=1/c?", "/a/b;x=1/c%3F"},
		{"ProxyPass = /app http://h/ctx", "/app", "/ctx"},
		{"ProxyPass = /app http://h/ctx", "/app/", "/ctx/"},
		{"ProxyPass = /app http://h/ctx", "/app;jsessionid=1.n2", "/ctx;jsessionid=1.n2"},
		{"ProxyPass = /app http://h/ctx", "/app;v=1/x;y=2", "/ctx;v=1/x;y=2"},
		{"ProxyPass = /app/ http://h/ctx/", "/app;v=1/x;y=2", "/ctx/x;y=2"},
		{"ProxyPass = /app http://h/ctx", "/apple", "-"},
		{"ProxyPass = /app/ http://h/ctx/", "/app", "-"},
		{"ProxyPass = /app/ http://h/ctx", "/app/x", "/ctxx"}, // as written, and warned about
		{"ProxyPass = /app/ http://h", "/app/x", "/x"},
		{"ProxyPass = /app http://h/", "/app/x", "/x"},
		{"ProxyPass = /app http://h", "/app", "/"},
		{"ProxyPass = /app http://h/ctx", "//app//x", "/ctx/x"},
		{"ProxyPass = //app// http://h/ctx/", "/app/x", "/ctx/x"},
		{"ProxyPass = /app http://h/ctx", "/%61pp/x%20y", "/ctx/x%20y"},
		{"ProxyPass = /app http://h/ctx", "/app/../manager", "-"},
		{"ProxyPass = /app http://h/ctx", "/app/..;x/manager", "-"},
		{"ProxyPass = /app http://h/ctx", "/x/../app/y", "/ctx/y"},
		{"ProxyPass = /app http://h/ctx", "/app/x%2Fy", "/ctx/x%2Fy"},
		{"ProxyPass = /app http://h/ctx", "/app/x%3By", "/ctx/x%3By"},
		{"ProxyPass = /app http://h/ctx", "/app/a|b\"c%7B", "/ctx/a%7Cb%22c%7B"},
		{"ProxyPass = /app http://h/ctx nocanon", "/app/a%7eb", "/ctx/a%7eb"},
		{"ProxyPass = /app http://h/ctx", "/app/a%7eb", "/ctx/a~b"},
		{"ProxyPass = /app http://h/ctx nocanon", "/app//b", "/ctx/b"},
		{"ProxyPass = /app/no !\nProxyPass = /app http://h/ctx", "/app/no/x", "-"},
		{"ProxyPass = /app/no !\nProxyPass = /app http://h/ctx", "/app;x/n%6f;y/x", "-"},
		{"ProxyPass = /app/no !\nProxyPass = /app http://h/ctx", "/app/nox", "/ctx/nox"},
		{"ProxyPass = /app http://h/1\nProxyPass = /app/x http://h/2", "/app/x/y", "/1/x/y"}, // the first one counts
		{"ProxyPass = /app/x http://h/2\nProxyPass = /app http://h/1", "/app/x/y", "/2/y"},
		{`ProxyPassMatch = ^/(.*\.jsp)$ http://h/ctx/$1`, "/a/b.jsp", "/ctx/a/b.jsp"},
		{`ProxyPassMatch = ^/(.*\.jsp)$ http://h/ctx/$1`, "/a/b.jsp;jsessionid=7", "/ctx/a/b.jsp;jsessionid=7"},
		{`ProxyPassMatch = \.jsp$ http://h`, "/a;p=1/b%20c.jsp;s=2", "/a;p=1/b%20c.jsp;s=2"},
		{`ProxyPassMatch = ^/(.+\.cf[cm])(/.*)?$ http://h/$1$2`, "/x.cfm/info", "/x.cfm/info"},
		{`ProxyPassMatch = ^/a/(.*)$ http://h/$1`, "/a/%252e%252e/b", "/%252e%252e/b"},
		{`ProxyPassMatch = ^/a(.*)$ http://h/b/.$1`, "/a./c", "!"},
		{`ProxyPassMatch = ^/secret/ !` + "\nProxyPass = / http://h/", "/secret;x/y", "-"},
	} {
		c := newConnector(t, 1, "[proxy]\n"+tt.rules+"\n")
		q := request(tt.path)
		got := "-"
		if w := c.Match(q); w != nil {
			r := w.(*ruleTarget).rule
			b, err := r.appendPath(nil, "", q)
			if got = string(b); err != nil {
				got = "!"
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.rules, tt.path, got, tt.want)
		}
	}
}

// FuzzPath: what a container gets leads to the rule's URL and from there to what
// was matched, however the path is written.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"/app/x", "/app;v/..;w/app//%2e%2e/", "/app/%2F/x", "/;x/app/y", "/app/..", "/app/x/..;y"} {
		f.Add(p, false)
		f.Add(p, true)
	}
	slashed := Rule{Path: "/app/", Prefix: "/ctx/"}
	plain := Rule{Path: "/app", Prefix: "/ctx"}
	all := Rule{Path: "/", Prefix: "/"}
	f.Fuzz(func(t *testing.T, path string, nocanon bool) {
		for _, c := range []byte(path) {
			if c <= ' ' || c == 0x7f || c == '?' || c == '#' {
				return // the front's concern
			}
		}
		q := request(path)
		if q == nil || q.MatchPath[0] != '/' {
			return
		}
		for _, r := range []Rule{slashed, plain, all} {
			r.NoCanon = nocanon
			n := r.matches(q.MatchPath)
			if n < 0 {
				continue
			}
			got, err := r.appendPath([]byte("GET "), "", q)
			if err != nil {
				continue
			}
			for _, c := range got[4:] {
				if c <= ' ' || c == 0x7f || c == '?' || c == '#' {
					t.Fatalf("%q became %q", path, got)
				}
			}
			clean, err := connector.CleanPath(nil, got[4:])
			want := append([]byte(r.Prefix), q.MatchPath[n:]...)
			if err != nil || !bytes.Equal(clean, want) {
				t.Fatalf("%q became %q, which is %q (%v), want %q", path, got, clean, err, want)
			}
		}
	})
}
