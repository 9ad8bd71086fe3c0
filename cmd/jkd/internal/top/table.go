package top

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"jkd/cmd/jkd/internal/status"
	"jkd/connector/counters"
	"jkd/scoreboard"
)

// column is one of a table.
type column struct {
	title string
	text  bool // to the left, sorted as text; else a number, largest first
}

var columns = [numTables][]column{
	Slots: {{"SRV", false}, {"PID", false}, {"S", true}, {"SS", false}, {"REQ", false}, {"ACC", false}, {"BYTES", false},
		{"CLIENT", true}, {"VHOST", true}, {"REQUEST", true}},
	Children: {{"SRV", false}, {"PID", false}, {"GEN", false}, {"AGE", false}, {"CPU", false}, {"BUSY", false}, {"IDLE", false},
		{"ACC", false}, {"REQ/S", false}, {"CACHED", false}, {"INUSE", false}, {"HITS", false}, {"OLDEST", false}, {"STATE", true}},
	Workers: {{"WORKER", true}, {"BY", true}, {"REQUESTS", false}, {"REQ/S", false}, {"MEAN", false}, {"5XX", false}, {"ERRORS", false},
		{"ABORTED", false}, {"CACHED", false}, {"INUSE", false}, {"HITS", false}, {"OPENED", false}, {"CLOSED", false}, {"REFUSED", false}},
	Balancers: {{"BALANCER", true}, {"MEMBER", true}, {"ADDRESS", true}, {"ACT", true}, {"STATE", true}, {"FACTOR", false},
		{"ELECTED", false}, {"ERRORS", false}, {"BUSY", false}, {"LASTERR", false}},
}

// initialSorts are what is looked for first: what runs longest, what works
// most, what is sick. Slots, in order, are sorted by state.
func initialSorts() [numTables]Sort {
	return [numTables]Sort{Slots: {Column: 4}, Children: {Column: 8}, Workers: {Column: 3}, Balancers: {Column: 0}}
}

// cell is what is shown and what it is sorted by.
type cell struct {
	show string
	by   float64 // of numbers
}

// row is a line of a table.
type row struct {
	cells []cell
	style Style
}

func text(s string) cell { return cell{show: clean(s)} }

func number(n int) cell { return cell{strconv.Itoa(n), float64(n)} }

func counted(n uint64) cell { return cell{count(n), float64(n)} }

func lasting(d time.Duration) cell { return cell{span(d), d.Seconds()} }

func perSecond(f float64, known bool) cell {
	if !known {
		return cell{"-", -1}
	}
	return cell{rate(f), f}
}

func share(part, whole uint64) cell {
	if whole == 0 {
		return cell{"-", -1}
	}
	return cell{percent(part, whole), float64(part) / float64(whole)}
}

// ago is a moment, sorted by how long ago it was.
func ago(now, t time.Time) cell {
	if t.IsZero() {
		return cell{"-", -1}
	}
	return cell{since(now, t), now.Sub(t).Seconds()}
}

// rows are those of the view's table, sorted.
func rows(s *status.Status, r *rates, v *View) (list []row) {
	switch v.Table {
	case Slots:
		list = slotRows(s, v.All)
	case Children:
		list = childRows(s, r)
	case Workers:
		list = workerRows(s, r)
	case Balancers:
		list = memberRows(s)
	}
	order(list, columns[v.Table], *v.sort())
	return list
}

// order sorts numbers with the largest first, texts from A, both as they came
// where they are equal.
func order(list []row, cols []column, by Sort) {
	at := by.Column
	slices.SortStableFunc(list, func(a, b row) int {
		x, y := a.cells[at], b.cells[at]
		n := cmp.Compare(y.by, x.by)
		if cols[at].text {
			n = strings.Compare(x.show, y.show)
		}
		if by.Reverse {
			return -n
		}
		return n
	})
}

