package logformat

import (
	"strings"
	"testing"
	"time"

	"jkd/connector"
)

var agent = []byte("curl\t\"8\"\xff\r\n\\")

func sample() *Entry {
	env, notes := &connector.Env{}, &connector.Notes{}
	env.Set("A", "a\"b")
	env.Set("EMPTY", "")
	notes.Reset(true)
	notes.Set("JK_WORKER_NAME", "lb")
	start := time.Date(2024, time.February, 5, 7, 8, 9, 123456789, time.FixedZone("CET", 3600))
	return &Entry{
		Request: &connector.Request{
			ID:        []byte("id"),
			MatchPath: []byte("/a b"), Query: []byte("x=\x01y"), HasQuery: true, ServerName: []byte("asked"), ServerPort: 8443,
			RemoteAddr: []byte("192.0.2.1"), RemotePort: []byte("50000"), LocalAddr: []byte("192.0.2.2"), Env: env, Notes: notes,
			Handler: "jakarta-servlet", RemoteUser: []byte("j\"o"),
			Fields: []connector.Field{
				{Name: []byte("Cookie"), Value: []byte("a=1; b=2")}, {Name: []byte("cookie"), Value: []byte("JSESSIONID=x.y; e=;nothing")},
				{Name: []byte("X-List"), Value: []byte("one")}, {Name: []byte("x-list")}, {Name: []byte("X-LIST"), Value: []byte("t\"wo")},
			},
			TLS: &connector.TLS{Protocol: "TLSv1.3", KeySize: 256},
		},
		Method: []byte("GET"), Target: []byte("/a%20b?x"), Protocol: []byte("HTTP/1.1"),
		RequestField: func(name string) []byte {
			if name == "user-agent" {
				return agent
			}
			return nil
		},
		ResponseField: func(name string) []byte {
			switch name {
			case "location":
				return []byte{}
			case "content-type":
				return []byte("text/html ; charset=utf-8")
			}
			return nil
		},
		Server: "canonical", LocalPort: 443, Status: 200, Body: 10, In: 100, Out: 250, Earlier: 3, Kept: true, PID: 4711,
		Start: start, FirstByte: start.Add(1500 * time.Microsecond), End: start.Add(2345678 * time.Microsecond),
	}
}

