package conf

import (
	"reflect"
	"strings"
	"testing"
)

func TestHeaders(t *testing.T) {
	const text = `Listen 8088
ServerName main.test
Header set X-A "a b"
Header always append X-B: %D env=!quiet
RequestHeader unset Accept-Encoding
<VirtualHost *:8088>
    ServerName v.test
    Header onsuccess edit* Set-Cookie "; ?Secure" "" env=plain
</VirtualHost>
<Location /l>
    RequestHeader setifempty X-Forwarded-Proto http
</Location>
`
	c, _, err := Parse("/etc/httpd.conf", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	main := []HeaderEdit{
		{Action: "set", Name: "X-A", Value: "a b", Line: 3},
		{Always: true, Action: "append", Name: "X-B", Value: "%D", Env: "quiet", Unless: true, Line: 4},
		{Request: true, Action: "unset", Name: "Accept-Encoding", Line: 5},
	}
	if !reflect.DeepEqual(c.Headers, main) {
		t.Errorf("main: %+v", c.Headers)
	}
	own := append(main[:3:3], HeaderEdit{Action: "edit*", Name: "Set-Cookie", Match: "; ?Secure", Env: "plain", Line: 8})
	if got := c.VHosts[0].Headers; !reflect.DeepEqual(got, own) {
		t.Errorf("virtual host: %+v", got)
	}
	if got := c.Locations[0].Headers; !reflect.DeepEqual(got, []HeaderEdit{{Request: true, Action: "setifempty", Name: "X-Forwarded-Proto", Value: "http", Line: 11}}) {
		t.Errorf("location: %+v", got)
	}
	roundTrip(t, "/etc/httpd.conf", []byte(text), Options{})
}

func TestHeaderFaults(t *testing.T) {
	for line, want := range map[string]string{
		"Header set":                            "needs an action and the name",
		"Header always X":                       "needs an action and the name",
		"Header sett X-A b":                     "did you mean set?",
		"Header set X-A":                        "set needs 1 arguments",
		"Header edit X-A b":                     "edit needs 2 arguments",
		"Header edit X-A ( b":                   "missing closing",
		"Header set X-A b c d":                  "more arguments",
		"Header set X-A b c":                    "c is no condition",
		"Header set X-A b env=":                 "env= has no variable",
		"Header set X-A b \"expr=true\"":        "there are no expressions",
		"Header set X-A expr=%{HTTP_HOST}":      "there are no expressions",
		"Header set \"X A\" b":                  "is no name of a field",
		"Header set X\u00e4 b":                  "is no name of a field",
		"Header set Content-Length 5":           "two readings of it are a security hole",
		"Header always add Transfer-Encoding x": "two readings of it are a security hole",
		"RequestHeader set connection close":    "two readings of it are a security hole",
		"RequestHeader always set X-A b":        "there is no action always",
		"RequestHeader add Host x":              "two readings of it are a security hole",
		"RequestHeader merge host: x":           "two readings of it are a security hole",
		"RequestHeader edit* Host a b":          "two readings of it are a security hole",
		"RequestHeader append Expect: a":        "two readings of it are a security hole",
		"RequestHeader setifempty Upgrade h2c":  "two readings of it are a security hole",
		"Header merge Trailer x":                "two readings of it are a security hole",
	} {
		name, _, _ := strings.Cut(line, " ")
		_, _, err := Parse("/etc/httpd.conf", []byte("Listen 8088\n"+line+"\n"), Options{})
		if err == nil || !strings.Contains(err.Error(), "/etc/httpd.conf:2: "+name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	for line, want := range map[string]string{
		"Header echo ^TS":                  "no notes are taken",
		"RequestHeader unset Expect early": "early is for tests",
		"Header unset Content-Length":      "it is not touched",
		"Header edit Connection a b":       "it is not touched",
	} {
		c, warnings, err := Parse("/etc/httpd.conf", []byte("Listen 8088\n"+line+"\n"), Options{})
		if err != nil || len(c.Headers) != 0 || !strings.Contains(strings.Join(texts(warnings), "\n"), want) {
			t.Errorf("%s: %v, %v", line, warnings, err)
		}
	}
}

// What has directives here has a module to be loaded and asked for.
func TestModulesAreKnown(t *testing.T) {
	for _, name := range []string{"headers", "proxy_wstunnel", "proxy_http", "proxy_balancer", "jk", "alias", "dir", "mime", "env", "setenvif", "autoindex", "status"} {
		c, warnings, err := Parse("/f", []byte("LoadModule "+name+"_module x\nListen 1\n<IfModule mod_"+name+".c>\nKeepAlive Off\n</IfModule>\n<IfModule !"+name+"_module>\nMaxKeepAliveRequests 7\n</IfModule>\n"), Options{})
		if err != nil || c.Server.KeepAlive || c.Server.MaxKeepAliveRequests == 7 {
			t.Errorf("%s: %v, KeepAlive %v", name, err, c.Server.KeepAlive)
		}
		for _, w := range warnings {
			if w.Key == "LoadModule" {
				t.Errorf("%s: %s", name, w)
			}
		}
	}
}
