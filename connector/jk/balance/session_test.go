package balance

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// texts lists the ids of a request.
func texts(ids *IDs) (list []string, empty bool) {
	c := ids.Begin()
	for id, ok := c.Next(); ok; id, ok = c.Next() {
		list = append(list, string(id.Text))
	}
	return list, c.Empty()
}

func fields(cookies ...string) [][]byte {
	var list [][]byte
	for _, c := range cookies {
		list = append(list, []byte(c))
	}
	return list
}

func TestIDs(t *testing.T) {
	for _, tt := range []struct {
		name    string
		path    string
		cookies []string
		want    string // separated by blanks
		empty   bool
	}{
		{name: "nothing", path: "/a/b"},
		{name: "path", path: "/a;jsessionid=x.n1", want: "x.n1"},
		{name: "path, not the last segment", path: "/a;jsessionid=x.n1/b/c", want: "x.n1"},
		{name: "path, another parameter behind", path: "/a;jsessionid=x.n1;v=2", want: "x.n1"},
		{name: "path, another parameter in front", path: "/a;v=2;jsessionid=x.n1", want: "x.n1"},
		{name: "path, question mark", path: "/a;jsessionid=x.n1?q=.n2", want: "x.n1"},
		{name: "path, first of two", path: "/a;jsessionid=x.n1/b;jsessionid=y.n2", want: "x.n1"},
		{name: "path, first is empty", path: "/a;jsessionid=/b;jsessionid=y.n2", want: "y.n2", empty: true},
		{name: "path, only an empty one", path: "/a;jsessionid=", empty: true},
		{name: "path, no value", path: "/a;jsessionid"},
		{name: "path, longer name", path: "/a;jsessionidx=x.n1"},
		{name: "path, longer name in front", path: "/a;xjsessionid=x.n1"},
		{name: "path, case", path: "/a;JSESSIONID=x.n1"},
		{name: "path, no semicolon", path: "/jsessionid=x.n1"},
		{name: "path, doubled semicolon", path: "/a;;jsessionid=x.n1", want: "x.n1"},
		{name: "path before cookie", path: "/a;jsessionid=x.n1", cookies: []string{"JSESSIONID=y.n2"}, want: "x.n1"},
		{name: "cookie when the path is empty", path: "/a;jsessionid=", cookies: []string{"JSESSIONID=y.n2"}, want: "y.n2", empty: true},

		{name: "cookie", cookies: []string{"JSESSIONID=x.n1"}, want: "x.n1"},
		{name: "cookie, second", cookies: []string{"a=b; JSESSIONID=x.n1; c=d"}, want: "x.n1"},
		{name: "F054 two, one in quotes", cookies: []string{`JSESSIONID=a.zzz; JSESSIONID="b.n2"`}, want: "a.zzz b.n2"},
		{name: "F054 another name", cookies: []string{"MYJSESSIONID=c.n1"}},
		{name: "F054 another name, then the right one", cookies: []string{"XJSESSIONID=c.n1; JSESSIONID=d.n2"}, want: "d.n2"},
		{name: "F054 case", cookies: []string{"jsessionid=c.n1"}},
		{name: "F054 blanks", cookies: []string{"JSESSIONID = \tx.n1 ;b=c"}, want: "x.n1"},
		{name: "F054 comma", cookies: []string{"a=b,JSESSIONID=x.n1,JSESSIONID=y.n2"}, want: "x.n1 y.n2"},
		{name: "F054 blank in front", cookies: []string{"a=b JSESSIONID=x.n1"}, want: "x.n1"},
		{name: "F054 empty ones", cookies: []string{`JSESSIONID=; JSESSIONID=""; JSESSIONID= ;JSESSIONID=x`}, want: "x", empty: true},
		{name: "F054 only empty", cookies: []string{`JSESSIONID=`}, empty: true},
		{name: "one pair of quotes", cookies: []string{`JSESSIONID=""x.n1""`}, want: `"x.n1"`},
		{name: "half a pair", cookies: []string{`JSESSIONID="x.n1`}, want: `"x.n1`},
		{name: "only a quote", cookies: []string{`JSESSIONID="`}, want: `"`},
		{name: "no value", cookies: []string{"JSESSIONID; JSESSIONID=x"}, want: "x"},
		{name: "no value at the end", cookies: []string{"a=b; JSESSIONID"}},
		{name: "longer name", cookies: []string{"JSESSIONIDX=x.n1; JSESSIONID2=y"}},
		{name: "several fields", cookies: []string{"a=b", "JSESSIONID=x.n1", "", "JSESSIONID=y.n2; JSESSIONID=z"}, want: "x.n1 y.n2 z"},
		{name: "equals in the value", cookies: []string{"JSESSIONID=ab=c=.n1"}, want: "ab=c=.n1"},
	} {
		ids := IDs{Cookie: "JSESSIONID", Param: ";jsessionid", Path: []byte(tt.path), Cookies: fields(tt.cookies...)}
		got, empty := texts(&ids)
		if strings.Join(got, " ") != tt.want || empty != tt.empty {
			t.Errorf("%s: %q empty %v, want %q %v", tt.name, got, empty, tt.want, tt.empty)
		}
	}
}

