//go:build unix

package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/apachetest"
)

// fileRules are what Apache and jkd are both told.
const fileRules = `DocumentRoot ROOT/www
TypesConfig ROOT/mime.types
Alias /icons/ ROOT/icons/
Alias /docs ROOT/docs
Alias /docs/deeper ROOT/never
Alias /single.txt ROOT/outside.txt
AliasMatch ^/v([0-9]+)/(.*)$ ROOT/versions/$1/$2
DirectoryIndex index.html index.htm
AddType application/x-test .tst
AddCharset iso-8859-2 .lat2
<Directory />
    AllowOverride None
</Directory>
<Directory ROOT/www/denied>
    Require all denied
</Directory>
<Directory ROOT/www/denied/open>
    Require all granted
</Directory>
<Directory ROOT/www/old>
    Order deny,allow
    Deny from all
    Allow from 192.0.2.0/24
</Directory>
<Directory ROOT/www/local>
    Require ip 127.0.0.0/8
</Directory>
<Directory "ROOT/www/*/private">
    Require all denied
</Directory>
<DirectoryMatch "/pat[a-z]+n/">
    Require all denied
</DirectoryMatch>
<Files "*.secret">
    Require all denied
</Files>
<FilesMatch "^\.ht">
    Require all denied
</FilesMatch>
<Location /denied/by/location>
    Require all denied
</Location>
<Location /denied/granted>
    Require all granted
</Location>
<Directory ROOT/www/list>
    Options +Indexes
</Directory>
<Directory ROOT/www/nolinks>
    Options -FollowSymLinks
</Directory>
<Directory ROOT/www/owners>
    Options SymLinksIfOwnerMatch
</Directory>
<Directory ROOT/www/charset>
    AddDefaultCharset utf-8
</Directory>
<Directory ROOT/www/coded>
    AddEncoding gzip .gz
</Directory>
<Directory ROOT/www/noindex>
    DirectoryIndex disabled
</Directory>
<Directory ROOT/www/otherindex>
    DirectoryIndex none.html second.html
</Directory>
<Directory ROOT/www/secondindex>
    DirectoryIndex /sub/page.html
</Directory>
<Directory ROOT/www/deniedindex>
    DirectoryIndex index.secret index.html
</Directory>
<Directory ROOT/www/onlydeniedindex>
    DirectoryIndex index.secret
</Directory>
<Location /forced>
    ForceType text/plain
</Location>
`

// fileTree is what there is on disk. A name that ends with a slash is a directory,
// a text that begins with "->" a link.
var fileTree = map[string]string{
	"mime.types":                       "text/html\t\thtml htm\ntext/plain txt\ntext/css css\ntext/javascript js\nimage/png png\napplication/gzip gz tgz\napplication/x-tar tar\n",
	"outside.txt":                      "outside",
	"icons/a.png":                      "icon",
	"docs/index.html":                  "docs",
	"docs/deeper/x.txt":                "deeper",
	"versions/1/a.txt":                 "one",
	"versions/2/index.html":            "two",
	"www/index.html":                   "top",
	"www/ten.txt":                      "0123456789",
	"www/empty.txt":                    "",
	"www/page.html":                    "<p>page</p>",
	"www/UPPER.HTML":                   "upper",
	"www/style.css":                    "p{}",
	"www/code.min.js":                  "1",
	"www/data.tst":                     "test",
	"www/noext":                        "noext",
	"www/x.unknown":                    "unknown",
	"www/a.html.bak":                   "bak",
	"www/t.tar.gz":                     "tar",
	"www/t.html.lat2":                  "lat2",
	"www/.png":                         "dot",
	"www/.htaccess":                    "secret",
	"www/.hidden.txt":                  "hidden",
	"www/with blank.txt":               "blank",
	"www/semi;colon.txt":               "semi",
	"www/per%cent.txt":                 "percent",
	"www/\xc3\xa4.txt":                 "utf8",
	"www/back\\slash.txt":              "back",
	"www/x.secret":                     "secret",
	"www/sub/index.html":               "sub",
	"www/sub/page.html":                "page",
	"www/html/index.htm":               "htm",
	"www/nothing/x.txt":                "x",
	"www/list/one.txt":                 "one",
	"www/list/two.txt":                 "two",
	"www/denied/x.txt":                 "secret",
	"www/denied/open/x.txt":            "open",
	"www/denied/granted":               "granted",
	"www/old/x.txt":                    "secret",
	"www/local/x.txt":                  "local",
	"www/a/private/x.txt":              "secret",
	"www/a/private2/x.txt":             "a",
	"www/a/b/private/x.txt":            "deeper",
	"www/pattern/x.txt":                "secret",
	"www/noindex/index.html":           "not shown",
	"www/otherindex/second.html":       "second",
	"www/secondindex/x":                "x",
	"www/deniedindex/index.secret":     "secret",
	"www/deniedindex/index.html":       "index",
	"www/onlydeniedindex/index.secret": "secret",
	"www/charset/a.html":               "utf8",
	"www/charset/a.css":                "utf8",
	"www/coded/a.html.gz":              "gz",
	"www/coded/a.gz":                   "gz",
	"www/forced/a.html":                "<p>",
	"www/indexdir/index.html/":         "",
	"www/link.txt":                     "->ten.txt",
	"www/linkdir":                      "->sub",
	"www/out.txt":                      "->../outside.txt",
	"www/dangling.txt":                 "->nowhere",
	"www/loop.txt":                     "->loop.txt",
	"www/nolinks/link.txt":             "->../ten.txt",
	"www/nolinks/plain.txt":            "plain",
	"www/nolinks/dir":                  "->../sub",
	"www/owners/same.txt":              "->../ten.txt",
	"www/WEB-INF/web.xml":              "secret",
	"www/page.jsp":                     "secret",
}

