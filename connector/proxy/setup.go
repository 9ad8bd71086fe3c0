package proxy

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"jkd/conf"
)

// Setup is what the directives of mod_proxy say, checked: it can be served. It
// does not change and may be used concurrently.
type Setup struct {
	Servers   []Server // main server and virtual hosts
	Workers   []Worker
	Balancers []Balancer
}

// Server is what one server says.
type Server struct {
	conf.ProxyServer
	Name  string // ServerName, for X-Forwarded-Server; "" for the request's
	Rules []Rule
}

// Rule is one ProxyPass or ProxyPassMatch.
type Rule struct {
	Path    string         // what requests begin with
	Match   *regexp.Regexp // or what they match; nil: Path counts
	Exclude bool           // they are not proxied
	Worker  int            // index of Setup.Workers, or -1
	Group   int            // index of Setup.Balancers, or -1
	Prefix  string         // what Path becomes, behind the path of the worker
	NoCanon bool           // nocanon
	Upgrade *Upgrade       // nil: the worker's
}

// Load judges what c says, which must have a Proxy, and returns all faults as
// [conf.Errors].
func Load(c *conf.Config) (*Setup, []conf.Warning, error) {
	l := &loader{file: c.Path, s: &Setup{}}
	for _, m := range c.Proxy.Members {
		l.at(m.Line, "BalancerMember", func() error { return l.member(m) })
	}
	for i := range c.Proxy.Servers {
		s := Server{ProxyServer: c.Proxy.Servers[i], Name: c.Server.ServerName}
		if i > 0 {
			s.Name = c.VHosts[i-1].Name
		}
		if s.Timeout == 0 {
			s.Timeout = c.Server.TimeOut
		}
		for _, p := range s.Passes {
			name := "ProxyPass"
			if p.Match {
				name = "ProxyPassMatch"
			}
			l.at(p.Line, name, func() error {
				r, err := l.rule(p, &s.ProxyServer)
				s.Rules = append(s.Rules, r)
				return err
			})
		}
		for _, r := range s.Reverses {
			l.at(r.Line, "ProxyPassReverse", func() error {
				if !strings.HasPrefix(r.Path, "/") {
					return fmt.Errorf("the path %q does not begin with '/'", r.Path)
				}
				return nil
			})
		}
		l.s.Servers = append(l.s.Servers, s)
	}
	for _, x := range c.Proxy.Sets {
		l.at(x.Line, "ProxySet", func() error { return l.set(x) })
	}
	for i := range l.s.Balancers {
		b := &l.s.Balancers[i]
		if len(b.Members) == 0 {
			l.warn(c.Proxy.Line, "balancer://"+b.Name, "the balancer has no BalancerMember: its requests are answered with 503")
		}
	}
	l.routes()
	return l.s, l.warnings, l.errs.Err()
}

// loader makes a Setup.
type loader struct {
	file     string
	s        *Setup
	errs     conf.Errors
	warnings []conf.Warning
	line     int
	key      string
}

// at does one directive, whose fault is entered once, although virtual hosts
// inherit it.
func (l *loader) at(line int, key string, f func() error) {
	l.line, l.key = line, key
	if err := f(); err != nil {
		e := &conf.Error{File: l.file, Line: line, Key: key, Msg: err.Error()}
		if !slices.ContainsFunc(l.errs, func(o *conf.Error) bool { return *o == *e }) {
			l.errs = append(l.errs, e)
		}
	}
}

func (l *loader) warn(line int, key, format string, args ...any) {
	w := conf.Warning{File: l.file, Line: line, Key: key, Msg: fmt.Sprintf(format, args...)}
	if !slices.ContainsFunc(l.warnings, func(o conf.Warning) bool { return o == w }) {
		l.warnings = append(l.warnings, w)
	}
}

// target is a URL taken apart.
type target struct {
	scheme string // http, ajp or balancer
	host   string // lower case, without brackets; the name of a balancer
	port   uint16
	socket string // of unix:
	path   string // "" or what begins with '/'
	ws     bool   // it was ws://
}