func TestDirectives(t *testing.T) {
	for format, want := range map[string]string{
		"":                                     "",
		"a%%b":                                 "a%b",
		`\n\t\\\"\x`:                           "\n\t\\\"\\x",
		`\%m\%%`:                               `\GET\%`,
		`end\`:                                 `end\`,
		"%a %{c}a %A %h %{c}h %l %f":           "192.0.2.1 192.0.2.1 192.0.2.2 192.0.2.1 192.0.2.1 - -",
		"%L %{c}L %{X}^ti %{X}^to":             "id - - -",
		"%{jsessionid}C %{X-List}i %{Cookie}i": "x.y one, , t\\\"wo a=1; b=2, JSESSIONID=x.y; e=;nothing",
		"%b %B %I %O %S":                       "10 10 100 250 350",
		"%{a}C %{b}C %{JSESSIONID}C|%{e}C|%{x}C %{nothing}C":                        "1 2 x.y|-|- -",
		"%D %T %{s}T %{ms}T %{us}T %^FB":                                            "2345678 2 2 2345 2345678 1500",
		"%{A}e|%{EMPTY}e|%{none}e":                                                  `a\"b||-`,
		"%{JK_WORKER_NAME}n %{JK_WORKER_ROUTE}n":                                    "lb -",
		`"%{User-Agent}i" %{Referer}i`:                                              `"curl\t\"8\"\xff\r\n\\" -`,
		"%{Location}o|%{X}o|%{Content-Type}o":                                       "|-|text/html",
		"%m %U%q %H %r":                                                             `GET /a b?x=\x01y HTTP/1.1 GET /a%20b?x HTTP/1.1`,
		"%p %{canonical}p %{local}p %{remote}p":                                     "8443 8443 443 50000",
		"%P %{pid}P %{tid}P %{hextid}P":                                             "4711 4711 4711 1267",
		"%s %>s %<s %k %X %R %u %v %V":                                              `200 200 200 3 + jakarta-servlet j\"o canonical asked`,
		"%{SSL_PROTOCOL}x %{SSL_CIPHER}x %{SSL_CIPHER_USEKEYSIZE}x %{HTTPS}x %{X}x": "TLSv1.3 - 256 on -",
		"%t":                                                  "[05/Feb/2024:07:08:09 +0100]",
		"%{end:sec}t %{begin:msec}t %{usec}t":                 "1707113291 1707113289123 1707113289123456",
		"%{msec_frac}t %{usec_frac}t":                         "123 123456",
		"%{%Y-%m-%dT%H:%M:%S%z}t":                             "2024-02-05T07:08:09+0100",
		"%{end:%S}t %{end}t %{begin}t":                        "11 [05/Feb/2024:07:08:11 +0100] [05/Feb/2024:07:08:09 +0100]",
		"%{%a %A %b %B %h %c}t":                               "Mon Monday Feb February Feb Mon Feb  5 07:08:09 2024",
		"%{%C %D %e %F %I %j %k %l %p %P}t":                   "20 02/05/24  5 2024-02-05 07 036  7  7 AM am",
		"%{%r %R %s %T %u %w %x %X %y %Z %%}t":                "07:08:09 AM 07:08 1707113289 07:08:09 1 1 02/05/24 07:08:09 24 CET %",
		"%{%g %G %V %U %W}t":                                  "24 2024 06 05 06",
		"%{%n%t}t":                                            "\n\t",
		"%200s %!200s %404,200s %!404,500s %404{User-Agent}i": "200 - 200 200 -",
	} {
		f, err := Parse(format)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if got := string(f.Append([]byte("> "), sample())); got != "> "+want {
			t.Errorf("%s:\n got %s\nwant > %s", format, got, want)
		}
	}
}

// Everything is "-" when nothing is known.
func TestNothingKnown(t *testing.T) {
	e := &Entry{Request: &connector.Request{}}
	f, err := Parse(`%a %A %b %{a}C %{a}e %h %H %{a}i %m %{a}n %{a}o %{remote}p "%r" %R %s %u %U %v %V %{HTTPS}x %X %^FB%q`)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(f.Append(nil, e)); strings.Trim(got, `- "`) != "" || strings.Count(got, "-") != 22 {
		t.Errorf("got %s", got)
	}
	e.Request.RemoteUser, e.Aborted = []byte{}, true
	if f, _ = Parse("%u %X"); string(f.Append(nil, e)) != `"" X` {
		t.Errorf("got %s", f.Append(nil, e))
	}
}

