//go:build unix

package main_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// TestProxyTomcat puts jkd before a Tomcat 10 by its HTTP and its AJP connector,
// as the deployments with mod_proxy do: / and ProxyPassReverse, the host
// preserved.
func TestProxyTomcat(t *testing.T) {
	c := tomcattest.StartT(t, tomcattest.Options{HTTP: true})
	bin := binary(t)
	for _, mpm := range []string{"prefork", "worker"} {
		for _, url := range []string{"http://" + c.HTTPAddr() + "/", "ajp://" + c.AJPAddr() + "/"} {
			t.Run(mpm+"/"+url[:4], func(t *testing.T) {
				s := start(t, bin, config{mpm: mpm, jk2: []string{}, jk: []string{
					"[proxy]", "ProxyRequests = Off", "ProxyPreserveHost = On", "ProxyTimeout = 1000", "ProxyPass = / " + url, "ProxyPassReverse = / " + url,
				}})
				client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
				ask := func(method, path, body string) (*http.Response, string) {
					t.Helper()
					q, err := http.NewRequest(method, "http://"+s.addr+path, strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					if body != "" {
						q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					}
					r, err := client.Do(q)
					if err != nil {
						t.Fatal(err)
					}
					defer r.Body.Close()
					b, err := io.ReadAll(r.Body)
					if err != nil {
						t.Errorf("%s %s: %v", method, path, err)
					}
					return r, string(b)
				}
				for range 3 {
					if r, b := ask("GET", "/examples/servlets/servlet/HelloWorldExample", ""); r.StatusCode != 200 || !strings.Contains(b, "Hello World!") {
						t.Errorf("servlet: %s, %.200s", r.Status, b)
					}
				}
				if r, b := ask("GET", "/examples/jsp/jsp2/el/basic-arithmetic.jsp", ""); r.StatusCode != 200 || !strings.Contains(b, "Basic Arithmetic") {
					t.Errorf("JSP: %s", r.Status)
				}
				if r, _ := ask("GET", "/examples", ""); r.StatusCode != 302 || r.Header.Get("Location") != "/examples/" && r.Header.Get("Location") != "http://"+s.addr+"/examples/" {
					t.Errorf("redirect: %s, %q", r.Status, r.Header.Get("Location"))
				}
				if r, _ := ask("GET", "/examples/WEB-INF/web.xml", ""); r.StatusCode != 404 {
					t.Errorf("WEB-INF: %s", r.Status)
				}
				if r, b := ask("HEAD", "/examples/servlets/index.html", ""); r.StatusCode != 200 || b != "" || r.ContentLength <= 0 {
					t.Errorf("HEAD: %s, %d", r.Status, r.ContentLength)
				}
				long := strings.Repeat("x", 100000)
				if r, b := ask("POST", "/examples/servlets/servlet/RequestParamExample", "firstname="+long+"&lastname=end"); r.StatusCode != 200 || !strings.Contains(b, long) || !strings.Contains(b, "end") {
					t.Errorf("POST: %s, %d bytes", r.Status, len(b))
				}
				r, b := ask("GET", "/examples/servlets/servlet/RequestInfoExample?a=b", "")
				if want := "/examples/servlets/servlet/RequestInfoExample"; r.StatusCode != 200 || !strings.Contains(b, want) {
					t.Errorf("info: %s, %.300s", r.Status, b)
				}
				if r, _ := ask("GET", fmt.Sprintf("/examples/servlets/servlet/SessionExample;jsessionid=%032d", 1), ""); r.StatusCode != 200 {
					t.Errorf("path parameter: %s", r.Status)
				}
			})
		}
	}
}
