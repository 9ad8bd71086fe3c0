package status

import (
	"strconv"

	"jkd/connector/jk/balance"
)

// help says what an attribute is, where its name does not.
var help = [attributeCount]literal{
	LBRetries:              "rounds over the members, the first included",
	LBRetryInterval:        "pause between two rounds",
	LBRecoverTime:          "rest of a member in error",
	LBErrorEscalationTime:  "after this time lasting errors take a busy member out",
	LBMaxReplyTimeouts:     "late answers that are put up with",
	LBStickySession:        "requests of a session go to its member",
	LBStickySessionForce:   "they fail rather than go to another one",
	LBMethod:               "what the load is counted in",
	LBLock:                 "how processes agree on a member",
	Activation:             "whether it may be used",
	LBFactor:               "its share of the load",
	Route:                  "what the ids of its sessions end in",
	Redirect:               "route of the member that stands in for it",
	Domain:                 "members that know each other's sessions",
	Distance:               "the nearest usable members get the requests",
	Port:                   "0: not contacted",
	ConnectionPoolTimeout:  "idle connections are closed; 0: never",
	PingTimeout:            "wait for an answer to a ping",
	ConnectTimeout:         "the same on a new connection; 0: no ping",
	PrepostTimeout:         "the same before a request; 0: no ping",
	ReplyTimeout:           "wait for each part of an answer; 0: no limit",
	Retries:                "attempts, the first included",
	RetryInterval:          "pause between two attempts",
	ConnectionPingInterval: "idle connections are pinged",
	RecoveryOptions:        "sum of 1, 2, 4, 8 and 16",
	BusyLimit:              "requests in hand; 0: no limit",
	MaxPacketSize:          "must be the container's too",
}

// editPage is a form for what the query names.
func (s *service) editPage(p *page) {
	q, t := s.query, &s.target
	p.put(`<section class="worker"><h2><small>Edit</small> `)
	if t.member != nil {
		p.text(t.member.Name)
		p.put(` <small>in</small> `)
	}
	w, sw := t.names()
	p.text(w)
	p.put("</h2>\n", `<p class="dim">Changes hold at once, in all processes and across reloads, until the server is stopped.</p>`, "\n",
		`<form method="post" action="?" class="edit">`)
	p.hidden("cmd", Update.String())
	p.hidden("w", w)
	if sw != "" {
		p.hidden("sw", sw)
	}
	if q.Options != 0 {
		p.hidden("opt", strconv.Itoa(int(q.Options)))
	}
	if q.From == Show {
		p.hidden("from", Show.String())
		if psw, _ := q.param("psw"); psw != "" {
			p.hidden("psw", psw)
		}
	}
	if s.in.Token != "" {
		p.hidden("token", s.in.Token)
	}
	p.put("\n")
	if q.Att != "" {
		s.editAll(p)
	} else {
		s.group(p, "Balancer", ofBalancer)
		s.group(p, "Balancing", ofMember)
		s.group(p, "AJP", ofEndpoint)
	}
	p.put(`<p><button type="submit" class="button">Update</button> <a class="button plain" href="`)
	p.text(s.back())
	p.put(`">Cancel</a></p></form></section>`, "\n")
	if t.balancer != nil && t.member == nil {
		s.editMore(p)
	}
}

// editMore leads to the other forms of a balancer.
func (s *service) editMore(p *page) {
	b := s.target.balancer
	p.put(`<section class="worker"><h2>Members</h2><ul class="nav minor">`)
	for i := range b.Members {
		p.put(`<li><a href="`)
		p.text(s.href(Edit, b.Name, b.Members[i].Name))
		p.put(`">`)
		p.text(b.Members[i].Name)
		p.put(`</a></li>`)
	}
	p.put(`</ul><h3>One directive of all members</h3><ul class="nav minor">`)
	for a := noAttribute + 1; a < attributeCount; a++ {
		if _, ok := common(a.Code()); ok {
			p.put(`<li><a href="`)
			p.text(s.href(Edit, b.Name, "", "att", a.Code()))
			p.put(`">`)
			p.text(a.String())
			p.put(`</a></li>`)
		}
	}
	p.put("</ul></section>\n")
}

