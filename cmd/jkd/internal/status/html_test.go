package status

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

var update = flag.Bool("update", false, "write testdata and the picture of the page anew")

func htmlPage(t *testing.T, s *Status, o HTMLOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bare is a page without its own style and script.
func bare(page string) string {
	return strings.Replace(strings.Replace(page, pageStyle, "", 1), pageScript, "", 1)
}

func TestHTMLGolden(t *testing.T) {
	off := sampleStatus()
	off.Server.Extended = false
	for name, page := range map[string]string{
		"page.html":     htmlPage(t, sampleStatus(), HTMLOptions{}),
		"notable.html":  htmlPage(t, sampleStatus(), HTMLOptions{NoTable: true, Refresh: 10}),
		"extended.html": htmlPage(t, off, HTMLOptions{}),
		"nothing.html":  htmlPage(t, &Status{}, HTMLOptions{}),
	} {
		page = bare(page)
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if page != string(want) {
			t.Errorf("%s: got\n%s", name, page)
		}
	}
}

// What programs look for in mod_status's page.
func TestHTMLFacts(t *testing.T) {
	page := htmlPage(t, sampleStatus(), HTMLOptions{})
	for _, want := range []string{
		"<title>jkd Status</title>",
		"<dt>Server Version: jkd/1.0 (linux)</dt>\n<dt>Server MPM: worker</dt>\n<dt>Server Built: 2026-12-02T10:11:12</dt>\n" +
			"<dt>Current Time: Wednesday, 02-Dec-2026 23:15:07 UTC</dt>\n<dt>Restart Time: Tuesday, 01-Dec-2026 22:14:06 UTC</dt>\n" +
			"<dt>Parent Server Config. Generation: 3</dt>\n<dt>Parent Server MPM Generation: 3</dt>\n<dt>Server uptime:  1 day 1 hour 1 minute 1 second</dt>\n" +
			"<dt>Server load: 0.50 1.00 1.26</dt>\n<dt>Total accesses: 123456 - Total Traffic: 5.0 GB - Total Duration: 7654</dt>\n" +
			"<dt>CPU Usage: u12.34 s0.25 cu1 cs0.01 - 0.0151% CPU load</dt>\n" +
			"<dt>1.37 requests/sec - 58.2 kB/second - 42.5 kB/request - 0.0619978 ms/request</dt>\n" +
			"<dt>2 requests currently being processed, 1 workers gracefully restarting, 1 idle workers</dt>\n",
		`<pre>_WG.</pre>`,
		"Scoreboard Key:",
		"0-3", "101", "0/5/12", "192.0.2.7", "HTTP/1.1", "www.example.com:80", "GET /shop/index.jsp HTTP/1.1",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("lacks %s", want)
		}
	}
	if n := strings.Count(page, "tomcat2"); n < 2 || !strings.Contains(page, "ERR (sick)") {
		t.Errorf("tomcat2 is sick, and is named %d times", n)
	}
	if strings.Contains(page, "http://") || strings.Contains(page, "https://") || strings.Contains(page, " src=") || strings.Contains(page, " style=") {
		t.Error("the page loads something, or has a style that its policy forbids")
	}
}

// The slots' letters come in lines of 64, and pids three a line.
func TestHTMLBoard(t *testing.T) {
	s := &Status{Slots: make([]Slot, 130)}
	for i := range 4 {
		s.Slots[i] = Slot{PID: 10 + i, Status: scoreboard.Ready}
	}
	page := htmlPage(t, s, HTMLOptions{})
	if want := "____" + strings.Repeat(".", 60) + "\n" + strings.Repeat(".", 64) + "\n..</pre>"; !strings.Contains(page, want) {
		t.Error("letters")
	}
	if want := "   10 in state: _ ,   11 in state: _ ,   12 in state: _ \n   13 in state: _ </pre>"; !strings.Contains(page, want) {
		t.Error("pids")
	}
}

