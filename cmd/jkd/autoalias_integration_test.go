//go:build unix

package main_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// TestAutoAlias: what no mount has is looked for beside the servlets, per
// virtual host, by children that are not the superuser.
func TestAutoAlias(t *testing.T) {
	bin := binary(t)
	apps := openDir(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for name, text := range map[string]string{
		"shop/logo.svg": "<svg/>", "shop/page.jsp": "<% secret %>", "shop/index.html": "welcome", "shop/large": string(large),
		"shop/images/a.png": "png", "shop/servlet/x": "not this", "shop/WEB-INF/web.xml": "secret", "shop.war": "secret", "shop/_v7/x": "seven",
	} {
		path := filepath.Join(apps, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	eachMPM(t, func(t *testing.T, mpm string) {
		back := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "servlet") })
		s := start(t, bin, config{
			mpm:     mpm,
			server:  []string{`CustomLog = logs/access "%v %m %U %>s %B %{JK_WORKER_NAME}n"`},
			workers: properties(addrOf(back.Port()), nil),
			mounts:  []string{"/shop/servlet/* tomcat", "/shop/images/* tomcat", "/shop/*.jsp tomcat"},
			jk: []string{
				"JkUnMount = /shop/images/* tomcat",
				"JkAutoAlias = " + apps,
				"JkStripSession = On _v",
				"JkLogFile = logs/jk", `JkLogStampFormat = "%% "`, `JkRequestLogFormat = "%m %U %s"`,
				"[vhost none.example.test]",
				"JkMount = /shop/servlet/* tomcat",
				"[vhost directories.example.test]",
				"JkAutoAlias = " + apps,
				"JkOptions = +ForwardDirectories",
				"[vhost copy.example.test]",
				"JkMountCopy = On",
				"[vhost unsafe.example.test]",
				"JkMount = /shop/logo.svg tomcat",
				"JkAutoAlias = " + apps,
				"JkOptions = +RejectUnsafeURI",
				"[vhost own.example.test]",
				"JkAutoAlias = " + filepath.Join(apps, "shop"),
				"[location /shop/large]",
				"SetEnv = no-jk",
			},
		})
		main := s.addr
		for _, tt := range []struct {
			method, host, path string
			status             int
			body               string // "" for a page of the front's
		}{
			{"GET", main, "/shop/servlet/x", 200, "servlet"}, {"GET", main, "/shop/page.jsp", 200, "servlet"},
			{"GET", main, "/shop/logo.svg", 200, "<svg/>"}, {"GET", main, "/shop/logo.svg;jsessionid=1", 200, "<svg/>"},
			{"GET", main, "/shop/images/a.png", 200, "png"}, {"GET", main, "/shop/", 200, "welcome"}, {"GET", main, "/shop", 301, ""},
			{"GET", main, "/shop/page.JSP", 404, ""}, {"GET", main, "/shop/WEB-INF/web.xml", 404, ""}, {"GET", main, "/shop/web-inf;x/web.xml", 404, ""},
			{"GET", main, "/shop.war", 403, ""}, {"GET", main, "/other", 404, ""}, {"POST", main, "/shop/logo.svg", 405, ""},
			{"GET", main, "/shop/logo.svg_v7", 200, "<svg/>"}, {"GET", main, "/shop/large", 404, ""},
			{"GET", main, "/shop/images/", 403, ""}, {"GET", "directories.example.test", "/shop/images/", 200, "servlet"},
			{"GET", "directories.example.test", "/shop/", 200, "welcome"}, {"GET", "directories.example.test", "/shop/images", 301, ""},
			{"GET", "directories.example.test", "/shop/WEB-INF/", 404, ""}, {"GET", "directories.example.test", "/shop/nothing/", 404, ""},
			{"GET", "none.example.test", "/shop/servlet/x", 200, "servlet"}, {"GET", "none.example.test", "/shop/logo.svg", 404, ""},
			{"GET", "copy.example.test", "/shop/servlet/x", 200, "servlet"}, {"GET", "copy.example.test", "/shop/logo.svg", 200, "<svg/>"},
			// Refused as unsafe, a request must not get the file past the container.
			{"GET", "unsafe.example.test", "/shop/logo.svg", 200, "servlet"}, {"GET", "unsafe.example.test", "/shop/a%5C/../logo.svg", 404, ""},
			{"GET", "unsafe.example.test", "/shop/images/a.png", 200, "png"},
			{"GET", "own.example.test", "/images/a.png", 200, "png"}, {"GET", "own.example.test", "/WEB-INF/web.xml", 404, ""},
			{"GET", "own.example.test", "/shop/logo.svg", 404, ""},
		} {
			c := dial(t, s.addr)
			if _, err := io.WriteString(c, tt.method+" "+tt.path+" HTTP/1.1\r\nHost: "+tt.host+"\r\nContent-Length: 0\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			r, err := c.response(tt.method)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != tt.status || tt.body != "" && string(body) != tt.body || bytes.Contains(body, []byte("secret")) {
				t.Errorf("%s %s%s: %d %q, %v; want %d %q", tt.method, tt.host, tt.path, r.StatusCode, body, err, tt.status, tt.body)
			}
		}

		// A range, and the conditions of the next visit, on one connection.
		c := dial(t, s.addr)
		if err := c.send("GET /shop/images/../logo.svg", "Range: bytes=1-3"); err != nil {
			t.Fatal(err)
		}
		r, err := c.response("GET")
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 206 || string(body) != "svg" || r.Header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("range: %d %q %v, %v", r.StatusCode, body, r.Header, err)
		}
		for field, header := range map[string]string{"If-None-Match: ": "Etag", "If-Modified-Since: ": "Last-Modified"} {
			if status, body, err := c.get("/shop/logo.svg", field+r.Header.Get(header)); status != http.StatusNotModified || body != "" {
				t.Errorf("%s%s: %d %q, %v", field, r.Header.Get(header), status, body, err)
			}
		}

		// Only what a mount matches is in the connector's log.
		read := func() string {
			b, _ := os.ReadFile(filepath.Join(s.dir, "logs/jk"))
			var lines []string
			for line := range strings.Lines(string(b)) {
				if strings.HasPrefix(line, "% GET ") {
					lines = append(lines, line)
				}
			}
			return strings.Join(lines, "")
		}
		s.eventually("the log", func() bool { return strings.Count(read(), "\n") >= 6 })
		if got := read(); got != "% GET /shop/servlet/x 200\n% GET /shop/page.jsp 200\n"+strings.Repeat("% GET /shop/servlet/x 200\n", 2)+
			"% GET /shop/logo.svg 200\n% GET /shop/logo.svg 404\n" {
			t.Errorf("logged %q", got)
		}
	})
}
