package conf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// proxySettings are the directives of one server or location as they were read.
type proxySettings struct {
	do     []func(*ProxyServer)
	passes []ProxyPass
}

func (s *proxySettings) set(f func(*ProxyServer)) { s.do = append(s.do, f) }

// over returns the values of a server that inherits base.
func (s *proxySettings) over(base ProxyServer) ProxyServer {
	base.Passes = append(slices.Clone(base.Passes), s.passes...)
	base.Reverses, base.CookiePaths, base.CookieDomains = slices.Clip(base.Reverses), slices.Clip(base.CookiePaths), slices.Clip(base.CookieDomains)
	for _, f := range s.do {
		f(&base)
	}
	return base
}

// proxyTable is [proxy], and [proxy URL], which knows the last two only.
func proxyTable() table {
	t := table{}
	addProxy(t)
	t.add(directive{name: "ProxyRequests", set: func(_ *parser, g given) error {
		on, err := parseFlag(g.Value)
		if err == nil && on {
			err = errors.New("jkd is no forward proxy, only Off is possible; ProxyPass does not need it")
		}
		return err
	}})
	t.add(directive{name: "BalancerMember", many: true, set: func(p *parser, g given) error {
		url, args, err := proxyTarget(g, "balancer://")
		switch {
		case err != nil:
			return err
		case !strings.HasPrefix(strings.ToLower(url), "balancer://"):
			return fmt.Errorf("%q is no balancer: its URL begins with balancer://", url)
		case len(args) == 0:
			return errors.New("needs the URL of the member")
		}
		params, err := proxyParams(args[1:])
		if err == nil {
			p.proxy(g).Members = append(p.proxy(g).Members, ProxyMember{Balancer: url, URL: args[0], Params: params, Line: g.Line})
		}
		return err
	}})
	t.add(directive{name: "ProxySet", many: true, set: func(p *parser, g given) error {
		url, args, err := proxyTarget(g, "")
		if err != nil {
			return err
		}
		params, err := proxyParams(args)
		switch {
		case err != nil:
			return err
		case len(params) == 0:
			return errors.New("needs at least one key=value")
		}
		p.proxy(g).Sets = append(p.proxy(g).Sets, ProxySet{URL: url, Params: params, Line: g.Line})
		return nil
	}})
	for _, d := range t {
		set := d.set
		if d.name == "BalancerMember" || d.name == "ProxySet" {
			continue
		}
		d.set = func(p *parser, g given) error {
			if g.in.proxy != "" {
				return errors.New("only BalancerMember and ProxySet belong in a section [proxy URL]")
			}
			return set(p, g)
		}
	}
	return t
}

// proxyTarget is the URL of the section, or the first argument, and the others.
// With a prefix the URL of the section counts only if no argument has it.
func proxyTarget(g given, prefix string) (url string, args []string, err error) {
	if args, err = words(g.Value); err != nil {
		return "", nil, err
	}
	if url = g.in.proxy; url != "" && (prefix == "" || !strings.HasPrefix(strings.ToLower(args[0]), prefix)) {
		return url, args, nil
	}
	if !strings.Contains(args[0], "://") {
		return "", nil, errors.New("needs a URL first: outside of a section [proxy URL] nothing else tells what it is for")
	}
	return args[0], args[1:], nil
}

// proxy is the part of the configuration that proxy directives fill.
func (p *parser) proxy(g given) *ProxyConfig { return p.proxyAt(g.Line) }

func (p *parser) proxyAt(line int) *ProxyConfig {
	if p.cfg.Proxy == nil {
		p.cfg.Proxy = &ProxyConfig{Line: line}
	}
	return p.cfg.Proxy
}

// addProxy adds what the main server and virtual hosts both may say.
func addProxy(t table) {
	addProxyPlace(t)
	t.add(directive{name: "ProxyPassMatch", many: true, set: setProxyPass(true)})
	flag := func(name string, where func(*ProxyServer) *bool) {
		t.add(proxySetting(name, func(g given) (func(*ProxyServer), error) {
			v, err := parseFlag(g.Value)
			return func(s *ProxyServer) { *where(s) = v }, err
		}))
	}
	flag("ProxyPreserveHost", func(s *ProxyServer) *bool { return &s.PreserveHost })
	flag("ProxyAddHeaders", func(s *ProxyServer) *bool { return &s.AddHeaders })
	t.add(proxySetting("ProxyTimeout", func(g given) (func(*ProxyServer), error) {
		d, err := parseTime(g.Value, time.Second)
		if err == nil && d <= 0 {
			err = errors.New("a time above 0 is needed")
		}
		return func(s *ProxyServer) { s.Timeout = d }, err
	}))
	t.add(proxySetting("ProxyIOBufferSize", func(g given) (func(*ProxyServer), error) {
		n, err := parseInt(g.Value)
		if err == nil {
			err = inRange(n, 512, 65536)
		}
		return func(s *ProxyServer) { s.IOBufferSize = max(int(n), 8192) }, err
	}))
	t.add(proxySetting("ProxyErrorOverride", func(g given) (func(*ProxyServer), error) {
		args, err := words(g.Value)
		if err != nil {
			return nil, err
		}
		on, err := parseFlag(args[0])
		if err != nil {
			return nil, err
		}
		var statuses []int
		for _, a := range args[1:] {
			n, err := parseInt(a)
			if err != nil || n < 400 || n > 599 || !on {
				return nil, fmt.Errorf("%q: only statuses from 400 to 599 follow, and only On", a)
			}
			statuses = append(statuses, int(n))
		}
		slices.Sort(statuses)
		return func(s *ProxyServer) { s.ErrorOverride, s.ErrorStatuses = on, slices.Compact(statuses) }, nil
	}))
}

