//go:build unix

package main_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"jkd/cmd/jkd/internal/tomcattest"
)

// TestTomcat drives the real binary in front of a real Tomcat, under both
// MPMs: what a browser sees must be what the container sent.
func TestTomcat(t *testing.T) {
	tomcat := tomcattest.StartT(t, tomcattest.Options{HTTP: true, Secret: "s3cr=et", JVMRoute: "tomcat", MaxThreads: 300})
	bin := binary(t)
	eachMPM(t, func(t *testing.T, mpm string) {
		s := start(t, bin, config{
			mpm:     mpm,
			workers: properties(tomcat.AJPAddr(), map[string]string{"secret": "s3cr=et"}),
			mounts:  []string{"/examples/* tomcat", "/test/* tomcat"},
			// ab stops using a connection when it has sent its number of requests
			// and counts the end of such a connection as a failed request, if it
			// comes while others still wait for a free child. So idle ones must
			// outlast the growth to 50 children.
			server: []string{"KeepAliveTimeout = 60"},
		})
		f := &front{s, "http://" + tomcat.HTTPAddr()}
		t.Run("pages", f.pages)
		t.Run("head", f.head)
		t.Run("post", f.post)
		t.Run("continue", f.expectContinue)
		t.Run("echo", f.echo)
		t.Run("session", f.session)
		t.Run("upload", f.upload)
		t.Run("download", f.download)
		t.Run("keep-alive", f.keepAlive)
		t.Run("pipelining", f.pipelining)
		t.Run("events", f.events)
		t.Run("ab", f.ab)
	})
}

// front is a jkd and the address where its Tomcat can be asked directly.
type front struct {
	*server
	direct string
}

