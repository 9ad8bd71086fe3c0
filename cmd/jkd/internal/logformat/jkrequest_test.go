package logformat

import (
	"testing"

	"jkd/connector"
)

func TestRequestDirectives(t *testing.T) {
	for format, want := range map[string]string{
		"%w %V %T":                   "lb asked 2.345678", // what most files have
		"[%b %B %s] %p %v":           "[10 10 200] 8443 canonical",
		`"%r" %m %U%q %H\t\\\n\"`:    "\"GET /a%20b?x HTTP/1.1\" GET /a b?x=\\x01y HTTP/1.1\t\\\n\"",
		"%R":                         "-",
		"no directive at all, 100 x": "no directive at all, 100 x",
		"":                           "",
	} {
		f, err := ParseRequest(format)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		if got := string(f.Append(nil, sample())); got != want {
			t.Errorf("%s:\n got %s\nwant %s", format, got, want)
		}
	}
	f, err := ParseRequest("%w %R %T %b %B %s %q")
	if err != nil || f.Needs() != (Needs{Notes: true}) {
		t.Fatal(f.Needs(), err)
	}
	e := sample()
	e.Body = 0
	e.Request.Notes.Set("JK_WORKER_ROUTE", "a\nb")
	e.Request.Notes.Set("JK_REQUEST_DURATION", "0.000001")
	if got := string(f.Append(nil, e)); got != `lb a\nb 0.000001 - 0 200 ?x=\x01y` {
		t.Errorf("got %s", got)
	}
	if got := string(f.Append(nil, &Entry{Request: &connector.Request{}})); got != "- - 0.000000 - 0 - " {
		t.Errorf("nothing known: %q", got)
	}
	if n := testing.AllocsPerRun(100, func() { e.Status++; line = f.Append(line[:0], e) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

var line = make([]byte, 0, 1024)

func TestParseRequestErrors(t *testing.T) {
	for format, want := range map[string]string{
		"%":       "column 1: %: the format ends within a directive",
		"a %":     "column 3: %: the format ends within a directive",
		"%w %%":   "column 4: %%: there is no such directive in JkRequestLogFormat",
		"%h":      "column 1: %h: there is no such directive in JkRequestLogFormat, did you mean %H?",
		"%W":      "column 1: %W: there is no such directive in JkRequestLogFormat, did you mean %w?",
		"%{ms}T":  "column 1: %{: there is no such directive in JkRequestLogFormat",
		"x %>s":   "column 3: %>: there is no such directive in JkRequestLogFormat",
		"%w\\%\n": "column 4: %\n: there is no such directive in JkRequestLogFormat",
	} {
		if f, err := ParseRequest(format); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, %v; want %s", format, f, err, want)
		}
	}
}
