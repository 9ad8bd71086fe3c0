package top

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"jkd/cmd/jkd/internal/status"
	"jkd/connector/counters"
	"jkd/scoreboard"
)

// Style is how a piece of text is set off.
type Style uint8

// The styles.
const (
	Plain Style = iota
	Dim         // of no interest
	Bold        // names
	Head        // of tables
	Good        // works
	Warm        // look at it
	Bad         // something is wrong
	numStyles
)

// Span is text of one style, printable and each character one cell wide.
type Span struct {
	Text  string
	Style Style
}

// Line is one of the screen.
type Line []Span

// String is the text alone, without blanks at its end.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// Frame is the screen that shows s. prev is the snapshot before, for the
// rates; nil: there is none. No line is wider, and no more lines are returned,
// than the view allows. A Scroll beyond the end is put right.
func Frame(s, prev *status.Status, v *View) []Line {
	if v.Help {
		return fit(help(), v)
	}
	r := compare(s, prev)
	lines := []Line{title(s, v), load(s, &r), slotLine(s)}
	lines = append(lines, chart(s.History, v)...)
	lines = append(lines, board(s.Slots, v)...)
	lines = append(lines, sick(s)...)
	lines = append(lines, tabs(v))
	list := rows(s, &r, v)
	room := len(list)
	if v.Height > 0 {
		room = max(v.Height-len(lines)-1, 0) // the head of the table
		if v.Note != "" {
			room = max(room-1, 0)
		}
	}
	v.Scroll = max(min(v.Scroll, len(list)-room), 0)
	lines = append(lines, table(list[v.Scroll:min(v.Scroll+room, len(list))], list, v)...)
	if len(list) == 0 {
		lines = append(lines, Line{{none(v), Dim}})
	}
	if v.Note != "" {
		if v.Height > 0 {
			lines = lines[:min(len(lines), v.Height-1)]
		}
		lines = append(lines, Line{{clean(v.Note), Bad}})
	}
	return fit(lines, v)
}

func title(s *status.Status, v *View) Line {
	t := &s.Server
	l := Line{{clean(t.Version), Bold}, {fmt.Sprintf("  %s  %s  pid %d  generation %d  up %s  load %.2f %.2f %.2f",
		clean(t.Name), clean(t.MPM), t.MasterPID, t.Generation, span(t.Uptime()), t.Load[0], t.Load[1], t.Load[2]), Plain}}
	if v.Paused {
		l = append(l, Span{"  paused", Warm})
	}
	return l
}

func load(s *status.Status, r *rates) Line {
	t := &s.Totals
	if !r.known {
		return Line{{fmt.Sprintf("%s requests  %s sent  cpu %s", count(t.Accesses), size(t.Bytes), span(cpu(s))), Plain}}
	}
	return Line{{rate(r.requests) + " req/s", Bold}, {fmt.Sprintf("  %s/s  mean %s  cpu %.1f%%   total %s requests  %s",
		size(uint64(r.bytes)), span(r.latency), 100*r.cpu, count(t.Accesses), size(t.Bytes)), Plain}}
}

func slotLine(s *status.Status) Line {
	t := &s.Totals
	l := Line{{fmt.Sprintf("%d busy", t.Busy), Good}, {fmt.Sprintf("  %d idle  of %d", t.Idle, s.Limits.MaxRequestWorkers), Plain}}
	if t.Graceful > 0 {
		l = append(l, Span{fmt.Sprintf("  %d leaving", t.Graceful), Dim})
	}
	l = append(l, Span{fmt.Sprintf("  %d children", len(s.Children)), Plain})
	if s.Limits.MaxRequestWorkers > 0 && t.Busy >= s.Limits.MaxRequestWorkers {
		l = append(l, Span{"  MaxRequestWorkers is reached", Bad})
	}
	return l
}

// chart is a line of bars, one for each of the last seconds.
func chart(h []counters.Second, v *View) []Line {
	bars := []rune(" ▁▂▃▄▅▆▇█")
	if v.ASCII {
		bars = []rune(" .:-=+*#@")
	}
	width := 60
	if v.Width > 0 {
		width = min(max(v.Width-20, 0), counters.HistorySeconds)
	}
	h = h[max(len(h)-width, 0):]
	if len(h) == 0 {
		return nil
	}
	most := uint64(1)
	for _, s := range h {
		most = max(most, s.Requests)
	}
	var b strings.Builder
	for _, s := range h {
		i := int(float64(s.Requests) / float64(most) * float64(len(bars)-1))
		if s.Requests > 0 {
			i = max(i, 1)
		}
		b.WriteRune(bars[min(i, len(bars)-1)])
	}
	return []Line{{{"req/s ", Dim}, {b.String(), Good}, {" max " + count(most), Dim}}}
}

// maxBoard is how many lines of letters are shown at the most.
const maxBoard = 3

