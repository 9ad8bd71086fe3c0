package jk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"jkd/conf"
)

// mapWorkers is the workers the map tests use.
func mapWorkers(t testing.TB) *Config {
	t.Helper()
	c, _, err := ParseConfig(testEnv(), source(`worker.list=lb,single,other,cf_pool
worker.lb.type=lb
worker.lb.balance_workers=node1,node2,node3
worker.node1.port=1
worker.node2.port=2
worker.node3.port=3
worker.single.port=4
worker.other.port=5
worker.cf_pool.port=6
worker.spare.port=7
`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mapFile(text string) Mounts {
	return Mounts{ConfFile: "c", MapFile: &conf.File{Path: "m", Data: []byte(text)}}
}

// mustMap builds a map from the text of a map file.
func mustMap(t testing.TB, m Mounts) (*URIMap, []conf.Warning) {
	t.Helper()
	u, warnings, err := NewURIMap(mapWorkers(t), testEnv(), m)
	if err != nil {
		t.Fatal(err)
	}
	return u, warnings
}

// hit is the pattern that serves a path, or "".
func hit(u *URIMap, path string) string {
	if r := u.Match([]byte(path)); r != nil {
		return r.Worker + " " + r.Pattern
	}
	return ""
}

func TestConfig02ColdFusionMap(t *testing.T) {
	m := Mounts{MapFile: &conf.File{Path: "m", Data: file(t, "field/02-coldfusion-uriworkermap.properties").Data}}
	u, warnings := mustMap(t, m)
	same(t, "rules", len(u.Rules()), 13)
	for path, want := range map[string]string{
		"/index.cfm":                     "/*.cfm",
		"/shop/item.cfm/id/5":            "/*.cfm/*",
		"/x.cfm/":                        "/*.cfm/*",
		"/index.CFm":                     "",
		"/x.Cfm/y":                       "",
		"/X/Y.CFM/z":                     "/*.CFM/*",
		"/x.jsp":                         "/*.jsp",
		"/api":                           "/api",
		"/api/x":                         "",
		"/rest/":                         "/rest/*",
		"/rest":                          "",
		"/CFIDE/administrator/index.cfm": "",
		"/cfide/x.cfm":                   "/*.cfm",
		"/a.cfmx":                        "",
	} {
		if want != "" {
			want = "cf_pool " + want
		}
		same(t, path, hit(u, path), want)
	}
	same(t, "warnings", said(warnings, conf.Warn), []string{
		"m:13: !/CFIDE/*: is excluded in this spelling only, while there are mounts in several spellings"})
}

func TestConfig12Extensions(t *testing.T) {
	m := Mounts{MapFile: &conf.File{Path: "m", Data: file(t, "field/12-extensions-uriworkermap.properties").Data}}
	u, warnings := mustMap(t, m)
	ms := time.Millisecond
	for path, want := range map[string]Extensions{
		"/reports/x": {ReplyTimeout: 600000 * ms, ReplyTimeoutSet: true},
		"/upload/x":  {ReplyTimeoutSet: true, StickyIgnore: true},
		"/api/x":     {Stateless: true, FailOnStatus: []FailStatus{{404, false}, {503, true}}},
		"/maint/x":   {Activations: []MemberActivation{{"node1", Disabled}, {"node2", Stopped}, {"node3", Stopped}}},
		"/half/x":    {Activations: []MemberActivation{{"node2", Stopped}}},
		"/legacy/x":  {SessionCookie: "SID", SessionPath: ";sid"},
		"/errors/x":  {UseServerErrors: 400},
		"/cookie/x":  {SetSessionCookie: true, SessionCookiePath: "/cookie"},
		"/plain/x":   {},
		"/typo/x":    {},
		"/space/x":   {ReplyTimeout: 5 * ms, ReplyTimeoutSet: true},
		"/semi/x":    {ReplyTimeout: 7 * ms, ReplyTimeoutSet: true},
		"/ghost/x":   {Activations: []MemberActivation{{"node9", Active}}},
	} {
		r := u.Match([]byte(path))
		if r == nil {
			t.Errorf("%s is not mapped", path)
			continue
		}
		worker := "lb"
		if path == "/plain/x" {
			worker = "single"
		}
		same(t, path+" worker", r.Worker, worker)
		same(t, path, r.Extensions, want)
	}
	same(t, "/reports/tmp/x", hit(u, "/reports/tmp/x"), "")
	same(t, "warnings", said(warnings, conf.Warn), []string{
		"m:5: /half/*: extension stopped is given again: the first one counts",
		"m:9: /plain/*: extension disabled is for balancers and worker single is none: ignored",
		"m:9: /plain/*: extension session_cookie is for balancers and worker single is none: ignored",
		"m:10: /typo/*: unknown rule extension replytimeout: ignored, did you mean reply_timeout?",
		"m:13: /ghost/*: worker lb has no member node9",
	})
}

func TestPrecedence(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]string
	}{
		{"more slashes win", "/*=single\n/a/*=other\n/a/b/*=lb\n/aaaaaaaaaaaaaaaaaaaa*=cf_pool\n", map[string]string{
			"/x": "single /*", "/a/x": "other /a/*", "/a/b/x": "lb /a/b/*", "/aaaaaaaaaaaaaaaaaaaa/b/c": "cf_pool /aaaaaaaaaaaaaaaaaaaa*",
		}},
		{"then length, wildcards counted", "/a*=single\n/*.jsp=other\n/ab=lb\n", map[string]string{
			"/ab.jsp": "other /*.jsp", "/ab": "single /a*", "/abc": "single /a*", "/x.jsp": "other /*.jsp",
		}},
		{"an exact rule is not better than a longer pattern", "/a/b.do=single\n/a/*.do=other\n/a/b.d?*=lb\n", map[string]string{
			"/a/b.do": "lb /a/b.d?*", "/a/x.do": "other /a/*.do",
		}},
		{"nor than one with more slashes", "/a/*=single\n/a/*/=other\n/a/b/=lb\n", map[string]string{
			"/a/b/": "other /a/*/", "/a/x/": "other /a/*/", "/a/b": "single /a/*",
		}},
		{"disabled rules do nothing", "-/a/*=single\n/*=other\n-!/b=other\n", map[string]string{"/a/x": "other /*", "/b": "other /*"}},
		{"exclusions are for their worker", "/*=single\n/a/*=other\n!/a/x*=single\n!/a/y*=other\n!/z*=*\n", map[string]string{
			"/a/x": "other /a/*", "/a/y": "", "/z": "", "/b": "single /*",
		}},
		{"no second choice after an exclusion", "/*=single\n/a/*=other\n!/a/*=other\n", map[string]string{"/a/x": "", "/b": "single /*"}},
		{"both of '|'", "/app|/*=single\n!/app|/no=single\n", map[string]string{
			"/app/x": "single /app/*", "/app": "", "/app/no": "", "/app/": "single /app/*", "/apple": "",
		}},
		{"'*' and '?' match '/'", "/a*z=single\n/b?d=other\n", map[string]string{
			"/a/b/z": "single /a*z", "/az": "single /a*z", "/b/d": "other /b?d", "/bd": "", "/bccd": "", "/az/": "",
		}},
		{"case counts", "/App/*=single\n", map[string]string{"/App/x": "single /App/*", "/app/x": ""}},
		{"several stars", "/a*b*c?d=single\n/**x=other\n", map[string]string{
			"/abcd": "", "/abc-d": "single /a*b*c?d", "/a.b.b.c.c.d": "single /a*b*c?d", "/a.b.c..d": "", "/x": "other /**x", "/y/x": "other /**x",
		}},
		{"nothing else is mapped", "/a=single\n", map[string]string{"*": "", "": "", "/": "", "/b": "", "a": ""}},
		{"the last of the same pattern", "/a=single\n/a=other\n", map[string]string{"/a": "other /a"}},
		{"exclusions of several workers", "/a/*=single\n/b/*=other\n!/*/x=single\n!/*/x=other\n", map[string]string{"/a/x": "", "/b/x": "", "/a/y": "single /a/*"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u, _ := mustMap(t, mapFile(tt.text))
			for path, want := range tt.want {
				same(t, path, hit(u, path), want)
			}
		})
	}
}

func TestSourcePrecedence(t *testing.T) {
	c, _, err := ParseConfig(testEnv(), source("worker.list=a,b,c\nworker.a.mount=/x/* /y/* !/n/*\nworker.b.mount=/x/*\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := Mounts{
		ConfFile: "c",
		Mounts:   []conf.Mount{{Pattern: "/x/*", Worker: "b", Line: 1}, {Pattern: "/z|/*", Worker: " c ; reply_timeout=5", Line: 2}, {Pattern: "/n/*", Worker: "a", Line: 3}},
		UnMounts: []conf.Mount{{Pattern: "/z/no", Worker: "*", Line: 4}, {Pattern: "!/y/no", Worker: "a", Line: 5}, {Pattern: "-/y/yes", Worker: "a", Line: 6}},
		MapFile:  &conf.File{Path: "m", Data: []byte("/x/*=c\n")},
	}
	u, _, err := NewURIMap(c, testEnv(), m)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/x/1": "c /x/*", "/y/1": "a /y/*", "/z": "c /z", "/z/1": "c /z/*", "/z/no": "", "/y/no": "", "/y/yes": "a /y/*", "/n/1": "",
	} {
		same(t, path, hit(u, path), want)
	}
	if r := u.Match([]byte("/z")); !r.Extensions.ReplyTimeoutSet || r.Extensions.ReplyTimeout != 5*time.Millisecond || r.Source != FromMount || r.Line != 2 || r.File != "c" || r.Index != 2 {
		t.Errorf("got %+v", r)
	}
	m.MapFile = nil
	if u, _, err = NewURIMap(c, testEnv(), m); err != nil {
		t.Fatal(err)
	}
	same(t, "JkMount before mount", hit(u, "/x/1"), "b /x/*")
	m.Mounts = nil
	if u, _, err = NewURIMap(c, testEnv(), m); err != nil {
		t.Fatal(err)
	}
	same(t, "of two workers' mounts the last", hit(u, "/x/1"), "b /x/*")
}

func TestMapFaults(t *testing.T) {
	_, _, err := NewURIMap(mapWorkers(t), testEnv(), mapFile(`/a/*=sinlge
*.jsp=single
?x=single
app/*=single
!-/a=single
-!-/a=single
/b=*
!/b=*
/c=;reply_timeout=5
/d=node1
/e=spare
/f=single;reply_timeout=soon
/g=single;fail_on_status=5xx
/h=single;use_server_errors=1000
/i=lb;sticky_ignore=true
/j=nobody
a line
`))
	same(t, "errors", lines(err), []string{
		"m:1: /a/*: there is no worker sinlge in worker.list (w:1), did you mean single?",
		"m:2: *.jsp: invalid mapping rule: the pattern does not begin with '/', did you mean /*.jsp?",
		"m:3: ?x: invalid mapping rule: the pattern does not begin with '/', did you mean /?x?",
		"m:4: app/*: invalid mapping rule: the pattern does not begin with '/'",
		"m:5: !-/a: the prefixes are '-' or '!' or '-!', in this order",
		"m:6: -!-/a: the prefixes are '-' or '!' or '-!', in this order",
		"m:7: /b: worker * (any) is for exclusions only",
		"m:9: /c: the worker's name is missing",
		"m:10: /d: worker node1 (w:4) is a member of lb but not in worker.list (w:1)",
		"m:11: /e: worker spare is defined in w:10 but not in worker.list (w:1)",
		`m:12: /f: extension reply_timeout: "soon" is not a whole number`,
		`m:13: /g: extension fail_on_status: "5xx" is not an HTTP status`,
		`m:14: /h: extension use_server_errors: "1000" is not an HTTP status`,
		"m:16: /j: there is no worker nobody in worker.list (w:1)",
	})
}

func TestMapWarnings(t *testing.T) {
	c, _, err := ParseConfig(testEnv(), source("worker.list=w,s\nworker.w.mount=/a|/b\nworker.s.type=status\nworker.s.user=admin\nworker.s.mount=/s\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, warnings, err := NewURIMap(c, testEnv("E", "w"), mapFile("/x=$(E);reply_timeout\n/x=$(F)w\n"))
	same(t, "errors", lines(err), []string{"m:2: /x: there is no worker $(F)w in worker.list (w:1)"})
	same(t, "warnings", said(warnings, conf.Warn), []string{
		"w:2: /a|/b: '|' stands for itself in a worker's mount; JkMount knows it as a shortcut",
		"m:1: /x: extension reply_timeout has no value: ignored",
		"m:2: /x: $(F) is defined neither above nor in the environment: left as it is",
	})

	_, warnings = mustMap(t, mapFile("/a//b=single\n/c;x=single\n/%20=single\n/e=single\n/e=other\n/f=single;reply_timeout=5;reply_timeout=-1\n!/e=single;reply_timeout=1\n"))
	same(t, "warnings", said(warnings, conf.Warn), []string{
		`m:1: /a//b: matches no path: they are compared without "//" in them`,
		`m:2: /c;x: matches no path: they are compared without ";" in them`,
		"m:3: /%20: is compared with the decoded path, where '%' stands for itself",
		"m:5: /e: given again: this line counts, not m:4 (single)",
	})
	same(t, "infos", said(warnings, conf.Info), []string{
		"m:6: /f: extension reply_timeout: is in milliseconds, and 5 are hardly any time: for 5 seconds write 5000",
		"m:7: !/e: extensions of an exclusion have no effect"})
}

func TestMacrosInMap(t *testing.T) {
	u, _, err := NewURIMap(mapWorkers(t), testEnv("POOL", "single"), mapFile("/a/*=$(POOL);reply_timeout=5\n"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "/a/x", hit(u, "/a/x"), "single /a/*")
}

func TestMatchAllocatesNothing(t *testing.T) {
	u, _ := mustMap(t, mapFile(manyRules(1000)))
	for _, path := range benchPaths {
		p := []byte(path)
		if n := testing.AllocsPerRun(100, func() { u.Match(p) }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

// plain is Match written down as the rules read.
func plain(u *URIMap, path []byte) *Rule {
	for _, r := range u.rules {
		if r.Disabled || r.Exclude || !slow([]byte(r.Pattern), path) {
			continue
		}
		for _, x := range u.rules {
			if x.Exclude && !x.Disabled && (x.Worker == r.Worker || x.Worker == "*") && slow([]byte(x.Pattern), path) {
				return nil
			}
		}
		return r
	}
	return nil
}

// slow matches by a table: can[j] tells whether the pattern so far matches the
// first j bytes.
func slow(pattern, s []byte) bool {
	can := make([]bool, len(s)+1)
	can[0] = true
	for _, c := range pattern {
		next := make([]bool, len(s)+1)
		for j := range next {
			switch {
			case c == '*':
				next[j] = can[j] || j > 0 && next[j-1]
			case j > 0 && (c == '?' || c == s[j-1]):
				next[j] = can[j-1]
			}
		}
		can = next
	}
	return can[len(s)]
}

func FuzzMatch(f *testing.F) {
	f.Add("/*=single\n/a/*=other\n!/a/x*=single\n!/a/y*=other\n!/z*=*\n", "/a/x")
	f.Add("/a*b*c?d=single\n/**x=other\n", "/a.b.b.c.c.d")
	f.Add("/app|/*=lb\n-/app=single\n-!/app/x=*\n", "/app/x")
	f.Add("/abc=single\n/abd=other\n/ab=lb\n/=lb\n/ab?=single\n/a?*=other\n", "/abd")
	f.Add("/a=single\n/a=other\n!/a=lb\n/a/=lb\n", "/a")
	f.Add("/?*?=single\n/??=other\n/*/*/*=lb\n!/*//=lb\n", "/a/b/c")
	f.Add("/*.jsp=single\n/*.jspx=other\n/*.j*=lb\n", "/x.jspx")
	f.Add("/caf\xe9/*=single;reply_timeout=1\n", "/caf\xe9/")
	c := mapWorkers(f)
	f.Fuzz(func(t *testing.T, text, path string) {
		m := mapFile(text)
		// A fault in one line must not hide the others from the test.
		_, _, err := NewURIMap(c, testEnv(), m)
		if err != nil {
			bad := map[int]bool{}
			for _, e := range err.(conf.Errors) {
				bad[e.Line] = true
			}
			all := strings.Split(text, "\n")
			for i := range all {
				if bad[i+1] {
					all[i] = ""
				}
			}
			m = mapFile(strings.Join(all, "\n"))
		}
		u, _, err := NewURIMap(c, testEnv(), m)
		if err != nil {
			return // a fault that belongs to the whole file
		}
		if !slices.IsSortedFunc(u.rules, func(a, b *Rule) int {
			switch x, y := strings.Count(a.Pattern, "/"), strings.Count(b.Pattern, "/"); {
			case x != y:
				return y - x
			case len(a.Pattern) != len(b.Pattern):
				return len(b.Pattern) - len(a.Pattern)
			}
			return int(b.Source) - int(a.Source)
		}) {
			t.Fatal("the rules are not in order")
		}
		if got, want := u.Match([]byte(path)), plain(u, []byte(path)); got != want {
			t.Fatalf("%q in %q: got %+v, want %+v", path, text, got, want)
		}
	})
}

// manyRules is a map file of n rules such as large sites have.
func manyRules(n int) string {
	var b strings.Builder
	for i := range n {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "/app%d/*=single\n", i)
		case 1:
			fmt.Fprintf(&b, "/app%d/servlet/*.do=other\n", i)
		case 2:
			fmt.Fprintf(&b, "/*.ext%d=single\n", i)
		case 3:
			fmt.Fprintf(&b, "/app%d=other\n", i)
		case 4:
			fmt.Fprintf(&b, "!/app%d/static/*=single\n", i)
		}
	}
	return b.String()
}

var benchPaths = []string{"/app0/index.jsp", "/app1/servlet/a/b/c.do", "/a/long/way/to/a/page.ext2", "/app3", "/not/mapped/at/all.html"}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{10, 1000} {
		u, _ := mustMap(b, mapFile(manyRules(n)))
		for _, path := range benchPaths {
			b.Run(fmt.Sprintf("rules=%d/%s", n, strings.Trim(path, "/")), func(b *testing.B) {
				p := []byte(path)
				b.ReportAllocs()
				for b.Loop() {
					u.Match(p)
				}
			})
		}
	}
}
