package jk2

import (
	"math"
	"slices"
	"strings"
	"time"

	"jkd/conf"
)

// mostMembers is how many workers a level of a balancer can have.
const mostMembers = 256

// groups makes the balancers and brings the workers into them: first those
// that a balancer names itself, then those that name a group, or none.
func (b *builder) groups() {
	b.balancer(b.enter(&component{kind: kinds()["lb"], local: "lb", implied: true, props: map[string]*property{}}))
	for _, c := range b.of("lb") {
		if _, ok := b.balancers[c.name()]; !ok {
			b.balancer(c)
		}
	}
	for _, channel := range b.of("channel.socket", "channel.apr", "channel.un") {
		at, ok := b.channels[channel.name()]
		if !ok {
			continue
		}
		i := slices.IndexFunc(b.cfg.Workers, func(w Worker) bool { return w.Channel == at })
		if i >= 0 {
			b.join(i, merged(channel, b.byName[b.cfg.Workers[i].Name])["group"])
		}
	}
	for i := range b.cfg.Balancers {
		b.levels(&b.cfg.Balancers[i])
	}
}

// join makes worker i a member of the balancers of its groups.
func (b *builder) join(i int, p *property) {
	if p == nil {
		b.member(b.balancers[defaultLB], i)
		return
	}
	for _, x := range p.parts {
		name := x.value
		if !strings.Contains(name, ":") {
			name = "lb:" + name
		}
		if !strings.HasPrefix(name, "lb:") || name == "lb:" {
			b.Fail(x.Place, p.key, "%s is no balancer", conf.Printable(x.value))
			continue
		}
		at, ok := b.balancers[name]
		if !ok {
			b.Info(x.Place, p.key, "makes balancer %s%s", conf.Printable(name), conf.DidYouMean(name, b.balancerNames()))
			b.balancer(b.make(x.Place, kinds()["lb"], strings.TrimPrefix(name, "lb:")))
			at = b.balancers[name]
		}
		b.member(at, i)
	}
}

func (b *builder) balancerNames() []string {
	var out []string
	for _, x := range b.cfg.Balancers {
		if x.Name != defaultLB {
			out = append(out, x.Name)
		}
	}
	return out
}

func (b *builder) member(at, worker int) {
	m := &b.cfg.Balancers[at].Members
	if !slices.Contains(*m, worker) {
		*m = append(*m, worker)
	}
}

func (b *builder) balancer(c *component) {
	g := b.get(c)
	x := Balancer{
		Component:     b.common(c),
		StickySession: g.flag("stickySession", true),
		Recovery:      g.seconds("recovery", 60),
		NoWorkerCode:  g.status("noWorkerCode", 503),
		NoWorkerMsg:   g.text("noWorkerMsg", ""),
		NoErrorHeader: g.flag("noErrorHeader", true),
		HWBalanceErr:  g.status("hwBalanceErr", 0),
	}
	if x.Recovery > 24*time.Hour {
		b.Warn(g.at("recovery"), "recovery", "is in seconds, and %d are %s", int(x.Recovery/time.Second), x.Recovery)
	}
	if g.set("noWorkerMsg") && x.NoErrorHeader && x.NoWorkerCode != 302 {
		b.Info(g.at("noWorkerMsg"), "noWorkerMsg", "is not shown: with noErrorHeader=1, the default, the server makes the error page")
	}
	b.balancers[x.Name] = len(b.cfg.Balancers)
	b.cfg.targets[x.Name] = Target{ToBalancer, len(b.cfg.Balancers)}
	b.cfg.Balancers = append(b.cfg.Balancers, x)
	for _, p := range g.list("worker") {
		i, ok := b.workers[p.value]
		if !ok {
			i, ok = b.workers["ajp13:"+p.value]
			if ok {
				b.Warn(p.Place, "worker", "is read as ajp13:%s: names of workers are whole names", conf.Printable(p.value))
			}
		}
		switch {
		case ok:
			b.member(b.balancers[x.Name], i)
		case b.byName[p.value] != nil && b.byName[p.value].disabled():
			b.Info(p.Place, "worker", "%s is disabled: left out", conf.Printable(p.value))
		default:
			b.Fail(p.Place, "worker", "there is no worker %s%s", conf.Printable(p.value), conf.DidYouMean(p.value, b.workerNames()))
		}
	}
}

func (b *builder) workerNames() []string {
	var out []string
	for _, x := range b.cfg.Workers {
		out = append(out, x.Name)
	}
	return out
}

// status reads an HTTP status; 0 is none.
func (g get) status(name string, usual int) int {
	n := g.number(name, math.MinInt32, math.MaxInt32, usual)
	if n != 0 && (n < 200 || n > 999) || n == 0 && usual != 0 {
		g.r.Fail(g.at(name), name, "%d is not an HTTP status", n)
		return usual
	}
	return n
}

// levels looks at the members of a balancer together.
func (b *builder) levels(x *Balancer) {
	var count [Levels]int
	routes := map[string]*Worker{}
	for _, i := range x.Members {
		w := &b.cfg.Workers[i]
		if w.Level < Levels {
			count[w.Level]++
		}
		if old := routes[w.Route]; old != nil && old.Level == w.Level && !w.Disabled && !old.Disabled {
			b.Warn(conf.Place{File: w.File, Line: w.Line}, w.Name, "has the route %s like %s: sessions of either go to one of them", conf.Printable(w.Route), conf.Printable(old.Name))
		}
		routes[w.Route] = w
	}
	for l, n := range count {
		if n > mostMembers {
			b.Fail(conf.Place{File: x.File, Line: x.Line}, x.Name, "has %d workers on level %d, more than %d", n, l, mostMembers)
		}
	}
	if x.HWBalanceErr != 0 && count[0] == 0 {
		b.Warn(conf.Place{File: x.File, Line: x.Line}, "hwBalanceErr", "only level 0 gets new sessions, and there is no worker on it")
	}
}