// fileProbes are what both are asked, without Host. differs says why an answer is
// not the same, "" that it is.
var fileProbes = []struct{ request, differs string }{
	{"GET /", ""},
	{"HEAD /", ""},
	{"GET /index.html", ""},
	{"GET /ten.txt", ""},
	{"HEAD /ten.txt", ""},
	{"GET /empty.txt", ""},
	{"HEAD /empty.txt", "HEAD is told the length of an empty file too"},
	{"GET /page.html?query=1", ""},
	{"GET //page.html", ""},
	{"GET /./page.html", ""},
	{"GET /sub/../page.html", ""},
	{"GET /%70age.html", ""},
	{"GET /page.html/", ""},
	{"GET /page.html/more", ""},
	{"GET /page.html;jsessionid=1", "path parameters are no part of a file's name, so that links with a session's id work"},
	{"GET /semi;colon.txt", "path parameters are no part of a file's name"},
	{"GET /semi%3Bcolon.txt", ""},
	{"GET /UPPER.HTML", ""},
	{"GET /upper.html", ""},
	{"GET /style.css", ""},
	{"GET /code.min.js", ""},
	{"GET /data.tst", ""},
	{"GET /noext", "what has no type is application/octet-stream (DefaultType), so that no browser guesses"},
	{"GET /x.unknown", "what has no type is application/octet-stream"},
	{"GET /a.html.bak", "what has no type is application/octet-stream"},
	{"GET /t.tar.gz", ""},
	{"GET /t.html.lat2", ""},
	{"GET /.png", "what has no type is application/octet-stream"},
	{"GET /.hidden.txt", ""},
	{"GET /with%20blank.txt", ""},
	{"GET /per%25cent.txt", ""},
	{"GET /%C3%A4.txt", ""},
	{"GET /\xc3\xa4.txt", ""},
	{"GET /back%5Cslash.txt", ""},
	{"GET /none", ""},
	{"GET /none/", ""},
	{"GET /none/x", ""},
	{"GET /sub%2Fpage.html", ""},
	{"GET /%00", "is refused as no path"},
	{"GET /x%00.txt", "is refused as no path"},
	{"GET /%zz", ""},
	{"GET /../outside.txt", ""},
	{"GET /%2e%2e/outside.txt", ""},
	{"GET /sub/..%2f..%2foutside.txt", ""},
	{"GET /%252e%252e/outside.txt", ""},
	{"GET /..%5coutside.txt", ""},
	{"GET /.htaccess", ""},
	{"GET /.HTACCESS", "names that begin with .ht in any case are refused"},
	{"GET /.htnone", ""},
	{"GET /sub", ""},
	{"GET /sub?a=b&c", ""},
	{"POST /sub\r\nContent-Length: 0", ""},
	{"GET /sub/", ""},
	{"GET /html/", ""},
	{"GET /nothing", ""},
	{"GET /nothing/", ""},
	{"GET /noindex/", ""},
	{"GET /otherindex/", ""},
	{"GET /secondindex/", ""},
	{"GET /deniedindex/", ""},
	{"GET /onlydeniedindex/", ""},
	{"GET /indexdir/", "an index that is a directory is none"},
	{"GET /x.secret", ""},
	{"GET /none.secret", ""},
	{"GET /denied", ""},
	{"GET /denied/", ""},
	{"GET /denied/x.txt", ""},
	{"GET /denied/none", ""},
	{"GET /denied/open/x.txt", ""},
	{"GET /denied/granted", "what has no type is application/octet-stream"},
	{"GET /denied/by/location", ""},
	{"GET /old/x.txt", ""},
	{"GET /local/x.txt", ""},
	{"GET /a/private/x.txt", ""},
	{"GET /a/private2/x.txt", ""},
	{"GET /a/b/private/x.txt", ""},
	{"GET /pattern/x.txt", ""},
	{"GET /charset/a.html", ""},
	{"GET /charset/a.css", ""},
	{"GET /coded/a.html.gz", ""},
	{"GET /coded/a.gz", ""},
	{"GET /forced/a.html", ""},
	{"GET /link.txt", ""},
	{"GET /linkdir", ""},
	{"GET /linkdir/", ""},
	{"GET /linkdir/page.html", ""},
	{"GET /out.txt", "no link leads out of the directory that is served"},
	{"GET /dangling.txt", "a link to nothing is nothing"},
	{"GET /loop.txt", ""},
	{"GET /nolinks/link.txt", ""},
	{"GET /nolinks/plain.txt", ""},
	{"GET /nolinks/dir/page.html", ""},
	{"GET /nolinks/none", ""},
	{"GET /owners/same.txt", ""},
	{"GET /owners/other.txt", ""},
	{"GET /closed.txt", ""},
	{"GET /closed/x.txt", ""},
	{"GET /WEB-INF/web.xml", "what is the web application's own is never sent"},
	{"GET /page.jsp", "the source of a JSP is never sent"},
	{"GET /icons", ""},
	{"GET /icons/", ""},
	{"GET /icons/a.png", ""},
	{"GET /iconsa.png", ""},
	{"GET /docs", ""},
	{"GET /docs/", ""},
	{"GET /docsx", ""},
	{"GET /docs/deeper/x.txt", ""},
	{"GET /docs/../ten.txt", ""},
	{"GET /single.txt", ""},
	{"GET /single.txt/", ""},
	{"GET /single.txt/x", ""},
	{"GET /v1/a.txt", ""},
	{"GET /v2/", ""},
	{"GET /v2", ""},
	{"GET /v3/a.txt", ""},
	{"GET /v1/%2e%2e/2/index.html", ""},
	{"POST /ten.txt\r\nContent-Length: 0", "a file is for reading only"},
	{"PUT /ten.txt\r\nContent-Length: 0", "the methods allowed are fewer by POST"},
	{"DELETE /ten.txt", "the methods allowed are fewer by POST"},
	{"OPTIONS /ten.txt", "the methods allowed are fewer by POST"},
	{"TRACE /ten.txt", "TRACE is not done"},
	{"GET /ten.txt\r\nRange: bytes=0-0", ""},
	{"GET /ten.txt\r\nRange: bytes=2-4", ""},
	{"HEAD /ten.txt\r\nRange: bytes=2-4", ""},
	{"GET /ten.txt\r\nRange: bytes=5-", ""},
	{"GET /ten.txt\r\nRange: bytes=-3", ""},
	{"GET /ten.txt\r\nRange: bytes=-30", ""},
	{"GET /ten.txt\r\nRange: bytes=-0", ""},
	{"GET /ten.txt\r\nRange: bytes=8-100", ""},
	{"GET /ten.txt\r\nRange: bytes=10-", "a 416 says how long the file is, as RFC 9110 wants"},
	{"GET /ten.txt\r\nRange: bytes=10-20", "a 416 says how long the file is, as RFC 9110 wants"},
	{"GET /ten.txt\r\nRange: bytes=0-9", ""},
	{"GET /ten.txt\r\nRange: bytes=5-2", ""},
	{"GET /ten.txt\r\nRange: bytes=a-b", ""},
	{"GET /ten.txt\r\nRange: bytes=", ""},
	{"GET /ten.txt\r\nRange: bytes=-", ""},
	{"GET /ten.txt\r\nRange: items=0-1", ""},
	{"GET /ten.txt\r\nRange: bytes=0-1,4-5", ""},
	{"GET /ten.txt\r\nRange: bytes=0-1, 8-9", "there may be blanks between ranges"},
	{"GET /ten.txt\r\nRange: bytes=0-1,20-30", ""},
	{"GET /ten.txt\r\nRange: bytes=20-30,40-50", "a 416 says how long the file is, as RFC 9110 wants"},
	{"GET /ten.txt\r\nRange: bytes=0-5,2-9", "ranges that overlap are not put together"},
	{"GET /ten.txt\r\nRange: bytes=0-1,1-2", "ranges that overlap are not put together"},
	{"GET /empty.txt\r\nRange: bytes=0-", ""},
	{"GET /sub/\r\nRange: bytes=0-1", ""},
	{"GET /ten.txt\r\nRange: bytes=0-1\r\nIf-Range: TAG", ""},
	{"GET /ten.txt\r\nRange: bytes=0-1\r\nIf-Range: \"other\"", ""},
	{"GET /ten.txt\r\nRange: bytes=0-1\r\nIf-Range: DATE", ""},
	{"GET /ten.txt\r\nRange: bytes=0-1\r\nIf-Range: LATER", ""},
	{"GET /ten.txt\r\nRange: bytes=0-1\r\nIf-Range: nonsense", ""},
	{"GET /ten.txt\r\nIf-None-Match: TAG", ""},
	{"GET /ten.txt\r\nIf-None-Match: W/TAG", ""},
	{"GET /ten.txt\r\nIf-None-Match: \"a\", TAG", ""},
	{"GET /ten.txt\r\nIf-None-Match: *", ""},
	{"GET /ten.txt\r\nIf-None-Match: \"other\"", ""},
	{"HEAD /ten.txt\r\nIf-None-Match: TAG", ""},
	{"GET /ten.txt\r\nIf-Match: TAG", ""},
	{"GET /ten.txt\r\nIf-Match: *", ""},
	{"GET /ten.txt\r\nIf-Match: \"other\"", ""},
	{"GET /ten.txt\r\nIf-Match: W/TAG", ""},
	{"GET /ten.txt\r\nIf-Modified-Since: DATE", ""},
	{"GET /ten.txt\r\nIf-Modified-Since: LATER", ""},
	{"GET /ten.txt\r\nIf-Modified-Since: EARLIER", ""},
	{"GET /ten.txt\r\nIf-Modified-Since: nonsense", ""},
	{"GET /ten.txt\r\nIf-Modified-Since: DATE\r\nIf-None-Match: \"other\"", ""},
	{"GET /ten.txt\r\nIf-Unmodified-Since: DATE", ""},
	{"GET /ten.txt\r\nIf-Unmodified-Since: EARLIER", ""},
	{"GET /ten.txt\r\nIf-Unmodified-Since: LATER", ""},
	{"GET /ten.txt\r\nIf-None-Match: TAG\r\nRange: bytes=0-1", ""},
	{"GET /sub/\r\nIf-Modified-Since: DATE", ""},
	{"GET /none\r\nIf-None-Match: *", ""},
	{"GET /list/", "jkd's list is its own"},
	{"HEAD /list/", "jkd's list is its own"},
	{"GET /list", ""},
	{"GET /list/one.txt", ""},
}

