//go:build unix

package httpd

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"jkd/cmd/jkd/internal/logformat"
	"jkd/connector"
)

const (
	common   = `%h %l %u %t "%r" %>s %b`
	combined = common + ` "%{Referer}i" "%{User-agent}i"`
)

// format reads a format that is one.
func format(s string) *logformat.Format {
	f, err := logformat.Parse(s)
	if err != nil {
		panic(err)
	}
	return f
}

// logged is a main server with one access log.
func logged(w io.Writer, s string) []Site {
	return []Site{{Logs: []AccessLog{{W: w, Format: format(s)}}}}
}

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
		{"refused request", "GET /% HTTP/1.1\r\nHost: x\r\nUser-Agent: y\r\n\r\n", `127.0.0.1 - - T "GET /% HTTP/1.1" 400 N`, ` "-" "y"`},
		{"refused line", "nonsense\"\r\n\r\n", `127.0.0.1 - - T "-" 400 N`, ` "-" "-"`},
		{"refused version", "GET / HTTP/2.0\r\n\r\n", `127.0.0.1 - - T "-" 505 N`, ` "-" "-"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for format, want := range map[string]string{common: tc.common, combined: tc.common + tc.combined} {
				t.Run(itoa(len(format)), func(t *testing.T) {
					kinds(t, func(t *testing.T, kind string) {
						out := &logBuffer{}
						o := defaults()
						o.Sites = logged(out, format)
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
		o.Sites = logged(out, common)
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
		o.Sites = logged(lines, combined)
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

// line makes one request on c and returns the one line that it left.
func (b *logBuffer) line(t *testing.T) string {
	t.Helper()
	eventually(t, "log line", func() bool { return strings.HasSuffix(b.String(), "\n") })
	b.mu.Lock()
	defer b.mu.Unlock()
	s := strings.TrimSuffix(b.b.String(), "\n")
	b.b.Reset()
	return s
}

// What the formats say of a connection, of its bytes and of what was sent.
func TestAccessLogDirectives(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		out := &logBuffer{}
		o := defaults()
		o.Sites = logged(out, `%I %O %S %B %X %k %{Content-Length}i %{Connection}i|%{content-type}o %{content-length}o %{Server}o %{none}o|%{N}n %{A}e %m %U%q %{local}p %p %v %V`)
		o.Sites[0].Name = "main.example"
		s := start(t, kind, o, func(r *connector.Request, w connector.ResponseWriter) error {
			if string(r.Path) == "/note" {
				r.Notes.Set("N", "worker")
			}
			if r.ContentLength != 0 {
				_, _ = io.ReadAll(r.Body)
			}
			if string(r.Path) == "/cut" {
				_ = w.Start(200, fields("Content-Length: 50"))
				_ = w.Append([]byte("hello"))
				_ = w.Flush()
				return serviceError(connector.ErrBodyLength)
			}
			return hello(r, w)
		})
		port := s.addr[strings.LastIndexByte(s.addr, ':')+1:]
		c := s.dial()
		exchange := func(raw string, received int) string {
			t.Helper()
			c.send(raw)
			head := c.head()
			body := make([]byte, 5)
			if received < 0 {
				body = nil
			}
			if _, err := io.ReadFull(c.br, body); err != nil {
				t.Fatal(err)
			}
			in, sent := len(raw), len(head)+len(body)
			want := itoa(in) + " " + itoa(sent) + " " + itoa(in+sent) + " "
			line := out.line(t)
			if !strings.HasPrefix(line, want) {
				t.Errorf("%q: line %q does not begin with %q", raw, line, want)
			}
			return strings.TrimPrefix(line, want)
		}
		for _, tc := range []struct{ raw, want string }{
			{"GET /x?y HTTP/1.1\r\nHost: V:81\r\n\r\n",
				"5 + 0 - -|text/plain 5 jkd -|- - GET /x?y PORT 81 main.example V"},
			{"POST /note HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
				"5 + 1 3 -|text/plain 5 jkd -|worker - POST /note PORT PORT main.example x"},
			{"POST /a//b/../c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: x\r\n\r\n",
				"5 + 2 - -|text/plain 5 jkd -|- - POST /a/c PORT PORT main.example x"},
			{"GET /cut HTTP/1.1\r\nHost: x\r\n\r\n",
				"5 X 3 - -|- 50 jkd -|- - GET /cut PORT PORT main.example x"},
		} {
			if got := exchange(tc.raw, 5); got != strings.ReplaceAll(tc.want, "PORT", port) {
				t.Errorf("%.20s: got %s\nwant %s", tc.raw, got, strings.ReplaceAll(tc.want, "PORT", port))
			}
		}
		c = s.dial()
		if got := exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 5); !strings.HasPrefix(got, "5 - 0 - close|") {
			t.Errorf("got %s", got)
		}
		// Nothing of the request before is in the line of one that is refused.
		c = s.dial()
		c.send("GET /x?y HTTP/1.1\r\nHost: y\r\n\r\n")
		c.want(200)
		out.line(t)
		c.send("nonsense\r\n\r\n")
		c.want(400)
		if got := out.line(t); !strings.HasSuffix(got, "|- - - - "+port+" "+port+" main.example -") {
			t.Errorf("got %s", got)
		}
	})
}

// Which log a request is for.
func TestAccessLogs(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		main, also, virtual := &logBuffer{}, &logBuffer{}, &logBuffer{}
		o := sites(defaults())
		stamp := func(b []byte, _ time.Time) []byte { return append(b, "[now] "...) }
		mapped := &logBuffer{}
		defer func() {
			if got := mapped.String(); got != "[now] m /\n" {
				t.Errorf("mapped: %q", got)
			}
		}()
		o.Sites[0].Logs = []AccessLog{{W: main, Format: format("main %U %>s")}, {W: also, Format: format("also %U"), Env: "B"}}
		o.Sites[1].Logs = []AccessLog{{W: virtual, Format: format("v %U %>s"), Env: "!B"}, {W: virtual, Format: format("b"), Env: "B"},
			{W: mapped, Format: format("m %U"), Mapped: true, Stamp: stamp}}
		s := start(t, kind, o, placed)
		c := s.dial()
		get := func(target, host string) {
			c.send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
			c.want(200)
		}
		get("/", "x")
		get("/app", "x")
		get("/", "v")
		c.send("GET /unmapped HTTP/1.1\r\nHost: v\r\n\r\n")
		c.want(404)
		c.send("POST /big HTTP/1.1\r\nHost: v\r\nContent-Length: 3\r\nTransfer-Encoding: x\r\n\r\n")
		c.want(400)
		eventually(t, "last line", func() bool { return strings.Count(main.String()+virtual.String(), "\n") == 5 })
		if got := main.String(); got != "main / 200\nmain /app 200\nmain /big 400\n" {
			t.Errorf("main: %q", got)
		}
		if got := also.String(); got != "also /app\n" {
			t.Errorf("also: %q", got)
		}
		if got := virtual.String(); got != "v / 200\nv /unmapped 404\n" {
			t.Errorf("virtual: %q", got)
		}
		c = s.dial()
		c.send("GET /%zz HTTP/1.1\r\nHost: v\r\n\r\n")
		c.want(400)
		eventually(t, "the refusal", func() bool { return strings.Count(main.String(), "\n") == 4 })
	})
}

func TestFieldOf(t *testing.T) {
	head := []byte("HTTP/1.1 200 OK\r\nA: b\r\nEmpty: \r\nAB: x:y\r\nA: second\r\n\r\n")
	for name, want := range map[string]string{"a": "b", "empty": "", "ab": "x:y"} {
		if got := fieldOf(head, name); got == nil || string(got) != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	for _, name := range []string{"b", "", "http/1.1 200 ok", "abc"} {
		if got := fieldOf(head, name); got != nil {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// Times are only taken when a format says so.
func TestFirstByte(t *testing.T) {
	out := &logBuffer{}
	o := defaults()
	o.Sites = logged(out, "%^FB %D")
	s := start(t, "blocking", o, hello)
	c := s.dial()
	c.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	c.want(200)
	if line := out.line(t); !regexp.MustCompile(`^\d+ \d+$`).MatchString(line) {
		t.Errorf("got %s", line)
	}
}