// split takes a URL apart. What is behind the host is kept as it is.
func split(s string) (t target, err error) {
	rest := s
	if after, ok := strings.CutPrefix(s, "unix:"); ok {
		if t.socket, rest, ok = strings.Cut(after, "|"); !ok || !strings.HasPrefix(t.socket, "/") {
			return t, fmt.Errorf("%q is no unix:/path/of/socket|URL", s)
		}
	}
	scheme, rest, ok := strings.Cut(rest, "://")
	if !ok {
		return t, fmt.Errorf("%q is no URL", s)
	}
	t.scheme = strings.ToLower(scheme)
	authority := rest
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, t.path = rest[:i], rest[i:]
	}
	switch t.scheme {
	case "http":
		t.port = 80
	case "ws":
		// What is no upgrade is HTTP, as with ProxyWebsocketFallbackToProxyHttp.
		t.scheme, t.port, t.ws = "http", 80, true
	case "ajp":
		t.port = 8009
	case "balancer":
		if t.host = strings.ToLower(authority); t.host == "" || t.socket != "" || strings.ContainsAny(t.host, ":@?#$") {
			return t, fmt.Errorf("%q does not name a balancer", s)
		}
		return t, nil
	case "wss", "https", "h2", "h2c", "fcgi", "scgi", "uwsgi", "ftp":
		return t, fmt.Errorf("the scheme %s is not supported, only http, ws, ajp and balancer", t.scheme)
	default:
		return t, fmt.Errorf("unknown scheme %q: there are http, ws, ajp and balancer", scheme)
	}
	if strings.ContainsAny(authority, "$@") {
		return t, fmt.Errorf("%q: the host must be written out, without a user", authority)
	}
	u, err := url.Parse(t.scheme + "://" + authority)
	if err != nil || u.Hostname() == "" {
		return t, fmt.Errorf("%q is no host and port", authority)
	}
	t.host = strings.ToLower(u.Hostname())
	if a, err := netip.ParseAddr(t.host); err == nil && a.Zone() != "" {
		return t, fmt.Errorf("%q: an address with a zone is not supported", authority)
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return t, fmt.Errorf("%q is no port", p)
		}
		t.port = uint16(n)
	}
	return t, checkPath(t.path)
}

// checkPath refuses what can't stand in the path of a request.
func checkPath(p string) error {
	for _, c := range []byte(p) {
		if c <= ' ' || c == 0x7f || c == '?' || c == '#' {
			return fmt.Errorf("the path %q of the URL holds blanks, '?' or '#'", p)
		}
	}
	return nil
}

// name is what a worker is called, without a secret in it.
func (t *target) name() string {
	s := t.scheme + "://"
	if t.socket != "" {
		s = "unix:" + t.socket + "|" + s
	}
	if strings.Contains(t.host, ":") {
		s += "[" + t.host + "]"
	} else {
		s += t.host
	}
	if t.socket == "" {
		s += ":" + strconv.Itoa(int(t.port))
	}
	return s + t.path
}

// worker finds or makes the worker of a URL.
func (l *loader) worker(t target) int {
	name := t.name()
	i := slices.IndexFunc(l.s.Workers, func(w Worker) bool { return w.Name == name && w.Balancer == "" })
	if i < 0 {
		i = len(l.s.Workers)
		l.s.Workers = append(l.s.Workers, defaultWorker(name, t))
	}
	return i
}

// balancer finds or makes the balancer of a name.
func (l *loader) balancer(name string) int {
	i := slices.IndexFunc(l.s.Balancers, func(b Balancer) bool { return b.Name == name })
	if i < 0 {
		i = len(l.s.Balancers)
		l.s.Balancers = append(l.s.Balancers, Balancer{Name: name, MaxAttempts: -1, Separator: '.'})
	}
	return i
}

func (l *loader) member(m conf.ProxyMember) error {
	b, err := split(m.Balancer)
	if err != nil {
		return err
	}
	if b.path != "" && b.path != "/" {
		return fmt.Errorf("a path follows the name of the balancer in %s", m.Balancer)
	}
	t, err := split(m.URL)
	switch {
	case err != nil:
		return err
	case t.scheme == "balancer":
		return errors.New("a balancer can't be a member of another one")
	}
	at := l.balancer(b.host)
	// A member has its connections for itself: its parameters are its own.
	i := len(l.s.Workers)
	w := defaultWorker(t.name(), t)
	w.Balancer = b.host
	for _, o := range l.s.Balancers[at].Members {
		if l.s.Workers[o].Name == w.Name {
			return fmt.Errorf("%s is a member of the balancer already", w.Name)
		}
	}
	l.s.Workers = append(l.s.Workers, w)
	l.s.Balancers[at].Members = append(l.s.Balancers[at].Members, i)
	return l.params(m.Params, &l.s.Workers[i], nil, nil)
}

