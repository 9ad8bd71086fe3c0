package jk2

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"jkd/conf"
)

// Uri is one uri component: a rule, a context or a host.
type Uri struct {
	Component
	Kind UriKind
	// Host is in lower case, "*" for every host that has no component of its
	// own; Port is 0 for any.
	Host string
	Port int
	// Path is the pattern as written; of a Regexp the expression; "" of a
	// Host.
	Path   string
	Target Target // group
	// Context is context; such rules belong to that context of their host.
	Context string
	Servlet string // servlet, for display only
	// Aliases are other names of a Host, "host" or "host:port".
	Aliases []string
	// InheritGlobals: the rules of host "*" hold here too, default true. Of a
	// Host only.
	InheritGlobals bool
	Timing         bool // timing, or that of workerEnv
	// VHost is the virtual host of a Location as in connector.Request.
	VHost int

	re *regexp.Regexp
}

// UriKind is what a uri component is.
type UriKind uint8

// The kinds.
const (
	Exact    UriKind = iota
	Prefix           // "/a/*"
	Wildcard         // '*' or '?' elsewhere: compared with the whole path
	Regexp           // [uri:$RE] or [uri:host$RE]
	Context          // names a context and maps nothing
	Host             // no path
	Location         // JkUriSet: the path and all below it
)

var uriKindNames = []string{"exact", "prefix", "suffix", "regexp", "context", "host", "location"}

// String returns mod_jk2's word for it (match_type), and "location", for which
// it has none.
func (k UriKind) String() string {
	if int(k) < len(uriKindNames) {
		return uriKindNames[k]
	}
	return fmt.Sprintf("UriKind(%d)", uint8(k))
}

// uriName is what the local name of a uri component says. A name without '/'
// and '$' is a host.
func uriName(local string) (host string, port int, path string, isRegexp bool, err error) {
	path = ""
	host = local
	slash, dollar := strings.IndexByte(local, '/'), strings.IndexByte(local, '$')
	switch {
	case dollar >= 0 && (slash < 0 || dollar < slash):
		host, path, isRegexp = local[:dollar], local[dollar+1:], true
	case slash >= 0:
		host, path = local[:slash], local[slash:]
	}
	host, port, err = hostPort(host)
	if host == "" {
		host = anyHost
	}
	return host, port, path, isRegexp, err
}

// anyHost is the host of rules without one.
const anyHost = "*"

func hostPort(text string) (host string, port int, err error) {
	host, digits, ok := strings.Cut(text, ":")
	if ok {
		port, err = strconv.Atoi(digits)
		if err != nil || port < 1 || port > 65535 {
			return "", 0, fmt.Errorf("%s is no port", conf.Printable(digits))
		}
	}
	return strings.TrimSuffix(strings.ToLower(host), "."), port, nil
}

func locationID(vhost int, path string) string { return fmt.Sprintf("location:%d:%s", vhost, path) }

// locationObject is the component of a JkUriSet.
func (o *objects) locationObject(at conf.Place, s Set) *component {
	switch {
	case !strings.HasPrefix(s.Object, "/"):
		o.Fail(at, "JkUriSet", "%s is no path", conf.Printable(s.Object))
		return nil
	case strings.ContainsAny(s.Object, "*?"):
		o.Fail(at, "JkUriSet", "is not possible for a pattern: write a section [uri:%s] in workers2.properties", conf.Printable(s.Object))
		return nil
	}
	return o.enter(&component{kind: kinds()["uri"], local: s.Object, at: at, props: map[string]*property{}, location: true, vhost: s.VHost})
}

func (b *builder) uris() {
	declared := map[string]bool{}
	for _, c := range b.of("uri") {
		if host, _, path, re, err := uriName(c.local); err == nil && path == "" && !re {
			declared[host] = true
		}
	}
	for _, c := range b.of("uri") {
		b.uri(c, declared)
	}
	b.doubles()
}

