package jk

import (
	"bytes"
	"strings"
	"testing"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/forwarduri"
)

func TestRefuse(t *testing.T) {
	for _, tt := range []struct {
		path   string
		unsafe bool
		want   refusal
	}{
		{"/a/b", true, refusalNone},
		{"/a%20b", true, refusalNone},
		{"/a%25b", true, refusalUnsafe},
		{"/a%2Fb", true, refusalUnsafe},
		{"/a%2fb", true, refusalUnsafe},
		{"/a%5cb", true, refusalUnsafe},
		{"/a%5Cb", true, refusalUnsafe},
		{"/a\\b", true, refusalUnsafe},
		{"/a%2f../../b", true, refusalUnsafe},
		{"/a;x=%2F\\/b", true, refusalNone},
		{"/a;x/b%2F", true, refusalUnsafe},
		{"/a%2Fb\\", false, refusalNone},
		{"/" + strings.Repeat("a", 4094), false, refusalNone},
		{"/" + strings.Repeat("a", 4095), false, refusalLong},
		{"/" + strings.Repeat("%61", 4094), false, refusalNone},
		{"/a;" + strings.Repeat("x", 5000), false, refusalNone},
	} {
		clean, err := connector.CleanPath(nil, []byte(tt.path))
		if err != nil {
			t.Fatal(err)
		}
		same(t, tt.path, refuse(&connector.Request{Path: []byte(tt.path), MatchPath: clean}, tt.unsafe), tt.want)
	}
}

// F013: twelve paths against a mount with an exclusion.
func TestF013Normalised(t *testing.T) {
	u, _ := mustMap(t, mapFile("/app/*=single\n!/app/private/*=single\n/public/*=other\n"))
	for path, want := range map[string]string{
		"/app/x":                         "single /app/*",
		"/app/private/x":                 "",
		"/app//private/x":                "",
		"//app/private/x":                "",
		"/app/x;y/../private/x":          "",
		"/app/private;z/x":               "",
		"/app/%70rivate/x":               "",
		"/app/./private/x":               "",
		"/public/..;p/app/private/x":     "",
		"/app/private/%2e%2e/x":          "single /app/*",
		"/app;v=1/x;w=2":                 "single /app/*",
		"/public%2F../app/x":             "",
		"/app/..":                        "",
		"/app/../../x":                   "400",
		"/app/%2e%2e/%2E%2E/private":     "400",
		"/app/private%2Fx":               "single /app/*",
		"/public/%2e./app/private/x.jsp": "",
	} {
		clean, err := connector.CleanPath(nil, []byte(path))
		got := "400"
		if err == nil {
			got = hit(u, string(clean))
		}
		same(t, path, got, want)
	}
}

var hostile = []string{
	"/app/x", "/app/../x", "/app/..;/manager", "/app/%2e%2e/x", "/app/private/x", "/app;a/private;b/x", "/app/%70rivate/", "/app//private//x",
	"/app/x%2F..%2F..%2Fmanager", "/app/a%2f../../x", "/app\\..\\x", "/app/%5c..%5c", "/app/x%252F..", "/app/;/../../x", "/;/app/..;x=/private", "/app/private%2fx",
	"/app/.;x/private/x", "/app/...;/x", "/app/%2e;x/private/x", "/app/%3b/../private/x", "/x/../app/private/./x", "*", "/app/\xff%c0%ae%c0%ae/x",
}

// The forms in which a path may be sent.
const (
	proxy    = conf.ForwardURIProxy
	unparsed = conf.ForwardURICompatUnparsed
	compat   = conf.ForwardURICompat
	escaped  = conf.ForwardURIEscaped
)

// FuzzContainer: what is matched is what a container makes of the path. So no
// path that /app/* maps leads out of /app, and none that leads into
// /app/private gets around the exclusion. With containers that take escaped
// slashes or backslashes for slashes the same is true with RejectUnsafeURI.
func FuzzContainer(f *testing.F) {
	for _, s := range hostile {
		f.Add([]byte(s))
	}
	u, _, err := NewURIMap(mapWorkers(f), testEnv(), mapFile("/app/*=single\n!/app/private/*=single\n!/app/private=single\n"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path []byte) {
		before := bytes.Clone(path)
		clean, err := connector.CleanPath(nil, path)
		if !bytes.Equal(path, before) {
			t.Fatal("the path was changed")
		}
		if err != nil || string(path) == "*" {
			return
		}
		r := &connector.Request{Path: path, MatchPath: clean}
		for i, c := range containers {
			there, ok := c.resolve(string(path))
			if !ok {
				continue
			}
			if i < 3 && there != string(clean) {
				t.Errorf("%q is %q to us and %q to a container (%s)", path, clean, there, c.name)
			}
			if i >= 3 && refuse(r, true) == refusalUnsafe || u.Match(clean) == nil {
				continue
			}
			if refuse(r, true) == refusalNone && there != string(clean) {
				t.Errorf("%q is safe, but %q to us and %q to a container (%s)", path, clean, there, c.name)
			}
			if i < 3 && (!strings.HasPrefix(there, "/app/") || strings.HasPrefix(there, "/app/private/") || there == "/app/private") {
				t.Errorf("%q is mapped and leads to %q in a container (%s)", path, there, c.name)
			}
		}
		for _, form := range []conf.ForwardURI{proxy, escaped, compat, unparsed} {
			got, err := forwarduri.Append(nil, path, form)
			if err != nil {
				continue
			}
			for _, c := range containers[:2] {
				if there, ok := c.resolve(string(got)); ok && there != string(clean) {
					t.Errorf("%s of %q is %q: to a container it is %q, was matched as %q", form, path, got, there, clean)
				}
			}
			if u.Match(clean) != nil {
				if there, ok := containers[0].resolve(string(got)); ok && !strings.HasPrefix(there, "/app/") {
					t.Errorf("%q is sent as %q, which leads to %q", path, got, there)
				}
			}
		}
	})
}