// Whatever a child wrote is text, and is seen.
func TestHTMLHostile(t *testing.T) {
	for _, o := range []HTMLOptions{{}, {NoTable: true}} {
		page := htmlPage(t, hostileStatus(), o)
		if !utf8.ValidString(page) || strings.ContainsFunc(page, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }) {
			t.Error("control characters")
		}
		if n := strings.Count(page, "<script"); n != 1 {
			t.Errorf("%d scripts", n)
		}
		if !strings.Contains(page, `\x1b[2J\x0d\x0aScoreboard: x\x7f\xff\xc2\x85&#34;&lt;script&gt;&amp;\xe2\x80\xae`) {
			t.Error("the text is not shown")
		}
		if said := bare(page); strings.Contains(said, "NaN") || strings.Contains(said, "Inf") || strings.Contains(said, "ZgotmplZ") {
			t.Errorf("got %s", said)
		}
	}
	s := sampleStatus()
	s.History = []counters.Second{{Unix: 1 << 62, Requests: 1 << 63}, {Unix: -1 << 62, Duration: -1 << 63}, {Unix: 7, Requests: 1, Duration: -5, Busy: -1}, {Unix: 7}, {Unix: 6}}
	s.Server.Name = `"><b>`
	if page := bare(htmlPage(t, s, HTMLOptions{})); strings.Contains(page, "NaN") || strings.Contains(page, "Inf") || strings.Contains(page, "<b>\"") || strings.Contains(page, `"><b>`) {
		t.Errorf("got %s", page)
	}
}

func TestQuantile(t *testing.T) {
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	at := func(counts map[int]uint64) (h [len(counters.Bounds) + 1]uint64) {
		for i, n := range counts {
			h[i] = n
		}
		return h
	}
	for _, c := range []struct {
		name string
		h    [len(counters.Bounds) + 1]uint64
		q    float64
		want time.Duration
		more bool
		ok   bool
	}{
		{"nothing", at(nil), .5, 0, false, false},
		{"half of the first class", at(map[int]uint64{0: 10}), .5, ms(.25), false, true},
		{"the end of a class", at(map[int]uint64{1: 5, 3: 5}), .5, ms(1), false, true},
		{"inside the next", at(map[int]uint64{1: 5, 3: 5}), .75, ms(3.75), false, true},
		{"all", at(map[int]uint64{1: 5, 3: 5}), 1, ms(5), false, true},
		{"longer than all bounds", at(map[int]uint64{0: 1, len(counters.Bounds): 9}), .5, time.Minute, true, true},
		{"hostile", at(map[int]uint64{0: math.MaxUint64, 1: math.MaxUint64}), .5, ms(.5), false, true},
	} {
		d, more, ok := quantile(&c.h, c.q)
		if d != c.want || more != c.more || ok != c.ok {
			t.Errorf("%s: got %v %v %v", c.name, d, more, ok)
		}
	}
}

func TestChart(t *testing.T) {
	h := []counters.Second{{Unix: 100, Requests: 10}, {Unix: 101, Requests: 20}, {Unix: 103, Requests: 0}, {Unix: 110, Requests: 5}}
	c := chart("Requests/s", h, shortNumber, func(s counters.Second) (float64, bool) { return float64(s.Requests), true })
	if want := "Requests/s, last 4 s: now 5, mean 8.75, most 20"; c.Text != want {
		t.Errorf("got %q", c.Text)
	}
	// A second that is missed does not break the line, a pause does.
	if want := "M289 31.0h.5L290 2.0L292 60.0M299 45.5h.5"; c.Line != want {
		t.Errorf("got %s", c.Line)
	}
	if want := "M289 60V31.0L290 2.0L292 60.0V60H289ZM299 60V45.5V60H299Z"; c.Area != want {
		t.Errorf("got %s", c.Area)
	}
	for x, want := range map[float64]float64{0: 1, .35: .4, 1: 1, 1.1: 1.5, 20: 20, 21: 30, 99: 100, math.Inf(1): 1, math.NaN(): 1} {
		if got := niceTop(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("top of %v is %v", x, got)
		}
	}
}
