//go:build unix

package httpd

import (
	"regexp"
	"strings"
	"testing"

	"jkd/connector"
)

func TestAccessLog(t *testing.T) {
	const when = `\[\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [-+]\d{4}\]`
	for _, tc := range []struct {
		name, raw, common, combined string
	}{
		{"plain", "GET /a?b=c HTTP/1.1\r\nHost: x\r\nReferer: http://r/\r\nUser-Agent: curl/8\r\n\r\n",
			`127.0.0.1 - - T "GET /a?b=c HTTP/1.1" 200 5`, ` "http://r/" "curl/8"`},
		{"no fields, 1.0", "GET / HTTP/1.0\r\n\r\n", `127.0.0.1 - - T "GET / HTTP/1.0" 200 5`, ` "-" "-"`},
		{"no body", "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", `127.0.0.1 - - T "HEAD / HTTP/1.1" 200 -`, ` "-" "-"`},
		{"escapes", "GET /\"\\\xff%22 HTTP/1.1\r\nHost: x\r\nReferer: a\"b\tc\\\r\nUser-Agent: \xc3\xa1\r\n\r\n",
			`127.0.0.1 - - T "GET /\"\\\xff%22 HTTP/1.1" 200 5`, ` "a\"b\tc\\" "\xc3\xa1"`},
		{"empty fields", "GET / HTTP/1.1\r\nHost: x\r\nReferer:\r\nUser-Agent:\r\n\r\n",
			`127.0.0.1 - - T "GET / HTTP/1.1" 200 5`, ` "" ""`},
		{"absolute", "GET http://h/x HTTP/1.1\r\nHost: x\r\n\r\n", `127.0.0.1 - - T "GET http://h/x HTTP/1.1" 200 5`, ` "-" "-"`},
		{"unmapped", "GET /unmapped HTTP/1.1\r\nHost: x\r\n\r\n", `127.0.0.1 - - T "GET /unmapped HTTP/1.1" 404 N`, ` "-" "-"`},
		{"refused field", "GET /a HTTP/1.1\r\nHost: x\r\nUser-Agent: y\r\nbad\r\n\r\n", `127.0.0.1 - - T "GET /a HTTP/1.1" 400 N`, ` "-" "-"`},
		{"refused request", "GET /% HTTP/1.1\r\nHost: x\r\nUser-Agent: y\r\n\r\n", `127.0.0.1 - - T "GET /% HTTP/1.1" 400 N`, ` "-" "-"`},
		{"refused line", "nonsense\"\r\n\r\n", `127.0.0.1 - - T "-" 400 N`, ` "-" "-"`},
		{"refused version", "GET / HTTP/2.0\r\n\r\n", `127.0.0.1 - - T "-" 505 N`, ` "-" "-"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for format, want := range map[LogFormat]string{Common: tc.common, Combined: tc.common + tc.combined} {
				t.Run(format.String(), func(t *testing.T) {
					kinds(t, func(t *testing.T, kind string) {
						out := &logBuffer{}
						o := defaults()
						o.AccessLog = &AccessLog{W: out, Format: format}
						s := start(t, kind, o, hello)
						c := s.dial()
						c.send(tc.raw)
						c.answer(strings.Fields(tc.raw)[0])
						eventually(t, "log line", func() bool { return out.String() != "" })
						got := regexp.MustCompile(when).ReplaceAllString(out.String(), "T")
						// The length of the front's own pages is not of interest.
						got = regexp.MustCompile(`" ([45]\d\d) \d+`).ReplaceAllString(got, `" $1 N`)
						if got != want+"\n" {
							t.Errorf("\n got %swant %s", got, want)
						}
					})
				})
			}
		})
	}
}

// TestAccessLogCountsWhatWasSent has an answer cut: what was only announced or
// given does not count.
func TestAccessLogCountsWhatWasSent(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		out := &logBuffer{}
		o := defaults()
		o.AccessLog = &AccessLog{W: out}
		s := start(t, kind, o, script(200, []string{"Content-Length: 50"}, "hello", "FLUSH", "more", "FAIL"))
		c := s.dial()
		c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_, _ = c.rest()
		eventually(t, "log line", func() bool { return out.String() != "" })
		if !strings.HasSuffix(out.String(), "\" 200 5\n") {
			t.Errorf("got %s", out)
		}
		if got := s.watch()(); got.BytesServed != 5 {
			t.Errorf("scoreboard counts %d bytes", got.BytesServed)
		}
	})
}

func TestAccessLogOneWriteALine(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		lines := make(lineChan, 20)
		o := defaults()
		o.AccessLog = &AccessLog{W: lines, Format: Combined}
		s := start(t, kind, o, func(r *connector.Request, w connector.ResponseWriter) error { return hello(r, w) })
		c := s.dial()
		for range 10 {
			c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			c.want(200)
			if l := get(t, lines); strings.Count(l, "\n") != 1 || !strings.HasSuffix(l, "\n") {
				t.Errorf("one write is %q", l)
			}
		}
	})
}

type lineChan chan string

func (c lineChan) Write(p []byte) (int, error) { c <- string(p); return len(p), nil }
