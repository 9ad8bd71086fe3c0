package jk2

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"jkd/conf"
	"jkd/connector/resolve"
)

// transports makes channels and their workers. The order of workers is
// mod_jk2's: those of channels first, as the channels were written.
func (b *builder) transports() {
	owners := b.owners()
	for _, c := range b.of("channel.socket", "channel.apr", "channel.un") {
		if w := owners[c]; w != nil {
			b.channel(c)
			b.worker(c, w)
		}
	}
	for _, w := range b.of("ajp13") {
		if _, ok := b.workers[w.name()]; ok {
			continue
		}
		if w.disabled() {
			b.Info(w.at, w.title(), "is disabled and has no channel: left out")
			continue
		}
		b.Fail(w.at, w.title(), "has no channel: there is no [channel.socket:%s]%s", conf.Printable(w.local), conf.DidYouMean(w.local, b.locals()))
	}
}

func (b *builder) locals() []string {
	var out []string
	for _, c := range b.of("channel.socket", "channel.apr", "channel.un") {
		out = append(out, c.local)
	}
	return out
}

// owners finds the worker of each channel: the ajp13 of the same local name,
// or one that names the channel and has none of its own name. mod_jk2 reads
// channel= and does nothing with it, so that such a worker fails; what is
// meant is plain. A channel without either makes a worker of its name.
func (b *builder) owners() map[*component]*component {
	channels := b.of("channel.socket", "channel.apr", "channel.un")
	byLocal := map[string]*component{}
	for _, c := range channels {
		if old := byLocal[c.local]; old != nil {
			b.Fail(c.at, c.title(), "makes worker ajp13:%s, which has a channel already: %s (%s)", conf.Printable(c.local), old.title(), old.at)
			continue
		}
		byLocal[c.local] = c
	}
	owners := map[*component]*component{}
	for _, w := range b.of("ajp13") {
		if c := byLocal[w.local]; c != nil {
			owners[c] = w
		}
	}
	for _, w := range b.of("ajp13") {
		p := w.props["channel"]
		if p == nil {
			continue
		}
		x, name := p.last(), p.last().value
		if !strings.Contains(name, ":") {
			name += ":"
		}
		own, named := byLocal[w.local], b.byName[name]
		switch {
		case named == nil || !strings.HasPrefix(named.kind.typ, "channel."):
			b.Warn(x.Place, p.key, "there is no channel %s%s", conf.Printable(x.value), conf.DidYouMean(x.value, b.channelNames()))
		case own == named:
		case own != nil:
			b.Warn(x.Place, p.key, "has no effect: the worker's channel is the one of its own name, %s", own.title())
		case owners[named] != nil:
			b.Warn(x.Place, p.key, "has no effect: %s is the channel of %s", named.title(), owners[named].title())
		default:
			b.Warn(x.Place, p.key, "makes %s the channel of this worker; mod_jk2 would have given the channel a worker of its own name and this one none", named.title())
			owners[named] = w
		}
	}
	for _, c := range channels {
		if owners[c] == nil && byLocal[c.local] == c {
			w := b.make(c.at, kinds()["ajp13"], c.local)
			w.implied = len(w.props) == 0
			owners[c] = w
		}
	}
	return owners
}

func (b *builder) channelNames() []string {
	var out []string
	for _, c := range b.of("channel.socket", "channel.apr", "channel.un") {
		out = append(out, c.name())
	}
	return out
}

const (
	normalHost = "127.0.0.1"
	normalPort = 8009
)

func (b *builder) channel(c *component) {
	g := b.get(c)
	x := Channel{Component: b.common(c)}
	if c.kind.typ == "channel.un" {
		x.Kind = Unix
		b.unix(c, &x)
	} else {
		x.Host, x.Port = b.address(c)
		x.Timeout = g.seconds("timeout", 0)
		x.KeepAlive = g.flag("keepalive", false)
		x.NoDelay = g.flag("nodelay", false)
	}
	b.channels[x.Name] = len(b.cfg.Channels)
	b.cfg.Channels = append(b.cfg.Channels, x)
}