func TestIDsOtherNames(t *testing.T) {
	path, cookies := []byte("/a;sid=p.n1"), fields("SESSION=abc=; SID=c.n2; aa=x; aaa=y")
	for _, tt := range []struct {
		cookie, param, want string
	}{
		{"SESSION", "", "abc="},
		{"JSESSIONID", ";jsessionid", ""},
		{"SID", ";sid", "p.n1"},
		{"SID", "sid", "p.n1"}, // its ';' was lost in a rule
		{"SID", ";id", "c.n2"},
		{"SID", "id", "c.n2"},
		{"aa", "", "x"},
		{"", ";sid", "p.n1"},
		{"", "", ""},
		{"", ";", ""},
	} {
		got, _ := texts(&IDs{Cookie: tt.cookie, Param: tt.param, Path: path, Cookies: cookies})
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.cookie, tt.param, got, tt.want)
		}
	}
	var none *IDs
	if got, _ := texts(none); got != nil {
		t.Errorf("no ids: %q", got)
	}
	if got, _ := texts(&IDs{}); got != nil {
		t.Errorf("zero ids: %q", got)
	}
}

func TestIDsRoute(t *testing.T) {
	ids := IDs{Cookie: "S", Param: ";s", Path: []byte("/;s=x.n1"), Cookies: fields("S=y.n2"), Route: []byte("dom.n3")}
	c := ids.Begin()
	id, ok := c.Next()
	if !ok || string(id.Route) != "dom.n3" || string(id.Last) != "n3" || string(id.Domain()) != "dom" {
		t.Errorf("%q %v", id, ok)
	}
	if _, ok := c.Next(); ok {
		t.Error("the request's own ids count as well")
	}
}

func TestParseID(t *testing.T) {
	for _, tt := range []struct{ id, route, last, domain string }{
		{"abc", "", "", ""},
		{"abc=", "", "", ""},
		{"abc.", "", "", ""}, // F056
		{".", "", "", ""},
		{".n1", "n1", "", "n1"},
		{"x.node-1", "node-1", "", "node-1"},
		{"x.dom.node-1", "dom.node-1", "node-1", "dom"}, // F057
		{"x.app1.example.com:8009", "app1.example.com:8009", "com:8009", "app1"},
		{"x..n1", ".n1", "n1", ""},
		{"x.n1.", "n1.", "", "n1"},
		{"x..", ".", "", ""},
	} {
		id := ParseID([]byte(tt.id))
		if string(id.Text) != tt.id || string(id.Route) != tt.route || string(id.Last) != tt.last || string(id.Domain()) != tt.domain {
			t.Errorf("%s: %q, want %q", tt.id, id, tt)
		}
		if (id.Route == nil) != (tt.route == "") || (id.Last == nil) != (tt.last == "") {
			t.Errorf("%s: what there is none of is not nil", tt.id)
		}
	}
}