// addProxyPlace adds what a location may say too. There the path is the
// section's.
func addProxyPlace(t table) {
	t.add(directive{name: "ProxyPass", many: true, set: setProxyPass(false)})
	t.add(many(proxySetting("ProxyPassReverse", func(g given) (func(*ProxyServer), error) {
		args, err := proxyPath(g)
		if err == nil && len(args) != 2 {
			err = errors.New("needs a path and a URL, in a location only the URL")
		}
		if err != nil {
			return nil, err
		}
		r := ProxyReverse{Path: args[0], URL: args[1], Line: g.Line}
		return func(s *ProxyServer) { s.Reverses = append(s.Reverses, r) }, nil
	})))
	rewrite := func(name string, where func(*ProxyServer) *[]ProxyRewrite) {
		t.add(many(proxySetting(name, func(g given) (func(*ProxyServer), error) {
			args, err := arguments(g, 2, "needs what the container says and what the client is to get")
			if err != nil {
				return nil, err
			}
			return func(s *ProxyServer) { *where(s) = append(*where(s), ProxyRewrite{args[0], args[1]}) }, nil
		})))
	}
	rewrite("ProxyPassReverseCookiePath", func(s *ProxyServer) *[]ProxyRewrite { return &s.CookiePaths })
	rewrite("ProxyPassReverseCookieDomain", func(s *ProxyServer) *[]ProxyRewrite { return &s.CookieDomains })
}

func many(d directive) directive { d.many = true; return d }

func proxySetting(name string, read func(g given) (func(*ProxyServer), error)) directive {
	return directive{name: name, set: func(p *parser, g given) error {
		f, err := read(g)
		if err == nil {
			p.proxy(g)
			// A rule of a location names its path itself: it can be the server's.
			if g.in.location != nil {
				g.in.location.proxy.set(f)
			} else {
				g.in.server.proxy.set(f)
			}
		}
		return err
	}}
}

// proxyPath is the arguments of a directive that begin with a path, which in a
// location is the section's.
func proxyPath(g given) ([]string, error) {
	args, err := words(g.Value)
	if l := g.in.location; err == nil && l != nil {
		if l.Match {
			return nil, errMatch
		}
		args = append([]string{l.Path}, args...)
	}
	return args, err
}

func setProxyPass(match bool) func(*parser, given) error {
	return func(p *parser, g given) error {
		args, err := proxyPath(g)
		switch {
		case err != nil:
			return err
		case len(args) < 2:
			return errors.New("needs a path and a URL, or ! for what is not to be proxied; in a location only the URL")
		case !match && !strings.HasPrefix(args[0], "/"):
			return fmt.Errorf("the path %q does not begin with '/'", args[0])
		case !match && g.in.location != nil && strings.ContainsAny(args[0], "*?"):
			return errors.New("the path of the section has wildcards, which ProxyPass does not know")
		}
		pass := ProxyPass{Path: args[0], Match: match, URL: args[1], Line: g.Line}
		if pass.Params, err = proxyParams(args[2:]); err != nil {
			return err
		}
		p.proxy(g)
		if l := g.in.location; l != nil {
			l.proxy.passes = append(l.proxy.passes, pass)
		} else {
			g.in.server.proxy.passes = append(g.in.server.proxy.passes, pass)
		}
		return nil
	}
}

// proxyParams reads key=value pairs and single words.
func proxyParams(args []string) (out []ProxyParam, err error) {
	for _, a := range args {
		key, value, found := strings.Cut(a, "=")
		switch {
		case key == "":
			return nil, fmt.Errorf("%q has no name before '='", a)
		case found && value == "":
			return nil, fmt.Errorf("%s= has no value", key)
		}
		out = append(out, ProxyParam{strings.ToLower(key), value})
	}
	return out, nil
}

// proxies makes Proxy.Servers when all sections are read.
func (p *parser) proxies() {
	if p.cfg.Proxy == nil {
		return
	}
	all := make([]ProxyServer, len(p.servers))
	all[0] = p.servers[0].proxy.over(DefaultProxyServer())
	for i, s := range p.servers[1:] {
		all[i+1] = s.proxy.over(all[0])
	}
	// The main server's locations are everybody's. Those in front are tried
	// first: the last one of a virtual host, at the end the main server's first.
	for _, own := range []bool{false, true} {
		for _, l := range p.locations {
			for i := range all {
				if l.VHost < 0 || l.VHost > 0 != own || own && l.VHost != i {
					continue
				}
				s := &all[i]
				for _, f := range l.proxy.do {
					f(s)
				}
				s.Passes = append(slices.Clone(l.proxy.passes), s.Passes...)
			}
		}
	}
	p.cfg.Proxy.Servers = all
}
