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

// listPage shows all workers.
func (s *service) listPage(p *page) {
	s.actionForm(p)
	balancers, ajps := s.view.Balancers, s.view.AJP
	if s.query.Options&NoBalancers != 0 {
		balancers = nil
	}
	if s.query.Options&NoAJP != 0 {
		ajps = nil
	}
	if len(balancers)+len(ajps) == 0 {
		p.put(`<section class="note"><p>There is no worker to show.</p></section>`, "\n")
		return
	}
	if len(balancers)+len(ajps) > 1 {
		p.put(`<nav aria-label="Workers"><ul class="overview">`)
		for i := range balancers {
			b := &balancers[i]
			n := s.count(b)
			p.put(`<li class="`, ratingClass(worst(n)), `"><a href="#w`)
			p.number(i)
			p.put(`">`)
			p.text(b.Name)
			p.put(`</a> `)
			tally(p, n)
			p.put(`</li>`)
		}
		for i := range ajps {
			w := &ajps[i]
			p.put(`<li class="`, ratingClass(rateState(w.State)), `"><a href="#w`)
			p.number(len(balancers) + i)
			p.put(`">`)
			p.text(w.Name)
			p.put(`</a> `)
			badge(p, rateState(w.State), w.State.String())
			p.put(`</li>`)
		}
		p.put("</ul></nav>\n")
	}
	for i := range balancers {
		p.put(`<div id="w`)
		p.number(i)
		p.put(`">`, "\n")
		s.balancerSection(p, &balancers[i], nil)
		p.put("</div>\n")
	}
	for i := range ajps {
		p.put(`<div id="w`)
		p.number(len(balancers) + i)
		p.put(`">`, "\n")
		s.ajpSection(p, &ajps[i])
		p.put("</div>\n")
	}
}

// worst is how a balancer with so many members of each rating fares: bad when
// none is good.
func worst(n [3]int) rating {
	switch {
	case n[good] == 0:
		return bad
	case n[bad]+n[degraded] > 0:
		return degraded
	}
	return good
}

// tally says how many members are good, degraded and bad.
func tally(p *page, n [3]int) {
	p.put(`<span class="tally">`)
	for _, r := range []rating{good, degraded, bad} {
		if n[r] == 0 && r != good {
			continue
		}
		p.put(`<span class="badge `, ratingClass(r), `">`, sign(r), ` `)
		p.number(n[r])
		p.put(` `, ratingClass(r), `</span> `)
	}
	p.put(`</span>`)
}

// badge shows a state.
func badge(p *page, r rating, text string) {
	p.put(`<span class="badge `, ratingClass(r), `">`, sign(r), ` `)
	p.text(text)
	p.put(`</span>`)
}

// actionForm is what all buttons of a page belong to.
func (s *service) actionForm(p *page) {
	if s.readOnly() {
		return
	}
	p.put(`<form id="act" method="post" action="?">`)
	if s.in.Token != "" {
		p.hidden("token", s.in.Token)
	}
	p.put("</form>\n")
}

// actions are the links S and E and the buttons R and T.
func (s *service) actions(p *page, w, sw string, inError bool) {
	p.put(`<span class="actions">`)
	s.action(p, Show, "S", "how", w, sw)
	if !s.readOnly() {
		s.action(p, Edit, "E", "dit", w, sw)
		s.action(p, Reset, "R", "eset", w, sw)
		if inError {
			s.action(p, Recover, "T", "ry recovery", w, sw)
		}
	}
	p.put(`</span>`)
}

// action is a link, or a button if it changes something. In the tables of wide
// screens only its letter is seen.
func (s *service) action(p *page, cmd Cmd, letter, rest literal, w, sw string) {
	href, end := s.href(cmd, w, sw, s.here()...), literal(`</a> `)
	if cmd == Show {
		href = s.href(cmd, w, sw)
	}
	if cmd.Changes() {
		p.put(`<button type="submit" form="act" formaction="`)
		end = `</button> `
	} else {
		p.put(`<a href="`)
	}
	p.text(href)
	p.put(`"`)
	about := w
	if sw != "" {
		about = sw
	}
	for _, name := range []literal{"aria-label", "title"} {
		p.put(` `, name, `="`, letter, rest, ` `)
		p.text(about)
		p.put(`"`)
	}
	p.put(`>`, letter, `<span>`, rest, `</span>`, end)
}