// naive finds the ids by regular expressions.
func naive(ids *IDs) (list []string, empty bool) {
	if len(ids.Route) > 0 {
		return []string{string(ids.Route)}, false
	}
	if ids.Param != "" {
		param := regexp.MustCompile(";" + regexp.QuoteMeta(strings.TrimPrefix(ids.Param, ";")) + "=([^?;/]*)")
		for _, m := range param.FindAllSubmatch(ids.Path, -1) {
			if len(m[1]) > 0 {
				return []string{string(m[1])}, empty
			}
			empty = true
		}
	}
	if ids.Cookie == "" {
		return nil, empty
	}
	const white = " \t\n\v\f\r"
	pair := regexp.MustCompile(`(?:^|[;,` + white + `])` + regexp.QuoteMeta(ids.Cookie) + `[` + white + `]*=([^;,]*)`)
	for _, field := range ids.Cookies {
		for _, m := range pair.FindAllSubmatch(field, -1) {
			v := strings.Trim(string(m[1]), white)
			if strings.HasPrefix(v, `"`) && strings.HasSuffix(v, `"`) && len(v) > 1 {
				v = v[1 : len(v)-1]
			}
			if v != "" {
				list = append(list, v)
			} else {
				empty = true
			}
		}
	}
	return list, empty
}

// FuzzSessions: the cursor finds what regular expressions find, and what it
// gives is a piece of the request, free of separators.
func FuzzSessions(f *testing.F) {
	for _, seed := range []struct{ cookie, param, path, c1, c2, route string }{
		{"JSESSIONID", ";jsessionid", "/a/b;jsessionid=x.n1/c", "JSESSIONID=y.n2", "", ""},
		{"JSESSIONID", ";jsessionid", "/", `JSESSIONID=a.zzz; JSESSIONID="b.n2"`, "MYJSESSIONID=c.n1", ""},
		{"JSESSIONID", ";jsessionid", "/;jsessionid=;jsessionid=/;jsessionid=q?", "JSESSIONID = x , JSESSIONID", "JSESSIONID=", ""},
		{"SID", "sid", "/x;;sid=1.2.3", "SID=\"\";SID=\"", " SID=x SID=y", ""},
		{"a", ";", "/;=;=b", "a a=a;aa=a", "a=a=a", ""},
		{"S", "", "", "S=.n1", "S=x..", "d.n"},
		{"=", ";a=", ";a==", "===", "= =", ""},
	} {
		f.Add(seed.cookie, seed.param, []byte(seed.path), []byte(seed.c1), []byte(seed.c2), []byte(seed.route))
	}
	f.Fuzz(func(t *testing.T, cookie, param string, path, c1, c2, route []byte) {
		if !utf8.ValidString(cookie) || !utf8.ValidString(param) {
			t.Skip("not for a regular expression")
		}
		if strings.ContainsAny(cookie, ";, \t\n\v\f\r=") || strings.ContainsAny(param, "=?/") || strings.Contains(strings.TrimPrefix(param, ";"), ";") {
			t.Skip("not a name")
		}
		ids := &IDs{Cookie: cookie, Param: param, Path: path, Cookies: [][]byte{c1, c2}, Route: route}
		got, empty := texts(ids)
		want, wantEmpty := naive(ids)
		if !slices.Equal(got, want) || empty != wantEmpty {
			t.Fatalf("%q %v, want %q %v", got, empty, want, wantEmpty)
		}
		for c := ids.Begin(); ; {
			id, ok := c.Next()
			if !ok {
				break
			}
			if len(id.Text) == 0 {
				t.Fatal("an empty id")
			}
			if len(route) > 0 {
				continue
			}
			if !bytes.Contains(path, id.Text) && !bytes.Contains(c1, id.Text) && !bytes.Contains(c2, id.Text) {
				t.Fatalf("%q is not of the request", id.Text)
			}
			if bytes.IndexByte(id.Text, ';') >= 0 {
				t.Fatalf("%q has a separator", id.Text)
			}
			if !bytes.HasSuffix(id.Text, id.Route) || !bytes.HasSuffix(id.Route, id.Last) || !bytes.HasPrefix(id.Route, id.Domain()) {
				t.Fatalf("%q", id)
			}
			if bytes.IndexByte(id.Last, '.') >= 0 || bytes.IndexByte(id.Domain(), '.') >= 0 {
				t.Fatalf("%q", id)
			}
		}
	})
}
