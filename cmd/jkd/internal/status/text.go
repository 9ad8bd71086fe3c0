package status

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// boardWidth is how many letters of the scoreboard are in a line.
const boardWidth = 64

// WriteText writes s for people at a terminal, as jkd -k status shows it.
func WriteText(w io.Writer, s *Status) error {
	var b bytes.Buffer
	v := &s.Server
	fmt.Fprintf(&b, "jkd status for %s\n\n", oneLine(v.Name))
	pairs := [][2]string{
		{"Server Version", v.Version}, {"Server MPM", v.MPM}, {"Server Built", v.Built},
		{"Current Time", v.Now.Format(autoTime)}, {"Restart Time", v.Restart.Format(autoTime)},
		{"Generation", strconv.FormatUint(uint64(v.Generation), 10)},
		{"Server uptime", strings.TrimPrefix(uptimeWords(v.Uptime()), " ")},
		{"Server load", fmt.Sprintf("%.2f %.2f %.2f", v.Load[0], v.Load[1], v.Load[2])},
		{"Children", childrenLine(s)},
	}
	for _, p := range pairs {
		fmt.Fprintf(&b, "%-15s %s\n", p[0]+":", oneLine(p[1]))
	}
	if v.Extended {
		textTotals(&b, s)
	}
	fmt.Fprintf(&b, "\n%d requests currently being processed, %d workers gracefully restarting, %d idle workers\n\n",
		s.Totals.Busy, s.Totals.Graceful, s.Totals.Idle)
	textBoard(&b, s.Slots)
	textChildren(&b, s)
	textWorkers(&b, s.Workers)
	textBalancers(&b, s)
	if v.Extended {
		textSlots(&b, s.Slots)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func childrenLine(s *Status) string {
	var ends []string
	for _, d := range s.Events.Deaths {
		if d.Count > 0 {
			ends = append(ends, fmt.Sprintf("%s %d", d.Reason, d.Count))
		}
	}
	line := fmt.Sprintf("%d living, %d started", len(s.Children), s.Events.Starts)
	if len(ends) > 0 {
		line += "; ended: " + strings.Join(ends, ", ")
	}
	if s.Events.Cut > 0 {
		line += fmt.Sprintf("; connections cut: %d", s.Events.Cut)
	}
	return line
}

func textTotals(b *bytes.Buffer, s *Status) {
	t := &s.Totals
	fmt.Fprintf(b, "\nTotal accesses: %d - Total Traffic: %s - Total Duration: %d\n", t.Accesses, byteText(t.Bytes), t.Duration.Milliseconds())
	fmt.Fprintf(b, "CPU Usage: u%.6g s%.6g cu%.6g cs%.6g", t.CPU.User.Seconds(), t.CPU.System.Seconds(), t.CPU.ChildrenUser.Seconds(), t.CPU.ChildrenSystem.Seconds())
	if load, ok := s.CPULoad(); ok {
		fmt.Fprintf(b, " - %.3g%% CPU load", load)
	}
	b.WriteByte('\n')
	var rates []string
	if up := wholeSeconds(s.Server.Uptime()); up > 0 {
		rates = append(rates, fmt.Sprintf("%.3g requests/sec", float64(t.Accesses)/float64(up)), byteText(t.Bytes/up)+"/second")
	}
	if t.Accesses > 0 {
		rates = append(rates, byteText(t.Bytes/t.Accesses)+"/request", fmt.Sprintf("%.6g ms/request", float64(t.Duration.Milliseconds())/float64(t.Accesses)))
	}
	if len(rates) > 0 {
		b.WriteString(strings.Join(rates, " - ") + "\n")
	}
}

func textBoard(b *bytes.Buffer, slots []Slot) {
	for i := range slots {
		b.WriteByte(slots[i].Status.Letter())
		if i%boardWidth == boardWidth-1 || i == len(slots)-1 {
			b.WriteByte('\n')
		}
	}
	b.WriteString("\n_ waiting, S starting, R reading, W sending, K keepalive, D DNS lookup, C closing,\n" +
		"L logging, G gracefully finishing, I idle cleanup, . open slot\n")
}

// textTable begins a table. What is written into it are cells that end in a
// tab.
func textTable(b *bytes.Buffer, title, head string) *tabwriter.Writer {
	fmt.Fprintf(b, "\n%s\n", title)
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, head)
	return t
}

func textChildren(b *bytes.Buffer, s *Status) {
	if len(s.Children) == 0 {
		return
	}
	t := textTable(b, "Children", "Srv\tPID\tUp\tState\tBusy\tIdle\tAcc\tCPU\tConnections to workers (cached/used hits/misses oldest)")
	for i := range s.Children {
		c := &s.Children[i]
		state := "serves"
		switch {
		case c.Quiescing:
			state = "finishes"
		case c.NotAccepting:
			state = "full"
		}
		fmt.Fprintf(t, "%d-%d\t%d\t%s\t%s\t%d\t%d\t%d\t%.2f\t", c.Server, c.Generation, c.PID, ageText(s.Server.Now, c.Started), state, c.Busy, c.Idle, c.Accesses, c.CPU.Seconds())
		for j := range c.Caches {
			x := &c.Caches[j]
			if j > 0 {
				t.Write([]byte("; "))
			}
			fmt.Fprintf(t, "%s %d/%d %d/%d %s", oneLine(x.Worker), x.Idle, x.Busy, x.Hits, x.Misses, ageText(s.Server.Now, x.Oldest))
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func textWorkers(b *bytes.Buffer, workers []Worker) {
	if len(workers) == 0 {
		return
	}
	t := textTable(b, "Workers", "Worker\t2xx\t3xx\t4xx\t5xx\tAborted\tErrors\tms/request\tSent\tCached\tUsed\tHits\tMisses\tRefused\tClosed")
	for i := range workers {
		w := &workers[i]
		var requests uint64
		for _, n := range w.Requests {
			requests += n
		}
		mean := "-"
		if requests > 0 {
			mean = fmt.Sprintf("%.3g", float64(w.Duration)/float64(time.Millisecond)/float64(requests))
		}
		var closed []string
		for j, n := range w.Cache.Closed {
			if n > 0 {
				closed = append(closed, fmt.Sprintf("%s %d", counters.CloseReason(j), n))
			}
		}
		r, c := &w.Requests, &w.Cache
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", oneLine(w.Name),
			r[counters.Class2xx], r[counters.Class3xx], r[counters.Class4xx], r[counters.Class5xx], r[counters.Aborted], w.Errors, mean, byteText(w.Bytes),
			c.Idle, c.Busy, c.Hits, c.Misses, c.Refused, strings.Join(closed, ", "))
	}
	t.Flush()
}

func textBalancers(b *bytes.Buffer, s *Status) {
	if len(s.Balancers) == 0 {
		return
	}
	t := textTable(b, "Balancers", "Balancer\tMember\tAddress\tAct\tState\tFactor\tElected\tErrors\tBusy\tLast error")
	for i := range s.Balancers {
		x := &s.Balancers[i]
		name := x.Name
		if name == "" {
			name = "-"
		}
		for j := range x.Members {
			m := &x.Members[j]
			state := m.State
			if m.Sick {
				state += " !"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", oneLine(name), oneLine(m.Name), oneLine(m.Address), m.Activation, state,
				m.Factor, m.Elected, m.Errors, m.Busy, ageText(s.Server.Now, m.LastError))
		}
	}
	t.Flush()
}

func textSlots(b *bytes.Buffer, slots []Slot) {
	var t *tabwriter.Writer
	for i := range slots {
		x := &slots[i]
		if !x.shown() {
			continue
		}
		if t == nil {
			t = textTable(b, "Slots", "Srv\tPID\tAcc\tM\tCPU\tSS\tReq\tDur\tConn\tChild\tSlot\tClient\tProtocol\tVHost\tRequest")
		}
		pid := "-"
		if x.Status != scoreboard.Dead && x.PID != 0 {
			pid = strconv.Itoa(x.PID)
		}
		fmt.Fprintf(t, "%d-%d\t%s\t%d/%d/%d\t%c\t%.2f\t%d\t%d\t%d\t%.1f\t%.2f\t%.2f\t%s\t%s\t%s\t%s\n", x.Server, x.Generation, pid,
			x.ConnAccesses, x.ChildAccesses, x.SlotAccesses, x.Status.Letter(), x.CPU.Seconds(),
			int64(x.SinceLastUsed/time.Second), x.LastRequest.Milliseconds(), x.Duration.Milliseconds(),
			float64(x.ConnBytes)/1024, float64(x.ChildBytes)/(1<<20), float64(x.SlotBytes)/(1<<20),
			oneLine(x.Client), oneLine(x.Protocol), oneLine(x.VHost), oneLine(x.Request))
	}
	if t != nil {
		t.Flush()
	}
}

// shown tells whether the table of slots has x: those that never served and do
// nothing are left out.
func (x *Slot) shown() bool {
	return x.SlotAccesses > 0 || x.Status != scoreboard.Ready && x.Status != scoreboard.Dead
}

// byteText is a number of bytes as mod_status writes it.
func byteText(n uint64) string {
	f := float64(n)
	switch {
	case n < 5<<10:
		return strconv.FormatUint(n, 10) + " B"
	case n < 512<<10:
		return fmt.Sprintf("%.1f kB", f/(1<<10))
	case n < 512<<20:
		return fmt.Sprintf("%.1f MB", f/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", f/(1<<30))
}

// ageText is how long ago t was, to the second; "-" for never.
func ageText(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return max(now.Sub(t), 0).Truncate(time.Second).String()
}
