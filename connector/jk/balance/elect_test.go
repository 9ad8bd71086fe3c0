package balance

import (
	"fmt"
	"testing"
)

// lb makes members n1, n2, ... of equal factors, all of them usable.
func lb(n int) []Member {
	members := make([]Member, n)
	for i := range members {
		members[i] = Member{Route: fmt.Sprintf("n%d", i+1), Factor: 1}
	}
	Multipliers(members)
	return members
}

func TestElect(t *testing.T) {
	for _, tt := range []struct {
		name      string
		edit      func(m []Member)
		from      int
		stateless bool
		want      int
	}{
		{name: "equal: the first from 0", want: 0},
		{name: "equal: the first from 2", from: 2, want: 2},
		{name: "from behind the end", from: 3, want: 0},
		{name: "from anywhere", from: 1 << 40, want: 1<<40 - (1<<40)/3*3},
		{name: "from before the beginning", from: -1, want: 2},
		{name: "lowest value", edit: func(m []Member) { m[0].Value, m[1].Value, m[2].Value = 5, 3, 4 }, want: 1},
		{name: "lowest value, tie in scan order", edit: func(m []Member) { m[1].Value = 3 }, from: 1, want: 2},
		{name: "lowest value, tie goes around", edit: func(m []Member) { m[2].Value = 3 }, from: 2, want: 0},
		{name: "distance before value", edit: func(m []Member) { m[0].Distance, m[2].Distance, m[1].Value = 1, 1, 100 }, want: 1},
		{name: "negative distance", edit: func(m []Member) { m[2].Distance = -1 }, want: 2},
		{name: "near one unusable", edit: func(m []Member) { m[0].Distance, m[2].Distance = 1, 1; m[1].State, m[0].Value = Error, 1 }, want: 2},
		{name: "stateless: values do not count", edit: func(m []Member) { m[0].Value, m[1].Value = 5, 1 }, stateless: true, want: 0},
		{name: "stateless: distance does", edit: func(m []Member) { m[0].Distance = 1 }, stateless: true, want: 1},
		{name: "disabled", edit: func(m []Member) { m[0].Activation = Disabled }, want: 1},
		{name: "stopped", edit: func(m []Member) { m[0].Activation = Stopped }, want: 1},
		{name: "activation is none", edit: func(m []Member) { m[0].Activation = 77 }, want: 1},
		{name: "failed before", edit: func(m []Member) { m[0].Failed = true }, want: 1},
		{name: "idle, recover, force are usable", edit: func(m []Member) {
			m[0].State, m[1].State, m[2].State = Force, Recover, Idle
			m[0].Value, m[2].Value = 1, 1
		}, want: 1},
		{name: "busy, error, probe are not", edit: func(m []Member) { m[0].State, m[1].State, m[2].State = Busy, Error, Probe }, want: -1},
		{name: "state is none", edit: func(m []Member) { m[0].State = 99 }, want: 1},
	} {
		m := lb(3)
		if tt.edit != nil {
			tt.edit(m)
		}
		if got := Elect(m, tt.from, tt.stateless); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := Elect(nil, 7, false); got != -1 {
		t.Errorf("no members: %d", got)
	}
}

// TestElectRoundRobin: with equal values, and always when stateless, everybody
// has a turn.
func TestElectRoundRobin(t *testing.T) {
	m := lb(4)
	m[2].Activation = Stopped
	m[3].Value = 9
	from, order := 0, ""
	for range 6 {
		i := Elect(m, from, true)
		from, order = i+1, order+m[i].Route
	}
	if order != "n1n2n4n1n2n4" {
		t.Error(order)
	}
}

func TestForceAll(t *testing.T) {
	m := lb(7)
	for i := range m {
		m[i].State, m[i].Failed = State(i), true
	}
	if n := ForceAll(m); n != 1 {
		t.Errorf("%d members, want 1", n)
	}
	for i := range m {
		want, failed := State(i), true
		if want == Error {
			want, failed = Force, false
		}
		if m[i].State != want || m[i].Failed != failed {
			t.Errorf("%s: %s, failed %v", State(i), m[i].State, m[i].Failed)
		}
	}
}
