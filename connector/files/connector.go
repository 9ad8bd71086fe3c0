package files

import (
	"path"
	"regexp"
	"time"

	"jkd/conf"
	"jkd/connector"
)

// Options are what other parts of the process add to the configuration.
type Options struct {
	// Mapped are the connectors that requests are offered to before, nil for
	// none, and Forwarded the one of them for which nothing has to be on disk
	// (mod_proxy's directives).
	Mapped, Forwarded connector.Connector
	// Directories tells who gets directories without an index on a server
	// (ForwardDirectories), nil or a nil worker: nobody.
	Directories func(vhost int) connector.Worker
}

// Connector maps requests to files: those beside the servlets (JkAutoAlias),
// then by Alias and AliasMatch, then below DocumentRoot. It is to be asked for
// requests that no other connector maps, and leaves those with a handler alone.
// It may be used concurrently.
type Connector struct {
	o         Options
	locations []conf.Location
	servers   []server
	roots     map[string]*root // by path
}

// server is the main server or a virtual host.
type server struct {
	auto    *webapps
	aliases []*alias // DocumentRoot the last one
}

var _ connector.Connector = (*Connector)(nil)

// New makes the connector of one process and opens the directories that are
// there; the others, and those that have been replaced since, are opened when
// they are asked for. Nil when the configuration names none.
func New(cfg *conf.Config, o Options) *Connector {
	c := &Connector{o: o, locations: cfg.Locations, roots: map[string]*root{}}
	for i := range 1 + len(cfg.VHosts) {
		var on conf.FilesServer
		if cfg.Files != nil {
			on = cfg.Files.Servers[i]
		}
		b := builder{c: c, server: i, rules: &on.Rules}
		if cfg.Files != nil {
			b.types, b.sections = &cfg.Files.Types, sectionsOf(cfg.Files.Directories, i)
		}
		var s server
		if cfg.Jk != nil {
			s.auto = b.webapps(&cfg.Jk.Servers[i])
		}
		for j := range on.Aliases {
			s.aliases = append(s.aliases, b.alias(&on.Aliases[j]))
		}
		if on.DocumentRoot != "" {
			s.aliases = append(s.aliases, b.alias(&conf.Alias{Path: "/", File: on.DocumentRoot}))
		}
		c.servers = append(c.servers, s)
	}
	if len(c.roots) == 0 {
		return nil
	}
	return c
}

// builder makes what one server has.
type builder struct {
	c        *Connector
	server   int
	rules    *conf.FileRules
	types    *conf.FileTypes // of all servers
	sections []section
}

// place makes the place of a directory or file.
func (b *builder) place(path string) place {
	p := place{c: b.c, root: b.c.roots[path], dir: newDirectory(path, b.types, b.rules, b.sections)}
	if p.root == nil {
		p.root = &root{path: path}
		b.c.roots[path] = p.root
		_, _, _ = p.root.open(time.Now()) // whoever asks for it hears of a failure
	}
	if b.c.o.Directories != nil {
		p.none = b.c.o.Directories(b.server)
	}
	return p
}

func (b *builder) webapps(jk *conf.JkServer) *webapps {
	if jk.AutoAlias == "" {
		return nil
	}
	w := &webapps{place: b.place(jk.AutoAlias)}
	if jk.StripSession {
		w.session = jk.SessionName
	}
	return w
}

func (b *builder) alias(a *conf.Alias) *alias {
	if a.Match {
		return &alias{match: regexp.MustCompile(a.Path), to: a.File, place: b.place(fixedDir(a.File))} // conf has judged both
	}
	return &alias{path: a.Path, place: b.place(path.Clean(a.File))}
}

// Match implements connector.Connector.
func (c *Connector) Match(r *connector.Request) connector.Worker {
	if len(r.MatchPath) == 0 || r.MatchPath[0] != '/' || r.Handler != "" || r.VHost < 0 || r.VHost >= len(c.servers) {
		return nil
	}
	s := &c.servers[r.VHost]
	if s.auto != nil && s.auto.maps(r) {
		return s.auto
	}
	for _, a := range s.aliases {
		if a.maps(r) {
			return a
		}
	}
	return nil
}

// lookup is where the file of a request is, nil for nowhere.
func (c *Connector) lookup(r *connector.Request) (p *place, name string) {
	switch w := c.Match(r).(type) {
	case *webapps:
		return &w.place, w.name(r)
	case *alias:
		return &w.place, w.name(r)
	}
	return nil, ""
}

// Close implements connector.Connector. What is open ends with the process.
func (c *Connector) Close() error { return nil }
