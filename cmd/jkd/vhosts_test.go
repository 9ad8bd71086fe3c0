//go:build unix

package main_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"jkd/connector/ajp/ajptest"
)

// Two virtual hosts, each with mounts, variables and access logs of its own,
// through the running program.
func TestVHosts(t *testing.T) {
	bin := binary(t)
	for _, mpm := range []string{"prefork", "worker"} {
		t.Run(mpm, func(t *testing.T) {
			back := ajptest.New(t, func(e *ajptest.Exchange) {
				e.Respond(200, "hello\n", ajptest.H("Content-Type", "text/plain; charset=utf-8"))
			})
			s := start(t, bin, config{
				mpm: mpm,
				server: []string{
					"ServerName = main.example.test",
					`LogFormat = "%v %V %m %U %>s %{JK_WORKER_NAME}n %{WHERE}e %{Content-Type}o" full`,
					"CustomLog = logs/main full",
					`CustomLog = logs/some "%U" env=WHERE`,
					"SetEnv = WHERE everywhere",
					"UnsetEnv = WHERE",
				},
				workers: "worker.list=w\nworker.w.type=ajp13\nworker.w.host=127.0.0.1\nworker.w.port=" + strconv.Itoa(back.Port()) + "\n",
				mounts: []string{`/main/* w
JkLogFile = logs/jk
JkLogLevel = debug
JkLogStampFormat = "%% "
JkRequestLogFormat = "%w %V %m %U %s %b"
[vhost a.example.test]
ServerAlias = *.a.example.test
JkMountCopy = On
JkMount = /a w
CustomLog = logs/a full
SetEnv = WHERE a
[vhost b.example.test]
[location /main/sub]
SetEnv = WHERE sub
[location a.example.test /a]
SetEnv = WHERE "the location"
[location b.example.test /b]
JkMount = w
`},
			})
			c := dial(t, s.addr)
			for _, tc := range []struct {
				host, path string
				status     int
			}{
				{"x.example.test", "/main/x", 200}, {"x.example.test", "/a", 404}, {"x.example.test", "/main/sub/y", 200},
				{"a.example.test", "/main/x", 200}, {"A.example.test", "/a", 200}, {"www.a.example.test", "/none", 404},
				{"b.example.test", "/main/x", 404}, {"b.example.test", "/b", 200}, {"b.example.test", "/b/x", 404},
			} {
				if _, err := io.WriteString(c, "GET "+tc.path+" HTTP/1.1\r\nHost: "+tc.host+"\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				r, err := c.response("GET")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, r.Body); err != nil {
					t.Fatal(err)
				}
				if r.StatusCode != tc.status {
					t.Errorf("%s%s: status %d, want %d", tc.host, tc.path, r.StatusCode, tc.status)
				}
			}
			for name, want := range map[string]string{
				"main": `main.example.test x.example.test GET /main/x 200 w - text/plain
main.example.test x.example.test GET /a 404 - - text/html
main.example.test x.example.test GET /main/sub/y 200 w sub text/plain
b.example.test b.example.test GET /main/x 404 - - text/html
b.example.test b.example.test GET /b 200 w - text/plain
b.example.test b.example.test GET /b/x 404 - - text/html
`,
				"some": "/main/sub/y\n",
				"jk": `% w x.example.test GET /main/x 200 6
% w x.example.test GET /main/sub/y 200 6
% w a.example.test GET /main/x 200 6
% w A.example.test GET /a 200 6
% w b.example.test GET /b 200 6
`,
				"a": `a.example.test a.example.test GET /main/x 200 w a text/plain
a.example.test A.example.test GET /a 200 w the location text/plain
a.example.test www.a.example.test GET /none 404 - a text/html
`,
			} {
				read := func() string {
					b, _ := os.ReadFile(filepath.Join(s.dir, "logs", name))
					var lines []string
					for line := range strings.Lines(string(b)) {
						if name != "jk" || strings.HasPrefix(line, "% w ") { // there are the connector's own lines too
							lines = append(lines, strings.ReplaceAll(line, "; charset=utf-8", ""))
						}
					}
					return strings.Join(lines, "")
				}
				s.eventually(strconv.Itoa(strings.Count(want, "\n"))+" lines of "+name, func() bool {
					return strings.Count(read(), "\n") >= strings.Count(want, "\n")
				})
				if got := read(); got != want {
					t.Errorf("%s:\n%swant\n%s", name, got, want)
				}
			}
		})
	}
}
