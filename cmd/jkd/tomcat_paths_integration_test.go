//go:build unix

package main_test

import (
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// TestTomcatTakesThePathThatWasMatched: no spelling of a path gets past an
// exception. Tomcat 10.1.60 takes /x/. for /x. And who has the wrong secret is
// told so, whatever page the container has for it.
func TestTomcatTakesThePathThatWasMatched(t *testing.T) {
	tomcat := tomcattest.StartT(t, tomcattest.Options{Secret: "right", Small: true})
	s := start(t, binary(t), config{
		mpm: "prefork",
		workers: properties(tomcat.AJPAddr(), map[string]string{"secret": "right"}) +
			"worker.list=other\nworker.other.reference=worker.tomcat\nworker.other.secret=wrong\n",
		mounts: []string{"/test/* tomcat", "/other/* other"},
		jk:     []string{"JkUnMount = /test/echo.jsp tomcat"},
	})
	for _, path := range []string{
		"/test/echo.jsp", "/test/echo.jsp/.", "/test/echo.jsp/%2e", "/test/echo.jsp/.;x", "/test/echo.jsp;a/.", "/test/echo.jsp/x/..", "/test/echo.jsp/x/%2E.;y",
		"/test/./echo.jsp", "/test/x/../echo.jsp", "/test//echo.jsp", "/test/%65cho.jsp", "/test/echo.jsp;jsessionid=1",
	} {
		if status, body, err := dial(t, s.addr).get(path); err != nil || status != 404 || strings.Contains(body, "servletPath") {
			t.Errorf("%s: %d %.200q, %v", path, status, body, err)
		}
	}
	if status, body, err := dial(t, s.addr).get("/test/hello.jsp"); err != nil || status != 200 {
		t.Errorf("a page that is mounted: %d %.200q, %v", status, body, err)
	}

	if status, _, err := dial(t, s.addr).get("/other/"); err != nil || status != 403 {
		t.Errorf("with the wrong secret: %d, %v", status, err)
	}
	s.eventually("a word about the secret", func() bool {
		return strings.Contains(s.log(), "it refuses the secret or a request attribute")
	})
}
