package status

import (
	"strconv"

	"jkd/connector/jk/balance"
)

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
