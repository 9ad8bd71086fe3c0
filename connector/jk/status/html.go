package status

import (
	"slices"
	"strconv"
)

// html writes a page. It works without scripts.
func (s *service) html() []byte {
	p := &page{b: make([]byte, 0, 32<<10)}
	p.put("<!DOCTYPE html>\n", `<html lang="en">`, "\n<head>\n",
		`<meta charset="utf-8">`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n",
		`<meta name="robots" content="noindex, nofollow">`, "\n",
		`<title>`)
	p.text(s.title())
	p.put("</title>\n")
	s.refresh(p)
	if s.config.CSS != "" {
		p.put(`<link rel="stylesheet" href="`)
		p.text(s.config.CSS)
		p.put("\">\n")
	} else {
		p.put("<style>", literal(style), "</style>\n")
	}
	p.put("</head>\n<body>\n", `<a class="skip" href="#main">Skip to the content</a>`, "\n")
	s.header(p)
	p.put(`<main id="main">`, "\n")
	s.content(p)
	p.put("</main>\n")
	if s.lists() && s.query.Options&NoLegend == 0 {
		s.legend(p)
	}
	p.put("</body>\n</html>\n")
	return p.b
}

// lists tells whether the page shows workers.
func (s *service) lists() bool {
	return s.failure == "" && (s.query.Cmd == List || s.query.Cmd == Show)
}

func (s *service) title() string {
	t := "JK Status"
	switch {
	case s.failure != "":
		t = "Error - " + t
	case s.query.Cmd != List:
		if s.query.SW != "" {
			t = s.query.SW + " - " + t
		}
		if s.query.W != "" {
			t = s.query.W + " - " + t
		}
	}
	return t + " - " + s.in.ServerName
}

// refresh makes the page load itself again, or go back when a change is done.
func (s *service) refresh(p *page) {
	switch {
	case s.failure != "":
	case s.query.Cmd.Changes():
		p.put(`<meta http-equiv="refresh" content="3;url=`)
		p.text(s.back())
		p.put("\">\n")
	case s.query.Refresh > 0 && s.lists():
		p.put(`<meta http-equiv="refresh" content="`)
		p.number(s.query.Refresh)
		p.put(`;url=`)
		p.text(s.href(s.query.Cmd, s.query.W, s.query.SW))
		p.put("\">\n")
	}
}

func (s *service) header(p *page) {
	p.put(`<header>`, "\n", `<h1>JK Status Manager</h1>`, "\n", `<p class="sub"><strong>`)
	p.text(s.in.ServerName)
	p.put(`:`)
	p.number(s.in.ServerPort)
	p.put(`</strong>`)
	software := []string{s.view.Software.WebServer, s.view.Software.JKVersion}
	for _, t := range slices.Compact(software) {
		if t != "" {
			p.put(` <span>`)
			p.text(t)
			p.put(`</span>`)
		}
	}
	p.put(` <span><time datetime="`)
	p.text(s.in.Now.Format("2006-01-02T15:04:05-07:00"))
	p.put(`">`)
	p.text(s.in.Now.Format(htmlTime))
	p.put(`</time></span>`)
	if s.in.RemoteUser != "" {
		p.put(` <span>user `)
		p.text(s.in.RemoteUser)
		p.put(`</span>`)
	}
	p.put("</p>\n", `<nav aria-label="Pages"><ul class="nav">`)
	for _, item := range []struct {
		cmd   Cmd
		label literal
	}{{List, "Workers"}, {Dump, "Configuration"}, {Version, "Version"}} {
		p.put(`<li>`)
		p.link(current(s.query.Cmd == item.cmd && s.failure == ""), s.href(item.cmd, "", ""), item.label)
		p.put(`</li>`)
	}
	p.put("</ul>")
	if s.lists() || s.failure == "" && (s.query.Cmd == Dump || s.query.Cmd == Version) {
		p.put(`<ul class="nav minor" aria-label="This page as">`)
		for _, item := range []struct {
			mime  Mime
			label literal
		}{{XML, "XML"}, {Prop, "Properties"}, {Text, "Text"}} {
			p.put(`<li>`)
			p.link("", s.href(s.query.Cmd, s.query.W, s.query.SW, "mime", item.mime.String()), item.label)
			p.put(`</li>`)
		}
		p.put(`</ul>`)
	}
	p.put("</nav>\n")
	if s.lists() {
		s.controls(p)
	}
	p.put("</header>\n")
}

func current(is bool) literal {
	if is {
		return "here"
	}
	return ""
}

