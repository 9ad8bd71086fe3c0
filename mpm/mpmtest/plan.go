//go:build unix

package mpmtest

import (
	"strconv"
	"strings"
	"testing"

	"jkd/mpm"
)

// PlanCase is one tick of idle maintenance.
type PlanCase struct {
	Name string
	// Servers has one word a server: "." free, "S" starting, "R" running,
	// "L" leaving, the latter two followed by the number of busy threads if
	// there are any. "R*10" stands for ten of them.
	Servers string
	Rate    int         // Pace.Rate before; 0: fresh
	Said    mpm.NoteSet // Pace.Said before
	Hold    bool

	Spawn    int
	Retire   int // mpm.Nobody, or an index
	NextRate int
	Note     string // beginning of the note; empty: none
}

// RunPlans checks a module's Plan against a table, and that it is pure.
func RunPlans(t *testing.T, plan func(mpm.View) mpm.Plan, cases []PlanCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			v := mpm.View{Servers: parseServers(t, c.Servers), Pace: mpm.Pace{Rate: c.Rate, Said: c.Said}, Hold: c.Hold}
			p := plan(v)
			if p.Spawn != c.Spawn || p.Retire != c.Retire || p.Pace.Rate != c.NextRate {
				t.Errorf("spawn %d retire %d rate %d, want %d %d %d", p.Spawn, p.Retire, p.Pace.Rate, c.Spawn, c.Retire, c.NextRate)
			}
			note := ""
			if p.Note != nil {
				note = p.Note.String()
			}
			if (c.Note == "") != (note == "") || !strings.HasPrefix(note, c.Note) {
				t.Errorf("note %q, want %q", note, c.Note)
			}
			again := plan(v)
			if again.Spawn != p.Spawn || again.Retire != p.Retire || again.Pace != p.Pace {
				t.Error("the same view gave another plan")
			}
		})
	}
}

func parseServers(t *testing.T, s string) (list []mpm.ServerView) {
	t.Helper()
	for _, word := range strings.Fields(s) {
		word, times, many := strings.Cut(word, "*")
		n := 1
		if many {
			n = atoi(t, times)
		}
		var v mpm.ServerView
		switch word[0] {
		case '.':
		case 'S':
			v.State = mpm.ServerStarting
		case 'R':
			v.State = mpm.ServerRunning
		case 'L':
			v.State = mpm.ServerLeaving
		default:
			t.Fatalf("server %q", word)
		}
		if len(word) > 1 {
			v.Busy = atoi(t, word[1:])
		}
		for range n {
			list = append(list, v)
		}
	}
	return list
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
