package status

import (
	"fmt"
	"strconv"
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// pageTable is a table that can be sorted.
type pageTable struct {
	ID, Title, Note string
	None            string // what is said if there are no rows
	Columns         []pageColumn
	Rows            []pageRow
}

type pageColumn struct {
	Name, Title string
	Number      bool
}

type pageRow struct {
	Class string
	Cells []pageValue
}

// pageValue is a cell; Key sorts it if Text does not.
type pageValue struct{ Text, Key, Class string }

func cellText(s string) pageValue             { return pageValue{Text: oneLine(s)} }
func cellCount[N int | uint64](n N) pageValue { return pageValue{Text: fmt.Sprint(n)} }

// cellNone is a value that there is not; it sorts last.
var cellNone = pageValue{Text: "-"}

func cellSpent(d time.Duration) pageValue {
	return pageValue{Text: millisWords(float64(d)), Key: strconv.FormatInt(int64(d), 10)}
}

func cellAge(d time.Duration) pageValue {
	d = max(d, 0)
	return pageValue{Text: ageWords(d), Key: strconv.FormatInt(int64(d/time.Second), 10)}
}

func cellSize(n uint64) pageValue {
	return pageValue{Text: byteText(n), Key: strconv.FormatUint(n, 10)}
}

// cellShare is a percentage of hits.
func cellShare(hits, misses uint64) pageValue {
	if hits+misses == 0 {
		return cellNone
	}
	x := float64(hits) / (float64(hits) + float64(misses)) * 100
	return pageValue{Text: fmt.Sprintf("%.1f %%", x), Key: strconv.FormatFloat(x, 'f', 3, 64)}
}

// cellBad marks a number that should be 0.
func cellBad(n uint64) pageValue {
	v := cellCount(n)
	if n > 0 {
		v.Class = "bad"
	}
	return v
}

func columns(names ...string) (out []pageColumn) {
	for _, n := range names {
		c := pageColumn{Name: n, Number: true}
		if n[0] == '=' { // a text
			c.Name, c.Number = n[1:], false
		}
		c.Title = columnTitles[c.Name]
		out = append(out, c)
	}
	return out
}

// columnTitles say what a column is where its name does not.
var columnTitles = map[string]string{
	"Srv":        "Child Server number - generation",
	"PID":        "OS process ID",
	"Acc":        "Number of accesses this connection / this child / this slot",
	"M":          "Mode of operation",
	"CPU":        "CPU usage of the child, number of seconds",
	"SS":         "Seconds since beginning of most recent request",
	"Req":        "Milliseconds required to process most recent request",
	"Dur":        "Sum of milliseconds required to process all requests",
	"Conn":       "Kilobytes transferred this connection",
	"Child":      "Megabytes transferred this child",
	"Slot":       "Total megabytes transferred this slot",
	"Errors":     "Failures of the back end",
	"Aborted":    "The client had left, or the answer was broken off",
	"p50":        "Half of the requests took no longer (estimated)",
	"p95":        "95 of 100 requests took no longer (estimated)",
	"p99":        "99 of 100 requests took no longer (estimated)",
	"Hit rate":   "Requests that found a connection in the cache",
	"Cached":     "Connections that wait for a request",
	"In use":     "Connections that a request has",
	"Hits":       "Requests that reused a connection",
	"Misses":     "Requests that had to open a connection",
	"Refused":    "Requests that got no connection, all being in use",
	"Oldest":     "How long the connection that waits longest has waited",
	"Activation": "ACT active, DIS disabled, STP stopped",
	"Elected":    "Requests given to this member",
	"Factor":     "Share of the work, as configured",
}

func membersTable(s *Status) pageTable {
	t := pageTable{ID: "members", Title: "Balancer members", None: "There are no balancers.",
		Columns: columns("=Balancer", "=Method", "=Member", "=Address", "=Activation", "=State", "Factor", "Elected", "Errors", "Busy", "Last error")}
	for _, b := range s.Balancers {
		name := b.Name
		if name == "" {
			name = "-"
		}
		for _, m := range b.Members {
			r := pageRow{}
			state := cellText(m.State)
			if m.Sick {
				r.Class, state.Class = "sick", "bad"
				state.Text += " (sick)"
			}
			last := cellNone
			if !m.LastError.IsZero() {
				last = cellAge(s.Server.Now.Sub(m.LastError))
				last.Text += " ago"
			}
			r.Cells = []pageValue{cellText(name), cellText(b.Method), cellText(m.Name), cellText(m.Address), cellText(m.Activation), state,
				cellCount(m.Factor), cellCount(m.Elected), cellBad(m.Errors), cellCount(m.Busy), last}
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}

func workersTable(s *Status) pageTable {
	t := pageTable{ID: "workers", Title: "Workers", Note: "All children together; “-” is what jkd answers itself. Percentiles are estimated.", None: "No requests yet.",
		Columns: columns("=Worker", "=Connector", "Requests", "1xx", "2xx", "3xx", "4xx", "5xx", "Aborted", "Errors", "Mean", "p50", "p95", "p99", "Traffic",
			"Hit rate", "Open", "Idle", "Busy", "Refused")}
	for i := range s.Workers {
		w := &s.Workers[i]
		var all uint64
		for _, n := range w.Requests {
			all += n
		}
		mean := cellNone
		if all > 0 {
			mean = cellSpent(w.Duration / time.Duration(min(all, 1<<62)))
		}
		r := []pageValue{cellText(w.Name), cellText(w.Connector), cellCount(all)}
		for c, n := range w.Requests {
			if c == counters.Class5xx {
				r = append(r, cellBad(n))
			} else {
				r = append(r, cellCount(n))
			}
		}
		r = append(r, cellBad(w.Errors), mean)
		for _, q := range []float64{.5, .95, .99} {
			r = append(r, percentile(w, q))
		}
		r = append(r, cellSize(w.Bytes))
		if c := &w.Cache; w.Name == "-" {
			r = append(r, cellNone, cellNone, cellNone, cellNone, cellNone)
		} else {
			r = append(r, cellShare(c.Hits, c.Misses), cellCount(c.Idle+c.Busy), cellCount(c.Idle), cellCount(c.Busy), cellBad(c.Refused))
		}
		t.Rows = append(t.Rows, pageRow{Cells: r})
	}
	return t
}

func percentile(w *Worker, q float64) pageValue {
	d, more, ok := quantile(&w.Durations, q)
	if !ok {
		return cellNone
	}
	v := cellSpent(d)
	if more {
		v.Text = "> " + v.Text
	}
	return v
}

func childrenTable(s *Status) pageTable {
	t := pageTable{ID: "children", Title: "Children", None: "No child lives.",
		Columns: columns("Server", "PID", "Generation", "Age", "=State", "CPU", "Busy", "Idle", "Accesses")}
	for i := range s.Children {
		c := &s.Children[i]
		state := "accepting"
		switch {
		case c.Quiescing:
			state = "leaving"
		case c.NotAccepting:
			state = "not accepting"
		}
		t.Rows = append(t.Rows, pageRow{Cells: []pageValue{cellCount(c.Server), cellCount(c.PID), cellCount(int(c.Generation)), childAge(s, c), cellText(state),
			{Text: fmt.Sprintf("%.2f", c.CPU.Seconds())}, cellCount(c.Busy), cellCount(c.Idle), cellCount(c.Accesses)}})
	}
	return t
}

func childAge(s *Status, c *Child) pageValue {
	if c.Started.IsZero() {
		return cellNone
	}
	return cellAge(s.Server.Now.Sub(c.Started))
}

func cachesTable(s *Status) pageTable {
	t := pageTable{ID: "caches", Title: "Connection caches", Note: "Each child keeps connections of its own to each worker.", None: "No child has used a worker yet.",
		Columns: columns("Server", "PID", "=Worker", "Cached", "In use", "Hits", "Misses", "Hit rate", "Opened", "Closed", "Refused", "Oldest")}
	for i := range s.Children {
		c := &s.Children[i]
		for j := range c.Caches {
			x := &c.Caches[j]
			oldest := cellNone
			if !x.Oldest.IsZero() && x.Idle > 0 {
				oldest = cellAge(s.Server.Now.Sub(x.Oldest))
			}
			t.Rows = append(t.Rows, pageRow{Cells: []pageValue{cellCount(c.Server), cellCount(c.PID), cellText(x.Worker), cellCount(x.Idle), cellCount(x.Busy),
				cellCount(x.Hits), cellCount(x.Misses), cellShare(x.Hits, x.Misses), cellCount(x.Opened), cellCount(closed(&x.Cache)), cellBad(x.Refused), oldest}})
		}
	}
	return t
}

func closed(c *counters.Cache) (n uint64) {
	for _, x := range c.Closed {
		n += x
	}
	return n
}

func closedTable(s *Status) pageTable {
	t := pageTable{ID: "closed", Title: "Connections closed, by reason", None: "No connection has been opened.",
		Columns: columns("=Worker", "Opened", "Closed")}
	for i := range counters.NumCloseReasons {
		t.Columns = append(t.Columns, pageColumn{Name: i.String(), Number: true})
	}
	for i := range s.Workers {
		w := &s.Workers[i]
		if w.Cache.Opened == 0 && closed(&w.Cache) == 0 {
			continue
		}
		r := []pageValue{cellText(w.Name), cellCount(w.Cache.Opened), cellCount(closed(&w.Cache))}
		for _, n := range w.Cache.Closed {
			r = append(r, cellCount(n))
		}
		t.Rows = append(t.Rows, pageRow{Cells: r})
	}
	return t
}

// slotsTable is mod_status's table.
func slotsTable(slots []Slot) pageTable {
	t := pageTable{ID: "slots", Title: "Slots", None: "No slot has been used.",
		Columns: columns("Srv", "PID", "=Acc", "=M", "CPU", "SS", "Req", "Dur", "Conn", "Child", "Slot", "=Client", "=Protocol", "=VHost", "=Request")}
	for i := range slots {
		x := &slots[i]
		if !x.shown() {
			continue
		}
		class, _ := stateName(x.Status)
		pid := cellNone
		if x.Status != scoreboard.Dead {
			pid = cellCount(x.PID)
		}
		state := pageValue{Text: string(x.Status.Letter()), Class: "m " + class}
		row := pageRow{Cells: []pageValue{
			{Text: fmt.Sprintf("%d-%d", x.Server, x.Generation), Key: strconv.Itoa(x.Server)}, pid,
			{Text: fmt.Sprintf("%d/%d/%d", x.ConnAccesses, x.ChildAccesses, x.SlotAccesses), Key: strconv.FormatUint(x.SlotAccesses, 10)},
			state, {Text: fmt.Sprintf("%.2f", x.CPU.Seconds())},
			cellCount(int(x.SinceLastUsed / time.Second)), cellCount(int(max(x.LastRequest, 0).Milliseconds())), cellCount(int(x.Duration.Milliseconds())),
			{Text: fmt.Sprintf("%.1f", float64(x.ConnBytes)/1024)}, {Text: fmt.Sprintf("%.2f", float64(x.ChildBytes)/(1<<20))}, {Text: fmt.Sprintf("%.2f", float64(x.SlotBytes)/(1<<20))},
			cellText(x.Client), cellText(x.Protocol), cellText(x.VHost), cellText(x.Request),
		}}
		if x.Torn {
			row.Class = "torn"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// slotLine is a slot of ?notable.
type slotLine struct{ Server, Before, State, After, Client, Request, Protocol, VHost string }

func slotLines(slots []Slot) (out []slotLine) {
	for i := range slots {
		x := &slots[i]
		if !x.shown() {
			continue
		}
		pid := "-"
		if x.Status != scoreboard.Dead {
			pid = strconv.Itoa(x.PID)
		}
		_, name := stateName(x.Status)
		out = append(out, slotLine{
			Server: fmt.Sprintf("Server %d-%d", x.Server, x.Generation),
			Before: fmt.Sprintf(" (%s): %d|%d|%d [", pid, x.ConnAccesses, x.ChildAccesses, x.SlotAccesses),
			State:  name,
			After: fmt.Sprintf("] CPU %.2f\n %d %d %d (%s|%s|%s)", x.CPU.Seconds(), x.SinceLastUsed/time.Second, max(x.LastRequest, 0).Milliseconds(), x.Duration.Milliseconds(),
				byteText(x.ConnBytes), byteText(x.ChildBytes), byteText(x.SlotBytes)),
			Client: oneLine(x.Client), Request: oneLine(x.Request), Protocol: oneLine(x.Protocol), VHost: oneLine(x.VHost),
		})
	}
	return out
}
