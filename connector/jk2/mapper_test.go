package jk2

import (
	"fmt"
	"strings"
	"testing"
)

// Each text is a set of rules, each of urls what finds which of them.
func TestMapper(t *testing.T) {
	for _, tt := range []struct {
		name, rules string
		urls        map[string]string // HOST[:PORT]/PATH to section
	}{
		{"kinds", "[uri:/a]\n[uri:/b/*]\n[uri:/c/*.jsp]\n[uri:/d/?/x]\n[uri:/e*]\n", map[string]string{
			"h/a": "/a", "h/a/": "", "h/ab": "",
			"h/b": "/b/*", "h/b/": "/b/*", "h/b/x/y": "/b/*", "h/bx": "",
			"h/c/x.jsp": "/c/*.jsp", "h/c/x/y.jsp": "/c/*.jsp", "h/x.jsp": "", "h/c/x.jspx": "",
			"h/d/1/x": "/d/?/x", "h/d/12/x": "",
			"h/e": "/e*", "h/e/x": "", "h/ex": "", "h/A": "",
		}},
		{"order within a context", "[uri:/*]\n[uri:/a/*.do]\n[uri:/a/b/*]\n[uri:/a/b/c]\n[uri:$\\.x$]\n", map[string]string{
			"h/a/b/c":    "/a/b/c",
			"h/a/b/d":    "/a/b/*",
			"h/a/b/y.do": "/a/b/*",
			"h/a/y.do":   "/*", // a prefix comes before any wildcard
			"h/a/b/c.x":  "$\\.x$",
			"h/":         "/*",
		}},
		{"expressions in their order, before exact paths", "[uri:/a/1]\n[uri:$^/a/(1|2)]\n[uri:$/a/.]\n", map[string]string{
			"h/a/1": "$^/a/(1|2)", "h/a/3": "$/a/.", "h/x/a/1": "$/a/.", "h/b": "",
		}},
		{"the longest prefix or none", "[uri:/*]\n[uri:/app*]\n", map[string]string{
			"h/app": "/app*", "h/application": "", "h/ap": "/*", "h/app/x": "",
		}},
		{"wildcards, the longest pattern first", "[uri:/*.jsp]\n[uri:/a*.jsp]\n[uri:/*/x.jsp]\n", map[string]string{
			"h/a/x.jsp": "/*/x.jsp", "h/a/y.jsp": "/a*.jsp", "h/b.jsp": "/*.jsp",
		}},
		{"the path in front of a prefix", "[uri:/a/*]\n[uri:/a/b/*]\n", map[string]string{
			"h/a/b": "/a/*", // itself below a longer rule's beginning, and the prefix that fits comes first
			"h/a":   "/a/*",
		}},
		{"a context is searched alone", "[uri:/*.jsp]\n[uri:/app]\ncontext=/app\n[uri:/app/*.do]\n[uri:/x/y.do]\n", map[string]string{
			"h/a.jsp": "/*.jsp", "h/app/a.jsp": "", "h/app/a.do": "/app/*.do", "h/app": "",
			"h/application.jsp": "", // by letters
		}},
		{"a rule names its context", "[uri:/app/s/*]\ncontext=/app\n[uri:/*.do]\n", map[string]string{
			"h/app/s/x": "/app/s/*", "h/app/x.do": "", "h/x.do": "/*.do",
		}},
		{"hosts", "[uri:/g/*]\n[uri:www.example.com/a]\n[uri:www.example.com:8080/b]\n[uri:*:81/p]\n[uri:WWW.example.ORG/c]\n", map[string]string{
			"www.example.com/a":      "www.example.com/a",
			"WWW.Example.Com/a":      "www.example.com/a",
			"www.example.com./a":     "www.example.com/a",
			"www.example.com:99/a":   "www.example.com/a",
			"www.example.com:8080/a": "", // that host and port is another site
			"www.example.com:8080/b": "www.example.com:8080/b",
			"www.example.com/b":      "",
			"www.example.org/c":      "WWW.example.ORG/c",
			"other:81/p":             "*:81/p",
			"www.example.com:81/p":   "", // a host that is known comes before the port
			"other/p":                "",
			"www.example.com/g/x":    "/g/*",
			"www.example.com:8080/g": "/g/*",
			"other:81/g/":            "/g/*",
			"other/g":                "/g/*",
			"/g":                     "/g/*",
		}},
		{"aliases", "[uri:a.example]\nalias=b.example:8080\nalias=c.example\n[uri:a.example/x]\n[uri:c.example:81/y]\n", map[string]string{
			"a.example/x": "a.example/x", "b.example:8080/x": "a.example/x", "b.example/x": "", "c.example/x": "a.example/x",
			"c.example:81/y": "c.example:81/y", "c.example:81/x": "",
		}},
		{"inherited", "[uri:h.example/a]\n[uri:/a]\n[uri:/*.jsp]\n[uri:$secret]\n[uri:/c/*]\ncontext=/c\n", map[string]string{
			"h.example/a":      "h.example/a", // its own comes first
			"h.example/x.jsp":  "/*.jsp",
			"h.example/secret": "$secret",
			"h.example/c/x":    "/c/*",
			"h.example/c.jsp":  "", // the context is inherited too
		}},
		{"not inherited", "[uri:h.example]\ninheritGlobals=0\n[uri:h.example/a]\n[uri:/*.jsp]\n[uri:/b/*]\n", map[string]string{
			"h.example/a": "h.example/a", "h.example/x.jsp": "", "h.example/b/x": "", "o.example/x.jsp": "/*.jsp",
		}},
		{"disabled", "[uri:/a]\ndisabled=1\n[uri:/*]\n[uri:/c]\ncontext=/c\ndisabled=1\n", map[string]string{"h/a": "/*", "h/c": "/*", "h/c/x": "/*"}},
	} {
		c := parse(t, "[channel.socket:w:1]\n"+tt.rules)
		m := NewMapper(c)
		for url, want := range tt.urls {
			if want != "" {
				want += " lb:lb"
			}
			same(t, tt.name+": "+url, hit(c, m, url), want)
		}
	}
}