// group is the fields of one scope.
func (s *service) group(p *page, title literal, of scope) {
	t := &s.target
	if !t.has(of) {
		return
	}
	p.put(`<fieldset><legend>`, title, `</legend>`, "\n")
	for a := noAttribute + 1; a < attributeCount; a++ {
		if d := &definitions[a]; d.scope == of {
			p.put(`<div class="field"><label for="`)
			p.text(d.code)
			p.put(`">`)
			p.text(d.name)
			p.put(`</label>`)
			d.input(p, d.code, d.code, t)
			hint := help[a]
			p.put(`<small>`)
			if u := unit(d.kind); u != "" {
				p.put(u)
				if hint != "" {
					p.put(`; `)
				}
			}
			p.put(hint, `</small></div>`, "\n")
		}
	}
	p.put(`</fieldset>`, "\n")
}

func unit(k kind) literal {
	switch k {
	case milliseconds:
		return "ms"
	case seconds:
		return "s"
	case packet:
		return "bytes, a multiple of 1024"
	}
	return ""
}

// editAll is one attribute of all members.
func (s *service) editAll(p *page) {
	a, _ := common(s.query.Att)
	d := &definitions[a]
	p.hidden("att", d.code)
	p.put(`<fieldset><legend>`)
	p.text(d.name)
	if u := unit(d.kind); u != "" {
		p.put(` <small>`, u, `</small>`)
	}
	p.put(`</legend>`, "\n")
	b := s.target.balancer
	for i := range b.Members {
		key := "val" + strconv.Itoa(i)
		p.put(`<div class="field"><label for="`)
		p.text(key)
		p.put(`">`)
		p.text(b.Members[i].Name)
		p.put(`</label>`)
		d.input(p, key, key, &target{balancer: b, member: &b.Members[i]})
		p.put(`<small>`, help[a], `</small></div>`, "\n")
	}
	p.put(`</fieldset>`, "\n")
}

// input is the control for one value.
func (d *definition) input(p *page, id, name string, t *target) {
	v := d.value(t)
	p.put(` <input type="hidden" name="`, before)
	p.text(name)
	p.put(`" value="`)
	p.text(d.form(v))
	p.put(`">`)
	attrs := func() {
		p.put(` id="`)
		p.text(id)
		p.put(`" name="`)
		p.text(name)
		p.put(`"`)
	}
	switch d.kind {
	case boolean:
		// The last value of a name counts: 0 when the box is not ticked.
		p.put(`<input type="hidden" name="`)
		p.text(name)
		p.put(`" value="0"><input type="checkbox" value="1"`)
		attrs()
		if v.num != 0 {
			p.put(` checked`)
		}
		p.put(`>`)
	case activation:
		d.choice(p, attrs, v, func(n int) (string, bool) {
			a := balance.Activation(n)
			return a.Word(), a.Valid()
		})
	case method:
		d.choice(p, attrs, v, func(n int) (string, bool) {
			m := balance.Method(n)
			return m.String(), m.Valid()
		})
	case lock:
		d.choice(p, attrs, v, func(n int) (string, bool) {
			l := balance.Lock(n)
			return l.String(), l <= balance.Pessimistic
		})
	case word, host:
		p.put(`<input type="text" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="`)
		p.number(d.most)
		p.put(`"`)
		attrs()
		if d.least > 0 {
			p.put(` required`)
		}
		p.put(` value="`)
		p.text(v.text)
		p.put(`">`)
	default:
		p.put(`<input type="number" min="`)
		p.number(min(d.least, d.number(v)))
		p.put(`" max="`)
		p.number(d.most)
		p.put(`"`)
		if d.kind == packet && d.number(v)%packetStep == 0 {
			p.put(` step="1024"`)
		}
		attrs()
		p.put(` value="`)
		p.text(d.show(v))
		p.put(`">`)
	}
}

// form is how a form sends a value.
func (d *definition) form(v value) string {
	switch d.kind {
	case boolean, activation, method, lock:
		return strconv.Itoa(v.num)
	}
	return d.show(v)
}

// number is what a number field shows.
func (d *definition) number(v value) int {
	n, _ := strconv.Atoi(d.show(v))
	return n
}

// choice is a list to choose from. Its values are the numbers of an enumeration.
func (d *definition) choice(p *page, attrs func(), v value, name func(int) (string, bool)) {
	p.put(`<select`)
	attrs()
	p.put(`>`)
	for n := 0; ; n++ {
		label, ok := name(n)
		if !ok {
			break
		}
		p.put(`<option value="`)
		p.number(n)
		p.put(`"`)
		if n == v.num {
			p.put(` selected`)
		}
		p.put(`>`)
		p.text(label)
		p.put(`</option>`)
	}
	p.put(`</select>`)
}
