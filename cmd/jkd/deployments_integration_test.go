//go:build unix

package main_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// deployed is a page that a deployment has, and how to see that it is the right
// one.
type deployed struct {
	path   string
	status int
	from   string // "tomcat": as Tomcat itself says; "disk": the file of that name
	has    string // part of the body, or of Location
}

// besideServlets is what the deployments serve that have their static files from
// disk.
var besideServlets = []deployed{
	{path: "/examples/servlets/servlet/HelloWorldExample", status: 200, from: "tomcat"},
	{path: "/examples/servlets/servlet/RequestParamExample?firstname=a&lastname=b", status: 200, from: "tomcat"},
	{path: "/examples/jsp/simpletag/foo.jsp", status: 200, from: "tomcat"},
	{path: "/examples/servlets/nothing.jsp", status: 404, from: "tomcat"},
	{path: "/examples/servlets/helloworld.html", status: 200, from: "disk"},
	{path: "/examples/servlets/images/code.gif", status: 200, from: "disk"},
	{path: "/examples/", status: 200, has: "<html"},
	{path: "/examples/servlets", status: 301, has: "/examples/servlets/"},
	{path: "/examples/servlets/images/", status: 200, has: "Index of /examples/servlets/images/"},
	{path: "/examples/nothing.html", status: 404},
	{path: "/examples/WEB-INF/web.xml", status: 403},
	{path: "/examples/WEB-INF/", status: 403},
	{path: "/examples/%57EB-INF/web.xml", status: 403},
	{path: "/examples/./WEB-INF/web.xml", status: 403},
	{path: "/examples/web-inf/web.xml", status: 404},
	{path: "/examples/META-INF/context.xml", status: 404},
	{path: "/nothing", status: 404},
}

// behindProxy is what those have for which Tomcat answers everything.
var behindProxy = []deployed{
	{path: "/examples/servlets/servlet/HelloWorldExample", status: 200, from: "tomcat"},
	{path: "/examples/jsp/simpletag/foo.jsp", status: 200, from: "tomcat"},
	{path: "/examples/servlets/helloworld.html", status: 200, from: "tomcat"},
	{path: "/examples", status: 302, has: "/examples/"},
	{path: "/examples/WEB-INF/web.xml", status: 404, from: "tomcat"},
	{path: "/test/session.jsp", status: 200, has: " 1"},
	{path: "/nothing", status: 404, from: "tomcat"},
}

// TestDeployed starts jkd on the httpd.conf of servers of 2003 and 2009, with
// other ports and other paths, in front of a real Tomcat.
func TestDeployed(t *testing.T) {
	tomcat := tomcattest.StartT(t, tomcattest.Options{HTTP: true})
	bin := binary(t)
	parts := "../../conf/testdata/httpd/"
	if _, err := os.Stat(parts); err != nil {
		t.Skip(err)
	}
	replace := strings.NewReplacer("Listen 8088", "", "8009", strconv.Itoa(tomcat.AJPPort), "8080", strconv.Itoa(tomcat.HTTPPort),
		"conf/", "", "localhost", "127.0.0.1", "/examples/servlet/", "/examples/servlets/servlet/")
	read := func(name string) string {
		text, err := os.ReadFile(parts + name)
		if err != nil {
			t.Fatal(err)
		}
		return replace.Replace(string(text))
	}
	for name, pages := range map[string][]deployed{
		"servlets-jk": besideServlets, "servlets-jk2": besideServlets, "page-proxy": behindProxy, "page-proxy-ajp": behindProxy,
		"page-jk": {
			{path: "/test/session.jsp", status: 200, has: " 1"},
			{path: "/test/nothing.jsp", status: 404, from: "tomcat"},
			{path: "/examples/servlets/servlet/HelloWorldExample", status: 404}, // not mounted
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachMPM(t, func(t *testing.T, mpm string) {
				s := prepare(t, config{
					mpm: mpm, httpd: read(name + ".conf"), workers: read("conf/workers.properties"),
					files: map[string]string{"workers2.properties": read("conf/workers2.properties")},
				})
				if err := os.Mkdir(filepath.Join(s.dir, "webapps"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(tomcattest.Examples, filepath.Join(s.dir, "webapps/examples")); err != nil {
					t.Fatal(err)
				}
				s.launch(bin)
				for _, p := range pages {
					p.check(t, s, tomcat)
				}
			})
		})
	}
}

func (p *deployed) check(t *testing.T, s *server, tomcat *tomcattest.Tomcat) {
	t.Helper()
	r, body := fetch(t, "GET", s.url(p.path))
	if r.StatusCode != p.status {
		t.Errorf("%s: %d %.300q, want %d", p.path, r.StatusCode, body, p.status)
		return
	}
	switch p.from {
	case "tomcat":
		want, text := fetch(t, "GET", "http://"+tomcat.HTTPAddr()+p.path)
		if want.StatusCode != p.status || body != text || r.Header.Get("Content-Type") != want.Header.Get("Content-Type") {
			t.Errorf("%s: %.300q, Tomcat itself says %d %.300q", p.path, body, want.StatusCode, text)
		}
	case "disk":
		text, err := os.ReadFile(filepath.Join(tomcattest.Examples, strings.TrimPrefix(p.path, "/examples")))
		if err != nil || body != string(text) || r.Header.Get("Accept-Ranges") != "bytes" {
			t.Errorf("%s: %.300q, the file has %.300q, %v", p.path, body, text, err)
		}
	}
	switch {
	case p.status >= 300 && p.status < 400:
		to, err := r.Location()
		if err != nil || to.String() != (&url.URL{Scheme: "http", Host: s.addr, Path: p.has}).String() {
			t.Errorf("%s: leads to %v, %v, want %s on this server", p.path, to, err, p.has)
		}
	case !strings.Contains(body, p.has):
		t.Errorf("%s: %.300q, lacks %q", p.path, body, p.has)
	case p.status == http.StatusForbidden && strings.Contains(body, "web-app"):
		t.Errorf("%s: %.300q", p.path, body)
	}
}
