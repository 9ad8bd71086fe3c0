package files

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jkd/conf"
	"jkd/connector"
)

func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		section conf.Directory
		file    string
		dir     bool
		want    bool
	}{
		{conf.Directory{Path: "/"}, "/srv", true, true},
		{conf.Directory{Path: "/srv"}, "/srv", true, true},
		{conf.Directory{Path: "/srv"}, "/srv/www/a", false, true},
		{conf.Directory{Path: "/srv"}, "/srvx/a", false, false},
		{conf.Directory{Path: "/srv/*/pub"}, "/srv/a/pub/x", false, true},
		{conf.Directory{Path: "/srv/*/pub"}, "/srv/a/b/pub/x", false, false},
		{conf.Directory{Path: "/srv/*"}, "/srv", true, false},
		{conf.Directory{Path: "/srv/[a-c]?"}, "/srv/bx/y", false, true},
		{conf.Directory{Path: "/p[a-z]+n/", Match: true}, "/srv/pattern/x", false, true},
		{conf.Directory{Path: "/p[a-z]+n/", Match: true}, "/srv/pat/x", false, false},
		{conf.Directory{Path: "*.bak", Files: true}, "/srv/a.bak", false, true},
		{conf.Directory{Path: "*.bak", Files: true}, "/srv/a.bak", true, false},
		{conf.Directory{Path: "*.bak", Files: true}, "/srv/a.bak/x", false, false},
		{conf.Directory{Path: `^\.x`, Files: true, Match: true}, "/srv/.xy", false, true},
		{conf.Directory{Path: "*.bak", Files: true, Within: "/srv"}, "/srv/a/b.bak", false, true},
		{conf.Directory{Path: "*.bak", Files: true, Within: "/srv"}, "/srvx/b.bak", false, false},
		{conf.Directory{Path: "*.bak", Files: true, Within: "/srv"}, "/srv/b.bak", true, false},
		{conf.Directory{Path: "*.bak", Files: true, Within: "/srv/*/pub"}, "/srv/a/pub/x/b.bak", false, true},
		{conf.Directory{Path: "*.bak", Files: true, Within: "/srv/*/pub"}, "/srv/a/b.bak", false, false},
		{conf.Directory{Path: "k$", Files: true, Match: true, Within: "/srv/a"}, "/srv/a/b.bak", false, true},
	} {
		s := sectionsOf([]conf.Directory{tt.section}, 0)
		if got := s[0].covers(tt.file, tt.dir); got != tt.want {
			t.Errorf("%+v, %s: %v", tt.section, tt.file, got)
		}
	}
}

// index makes rules that say one thing, by which they can be told apart.
func index(name string) conf.FileRules { return conf.FileRules{Index: []string{name}} }

