//go:build unix

package top

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"jkd/cmd/jkd/internal/status"
	"jkd/connector/counters"
	"jkd/scoreboard"
)

// server is one after some seconds, having answered n requests.
func server(n uint64, seconds int) *status.Status {
	start := time.Unix(1000, 0)
	now := start.Add(time.Duration(seconds) * time.Second)
	return &status.Status{
		Server:   status.Server{Name: "www.example.test", Version: "jkd/1.0 (linux)", MPM: "worker", Generation: 2, Now: now, Restart: start, MasterPID: 77},
		Totals:   status.Totals{Accesses: n, Bytes: 1024 * n, Duration: time.Duration(n) * 5 * time.Millisecond, Busy: 2, Idle: 2},
		Limits:   status.Limits{MaxRequestWorkers: 4},
		Children: []status.Child{{Server: 0, PID: 100, Started: start, Busy: 2, Accesses: n}, {Server: 1, PID: 101, Started: now, Idle: 2, Accesses: 7, Quiescing: true}},
		Slots: []status.Slot{
			{Server: 0, Thread: 0, PID: 100, Status: scoreboard.BusyWrite, SinceLastUsed: 3 * time.Second, Client: "192.0.2.1", Request: "GET /slow HTTP/1.1"},
			{Server: 0, Thread: 1, PID: 100, Status: scoreboard.BusyRead, SinceLastUsed: 9 * time.Second, Request: "GET /\x1b[2Jé HTTP/1.1"},
			{Server: 1, Thread: 0, PID: 101, Status: scoreboard.Ready, LastRequest: time.Hour},
			{Server: 1, Thread: 1, PID: 101, Status: scoreboard.Status(99)},
		},
		Workers: []status.Worker{
			{Name: "-", Totals: counters.Totals{Requests: [counters.NumClasses]uint64{counters.Class2xx: 3}}},
			{Name: "tomcat", Connector: "jk", Totals: counters.Totals{Requests: [counters.NumClasses]uint64{counters.Class2xx: n, counters.Class5xx: 2},
				Cache: counters.Cache{Hits: 3, Misses: 1, Idle: 5, Busy: 2}}},
		},
		Balancers: []status.Balancer{{Name: "lb", Members: []status.Member{{Name: "a", State: "OK"}, {Name: "b", State: "ERR", Sick: true, LastError: start}}}},
		History:   []counters.Second{{Requests: 0}, {Requests: 1}, {Requests: 100}},
	}
}

func shown(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func TestFrame(t *testing.T) {
	prev, now := server(100, 10), server(300, 12)
	for _, tt := range []struct {
		table Table
		all   bool
		want  []string // in this order
	}{
		{Slots, false, []string{"jkd/1.0 (linux)", "up 12.0s", "100 req/s", "100k/s", "mean 5ms", "2 busy", "of 4", "max 100", "WR_?", "sick: b ERR",
			"REQv", "0-1", "9.0s", "GET /?[2J? HTTP/1.1", "0-0", "GET /slow"}},
		{Slots, true, []string{"0-1", "0-0", "1-0", "1h00m"}},
		{Children, false, []string{"REQ/Sv", "100", "0.0", "leaving"}},
		{Workers, false, []string{"REQ/Sv", "tomcat", "100", "75.0%", "- ", "0.0"}},
		{Balancers, false, []string{"BALANCER^", "lb", "a", "OK", "lb", "b", "ERR", "12.0s"}},
	} {
		v := View{Width: 120, Height: 40, Table: tt.table, All: tt.all, Sorts: initialSorts()}
		got := shown(Frame(now, prev, &v))
		rest := got
		for _, want := range tt.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: no %q (in this order) in\n%s", tt.table, want, got)
				break
			}
			rest = after
		}
		if strings.ContainsAny(got, "\x1b") {
			t.Errorf("%s: a control character", tt.table)
		}
	}
}

// TestFrameSizes: no size, table or server makes a frame that does not fit.
func TestFrameSizes(t *testing.T) {
	for _, s := range []*status.Status{server(300, 12), {}} {
		for _, width := range []int{1, 2, 20, 80, 400} {
			for _, height := range []int{1, 2, 5, 9, 12, 60} {
				for table := Slots; table < numTables; table++ {
					for _, note := range []string{"", "gone"} {
						v := View{Width: width, Height: height, Table: table, All: true, Scroll: 1 << 30, Note: note, Sorts: initialSorts()}
						lines := Frame(s, server(1, 1), &v)
						if len(lines) > height {
							t.Errorf("%d×%d %s: %d lines", width, height, table, len(lines))
						}
						for _, l := range lines {
							if n := utf8.RuneCountInString(l.String()); n > width {
								t.Errorf("%d×%d %s: %d wide: %q", width, height, table, n, l)
							}
						}
						if note != "" && width > 10 && lines[len(lines)-1].String() != note {
							t.Errorf("%d×%d %s: the note is not last:\n%s", width, height, table, shown(lines))
						}
					}
				}
			}
		}
	}
}

func TestOrder(t *testing.T) {
	list := func() []row {
		return []row{{cells: []cell{{"b", 0}, {"1", 1}}}, {cells: []cell{{"a", 0}, {"9", 9}}}, {cells: []cell{{"c", 0}, {"-", -1}}}}
	}
	cols := []column{{"NAME", true}, {"N", false}}
	for _, tt := range []struct {
		by   Sort
		want string
	}{{Sort{0, false}, "abc"}, {Sort{0, true}, "cba"}, {Sort{1, false}, "abc"}, {Sort{1, true}, "cba"}} {
		l, got := list(), ""
		order(l, cols, tt.by)
		for _, r := range l {
			got += r.cells[0].show
		}
		if got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.by, got, tt.want)
		}
	}
}