func (s *service) balancerSection(p *page, b *Balancer, only *Member) {
	n := s.count(b)
	p.put(`<section class="worker">`, "\n", `<div class="title"><h2><small>Balancer</small> `)
	p.text(b.Name)
	p.put(`</h2> `)
	tally(p, n)
	p.put(` `)
	s.actions(p, b.Name, "", false)
	p.put("</div>\n")
	if s.query.Options&NoBalancerSummary == 0 {
		p.put(`<dl class="facts">`)
		fact(p, "Busy", strconv.Itoa(b.Busy))
		fact(p, "Max busy", strconv.Itoa(b.MaxBusy))
		fact(p, "Next maintenance", strconv.Itoa(int(b.TimeToMaintenanceMin.Seconds()))+" to "+strconv.Itoa(int(b.TimeToMaintenanceMax.Seconds()))+" s")
		fact(p, "Last reset", s.sinceText(b.LastReset))
		p.put("</dl>\n")
	}
	if s.query.Options&NoBalancerConf == 0 {
		p.put(`<dl class="facts conf">`)
		fact(p, "Method", b.Method.String())
		fact(p, "Lock", b.Lock.String())
		fact(p, "Sticky session", boolText(b.StickySession))
		fact(p, "Force sticky session", boolText(b.StickySessionForce))
		fact(p, "Retries", strconv.Itoa(b.Retries))
		fact(p, "Recover time", secondsText(b.RecoverTime))
		fact(p, "Error escalation time", secondsText(b.ErrorEscalationTime))
		fact(p, "Max reply timeouts", strconv.Itoa(b.MaxReplyTimeouts))
		p.put("</dl>\n")
	}
	if s.query.Options&NoMembers == 0 {
		s.members(p, b, only)
	}
	if only == nil {
		s.mapTable(p, b.Name, b.Maps)
	}
	p.put("</section>\n")
}

func (s *service) members(p *page, b *Balancer, only *Member) {
	p.put(`<div class="scroll"><table class="cards" role="table"><caption>Members</caption>`)
	heads(p, "Member", append([]column[Member]{
		{"Act", "Activation: active, disabled or stopped", nil},
		{"State", "State", nil},
	}, memberColumns...))
	p.put(`<tbody role="rowgroup">`, "\n")
	for i := range b.Members {
		m := &b.Members[i]
		if only != nil && m != only {
			continue
		}
		r := s.rate(m)
		p.put(`<tr role="row" class="`, ratingClass(r), `"><th role="rowheader" scope="row"><span class="name">`)
		p.text(m.Name)
		p.put(`</span>`)
		s.actions(p, b.Name, m.Name, m.State == balance.Error)
		p.put(`</th><td role="cell" data-head="Act"><span class="badge `, activationClass(m.Activation), `" title="`)
		p.text(m.Activation.Word())
		p.put(`">`)
		p.text(m.Activation.String())
		p.put(`</span></td><td role="cell" data-head="State">`)
		badge(p, rateState(m.State), m.State.String())
		p.put(`</td>`)
		cells(s, p, memberColumns, m)
		p.put("</tr>\n")
	}
	p.put("</tbody></table></div>\n")
	if s.query.Options&NoAJPConf != 0 {
		return
	}
	p.put(`<details`)
	if only != nil {
		p.put(` open`)
	}
	p.put(`><summary>AJP configuration of the members</summary><div class="scroll"><table class="cards" role="table">`)
	heads(p, "Member", endpointColumns)
	p.put(`<tbody role="rowgroup">`, "\n")
	for i := range b.Members {
		if m := &b.Members[i]; only == nil || m == only {
			p.put(`<tr role="row"><th role="rowheader" scope="row"><span class="name">`)
			p.text(m.Name)
			p.put(`</span></th>`)
			cells(s, p, endpointColumns, &m.Endpoint)
			p.put("</tr>\n")
		}
	}
	p.put("</tbody></table></div></details>\n")
}

