package jk2

import (
	"cmp"
	"slices"

	"jkd/conf"
)

// Mapper finds the rule for a request. It does not change and may be used
// concurrently.
//
// First come the locations of JkUriSet, the longest one. Then the host is
// looked up: host with its port, host, alias, any host with that port, any
// host. Within it the longest context that the path begins with is searched,
// and no other: regular expressions in the order they were written, then exact
// paths, then the longest prefix, then the path in front of a "/*", then
// wildcards, the longest pattern first.
type Mapper struct {
	locations map[int][]*Uri // by virtual host, the longest first
	hosts     map[string]*names
	aliases   map[string]*names
}

// names are the sites of one host name.
type names struct {
	ports map[int]*site
	any   *site // no port
}

func (n *names) find(port int) *site {
	if n == nil {
		return nil
	}
	if s := n.ports[port]; s != nil {
		return s
	}
	return n.any
}

// site is the rules of one host.
type site struct {
	contexts []*context // the longest first; the last one is "/"
	// closed: inheritGlobals=0.
	closed bool
}

// context is the rules of one context.
type context struct {
	path     string
	regexps  []*Uri
	exact    map[string]*Uri
	prefixes map[string]*Uri // without the '*'
	// lengths are those of the prefixes, the longest first.
	lengths   []int
	wildcards []*Uri // the longest first
}