// Of several sections the longer path counts more, then expressions, then files;
// of two alike the later one, and that of a virtual host.
func TestSectionOrder(t *testing.T) {
	list := []conf.Directory{
		{Path: "y.x", Files: true, Within: "/srv/www/a/b/in/deep", Rules: index("within, deep")},
		{Path: "y.x", Files: true, Within: "/srv/www/a/b/in", Rules: index("within")},
		{Path: "*.x", Files: true, Rules: index("files")},
		{Path: "/srv/w.*/re", Match: true, Rules: index("re")},
		{VHost: 2, Path: "/srv/www/v2", Rules: index("v2")},
		{VHost: 1, Path: "/srv/www/v", Rules: index("v1")},
		{Path: "/srv/www/v", Rules: index("v")},
		{Path: "/srv/www/a/b", Rules: index("b")},
		{Path: "/srv/www/a", Rules: index("a")},
		{Path: "/srv/www/a", Rules: index("a again")},
		{Path: "/srv/*", Rules: index("wild")},
		{Path: "/", Rules: index("root")},
		{Path: "/other/www/a", Rules: index("other")},
	}
	top := conf.FileRules{Index: []string{"server"}}
	for _, tt := range []struct {
		vhost int
		name  string
		want  string
	}{
		{0, "", "wild"}, {0, "x", "wild"}, {0, "a/x", "a again"}, {0, "a/b/x", "b"}, {0, "a/b/c/x", "b"}, {0, "a/b/y.x", "files"}, {0, "a/b/in/y.x", "within"}, {0, "a/b/in/z.x", "files"}, {0, "a/b/in/deep/y.x", "within, deep"}, {0, "re", "re"}, {0, "v/x", "v"},
		{1, "v/x", "v1"}, {1, "v2/x", "wild"}, {2, "v2/x", "v2"}, {2, "v/x", "v"},
	} {
		d := newDirectory("/srv/www", nil, &top, sectionsOf(list, tt.vhost))
		if got := d.of(tt.name, false).index[0]; got != tt.want {
			t.Errorf("%d, %q: %s, want %s", tt.vhost, tt.name, got, tt.want)
		}
	}
	if d := newDirectory("/else", nil, &top, sectionsOf(list[:1], 0)); d.of("x", false).index[0] != "server" {
		t.Error("the server's own rules do not count")
	}
	if d := newDirectory("/", nil, &top, sectionsOf(list, 0)); d.of("srv/www/a", true).index[0] != "a again" || d.of("", true).index[0] != "root" {
		t.Error("below the root directory")
	}
}

