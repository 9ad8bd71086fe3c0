package jk2

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/connectortest"
	"jkd/connector/jk2/board"
	"jkd/connector/jk2/jk2shm"
	"jkd/connector/jk2/status"
)

// newSlots is a jk2.shm in memory of the test's own.
func newSlots(t *testing.T, slots int) *jk2shm.Segment {
	t.Helper()
	size, err := jk2shm.Size(slots)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, (size+7)/8)
	s, err := jk2shm.Format(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), slots)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pages are the processes of a server with a status page, which has a master
// that finds all files as they were.
type pages struct {
	t     *testing.T
	board *board.Board
	slots *jk2shm.Segment
	procs []*Connector
}

func newPages(t *testing.T, text string, processes int) *pages {
	t.Helper()
	p := &pages{t: t, board: newBoard(t, processes), slots: newSlots(t, processes)}
	s := setup(t, text)
	r := &Reloader{Setup: s, Board: p.board, Logger: zerolog.Nop()}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		r.Run(stop)
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	for i := range processes {
		c := New(s, Options{Dial: connectortest.Dialers(2), WriteTimeout: long, Server: i, Board: p.board, Slots: p.slots, Software: "jkd/test", Logger: zerolog.Nop()})
		t.Cleanup(func() { c.Close() })
		p.procs = append(p.procs, c)
	}
	return p
}

// page asks a process; form is the body of a POST, if there is any.
func (p *pages) page(process int, query, form string, fields ...string) (code int, body string) {
	p.t.Helper()
	method := "GET"
	if form != "" {
		method = "POST"
	}
	r := connectortest.Request(method, "/jkstatus/", form)
	r.Query = []byte(query)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Fields = append(r.Fields, connector.Field{Name: []byte(fields[i]), Value: []byte(fields[i+1])})
	}
	w := p.procs[process].Match(r)
	if w == nil {
		p.t.Fatal("there is no page")
	}
	a := &connectortest.Answer{}
	if err := w.Service(r, a); err != nil {
		var e *connector.Error
		errors.As(err, &e)
		return e.Status, e.Error()
	}
	if !a.Finished {
		p.t.Errorf("%s %s: half an answer", query, form)
	}
	return a.Status, string(a.Body)
}

func (p *pages) document(process int) (d status.Document) {
	p.t.Helper()
	_, body := p.page(process, "mime=json", "")
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		p.t.Fatal(err, body)
	}
	return d
}

const statusText = "[status:]\n[uri:/jkstatus/*]\ngroup=status:\n"

// What is set on the page of one process holds there, and everywhere once ver
// is set.
func TestPageReachesAll(t *testing.T) {
	c := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "here") })
	name := fmt.Sprintf("ajp13:127.0.0.1:%d", c.Port())
	p := newPages(t, fmt.Sprintf("[channel.socket:127.0.0.1:%d]\n[uri:/x/*]\n", c.Port())+statusText, 2)
	token := p.board.Token()
	both := func(what, first, second string) {
		t.Helper()
		for i, want := range []string{first, second} {
			if got := ask(t, p.procs[i], "/x/"); got != want {
				t.Errorf("%s: process %d: %s, want %s", what, i, got, want)
			}
			if _, got := p.page(i, "get="+name+"%7Cdisabled", ""); got != "OK|"+name+"|disabled"+map[string]string{"here": "0", "503": "1"}[want] {
				t.Errorf("%s: process %d says %s", what, i, got)
			}
		}
	}
	both("at the start", "here", "here")
	for _, tt := range []struct {
		query, form   string
		code          int
		says          string
		first, second string
	}{
		{"set=" + name + "|disabled|1", "", 403, "must be a POST", "here", "here"},
		{"set=" + name + "|disabled|1&token=" + strings.Repeat("0", 32), "", 403, "must be a POST", "here", "here"},
		{"", "set=" + name + "|disabled|1", 200, "done: set", "503", "here"},
		{"", "set=" + name + "|ver|1", 200, "done: set", "503", "503"},
		{"set=" + name + "|disabled|0&token=" + hex.EncodeToString(token[:]), "", 200, "OK|" + name + "|disabled|0", "here", "503"},
		{"set=" + name + "|ver|2&token=" + hex.EncodeToString(token[:]), "", 200, "OK|" + name + "|ver|2", "here", "here"},
		{"", "set=" + name + "|lb_factor|many", 400, "not a whole number", "here", "here"},
		{"", "set=" + name + "|epCount|1", 400, "no property", "here", "here"},
		{"", "set=ajp13:nobody|disabled|1", 400, "no component", "here", "here"},
		{"", "set=" + name + "%7Croute%7Ca%0Ab", 400, "control character", "here", "here"},
		{"", "set=" + name + "|route", 400, "NAME|ATTR|VALUE", "here", "here"},
		{"", "inv=" + name + "|destroy", 200, "done: inv", "here", "here"},
		{"", "inv=" + name + "|explode", 400, "no method", "here", "here"},
		{"", "inv=lb:lb|destroy", 400, "no worker", "here", "here"},
		{"", "rld=1", 200, "done: rld", "here", "here"},
	} {
		code, body := p.page(0, tt.query, tt.form)
		if code != tt.code || !strings.Contains(body, tt.says) {
			t.Errorf("%s%s: %d, not %q: %.2000s", tt.query, tt.form, code, tt.says, body)
		}
		both(tt.query+tt.form, tt.first, tt.second)
	}
	if code, body := p.page(0, "", "set="+name+"|disabled|1", "Origin", "http://elsewhere.test"); code != 403 || !strings.Contains(body, "another site") {
		t.Errorf("a form of another site: %d %s", code, body)
	}
	both("a form of another site", "here", "here")
}