var written = time.Date(2024, 2, 29, 12, 30, 15, 0, time.UTC)

// makeFiles makes fileTree, and what is no text, below a directory.
func makeFiles(t *testing.T) (root string) {
	t.Helper()
	root = openDir(t)
	for name, text := range fileTree {
		at := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		to, link := strings.CutPrefix(text, "->")
		switch {
		case strings.HasSuffix(name, "/"):
			err = errors.Join(err, os.MkdirAll(at, 0o755))
		case link:
			err = errors.Join(err, os.Symlink(to, at))
		default:
			err = errors.Join(err, os.WriteFile(at, []byte(text), 0o644), os.Chtimes(at, written, written))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	www := filepath.Join(root, "www")
	err := errors.Join(
		os.WriteFile(filepath.Join(www, "closed.txt"), []byte("secret"), 0),
		os.Mkdir(filepath.Join(www, "closed"), 0),
		os.Symlink("../foreign.txt", filepath.Join(www, "owners/other.txt")),
		os.WriteFile(filepath.Join(www, "foreign.txt"), []byte("foreign"), 0o644),
	)
	if os.Geteuid() == 0 {
		err = errors.Join(err, os.Chown(filepath.Join(www, "foreign.txt"), 12345, 12345))
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// shownFile is an answer without what is the server's own.
func shownFile(t *testing.T, addr, request, tag string) string {
	t.Helper()
	date := func(d time.Duration) string { return written.Add(d).Format("Mon, 02 Jan 2006 15:04:05 GMT") }
	line, fields, _ := strings.Cut(request, "\r\n")
	if fields != "" {
		fields += "\r\n"
	}
	fields = strings.NewReplacer("TAG", tag, "DATE", date(0), "LATER", date(time.Hour), "EARLIER", date(-time.Hour)).Replace(fields)
	r, body, err := answerOf(t, addr, line+" HTTP/1.1\r\n"+fields+"\r\n")
	if r == nil {
		return "no answer: " + err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d", r.StatusCode)
	names := []string{"Allow", "Content-Encoding", "Content-Range", "Etag", "Location", "Transfer-Encoding", "Vary"}
	mediaType, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	parts := strings.HasPrefix(mediaType, "multipart/")
	switch {
	case r.StatusCode == 304:
	case r.StatusCode >= 300: // the page is each one's own
		names = []string{"Allow", "Content-Range", "Location"}
	case parts:
	default:
		names = append(names, "Content-Type", "Content-Length", "Last-Modified", "Accept-Ranges")
	}
	for _, name := range names {
		if v := strings.Join(r.Header.Values(name), " "); v != "" {
			fmt.Fprintf(&b, "\n%s: %s", name, v)
		}
	}
	switch {
	case r.StatusCode >= 300:
	case parts:
		for m := multipart.NewReader(bytes.NewReader(body), params["boundary"]); ; {
			part, err := m.NextPart()
			if err != nil {
				fmt.Fprintf(&b, "\n%v", err)
				break
			}
			text, err := io.ReadAll(part)
			fmt.Fprintf(&b, "\n%s %s %s %v", part.Header.Get("Content-Range"), part.Header.Get("Content-Type"), text, err)
		}
	default:
		fmt.Fprintf(&b, "\n%s", body)
	}
	if err != nil {
		b.WriteString("\nbroken off")
	}
	_, port, _ := net.SplitHostPort(addr)
	return strings.ReplaceAll(b.String(), "http://main.test:"+port, "")
}

// TestFilesDifferential asks Apache and jkd for the same files with the same
// httpd.conf.
func TestFilesDifferential(t *testing.T) {
	bin := binary(t)
	root := makeFiles(t)
	rules := strings.ReplaceAll(fileRules, "ROOT", root)
	apache := apachetest.StartT(t, apachetest.Options{
		MPM: "worker", Modules: []string{"alias", "dir", "autoindex", "mime", "authz_host", "access_compat"}, Config: rules,
	})
	r, _, err := answerOf(t, apache.Addr(), "HEAD /ten.txt HTTP/1.1\r\n\r\n")
	if r == nil {
		t.Fatal(err)
	}
	tag := r.Header.Get("Etag")
	theirs := make([]string, len(fileProbes))
	for i, p := range fileProbes {
		theirs[i] = shownFile(t, apache.Addr(), p.request, tag)
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{mpm: mpm, httpd: rules})
		for i, p := range fileProbes {
			theirs, ours := theirs[i], shownFile(t, s.addr, p.request, tag)
			switch {
			case theirs == ours && p.differs != "":
				t.Errorf("%q: the difference is gone: %s", p.request, p.differs)
			case theirs != ours && p.differs == "":
				t.Errorf("%q:\nApache: %s\njkd: %s", p.request, theirs, ours)
			case strings.Contains(ours, "secret"):
				t.Errorf("%q: %s", p.request, ours)
			}
		}
	})
}
