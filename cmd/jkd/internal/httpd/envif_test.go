//go:build unix

package httpd

import (
	"net"
	"net/netip"
	"regexp"
	"testing"

	"jkd/connector"
)

func TestSetEnvIf(t *testing.T) {
	r := &connector.Request{
		Method: []byte("GET"), Protocol: []byte("HTTP/1.1"), MatchPath: []byte("/app/static/x"), RemoteAddr: []byte("192.0.2.7"), LocalAddr: []byte("127.0.0.1"),
		Fields: []connector.Field{{Name: []byte("user-AGENT"), Value: []byte("Probe/12 a")}, {Name: []byte("X"), Value: []byte("1")}, {Name: []byte("x"), Value: []byte("2")}},
	}
	for _, tt := range []struct {
		attribute, pattern, value string
		want                      string // "-": not set
	}{
		{"Request_URI", "^/app/static/", "1", "1"},
		{"Request_URI", "^/static/", "1", "-"},
		{"Request_Method", "^(GET|HEAD)$", "$1", "GET"},
		{"Request_Protocol", `1\.1`, "", ""},
		{"Remote_Addr", `^192\.0\.2\.`, "[$0]", "[192.0.2.]"},
		{"Remote_Host", "7$", "1", "1"},
		{"Server_Addr", "^127", "1", "1"},
		{"Remote_User", "(.*)", "<$1>", "<>"},
		{"User-Agent", `^Probe/(\d+)(x)?`, "$1$2$9", "12"},
		{"User-Agent", "^probe", "1", "-"},
		{"X", "^1, 2$", "1", "1"},
		{"Nothing", "^$", "none", "none"},
		{"Nothing", ".", "none", "-"},
		{"before", "^set$", "of a variable", "of a variable"},
		{"X", "1", `\$1 $ $x \\`, `$1 $ $x \`},
	} {
		env := &connector.Env{}
		env.Set("before", "set")
		r.Env = env
		set(r, env, []EnvSetting{{Name: "v", Value: tt.value, If: &EnvIf{Attribute: tt.attribute, Pattern: regexp.MustCompile(tt.pattern)}}})
		got, ok := env.Get("v")
		if !ok {
			got = "-"
		}
		if got != tt.want {
			t.Errorf("SetEnvIf %s %q v=%s: %q, want %q", tt.attribute, tt.pattern, tt.value, got, tt.want)
		}
		set(r, env, []EnvSetting{{Name: "before", Unset: true, If: &EnvIf{Attribute: tt.attribute, Pattern: regexp.MustCompile(tt.pattern)}}})
		if _, still := env.Get("before"); still != (tt.want == "-") {
			t.Errorf("SetEnvIf %s %q !before: set %v", tt.attribute, tt.pattern, still)
		}
	}
}

// Of the locations of a request the last one that says who may ask decides, in
// every spelling of its path; who may not is told so by the front itself.
func TestAccess(t *testing.T) {
	only := func(addr string) Access {
		return func(a netip.Addr) bool { return a == netip.MustParseAddr(addr) }
	}
	s := &Server{o: Options{Sites: []Site{{Locations: []Location{
		{Path: "/app", Require: only("192.0.2.1")},
		{Path: "/app/open", Require: only("192.0.2.2")},
		{Path: "/both", Require: only("192.0.2.1")},
		{Path: "/both/x", Order: only("192.0.2.2")},
		{Path: "/both/x/y", Require: only("192.0.2.2")},
		{Path: "/late/x", Require: only("192.0.2.1")},
		{Path: "/late", Require: only("192.0.2.2")},
		{Path: "/app/env", Env: []EnvSetting{{Name: "a"}}},
		{Match: regexp.MustCompile(`(?i)/web-inf(/|$)`), Require: func(netip.Addr) bool { return false }},
	}}}}}
	for _, tt := range []struct {
		path, client string
		denied       bool
	}{
		{"/", "192.0.2.9", false}, {"/app", "192.0.2.9", true}, {"/app", "192.0.2.1", false}, {"/app/", "::ffff:192.0.2.1", false},
		{"/app/open/x", "192.0.2.1", true}, {"/app/open/x", "192.0.2.2", false}, {"/app/env", "192.0.2.2", true}, {"/application", "192.0.2.9", false},
		{"/both", "192.0.2.1", false}, {"/both/x", "192.0.2.1", true}, {"/both/x", "192.0.2.2", true}, {"/both/x/y", "192.0.2.2", false}, {"/late/x", "192.0.2.2", false},
		{"/a/%77eb-INF;x=1/web.xml", "192.0.2.1", true}, {"/a//WEB-INF", "192.0.2.1", true}, {"/a/./x/../WEB-INF/", "192.0.2.1", true}, {"/a/WEB-INFO", "192.0.2.1", false},
	} {
		x := &exchange{}
		x.reset(false, 80)
		x.setAddrs(&net.TCPAddr{IP: net.ParseIP(tt.client), Port: 1}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, 0)
		var err error
		if x.MatchPath, err = connector.CleanPath(nil, []byte(tt.path)); err != nil {
			t.Fatal(err)
		}
		s.place(x, 80)
		if x.denied != tt.denied {
			t.Errorf("%s by %s: denied %v", tt.path, tt.client, x.denied)
		}
		x.reset(false, 80)
		if x.denied {
			t.Error("denied is not forgotten")
		}
	}
}