func TestMapperPaths(t *testing.T) {
	m := NewMapper(parse(t, "[channel.socket:w:1]\n[uri:/*]\n"))
	for path, want := range map[string]bool{"/": true, "/x": true, "*": false, "": false, "x": false} {
		same(t, path, m.Match(0, []byte("h"), 80, []byte(path)) != nil, want)
	}
	long := "/" + strings.Repeat("x", 5000)
	if m.Match(0, []byte(strings.Repeat("h", 5000)), 80, []byte(long)) == nil {
		t.Error("a long host, a long path")
	}
	m = NewMapper(parse(t, "[channel.socket:w:1]\n[uri:"+long+"/*]\n"))
	if m.Match(0, nil, 80, []byte(long)) == nil {
		t.Error("a long path in front of a prefix")
	}
}

// JkUriSet: a location holds for what is below it, on the virtual hosts it is
// for, and comes before every uri.
func TestLocations(t *testing.T) {
	set := func(vhost int, path, property, value string) Set {
		return Set{Object: path, Property: property, Value: value, Line: 1, Location: true, VHost: vhost}
	}
	c, warnings, err := ParseConfig(testEnv(), source("[channel.socket:w:1]\n[status:]\n[uri:/a/b/exact]\ngroup=status:\n"), Source{File: "c", Sets: []Set{
		set(0, "/a", "group", "lb:lb"),
		set(0, "/a/b", "group", "status:"),
		set(0, "/slash/", "group", "ajp13:w:1"),
		set(1, "/a", "group", "ajp13:w:1"),
		set(2, "/only", "worker", "ajp13:w:1"),
		set(2, "/plain", "debug", "1"),
	}})
	same(t, "said", said(warnings, err), []string{"warning c:1: worker: is an old name, group is the current one"})
	if err != nil {
		t.FailNow()
	}
	m := NewMapper(c)
	for _, tt := range []struct {
		vhost      int
		path, want string
	}{
		{0, "/a", "/a lb:lb"}, {0, "/a/x", "/a lb:lb"}, {0, "/ab", ""}, {0, "/a/b/exact", "/a/b status:"},
		{0, "/slash", ""}, {0, "/slash/x", "/slash/ ajp13:w:1"}, {0, "/only", ""},
		{1, "/a", "/a ajp13:w:1"}, {1, "/a/b/c", "/a/b status:"},
		{2, "/a", "/a lb:lb"}, {2, "/only/x", "/only ajp13:w:1"}, {2, "/plain", "/plain lb:lb"},
	} {
		got := ""
		if u := m.Match(tt.vhost, []byte("h"), 80, []byte(tt.path)); u != nil {
			got = u.Path + " " + c.TargetName(u.Target)
		}
		same(t, fmt.Sprint(tt.vhost, tt.path), got, tt.want)
	}

	_, warnings, err = ParseConfig(testEnv(), Source{File: "c", Sets: []Set{set(0, "/a/*", "group", "lb"), set(0, "a", "group", "lb")}}, source(mapped))
	same(t, "said", said(warnings, err), []string{
		"error c:1: JkUriSet: is not possible for a pattern: write a section [uri:/a/*] in workers2.properties",
		"error c:1: JkUriSet: a is no path"})
}

func TestMatchAllocates(t *testing.T) {
	c := parse(t, "[channel.socket:w:1]\n[uri:/a/*]\n[uri:/*.jsp]\n[uri:h.example/b/*]\n[uri:/c]\ncontext=/c\n")
	m := NewMapper(c)
	host, paths := []byte("H.example"), [][]byte{[]byte("/a/x"), []byte("/x.jsp"), []byte("/b"), []byte("/none/at/all")}
	if n := testing.AllocsPerRun(100, func() {
		for _, p := range paths {
			m.Match(1, host, 80, p)
		}
	}); n != 0 {
		t.Error(n, "allocations")
	}
}

func BenchmarkMatch(b *testing.B) {
	var text strings.Builder
	text.WriteString("[channel.socket:w:1]\n[uri:/*.jsp]\n[uri:/*.do]\n")
	for i := range 500 { // 1000 rules
		fmt.Fprintf(&text, "[uri:/app%d/*]\n[uri:/app%d/%s/*]\n", i, i, strings.Repeat("x", i%20))
	}
	m := NewMapper(parse(b, text.String()))
	host, path := []byte("www.example.com"), []byte("/app217/servlet/x/y")
	for b.Loop() {
		if m.Match(0, host, 80, path) == nil {
			b.Fatal("not mapped")
		}
	}
}