// controls are what changes how the page is shown.
func (s *service) controls(p *page) {
	p.put(`<div class="controls"><form method="get" action="?" class="refresh">`)
	p.hidden("cmd", s.query.Cmd.String())
	if s.query.W != "" {
		p.hidden("w", s.query.W)
	}
	if s.query.SW != "" {
		p.hidden("sw", s.query.SW)
	}
	if s.query.Options != 0 {
		p.hidden("opt", strconv.Itoa(int(s.query.Options)))
	}
	every := s.query.Refresh
	if every == 0 {
		every = 10
	}
	p.put(`<label>Refresh every <input type="number" name="re" min="1" max="86400" value="`)
	p.number(every)
	p.put(`"> s</label> <button type="submit">`)
	if s.query.Refresh == 0 {
		p.put(`Start</button></form>`)
	} else {
		p.put(`Change</button> <a href="`)
		p.text(s.stopHref())
		p.put(`">Stop</a></form>`)
	}
	p.put("\n", `<details class="view"><summary>View</summary><ul class="nav minor">`)
	for _, o := range []struct {
		bit  Options
		what literal
		in   Cmd // Show: in both
	}{
		{NoBalancers, "balancers", List},
		{NoAJP, "AJP workers", List},
		{NoBalancerConf, "balancer configuration", Show},
		{NoBalancerSummary, "balancer summary", Show},
		{NoMembers, "members", Show},
		{NoAJPConf, "AJP configuration", Show},
		{NoMaps, "URI mappings", Show},
		{NoLegend, "legend", Show},
	} {
		if o.in == List && s.query.Cmd != List {
			continue
		}
		verb := literal("Hide ")
		if s.query.Options&o.bit != 0 {
			verb = "Show "
		}
		p.put(`<li>`)
		p.link("", s.hrefWith(s.query.Options^o.bit, s.query.Cmd, s.query.W, s.query.SW), verb+o.what)
		p.put(`</li>`)
	}
	if !s.config.ReadOnly {
		label := literal("Read only")
		if s.query.Options&ReadOnly != 0 {
			label = "Read and write"
		}
		p.put(`<li>`)
		p.link("", s.hrefWith(s.query.Options^ReadOnly, s.query.Cmd, s.query.W, s.query.SW), label)
		p.put(`</li>`)
	}
	p.put("</ul></details></div>\n")
}

// stopHref is this page without refresh.
func (s *service) stopHref() string {
	q := *s.query
	q.Refresh = 0
	t := service{query: &q}
	return t.href(q.Cmd, q.W, q.SW)
}

func (s *service) content(p *page) {
	if s.failure != "" {
		p.put(`<section class="note bad" role="alert"><h2>`, sign(bad), ` Error</h2><p>`)
		p.text(s.failure)
		p.put("</p></section>\n")
		s.changes(p)
		p.put(`<p><a class="button" href="`)
		p.text(s.back())
		p.put(`">Back</a></p>`, "\n")
		return
	}
	switch s.query.Cmd {
	case List:
		s.listPage(p)
	case Show:
		s.actionForm(p)
		if t := &s.target; t.balancer != nil {
			s.balancerSection(p, t.balancer, t.member)
		} else {
			s.ajpSection(p, t.ajp)
		}
	case Edit:
		s.editPage(p)
	case Version:
		p.put(`<section><h2>Version</h2><dl class="facts">`)
		fact(p, "Web server", s.view.Software.WebServer)
		fact(p, "Connector", s.view.Software.JKVersion)
		p.put("</dl></section>\n")
	case Dump:
		s.dumpPage(p)
	default:
		p.put(`<section class="note good" role="status"><h2>`, sign(good), ` Action finished</h2>`)
		if s.query.Cmd == Update && len(s.done) == 0 {
			p.put(`<p>Nothing was to be changed.</p>`)
		}
		p.put("</section>\n")
		s.changes(p)
		p.put(`<p><a class="button" href="`)
		p.text(s.back())
		p.put(`">Back</a> <span class="dim">or wait for three seconds</span></p>`, "\n")
	}
}

// changes lists what was changed.
func (s *service) changes(p *page) {
	if len(s.done) == 0 {
		return
	}
	p.put(`<section><h2>Changes</h2><div class="scroll"><table><thead><tr><th scope="col">Worker</th><th scope="col">Directive</th><th scope="col">Old</th><th scope="col">New</th></tr></thead><tbody>`, "\n")
	for _, d := range s.done {
		p.put(`<tr><td>`)
		p.text(d.target)
		p.put(`</td><th scope="row">`)
		p.text(d.Attribute.String())
		p.put(`</th><td>`)
		p.text(d.Old)
		p.put(`</td><td>`)
		p.text(d.New)
		p.put("</td></tr>\n")
	}
	p.put("</tbody></table></div></section>\n")
}

func (s *service) dumpPage(p *page) {
	p.put(`<section><h2>Configuration</h2><p class="dim">As it was read at the start, macros and references resolved, without secrets. Changes made on these pages are not in it.</p>`,
		`<div class="scroll"><table><thead><tr><th scope="col">Directive</th><th scope="col">Value</th></tr></thead><tbody>`, "\n")
	for _, c := range visible(s.view.Configuration) {
		p.put(`<tr><th scope="row">`)
		p.text(c.Key)
		p.put(`</th><td class="long">`)
		p.text(c.Value)
		p.put("</td></tr>\n")
	}
	p.put("</tbody></table></div></section>\n")
}

// fact writes a name and a value.
func fact(p *page, name literal, value string) {
	p.put(`<div><dt>`, name, `</dt><dd>`)
	p.text(value)
	p.put(`</dd></div>`)
}

// sign is what tells ratings apart without colours.
func sign(r rating) literal {
	switch r {
	case good:
		return `<span class="sign" aria-hidden="true">&#x25CF;</span>`
	case bad:
		return `<span class="sign" aria-hidden="true">&#x25A0;</span>`
	}
	return `<span class="sign" aria-hidden="true">&#x25B2;</span>`
}

func ratingClass(r rating) literal {
	switch r {
	case good:
		return "good"
	case bad:
		return "bad"
	}
	return "degraded"
}
