package status

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func text(t *testing.T, s *Status) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestText(t *testing.T) {
	got := text(t, sampleStatus())
	for _, want := range []string{
		"jkd status for www.example.com\n",
		"Server uptime:  1 day 1 hour 1 minute 1 second\n",
		"Children:       2 living, 9 started; ended: ok 5, killed 2; connections cut: 4\n",
		"Total accesses: 123456 - Total Traffic: 5.0 GB - Total Duration: 7654\n",
		"CPU Usage: u12.34 s0.25 cu1 cs0.01 - 0.0151% CPU load\n",
		"1.37 requests/sec - 58.2 kB/second - 42.5 kB/request - 0.0619978 ms/request\n",
		"\n2 requests currently being processed, 1 workers gracefully restarting, 1 idle workers\n\n_WG.\n",
		"tomcat1 1/1 390/10 1m0s",
		"finishes",
		"GET /shop/index.jsp HTTP/1.1",
		"ERR !",
		"age 8",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	off := sampleStatus()
	off.Server.Extended = false
	if got := text(t, off); strings.Contains(got, "Total accesses") || strings.Contains(got, "Slots") {
		t.Errorf("without ExtendedStatus:\n%s", got)
	}
	if got := text(t, &Status{}); !strings.Contains(got, "0 idle workers") {
		t.Errorf("of nothing:\n%s", got)
	}
}

// The letters of a large board come in lines of 64.
func TestTextBoard(t *testing.T) {
	s := &Status{Slots: make([]Slot, 130)}
	dots := strings.Repeat(".", 64)
	if got := text(t, s); !strings.Contains(got, "\n"+dots+"\n"+dots+"\n..\n") {
		t.Errorf("board:\n%s", got)
	}
}

// Whatever a child wrote, a line stays a line and a terminal stays as it is.
func TestHostileTexts(t *testing.T) {
	for name, got := range map[string]string{"text": text(t, hostileStatus()), "auto": auto(t, hostileStatus())} {
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
			t.Errorf("%s has control characters:\n%q", name, got)
		}
		if strings.Contains(got, "\nScoreboard: x") {
			t.Errorf("%s: a child has written a line of its own:\n%s", name, got)
		}
	}
}

func document(t *testing.T, s *Status) (d Document) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, s); err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestJSON(t *testing.T) {
	s := sampleStatus()
	d := document(t, s)
	if !reflect.DeepEqual(d, *NewDocument(s)) {
		t.Errorf("got %+v", d)
	}
	if d.Schema != SchemaVersion || d.Board != "_WG." || *d.Totals.Accesses != 123456 || d.Server.Uptime != 90061 {
		t.Errorf("got %+v", d)
	}
	if w := d.Workers[1]; w.Requests["2xx"] != 399 || w.Requests["aborted"] != 1 || w.Cache.Closed["age"] != 8 || *w.Latency[3].UpTo != 0.005 || w.Latency[3].Count != 400 ||
		w.Latency[len(w.Latency)-1].UpTo != nil {
		t.Errorf("worker %+v", w)
	}
	if x := d.Slots[1]; x.Status != "busy-write" || x.Letter != "W" || x.Extended.Request != "POST /a HTTP/1.1" {
		t.Errorf("slot %+v", x)
	}
	if d.Balancers[0].Members[0].LastError != nil || d.Balancers[0].Members[1].LastError == nil {
		t.Errorf("members %+v", d.Balancers[0].Members)
	}
	s.Server.Extended = false
	if d = document(t, s); d.Totals.Accesses != nil || d.Totals.CPU != nil || d.Slots[0].Extended != nil {
		t.Errorf("without ExtendedStatus %+v", d.Totals)
	}
}

// Lists are never null, and what a child wrote is never refused.
func TestJSONShape(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, &Status{}); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"children", "slots", "workers", "balancers", "history"} {
		if !strings.Contains(b.String(), `"`+list+`":[]`) {
			t.Errorf("%s is no empty list in %s", list, b.String())
		}
	}
	if d := document(t, hostileStatus()); d.Server.Restart != nil || d.Slots[0].Status != "dead" || d.Children[0].Started != nil {
		t.Errorf("got %+v", d)
	}
}
