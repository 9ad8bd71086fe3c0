//go:build unix

package logformat

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/apachetest"
	"jkd/connector"
)

// compared are the directives whose value does not depend on the time, a
// process or Apache's own pages.
var compared = []string{
	"%%", "%a", "%{c}a", "%A", "%h", "%{c}h", "%l", "%u", "%m", "%r", "%>s", "%s", "%H", "%q", "%U", "%v", "%V", "%p", "%{canonical}p",
	"%{local}p", "%{remote}p", "%X", "%k", "%I", "%b", "%B", "%R", "%{Referer}i", "%{x-list}i", "%{host}i",
	"%{Content-Length}i", "%{content-type}o", "%{X-One}o", "%{K}C", "%{jsessionid}C", "%{SET}e", "%{QUOTED}e", "%{UNSET}e", "%{NONE}n",
	"%{T}^ti", "%{T}^to", "%404{Referer}i", "%!404{Referer}i", "%400,404U", "%!400,!404U", "%!200,404H", "%<s", "%,H",
	`a\tb\n`, `x\\y`, `\z\`,
}

// differs are the values in which jkd means to be different: by request, then
// by directive.
var differs = map[string]map[string]string{
	// Paths have no parameters, as with mod_jk, even if nothing is mapped, and
	// an escaped slash stays as it is, everywhere.
	"GET /a;x=1/b;c HTTP/1.1": {"%U": "/a/b", "%400,404U": "/a/b", "%!400,!404U": "/a/b"},
	"GET /a%2fb;x HTTP/1.1":   {"%U": "/a%2fb", "%400,404U": "/a%2fb", "%!400,!404U": "/a%2fb"},
	// A cookie is looked for in every Cookie field, not in the sum of them.
	"GET /nothing?cookies HTTP/1.1": {"%{K}C": "1", "%{jsessionid}C": "b.2"},
}

// apacheRequests are complete requests but for the end of the head.
var apacheRequests = []string{
	"GET / HTTP/1.1\r\nHost: asked.example:99",
	"GET /page.html? HTTP/1.0",
	"HEAD /page.html HTTP/1.1\r\nHost: h\r\nReferer:",
	"GET /page.html?a=\"b\\&\xff HTTP/1.1\r\nHost: h\r\nReferer: \"quoted\\\"\ttab \xc3\xa1",
	"GET //dir/./x/../page.html HTTP/1.1\r\nHost: h\r\nX-List: one\r\nx-list:\r\nX-LIST: th\"ree",
	"GET /nothing%20%08%09%0a%0b%0c%0d%01%7f%ff%22%5c HTTP/1.1\r\nHost: h",
	"GET /a;x=1/b;c HTTP/1.1\r\nHost: h\r\nReferer: r\r\nCookie: a=1; k=v\"w;K=2",
	"GET /a;x/%2E%2e/./b;y/../c HTTP/1.1\r\nHost: h\r\nCookie: k=; K = sp aced ; k=3",
	"GET /a%2fb;x HTTP/1.1\r\nHost: h\r\nCookie: k; xk=1; k==2",
	"GET /\xc3\xa4\"\\ HTTP/1.1\r\nHost: h\r\nCookie: JSESSIONID=\"0123.node1\"",
	"GET /nothing?cookies HTTP/1.1\r\nHost: h\r\nCookie: K=1\r\nCookie: JSESSIONID=b.2",
	"POST /page.html HTTP/1.1\r\nHost: h\r\nContent-Length: 0",
	"OPTIONS * HTTP/1.1\r\nHost: h",
	"GET /old HTTP/1.1\r\nHost: h\r\nConnection: close",
	"GET http://Absolute.Example:77/page.html?x HTTP/1.1\r\nHost: h",
	"GET /gone HTTP/1.1\r\nHost: h\r\nReferer: gone",
}

// apacheQuote writes text as an argument of a directive.
func apacheQuote(s string) string {
	// The configuration takes a backslash before a quote or backslash away.
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// TestApacheLogs has Apache log requests in every directive and compares each
// value with what is made here from what a front knows of the same request.
func TestApacheLogs(t *testing.T) {
	var config strings.Builder
	config.WriteString("JkLogFile jk.log\nJkShmFile shm\nUseCanonicalName Off\nServerName canonical.example:8081\nSetEnvIf Request_Method . \"SET=a value\" \"QUOTED=q\\\"uote\"\n" +
		"RedirectMatch 302 ^/old$ /new\nRedirect gone /gone\nHeader always set Content-Type \"text/html ; charset=utf-8\"\nHeader set X-One one\n")
	for i, d := range compared {
		fmt.Fprintf(&config, "CustomLog %s.log %s\n", strconv.Itoa(i), apacheQuote("<"+d+">"))
	}
	a := apachetest.StartT(t, apachetest.Options{
		Modules: []string{"setenvif", "headers", "alias"},
		Config:  config.String(),
		Files:   map[string]string{"htdocs/page.html": "a page\n"},
	})
	var entries []*Entry
	for _, raw := range apacheRequests {
		entries = append(entries, apacheRequest(t, a, raw+"\r\n\r\n"))
	}
	for i, d := range compared {
		f, err := Parse("<" + d + ">")
		if err != nil {
			t.Fatalf("%s: %v", d, err)
		}
		lines := apacheLines(t, filepath.Join(a.Dir, strconv.Itoa(i)+".log"), len(entries))
		for j, e := range entries {
			first, _, _ := strings.Cut(apacheRequests[j], "\r\n")
			want := lines[j]
			if other, ok := differs[first][d]; ok {
				if want == "<"+other+">" {
					t.Errorf("%q: %s does not differ any more: %s", first, d, want)
				}
				want = "<" + other + ">"
			}
			if got := string(f.Append(nil, e)); got != want {
				t.Errorf("%q: %s:\n   got %s\nApache %s", first, d, got, want)
			}
		}
	}
}

// apacheRequest sends a request and returns what a front would know of it.
func apacheRequest(t *testing.T, a *apachetest.Apache, raw string) *Entry {
	t.Helper()
	c, err := net.DialTimeout("tcp", a.Addr(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, raw); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(answer, []byte("\r\n\r\n"))
	status, err := strconv.Atoi(string(head[9:12]))
	if err != nil {
		t.Fatalf("%q answers %q", raw, answer)
	}
	lines := bytes.Split([]byte(strings.TrimSuffix(raw, "\r\n\r\n")), []byte("\r\n"))
	line := bytes.Split(lines[0], []byte(" "))
	_, remotePort, _ := net.SplitHostPort(c.LocalAddr().String())
	env := &connector.Env{}
	env.Set("SET", "a value")
	env.Set("QUOTED", `q"uote`)
	e := &Entry{
		Request: &connector.Request{RemoteAddr: []byte("127.0.0.1"), LocalAddr: []byte("127.0.0.1"), RemotePort: []byte(remotePort),
			ServerName: []byte("canonical.example"), ServerPort: 8081, Env: env},
		Method: line[0], Target: line[1], Protocol: line[2],
		Server: "canonical.example", LocalPort: a.Port, Status: status, Body: int64(len(body)), In: int64(len(raw)),
	}
	for _, l := range lines[1:] {
		name, v, _ := bytes.Cut(l, []byte(":"))
		f := connector.Field{Name: name, Value: bytes.TrimSpace(v)}
		if connector.EqualFold(name, "host") {
			host, _, _ := bytes.Cut(f.Value, []byte(":"))
			e.Request.ServerName = host
		}
		e.Request.Fields = append(e.Request.Fields, f)
	}
	target := line[1]
	if rest, ok := bytes.CutPrefix(target, []byte("http://")); ok {
		slash := bytes.IndexByte(rest, '/')
		target = rest[slash:]
		// The authority takes the place of the Host field.
		e.Request.Fields[0].Value = bytes.ToLower(rest[:slash])
		host, _, _ := bytes.Cut(e.Request.Fields[0].Value, []byte(":"))
		e.Request.ServerName = host
	}
	e.Request.Path, e.Request.Query, e.Request.HasQuery = bytes.Cut(target, []byte("?"))
	if e.Request.MatchPath, err = connector.CleanPath(nil, e.Request.Path); err != nil {
		t.Fatal(err)
	}
	fields := string(head) + "\r\n"
	e.ResponseField = func(name string) []byte {
		if m := regexp.MustCompile(`(?mi)^` + name + `: (.*)\r$`).FindStringSubmatch(fields); m != nil {
			return []byte(m[1])
		}
		return nil
	}
	e.Kept = e.ResponseField("connection") == nil && string(e.Protocol) == "HTTP/1.1"
	return e
}