// The scoreboard is of all processes, whichever is asked, and so is its reset;
// the caches are those of the process that answers.
func TestPageCounts(t *testing.T) {
	c := ajptest.New(t, func(e *ajptest.Exchange) { e.Respond(200, "here") })
	p := newPages(t, fmt.Sprintf("[channel.socket:127.0.0.1:%d]\nmax_connections=4\n[uri:/x/*]\n", c.Port())+statusText, 2)
	for range 3 {
		ask(t, p.procs[0], "/x/a")
	}
	ask(t, p.procs[1], "/x/b")
	for i, requests := range []uint64{3, 1} {
		d := p.document(i)
		if d.Child != i || d.Software != "jkd/test" || len(d.Caches) != 1 || d.Scoreboard == nil {
			t.Fatalf("%+v", d)
		}
		want := status.DocumentCache{
			Worker: fmt.Sprintf("ajp13:127.0.0.1:%d", c.Port()), Endpoints: 1, Idle: 1, Connected: 1, MaxConnections: 4,
			Requests: requests, Hits: requests - 1, Connects: 1,
		}
		if d.Caches[0] != want {
			t.Errorf("process %d: %+v, want %+v", i, d.Caches[0], want)
		}
		if b := d.Scoreboard; b.Requests != 4 || b.Errors != 0 || len(b.Slots) != 2 || b.Slots[1].Name != "epStat.1" || b.Slots[1].Records[0].LastRequest != "/x/b" {
			t.Errorf("process %d: %+v", i, b)
		}
	}
	if _, body := p.page(1, "endpoints=1", ""); strings.Contains(body, "epStat.0") || !strings.Contains(body, "epStat.1") {
		t.Errorf("another process's endpoints: %s", body)
	}
	if _, body := p.page(1, "dmp=endpoint:*", ""); !strings.Contains(body, "[endpoint:epStat.00]\n") || !strings.Contains(body, "lastRequest=/x/b\n") {
		t.Errorf("dmp: %s", body)
	}
	if code, _ := p.page(1, "scoreboard.reset", ""); code != 403 || p.document(0).Scoreboard.Requests != 4 {
		t.Error("a link resets the counters", code)
	}
	if code, _ := p.page(1, "", "scoreboard.reset=1"); code != 200 || p.document(0).Scoreboard.Requests != 0 {
		t.Error("a form does not reset the counters", code)
	}
}

// What is secret is nowhere to be seen, not even by way of a variable or after
// it was set here.
func TestPageSecrets(t *testing.T) {
	p := newPages(t, `[config:]
word=open-sesame
[channel.socket:127.0.0.1:9]
secretkey=${word}
[ajp13:127.0.0.2:9]
secretkey=hush-hush
[channel.socket:127.0.0.2:9]
`+statusText, 1)
	for _, form := range []string{"", "set=ajp13:127.0.0.2:9|secretkey|very-new", "set=ajp13:127.0.0.2:9|ver|1"} {
		if form != "" {
			if code, body := p.page(0, "", form); code != 200 {
				t.Fatal(form, code, body)
			}
		}
		for _, query := range []string{
			"", "cfgOrig=1", "cfgParsed=1", "dmp=*", "lst=*", "qry=*", "mime=json", "get=ajp13:127.0.0.2:9|secretkey", "get=channel.socket:127.0.0.1:9|secretkey",
		} {
			_, body := p.page(0, query, "")
			for _, secret := range []string{"open-sesame", "hush-hush", "very-new"} {
				if strings.Contains(body, secret) {
					t.Errorf("%s, %s: shows %s: %s", form, query, secret, body)
				}
			}
		}
	}
	if w := p.procs[0].state.Load().cfg.workerNamed("ajp13:127.0.0.2:9"); w.Secret != "very-new" {
		t.Errorf("secret %q", w.Secret)
	}
}

// A body beyond the bound is refused, not cut.
func TestPageBounds(t *testing.T) {
	p := newPages(t, statusText, 1)
	for query, form := range map[string]string{"": "set=" + strings.Repeat("x", status.MaxQuery), strings.Repeat("x", status.MaxQuery+1): ""} {
		if code, body := p.page(0, query, form); code != 400 || !strings.Contains(body, "too long") {
			t.Errorf("%d %.200s", code, body)
		}
	}
}
