package jk

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"jkd/conf"
)

// member reads what a balancer knows about worker name.
func (g get) member(name string) MemberConfig {
	m := MemberConfig{
		LBFactor: g.raised("lbfactor", 1, 1),
		Distance: int(g.number("distance", -math.MaxInt32, math.MaxInt32, 0)), // as much as the segment holds
		Domain:   g.short("domain", ""),
		Redirect: g.short("redirect", ""),
	}
	route := "route"
	if !g.set(route) {
		route = "jvm_route"
	}
	m.Route = g.short(route, name)
	if !g.set("domain") {
		if before, _, dotted := strings.Cut(m.Route, "."); dotted {
			m.Domain = before
		}
	}
	switch {
	case g.set("activation"):
		m.Activation = Activation(g.letter("activation", []string{"active", "disabled", "stopped"}, "ads"))
	case g.bool("stopped", false):
		m.Activation = Stopped
	case g.bool("disabled", false):
		m.Activation = Disabled
	}
	return m
}

// balancer reads an lb worker and builds its members.
func (b *builder) balancer(d *definition, g get) *LBConfig {
	c := &LBConfig{
		StickySession:      g.bool("sticky_session", true),
		StickySessionForce: g.bool("sticky_session_force", false),
		Method:             Method(g.letter("method", []string{"Request", "Traffic", "Busyness", "Session", "Next"}, "rtbsn")),
		Lock:               Lock(g.letter("lock", []string{"Optimistic", "Pessimistic"}, "op")),
		Retries:            g.raised("retries", 1, 2),
		RetryInterval:      g.time("retry_interval", time.Millisecond, 100*time.Millisecond, negativeIsZero),
		LBRetries:          g.raised("lb_retries", 1, 2),
		MaxReplyTimeouts:   max(0, int(g.number("max_reply_timeouts", math.MinInt32, math.MaxInt32, 0))),
		SessionCookie:      g.short("session_cookie", "JSESSIONID"),
		SessionPath:        g.short("session_path", ";jsessionid"),
		SetSessionCookie:   g.bool("set_session_cookie", false),
		SessionCookiePath:  g.short("session_cookie_path", "/"),
		Secret:             g.text("secret", ""),
		MaxPacketSize:      g.packetSize(),
	}
	c.RecoverTime = time.Duration(g.raised("recover_time", 1, 60)) * time.Second
	g.unit("recover_time", time.Second, int64(c.RecoverTime/time.Second))
	c.ErrorEscalationTime = g.time("error_escalation_time", time.Second, c.RecoverTime/2, negativeIsZero)

	names := "balance_workers"
	if !g.set(names) {
		names = "balanced_workers"
	}
	have := map[string]bool{}
	for _, part := range g.parts(names) {
		at := place{part.File, part.Line}
		for _, name := range split(part.Value) {
			if have[name] {
				b.info(at, g.own[names].Name, "member %s is given twice", conf.Printable(name))
				continue
			}
			have[name] = true
			if m, ok := b.memberOf(d, c, name, at, g.own[names].Name); ok {
				c.Members = append(c.Members, m)
			}
		}
	}
	if len(have) == 0 {
		b.fail(d.at, workerPrefix+d.name, "a balancer needs balance_workers")
	}
	b.routes(c)
	return c
}

// packetSizes gives members that have no max_packet_size the largest of the
// balancers they are in. A worker is one back end wherever it is named: all
// copies of it get the same, also those that are read before the balancer.
func (b *builder) packetSizes() {
	balancers := b.cfg.balancers()
	inherited := map[string]int{}
	for _, w := range balancers {
		for i := range w.LB.Members {
			if name := w.LB.Members[i].Name; b.workers[name].own["max_packet_size"] == nil {
				inherited[name] = max(inherited[name], w.LB.MaxPacketSize)
			}
		}
	}
	inherit := func(w *WorkerConfig) {
		a := &w.AJP
		a.MaxPacketSize = max(a.MaxPacketSize, inherited[w.Name])
		if a.SocketBuffer > 0 {
			a.SocketBuffer = max(a.SocketBuffer, a.MaxPacketSize)
		}
	}
	for i := range b.cfg.Workers {
		if w := &b.cfg.Workers[i]; w.Type == AJP13 {
			inherit(w)
		}
	}
	for _, w := range balancers {
		for i := range w.LB.Members {
			inherit(&w.LB.Members[i])
			w.LB.MaxPacketSize = max(w.LB.MaxPacketSize, w.LB.Members[i].AJP.MaxPacketSize)
		}
	}
}

