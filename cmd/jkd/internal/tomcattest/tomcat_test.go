package tomcattest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTomcat starts one container with everything set, visits every page over
// HTTP and one over AJP, and looks whether it is gone afterwards.
func TestTomcat(t *testing.T) {
	c := StartT(t, Options{HTTP: true, Secret: `s<"&>t`, JVMRoute: "node1", PacketSize: 16384})
	base := "http://" + c.HTTPAddr()
	client := &http.Client{
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	get := func(path string) (*http.Response, string) {
		t.Helper()
		r, err := client.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return r, string(body)
	}

	t.Run("pages", func(t *testing.T) {
		for _, tt := range []struct {
			path   string
			status int
			want   string // a part of the body
		}{
			{"/examples/servlets/servlet/HelloWorldExample", 200, "Hello World!"},
			{"/examples/jsp/simpletag/foo.jsp", 200, "Radio stations that rock"},
			{"/test/hello.jsp", 200, "Hello from the container"},
			{"/test/header.jsp?size=3000", 200, "a large field"},
			{"/test/redirect.jsp", 302, ""},
			{"/test/error.jsp", 500, "thrown on purpose"},
			{"/test/status.jsp?code=204", 204, ""},
			{"/test/status.jsp?code=304", 304, ""},
			{"/test/status.jsp?code=418", 418, ""},
			{"/test/nothing.jsp", 404, ""},
			{"/elsewhere", 404, ""},
			{"/test/waiting.jsp?id=none", 200, "0"},
			{"/test/release.jsp?id=none", 200, "nobody waits"},
		} {
			r, body := get(tt.path)
			if r.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%s: status %d, body %.300q; want %d and %q", tt.path, r.StatusCode, body, tt.status, tt.want)
			}
		}
		if r, _ := get("/test/cookies.jsp"); len(r.Header["Set-Cookie"]) != 2 {
			t.Errorf("cookies.jsp: %q, want two", r.Header["Set-Cookie"])
		}
		if r, body := get("/test/session.jsp"); !strings.HasSuffix(body, ".node1 1\n") || r.Header.Get("Set-Cookie") == "" {
			t.Errorf("session.jsp: %q, %q", body, r.Header)
		}
		if _, body := get("/test/test.jsp"); len(body) != PageSize || !strings.HasSuffix(body, "</html>\n") {
			t.Errorf("test.jsp: %d bytes, want %d", len(body), PageSize)
		}
	})

	t.Run("node", func(t *testing.T) {
		_, body := get("/test/node/a?session=1&id=x")
		n, err := ParseNode(body)
		if err != nil || n.Name != "node1" || !strings.HasSuffix(n.Session, ".node1") || n.Visits != 1 {
			t.Fatalf("%q: %+v, %v", body, n, err)
		}
		if _, body := get("/test/node/b;jsessionid=" + n.Session); body != "node=node1 session="+n.Session+" visits=2" {
			t.Errorf("the session again: %q", body)
		}
		if _, body := get("/test/node/"); body != "node=node1 session=- visits=0" {
			t.Errorf("without a session: %q", body)
		}
		get("/test/node/?cmd=close")
		doneC := make(chan string)
		go func() {
			r, err := client.Get(base + "/test/node/")
			if err != nil {
				doneC <- err.Error()
				return
			}
			defer r.Body.Close()
			body, _ := io.ReadAll(r.Body)
			doneC <- string(body)
		}()
		for {
			_, body := get("/test/node/?cmd=state")
			s, err := ParseNodeState(body)
			if err != nil {
				t.Fatalf("%q: %v", body, err)
			}
			if s.Waiting == 1 && s.Runs == 4 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if _, body := get("/test/node/?cmd=open&id=x"); !strings.HasSuffix(body, " runs=1") {
			t.Errorf("runs with an id: %q", body)
		}
		if body := <-doneC; body != "node=node1 session=- visits=0" {
			t.Errorf("after the wait: %q", body)
		}
	})

	t.Run("bodies", func(t *testing.T) {
		const size = 3<<20 + 77
		for _, more := range []string{"", "&chunked=1"} {
			r, body := get(fmt.Sprintf("/test/big.jsp?bytes=%d%s", size, more))
			want, _ := io.ReadAll(BigBody(size))
			if body != string(want) || (r.ContentLength == size) != (more == "") {
				t.Errorf("big.jsp%s: %d bytes, length %d", more, len(body), r.ContentLength)
			}
		}
		sum := sha256.New()
		io.Copy(sum, BigBody(size))
		r, err := client.Post(base+"/test/sink.jsp", "application/octet-stream", BigBody(size))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		got, _ := io.ReadAll(r.Body)
		if want := fmt.Sprintf("%d %x\n", size, sum.Sum(nil)); string(got) != want {
			t.Errorf("sink.jsp: %q, want %q", got, want)
		}
	})

	t.Run("echo", func(t *testing.T) {
		const path = "/grüße/日本"
		req, _ := http.NewRequest("POST", base+"/test/echo/"+url.PathEscape("grüße")+"/"+url.PathEscape("日本")+"?q=%C3%BC&r", strings.NewReader("body=1"))
		req.Header.Add("X-Two", "a = b\tc")
		req.Header.Add("X-Two", "d")
		r, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		e := ParseEcho(string(body))
		sum := sha256.Sum256([]byte("body=1"))
		for name, want := range map[string]string{
			"method": "POST", "pathInfo": path, "query": "q=%C3%BC&r", "protocol": "HTTP/1.1",
			"parameter.q": "ü", "remoteAddr": "127.0.0.1", "remoteUser": "<null>",
			"body.length": "6", "body.sha256": hex.EncodeToString(sum[:]),
		} {
			if e.Values[name] != want {
				t.Errorf("%s = %q, want %q", name, e.Values[name], want)
			}
		}
		if got := e.Headers["x-two"]; len(got) != 2 || got[0] != "a = b\tc" || got[1] != "d" {
			t.Errorf("X-Two: %q", got)
		}
	})

	t.Run("sse", func(t *testing.T) {
		r, err := client.Get(base + "/test/sse.jsp?id=a&n=3")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		lines := bufio.NewScanner(r.Body)
		for i := 1; i <= 3; i++ {
			if i > 1 {
				if _, body := get("/test/release.jsp?id=a"); body != "released\n" {
					t.Fatalf("release: %q", body)
				}
			}
			if !lines.Scan() || lines.Text() != fmt.Sprintf("data: %d", i) {
				t.Fatalf("event %d: %q", i, lines.Text())
			}
			lines.Scan()
		}
	})

	t.Run("ajp", func(t *testing.T) {
		for _, tt := range []struct {
			secret string
			status int
		}{{`s<"&>t`, 200}, {"wrong", 403}} {
			status, body := ajpGet(t, c.AJPAddr(), "/test/test.jsp", tt.secret)
			if status != tt.status || status == 200 && len(body) != PageSize {
				t.Errorf("secret %q: status %d, %d bytes; want %d", tt.secret, status, len(body), tt.status)
			}
		}
	})

	t.Run("restart", func(t *testing.T) {
		_, body := get("/test/node/?session=1")
		n, _ := ParseNode(body)
		for _, end := range []struct {
			f    func()
			want int // visits of the session after it
		}{{c.Terminate, 2}, {c.Kill, 1}} {
			pid := c.PID()
			end.f()
			if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
				t.Errorf("process %d after its end: %v", pid, err)
			}
			if ping(c.AJPAddr(), time.Second) == nil {
				t.Error("the AJP port still answers")
			}
			if err := c.Restart(); err != nil {
				t.Fatal(err)
			}
			// What an orderly end has saved, a new start finds.
			if _, body := get("/test/node/;jsessionid=" + n.Session + "?session=1"); !strings.HasSuffix(body, fmt.Sprint("visits=", end.want)) {
				t.Errorf("the session afterwards: %q, want visits=%d", body, end.want)
			}
		}
	})

	pid, dir := c.PID(), c.dir
	c.Stop()
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d after Stop: %v", pid, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("directory after Stop: %v", err)
	}
	if ping(c.AJPAddr(), time.Second) == nil {
		t.Error("the AJP port still answers after Stop")
	}
}