// apacheLines returns the lines of a log once there are as many as requests:
// they are written after the answer. The directive may hold a line end.
func apacheLines(t *testing.T, path string, n int) []string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		b, err := os.ReadFile(path)
		if lines := strings.SplitAfter(string(b), ">\n"); err == nil && len(lines) == n+1 {
			for i := range lines {
				lines[i] = strings.TrimSuffix(lines[i], "\n")
			}
			return lines[:n]
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v, %d bytes", path, err, len(b))
		}
	}
}

// modjkLine is a request log line: the stamp, and the values.
var modjkLine = regexp.MustCompile(`(?m)^<(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}) %\w(.*)>\n`)

// TestModjkRequestLog has mod_jk write its request log, of a container that
// nobody is, and compares the values.
func TestModjkRequestLog(t *testing.T) {
	const format = `\t%b|%B|%H|%m|%p|%q|%r|%s|%U|%v|%V|%w|\\ >`
	a := apachetest.StartT(t, apachetest.Options{
		Config: "UseCanonicalName Off\nServerName canonical.example:8081\nJkWorkersFile workers.properties\nJkShmFile shm\nJkLogFile jk.log\n" +
			"JkLogLevel emerg\nJkMount /* w\nJkLogStampFormat \"<%Y-%m-%d %H:%M:%S.%Q %%w\"\nJkRequestLogFormat " + apacheQuote(format) + "\nCustomLog access.log <%U>\n",
		Files: map[string]string{"workers.properties": "worker.list=w\nworker.w.port=1\nworker.w.host=127.0.0.1\nworker.w.retries=1\n"},
	})
	f, err := ParseRequest(format)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseStamp("<%Y-%m-%d %H:%M:%S.%Q %%w"); err != nil {
		t.Fatal(err)
	}
	path, err := Parse("<%U>")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, line := range []string{
		"GET / HTTP/1.1", "HEAD /a?b=c HTTP/1.1", "GET /a%20b? HTTP/1.0", "POST //a/./b/../c;d/e HTTP/1.1", "GET http://Absolute.Example:77/x?y HTTP/1.1",
	} {
		if err := os.Truncate(filepath.Join(a.Dir, "jk.log"), 0); err != nil {
			t.Fatal(err)
		}
		e := apacheRequest(t, a, line+"\r\nHost: asked.example:99\r\n\r\n")
		e.Request.Notes = &connector.Notes{}
		e.Request.Notes.Reset(true)
		e.Request.Notes.Set("JK_WORKER_NAME", "w")
		var got, log []byte
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && got == nil; time.Sleep(10 * time.Millisecond) {
			if log, err = os.ReadFile(filepath.Join(a.Dir, "jk.log")); err != nil {
				t.Fatal(err)
			}
			if m := modjkLine.FindSubmatch(log); m != nil {
				got = append(m[2], '>')
			}
		}
		if want := string(f.Append(nil, e)); string(got) != want {
			t.Errorf("%s:\n   got %s\nmod_jk %s\n%s", line, want, got, log)
		}
		paths = append(paths, string(path.Append(nil, e)))
	}
	if got := apacheLines(t, filepath.Join(a.Dir, "access.log"), len(paths)); !slices.Equal(got, paths) {
		t.Errorf("%%U of mapped requests: got %q, Apache %q", paths, got)
	}
}
