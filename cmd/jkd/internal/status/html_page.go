package status

import (
	"fmt"
	"strconv"
	"strings"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// pageView is what the template shows: texts that are ready, but for the
// escaping of HTML.
type pageView struct {
	Name, Via string
	Refresh   int
	Tiles     []pageTile
	Charts    []pageChart
	Facts     []string
	Board     []pageGroup
	Letters   string
	Key       []pageKey
	Summary   string
	Tables    []pageTable
	Events    string
	Extended  bool
	NoTable   bool
	Slots     pageTable  // with ExtendedStatus
	Lines     []slotLine // with ExtendedStatus and NoTable
	PIDs      string     // without ExtendedStatus
}

// pageTile is one thing to see at the first look.
type pageTile struct {
	Name, Value, Note string
	Bad               bool
}

// pageGroup are cells of the scoreboard: those of one child, or all where
// children have one each.
type pageGroup struct {
	Name  string
	Cells []pageCell
}

type pageCell struct {
	Letter, Class, Title string
}

type pageKey struct {
	Letter, Class, Name string
	Count               int
}

// stateNames are mod_status's words, in the order of its key.
var stateNames = [...]struct {
	status scoreboard.Status
	class  string
	name   string
}{
	{scoreboard.Ready, "ready", "Waiting for Connection"},
	{scoreboard.Starting, "starting", "Starting up"},
	{scoreboard.BusyRead, "read", "Reading Request"},
	{scoreboard.BusyWrite, "write", "Sending Reply"},
	{scoreboard.KeepAlive, "keep", "Keepalive (read)"},
	{scoreboard.DNS, "dns", "DNS Lookup"},
	{scoreboard.Closing, "closing", "Closing connection"},
	{scoreboard.Logging, "log", "Logging"},
	{scoreboard.Graceful, "graceful", "Gracefully finishing"},
	{scoreboard.IdleKill, "kill", "Idle cleanup of worker"},
	{scoreboard.Dead, "dead", "Open slot with no current process"},
}

// stateName is the class of the style sheet and the words for a state.
func stateName(s scoreboard.Status) (class, name string) {
	for _, n := range stateNames {
		if n.status == s {
			return n.class, n.name
		}
	}
	return "unknown", "Unknown"
}

func newPage(s *Status, o HTMLOptions) *pageView {
	p := &pageView{
		Name: oneLine(s.Server.Name), Via: oneLine(s.Server.Via),
		Refresh: o.Refresh, Extended: s.Server.Extended, NoTable: o.NoTable,
		Tiles: tiles(s), Charts: charts(s.History), Facts: facts(s),
		Board: boardGroups(s), Letters: boardLetters(s.Slots), Events: eventWords(&s.Events),
	}
	p.Key, p.Summary = boardKey(s.Slots)
	p.Tables = []pageTable{membersTable(s), workersTable(s), childrenTable(s), cachesTable(s), closedTable(s)}
	switch {
	case !s.Server.Extended:
		p.PIDs = pidKey(s.Slots)
	case o.NoTable:
		p.Lines = slotLines(s.Slots)
	default:
		p.Slots = slotsTable(s.Slots)
	}
	return p
}

// recent is how many seconds "now" is.
const recent = 10

func tiles(s *Status) []pageTile {
	var sum counters.Second
	last := s.History[max(len(s.History)-recent, 0):]
	for _, h := range last {
		sum.Requests += h.Requests
		sum.Duration += h.Duration
	}
	var errors uint64
	for _, h := range s.History {
		errors += h.Errors
	}
	rate, latency := "-", "-"
	if len(last) > 0 {
		rate = shortNumber(float64(sum.Requests) / float64(len(last)))
	}
	if sum.Requests > 0 {
		latency = millisWords(float64(sum.Duration) / float64(sum.Requests))
	}
	busy := s.Totals.Busy + s.Totals.Graceful
	out := []pageTile{
		{Name: "Busy", Value: fmt.Sprintf("%d of %d", busy, max(s.Limits.MaxRequestWorkers, busy)), Note: fmt.Sprintf("%d idle", s.Totals.Idle),
			Bad: busy > 0 && busy >= s.Limits.MaxRequestWorkers},
		{Name: "Requests/s", Value: rate, Note: fmt.Sprintf("last %d s", recent)},
		{Name: "Mean latency", Value: latency, Note: fmt.Sprintf("last %d s", recent)},
		{Name: "Answers 5xx", Value: strconv.FormatUint(errors, 10), Note: historyWords(s.History), Bad: errors > 0},
	}
	leaving := 0
	for i := range s.Children {
		if s.Children[i].Quiescing {
			leaving++
		}
	}
	note := fmt.Sprintf("generation %d", s.Server.Generation)
	if leaving > 0 {
		note += fmt.Sprintf(", %d leaving", leaving)
	}
	out = append(out, pageTile{Name: "Children", Value: strconv.Itoa(len(s.Children)), Note: note})
	all, sick := 0, []string{}
	for _, b := range s.Balancers {
		for _, m := range b.Members {
			all++
			if m.Sick {
				sick = append(sick, oneLine(m.Name))
			}
		}
	}
	if all > 0 {
		t := pageTile{Name: "Back ends", Value: fmt.Sprintf("%d of %d well", all-len(sick), all), Bad: len(sick) > 0}
		if t.Bad {
			const most = 3
			more := ""
			if len(sick) > most {
				more = fmt.Sprintf(" and %d more", len(sick)-most)
				sick = sick[:most]
			}
			t.Note = "sick: " + strings.Join(sick, ", ") + more
		}
		out = append(out, t)
	}
	return out
}

// facts are mod_status's lines, in its words and order.
func facts(s *Status) []string {
	v, t := &s.Server, &s.Totals
	built := v.Built
	if built == "" {
		built = "unknown"
	}
	out := []string{
		"Server Version: " + oneLine(v.Version),
		"Server MPM: " + oneLine(v.MPM),
		"Server Built: " + oneLine(built),
		"Current Time: " + v.Now.Format(autoTime),
		"Restart Time: " + v.Restart.Format(autoTime),
		fmt.Sprintf("Parent Server Config. Generation: %d", v.Generation),
		fmt.Sprintf("Parent Server MPM Generation: %d", v.Generation),
		"Server uptime: " + uptimeWords(v.Uptime()),
		fmt.Sprintf("Server load: %.2f %.2f %.2f", v.Load[0], v.Load[1], v.Load[2]),
	}
	if v.Extended {
		out = append(out, fmt.Sprintf("Total accesses: %d - Total Traffic: %s - Total Duration: %d", t.Accesses, kbyteWords(t.Bytes>>10), t.Duration.Milliseconds()))
		cpu := fmt.Sprintf("CPU Usage: u%.6g s%.6g cu%.6g cs%.6g", t.CPU.User.Seconds(), t.CPU.System.Seconds(), t.CPU.ChildrenUser.Seconds(), t.CPU.ChildrenSystem.Seconds())
		if load, ok := s.CPULoad(); ok {
			cpu += fmt.Sprintf(" - %.3g%% CPU load", load)
		}
		out = append(out, cpu)
		var rates []string
		if up := wholeSeconds(v.Uptime()); up > 0 {
			rates = append(rates, fmt.Sprintf("%.3g requests/sec", float64(t.Accesses)/float64(up)), byteText(t.Bytes/up)+"/second")
		}
		if t.Accesses > 0 {
			rates = append(rates, byteText(t.Bytes/t.Accesses)+"/request", fmt.Sprintf("%.6g ms/request", float64(t.Duration.Milliseconds())/float64(t.Accesses)))
		}
		if len(rates) > 0 {
			out = append(out, strings.Join(rates, " - "))
		}
	}
	return append(out, fmt.Sprintf("%d requests currently being processed, %d workers gracefully restarting, %d idle workers", t.Busy, t.Graceful, t.Idle))
}

// boardGroups are the cells, each child's by itself if it has more than one.
func boardGroups(s *Status) []pageGroup {
	var out []pageGroup
	apart := s.Limits.ThreadsPerChild > 1
	server := -1
	for i := range s.Slots {
		x := &s.Slots[i]
		if len(out) == 0 || apart && x.Server != server {
			g := pageGroup{}
			if apart {
				g.Name = strconv.Itoa(x.Server)
			}
			out = append(out, g)
			server = x.Server
		}
		g := &out[len(out)-1]
		c := pageCell{Letter: string(x.Status.Letter())}
		var name string
		c.Class, name = stateName(x.Status)
		if x.Status != scoreboard.Dead {
			c.Title = fmt.Sprintf("%d-%d, pid %d: %s", x.Server, x.Thread, x.PID, name)
		}
		g.Cells = append(g.Cells, c)
	}
	return out
}

// boardLetters are the letters in lines of boardWidth, as scripts read them.
func boardLetters(slots []Slot) string {
	var b strings.Builder
	for i := range slots {
		if i > 0 && i%boardWidth == 0 {
			b.WriteByte('\n')
		}
		b.WriteByte(slots[i].Status.Letter())
	}
	return b.String()
}

// boardKey is what the letters mean and how many there are of each, and the
// same in one sentence.
func boardKey(slots []Slot) (key []pageKey, summary string) {
	counts := map[scoreboard.Status]int{}
	unknown := 0
	for i := range slots {
		if st := slots[i].Status; st.Valid() {
			counts[st]++
		} else {
			unknown++
		}
	}
	for _, n := range stateNames {
		key = append(key, pageKey{Letter: string(n.status.Letter()), Class: n.class, Name: n.name, Count: counts[n.status]})
	}
	if unknown > 0 {
		key = append(key, pageKey{Letter: "?", Class: "unknown", Name: "Unknown", Count: unknown})
	}
	var words []string
	for _, k := range key {
		if k.Count > 0 {
			words = append(words, fmt.Sprintf("%d %s", k.Count, k.Name))
		}
	}
	return key, fmt.Sprintf("Scoreboard of %d slots: %s", len(slots), strings.Join(words, ", "))
}

// pidKey is what is said without ExtendedStatus: the processes in use, three a
// line.
func pidKey(slots []Slot) string {
	var b strings.Builder
	k := 0
	for i := range slots {
		x := &slots[i]
		if x.Status == scoreboard.Dead {
			continue
		}
		if k > 0 {
			b.WriteString([]string{"\n", ",", ","}[k%3])
		}
		fmt.Fprintf(&b, "   %d in state: %c ", x.PID, x.Status.Letter())
		k++
	}
	return b.String()
}

func eventWords(e *Events) string {
	words := []string{}
	for _, d := range e.Deaths {
		if d.Count > 0 {
			words = append(words, fmt.Sprintf("%s %d", oneLine(d.Reason), d.Count))
		}
	}
	out := fmt.Sprintf("Started since the first generation: %d. ", e.Starts)
	if len(words) == 0 {
		out += "None has ended."
	} else {
		out += "Ended: " + strings.Join(words, ", ") + "."
	}
	if e.Cut > 0 {
		out += fmt.Sprintf(" Connections cut by GracefulShutdownTimeout: %d.", e.Cut)
	}
	return out
}
