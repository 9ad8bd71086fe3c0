package lb

import (
	"time"

	"jkd/connector/jk/balance"
)

// How tells how a member was found.
type How uint8

// The ways.
const (
	None       How = iota // nobody is left for the request
	ByRoute               // the session's own
	ByRedirect            // the one that the session's own redirects to
	ByValue               // least lb_value
	ByOldest              // all have failed; this one longest ago
)

var howNames = []string{"none", "route", "redirect", "value", "oldest"}

// String returns a word for logs.
func (h How) String() string {
	if int(h) < len(howNames) {
		return howNames[h]
	}
	return "How(?)"
}

// Choice is the answer of [Table.Choose].
type Choice struct {
	Index int // of the member; -1 with None
	How   How
}

// Choose finds the member for the next attempt of a request. ids are the
// session ids of the request, nil for none; attempt is how often the request
// was tried already, from 0. The caller tells with Failed or Served how it went.
//
// With None there is nobody left to ask and the answer is noWorkerCode, or
// hwBalanceErr.
func (t *Table) Choose(ids *balance.IDs, attempt int, now time.Time) Choice {
	if t.settings.Sticky {
		for c := ids.Begin(); ; {
			id, ok := c.Next()
			if !ok {
				break
			}
			if x := t.session(id, attempt); x.Index >= 0 {
				return x
			}
		}
	}
	levels := Levels
	if t.settings.FirstLevelOnly {
		levels = 1
	}
	best, level := t.least(levels)
	t.recover(level, now)
	how := ByValue
	if best < 0 {
		best, how = t.oldest(levels, attempt), ByOldest
	}
	if best < 0 {
		return Choice{-1, None}
	}
	t.account(best)
	return Choice{best, how}
}

// session finds the member of a session: its route is what follows the last
// dot of the id. A member that failed is tried all the same, but only by
// requests that have not been anywhere yet.
func (t *Table) session(id balance.ID, attempt int) Choice {
	route := id.Last
	if route == nil {
		route = id.Route
	}
	if len(route) == 0 {
		return Choice{-1, None}
	}
	redirect := ""
	for i := range t.members {
		switch m := &t.members[i]; {
		case m.Route != string(route) || !m.used():
		case m.Redirect != "":
			redirect = m.Redirect
		case m.state == OK || attempt == 0:
			return Choice{i, ByRoute}
		}
	}
	if redirect == "" {
		return Choice{-1, None}
	}
	for i := range t.members {
		if m := &t.members[i]; m.Route == redirect && m.used() && (m.state == OK || attempt == 0) {
			return Choice{i, ByRedirect}
		}
	}
	return Choice{-1, None}
}

// least finds the ready member with the least value on the lowest of so many
// levels that has one.
func (t *Table) least(levels int) (index, level int) {
	index, level = -1, levels
	for i := range t.members {
		m := &t.members[i]
		if m.Level >= level && (index < 0 || m.Level > level) || !m.ready() {
			continue
		}
		if index < 0 || m.Level < level || m.value < t.members[index].value {
			index, level = i, m.Level
		}
	}
	return index, level
}

// recover lets members up to a level that failed long enough ago take part
// from the next request on, behind the others.
func (t *Table) recover(level int, now time.Time) {
	for i := range t.members {
		m := &t.members[i]
		if m.state == Failing && m.Level <= level && m.used() && now.Sub(m.failed) > t.settings.Recovery {
			t.last(i)
			m.state = OK
		}
	}
}

// oldest finds the member that failed longest ago, as long as there are more
// of them than attempts were made.
func (t *Table) oldest(levels, attempt int) int {
	best, n := -1, 0
	for i := range t.members {
		m := &t.members[i]
		if m.Level >= levels || !m.open() {
			continue
		}
		n++
		if best < 0 || m.order < t.members[best].order {
			best = i
		}
	}
	if attempt >= n {
		return -1
	}
	return best
}

// most is the value at which those of a level are lowered.
const most = 255

// account enters that a member was chosen.
func (t *Table) account(i int) {
	m := &t.members[i]
	m.state = OK
	if m.value == 0 {
		return
	}
	if m.value += m.Factor; m.value > most {
		t.lower(m.Level)
	}
}

// lower takes off the values of a level what those that get requests have in
// common above their factors.
func (t *Table) lower(level int) {
	by := -1
	for i := range t.members {
		m := &t.members[i]
		if m.Level == level && m.ready() && m.Factor > 0 && (by < 0 || m.value-m.Factor < by) {
			by = m.value - m.Factor
		}
	}
	for i := range t.members {
		if m := &t.members[i]; m.Level == level && by > 0 {
			m.value = max(m.value-by, m.Factor)
		}
	}
}