func (b *builder) uri(c *component, declared map[string]bool) {
	g := b.get(c)
	u := Uri{
		Component:      b.common(c),
		Context:        g.text("context", ""),
		Servlet:        g.text("servlet", ""),
		InheritGlobals: g.flag("inheritGlobals", true),
		Timing:         g.number("timing", -1<<31, 1<<31-1, 0) == 1 || b.cfg.WorkerEnv.Timing,
	}
	for _, a := range g.list("alias") {
		host, port, err := hostPort(a.value)
		switch {
		case err != nil:
			b.Fail(a.Place, "alias", "%s", err)
		case port > 0:
			u.Aliases = append(u.Aliases, host+":"+strconv.Itoa(port))
		default:
			u.Aliases = append(u.Aliases, host)
		}
	}
	b.uriKind(c, &u, declared)
	if u.Kind != Host {
		for _, name := range []string{"alias", "inheritGlobals"} {
			if g.set(name) {
				b.Warn(g.at(name), name, "has no effect: it is for hosts, and %s is none", c.title())
			}
		}
	}
	b.target(c, &u)
	if u.Disabled && u.Kind != Host {
		b.Warn(g.at("disabled"), "disabled", "the rule maps nothing; mod_jk2 would map it all the same")
	}
	b.cfg.Uris = append(b.cfg.Uris, u)
}

// uriKind finds out what a uri is.
func (b *builder) uriKind(c *component, u *Uri, declared map[string]bool) {
	if c.location {
		u.Kind, u.Host, u.Path, u.VHost = Location, anyHost, c.local, c.vhost
		b.unmatchable(c, u.Path)
		return
	}
	host, port, path, re, err := uriName(c.local)
	if err != nil {
		b.Fail(c.at, c.title(), "%s", err)
		return
	}
	u.Host, u.Port, u.Path = host, port, path
	switch {
	case re:
		u.Kind = Regexp
		b.expression(c, u)
		return
	case path == "":
		u.Kind = Host
		if strings.ContainsAny(c.local, "*?") && host != anyHost {
			b.Warn(c.at, c.title(), "'*' and '?' mean nothing in the name of a host")
		}
		return
	case path == u.Context:
		u.Kind = Context
	case strings.HasSuffix(path, "*"):
		u.Kind = Prefix
		if strings.ContainsAny(path[:len(path)-1], "*?") {
			b.Warn(c.at, c.title(), "the '*' at the end makes it a prefix, in which other '*' and '?' stand for themselves")
		} else if !strings.HasSuffix(path, "/*") {
			b.Warn(c.at, c.title(), "is the path %s alone: '*' stands for more only behind a '/'", conf.Printable(path[:len(path)-1]))
		}
	case strings.ContainsAny(path, "*?"):
		u.Kind = Wildcard
	}
	b.unmatchable(c, path)
	if !declared[host] && host != anyHost && port == 0 && host != "localhost" && !strings.Contains(host, ".") {
		b.Warn(c.at, c.title(), "what stands before the '/' is a host: this is %s on host %s, which is most likely not meant", conf.Printable(path), conf.Printable(host))
	}
	if u.Context != "" && u.Kind != Context {
		switch literal, _, _ := strings.Cut(path, "*"); {
		case !strings.HasPrefix(u.Context, "/"):
			b.Fail(b.get(c).at("context"), "context", "%s does not begin with '/'", conf.Printable(u.Context))
		case !strings.HasPrefix(literal, u.Context) && (u.Kind != Wildcard || !strings.HasPrefix(u.Context, literal)):
			b.Warn(b.get(c).at("context"), "context", "the rule matches nothing: only paths that begin with %s are compared with it", conf.Printable(u.Context))
		}
	}
}

// expression compiles a regular expression. They are RE2's, which has all of
// POSIX's syntax but no references back; as in mod_jk2 they may match anywhere
// in the path unless they say ^ and $.
func (b *builder) expression(c *component, u *Uri) {
	re, err := regexp.Compile(u.Path)
	if err == nil {
		u.re = re
		return
	}
	msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	if strings.Count(u.Path, "[") > strings.Count(u.Path, "]") {
		msg += " (the header of a section ends at its first ']': use (a|b) or \\d)"
	}
	b.Fail(c.at, c.title(), "the expression is bad: %s", msg)
}