func TestAvailableNamesWhatIsMissing(t *testing.T) {
	ok, why := Available("no-such-program-here")
	if ok || !strings.Contains(why, "no-such-program-here") {
		t.Errorf("Available = %v, %q", ok, why)
	}
}

// ajpGet is the smallest AJP client there is: one GET on a new connection.
func ajpGet(t *testing.T, address, path, secret string) (status int, body []byte) {
	t.Helper()
	str := func(b []byte, s string) []byte {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
		return append(append(b, s...), 0)
	}
	p := []byte{0x12, 0x34, 0, 0, 2, 2} // FORWARD_REQUEST, GET
	p = str(p, "HTTP/1.1")
	p = str(p, path)
	p = str(p, "127.0.0.1")
	p = append(p, 0xff, 0xff) // no remote host
	p = str(p, "localhost")
	p = append(p, 0, 80, 0, 0, 1, 0xa0, 0x0b) // port, not TLS, one field: Host
	p = str(p, "localhost")
	p = str(append(p, 0x0c), secret)
	p = append(p, 0xff)
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)-4))

	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Write(p); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(conn); ; {
		var head [4]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(head[:2], []byte("AB")) {
			t.Fatalf("bad magic % x", head)
		}
		p := make([]byte, binary.BigEndian.Uint16(head[2:]))
		if _, err := io.ReadFull(r, p); err != nil {
			t.Fatal(err)
		}
		switch p[0] {
		case 4: // SEND_HEADERS
			status = int(binary.BigEndian.Uint16(p[1:]))
		case 3: // SEND_BODY_CHUNK
			body = append(body, p[3:3+int(binary.BigEndian.Uint16(p[1:]))]...)
		case 5: // END_RESPONSE
			return status, body
		}
	}
}
