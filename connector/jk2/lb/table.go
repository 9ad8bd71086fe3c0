package lb

import (
	"fmt"
	"time"
)

// Levels is how many levels there are.
const Levels = 4

// Settings are those of a balancer.
type Settings struct {
	Sticky   bool          // stickySession
	Recovery time.Duration // recovery: how long a worker that failed is left alone
	// FirstLevelOnly is hwBalanceErr: requests without a session get workers
	// of level 0 only.
	FirstLevelOnly bool
}

// Member is what is configured for one worker of the balancer.
type Member struct {
	Route    string // compared with that of a session, "" has none
	Redirect string // routeRedirect: sessions of Route go to that route, "" for none
	Factor   int    // lb_factor, not negative; 0 takes everything of its level
	// Level is level, from 0; a member with one that does not exist gets
	// nothing.
	Level    int
	Disabled bool // gets nothing
	Graceful bool // gets requests of its sessions only
}

// State is what the balancer thinks of a worker. The next state of OK is
// Failing, when a request fails; that of Failing is OK, when one succeeds, when
// the worker is chosen for want of others, or when recovery is over.
type State uint8

// The states.
const (
	OK State = iota
	Failing
)

// String returns "ok" or "error".
func (s State) String() string {
	switch s {
	case OK:
		return "ok"
	case Failing:
		return "error"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// member is a Member and how it does.
type member struct {
	Member
	value int // lb_value
	state State
	// failed is when state became Failing, order its number among the
	// failures of the table.
	failed time.Time
	order  uint64
}

// open tells whether m may get a request that has no session.
func (m *member) open() bool { return m.used() && !m.Graceful }

// used tells whether m may get anything.
func (m *member) used() bool { return !m.Disabled && m.Level < Levels }

// ready is open without an error.
func (m *member) ready() bool { return m.open() && m.state == OK }

// Table is the members of one balancer in one process. Its methods may not be
// called concurrently.
type Table struct {
	settings Settings
	members  []member
	failures uint64
}

// NewTable returns the table of a balancer whose workers have not been tried.
// The order of members decides between equals.
func NewTable(s Settings, members []Member) *Table {
	t := &Table{settings: s, members: make([]member, len(members))}
	for i, m := range members {
		t.members[i] = member{Member: m, value: m.Factor}
	}
	return t
}

// Set changes settings and members of a table: those of a configuration that
// was read again. Member i becomes what old member from[i] was, or is new if
// that is -1. What is known of members stays; a new lb_factor counts from now
// on.
func (t *Table) Set(s Settings, members []Member, from []int) {
	old := t.members
	t.settings, t.members = s, make([]member, len(members))
	for i, m := range members {
		n := member{Member: m, value: m.Factor}
		if j := from[i]; j >= 0 {
			n.value, n.state, n.failed, n.order = old[j].value, old[j].state, old[j].failed, old[j].order
			if (n.value == 0) != (m.Factor == 0) || n.value < m.Factor {
				n.value = m.Factor
			}
		}
		t.members[i] = n
	}
	for i := range t.members {
		// Who is new on a level does not have to make up for what the others
		// served before.
		if from[i] < 0 || old[from[i]].Level != members[i].Level || old[from[i]].Disabled && !members[i].Disabled {
			t.last(i)
		}
	}
}

// last puts a member behind the others of its level.
func (t *Table) last(i int) {
	m := &t.members[i]
	if m.Factor == 0 {
		return
	}
	for j := range t.members {
		if o := &t.members[j]; o.Level == m.Level && o.ready() {
			m.value = max(m.value, o.value)
		}
	}
}

// Len is how many members there are.
func (t *Table) Len() int { return len(t.members) }

// Status is how a member does, for display.
type Status struct {
	Value int // lb_value
	State State
	// Failed is when it failed last, the zero time if it is OK.
	Failed time.Time
}

// Status returns how member i does.
func (t *Table) Status(i int) Status {
	m := &t.members[i]
	s := Status{Value: m.value, State: m.state}
	if m.state == Failing {
		s.Failed = m.failed
	}
	return s
}

// Failed enters that a request to member i failed for a reason that lies with
// the member.
func (t *Table) Failed(i int, now time.Time) {
	t.failures++
	m := &t.members[i]
	m.state, m.failed, m.order = Failing, now, t.failures
}

// Served enters that member i has served a request.
func (t *Table) Served(i int) { t.members[i].state = OK }
