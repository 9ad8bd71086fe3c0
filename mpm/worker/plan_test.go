//go:build unix

package worker

import (
	"testing"

	"jkd/mpm"
	"jkd/mpm/mpmtest"
)

func said(kinds ...mpm.NoteKind) (s mpm.NoteSet) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

func TestPlan(t *testing.T) {
	// Five children of ten threads, ten indexes.
	c, err := Config{MinSpareThreads: 15, MaxSpareThreads: 30, ThreadsPerChild: 10, ThreadLimit: 10, ServerLimit: 10, MaxRequestWorkers: 50}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	const nobody = mpm.Nobody
	mpmtest.RunPlans(t, func(v mpm.View) mpm.Plan { return plan(c, v) }, []mpmtest.PlanCase{
		{Name: "nobody", Servers: ".*10", Spawn: 1, Retire: nobody, NextRate: 2},
		{Name: "enough", Servers: "R R5 .*8", Rate: 8, Retire: nobody, NextRate: 1},
		{Name: "exactly the most spare", Servers: "R*3 .*7", Retire: nobody, NextRate: 1},
		{Name: "too many", Servers: "R*4 .*6", Rate: 4, Retire: 3, NextRate: 1},
		{Name: "the idlest goes", Servers: "R2 R R3 R .*6", Retire: 3, NextRate: 1},
		{Name: "the idlest, not the last", Servers: "R2 R R1 R2 .*6", Retire: 1, NextRate: 1},
		{Name: "one that starts can't go", Servers: "R5 S*3 .*6", Retire: 0, NextRate: 1},
		{Name: "starting is idle", Servers: "S S R10 .*7", Retire: nobody, NextRate: 1},
		{Name: "leaving is not idle", Servers: "L1 L1 R .*7", Spawn: 1, Retire: nobody, NextRate: 2},
		{Name: "the rate is in children", Servers: "R8 .*9", Rate: 2, Spawn: 2, Retire: nobody, NextRate: 4},
		{Name: "the limit cuts the rate", Servers: "R8 .*9", Rate: 32, Spawn: 4, Retire: nobody, NextRate: 32,
			Note: "server seems busy, (you may need to increase StartServers, or the Min/MaxSpare settings), spawning 4 children, there are 2 idle, and 1 total children"},
		{Name: "limit reached", Servers: "R10*5 .*5", Retire: nobody, NextRate: 1, Note: "server reached MaxRequestWorkers setting"},
		{Name: "limit reached and said", Servers: "R10*5 .*5", Said: said(mpm.NoteReached), Retire: nobody, NextRate: 1},
		{Name: "nearly at the limit", Servers: "R10*4 R8 .*5", Retire: nobody, NextRate: 1, Note: "server is within MinSpareThreads of MaxRequestWorkers"},
		{Name: "nearly at the limit and said", Servers: "R10*4 R8 .*5", Said: said(mpm.NoteWithin), Retire: nobody, NextRate: 1},
		{Name: "within was said, reached was not", Servers: "R10*5 .*5", Said: said(mpm.NoteWithin), Retire: nobody, NextRate: 1, Note: "server reached"},
		{Name: "leaving counts with what is busy", Servers: "R10*3 L3 L7 .*5", Rate: 4, Spawn: 1, Retire: nobody, NextRate: 8},
		{Name: "leaving and busy is no room", Servers: "R10*3 L9 L2 .*5", Retire: nobody, NextRate: 1, Note: "scoreboard is full, not at MaxRequestWorkers"},
		{Name: "leaving and idle counts one", Servers: "R10*4 L .*5", Retire: nobody, NextRate: 1, Note: "scoreboard is full"},
		{Name: "no index free", Servers: "R10 L1*9", Retire: nobody, NextRate: 1, Note: "scoreboard is full"},
		{Name: "more busy than there are", Servers: "R99 S .*8", Spawn: 1, Retire: nobody, NextRate: 2},
		{Name: "on hold", Servers: "R8 .*9", Rate: 4, Hold: true, Retire: nobody, NextRate: 1},
	})
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want Config
	}{
		{"defaults", Config{}, Config{3, 75, 250, 25, 64, 16, 400, 0, false}},
		{"whole children", Config{MaxRequestWorkers: 110}, Config{3, 75, 250, 25, 64, 16, 100, 0, false}},
		{"server limit cuts", Config{MaxRequestWorkers: 1000}, Config{3, 75, 250, 25, 64, 16, 400, 0, false}},
		{"spare threads", Config{MinSpareThreads: 300}, Config{3, 300, 325, 25, 64, 16, 400, 0, false}},
		{"start servers", Config{StartServers: 9, MaxRequestWorkers: 50}, Config{2, 75, 250, 25, 64, 16, 50, 0, false}},
	} {
		if got, err := c.in.withDefaults(); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	for name, c := range map[string]Config{
		"negative":     {MinSpareThreads: -1},
		"servers":      {ServerLimit: maxServerLimit + 1},
		"threads":      {ThreadLimit: maxThreadLimit + 1},
		"thread limit": {ThreadsPerChild: 65},
		"too few":      {MaxRequestWorkers: 24},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
