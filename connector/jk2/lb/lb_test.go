package lb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jkd/connector/jk/balance"
)

var start = time.Unix(1_000_000_000, 0)

func after(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

var usual = Settings{Sticky: true, Recovery: 60 * time.Second}

// session is the ids of a request for a path, with the values of its Cookie
// fields.
func session(path string, cookies ...string) *balance.IDs {
	ids := &balance.IDs{Cookie: "JSESSIONID", Param: ";jsessionid", Path: []byte(path)}
	for _, c := range cookies {
		ids.Cookies = append(ids.Cookies, []byte(c))
	}
	return ids
}

func named(names string, members ...Member) []Member {
	for i, n := range strings.Fields(names) {
		members[i].Route = n
		if members[i].Factor == 0 {
			members[i].Factor = 1
		}
	}
	return members
}

func three() []Member { return named("a b c", Member{}, Member{}, Member{}) }

// Each row is one request to a table in which some members have failed, the
// first of failed longest ago, at 10, 20, ... seconds.
func TestChoose(t *testing.T) {
	up := func(change func(m []Member)) []Member { m := three(); change(m); return m }
	first := Settings{Sticky: true, Recovery: time.Minute, FirstLevelOnly: true}
	for _, tt := range []struct {
		name     string
		settings Settings
		members  []Member
		failed   []int
		ids      *balance.IDs
		attempt  int
		want     string
	}{
		{"first of equals", usual, three(), nil, nil, 0, "0 value"},
		{"nobody", usual, nil, nil, nil, 0, "-1 none"},
		{"not one in error", usual, three(), []int{0}, nil, 0, "1 value"},
		{"not a disabled one", usual, up(func(m []Member) { m[0].Disabled = true }), nil, nil, 0, "1 value"},
		{"not a graceful one", usual, up(func(m []Member) { m[0].Graceful = true }), nil, nil, 0, "1 value"},
		{"all disabled", usual, up(func(m []Member) { m[0].Disabled, m[1].Disabled, m[2].Disabled = true, true, true }), nil, nil, 0, "-1 none"},
		{"lowest level", usual, up(func(m []Member) { m[0].Level, m[1].Level, m[2].Level = 3, 1, 2 }), nil, nil, 0, "1 value"},
		{"next level", usual, up(func(m []Member) { m[0].Level, m[1].Level, m[2].Level = 3, 1, 2 }), []int{1}, nil, 0, "2 value"},
		{"no such level", usual, up(func(m []Member) { m[0].Level, m[1].Level, m[2].Level = 4, 4, 9 }), nil, session("/x", "JSESSIONID=1.a"), 0, "-1 none"},
		{"no cost", usual, []Member{{Factor: 1}, {Factor: 0}}, nil, nil, 0, "1 value"},

		{"cookie", usual, three(), nil, session("/x", "JSESSIONID=1.c"), 0, "2 route"},
		{"path before cookie", usual, three(), nil, session("/x;jsessionid=1.b", "JSESSIONID=1.c"), 0, "1 route"},
		{"last dot", usual, three(), nil, session("/x", "JSESSIONID=1.a.c"), 0, "2 route"},
		{"other cookie", usual, three(), nil, session("/x", "XJSESSIONID=1.c"), 0, "0 value"},
		{"unknown route", usual, three(), nil, session("/x", "JSESSIONID=1.z"), 0, "0 value"},
		{"no route", usual, three(), nil, session("/x", "JSESSIONID=1"), 0, "0 value"},
		{"not sticky", Settings{Recovery: time.Minute}, three(), nil, session("/x", "JSESSIONID=1.c"), 0, "0 value"},
		{"session of a graceful one", usual, up(func(m []Member) { m[2].Graceful = true }), nil, session("/x", "JSESSIONID=1.c"), 0, "2 route"},
		{"session of a disabled one", usual, up(func(m []Member) { m[2].Disabled = true }), nil, session("/x", "JSESSIONID=1.c"), 0, "0 value"},
		{"session on a higher level", usual, up(func(m []Member) { m[2].Level = 3 }), nil, session("/x", "JSESSIONID=1.c"), 0, "2 route"},
		{"session of one in error, at first", usual, three(), []int{2}, session("/x", "JSESSIONID=1.c"), 0, "2 route"},
		{"and again", usual, three(), []int{2}, session("/x", "JSESSIONID=1.c"), 1, "0 value"},
		{"second with that route", usual, named("c b c", make([]Member, 3)...), []int{0}, session("/x", "JSESSIONID=1.c"), 1, "2 route"},
		{"redirect", usual, up(func(m []Member) { m[2].Redirect = "b" }), nil, session("/x", "JSESSIONID=1.c"), 0, "1 redirect"},
		{"redirect only once", usual, up(func(m []Member) { m[2].Redirect, m[1].Redirect = "b", "c" }), nil, session("/x", "JSESSIONID=1.c"), 0, "1 redirect"},
		{"redirect to nobody", usual, up(func(m []Member) { m[2].Redirect = "z" }), nil, session("/x", "JSESSIONID=1.c"), 0, "0 value"},
		{"redirect to a disabled one", usual, up(func(m []Member) { m[2].Redirect, m[1].Disabled = "b", true }), nil, session("/x", "JSESSIONID=1.c"), 0, "0 value"},

		{"all in error", usual, three(), []int{1, 2, 0}, nil, 0, "1 oldest"},
		{"all in error, last attempt", usual, three(), []int{1, 2, 0}, nil, 2, "1 oldest"},
		{"all in error, one attempt too many", usual, three(), []int{1, 2, 0}, nil, 3, "-1 none"},
		{"oldest of any level", usual, up(func(m []Member) { m[1].Level = 2 }), []int{1, 2, 0}, nil, 0, "1 oldest"},
		{"oldest but disabled", usual, up(func(m []Member) { m[1].Disabled = true }), []int{1, 2, 0}, nil, 0, "2 oldest"},
		{"oldest but graceful", usual, up(func(m []Member) { m[1].Graceful = true }), []int{1, 2, 0}, nil, 2, "-1 none"},
		{"the only one", usual, three()[:1], []int{0}, nil, 0, "0 oldest"},
		{"the only one, again", usual, three()[:1], []int{0}, nil, 1, "-1 none"},

		{"hwBalanceErr", first, up(func(m []Member) { m[0].Level = 1 }), nil, nil, 0, "1 value"},
		{"hwBalanceErr, level 0 is empty", first, up(func(m []Member) { m[0].Level, m[1].Level, m[2].Level = 1, 2, 3 }), nil, nil, 0, "-1 none"},
		{"hwBalanceErr, level 0 has failed", first, up(func(m []Member) { m[0].Level, m[1].Level = 1, 1 }), []int{2}, nil, 0, "2 oldest"},
		{"hwBalanceErr, and again", first, up(func(m []Member) { m[0].Level, m[1].Level = 1, 1 }), []int{2}, nil, 1, "-1 none"},
		{"hwBalanceErr and a session", first, up(func(m []Member) { m[2].Level = 1 }), nil, session("/x", "JSESSIONID=1.c"), 0, "2 route"},
	} {
		table := NewTable(tt.settings, tt.members)
		for i, m := range tt.failed {
			table.Failed(m, after(10*(i+1)))
		}
		c := table.Choose(tt.ids, tt.attempt, after(50))
		if got := fmt.Sprint(c.Index, " ", c.How); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// shares is how often each member is chosen in n requests without session.
func shares(t *Table, n int) []int {
	out := make([]int, t.Len())
	for range n {
		if c := t.Choose(nil, 0, start); c.Index >= 0 {
			out[c.Index]++
			t.Served(c.Index)
		}
	}
	return out
}

func TestShares(t *testing.T) {
	for _, tt := range []struct {
		factors, want string
		n             int
	}{
		{"[1 1]", "[500 500]", 1000},
		{"[1 3]", "[750 250]", 1000},
		{"[3 1]", "[250 750]", 1000},
		{"[2 3 6]", "[500 333 167]", 1000},
		{"[0 1]", "[1000 0]", 1000},
		// Where mod_jk2 goes wrong: 2 to 1, and everything to the first.
		{"[100 100]", "[500 500]", 1000},
		{"[100 200]", "[667 333]", 1000},
		{"[300 300]", "[500 500]", 1000},
		{"[1 1000]", "[999 1]", 1000},
	} {
		var members []Member
		for _, f := range strings.Fields(strings.Trim(tt.factors, "[]")) {
			var m Member
			fmt.Sscan(f, &m.Factor)
			members = append(members, m)
		}
		table := NewTable(usual, members)
		got := shares(table, tt.n)
		var want []int
		for _, f := range strings.Fields(strings.Trim(tt.want, "[]")) {
			var n int
			fmt.Sscan(f, &n)
			want = append(want, n)
		}
		for i := range got {
			if d := got[i] - want[i]; d < -2 || d > 2 {
				t.Errorf("factors %s: %v, want about %v", tt.factors, got, want)
				break
			}
			if v, f := table.Status(i).Value, members[i].Factor; v < f || v > most+2*1000 {
				t.Errorf("factors %s: member %d has value %d", tt.factors, i, v)
			}
		}
	}
}

// A member is left alone until recovery is over, takes part from the request
// after that one, and does not get a flood then.
func TestRecovery(t *testing.T) {
	table := NewTable(usual, three())
	table.Failed(1, start)
	for range 30 {
		if c := table.Choose(nil, 0, after(60)); c.Index == 1 {
			t.Fatal("chosen while in error")
		}
	}
	if s := table.Status(1); s.State != Failing || !s.Failed.Equal(start) {
		t.Errorf("%+v", s)
	}
	if c := table.Choose(nil, 0, after(61)); c.Index == 1 {
		t.Error("chosen by the request that ended its recovery")
	}
	if s := table.Status(1); s.State != OK || !s.Failed.IsZero() {
		t.Errorf("%+v", s)
	}
	if got := fmt.Sprint(shares(table, 30)); got != "[10 10 10]" {
		t.Error(got)
	}

	// Only up to the level that serves.
	members := three()
	members[1].Level, members[2].Level = 2, 2
	table = NewTable(usual, members)
	table.Failed(1, start)
	table.Choose(nil, 0, after(100))
	if s := table.Status(1); s.State != Failing {
		t.Error("a level that nobody asks recovers")
	}
	table.Failed(0, after(100))
	if c := table.Choose(nil, 0, after(101)); c.Index != 2 {
		t.Error(c)
	}
	if s := table.Status(1); s.State != OK {
		t.Error("not recovered")
	}
}

// All containers go down, requests are tried everywhere once, and the first
// one that is back serves everything at once.
func TestOutage(t *testing.T) {
	up := []bool{true, true, true}
	table := NewTable(usual, three())
	request := func(now time.Time) (tried []int, by int) {
		for attempt := 0; ; attempt++ {
			c := table.Choose(nil, attempt, now)
			if c.Index < 0 {
				return tried, -1
			}
			tried = append(tried, c.Index)
			if up[c.Index] {
				table.Served(c.Index)
				return tried, c.Index
			}
			table.Failed(c.Index, now)
		}
	}
	for range 7 {
		if _, by := request(start); by < 0 {
			t.Fatal("nobody serves")
		}
	}
	up = []bool{false, false, false}
	for range 5 {
		tried, by := request(after(1)) // all within one second
		seen := map[int]bool{}
		for _, i := range tried {
			seen[i] = true
		}
		if by != -1 || len(tried) != 3 || len(seen) != 3 {
			t.Errorf("tried %v", tried)
		}
	}
	up[1] = true
	if _, by := request(after(2)); by != 1 {
		t.Error("not served by the one that is back:", by)
	}
	for range 20 {
		if tried, by := request(after(3)); by != 1 || len(tried) != 1 {
			t.Errorf("tried %v", tried)
		}
	}
	up[0], up[2] = true, true
	served := map[int]int{}
	for range 31 {
		_, by := request(after(100))
		served[by]++
	}
	if served[0] < 9 || served[1] < 9 || served[2] < 9 {
		t.Error(served)
	}
}

func TestSet(t *testing.T) {
	table := NewTable(usual, three())
	shares(table, 30)
	table.Failed(0, start)
	members := named("a b d", Member{}, Member{Factor: 2}, Member{})
	table.Set(usual, members, []int{0, 1, -1})
	if s := table.Status(0); s.State != Failing || !s.Failed.Equal(start) {
		t.Errorf("a is forgotten: %+v", s)
	}
	if table.Status(1).Value != table.Status(2).Value {
		t.Error("who is new has to make up for what others served:", table.Status(1), table.Status(2))
	}
	if got := fmt.Sprint(shares(table, 30)); got != "[0 10 20]" {
		t.Error(got)
	}
	members[2].Disabled = true
	table.Set(usual, members, []int{0, 1, 2})
	if got := fmt.Sprint(shares(table, 30)); got != "[0 30 0]" {
		t.Error(got)
	}
	members[2].Disabled = false
	table.Set(usual, members, []int{0, 1, 2})
	if got := fmt.Sprint(shares(table, 30)); got != "[0 10 20]" {
		t.Error("who was disabled has to make up:", got)
	}
}

func TestWords(t *testing.T) {
	for s, want := range map[fmt.Stringer]string{OK: "ok", Failing: "error", State(9): "State(9)", None: "none", ByOldest: "oldest", How(9): "How(?)"} {
		if s.String() != want {
			t.Errorf("%q, want %q", s, want)
		}
	}
}

func TestChooseAllocates(t *testing.T) {
	table := NewTable(usual, three())
	ids := session("/x;jsessionid=abc.zz", "JSESSIONID=1.c")
	if n := testing.AllocsPerRun(100, func() { table.Choose(ids, 0, start); table.Choose(nil, 0, start) }); n != 0 {
		t.Error(n, "allocations")
	}
}

// FuzzTable: whatever happens to a table, no choice is forbidden, no value
// leaves its bounds, and a request ends.
func FuzzTable(f *testing.F) {
	f.Add([]byte{1, 0, 2, 1, 0, 0}, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{100, 0, 200, 4}, []byte{1, 1, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, setup, events []byte) {
		var members []Member
		for i := 0; i+1 < len(setup) && len(members) < 8; i += 2 {
			b := setup[i+1]
			members = append(members, Member{Route: string('a' + rune(i/2)), Factor: int(setup[i]), Level: int(b & 3), Disabled: b&4 != 0, Graceful: b&8 != 0})
		}
		table := NewTable(Settings{Sticky: true, Recovery: 5 * time.Second, FirstLevelOnly: len(setup)%7 == 6}, members)
		now := start
		for _, e := range events[:min(len(events), 200)] {
			now = now.Add(time.Duration(e&3) * time.Second)
			ids := session("/;jsessionid=1." + string('a'+rune(e>>2&7)))
			if e&128 != 0 {
				ids = nil
			}
			attempt := 0
			for ; ; attempt++ {
				if attempt > 2*len(members)+2 {
					t.Fatal("the request does not end")
				}
				c := table.Choose(ids, attempt, now)
				if c.Index < 0 {
					break
				}
				m := &members[c.Index]
				if m.Disabled || m.Graceful && c.How != ByRoute {
					t.Fatalf("%s gave %+v", c.How, m)
				}
				if v := table.Status(c.Index).Value; v < m.Factor || v > 1000 {
					t.Fatalf("value %d of factor %d", v, m.Factor)
				}
				if e>>uint(attempt%7)&1 == 0 {
					table.Served(c.Index)
					break
				}
				table.Failed(c.Index, now)
			}
		}
	})
}