// client does not follow redirects, nor keep connections for the next test.
func client() *http.Client {
	return &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func fetch(t *testing.T, method, url string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return r, string(body)
}

func (f *front) pages(t *testing.T) {
	for _, tt := range []struct {
		path   string
		status int
	}{
		{"/examples/servlets/servlet/HelloWorldExample", 200},
		{"/examples/jsp/simpletag/foo.jsp", 200},
		{"/examples/index.html", 200},
		{"/test/test.jsp", 200},
		{"/test/cookies.jsp", 200},
		{"/test/header.jsp?size=4000", 200},
		{"/test/redirect.jsp", 302},
		{"/test/status.jsp?code=204", 204},
		{"/test/status.jsp?code=304", 304},
		{"/test/status.jsp?code=418", 418},
		{"/test/status.jsp?code=599", 599},
		{"/test/error.jsp", 500},
		{"/test/nothing.jsp", 404},
		{"/examples/nothing", 404},
	} {
		got, body := fetch(t, "GET", f.url(tt.path))
		want, wantBody := fetch(t, "GET", f.direct+tt.path)
		if tt.status >= 400 && wantBody == "" {
			// As with mod_jk, an error without a page gets the front's.
			if !strings.Contains(body, fmt.Sprintf("<title>%d ", tt.status)) {
				t.Errorf("%s: the page is %.200q", tt.path, body)
			}
			if c := got.Header.Get("Content-Type"); c != "text/html; charset=utf-8" {
				t.Errorf("%s: the page is of type %q", tt.path, c)
			}
			wantBody, want.Header["Content-Type"] = body, got.Header["Content-Type"]
		}
		if got.StatusCode != tt.status || got.StatusCode != want.StatusCode {
			t.Errorf("%s: status %d, want %d", tt.path, got.StatusCode, tt.status)
		}
		if body != wantBody {
			t.Errorf("%s: the body is not what Tomcat sends: %d bytes %.200q, want %d bytes %.200q", tt.path, len(body), body, len(wantBody), wantBody)
		}
		for _, name := range []string{"Content-Type", "Content-Language", "Etag", "Last-Modified", "X-Big", "X-Page"} {
			// An answer without a body may lose what describes one.
			if got.Header.Get(name) != want.Header.Get(name) && got.ContentLength != 0 {
				t.Errorf("%s: %s: %.100q, want %.100q", tt.path, name, got.Header.Get(name), want.Header.Get(name))
			}
		}
		if g, w := len(got.Header["Set-Cookie"]), len(want.Header["Set-Cookie"]); g != w {
			t.Errorf("%s: %d Set-Cookie fields, want %d", tt.path, g, w)
		}
		if l := got.Header.Get("Location"); (l != "") != (tt.status == 302) || l != "" && !strings.HasSuffix(l, "/test/hello.jsp") && l != "hello.jsp" {
			t.Errorf("%s: Location: %q", tt.path, l)
		}
	}
	if _, body := fetch(t, "GET", f.url("/test/test.jsp")); len(body) != tomcattest.PageSize {
		t.Errorf("test.jsp: %d bytes, want %d", len(body), tomcattest.PageSize)
	}
	if r, body := fetch(t, "GET", f.url("/unmapped")); r.StatusCode != 404 || strings.Contains(body, "Tomcat") {
		t.Errorf("/unmapped: status %d, body %.200q; want a 404 of our own", r.StatusCode, body)
	}
}

func (f *front) head(t *testing.T) {
	c := dial(t, f.addr)
	for _, path := range []string{"/examples/servlets/servlet/HelloWorldExample", "/test/test.jsp", "/test/nothing.jsp", "/test/big.jsp?bytes=70000"} {
		if err := c.send("HEAD " + path); err != nil {
			t.Fatal(err)
		}
		got, err := c.response("HEAD")
		if err != nil {
			t.Fatal(err)
		}
		want, _ := fetch(t, "HEAD", f.direct+path)
		if got.StatusCode != want.StatusCode || got.Header.Get("Content-Length") != want.Header.Get("Content-Length") {
			t.Errorf("HEAD %s: status %d, length %q; want %d and %q", path, got.StatusCode, got.Header.Get("Content-Length"), want.StatusCode, want.Header.Get("Content-Length"))
		}
	}
	// Had one of the answers had a body, it would stand where this one begins.
	if status, body, err := c.get("/test/hello.jsp"); status != 200 || body != "Hello from the container" {
		t.Errorf("GET after HEAD: %d %q %v", status, body, err)
	}
}

// post sends bodies around the sizes where AJP packets end.
func (f *front) post(t *testing.T) {
	for _, size := range []int64{0, 1, 8185, 8186, 8187, 16372, 20000, 3 << 20} {
		for _, chunked := range []bool{false, true} {
			f.sink(t, size, chunked)
		}
	}
}

// sink posts a body and compares what the container has read of it.
func (f *front) sink(t *testing.T, size int64, chunked bool) {
	t.Helper()
	sum := sha256.New()
	body := io.TeeReader(tomcattest.BigBody(size), sum)
	req, _ := http.NewRequest("POST", f.url("/test/sink.jsp"), io.NopCloser(body))
	req.Header.Set("Content-Type", "application/octet-stream")
	req.ContentLength = size
	if chunked {
		req.ContentLength = -1
	} else if size == 0 {
		req.Body = http.NoBody
	}
	r, err := client().Do(req)
	if err != nil {
		t.Errorf("POST of %d bytes, chunked %v: %v", size, chunked, err)
		return
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if want := fmt.Sprintf("%d %x\n", size, sum.Sum(nil)); err != nil || r.StatusCode != 200 || string(got) != want {
		t.Errorf("POST of %d bytes, chunked %v: status %d, %v, %.200q; want %q", size, chunked, r.StatusCode, err, got, want)
	}
}

// expectContinue holds the body back until it is asked for.
func (f *front) expectContinue(t *testing.T) {
	c := dial(t, f.addr)
	if err := c.send("POST /test/sink.jsp", "Content-Type: application/octet-stream", "Content-Length: 5", "Expect: 100-continue"); err != nil {
		t.Fatal(err)
	}
	r, err := c.response("POST")
	if err != nil || r.StatusCode != 100 {
		t.Fatalf("before the body: %v %v, want 100", r, err)
	}
	io.WriteString(c, "hello")
	r, err = c.response("POST")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(r.Body)
	if want := fmt.Sprintf("5 %x\n", sha256.Sum256([]byte("hello"))); string(body) != want {
		t.Errorf("body %q, want %q", body, want)
	}
}

// echo looks at a request with the container's eyes.
func (f *front) echo(t *testing.T) {
	const path = "/grüße/日本"
	target := "/test/echo/" + url.PathEscape("grüße") + "/" + url.PathEscape("日本") + "?q=%C3%BC&empty=&r"
	body := "a=1&b=%C3%A4"
	c := dial(t, f.addr)
	_, clientPort, _ := strings.Cut(c.LocalAddr().String(), ":")
	_, port, _ := strings.Cut(f.addr, ":")
	err := c.send("POST "+target, "User-Agent: test/1.0", "Accept: */*", "Cookie: one=1; two=2",
		"X-Repeated: first", "X-Repeated: second", "X-Empty:", "X-Latin: gr\xfc\xdfe",
		"Content-Type: application/x-test", "Content-Length: "+strconv.Itoa(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, body)
	r, err := c.response("POST")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(r.Body)
	e := tomcattest.ParseEcho(string(text))
	for name, want := range map[string]string{
		"method":        "POST",
		"uri":           strings.TrimSuffix(target, "?q=%C3%BC&empty=&r"),
		"contextPath":   "/test",
		"servletPath":   "/echo",
		"pathInfo":      path,
		"query":         "q=%C3%BC&empty=&r",
		"parameter.q":   "ü",
		"protocol":      "HTTP/1.1",
		"scheme":        "http",
		"secure":        "false",
		"serverName":    "test",
		"remoteAddr":    "127.0.0.1",
		"remotePort":    clientPort,
		"localAddr":     "127.0.0.1",
		"remoteUser":    "<null>",
		"authType":      "<null>",
		"contentType":   "application/x-test",
		"contentLength": strconv.Itoa(len(body)),
		"body.length":   strconv.Itoa(len(body)),
		"body.sha256":   fmt.Sprintf("%x", sha256.Sum256([]byte(body))),
	} {
		if e.Values[name] != want {
			t.Errorf("%s = %q, want %q", name, e.Values[name], want)
		}
	}
	// The Host field names no port: the one of the connection or HTTP's own.
	if p := e.Values["serverPort"]; p != port && p != "80" {
		t.Errorf("serverPort = %q", p)
	}
	for name, want := range map[string]string{
		"host":       "test",
		"user-agent": "test/1.0",
		"accept":     "*/*",
		"cookie":     "one=1; two=2",
		"x-repeated": "first, second",
		"x-empty":    "",
	} {
		if got := strings.Join(e.Headers[name], ", "); got != want || e.Headers[name] == nil {
			t.Errorf("%s: %q, want %q", name, e.Headers[name], want)
		}
	}
	if e.Headers["x-latin"] == nil {
		t.Error("a field with bytes beyond ASCII was lost")
	}
}

func (f *front) session(t *testing.T) {
	jar, _ := cookiejar.New(nil)
	c := client()
	c.Jar = jar
	var id string
	for visit := 1; visit <= 3; visit++ {
		r, err := c.Get(f.url("/test/session.jsp"))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		got, n, _ := strings.Cut(strings.TrimSpace(string(body)), " ")
		if visit == 1 {
			id = got
		}
		if got != id || !strings.HasSuffix(id, ".tomcat") || n != strconv.Itoa(visit) {
			t.Errorf("visit %d: %q, session was %q", visit, body, id)
		}
	}
	// The id in the path works too.
	if _, body := fetch(t, "GET", f.url("/test/session.jsp;jsessionid="+id)); body != id+" 4\n" {
		t.Errorf("with ;jsessionid: %q, want %q", body, id+" 4\n")
	}
}

const large = 50 << 20

func (f *front) upload(t *testing.T) {
	f.sink(t, large, false)
	f.sink(t, large, true)
}

func (f *front) download(t *testing.T) {
	want := sha256.New()
	io.Copy(want, tomcattest.BigBody(large))
	for _, more := range []string{"", "&chunked=1"} {
		r, err := client().Get(f.url(fmt.Sprintf("/test/big.jsp?bytes=%d%s", large, more)))
		if err != nil {
			t.Fatal(err)
		}
		got := sha256.New()
		n, err := io.Copy(got, r.Body)
		r.Body.Close()
		if err != nil || n != large || string(got.Sum(nil)) != string(want.Sum(nil)) {
			t.Errorf("download%s: %d bytes of %d, %v, sum right: %v", more, n, large, err, string(got.Sum(nil)) == string(want.Sum(nil)))
		}
		if (r.ContentLength == large) != (more == "") {
			t.Errorf("download%s: Content-Length %d", more, r.ContentLength)
		}
	}
}

// keepAlive: MaxKeepAliveRequests is 100 by default, and the last answer of a
// connection says that it is.
func (f *front) keepAlive(t *testing.T) {
	c := dial(t, f.addr)
	for i := 1; i <= 100; i++ {
		if err := c.send("GET /test/hello.jsp"); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		r, err := c.response("GET")
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != "Hello from the container" {
			t.Fatalf("request %d: %q, %v", i, body, err)
		}
		if r.Close {
			if i < 100 {
				t.Fatalf("closed after %d requests", i)
			}
			break
		}
	}
	if _, err := c.r.ReadByte(); err != io.EOF {
		t.Errorf("after 100 requests: %v, want the end", err)
	}
	old := dial(t, f.addr)
	io.WriteString(old, "GET /test/hello.jsp HTTP/1.0\r\n\r\n")
	r, err := old.response("GET")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || string(body) != "Hello from the container" || len(r.TransferEncoding) > 0 {
		t.Errorf("HTTP/1.0: %q, %v, transfer encoding %q", body, err, r.TransferEncoding)
	}
	if _, err := old.r.ReadByte(); err != io.EOF {
		t.Errorf("HTTP/1.0 without keep-alive: %v, want the end", err)
	}
}

func (f *front) pipelining(t *testing.T) {
	c := dial(t, f.addr)
	var requests strings.Builder
	paths := []string{"/test/hello.jsp", "/test/status.jsp?code=204", "/test/test.jsp", "/unmapped", "/test/hello.jsp"}
	for _, p := range paths {
		fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", p)
	}
	go io.WriteString(c, requests.String()) // the answers may need room first
	for i, want := range []struct{ status, length int }{{200, 24}, {204, 0}, {200, tomcattest.PageSize}, {404, -1}, {200, 24}} {
		r, err := c.response("GET")
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != want.status || want.length >= 0 && len(body) != want.length {
			t.Fatalf("answer %d, to %s: status %d, %d bytes, %v; want %v", i, paths[i], r.StatusCode, len(body), err, want)
		}
	}
}

// events: the container sends the next event only after the client has seen
// the one before, so a front that keeps pieces back never finishes.
func (f *front) events(t *testing.T) {
	id := f.cmd.Args[0] + t.Name()
	id = fmt.Sprintf("%x", sha256.Sum256([]byte(id)))[:16]
	r, err := client().Get(f.url("/test/sse.jsp?n=4&id=" + id))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.Header.Get("Content-Type") != "text/event-stream;charset=UTF-8" {
		t.Errorf("Content-Type: %q", r.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(r.Body)
	for i := 1; i <= 4; i++ {
		if i > 1 {
			// Past the front, so that only the events' way is tested.
			fetch(t, "GET", f.direct+"/test/release.jsp?id="+id)
		}
		if !lines.Scan() || lines.Text() != "data: "+strconv.Itoa(i) {
			t.Fatalf("event %d: %q, %v", i, lines.Text(), lines.Err())
		}
		lines.Scan()
	}
	if lines.Scan() {
		t.Errorf("after the last event: %q", lines.Text())
	}
}
