package status

import (
	"strconv"

	"jkd/connector/jk/balance"
)

// column is a column of a table of T: its heading, what that means, and how a
// cell is made.
type column[T any] struct {
	head, means literal
	cell        func(*service, *T) cell
}

// cell is what stands in a table.
type cell struct {
	text string
	note string // smaller, after it
	hot  bool   // wants to be seen
	wide bool   // a text, not a number
}

func num(n int) cell { return cell{text: strconv.Itoa(n)} }

func count(n uint64) cell { return cell{text: countText(n)} }

// faults is a number that should be 0.
func faults(n uint64) cell { return cell{text: countText(n), hot: n > 0} }

func words(s string) cell { return cell{text: s, wide: true} }

func (c *cell) write(p *page, head literal) {
	class := literal("")
	switch {
	case c.hot:
		class = "hot"
	case c.text == "":
		class = "zero empty"
	case c.text == "0" || c.text == none:
		class = "zero"
	case c.wide:
		class = "text"
	}
	p.put(`<td role="cell" data-head="`, head, `"`)
	if class != "" {
		p.put(` class="`, class, `"`)
	}
	p.put(`>`)
	if c.text == "" {
		p.put(`&#x2013;`)
	}
	p.text(c.text)
	if c.note != "" {
		p.put(` <small>`)
		p.text(c.note)
		p.put(`</small>`)
	}
	p.put(`</td>`)
}

// heads writes the heading of a table; the first column is the name's.
func heads[T any](p *page, first literal, columns []column[T]) {
	p.put(`<thead role="rowgroup"><tr role="row">`)
	if first != "" {
		p.put(`<th role="columnheader" scope="col">`, first, `</th>`)
	}
	for _, c := range columns {
		p.put(`<th role="columnheader" scope="col"><abbr title="`, c.means, `">`, c.head, `</abbr></th>`)
	}
	p.put(`</tr></thead>`, "\n")
}

func cells[T any](s *service, p *page, columns []column[T], v *T) {
	for _, c := range columns {
		cl := c.cell(s, v)
		cl.write(p, c.head)
	}
}

var memberColumns = []column[Member]{
	{"D", "Distance: the nearest members that are usable get the requests", func(_ *service, m *Member) cell { return num(m.Distance) }},
	{"F", "Load factor", func(_ *service, m *Member) cell { return num(m.LBFactor) }},
	{"M", "Multiplicity: what one request adds to the value", func(_ *service, m *Member) cell { return count(m.LBMult) }},
	{"V", "Value: the load so far; the member with the least is next", func(_ *service, m *Member) cell { return count(m.LBValue) }},
	{"Acc", "Requests given to it", func(s *service, m *Member) cell {
		return cell{text: countText(m.Elected), note: s.rateText(m.Elected, m.LastReset)}
	}},
	{"Sess", "Requests without a session", func(_ *service, m *Member) cell { return count(m.Sessions) }},
	{"Err", "Requests that failed", func(_ *service, m *Member) cell { return faults(m.Errors) }},
	{"CE", "Requests that failed because of the client", func(_ *service, m *Member) cell { return count(m.ClientErrors) }},
	{"RE", "Answers that were too late", func(_ *service, m *Member) cell { return faults(m.ReplyTimeouts) }},
	{"Wr", "Bytes sent to it", func(s *service, m *Member) cell {
		return cell{text: sizeText(m.Transferred), note: s.rateText(m.Transferred, m.LastReset)}
	}},
	{"Rd", "Bytes received from it", func(s *service, m *Member) cell {
		return cell{text: sizeText(m.Read), note: s.rateText(m.Read, m.LastReset)}
	}},
	{"Busy", "Requests in hand", func(_ *service, m *Member) cell { return num(m.Busy) }},
	{"MaxBusy", "Most requests in hand since the last reset", func(_ *service, m *Member) cell { return num(m.MaxBusy) }},
	{"Con", "Open connections", func(_ *service, m *Member) cell { return num(m.Connected) }},
	{"MaxCon", "Most open connections since the last reset", func(_ *service, m *Member) cell { return num(m.MaxConnected) }},
	{"Route", "Route: what the ids of its sessions end in", func(_ *service, m *Member) cell { return words(m.Route) }},
	{"RR", "Redirect: route of the member that stands in for it", func(_ *service, m *Member) cell { return words(m.Redirect) }},
	{"Cd", "Domain: members that know each other's sessions", func(_ *service, m *Member) cell { return words(m.Domain) }},
	{"Rs", "Seconds until it is tried again, least and most", func(_ *service, m *Member) cell {
		if m.State != balance.Error {
			return cell{}
		}
		return cell{text: strconv.Itoa(int(m.TimeToRecoverMin.Seconds())) + "/" + strconv.Itoa(int(m.TimeToRecoverMax.Seconds()))}
	}},
	{"LR", "Time since the last reset", func(s *service, m *Member) cell { return words(s.sinceText(m.LastReset)) }},
	{"LE", "Time of the error it is in", func(s *service, m *Member) cell { return s.when(m.ErrorTime) }},
}