func (l *loader) set(x conf.ProxySet) error {
	t, err := split(x.URL)
	if err != nil {
		return err
	}
	if t.scheme == "balancer" {
		i := slices.IndexFunc(l.s.Balancers, func(b Balancer) bool { return b.Name == t.host })
		if i < 0 {
			return fmt.Errorf("there is no balancer://%s", t.host)
		}
		return l.params(x.Params, nil, &l.s.Balancers[i], nil)
	}
	found := false
	whole := t
	whole.path = ""
	for i := range l.s.Workers {
		if w := &l.s.Workers[i]; w.Name == t.name() || w.Balancer == "" && w.Name == whole.name() {
			found = true
			if err := l.params(x.Params, w, nil, nil); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("no ProxyPass and no BalancerMember has the URL %s", t.name())
	}
	return nil
}

// substitutes finds $1 and its like.
var substitutes = regexp.MustCompile(`\$(\d)`)

func (l *loader) rule(p conf.ProxyPass, s *conf.ProxyServer) (Rule, error) {
	r := Rule{Path: p.Path, Worker: -1, Group: -1}
	if p.Match {
		var err error
		if r.Match, err = regexp.Compile(p.Path); err != nil {
			return r, fmt.Errorf("%w; expressions are those of RE2, without (?! and backreferences: exclude paths by rules with ! before this one", err)
		}
	} else if strings.ContainsAny(p.Path, "?#") {
		return r, fmt.Errorf("%q is no path", p.Path)
	}
	if p.URL == "!" {
		r.Exclude = true
		if len(p.Params) > 0 {
			return r, errors.New("nothing follows !")
		}
		return r, nil
	}
	t, err := split(p.URL)
	if err != nil {
		return r, err
	}
	r.Prefix = t.path
	if !p.Match && strings.HasSuffix(p.Path, "/") != strings.HasSuffix(p.URL, "/") && p.Path != "/" {
		l.warn(p.Line, "ProxyPass", "only one of %s and %s ends with a slash: what follows is put behind the URL as it is", p.Path, p.URL)
	}
	if r.Match != nil {
		for _, m := range substitutes.FindAllStringSubmatch(t.path, -1) {
			if n, _ := strconv.Atoi(m[1]); n > r.Match.NumSubexp() {
				return r, fmt.Errorf("%s is used, but the expression has %d groups", m[0], r.Match.NumSubexp())
			}
		}
		// What is the same for all requests names the worker.
		if i := strings.IndexByte(t.path, '$'); i >= 0 {
			t.path = ""
		}
	}
	if t.ws {
		r.Upgrade = &Upgrade{Protocol: webSocket}
	}
	if t.scheme == "balancer" {
		if i := slices.IndexFunc(l.s.Balancers, func(b Balancer) bool { return b.Name == t.host }); i < 0 {
			return r, fmt.Errorf("there is no balancer://%s: it has no BalancerMember", t.host)
		}
		r.Group = l.balancer(t.host)
		for _, m := range l.s.Balancers[r.Group].Members {
			w := &l.s.Workers[m]
			w.packet = max(w.packet, s.IOBufferSize)
		}
		return r, l.params(p.Params, nil, &l.s.Balancers[r.Group], &r)
	}
	known := len(l.s.Workers)
	t.path, t.ws = "", false // rules that lead to one container share its connections
	r.Worker = l.worker(t)
	w := &l.s.Workers[r.Worker]
	ofWorker := slices.ContainsFunc(p.Params, func(p conf.ProxyParam) bool { return !slices.Contains(ruleParams, p.Key) })
	if r.Worker < known && ofWorker && w.set != p.Line && w.set > 0 {
		l.warn(p.Line, l.key, "%s is in use by the rule of line %d too: parameters are for both", w.Name, w.set)
	}
	if ofWorker {
		w.set = p.Line
	}
	w.packet = max(w.packet, s.IOBufferSize)
	err = l.params(p.Params, w, nil, &r)
	if err == nil && r.Upgrade != nil && t.scheme != "http" {
		err = errUpgrade
	}
	return r, err
}

// routes warns about members that can't be told apart, and those whose secret
// was forgotten.
func (l *loader) routes() {
	for i := range l.s.Balancers {
		b := &l.s.Balancers[i]
		secret := slices.ContainsFunc(b.Members, func(m int) bool { return l.s.Workers[m].Secret != "" })
		seen := map[string]string{}
		for _, m := range b.Members {
			w := &l.s.Workers[m]
			if o, again := seen[w.Route]; again && w.Route != "" {
				l.warn(0, "balancer://"+b.Name, "%s and %s have the same route %s", o, w.Name, w.Route)
			}
			seen[w.Route] = w.Name
			if b.Cookie != "" && w.Route == "" {
				l.warn(0, "balancer://"+b.Name, "%s has no route: sessions do not stay with it", w.Name)
			}
			if secret && w.Secret == "" && w.scheme == "ajp" {
				l.warn(0, "balancer://"+b.Name, "%s has no secret, but another member has one", w.Name)
			}
		}
	}
}