// unmatchable warns of paths that no request has once it is prepared for
// comparison.
func (b *builder) unmatchable(c *component, path string) {
	for _, never := range []string{"//", "/./", "/../", ";"} {
		if strings.Contains(path, never) {
			b.Warn(c.at, c.title(), "matches no path: they are compared without %q in them", never)
			return
		}
	}
	if strings.Contains(path, "%") {
		b.Warn(c.at, c.title(), "is compared with the decoded path, where '%%' stands for itself")
	}
}

// target finds the component that answers for a uri.
func (b *builder) target(c *component, u *Uri) {
	g := b.get(c)
	name := "group"
	switch {
	case g.set("worker") && g.set("group"):
		if g.props["worker"].last().seq > g.props["group"].last().seq {
			name = "worker"
		}
	case g.set("worker"):
		name = "worker"
	}
	if g.set("worker") {
		b.Warn(g.at("worker"), "worker", "is an old name, group is the current one")
	}
	value := g.text(name, "")
	switch {
	case u.Kind == Host || u.Kind == Context:
		if value == "" {
			return
		}
		if u.Kind == Host {
			b.Warn(g.at(name), name, "has no effect: the rules of a host do not inherit it")
		} else {
			b.Warn(g.at(name), name, "has no effect: with a context that is its own path the section names a context and maps nothing; write [uri:%s/*]", conf.Printable(u.Path))
		}
		return
	case value == "":
		u.Target = b.cfg.targets[defaultLB]
		return
	}
	if t, ok := b.cfg.Target(value); ok {
		u.Target = t
		return
	}
	if local, ok := strings.CutPrefix(value, "status:"); ok {
		b.Info(g.at(name), name, "makes the status page %s, which has no section", conf.Printable(value))
		b.status(b.make(g.at(name), kinds()["status"], local))
		u.Target = b.cfg.targets[value]
		return
	}
	if k := b.byName[value]; k != nil && k.kind.foreign != "" {
		b.Fail(g.at(name), name, "%s is nothing jkd has: %s", k.title(), k.kind.foreign)
		return
	}
	known := b.workerNames()
	for _, x := range b.cfg.Balancers {
		known = append(known, x.Name)
	}
	for _, x := range b.cfg.Statuses {
		known = append(known, x.Name)
	}
	b.Fail(g.at(name), name, "there is no worker %s%s", conf.Printable(value), conf.DidYouMean(value, known))
}

// doubles warns of two sections for one rule: [uri:/a] and [uri:*/a].
func (b *builder) doubles() {
	type rule struct {
		kind UriKind
		host string
		port int
		path string
	}
	seen := map[rule]*Uri{}
	for i := range b.cfg.Uris {
		u := &b.cfg.Uris[i]
		if u.Kind == Location || u.Disabled {
			continue
		}
		r := rule{u.Kind, u.Host, u.Port, u.Path}
		if old := seen[r]; old != nil {
			b.Warn(conf.Place{File: u.File, Line: u.Line}, "["+u.Name+"]", "is the same rule as [%s] (%s), which counts", old.Name, conf.Place{File: old.File, Line: old.Line})
			continue
		}
		seen[r] = u
	}
}

// unused says which mapped balancers have nobody in them, and that nothing is
// mapped at all.
func (b *builder) unused() {
	mapped := false
	for i := range b.cfg.Uris {
		u := &b.cfg.Uris[i]
		if u.Target.Kind == NoTarget || u.Disabled {
			continue
		}
		mapped = true
		if u.Target.Kind == ToBalancer && len(b.cfg.Balancers[u.Target.Index].Members) == 0 {
			b.Warn(conf.Place{File: u.File, Line: u.Line}, "["+u.Name+"]", "is for %s, which has no worker: every request will be answered %d",
				b.cfg.Balancers[u.Target.Index].Name, b.cfg.Balancers[u.Target.Index].NoWorkerCode)
		}
	}
	if !mapped && len(b.Errs) == 0 {
		b.Warn(conf.Place{}, "", "no path is mapped: no request will get to a container")
	}
}