func TestParseErrors(t *testing.T) {
	for format, want := range map[string]string{
		"%":                      "column 1: %: the format ends within a directive",
		"a %{x":                  "column 3: %{x: the brace is never closed",
		"%{x}":                   "column 1: %{x}: the format ends within a directive",
		"%h %>":                  "column 4: %>: the format ends within a directive",
		"ab%%%J":                 "column 5: %J: there is no directive %J",
		"%y":                     "column 1: %y: there is no directive %y, did you mean %{%y}t?",
		"%E":                     "column 1: %E: there is no directive %E",
		"%{X}E":                  "column 1: %{X}E: there is no directive %E, did you mean %e?",
		"%K":                     "column 1: %K: there is no directive %K, did you mean %k?",
		"%c":                     "column 1: %c: there is no directive %c, did you mean %X?",
		"%w":                     "column 1: %w: there is no directive %w, did you mean %{JK_WORKER_NAME}n?",
		"%^ti":                   "column 1: %^ti: needs an argument in braces",
		"%^tx":                   "column 1: %^tx: there is no directive %^tx, did you mean %^ti?",
		"%^":                     "column 1: %^: there is no directive %^",
		"%{a}s":                  "column 1: %{a}s: takes no argument in braces",
		"%i":                     "column 1: %i: needs an argument in braces",
		"%{}i":                   "column 1: %{}i: needs an argument in braces",
		"%{a}{b}i":               "column 1: %{a}{: there are two arguments in braces",
		"%!s":                    "column 1: %!s: no status follows the '!'",
		"%20s":                   "column 1: %20: 20 is not a status",
		"%99999999999999999999s": "column 1: %99999999999999999999: 99999999999999999999 is not a status",
		"%{x}p":                  `column 1: %{x}p: "x" is none of canonical, local, remote`,
		"%{remot}p":              `column 1: %{remot}p: "remot" is none of canonical, local, remote, did you mean remote?`,
		"%{h}T":                  `column 1: %{h}T: "h" is none of s, ms, us`,
		"%{tidd}P":               `column 1: %{tidd}P: "tidd" is none of pid, tid, hextid, did you mean tid?`,
		"%{%Q}t":                 "column 3: %Q: only JkLogStampFormat has fractions here, did you mean %{msec_frac}t?",
		"x%{end:a%q}t":           "column 9: %q: only JkLogStampFormat has fractions here, did you mean %{usec_frac}t?",
		"%{%}t":                  "column 3: %: the time ends within a conversion",
		"%{begin:%J}t":           "column 9: %J: this is no conversion of a time, did you mean %j?",
	} {
		f, err := Parse(format)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, %v; want %s", format, f, err, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	for format, want := range map[string]Needs{
		"%h %{a}i %D": {}, "%{a}n": {Notes: true}, "%^FB": {FirstByte: true}, "%{a}o": {ResponseFields: true}, "%404{a}n%{b}o": {Notes: true, ResponseFields: true},
	} {
		f, err := Parse(format)
		if err != nil || f.Needs() != want {
			t.Errorf("%s: %+v, %v", format, f.Needs(), err)
		}
	}
}

func TestPasswords(t *testing.T) {
	f, err := Parse("%r")
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"http://user:secret@host/x":     "http://user:XXXXXXXX@host/x",
		"http://user:a@b:c@host:80?q@:": "http://user:XXXXXXXX@host:80?q@:",
		"http://user:@host":             "http://user:@host",
		"http://user@host:80/":          "http://user@host:80/",
		"http://host:80/a:b@c":          "http://host:80/a:b@c",
		"/login?to=http://u:p@h/":       "/login?to=http://u:p@h/",
		"host:80":                       "host:80",
		"*":                             "*",
	} {
		e := sample()
		e.Target = []byte(target)
		if got := string(f.Append(nil, e)); got != "GET "+want+" HTTP/1.1" {
			t.Errorf("%s: got %s", target, got)
		}
	}
}

func TestPath(t *testing.T) {
	f, err := Parse("%U")
	if err != nil {
		t.Fatal(err)
	}
	e := sample()
	e.Request.Path = []byte("/a%20b;x")
	if got := string(f.Append(nil, e)); got != "/a b" {
		t.Errorf("got %s", got)
	}
	e.Request.MatchPath, e.Request.Path = nil, []byte("/%zz")
	if got := string(f.Append(nil, e)); got != "/%zz" {
		t.Errorf("a path that was refused: %s", got)
	}
}

func TestLongLines(t *testing.T) {
	e := sample()
	e.Target = []byte(strings.Repeat("\x01", 1<<20))
	f, err := Parse("%r %r")
	if err != nil {
		t.Fatal(err)
	}
	got := f.Append(nil, e)
	if len(got) != MaxLine+3 || string(got[:11]) != `GET \x01\x0` || string(got[MaxLine:]) != "..." {
		t.Errorf("%d bytes, %s", len(got), got[:20])
	}
	if cap(got) > 16*MaxLine {
		t.Errorf("%d bytes were taken", cap(got))
	}
}