func slotRows(s *status.Status, all bool) (list []row) {
	for i := range s.Slots {
		t := &s.Slots[i]
		if !all && (t.Status <= scoreboard.Ready || !t.Status.Valid()) {
			continue
		}
		server := cell{strconv.Itoa(t.Server) + "-" + strconv.Itoa(t.Thread), -float64(t.Server)*1e6 - float64(t.Thread)}
		busy := cell{"-", -1}
		if working(t.Status) {
			busy = lasting(t.SinceLastUsed)
		}
		list = append(list, row{[]cell{
			server, number(t.PID), {show: string(t.Status.Letter())}, lasting(t.SinceLastUsed), withLast(busy, t), counted(t.SlotAccesses),
			{size(t.SlotBytes), float64(t.SlotBytes)}, text(t.Client), text(t.VHost), text(t.Request),
		}, styleOf(t.Status)})
	}
	return list
}

// withLast is how long the request runs that a slot has, or how long the last
// one took; those that run come first.
func withLast(busy cell, t *status.Slot) cell {
	if busy.by >= 0 {
		busy.by += 1e9
		return busy
	}
	return lasting(t.LastRequest)
}

// working tells whether a slot has a request.
func working(s scoreboard.Status) bool {
	return s == scoreboard.BusyRead || s == scoreboard.BusyWrite || s == scoreboard.Logging || s == scoreboard.Graceful
}

func childRows(s *status.Status, r *rates) (list []row) {
	for i := range s.Children {
		c := &s.Children[i]
		var sum counters.Cache
		for _, k := range c.Caches {
			sum.Hits, sum.Misses = sum.Hits+k.Hits, sum.Misses+k.Misses
			sum.Idle, sum.Busy = sum.Idle+k.Idle, sum.Busy+k.Busy
			if !k.Oldest.IsZero() && (sum.Oldest.IsZero() || k.Oldest.Before(sum.Oldest)) {
				sum.Oldest = k.Oldest
			}
		}
		state, style := "", Plain
		switch {
		case c.Quiescing:
			state, style = "leaving", Dim
		case c.NotAccepting:
			state, style = "not accepting", Warm
		case c.Busy > 0:
			style = Good
		}
		list = append(list, row{[]cell{
			{strconv.Itoa(c.Server), -float64(c.Server)}, number(c.PID), number(int(c.Generation)), ago(s.Server.Now, c.Started), lasting(c.CPU),
			number(c.Busy), number(c.Idle), counted(c.Accesses), perSecond(r.children[c.Server], r.known),
			number(sum.Idle), number(sum.Busy), share(sum.Hits, sum.Hits+sum.Misses), ago(s.Server.Now, sum.Oldest), text(state),
		}, style})
	}
	return list
}

func workerRows(s *status.Status, r *rates) (list []row) {
	for i := range s.Workers {
		w := &s.Workers[i]
		n := requests(w)
		mean := cell{"-", -1}
		if n > 0 {
			mean = lasting(w.Duration / time.Duration(n))
		}
		var closed uint64
		for _, k := range w.Cache.Closed {
			closed += k
		}
		k := &w.Cache
		style := Plain
		if w.Errors > 0 {
			style = Warm
		}
		list = append(list, row{[]cell{
			text(w.Name), text(w.Connector), counted(n), perSecond(r.workers[key(w)], r.known), mean, counted(w.Requests[counters.Class5xx]),
			counted(w.Errors), counted(w.Requests[counters.Aborted]), number(k.Idle), number(k.Busy), share(k.Hits, k.Hits+k.Misses),
			counted(k.Opened), counted(closed), counted(k.Refused),
		}, style})
	}
	return list
}

func memberRows(s *status.Status) (list []row) {
	for i := range s.Balancers {
		b := &s.Balancers[i]
		for j := range b.Members {
			m := &b.Members[j]
			style := Plain
			switch {
			case m.Sick:
				style = Bad
			case m.Busy > 0:
				style = Good
			}
			list = append(list, row{[]cell{
				text(b.Name), text(m.Name), text(m.Address), text(m.Activation), text(m.State), number(m.Factor),
				counted(m.Elected), counted(m.Errors), number(m.Busy), ago(s.Server.Now, m.LastError),
			}, style})
		}
	}
	return list
}
