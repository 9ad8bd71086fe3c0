//go:build unix

package prefork

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
	c, err := Config{StartServers: 1, MinSpareServers: 2, MaxSpareServers: 4, ServerLimit: 20, MaxRequestWorkers: 16}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	const nobody = mpm.Nobody
	mpmtest.RunPlans(t, func(v mpm.View) mpm.Plan { return plan(c, v) }, []mpmtest.PlanCase{
		{Name: "nobody", Servers: ".*20", Spawn: 1, Retire: nobody, NextRate: 2},
		{Name: "enough", Servers: "R R1 R .*17", Rate: 8, Retire: nobody, NextRate: 1},
		{Name: "exactly the most spare", Servers: "R*4 .*16", Retire: nobody, NextRate: 1},
		{Name: "one too many", Servers: "R*5 .*15", Rate: 4, Retire: 4, NextRate: 1},
		{Name: "the idle one with the highest index goes", Servers: "R*4 R1 R R1 .*13", Retire: 5, NextRate: 1},
		{Name: "one that starts can't go", Servers: "R S*5 .*14", Retire: 0, NextRate: 1},
		{Name: "only starting ones", Servers: "S*6 .*14", Retire: nobody, NextRate: 1},
		{Name: "starting is idle", Servers: "S S R1 .*17", Rate: 4, Retire: nobody, NextRate: 1},
		{Name: "leaving is not idle", Servers: "L*6 R .*13", Spawn: 1, Retire: nobody, NextRate: 2},
		{Name: "the rate, not the deficit", Servers: "R1*3 R .*16", Rate: 4, Spawn: 4, Retire: nobody, NextRate: 8},
		{Name: "busy from eight on", Servers: "R1*3 R .*16", Rate: 8, Spawn: 8, Retire: nobody, NextRate: 16,
			Note: "server seems busy, (you may need to increase StartServers, or the Min/MaxSpare settings), spawning 8 children, there are 1 idle, and 4 total children"},
		{Name: "the limit cuts the rate", Servers: "R1*13 .*7", Rate: 32, Spawn: 3, Retire: nobody, NextRate: 32, Note: "server seems busy"},
		{Name: "limit reached", Servers: "R1*16 .*4", Rate: 16, Retire: nobody, NextRate: 1, Note: "server reached MaxRequestWorkers setting"},
		{Name: "limit reached and said", Servers: "R1*16 .*4", Said: said(mpm.NoteReached), Retire: nobody, NextRate: 1},
		{Name: "leaving counts against the limit", Servers: "R1*12 L*4 .*4", Retire: nobody, NextRate: 1, Note: "server reached MaxRequestWorkers setting"},
		{Name: "a limit that is exceeded", Servers: "R1*18 .*2", Said: said(mpm.NoteReached), Retire: nobody, NextRate: 1},
		{Name: "on hold", Servers: "R1*3 .*17", Rate: 4, Hold: true, Retire: nobody, NextRate: 1},
		{Name: "on hold some may still go", Servers: "R*5 .*15", Hold: true, Retire: 4, NextRate: 1},
	})
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want Config
	}{
		{"defaults", Config{}, Config{5, 5, 10, 256, 256, 0}},
		{"server limit", Config{ServerLimit: 50}, Config{5, 5, 10, 50, 50, 0}},
		{"spare servers", Config{MinSpareServers: 20, MaxSpareServers: 3}, Config{5, 20, 21, 256, 256, 0}},
		{"start servers", Config{StartServers: 99, MaxRequestWorkers: 3}, Config{3, 5, 10, 256, 3, 0}},
	} {
		if got, err := c.in.withDefaults(); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	for name, c := range map[string]Config{
		"negative":     {MinSpareServers: -1},
		"limit":        {ServerLimit: maxServerLimit + 1},
		"workers":      {ServerLimit: 3, MaxRequestWorkers: 4},
		"negative max": {MaxConnectionsPerChild: -1},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