// address settles host and port, which may be said twice: by the name of the
// channel and by its properties. A host that is given makes the given port
// count too; otherwise the name has the last word on the port.
func (b *builder) address(c *component) (string, int) {
	g := b.get(c)
	host, text, _ := strings.Cut(c.local, ":")
	port, named := normalPort, false
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 65536 {
		port, named = n, true
	} else if text != "" && !(g.set("host") && g.set("port")) {
		b.Fail(c.at, c.title(), "%s is no port", conf.Printable(text))
	}
	if g.set("port") {
		n := g.number("port", 1, 65535, port)
		if named && !g.set("host") && n != port {
			b.Warn(g.at("port"), "port", "has no effect: the name of the channel says %d, and only host and port together count more", port)
		} else {
			port = n
		}
	}
	if host == "" {
		host = normalHost
	}
	at, key := c.at, c.title()
	if g.set("host") {
		host = g.text("host", host)
		at, key = g.at("host"), "host"
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if strings.ContainsAny(host, " \t/,") {
		b.Fail(at, key, "%s is neither a host name nor an address", conf.Printable(host))
	}
	return host, port
}

// mostPath is the longest path of a Unix socket that every system takes.
const mostPath = 103

func (b *builder) unix(c *component, x *Channel) {
	g := b.get(c)
	// The name is the only one in which macros are replaced.
	local, _ := macros.Expand(&b.Report, c.at, c.title(), c.local, b.lookup)
	x.Path = g.text("file", local)
	switch {
	case x.Path == "" || !strings.HasPrefix(x.Path, "/"):
		b.Fail(c.at, c.title(), "needs the socket's path, as its name or as file=, and it begins with '/'")
	case len(x.Path) > mostPath:
		b.Fail(c.at, c.title(), "the path of the socket has %d bytes, more than %d", len(x.Path), mostPath)
	}
	if g.number("listen", math.MinInt32, math.MaxInt32, 0) != 0 {
		b.Fail(g.at("listen"), "listen", "jkd connects to the container and does not wait for it; leave the line out")
	}
}

// worker makes the worker of a channel, whose section may hold its properties.
func (b *builder) worker(channel, w *component) {
	g := get{&b.Report, merged(channel, w)}
	c := b.common(w)
	at := b.channels[channel.name()]
	ch := &b.cfg.Channels[at]
	c.Disabled = c.Disabled || ch.Disabled
	c.Debug = max(c.Debug, ch.Debug)
	route := w.local
	switch {
	case g.set("route") && g.set("tomcatId") && g.text("route", "") != g.text("tomcatId", ""):
		b.Warn(g.at("route"), "route", "and tomcatId are the same property, and the last of them counts")
		route = g.text("route", "")
		if g.props["tomcatId"].last().seq > g.props["route"].last().seq {
			route = g.text("tomcatId", "")
		}
	case g.set("route"), g.set("tomcatId"):
		route = g.text("route", g.text("tomcatId", ""))
	}
	x := Worker{
		Component:      c,
		Channel:        at,
		Route:          route,
		RouteRedirect:  g.text("routeRedirect", ""),
		LBFactor:       g.number("lb_factor", 0, math.MaxInt32, 1),
		Level:          g.number("level", 0, math.MaxInt32, 0),
		Graceful:       g.flag("graceful", false),
		MaxConnections: g.number("max_connections", math.MinInt32, math.MaxInt32, 0),
		Secret:         g.text("secretkey", ""),
		ConnectTimeout: g.millis("connectTimeout"),
		PrepostTimeout: g.millis("prepostTimeout"),
		ReplyTimeout:   g.millis("replyTimeout"),
	}
	x.MaxConnections = max(x.MaxConnections, 0)
	switch {
	case x.Level >= Levels:
		b.Warn(g.at("level"), "level", "%d is beyond the last level, %d: no balancer uses the worker", x.Level, Levels-1)
	case x.LBFactor == 0:
		b.Warn(g.at("lb_factor"), "lb_factor", "0 is no cost at all: the worker gets every request of its level")
	case x.LBFactor > 1:
		b.Info(g.at("lb_factor"), "lb_factor", "is a cost: with %d the worker gets %d times fewer requests than one with 1", x.LBFactor, x.LBFactor)
	}
	if x.Secret == "" && !x.Disabled && ch.Kind == Socket && !resolve.Loopback(ch.Host) {
		b.Warn(w.at, w.title(), "has no secretkey, and %s is not this machine: whoever reaches the port can be any user to the container (secretkey here and secret there, or secretRequired=false there)", conf.Printable(ch.Host))
	}
	b.workers[x.Name] = len(b.cfg.Workers)
	b.cfg.targets[x.Name] = Target{ToWorker, len(b.cfg.Workers)}
	b.cfg.Workers = append(b.cfg.Workers, x)
}

// merged is the properties of a worker: its own and those in the section of
// its channel, in the order they were written.
func merged(channel, w *component) map[string]*property {
	out := map[string]*property{}
	for name := range workerKeys() {
		for _, c := range []*component{channel, w} {
			p := c.props[name]
			if p == nil || c == channel && channel.kind.keys[name].readOnly {
				continue
			}
			q := out[name]
			if q == nil {
				q = &property{key: name}
				out[name] = q
			}
			q.parts = append(q.parts, p.parts...)
		}
		if q := out[name]; q != nil {
			slices.SortFunc(q.parts, func(x, y part) int { return x.seq - y.seq })
		}
	}
	return out
}