func TestAppendAllocates(t *testing.T) {
	f, err := Parse(`%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i" %D %{JK_WORKER_NAME}n %{A}e %{JSESSIONID}C %{%F %T}t %{Location}o %U%q %v:%p`)
	if err != nil {
		t.Fatal(err)
	}
	e, b := sample(), make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { b = f.Append(b[:0], e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A line is one line whatever comes, unless the format says otherwise.
func FuzzFormat(f *testing.F) {
	f.Add(`%h %l %u %t "%r" %>s %b`, "x\ny\"")
	f.Add(`%{%Y}t%404,!200{a}i%{a}C`, "a=\x00")
	f.Add(`%!200{x}o %^FB \\ %{end:usec_frac}t %{us}T`, "")
	f.Fuzz(func(t *testing.T, format, value string) {
		p, err := Parse(format)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("no reason")
			}
			return
		}
		e := sample()
		e.Target, e.Request.RemoteAddr, e.Request.Fields[0].Value = []byte(value), []byte(value), []byte(value)
		e.Request.Path, e.Request.Query, e.Request.RemoteUser, e.Method, e.Protocol = e.Target, e.Target, e.Target, e.Target, e.Target
		e.ResponseField = func(string) []byte { return []byte(value) }
		if len(value) == 0 {
			e.Request.RemoteUser = nil
		}
		e.RequestField = func(string) []byte { return []byte(value) }
		e.Request.Env.Set("A", value)
		got := string(p.Append(nil, e))
		if len(got) > MaxLine+3 {
			t.Fatalf("%d bytes", len(got))
		}
		if quiet(format) && !one(got) {
			t.Fatalf("%q makes %q", format, got)
		}
	})
}

// quiet tells a format that itself holds nothing that a value must not hold: a
// time may.
func quiet(format string) bool { return one(format) && !strings.ContainsAny(format, `\t`) }

// one tells whether text can stand between quotes in one line.
func one(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c >= 0x7f || c == '"':
			return false
		case c == '\\':
			i++
		}
	}
	return true
}

// The values of a request may be anything; every directive keeps them in line.
func FuzzValues(f *testing.F) {
	f.Add("a\"b\\\n\x00\x7f\xff;%zz/../;x")
	f.Add("http://u:p\"@h/")
	var formats []*Format
	for _, s := range []string{
		"%a %{c}a %A %h %m %H %U %q %r %R %u %v %V %L %{remote}p", "%{a}C %{a}e %{a}i %{a}n %{a}o %{content-type}o %{SSL_CIPHER}x %{SSL_PROTOCOL}x",
	} {
		p, err := Parse(s)
		if err != nil {
			f.Fatal(err)
		}
		formats = append(formats, p)
	}
	p, err := ParseRequest("%b %B %H %m %p %q %r %R %s %T %U %v %V %w")
	if err != nil {
		f.Fatal(err)
	}
	formats = append(formats, p)
	f.Fuzz(func(t *testing.T, v string) {
		b := []byte(v)
		notes, env := &connector.Notes{}, &connector.Env{}
		notes.Reset(true)
		for _, n := range []string{"a", "JK_WORKER_NAME", "JK_WORKER_ROUTE", "JK_REQUEST_DURATION"} {
			notes.Set(n, v)
		}
		env.Set("a", v)
		e := &Entry{
			Request: &connector.Request{Path: b, MatchPath: b, Query: b, HasQuery: true, ServerName: b, RemoteAddr: b, RemotePort: b, LocalAddr: b,
				TLS: &connector.TLS{Protocol: v, Cipher: v}, ID: b, Handler: v, Env: env, Notes: notes, RemoteUser: append([]byte("x"), b...),
				Fields: []connector.Field{{Name: []byte("a"), Value: b}, {Name: []byte("Cookie"), Value: append([]byte("a="), b...)}}},
			Method: b, Target: b, Protocol: b, Server: v, ResponseField: func(string) []byte { return b },
		}
		for _, p := range formats {
			if got := string(p.Append(nil, e)); !one(got) {
				t.Fatalf("%q makes %q", v, got)
			}
		}
	})
}

func BenchmarkCombined(b *testing.B) {
	f, err := Parse(Combined)
	if err != nil {
		b.Fatal(err)
	}
	e, line := sample(), make([]byte, 0, 4096)
	e.Target = []byte("/examples/servlets/servlet/HelloWorldExample?a=b")
	e.Request.Fields = append(e.Request.Fields, connector.Field{Name: []byte("User-Agent"),
		Value: []byte("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0")})
	b.ReportAllocs()
	for b.Loop() {
		line = f.Append(line[:0], e)
	}
}