func activationClass(a balance.Activation) literal {
	switch a {
	case balance.Active:
		return "active"
	case balance.Disabled:
		return "disabled"
	}
	return "stopped"
}

func (s *service) ajpSection(p *page, w *AJP) {
	p.put(`<section class="worker">`, "\n", `<div class="title"><h2><small>AJP worker</small> `)
	p.text(w.Name)
	p.put(`</h2> `)
	badge(p, rateState(w.State), w.State.String())
	p.put(` `)
	s.actions(p, w.Name, "", false)
	p.put("</div>\n", `<div class="scroll"><table class="cards" role="table"><caption>Requests</caption>`)
	heads(p, "", ajpColumns)
	p.put(`<tbody role="rowgroup"><tr role="row">`)
	cells(s, p, ajpColumns, w)
	p.put("</tr></tbody></table></div>\n")
	if s.query.Options&NoAJPConf == 0 {
		p.put(`<div class="scroll"><table class="cards" role="table"><caption>Configuration</caption>`)
		heads(p, "", endpointColumns)
		p.put(`<tbody role="rowgroup"><tr role="row">`)
		cells(s, p, endpointColumns, &w.Endpoint)
		p.put("</tr></tbody></table></div>\n")
	}
	s.mapTable(p, w.Name, w.Maps)
	p.put("</section>\n")
}

func (s *service) mapTable(p *page, worker string, maps []Map) {
	if s.query.Options&NoMaps != 0 {
		return
	}
	if len(maps) == 0 {
		p.put(`<p class="dim">`, sign(degraded), ` No URI leads to `)
		p.text(worker)
		p.put(".</p>\n")
		return
	}
	columns := mapColumns
	for i := range maps {
		if maps[i].Server != "" {
			columns = append([]column[Map]{{"Server", "virtual host", func(_ *service, m *Map) cell { return words(m.Server) }}}, columns...)
			break
		}
	}
	p.put(`<details`)
	if s.query.Cmd == Show {
		p.put(` open`)
	}
	p.put(`><summary>URI mappings (`)
	p.number(len(maps))
	p.put(`)</summary><div class="scroll"><table class="cards" role="table">`)
	heads(p, "URI", columns)
	p.put(`<tbody role="rowgroup">`, "\n")
	for i := range maps {
		m := &maps[i]
		p.put(`<tr role="row"><th role="rowheader" scope="row"><code>`)
		p.text(m.URI)
		p.put(`</code></th>`)
		cells(s, p, columns, m)
		p.put("</tr>\n")
	}
	p.put("</tbody></table></div></details>\n")
}

// legend explains the headings.
func (s *service) legend(p *page) {
	p.put(`<footer><details><summary>Legend</summary><dl class="legend">`)
	for _, l := range [][2]literal{
		{"S, E, R, T", "Show, edit, reset, try recovery (in error only)"},
		{"ACT, DIS, STP", "Activation: active; disabled, for its own sessions only; stopped"},
		{"OK/IDLE, OK", "Usable; idle if not used since the last maintenance"},
		{"OK/BUSY", "No room for another request"},
		{"ERR", "Not usable"},
		{"ERR/REC, ERR/FRC", "Was in error, the next request tries it; forced because no other was left"},
		{"ERR/PRB", "A request is trying it now"},
	} {
		p.put(`<div><dt>`, l[0], `</dt><dd>`, l[1], `</dd></div>`)
	}
	for _, c := range memberColumns {
		p.put(`<div><dt>`, c.head, `</dt><dd>`, c.means, `</dd></div>`)
	}
	p.put("</dl></details></footer>\n")
}
