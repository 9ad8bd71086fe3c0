//go:build unix

package httpd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/files"
)

// written is when the files of these tests were written, and its form in a
// header and in an ETag.
var written = time.Date(2024, 2, 29, 12, 30, 15, 0, time.UTC)

const (
	writtenDate = "Thu, 29 Feb 2024 12:30:15 GMT"
	writtenTag  = "612846bdea3c0"
)

// webapps makes a directory of web applications: text by path.
func webapps(t *testing.T, list map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range list {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// served are options under which the files of dir are served, and everything
// else by the worker of the harness.
func served(dir string) Options {
	o := defaults()
	o.Connectors = []connector.Connector{autoAlias(dir, "")}
	return o
}

// autoAlias is JkAutoAlias of a directory, and JkStripSession with a name.
func autoAlias(dir, session string) *files.Connector {
	jk := conf.JkServer{AutoAlias: dir, StripSession: session != "", SessionName: session}
	return files.New(&conf.Config{Jk: &conf.Jk{Servers: []conf.JkServer{jk}}}, files.Options{})
}

var dateField = regexp.MustCompile(`\r\nDate: [^\r]*`)

// exchange sends a request on a connection of its own and returns all that
// comes back, without the Date.
func (s *site) exchange(request string) string {
	s.t.Helper()
	c := s.dial()
	c.send(request)
	got, err := c.rest()
	if err != nil {
		s.t.Fatalf("%q: %v", request, err)
	}
	return dateField.ReplaceAllString(got, "")
}

const plainFile = "Content-Type: text/plain\r\nETag: \"a-" + writtenTag + "\"\r\nLast-Modified: " + writtenDate + "\r\n"

// TestFilesBytes: what goes over the wire, byte for byte.
func TestFilesBytes(t *testing.T) {
	dir := webapps(t, map[string]string{"shop/ten.txt": "0123456789", "shop/page.html": "<p>\xe4</p>", "shop/empty": ""})
	const end = "Server: jkd\r\n"
	const closed = "Connection: close\r\n\r\n"
	kinds(t, func(t *testing.T, kind string) {
		s := start(t, kind, served(dir), hello)
		for _, tt := range []struct{ name, method, path, fields, want string }{
			{"whole", "GET", "/shop/ten.txt", "", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n" + plainFile + end + "Content-Length: 10\r\n" + closed + "0123456789"},
			{"HEAD", "HEAD", "/shop/ten.txt", "", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n" + plainFile + end + "Content-Length: 10\r\n" + closed},
			{"no character set", "GET", "/shop/page.html", "", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nContent-Type: text/html\r\nETag: \"8-" + writtenTag +
				"\"\r\nLast-Modified: " + writtenDate + "\r\n" + end + "Content-Length: 8\r\n" + closed + "<p>\xe4</p>"},
			{"empty, no type", "GET", "/shop/empty", "", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\nETag: \"0-" + writtenTag +
				"\"\r\nLast-Modified: " + writtenDate + "\r\n" + end + "Content-Length: 0\r\n" + closed},
			{"range", "GET", "/shop/ten.txt", "Range: bytes=2-4\r\n", "HTTP/1.1 206 Partial Content\r\nAccept-Ranges: bytes\r\nContent-Range: bytes 2-4/10\r\n" + plainFile + end + "Content-Length: 3\r\n" + closed + "234"},
			{"end", "GET", "/shop/ten.txt", "Range: bytes=-3\r\n", "HTTP/1.1 206 Partial Content\r\nAccept-Ranges: bytes\r\nContent-Range: bytes 7-9/10\r\n" + plainFile + end + "Content-Length: 3\r\n" + closed + "789"},
			{"from", "HEAD", "/shop/ten.txt", "Range: bytes=8-\r\n", "HTTP/1.1 206 Partial Content\r\nAccept-Ranges: bytes\r\nContent-Range: bytes 8-9/10\r\n" + plainFile + end + "Content-Length: 2\r\n" + closed},
			{"two Range fields", "GET", "/shop/ten.txt", "Range: bytes=2-4\r\nRange: bytes=5-6\r\n", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n" + plainFile + end + "Content-Length: 10\r\n" + closed + "0123456789"},
			{"more ranges than bytes", "GET", "/shop/ten.txt", "Range: bytes=0-9,0-9\r\n", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n" + plainFile + end + "Content-Length: 10\r\n" + closed + "0123456789"},
			{"range of the same", "GET", "/shop/ten.txt", "Range: bytes=0-0\r\nIf-Range: \"a-" + writtenTag + "\"\r\n", "HTTP/1.1 206 Partial Content\r\nAccept-Ranges: bytes\r\nContent-Range: bytes 0-0/10\r\n" + plainFile + end + "Content-Length: 1\r\n" + closed + "0"},
			{"range of another", "GET", "/shop/ten.txt", "Range: bytes=0-0\r\nIf-Range: \"b\"\r\n", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n" + plainFile + end + "Content-Length: 10\r\n" + closed + "0123456789"},
			{"same tag", "GET", "/shop/ten.txt", "If-None-Match: \"x\", \"a-" + writtenTag + "\"\r\n", "HTTP/1.1 304 Not Modified\r\nETag: \"a-" + writtenTag + "\"\r\n" + end + closed},
			{"not newer", "GET", "/shop/ten.txt", "If-Modified-Since: " + writtenDate + "\r\n", "HTTP/1.1 304 Not Modified\r\nETag: \"a-" + writtenTag + "\"\r\n" + end + closed},
			{"newer", "HEAD", "/shop/ten.txt", "If-Modified-Since: Thu, 29 Feb 2024 12:30:14 GMT\r\n", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n" + plainFile + end + "Content-Length: 10\r\n" + closed},
			{"directory", "HEAD", "/shop", "", "HTTP/1.1 301 Moved Permanently\r\nContent-Type: text/html; charset=utf-8\r\nLocation: /shop/\r\n" + end + closed},
			{"directory with a query", "HEAD", "//shop;x?a=//b", "", "HTTP/1.1 301 Moved Permanently\r\nContent-Type: text/html; charset=utf-8\r\nLocation: /shop/?a=//b\r\n" + end + closed},
		} {
			t.Run(tt.name, func(t *testing.T) {
				got := s.exchange(tt.method + " " + tt.path + " HTTP/1.1\r\nHost: x\r\n" + tt.fields + "Connection: close\r\n\r\n")
				if got != tt.want {
					t.Errorf("got\n%q\nwant\n%q", got, tt.want)
				}
			})
		}
		if n := len(s.worker.requests()); n != 0 {
			t.Errorf("%d requests reached the worker", n)
		}
	})
}

// TestFilesRefused: answers whose page is the front's.
func TestFilesRefused(t *testing.T) {
	dir := webapps(t, map[string]string{"shop/ten.txt": "0123456789"})
	s := start(t, "blocking", served(dir), hello)
	for _, tt := range []struct {
		name, method, path, fields string
		status                     int
		has                        string
	}{
		{"range beyond", "GET", "/shop/ten.txt", "Range: bytes=10-\r\n", 416, "Content-Range: bytes */10\r\n"},
		{"another tag", "GET", "/shop/ten.txt", "If-Match: \"b\"\r\n", 412, ""},
		{"newer", "GET", "/shop/ten.txt", "If-Unmodified-Since: Thu, 29 Feb 2024 12:30:14 GMT\r\n", 412, ""},
		{"POST", "POST", "/shop/ten.txt", "Content-Length: 0\r\n", 405, "Allow: GET, HEAD, OPTIONS\r\n"},
		{"PUT", "PUT", "/shop/ten.txt", "Content-Length: 0\r\n", 405, "Allow: GET, HEAD, OPTIONS\r\n"},
		{"POST to nothing", "POST", "/shop/none", "Content-Length: 0\r\n", 404, ""},
		{"no index", "GET", "/shop/", "", 403, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := s.exchange(tt.method + " " + tt.path + " HTTP/1.1\r\nHost: x\r\n" + tt.fields + "Connection: close\r\n\r\n")
			head, body, _ := strings.Cut(got, "\r\n\r\n")
			head += "\r\n"
			if !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) || !strings.Contains(head, tt.has) ||
				!strings.Contains(head, "\r\nContent-Type: text/html; charset=utf-8\r\n") || strings.Contains(head, "ETag") {
				t.Errorf("head %q", head)
			}
			if !strings.Contains(body, fmt.Sprintf("<title>%d ", tt.status)) || strings.Contains(body, dir) || strings.Contains(body, "0123456789") {
				t.Errorf("body %q", body)
			}
		})
	}
	if strings.Contains(s.log.String(), `"level":"error"`) {
		t.Errorf("logged %s", s.log)
	}
}

// TestFilesRanges: several ranges at a time, for which the boundary is made up.
func TestFilesRanges(t *testing.T) {
	dir := webapps(t, map[string]string{"shop/ten.txt": "0123456789"})
	s := start(t, "polled", served(dir), hello)
	got := s.exchange("GET /shop/ten.txt HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1,8-\r\nConnection: close\r\n\r\n")
	boundary := regexp.MustCompile(`boundary=([0-9a-f]+)\r\n`).FindStringSubmatch(got)
	if boundary == nil {
		t.Fatalf("got %q", got)
	}
	_, body, _ := strings.Cut(got, "\r\n\r\n")
	want := strings.ReplaceAll("--B\r\nContent-Range: bytes 0-1/10\r\nContent-Type: text/plain\r\n\r\n01\r\n"+
		"--B\r\nContent-Range: bytes 8-9/10\r\nContent-Type: text/plain\r\n\r\n89\r\n--B--\r\n", "B", boundary[1])
	if body != want {
		t.Errorf("got\n%q\nwant\n%q", body, want)
	}
	if !strings.HasPrefix(got, "HTTP/1.1 206 ") || !strings.Contains(got, fmt.Sprintf("Content-Length: %d\r\n", len(want))) {
		t.Errorf("head of %q", got)
	}
	many := "bytes=0-0" + strings.Repeat(",1-1", 300)
	if got := s.exchange("GET /shop/ten.txt HTTP/1.1\r\nHost: x\r\nRange: " + many + "\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("300 ranges: %q", got)
	}
}

// TestFilesContained: every way to name something else than a file that a web
// application shows.
func TestFilesContained(t *testing.T) {
	const secret = "a secret"
	dir := webapps(t, map[string]string{
		"apps/shop/ok.txt": "fine", "apps/shop/a b;c.txt": "fine", "apps/shop/sub/index.html": "fine", "apps/shop/sub/index.html.d/x": "x",
		"apps/shop/WEB-INF/web.xml": secret, "apps/shop/web-inf/x": secret, "apps/shop/META-INF/context.xml": secret,
		"apps/shop/sub/WEB-INF/x": secret, "apps/shop/page.jsp": secret, "apps/shop/page.JSPX": secret,
		"apps/WEB-INF/x": secret, "apps/root.txt": secret, "apps/shop.war": secret, "apps/OLD.WAR": secret, "apps/dir.war/ok.txt": "fine",
		"apps/shop/%2e%2e": "fine", "apps/shop/back\\slash": "fine", "apps/shop/archive.war": "fine",
		"other/x": secret, "outside": secret,
	})
	apps := filepath.Join(dir, "apps")
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(apps, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("../../outside", "shop/up")
	link(filepath.Join(dir, "outside"), "shop/absolute")
	link("../../other", "shop/updir")
	link("../other", "linked")
	link("ok.txt", "shop/inside")
	link("loop", "shop/loop")
	if err := syscall.Mkfifo(filepath.Join(apps, "shop/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(apps, "shop/closed"), []byte(secret), 0); err != nil {
		t.Fatal(err)
	}
	o := defaults()
	o.Connectors = []connector.Connector{autoAlias(apps, "_sid")}
	s := start(t, "blocking", o, func(_ *connector.Request, w connector.ResponseWriter) error { return reply(w, 299, "declined") })
	closed := 403
	if os.Geteuid() == 0 {
		closed = 200 // nothing is closed to the superuser
	}
	for _, tt := range []struct {
		path   string
		status int // 299: nobody's
	}{
		{"/shop/ok.txt", 200}, {"//shop///ok.txt", 200}, {"/shop/./ok.txt", 200}, {"/shop/sub/../ok.txt", 200},
		{"/shop/sub/%2e%2e/ok.txt", 200}, {"/shop/ok.txt;jsessionid=x", 200}, {"/shop;a=b/ok.txt;c", 200}, {"/%73hop/o%6B.txt", 200},
		{"/shop/a%20b%3Bc.txt", 200}, {"/shop/inside", 200}, {"/shop/sub/", 200}, {"/shop/sub", 301}, {"/shop/sub;x", 301},
		{"/shop/%252e%252e", 200}, {"/shop/back%5Cslash", 200}, {"/shop/back\\slash", 200}, {"/shop/archive.war", 200}, {"/dir.war/ok.txt", 200},
		{"/shop/ok_sid12.txt", 404}, {"/shop/ok.txt_sid12", 200}, {"/shop/_sid=1/ok.txt", 404}, {"/shop_sid=1/ok.txt", 200}, {"/shop/._sid./../ok.txt", 200},
		{"/shop/._sid/ok.txt", 404}, {"/shop/.._sid/ok.txt", 404},

		{"/shop/none", 404}, {"/shop/ok.txt/", 404}, {"/shop/ok.txt/x", 404}, {"/shop/", 403}, {"/shop/" + strings.Repeat("x", 300), 404},
		{"/shop/WEB-INF/web.xml", 404}, {"/shop/WEB-INF", 404}, {"/shop/WEB-INF/", 404}, {"/shop/web-inf/x", 404}, {"/shop/Web-Inf/web.xml", 404},
		{"/shop/META-INF/context.xml", 404}, {"/shop/meta-inf/context.xml", 404}, {"/shop/WEB-INF;x/web.xml", 404}, {"/shop/WEB-INF;x=/web.xml;y", 404},
		{"/shop/%57EB-INF/web.xml", 404}, {"/shop/WEB%2DINF/web.xml", 404}, {"/shop//WEB-INF/web.xml", 404}, {"/shop/./WEB-INF/web.xml", 404},
		{"/shop/sub/../WEB-INF/web.xml", 404}, {"/shop/sub/%2e%2e/WEB-INF/web.xml", 404}, {"/shop/sub/..;/WEB-INF/web.xml", 404}, {"/shop/sub/WEB-INF/x", 404},
		{"/shop/WEB-INF%2Fweb.xml", 404}, {"/shop/sub%2f..%2fWEB-INF/web.xml", 404}, {"/shop/ok.txt%2f", 404}, {"/shop/WEB-INF%5Cweb.xml", 404},
		{"/shop/WEB_sid-INF/web.xml", 404}, {"/shop/WEB-INF_sid/web.xml", 404}, {"/shop/_sid/WEB-INF/web.xml", 404},
		{"/shop/page.jsp", 404}, {"/shop/page.JSPX", 404}, {"/shop/page.jsp;x", 404}, {"/shop/page.jsp/", 404}, {"/shop/page%2ejsp", 404},
		{"/WEB-INF/x", 404},
		{"/shop.war", 403}, {"/OLD.WAR", 403}, {"/shop.war/x", 403}, {"/none.war", 403}, {"/shop%2ewar;x", 403},
		{"/shop/up", 403}, {"/shop/absolute", 403}, {"/shop/updir/x", 403}, {"/linked/x", 403}, {"/shop/loop", 403}, {"/shop/fifo", 403}, {"/shop/closed", closed},
		{"/shop/..\\..\\outside", 404}, {"/shop/%2e%2e%5coutside", 404}, {"/shop/..%2f..%2foutside", 404}, {"/shop/%252e%252e/x", 404},

		{"/", 299}, {"/none/x", 299}, {"/root.txt", 299}, {"/SHOP/ok.txt", 299}, {"/shop/../none", 299}, {"/..;/outside", 400}, {"/shop/../../outside", 400},
		{"/shop/%2e%2e/%2e%2e/outside", 400}, {"/shop/ok.txt%00", 400}, {"/shop/%zz", 400},
	} {
		t.Run(tt.path, func(t *testing.T) {
			got := s.exchange("GET " + tt.path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			if !strings.HasPrefix(got, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) {
				t.Errorf("got %q, want %d", got, tt.status)
			}
			if tt.status == 200 && !strings.HasSuffix(got, "\r\n\r\nfine") && tt.path != "/shop/closed" || tt.path != "/shop/closed" && strings.Contains(got, secret) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestFilesLarge: a file of several pieces arrives whole, and one that becomes
// shorter meanwhile does not look complete.
func TestFilesLarge(t *testing.T) {
	const size = 3<<20 + 17
	text := make([]byte, size)
	for i := range text {
		text[i] = byte(i>>9) + byte(i)
	}
	kinds(t, func(t *testing.T, kind string) {
		dir := webapps(t, map[string]string{"shop/large": string(text)})
		s := start(t, kind, served(dir), hello)
		c := s.dial()
		c.send("GET /shop/large HTTP/1.1\r\nHost: x\r\n\r\n")
		if a := c.want(200); a.body != string(text) {
			t.Errorf("%d bytes, not the file's", len(a.body))
		}
		c.send("GET /shop/large HTTP/1.1\r\nHost: x\r\nRange: bytes=100000-2000000\r\n\r\n")
		if a := c.want(206); a.body != string(text[100000:2000001]) {
			t.Errorf("%d bytes, not the range's", len(a.body))
		}
		// The kernel's buffers don't hold so much: the file is still being sent
		// when it is cut.
		path := filepath.Join(dir, "shop/large")
		if err := os.Truncate(path, 256<<20); err != nil {
			t.Fatal(err)
		}
		c.send("GET /shop/large HTTP/1.1\r\nHost: x\r\n\r\n")
		c.head()
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if n, _ := io.Copy(io.Discard, c.br); n >= 256<<20 {
			t.Errorf("%d bytes of a file that became shorter", n)
		}
		eventually(t, "a log line", func() bool {
			return strings.Contains(s.log.String(), "large became shorter while it was sent")
		})
	})
}

// TestFilesMapped: files are asked for last, and are no back end's requests.
func TestFilesMapped(t *testing.T) {
	dir := webapps(t, map[string]string{"unmapped/index.html": "x", "shop/x": "x"})
	var all, mapped logBuffer
	o := defaults()
	o.Files = autoAlias(dir, "")
	o.Sites = []Site{{Logs: []AccessLog{
		{W: &all, Format: format("%U %s")}, {W: &mapped, Format: format("%U %s"), Mapped: true},
	}}}
	s := start(t, "polled", o, hello)
	for _, path := range []string{"/unmapped", "/shop/x"} {
		s.exchange("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	}
	eventually(t, "two lines", func() bool { return strings.Count(all.String(), "\n") == 2 })
	if all.String() != "/unmapped 301\n/shop/x 200\n" || mapped.String() != "/shop/x 200\n" {
		t.Errorf("logged %q and %q", all.String(), mapped.String())
	}
}