var ajpColumns = []column[AJP]{
	{"Acc", "Requests given to it", func(s *service, w *AJP) cell {
		return cell{text: countText(w.Used), note: s.rateText(w.Used, w.LastReset)}
	}},
	{"Err", "Requests that failed", func(_ *service, w *AJP) cell { return faults(w.Errors) }},
	{"CE", "Requests that failed because of the client", func(_ *service, w *AJP) cell { return count(w.ClientErrors) }},
	{"RE", "Answers that were too late", func(_ *service, w *AJP) cell { return faults(w.ReplyTimeouts) }},
	{"Wr", "Bytes sent to it", func(s *service, w *AJP) cell {
		return cell{text: sizeText(w.Transferred), note: s.rateText(w.Transferred, w.LastReset)}
	}},
	{"Rd", "Bytes received from it", func(s *service, w *AJP) cell {
		return cell{text: sizeText(w.Read), note: s.rateText(w.Read, w.LastReset)}
	}},
	{"Busy", "Requests in hand", func(_ *service, w *AJP) cell { return num(w.Busy) }},
	{"MaxBusy", "Most requests in hand since the last reset", func(_ *service, w *AJP) cell { return num(w.MaxBusy) }},
	{"Con", "Open connections", func(_ *service, w *AJP) cell { return num(w.Connected) }},
	{"MaxCon", "Most open connections since the last reset", func(_ *service, w *AJP) cell { return num(w.MaxConnected) }},
	{"LR", "Time since the last reset", func(s *service, w *AJP) cell { return words(s.sinceText(w.LastReset)) }},
	{"LE", "Time of the last error", func(s *service, w *AJP) cell { return s.when(w.ErrorTime) }},
}

var endpointColumns = []column[Endpoint]{
	{"Type", "type", func(_ *service, e *Endpoint) cell { return words(e.kind()) }},
	{"Host", "host and port", func(_ *service, e *Endpoint) cell { return words(e.Host + ":" + strconv.Itoa(e.Port)) }},
	{"Address", "what the host was resolved to", func(_ *service, e *Endpoint) cell {
		return cell{text: e.address(), wide: true, hot: e.Port > 0 && e.Address == ""}
	}},
	{"Source", "source", func(_ *service, e *Endpoint) cell { return words(e.Source) }},
	{"Pool timeout", "connection_pool_timeout", func(_ *service, e *Endpoint) cell { return cell{text: secondsText(e.ConnectionPoolTimeout)} }},
	{"Ping timeout", "ping_timeout", func(_ *service, e *Endpoint) cell { return cell{text: millisText(e.PingTimeout)} }},
	{"Connect timeout", "connect_timeout", func(_ *service, e *Endpoint) cell { return cell{text: millisText(e.ConnectTimeout)} }},
	{"Prepost timeout", "prepost_timeout", func(_ *service, e *Endpoint) cell { return cell{text: millisText(e.PrepostTimeout)} }},
	{"Reply timeout", "reply_timeout", func(_ *service, e *Endpoint) cell { return cell{text: millisText(e.ReplyTimeout)} }},
	{"Ping interval", "connection_ping_interval", func(_ *service, e *Endpoint) cell { return cell{text: secondsText(e.ConnectionPingInterval)} }},
	{"Retries", "retries", func(_ *service, e *Endpoint) cell { return num(e.Retries) }},
	{"Recovery options", "recovery_options", func(_ *service, e *Endpoint) cell { return num(e.RecoveryOptions) }},
	{"Busy limit", "busy_limit", func(_ *service, e *Endpoint) cell { return cell{text: limitText(e.BusyLimit)} }},
	{"Max packet size", "max_packet_size", func(_ *service, e *Endpoint) cell { return num(e.MaxPacketSize) }},
}

var mapColumns = []column[Map]{
	{"Match type", "kind of pattern", func(_ *service, m *Map) cell { return words(m.kind()) }},
	{"Source", "where the rule was written", func(_ *service, m *Map) cell { return words(m.Source.String()) }},
	{"Reply timeout", "reply_timeout", func(_ *service, m *Map) cell {
		if m.ReplyTimeout < 0 {
			return cell{}
		}
		return cell{text: millisText(m.ReplyTimeout)}
	}},
	{"Sticky ignore", "sticky_ignore", func(_ *service, m *Map) cell { return yes(m.StickyIgnore) }},
	{"Stateless", "stateless", func(_ *service, m *Map) cell { return yes(m.Stateless) }},
	{"Fail on status", "fail_on_status", func(_ *service, m *Map) cell { return words(m.FailOnStatus) }},
	{"Active", "members the rule makes active", func(_ *service, m *Map) cell { return words(m.Active) }},
	{"Disabled", "members the rule makes disabled", func(_ *service, m *Map) cell { return words(m.DisabledMembers) }},
	{"Stopped", "members the rule makes stopped", func(_ *service, m *Map) cell { return words(m.Stopped) }},
	{"Use server errors", "use_server_errors", func(_ *service, m *Map) cell {
		if m.UseServerErrors == 0 {
			return cell{}
		}
		return num(m.UseServerErrors)
	}},
}

// when is a time and how long ago it was; nothing for never.
func (s *service) when(at int64) cell {
	if at <= 0 {
		return cell{}
	}
	return cell{text: s.sinceText(at) + " ago", note: s.timeText(at), wide: true}
}

func yes(b bool) cell {
	if b {
		return words("yes")
	}
	return cell{}
}
