package httpd

import (
	"net/netip"
	"regexp"
)

// Site is what the configuration sets for the requests of one server: the main
// one or a virtual host.
type Site struct {
	Name string       // as the configuration has it; "" for none
	Env  []EnvSetting // of every request, in this order
	// Locations are those that may apply, in the order in which they do: what
	// a later one says counts.
	Locations []Location
	Answers
	Logs []AccessLog
}

// Answers is what a server, a location, or a section [directory] or [files] says of
// answers.
type Answers struct {
	Documents []ErrorDocument // the last for a status counts
	Headers
}

// answers calls f for what the places of a request say, the nearest last.
func (s *Server) answers(x *exchange, f func(*Answers)) {
	if x.VHost >= len(s.o.Sites) {
		return
	}
	site := &s.o.Sites[x.VHost]
	f(&site.Answers)
	for _, n := range x.Directories {
		f(&s.o.Directories[n])
	}
	for i := range site.Locations {
		if l := &site.Locations[i]; l.says() && l.covers(x.MatchPath) {
			f(&l.Answers)
		}
	}
}

func (a *Answers) says() bool { return len(a.Documents) > 0 || a.edits() }

// EnvSetting is SetEnv, or UnsetEnv, or a variable of SetEnvIf.
type EnvSetting struct {
	Name, Value string
	Unset       bool
	If          *EnvIf // nil: always
}

// Access tells whether a client may ask.
type Access func(client netip.Addr) bool

// Location is what holds for a path and everything below it, or, if the path
// contains '*' or '?', for the paths that it matches as a whole, or for those
// that the expression is found in.
type Location struct {
	Path    string
	Match   *regexp.Regexp // instead of Path, nil for none
	Env     []EnvSetting
	Handler string // SetHandler; "" sets none
	// Who may ask, in two ways that must both let a client in; nil says nothing.
	Require, Order Access
	Answers
	// Number is its place in the configuration, counted from 1, if it says
	// something that concerns files or redirects, else 0.
	Number int
}

// covers tells whether l is about a path that was prepared for mapping.
func (l *Location) covers(path []byte) bool {
	if l.Match != nil {
		return l.Match.Match(path)
	}
	p := l.Path
	for i := 0; i < len(p); i++ {
		if p[i] == '*' || p[i] == '?' {
			return matchPath(p, path)
		}
	}
	if len(p) == 0 || len(path) < len(p) || string(path[:len(p)]) != p {
		return false
	}
	return len(path) == len(p) || p[len(p)-1] == '/' || path[len(p)] == '/'
}

// matchPath matches '*' with any run of bytes of a segment and '?' with one
// byte of it. A '*' is never tried again once a slash was passed, so the time
// is bounded by the product of the lengths.
func matchPath(pattern string, path []byte) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == path[n] || pattern[p] == '?' && path[n] != '/'):
			p++
			n++
		case star >= 0 && path[mark] != '/':
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// place finds the virtual host of a request and sets what the configuration
// sets for it. It does next to nothing where nothing is configured.
func (s *Server) place(x *exchange, localPort int) {
	r := &x.Request
	if s.o.VHost != nil {
		r.VHost = s.o.VHost(r.ServerName, localPort)
	}
	if r.VHost >= len(s.o.Sites) {
		return
	}
	site := &s.o.Sites[r.VHost]
	set(r, &x.env, site.Env)
	var require, order Access
	for i := range site.Locations {
		l := &site.Locations[i]
		if !l.covers(r.MatchPath) {
			continue
		}
		set(r, &x.env, l.Env)
		if l.Handler != "" {
			r.Handler = l.Handler
		}
		if l.Require != nil {
			require = l.Require
		}
		if l.Order != nil {
			order = l.Order
		}
		if l.Number > 0 {
			r.Locations = append(r.Locations, l.Number-1)
		}
	}
	x.denied = require != nil && !require(x.client) || order != nil && !order(x.client)
}

// reset forgets what was said of the request before.
func (x *exchange) reset(notes bool, localPort int) {
	x.raw = x.raw[:0]
	x.mapped, x.redirects, x.failed = false, 0, failure{}
	x.displace()
	x.Path, x.MatchPath, x.Query, x.HasQuery, x.Fields = nil, nil, nil, false, x.Fields[:0]
	x.ServerName, x.ServerPort = nil, localPort
	x.RemoteUser, x.AuthType = nil, nil
	x.notes.Reset(notes)
	x.Env, x.Notes = &x.env, &x.notes
}

// displace undoes place.
func (x *exchange) displace() {
	x.VHost, x.Handler, x.denied, x.Locations, x.Directories = 0, "", false, x.Locations[:0], nil
	if x.env.Len() > 0 {
		x.env.Reset()
	}
}