// TestCompare: counters that go back, children that are others and a server
// that was started anew have no rates below zero.
func TestCompare(t *testing.T) {
	if r := compare(server(5, 1), nil); r.known {
		t.Error("rates of one snapshot")
	}
	if r := compare(server(5, 1), server(5, 1)); r.known {
		t.Error("rates of no time")
	}
	other := server(5, 1)
	other.Server.Restart = time.Unix(1, 0)
	if r := compare(server(50, 2), other); r.known {
		t.Error("rates over a restart")
	}
	if r := compare(server(5, 2), server(50, 1)); r.requests != 0 || r.bytes != 0 || r.children[0] != 0 || r.workers["jk tomcat"] != 0 || r.latency != 0 {
		t.Errorf("backwards: %+v", r)
	}
	now := server(50, 3)
	now.Children[0].PID = 999
	if r := compare(now, server(10, 1)); r.children[0] != 25 || r.workers["jk tomcat"] != 20 {
		t.Errorf("a new child: %+v", r)
	}
}

func TestKeys(t *testing.T) {
	v := View{Interval: time.Second, Height: 30, Sorts: initialSorts()}
	for _, tt := range []struct {
		keys   string
		action Action
		ok     func() bool
	}{
		{"c", Redraw, func() bool { return v.Table == Children }},
		{"\t\t\t", Redraw, func() bool { return v.Table == Slots }},
		{"\x1b[C", Redraw, func() bool { return v.sort().Column == 5 }},
		{"<<<<<<", Redraw, func() bool { return v.sort().Column == len(columns[Slots])-1 }},
		{"r", Redraw, func() bool { return v.sort().Reverse }},
		{"jj\x1b[B\x1bOA", Redraw, func() bool { return v.Scroll == 2 }},
		{"\x1b[6~", Redraw, func() bool { return v.Scroll == 22 }},
		{"\x1b[5~\x1b[5~", Redraw, func() bool { return v.Scroll == 0 }},
		{"+", Redraw, func() bool { return v.Interval == 2*time.Second }},
		{"-----------", Redraw, func() bool { return v.Interval == minInterval }},
		{"h", Redraw, func() bool { return v.Help }},
		{"c", Redraw, func() bool { return !v.Help && v.Table == Slots }},
		{"p", Redraw, func() bool { return v.Paused }},
		{" ", Refresh, func() bool { return true }},
		{"\x1b[", Redraw, func() bool { return true }},
		{"\x1b[99;99Z\x1bx\xff\x00", Redraw, func() bool { return v.Table == Slots && !v.Help }},
		{"\x1a", Suspend, func() bool { return true }},
		{"\x03", Quit, func() bool { return true }},
		{"hq", Quit, func() bool { return true }},
	} {
		var a Action
		for b := []byte(tt.keys); len(b) > 0; {
			k, n := nextKey(b)
			b, a = b[n:], v.Key(k)
		}
		if a != tt.action || !tt.ok() {
			t.Errorf("%q: action %d, %+v", tt.keys, a, v)
		}
	}
}

func TestFormat(t *testing.T) {
	for got, want := range map[string]string{
		count(99999): "99999", count(123456): "123k", count(1<<64 - 1): "18E", size(1023): "1023B", size(4608): "4.5k", size(1 << 63): "8.0E",
		rate(3): "3.0", rate(1234): "1234", rate(2e6): "2.0M", percent(1, 0): "-", percent(1, 3): "33.3%",
		span(-1): "0ms", span(999 * time.Millisecond): "999ms", span(59999 * time.Millisecond): "59.9s", span(184 * time.Second): "3m04s",
		span(125 * time.Minute): "2h05m", span(267 * time.Hour): "11d03h", since(time.Unix(9, 0), time.Time{}): "-",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestRunPlain: without a terminal there is text, as often as asked for.
func TestRunPlain(t *testing.T) {
	for frames, want := range map[int]int{0: 1, 1: 1, 3: 3} {
		path := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		err = Run(Options{In: out, Out: out, Interval: time.Millisecond, Frames: frames, Fetch: func() (*status.Status, string, error) {
			asked++
			return server(uint64(asked)*10, asked), "a note", nil
		}})
		out.Close()
		b, _ := os.ReadFile(path)
		if err != nil || asked != want || strings.Count(string(b), "jkd/1.0") != want || strings.Count(string(b), "a note") != want {
			t.Errorf("%d frames: %v, asked %d times\n%s", frames, err, asked, b)
		}
		for _, part := range []string{"slots: 2", "children: 2", "workers: 2", "balancers: 2", "req/s  .@ max 100"} {
			if !strings.Contains(string(b), part) {
				t.Errorf("no %q in\n%s", part, b)
			}
		}
	}
	gone := errors.New("gone")
	if err := Run(Options{In: os.Stdin, Out: os.Stdout, Fetch: func() (*status.Status, string, error) { return nil, "", gone }}); err != gone {
		t.Error(err)
	}
}

func TestPaint(t *testing.T) {
	lines := []Line{{{"a", Good}, {"b", Plain}}, {{"c", Head}}}
	if got, want := paint(lines, 2, true), "\x1b[H\x1b[32ma\x1b[0mb\x1b[K\r\n\x1b[7mc\x1b[0m\x1b[K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := paint(lines, 3, false), "\x1b[Hab\x1b[K\r\n\x1b[7mc\x1b[0m\x1b[K\r\n\x1b[J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
