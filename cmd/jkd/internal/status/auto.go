package status

import (
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// autoTime is how mod_status writes a moment.
const autoTime = "Monday, 02-Jan-2006 15:04:05 MST"

// WriteAuto writes what monitoring programs read: mod_status's ?auto of Apache
// 2.4, line by line in its order and units. What mod_status does not know comes
// after the scoreboard.
func WriteAuto(w io.Writer, s *Status) error {
	a := autoLines(make([]byte, 0, 2048+len(s.Slots)))
	a.bare(s.Server.Name)
	a.text("ServerVersion", s.Server.Version)
	a.text("ServerMPM", s.Server.MPM)
	a.text("Server Built", s.Server.Built)
	a.text("CurrentTime", s.Server.Now.Format(autoTime))
	a.text("RestartTime", s.Server.Restart.Format(autoTime))
	a.count("ParentServerConfigGeneration", uint64(s.Server.Generation))
	a.count("ParentServerMPMGeneration", uint64(s.Server.Generation))
	up := wholeSeconds(s.Server.Uptime())
	a.count("ServerUptimeSeconds", up)
	a.bare("ServerUptime:" + uptimeWords(s.Server.Uptime()))
	for i, key := range [...]string{"Load1", "Load5", "Load15"} {
		a.text(key, strconv.FormatFloat(s.Server.Load[i], 'f', 2, 64))
	}
	if s.Server.Extended {
		a.extended(s, up)
	}
	a.count("BusyWorkers", uint64(s.Totals.Busy))
	a.count("GracefulWorkers", uint64(s.Totals.Graceful))
	a.count("IdleWorkers", uint64(s.Totals.Idle))
	a = append(a, "Scoreboard: "...)
	for i := range s.Slots {
		a = append(a, s.Slots[i].Status.Letter())
	}
	a = append(a, '\n')
	a.own(s)
	_, err := w.Write(a)
	return err
}

// autoLines are lines of WriteAuto.
type autoLines []byte

func (a *autoLines) extended(s *Status, up uint64) {
	t := &s.Totals
	a.count("Total Accesses", t.Accesses)
	a.count("Total kBytes", t.Bytes>>10)
	a.count("Total Duration", uint64(max(t.Duration.Milliseconds(), 0)))
	a.number("CPUUser", t.CPU.User.Seconds())
	a.number("CPUSystem", t.CPU.System.Seconds())
	a.number("CPUChildrenUser", t.CPU.ChildrenUser.Seconds())
	a.number("CPUChildrenSystem", t.CPU.ChildrenSystem.Seconds())
	if load, ok := s.CPULoad(); ok {
		a.number("CPULoad", load)
	}
	a.count("Uptime", up)
	if up > 0 {
		a.number("ReqPerSec", float64(t.Accesses)/float64(up))
		a.number("BytesPerSec", float64(t.Bytes)/float64(up))
	}
	if t.Accesses > 0 {
		a.number("BytesPerReq", float64(t.Bytes)/float64(t.Accesses))
		a.number("DurationPerReq", float64(t.Duration.Milliseconds())/float64(t.Accesses))
	}
}

// own are the lines that mod_status does not have.
func (a *autoLines) own(s *Status) {
	quiescing := 0
	for i := range s.Children {
		if s.Children[i].Quiescing {
			quiescing++
		}
	}
	a.count("ChildProcesses", uint64(len(s.Children)))
	a.count("ChildProcessesStopping", uint64(quiescing))
	a.count("ChildStarts", s.Events.Starts)
	var deaths uint64
	for _, d := range s.Events.Deaths {
		deaths += d.Count
	}
	a.count("ChildDeaths", deaths)
	a.count("ConnsTotal", uint64(s.Totals.Connections))
	a.count("ConnsAsyncKeepAlive", uint64(s.Totals.Parked))
}

// bare is a line without a key.
func (a *autoLines) bare(text string) { *a = append(append(*a, oneLine(text)...), '\n') }

func (a *autoLines) text(key, value string) {
	*a = append(append(*a, key...), ": "...)
	a.bare(value)
}

func (a *autoLines) count(key string, n uint64) {
	*a = append(append(*a, key...), ": "...)
	*a = append(strconv.AppendUint(*a, n, 10), '\n')
}

// number is C's %g.
func (a *autoLines) number(key string, f float64) {
	*a = append(append(*a, key...), ": "...)
	*a = append(strconv.AppendFloat(*a, f, 'g', 6, 64), '\n')
}

// CPULoad is the processor time of all processes since the start in percent of
// one processor's; ok is false where mod_status does not tell it, without any
// processor time or in the first second.
func (s *Status) CPULoad() (percent float64, ok bool) {
	c := s.Totals.CPU
	used, up := c.User+c.System+c.ChildrenUser+c.ChildrenSystem, wholeSeconds(s.Server.Uptime())
	if used <= 0 || up == 0 {
		return 0, false
	}
	return used.Seconds() / float64(up) * 100, true
}

func wholeSeconds(d time.Duration) uint64 { return uint64(max(d/time.Second, 0)) }

// uptimeWords is a time as mod_status says it, each word behind a space: " 1
// day 2 hours"; "" below one second.
func uptimeWords(d time.Duration) string {
	rest := wholeSeconds(d)
	var b []byte
	for _, u := range [...]struct {
		name    string
		seconds uint64
	}{{" day", 24 * 60 * 60}, {" hour", 60 * 60}, {" minute", 60}, {" second", 1}} {
		n := rest / u.seconds
		rest %= u.seconds
		if n == 0 {
			continue
		}
		b = strconv.AppendUint(append(b, ' '), n, 10)
		if b = append(b, u.name...); n != 1 {
			b = append(b, 's')
		}
	}
	return string(b)
}

// oneLine is text without what a terminal or a reader of lines would take for
// something else: what cannot be printed, and what is no UTF-8, becomes \x0a
// and the like.
func oneLine(text string) string {
	plain := true
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] >= ' ' && text[i] < 0x7f
	}
	if plain {
		return text
	}
	const hex = "0123456789abcdef"
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			for _, c := range []byte(text[:n]) {
				b.WriteString(`\x`)
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			}
		} else {
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}