// NewMapper makes the mapper of c's uris, which it refers to.
func NewMapper(c *Config) *Mapper {
	m := &Mapper{locations: map[int][]*Uri{}, hosts: map[string]*names{}, aliases: map[string]*names{}}
	m.site(anyHost, 0)
	for i := range c.Uris {
		u := &c.Uris[i]
		if u.Kind == Location {
			if !u.Disabled {
				m.locations[u.VHost] = append(m.locations[u.VHost], u)
			}
			continue
		}
		s := m.site(u.Host, u.Port)
		switch {
		case u.Kind == Host:
			s.closed = s.closed || !u.InheritGlobals
			for _, a := range u.Aliases {
				host, port, _ := hostPort(a)
				enter(m.aliases, host, port, s)
			}
		case u.Context != "" && !u.Disabled:
			s.context(u.Context)
		}
	}
	for _, list := range m.locations {
		slices.SortStableFunc(list, func(a, b *Uri) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	}
	global := m.hosts[anyHost].any
	for _, n := range m.hosts {
		for _, s := range n.all() {
			if s != global && !s.closed {
				for _, x := range global.contexts {
					s.context(x.path)
				}
			}
		}
	}
	for i := range c.Uris {
		if u := &c.Uris[i]; u.Kind <= Regexp && !u.Disabled {
			m.site(u.Host, u.Port).add(u)
		}
	}
	for i := range c.Uris {
		u := &c.Uris[i]
		if u.Kind > Regexp || u.Disabled || u.Host != anyHost || u.Port != 0 {
			continue
		}
		for _, n := range m.hosts {
			for _, s := range n.all() {
				if s != global && !s.closed {
					// mod_jk2 forgets regular expressions and wildcards here,
					// and the server then gives away the source of pages.
					s.add(u)
				}
			}
		}
	}
	for _, n := range m.hosts {
		for _, s := range n.all() {
			s.finish()
		}
	}
	return m
}

func (n *names) all() []*site {
	var out []*site
	if n.any != nil {
		out = append(out, n.any)
	}
	for _, s := range n.ports {
		out = append(out, s)
	}
	return out
}

// site is the site of a host, made if need be.
func (m *Mapper) site(host string, port int) *site {
	if n := m.hosts[host]; n != nil {
		s := n.any
		if port != 0 {
			s = n.ports[port]
		}
		if s != nil {
			return s
		}
	}
	s := &site{}
	s.context("/")
	enter(m.hosts, host, port, s)
	return s
}

// enter gives a host name to a site unless it has one.
func enter(in map[string]*names, host string, port int, s *site) {
	n := in[host]
	if n == nil {
		n = &names{ports: map[int]*site{}}
		in[host] = n
	}
	switch {
	case port == 0 && n.any == nil:
		n.any = s
	case port != 0 && n.ports[port] == nil:
		n.ports[port] = s
	}
}

// context is the context of that path, made if need be.
func (s *site) context(path string) *context {
	for _, x := range s.contexts {
		if x.path == path {
			return x
		}
	}
	x := &context{path: path, exact: map[string]*Uri{}, prefixes: map[string]*Uri{}}
	s.contexts = append(s.contexts, x)
	slices.SortStableFunc(s.contexts, func(a, b *context) int { return cmp.Compare(len(b.path), len(a.path)) })
	return x
}

// of is the context a path belongs to: the longest one that the path begins
// with, by letters and not by segments.
func (s *site) of(path []byte) *context {
	for _, x := range s.contexts {
		if len(path) >= len(x.path) && string(path[:len(x.path)]) == x.path {
			return x
		}
	}
	return nil
}

// add enters a rule unless the context has it.
func (s *site) add(u *Uri) {
	var x *context
	switch {
	case u.Context != "":
		x = s.context(u.Context)
	case u.Kind == Regexp:
		x = s.context("/")
	default:
		x = s.of([]byte(u.Path))
	}
	switch u.Kind {
	case Exact:
		if x.exact[u.Path] == nil {
			x.exact[u.Path] = u
		}
	case Prefix:
		if p := u.Path[:len(u.Path)-1]; x.prefixes[p] == nil {
			x.prefixes[p] = u
			x.lengths = append(x.lengths, len(p))
		}
	case Wildcard:
		if !slices.ContainsFunc(x.wildcards, func(o *Uri) bool { return o.Path == u.Path }) {
			x.wildcards = append(x.wildcards, u)
		}
	case Regexp:
		if !slices.ContainsFunc(x.regexps, func(o *Uri) bool { return o.Path == u.Path }) {
			x.regexps = append(x.regexps, u)
		}
	}
}

func (s *site) finish() {
	for _, x := range s.contexts {
		slices.Sort(x.lengths)
		x.lengths = slices.Compact(x.lengths)
		slices.Reverse(x.lengths)
		slices.SortStableFunc(x.wildcards, func(a, b *Uri) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	}
}

// Match returns the rule for a path that was prepared by connector.CleanPath,
// or nil when the path is not mapped. host is without a port, in any case;
// vhost is the virtual host that serves the request, for locations only. It
// allocates nothing, except what a regular expression may need.
func (m *Mapper) Match(vhost int, host []byte, port int, path []byte) *Uri {
	if len(path) == 0 || path[0] != '/' {
		return nil
	}
	if u := m.location(vhost, path); u != nil {
		return u
	}
	x := m.host(host, port).of(path)
	if x == nil {
		return nil
	}
	for _, u := range x.regexps {
		if u.re.Match(path) {
			return u
		}
	}
	if u := x.exact[string(path)]; u != nil {
		return u
	}
	for _, n := range x.lengths {
		if n > len(path) {
			continue
		}
		if u := x.prefixes[string(path[:n])]; u != nil {
			if n == len(path) || path[n-1] == '/' {
				return u
			}
			break // a shorter one is not tried
		}
	}
	if u := x.below(path); u != nil {
		return u
	}
	for _, u := range x.wildcards {
		if conf.Wildcard(u.Path, path) {
			return u
		}
	}
	return nil
}

// below finds the prefix /x/* for the path /x.
func (x *context) below(path []byte) *Uri {
	for _, n := range x.lengths {
		if n != len(path)+1 {
			continue
		}
		var room [256]byte
		p := append(append(room[:0], path...), '/')
		return x.prefixes[string(p)]
	}
	return nil
}

// location is the longest location that holds the path; of two equal ones that
// of the virtual host.
func (m *Mapper) location(vhost int, path []byte) *Uri {
	if len(m.locations) == 0 {
		return nil
	}
	best := within(m.locations[vhost], path)
	if vhost != 0 {
		if u := within(m.locations[0], path); u != nil && (best == nil || len(u.Path) > len(best.Path)) {
			best = u
		}
	}
	return best
}

func within(list []*Uri, path []byte) *Uri {
	for _, u := range list {
		n := len(u.Path)
		if len(path) >= n && string(path[:n]) == u.Path && (len(path) == n || u.Path[n-1] == '/' || path[n] == '/') {
			return u
		}
	}
	return nil
}

// host finds the site of a request.
func (m *Mapper) host(host []byte, port int) *site {
	var room [256]byte
	name := room[:0]
	if len(host) <= len(room) {
		for _, c := range host {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			name = append(name, c)
		}
	}
	if n := len(name); n > 0 && name[n-1] == '.' {
		name = name[:n-1]
	}
	if s := m.hosts[string(name)].find(port); s != nil {
		return s
	}
	if s := m.aliases[string(name)].find(port); s != nil {
		return s
	}
	return m.hosts[anyHost].find(port)
}