// memberOf builds one member. As in mod_jk a name without directives is a
// container at localhost:8009, but mostly it is a misspelling.
func (b *builder) memberOf(lb *definition, c *LBConfig, name string, at place, key string) (WorkerConfig, bool) {
	d := b.workers[name]
	if d == nil || len(d.own) == 0 {
		others := slices.DeleteFunc(b.otherNames(lb.name), func(n string) bool { return n == name })
		b.warn(at, key, "member %s is not defined: ajp13 at localhost:8009 is used%s", conf.Printable(name), conf.DidYouMean(name, others))
	}
	if d == nil {
		d = b.define(name, at)
		b.checkName(d)
	}
	d.used = true
	info := b.cfg.names[name]
	if info.memberOf == "" {
		info.memberOf = lb.name
	}
	if p := d.own["type"]; p != nil {
		t, ok := workerTypes[p.Value()]
		if !ok {
			return WorkerConfig{}, false // reported by checkType
		}
		if t != AJP13 {
			b.fail(at, key, "member %s is of type %s, only ajp13 can be balanced", conf.Printable(name), t)
			return WorkerConfig{}, false
		}
	}
	m := b.worker(d)
	if m.AJP.Secret == "" {
		m.AJP.Secret = c.Secret
	}
	return m, true
}

// routes checks that no two members share a route and that redirects lead
// somewhere.
func (b *builder) routes(c *LBConfig) {
	owner := map[string]string{}
	for i := range c.Members {
		m := &c.Members[i]
		if other, taken := owner[m.Member.Route]; taken {
			at, key := b.written(m.Name, "route", "jvm_route")
			b.fail(at, key, "route %s is that of member %s too: they share the same route", conf.Printable(m.Member.Route), conf.Printable(other))
			continue
		}
		owner[m.Member.Route] = m.Name
	}
	for i := range c.Members {
		m := &c.Members[i]
		at, key := b.written(m.Name, "redirect")
		switch r := m.Member.Redirect; {
		case r == "":
		case owner[r] == m.Name:
			b.warn(at, key, "leads to the member itself")
		case owner[r] == "":
			b.warn(at, key, "no member has the route %s%s", conf.Printable(r), conf.DidYouMean(r, slices.Sorted(maps.Keys(owner))))
		}
	}
}

// written is where the first of the directives that worker name has stands, or
// else the worker itself.
func (b *builder) written(name string, directives ...string) (place, string) {
	d := b.workers[name]
	for _, dir := range directives {
		if p := d.own[dir]; p != nil {
			return p.at(), p.Name
		}
	}
	return d.at, workerPrefix + name
}

// status reads a status worker.
func (g get) status() *StatusConfig {
	c := &StatusConfig{
		CSS:                 g.text("css", ""),
		ReadOnly:            g.bool("read_only", false),
		Users:               g.words("user"),
		UserCaseInsensitive: g.bool("user_case_insensitive", false),
		AllowGetUpdate:      g.bool("allow_get_update", false),
		Good:                g.words("good", "a.o", "a.i", "a.b", "a.r"),
		Bad:                 g.words("bad", "s", "e"),
		Prefix:              g.text("prefix", "worker"),
		NS:                  g.text("ns", "jk:"),
		XMLNS:               g.text("xmlns", `xmlns:jk="http://tomcat.apache.org"`),
		Doctype:             g.text("doctype", ""),
	}
	for _, list := range []struct {
		name  string
		items []string
	}{{"good", c.Good}, {"bad", c.Bad}} {
		for _, item := range list.items {
			if err := checkRating(item); err != nil {
				p := g.own[list.name]
				g.b.warn(p.at(), p.Name, "%s", err)
			}
		}
	}
	return c
}

// checkRating looks at one item of good or bad: an activation, a state, or
// both with a '.' between them.
func checkRating(item string) error {
	a, s, both := strings.Cut(item, ".")
	first := func(word, letters string) bool { return word != "" && strings.IndexByte(letters, word[0]|0x20) >= 0 }
	if both && first(a, "ads") && first(s, "oinbre") || !both && first(a, "adsoinbre") {
		return nil
	}
	return fmt.Errorf("%s is no activation, state or activation.state", conf.Printable(item))
}