func TestContent(t *testing.T) {
	far := &conf.FileTypes{Types: map[string]string{"js": "text/far", "tst": "a/far"}}
	near := &conf.FileTypes{
		Types: map[string]string{"tst": "a/near"}, Charsets: map[string]string{"lat2": "iso-8859-2"}, Codings: map[string]string{"gz": "gzip"},
	}
	utf8 := &conf.FileTypes{DefaultCharset: "utf-8"}
	for _, tt := range []struct {
		name  string
		types []*conf.FileTypes
		want  content
	}{
		{"a.html", nil, content{mime: "text/html"}},
		{"a.HTM", nil, content{mime: "text/html"}},
		{"a.b.Js", nil, content{mime: "text/javascript"}},
		{"a.js", []*conf.FileTypes{far}, content{mime: "text/far"}},
		{"a.tst", []*conf.FileTypes{far, near}, content{mime: "a/near"}},
		{"a.html.lat2", []*conf.FileTypes{near}, content{mime: "text/html; charset=iso-8859-2"}},
		{"a.lat2.html", []*conf.FileTypes{near}, content{mime: "text/html; charset=iso-8859-2"}},
		{"a.html.bak", []*conf.FileTypes{near}, content{mime: unknownType}},
		{"a.html.gz", nil, content{mime: "application/gzip"}},
		{"a.html.gz", []*conf.FileTypes{{Types: map[string]string{}, Codings: near.Codings}}, content{mime: "application/gzip", coding: "gzip"}},
		{"README", nil, content{mime: unknownType}},
		{".css", nil, content{mime: unknownType}},
		{"a.", nil, content{mime: unknownType}},
		{"a.html", []*conf.FileTypes{utf8}, content{mime: "text/html; charset=utf-8"}},
		{"a.css", []*conf.FileTypes{utf8}, content{mime: "text/css"}},
		{"a.html", []*conf.FileTypes{utf8, {DefaultCharset: conf.NoCharset}}, content{mime: "text/html"}},
		{"a.html", []*conf.FileTypes{{Force: "text/plain"}}, content{mime: "text/plain"}},
		{"a.html", []*conf.FileTypes{{Force: "text/plain"}, {Force: "none"}}, content{mime: "text/html"}},
		{"a.none", []*conf.FileTypes{{Default: "text/plain; charset=x"}, utf8}, content{mime: "text/plain; charset=x"}},
		{"a.none", []*conf.FileTypes{{Default: "none"}}, content{}},
	} {
		r := rules{types: tt.types}
		if got := r.content(tt.name); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestPrivate(t *testing.T) {
	for _, name := range []string{
		"WEB-INF", "web-inf/x", "a/META-INF/x", `WEB-INF\web.xml`, `a\Meta-Inf`, "WEB-INF.", "WEB-INF. ./x", "WEB-INF /x", "WEB-INF::$INDEX_ALLOCATION/x", "WEB-INF.:x",
		"\uff37\uff25\uff22-\uff29\uff2e\uff26/x", "WEB\uff0dINF/x", "WEB\u200c-INF/x", "WEB-IN\ufe0fF", "W\u00adEB-INF",
	} {
		if !private(name) {
			t.Errorf("%q is shown", name)
		}
	}
	for _, name := range []string{"", "WEB-INFO", "XWEB-INF/x", "web/inf", "WEB_INF", "a/b", "\xff\xfe", "\u00e4-INF"} {
		if private(name) {
			t.Errorf("%q is not shown", name)
		}
	}
	for _, name := range []string{"x.jsp", "a/x.JSP", "x.jspx/", "x.jspf", "x.jsp.", "x.jsp ", "x.jsp::$DATA", `a\x.jsp`, "x.\uff4asp", ".jsp"} {
		if !isSource(name) {
			t.Errorf("%q is shown", name)
		}
	}
	for _, name := range []string{"", "x.jsp.html", "jsp", "x.jsp/y", "x.js"} {
		if isSource(name) {
			t.Errorf("%q is not shown", name)
		}
	}
}

func TestAccepts(t *testing.T) {
	for _, tt := range []struct {
		values string // one field a line
		want   bool
	}{
		{"", false}, {"gzip", true}, {"GZIP", true}, {"deflate, gzip", true}, {"deflate\ngzip", true}, {"gzip;q=0", false}, {"gzip;q=0.0", false},
		{"gzip ; Q=0.5", true}, {"*", true}, {"*;q=0", false}, {"gzip;q=0, *", false}, {"*, gzip;q=0", false}, {"gzip;q=x", false}, {"xgzip, br", false}, {"identity", false},
	} {
		var values [][]byte
		for line := range strings.SplitSeq(tt.values, "\n") {
			values = append(values, []byte(line))
		}
		if got := accepts(values, "gzip"); got != tt.want {
			t.Errorf("%q: %v", tt.values, got)
		}
	}
}

func TestWellFormed(t *testing.T) {
	for value, want := range map[string]bool{
		"bytes=0-": true, "Bytes=0-1": true, "bytes=-5": true, "bytes=0-1,2-3": true, "bytes=0-1, 2-3": true, "bytes=5-5": true, "bytes=" + strings.Repeat("0-1,", 199) + "0-1": true,
		"bytes=5-4": false, "bytes=-0": false, "bytes=": false, "bytes=-": false, "bytes=a-b": false, "items=0-1": false, "bytes 0-1": false, "bytes=+1-2": false, "bytes=1--2": false,
		"bytes=0-1,": false, "bytes=" + strings.Repeat("0-1,", 200) + "0-1": false, "bytes=0-99999999999999999999": false,
	} {
		if got := wellFormed(value); got != want {
			t.Errorf("%.40q: %v", value, got)
		}
	}
}

func TestAlias(t *testing.T) {
	dir := tree(t, map[string]string{
		"icons/a": "icon", "docs/a": "docs", "docs/sub/a": "docs sub", "one": "single", "versions/1/a": "first", "versions/2/index.html": "second", "versionsx/a": "neighbour",
		"root/a": "root", "root/docs/b": "hidden by Alias",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	c := server1(conf.FilesServer{DocumentRoot: at("root"), Aliases: []conf.Alias{
		{Path: "/icons/", File: at("icons") + "/"}, {Path: "/docs/sub", File: at("icons")}, {Path: "/docs", File: at("docs")}, {Path: "/one", File: at("one")},
		{Path: `^/v(\d)/(.*)`, Match: true, File: at("versions") + "/$1/$2"}, {Path: `^/w(.*)/(.*)/(.*)`, Match: true, File: at("versions") + "/1/$1$2/$3"},
		{Path: `^/x(.*)`, Match: true, File: at("versions") + "$1"},
	}})
	for _, tt := range []struct {
		path   string
		status int
		body   string
	}{
		{"/icons/a", 200, "icon"}, {"/icons", 404, ""}, {"/icons/", 403, ""}, {"/docs/a", 200, "docs"}, {"/docs/sub/a", 200, "icon"}, {"/docs/b", 404, ""}, {"/docsx", 404, ""},
		{"/docs", 301, ""}, {"/one", 200, "single"}, {"/one/", 404, ""}, {"/one/x", 404, ""}, {"/v1/a", 200, "first"}, {"/v2/", -2, ""}, {"/v2", 404, ""}, {"/v3/a", 404, ""},
		{"/w././a", 404, ""}, {"/w./x/../a", 404, ""}, {"/x/1/a", 200, "first"}, {"/xx/a", 200, "neighbour"}, {"/a", 200, "root"},
	} {
		status, w, err := ask(t, c, get(tt.path))
		if status != tt.status || w.body.String() != tt.body {
			t.Errorf("%s: %d %q %v", tt.path, status, w.body.String(), err)
		}
	}
	if got := fixedDir("/a/b$1/c"); got != "/a" {
		t.Error(got)
	}
	// What two groups put together leads nowhere else.
	c = server1(conf.FilesServer{Aliases: []conf.Alias{{Path: `^/(.*)-(.*)-(.*)`, Match: true, File: at("docs") + "/$1$2/$3"}}})
	for _, path := range []string{"/.-.-one", "/.-./.-./versions/1/a"} {
		if status, w, _ := ask(t, c, get(path)); status != 404 || w.body.Len() > 0 {
			t.Errorf("%s: %d %q", path, status, w.body.String())
		}
	}
}

func prefixes(list ...string) *conf.Addresses {
	a := &conf.Addresses{}
	for _, s := range list {
		a.Allow = append(a.Allow, netip.MustParsePrefix(s))
	}
	return a
}

// Who may ask: the nearer section counts, and one of a location instead of all.
func TestAccess(t *testing.T) {
	dir := tree(t, map[string]string{"x": "x", "mine/x": "x", "none/x": "x", "none/list/x": "x", "none/list/index.x": "x"})
	at := func(name string) string { return filepath.Join(dir, name) }
	nobody, me := conf.Access{Require: prefixes()}, conf.Access{Require: prefixes("192.0.2.0/24")}
	cfg := &conf.Config{
		Files: &conf.FilesConfig{Servers: []conf.FilesServer{{DocumentRoot: dir, Rules: conf.FileRules{Options: conf.FileOptions{Add: conf.Indexes}}}}, Directories: []conf.Directory{
			{Path: at("mine"), Access: me}, {Path: at("none"), Access: nobody}, {Path: at("none/list"), Access: me}, {Path: "*.x", Files: true, Access: nobody},
		}},
		Locations: []conf.Location{{Path: "/none/x", Access: me}, {Path: "/none", Access: conf.Access{Order: prefixes("192.0.2.0/24")}}},
	}
	c := New(cfg, Options{})
	for _, tt := range []struct {
		path      string
		locations []int
		client    string
		status    int
	}{
		{"/x", nil, "198.51.100.1", 200}, {"/mine/x", nil, "192.0.2.1", 200}, {"/mine/x", nil, "198.51.100.1", 403}, {"/mine/x", nil, "", 403},
		{"/none/x", nil, "192.0.2.1", 403}, {"/none/nothing", nil, "192.0.2.1", 403}, {"/none/x", []int{0}, "192.0.2.1", 200}, {"/none/x", []int{1}, "192.0.2.1", 403},
		{"/none/list/x", nil, "192.0.2.1", 200}, {"/none/list/", nil, "192.0.2.1", 200}, {"/none/list/index.x", nil, "192.0.2.1", 403},
	} {
		r := get(tt.path)
		r.Locations, r.RemoteAddr = tt.locations, []byte(tt.client)
		status, w, err := ask(t, c, r)
		if status != tt.status {
			t.Errorf("%s from %s: %d %v", tt.path, tt.client, status, err)
		}
		if strings.HasSuffix(tt.path, "/") && (!strings.Contains(w.body.String(), `"./x"`) || strings.Contains(w.body.String(), "index.x")) {
			t.Errorf("%s lists %s", tt.path, w.body.String())
		}
	}
}

// Links: where Options allows them, and whose they are.
func TestLinks(t *testing.T) {
	dir := tree(t, map[string]string{"x": "x", "no/x": "x", "owner/x": "x", "no/yes/x": "x", "foreign": "x"})
	for name, to := range map[string]string{
		"link": "x", "dir": "no", "no/link": "x", "no/dir": "yes", "no/yes/link": "x", "owner/link": "x", "owner/foreign": "../foreign", "owner/gone": "nothing",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	foreign := 403
	if os.Geteuid() != 0 {
		foreign = 200 // it cannot be made another one's
	} else if err := os.Chown(filepath.Join(dir, "foreign"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	c := server1(conf.FilesServer{DocumentRoot: dir},
		conf.Directory{Path: at("no"), Rules: conf.FileRules{Options: conf.FileOptions{Remove: conf.FollowSymLinks}}},
		conf.Directory{Path: at("no/yes"), Rules: conf.FileRules{Options: conf.FileOptions{Add: conf.FollowSymLinks}}},
		conf.Directory{Path: at("owner"), Rules: conf.FileRules{Options: conf.FileOptions{Reset: true, Add: conf.SymLinksIfOwnerMatch | conf.Indexes}}},
	)
	for path, want := range map[string]int{
		"/link": 200, "/dir/x": 200, "/no/x": 200, "/no/link": 403, "/no/dir/x": 403, "/no/yes/link": 200, "/owner/x": 200, "/owner/link": 200, "/owner/foreign": foreign,
		"/owner/gone": 404, "/no/gone": 404, "/": 403,
	} {
		if status, _, err := ask(t, c, get(path)); status != want {
			t.Errorf("%s: %d %v, want %d", path, status, err, want)
		}
	}
	_, w, _ := ask(t, c, get("/owner/"))
	if page := w.body.String(); !strings.Contains(page, `"./link"`) || strings.Contains(page, "gone") || strings.Contains(page, "foreign") != (foreign == 200) {
		t.Errorf("lists %s", page)
	}
}

// A directory that is replaced is noticed, and so is one that comes late.
func TestRootReplaced(t *testing.T) {
	dir := t.TempDir()
	now := writtenAt
	d := &root{path: filepath.Join(dir, "current")}
	if _, _, err := d.open(now); err == nil {
		t.Error("what is not there was opened")
	}
	read := func() string {
		t.Helper()
		now = now.Add(lookEvery)
		at, _, err := d.open(now)
		if err != nil {
			t.Fatal(err)
		}
		b, err := at.ReadFile("x")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, version := range []string{"1", "2"} {
		if err := os.MkdirAll(filepath.Join(dir, version), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, version, "x"), []byte(version), 0o644); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(d.path)
		if err := os.Symlink(version, d.path); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != version {
			t.Errorf("%s instead of %s", got, version)
		}
	}
	at, _, _ := d.open(now)
	if again, _, _ := d.open(now.Add(lookEvery - 1)); again != at {
		t.Error("looked up again too soon")
	}
	if same, _, _ := d.open(now.Add(lookEvery)); same != at {
		t.Error("the same directory was opened again")
	}
	_ = os.Remove(d.path)
	if _, _, err := d.open(now.Add(lookEvery + lookEvery)); err == nil {
		t.Error("what is gone is still open")
	}
}

func TestIndexes(t *testing.T) {
	dir := tree(t, map[string]string{
		"jsp/index.jsp": "source", "both/index.jsp": "source", "both/index.html": "x", "proxied/x": "x", "off/index.html": "x", "abs/x": "x", "dir/index.html/x": "x", "secret/index.html": "x",
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	mapped := matcher(func(p string) bool { return strings.HasSuffix(p, ".jsp") })
	proxied := matcher(func(p string) bool { return p == "/proxied/index.jsp" })
	cfg := &conf.Config{Files: &conf.FilesConfig{
		Servers: []conf.FilesServer{{DocumentRoot: dir, Rules: conf.FileRules{Index: []string{"index.jsp", "index.html"}}}},
		Directories: []conf.Directory{
			{Path: at("off"), Rules: index("disabled")}, {Path: at("abs"), Rules: index("/both/index.html")},
			{Path: "/secret/index", Match: true, Access: conf.Access{Require: prefixes()}},
		},
	}}
	for _, tt := range []struct {
		path   string
		o      Options
		status int
		to     string
	}{
		{"/jsp/", Options{}, 403, ""}, {"/jsp/", Options{Mapped: mapped}, -2, "/jsp/index.jsp"}, {"/both/", Options{}, -2, "/both/index.html"}, {"/both/", Options{Mapped: mapped}, -2, "/both/index.jsp"},
		{"/both/;v=1", Options{Mapped: mapped}, -2, "/both/index.jsp;v=1"}, {"/proxied/", Options{Mapped: mapped}, -2, "/proxied/index.jsp"}, {"/proxied/", Options{Forwarded: proxied}, -2, "/proxied/index.jsp"},
		{"/off/", Options{}, 403, ""}, {"/abs/", Options{}, -2, "/both/index.html"}, {"/dir/", Options{}, 403, ""}, {"/secret/", Options{}, 403, ""}, {"/jsp/index.jsp", Options{Mapped: mapped}, 404, ""},
	} {
		status, _, err := ask(t, New(cfg, tt.o), get(tt.path))
		to := ""
		if r, ok := err.(*connector.Redirect); ok {
			to = string(r.Path)
		}
		if status != tt.status || to != tt.to {
			t.Errorf("%s: %d %q %v; want %d %q", tt.path, status, to, err, tt.status, tt.to)
		}
	}
}

// matcher is a connector that maps some paths.
type matcher func(path string) bool

func (m matcher) Match(r *connector.Request) connector.Worker {
	if m(string(r.MatchPath)) {
		return &alias{}
	}
	return nil
}
func (m matcher) Close() error { return nil }

// Compressed files are sent to who accepts them, unless they are old.
func TestPrecompressed(t *testing.T) {
	dir := tree(t, map[string]string{"a.js": "plain", "a.js.gz": "gz", "a.js.br": "br", "old.js": "plain", "old.js.gz": "gz", "only.js": "plain", "off/a.js": "plain", "off/a.js.gz": "gz"})
	for _, name := range []string{"a.js", "a.js.gz", "a.js.br", "old.js", "only.js"} {
		if err := os.Chtimes(filepath.Join(dir, name), writtenAt, writtenAt); err != nil {
			t.Fatal(err)
		}
	}
	before := writtenAt.Add(-lookEvery)
	if err := os.Chtimes(filepath.Join(dir, "old.js.gz"), before, before); err != nil {
		t.Fatal(err)
	}
	c := server1(conf.FilesServer{DocumentRoot: dir, Rules: conf.FileRules{Precompressed: []string{"br", "gzip"}}},
		conf.Directory{Path: filepath.Join(dir, "off"), Rules: conf.FileRules{Precompressed: []string{conf.NotPrecompressed}}})
	for _, tt := range []struct{ path, accept, body, coding, vary string }{
		{"/a.js", "gzip, br", "br", "br", "Accept-Encoding"}, {"/a.js", "gzip", "gz", "gzip", "Accept-Encoding"}, {"/a.js", "", "plain", "", "Accept-Encoding"},
		{"/a.js", "br;q=0, gzip;q=0", "plain", "", "Accept-Encoding"}, {"/old.js", "gzip", "plain", "", ""}, {"/only.js", "gzip", "plain", "", ""}, {"/off/a.js", "gzip", "plain", "", ""},
		{"/a.js.gz", "gzip", "gz", "", ""},
	} {
		r := get(tt.path)
		r.Fields = []connector.Field{{Name: []byte("Accept-Encoding"), Value: []byte(tt.accept)}}
		status, w, err := ask(t, c, r)
		h := w.fields
		if status != 200 || w.body.String() != tt.body || h.Get("Content-Encoding") != tt.coding || h.Get("Vary") != tt.vary || tt.path != "/a.js.gz" && h.Get("Content-Type") != "text/javascript" ||
			strings.HasSuffix(h.Get("ETag"), "-"+tt.coding+`"`) != (tt.coding != "") || h.Get("Content-Length") != map[string]string{"plain": "5", "gz": "2", "br": "2"}[tt.body] {
			t.Errorf("%s %q: %d %v %q %v", tt.path, tt.accept, status, h, w.body.String(), err)
		}
	}
}

// A list shows what may be asked for, and nothing of a name is taken for HTML.
func TestList(t *testing.T) {
	dir := tree(t, map[string]string{
		"l/<b>&\"'.txt": "1", "l/a;b c%41": "12", "l/Sub/x": "x", "l/b\u202ehtml.exe": "x", "l/\xff": "x", "l/a:b": "x", "l/.hidden": "x", "l/.htaccess": "x", "l/WEB-INF/x": "x", "l/x.jsp": "x", "empty/.x": "x",
	})
	c := server1(conf.FilesServer{DocumentRoot: dir, Rules: conf.FileRules{Options: conf.FileOptions{Add: conf.Indexes}}})
	status, w, err := ask(t, c, get("/l/"))
	page := w.body.String()
	if status != 200 || w.fields.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("%d %v %v", status, w.fields, err)
	}
	for _, want := range []string{
		`<h1>Index of /l/</h1>`, `<a href="../">`, `<a href="./Sub/">Sub/</a>`, `<a href="./%3Cb%3E&amp;%22%27.txt">&lt;b&gt;&amp;&#34;&#39;.txt</a>`, `<a href="./a%3Bb%20c%2541">a;b c%41</a>`,
		`<a href="./%FF">` + "\ufffd</a>", `<a href="./a:b">a:b</a>`, "b\ufffdhtml.exe", `<td class="size">2 B</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("lacks %s", want)
		}
	}
	for _, no := range []string{"<b>", ".ht", "hidden", "WEB-INF", "x.jsp", "\u202e"} {
		if strings.Contains(page, no) {
			t.Errorf("has %s", no)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
	if _, w, _ := ask(t, c, get("/empty/")); !strings.Contains(w.body.String(), "There is nothing") {
		t.Error(w.body.String())
	}
	if _, w, _ := ask(t, c, get("/")); strings.Contains(w.body.String(), "../") {
		t.Error("the root has a parent")
	}
	post := get("/l/")
	post.Method = []byte("POST")
	if status, _, _ := ask(t, c, post); status != 405 {
		t.Errorf("POST to a list: %d", status)
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 KiB", 10240: "10 KiB", 1 << 20: "1.0 MiB", 5 << 30: "5.0 GiB", 1<<20 - 1: "1.0 MiB"} {
		if got := sizeText(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