// board is the scoreboard's letters.
func board(slots []status.Slot, v *View) (lines []Line) {
	width := 80
	if v.Width > 0 {
		width = v.Width
	}
	for i := 0; i < len(slots) && len(lines) < maxBoard; i += width {
		var l Line
		for _, t := range slots[i:min(i+width, len(slots))] {
			style := styleOf(t.Status)
			if n := len(l); n > 0 && l[n-1].Style == style {
				l[n-1].Text += string(t.Status.Letter())
				continue
			}
			l = append(l, Span{string(t.Status.Letter()), style})
		}
		lines = append(lines, l)
	}
	return lines
}

func styleOf(s scoreboard.Status) Style {
	switch {
	case s == scoreboard.Dead || s == scoreboard.Graceful || s == scoreboard.IdleKill:
		return Dim
	case s == scoreboard.Ready || s == scoreboard.KeepAlive:
		return Plain
	case s == scoreboard.Starting || s == scoreboard.BusyRead || s == scoreboard.Closing:
		return Warm
	case s.Valid():
		return Good
	}
	return Bad
}

// sick names the members that do not get what they should.
func sick(s *status.Status) []Line {
	var names []string
	for i := range s.Balancers {
		for _, m := range s.Balancers[i].Members {
			if m.Sick {
				names = append(names, clean(m.Name)+" "+clean(m.State))
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Line{{{"sick: " + strings.Join(names, ", "), Bad}}}
}

// tabs names the tables.
func tabs(v *View) Line {
	l := Line{}
	for t := Slots; t < numTables; t++ {
		style := Dim
		if t == v.Table {
			style = Bold
		}
		l = append(l, Span{"[" + t.String()[:1] + "]" + t.String()[1:], style}, Span{"  ", Plain})
	}
	return append(l, Span{"[<>] sort  [h]elp  [q]uit", Dim})
}

// table is rows below their head. all are those that are not shown too: the
// columns do not move when the table is scrolled.
func table(shown, all []row, v *View) []Line {
	cols := columns[v.Table]
	widths := make([]int, len(cols))
	for i, c := range cols {
		widths[i] = len(c.title) + 1 // the mark of the order
	}
	for _, r := range all {
		for i, c := range r.cells {
			widths[i] = max(widths[i], len(c.show))
		}
	}
	head := make([]cell, len(cols))
	for i, c := range cols {
		head[i].show = c.title
		if i == v.sort().Column {
			mark := "v"
			if c.text != v.sort().Reverse {
				mark = "^"
			}
			head[i].show += mark
		}
	}
	lines := []Line{line(row{head, Head}, cols, widths)}
	for _, r := range shown {
		lines = append(lines, line(r, cols, widths))
	}
	return lines
}

func line(r row, cols []column, widths []int) Line {
	var b strings.Builder
	for i, c := range r.cells {
		pad := strings.Repeat(" ", max(widths[i]-len(c.show), 0))
		if cols[i].text {
			b.WriteString(c.show + pad + " ")
		} else {
			b.WriteString(pad + c.show + " ")
		}
	}
	return Line{{b.String(), r.style}}
}

// fit cuts what is too wide or too much.
func fit(lines []Line, v *View) []Line {
	if v.Height > 0 {
		lines = lines[:min(len(lines), v.Height)]
	}
	if v.Width <= 0 {
		return lines
	}
	for i, l := range lines {
		room := v.Width
		for j := range l {
			n := utf8.RuneCountInString(l[j].Text)
			if n > room {
				l[j].Text = string([]rune(l[j].Text)[:room])
				l = l[:j+1]
				break
			}
			room -= n
		}
		lines[i] = l
	}
	return lines
}

func help() []Line {
	var lines []Line
	for _, k := range [][2]string{
		{"s c w b, Tab", "slots, children, workers, balancers; the next"},
		{"< >, arrows", "sort by the column before, after"},
		{"r", "the other way round"},
		{"a", "slots that wait for connections too, or not"},
		{"j k, arrows, Page", "scroll; Home: to the top"},
		{"+ -", "ask less often, more often"},
		{"space", "ask now"},
		{"p", "pause, go on"},
		{"q, Ctrl-C", "quit"},
		{"", ""},
		{"Slots", "_ ready  S starting  R reads  W answers  K keep-alive  L logs  C closes  G leaves  . free"},
		{"SS", "since the slot last began or ended something"},
		{"REQ", "how long the request runs, or how long the last one took"},
		{"CACHED, INUSE", "connections to back ends that wait, and that a request has"},
		{"HITS", "requests that found a connection in the cache"},
	} {
		lines = append(lines, Line{{fmt.Sprintf("%-19s", k[0]), Bold}, {k[1], Plain}})
	}
	return append(lines, Line{}, Line{{"any key goes back", Dim}})
}

// none is what stands in place of an empty table.
func none(v *View) string {
	if v.Table == Slots && !v.All {
		return "  every slot waits for a connection; [a] shows them"
	}
	return "  none"
}
