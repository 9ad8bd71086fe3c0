//go:build unix

package main_test

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// TestFiles: DocumentRoot, an Alias, locations and a virtual host beside a
// container, by children that are not the superuser.
func TestFiles(t *testing.T) {
	bin := binary(t)
	root := openDir(t)
	files := map[string]string{
		"www/index.jsp": "secret", "www/a.txt": "text", "www/sub/index.html": "sub", "www/sub/page.jsp": "secret", "www/other/first.html": "first", "www/other/index.html": "index",
		"www/WEB-INF/web.xml": "secret", "www/sub/META-INF/x": "secret", "www/.htaccess": "secret", "www/a.css": "p{}", "www/a.css.gz": "packed",
		"app/index.html": "app", "app/img/a.png": "png", "vhost/index.html": "vhost", "outside": "secret",
	}
	// In order, because a packed file that is older than the plain one is not used.
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const size = 5 << 30
	large := filepath.Join(root, "www/large.bin")
	if err := os.WriteFile(large, []byte("begin"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, size); err != nil {
		t.Fatal(err)
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		back := ajptest.New(t, func(e *ajptest.Exchange) {
			body, _ := e.Body()
			e.Respond(200, e.Request.Method+" "+e.Request.URI+" "+attribute(e.Request, "query_string")+" "+string(body))
		})
		s := start(t, bin, config{
			mpm: mpm,
			server: []string{
				"DocumentRoot = " + filepath.Join(root, "www"), "Alias = /app " + filepath.Join(root, "app"), "DirectoryIndex = index.jsp index.html", "PrecompressedFiles = On",
			},
			workers: properties(addrOf(back.Port()), nil),
			mounts:  []string{"/*.jsp tomcat", "/servlet/* tomcat"},
			jk: []string{
				"[location /other]", "DirectoryIndex = first.html", "Options = +Indexes",
				"[location /app/img]", "Options = +Indexes",
				"[location /app/img/a.png]", "Require = all denied",
				"[vhost vhost.example.test]", "DocumentRoot = " + filepath.Join(root, "vhost"), "JkMountCopy = Off",
			},
		})
		for _, tt := range []struct {
			request string // the line without the version, and more fields
			host    string
			status  int
			body    string // "" for anything but a secret
		}{
			{"GET /", "x", 200, "GET /index.jsp  "},
			{"GET /?a=b", "x", 200, "GET /index.jsp a=b "},
			{"GET /;jsessionid=1.a?a=b", "x", 200, "GET /index.jsp;jsessionid=1.a a=b "},
			{"POST /\r\nContent-Length: 5\r\n\r\nhello", "x", 200, "POST /index.jsp  hello"},
			{"GET /sub/page.jsp", "x", 200, "GET /sub/page.jsp  "},
			{"GET /servlet/x", "x", 200, "GET /servlet/x  "},
			{"GET /sub/", "x", 200, "sub"},
			{"GET /a.txt", "x", 200, "text"},
			{"GET /other/", "x", 200, "first"},
			{"GET /a.css\r\nAccept-Encoding: gzip", "x", 200, "packed"},
			{"GET /a.css", "x", 200, "p{}"},
			{"GET /app/", "x", 200, "app"},
			{"GET /app", "x", 301, ""},
			{"GET /app/img/", "x", 200, ""},
			{"GET /app/img/a.png", "x", 403, ""},
			{"GET /app/../a.txt", "x", 200, "text"},
			{"GET /", "vhost.example.test", 200, "vhost"},
			{"GET /a.txt", "vhost.example.test", 404, ""},
			{"GET /app/", "vhost.example.test", 200, "app"},
			{"GET /index.jsp", "vhost.example.test", 404, ""},
			{"GET /none", "x", 404, ""},
			{"GET /.htaccess", "x", 403, ""},
			{"PUT /a.txt\r\nContent-Length: 3\r\n\r\nnew", "x", 405, ""},
			{"GET /WEB-INF/web.xml", "x", 404, ""},
			{"GET /web-inf/web.xml", "x", 404, ""},
			{"GET /%57EB-INF/web.xml", "x", 404, ""},
			{"GET /WEB%2dINF/web.xml", "x", 404, ""},
			{"GET /WEB-INF;x=y/web.xml", "x", 404, ""},
			{"GET /;x/WEB-INF/web.xml", "x", 404, ""},
			{"GET /./WEB-INF//web.xml", "x", 404, ""},
			{"GET /%2e/WEB-INF/web.xml", "x", 404, ""},
			{"GET /sub/%2e%2e/WEB-INF/web.xml", "x", 404, ""},
			{"GET /sub/..;/WEB-INF/web.xml", "x", 404, ""},
			{"GET /sub/..%2fWEB-INF/web.xml", "x", 404, ""},
			{"GET /WEB-INF%5cweb.xml", "x", 404, ""},
			{"GET /WEB-INF\\web.xml", "x", 404, ""},
			{"GET /WEB-INF./web.xml", "x", 404, ""},
			{"GET /WEB-INF%20/web.xml", "x", 404, ""},
			{"GET /WEB-INF::$DATA/web.xml", "x", 404, ""},
			{"GET /WEB-INF%00/web.xml", "x", 400, ""},
			{"GET /%2557EB-INF/web.xml", "x", 404, ""},
			{"GET /WEB%c0%adINF/web.xml", "x", 404, ""},
			{"GET /%c1%97EB-INF/web.xml", "x", 404, ""},
			{"GET /%ef%bc%b7EB-INF/web.xml", "x", 404, ""},
			{"GET /WEB-INF", "x", 404, ""},
			{"GET /sub/META-INF/x", "x", 404, ""},
			{"GET /sub/meta-inf/", "x", 404, ""},
			{"GET /../outside", "x", 400, ""},
			{"GET /sub/%2e%2e/%2e%2e/outside", "x", 400, ""},
			{"GET /..%2foutside", "x", 404, ""},
			{"GET /..%5coutside", "x", 404, ""},
			{"GET /%252e%252e/outside", "x", 404, ""},
			{"GET /%c0%ae%c0%ae/outside", "x", 404, ""},
			{"GET //outside", "x", 404, ""},
		} {
			c := dial(t, s.addr)
			line, rest, more := strings.Cut(tt.request, "\r\n")
			if more && !strings.Contains(rest, "\r\n\r\n") || !more {
				rest += "\r\n\r\n"
			}
			if _, err := io.WriteString(c, line+" HTTP/1.1\r\nHost: "+tt.host+"\r\n"+strings.TrimPrefix(rest, "\r\n")); err != nil {
				t.Fatal(err)
			}
			method, _, _ := strings.Cut(line, " ")
			r, err := c.response(method)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != tt.status || tt.body != "" && string(body) != tt.body || strings.Contains(string(body), "secret") {
				t.Errorf("%q to %s: %d %q, %v; want %d %q", tt.request, tt.host, r.StatusCode, body, err, tt.status, tt.body)
			}
			c.Close()
		}

		// A file beyond 32 bits: its length, its end, and a client that leaves.
		c := dial(t, s.addr)
		if err := c.send("HEAD /large.bin"); err != nil {
			t.Fatal(err)
		}
		if r, err := c.response("HEAD"); err != nil || r.ContentLength != size {
			t.Errorf("large file: %v, %v", r, err)
		}
		if status, body, err := c.get("/large.bin", "Range: bytes="+strconv.Itoa(size-4)+"-"); status != 206 || body != "\x00\x00\x00\x00" {
			t.Errorf("end of a large file: %d %q, %v", status, body, err)
		}
		if err := c.send("GET /large.bin"); err != nil {
			t.Fatal(err)
		}
		r, err := c.response("GET")
		if err != nil {
			t.Fatal(err)
		}
		begin := make([]byte, 1<<20)
		if _, err := io.ReadFull(r.Body, begin); err != nil || string(begin[:5]) != "begin" {
			t.Errorf("begin of a large file: %q, %v", begin[:5], err)
		}
		c.Close()
		if status, body, err := dial(t, s.addr).get("/a.txt"); status != 200 || body != "text" {
			t.Errorf("after that: %d %q, %v", status, body, err)
		}
	})
}
