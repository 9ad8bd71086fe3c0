package conf

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The sections that more than one place speaks of.
const (
	serverSection   = "server"
	jkSection       = "connector.jk"
	jk2Section      = "connector.jk2"
	vhostSection    = "vhost"
	locationSection = "location"
	statusSection   = "status"
	proxySection    = "proxy"
	// Both have the same directives.
	directorySection = "directory"
	filesSection     = "files"
)

// scope is the section that directives are being read for.
type scope struct {
	section string // key of directives
	title   string // as messages name it
	// server is whose directives these are: the main server's or a virtual
	// host's, which is kept in parser.servers unless its header is faulty.
	server    *server
	location  *location          // in [location]
	directory *directorySettings // in [directory] and [files]
	proxy     string             // the URL of [proxy URL]
}

// setEnv adds to the variables of the section.
func (s *scope) setEnv(e EnvSetting) {
	if s.location != nil {
		s.location.Env = append(s.location.Env, e)
		return
	}
	s.server.env = append(s.server.env, e)
}

// answers is where the scope says something of answers.
func (s *scope) answers() *Answers {
	switch {
	case s.location != nil:
		return &s.location.Answers
	case s.directory != nil:
		return &s.directory.Answers
	}
	return &s.server.answers
}

// server is the main server or a virtual host in the making.
type server struct {
	name      string // of [vhost], with its port
	title     string // as messages name it
	vhost     VHost
	aliases   []alias
	env       []EnvSetting
	redirects []Redirect
	answers   Answers
	jk        jkSettings
	proxy     proxySettings
	files     filesSettings
}

type alias struct {
	name string
	line int
}

// location is a section [location] in the making.
type location struct {
	Location
	title    string
	vhost    string // NAME[:PORT] in its header, "" for the main server
	unMounts []Mount
	uriSets  []JkURISet
	proxy    proxySettings
}

// splitHeader separates the first word of a section's name from what follows.
func splitHeader(name string) (section string, args []string, err error) {
	first := firstWord(name)
	args, err = words(strings.TrimLeft(name[len(first):], blanks))
	return strings.ToLower(first), args, err
}

// open makes the scope of a section whose table of directives is there. A
// header that is faulty makes one that nothing comes of.
func (p *parser) open(section string, args []string, s *Section) *scope {
	in := &scope{section: section, title: p.name(s), server: p.servers[0]}
	var err error
	switch section {
	case vhostSection:
		in.server = &server{}
		err = p.openVHost(in, args, s.Line)
	case locationSection:
		in.location = &location{title: in.title}
		err = p.openLocation(in.location, args, s.Line)
	case directorySection, filesSection:
		in.directory = &directorySettings{title: in.title}
		in.directory.Files, in.directory.Line = section == filesSection, s.Line
		if err = in.directory.open(p, args); err == nil {
			p.directories = append(p.directories, in.directory)
		}
	case proxySection:
		switch {
		case len(args) == 1 && strings.Contains(args[0], "://"):
			in.proxy = args[0]
		case len(args) > 0:
			err = errors.New("the section is [proxy], or [proxy URL] for a balancer or worker")
		}
		if err == nil {
			p.proxyAt(s.Line)
		}
	default:
		if len(args) > 0 {
			err = fmt.Errorf("nothing follows %s in the header", section)
		}
	}
	if err != nil {
		p.header(s, err)
	}
	return in
}

// name is how messages name a section.
func (p *parser) name(s *Section) string {
	if title, ok := p.titles[s.Line]; ok {
		return title
	}
	return "[" + s.Name + "]"
}

// header reports a fault of a section's header.
func (p *parser) header(s *Section, err error) { p.title(p.name(s), s.Line, err) }

func (p *parser) title(title string, line int, err error) {
	p.errs = append(p.errs, &Error{File: p.file, Line: line, Key: title, Msg: err.Error()})
}

func (p *parser) openVHost(in *scope, args []string, line int) error {
	if len(args) != 1 {
		return errors.New("a virtual host is named [vhost NAME] or [vhost NAME:PORT]")
	}
	name, port, err := parseVHostName(args[0])
	if err != nil {
		return err
	}
	srv := in.server
	srv.vhost, srv.title = VHost{Name: name, Port: port, Line: line}, in.title
	srv.name = name
	if port > 0 {
		srv.name = fmt.Sprintf("%s:%d", name, port)
	}
	if before := p.vhost(srv.name); before > 0 {
		return fmt.Errorf("this virtual host has a section in %s already", p.at(p.servers[before].vhost.Line))
	}
	p.servers = append(p.servers, srv)
	return nil
}

// vhost returns the place of a virtual host in servers, or -1.
func (p *parser) vhost(name string) int {
	return slices.IndexFunc(p.servers, func(s *server) bool { return s.name == name && name != "" })
}

// parseVHostName reads name[:port].
func parseVHostName(s string) (name string, port int, err error) {
	if wild(s) {
		return "", 0, fmt.Errorf("%q is no name: wildcards belong into ServerAlias, and the main server serves every host that no section names", s)
	}
	name, port, err = parseServerName(s)
	return strings.TrimSuffix(name, "."), port, err
}

func (p *parser) openLocation(l *location, args []string, line int) error {
	l.Line = line
	var err error
	switch l.vhost, l.Path, l.Match, err = placed(args); {
	case err != nil:
		return err
	case l.Match:
		if err := regularExpression(l.Path); err != nil {
			return err
		}
	case !strings.HasPrefix(l.Path, "/"):
		return fmt.Errorf("the path %q does not begin with '/'", l.Path)
	}
	p.locations = append(p.locations, l)
	return nil
}

// placed reads "[VHOST] [~] PATH" of a header. With '~' the path is a regular
// expression.
func placed(args []string) (vhost, path string, match bool, err error) {
	if n := len(args); n > 1 && args[n-2] == "~" {
		match, args = true, append(args[:n-2:n-2], args[n-1])
	}
	switch len(args) {
	case 1:
		return "", args[0], match, nil
	case 2:
		name, port, err := parseVHostName(args[0])
		if err == nil && port > 0 {
			name = fmt.Sprintf("%s:%d", name, port)
		}
		return name, args[1], match, err
	}
	return "", "", false, errPlaced
}

var errPlaced = errors.New("expected PATH or VHOST PATH, and ~ before a regular expression; a path with blanks must be quoted")

// open reads the header of a section [directory] or [files].
func (d *directorySettings) open(p *parser, args []string) (err error) {
	if d.Files {
		args = d.within(p, args)
	}
	if _, err := path.Match(d.Within, ""); err != nil {
		return fmt.Errorf("%q is no pattern: a bracket or a backslash is left open", d.Within)
	}
	if d.vhost, d.Path, d.Match, err = placed(args); err != nil {
		return err
	}
	switch {
	case d.Match:
		return regularExpression(d.Path)
	case d.Files && (d.Path == "" || strings.Contains(d.Path, "/")):
		return fmt.Errorf("%q is not the name of a file", d.Path)
	case !d.Files:
		d.Path = p.path(d.Path)
	}
	if _, err := path.Match(d.Path, ""); err != nil {
		return fmt.Errorf("%q is no pattern: a bracket or a backslash is left open", d.Path)
	}
	return nil
}

// within takes the directory out of the header of a section [files]: [VHOST]
// [DIRECTORY] [~] NAME.
func (d *directorySettings) within(p *parser, args []string) []string {
	at := len(args) - 2
	if at >= 0 && args[at] == "~" {
		at--
	}
	if at < 0 || !strings.HasPrefix(args[at], "/") {
		return args
	}
	d.Within = p.path(args[at])
	return slices.Delete(slices.Clone(args), at, at+1)
}

// vhosts enters the virtual hosts and looks for names that two of them have.
func (p *parser) vhosts() {
	type owner struct {
		title string
		line  int
	}
	type key struct {
		name string
		port int
	}
	owners := map[key]owner{}
	main := p.servers[0]
	p.cfg.Env, p.cfg.Redirects, p.cfg.Answers = main.env, main.redirects, main.answers
	for _, s := range p.servers[1:] {
		owners[key{s.vhost.Name, s.vhost.Port}] = owner{s.title, s.vhost.Line}
	}
	for _, s := range p.servers[1:] {
		v, me := s.vhost, s.title
		for _, a := range s.aliases {
			if a.name == v.Name || slices.Contains(v.Aliases, a.name) {
				continue
			}
			k := key{a.name, v.Port}
			if o, taken := owners[k]; taken {
				p.title("ServerAlias", a.line, fmt.Errorf("the name %s is that of %s in %s too", a.name, o.title, p.at(o.line)))
				continue
			}
			owners[k] = owner{me, a.line}
			v.Aliases = append(v.Aliases, a.name)
		}
		v.Env = append(slices.Clone(p.cfg.Env), s.env...)
		v.Redirects = append(slices.Clone(s.redirects), p.cfg.Redirects...)
		v.Answers = s.answers.over(&p.cfg.Answers)
		p.cfg.VHosts = append(p.cfg.VHosts, v)
	}
	p.cfg.index()
}

// belongs returns the place of the virtual host that the header of a section
// names, 0 for none, and reports one that is not there: -1.
func (p *parser) belongs(vhost, title string, line int) int {
	if vhost == "" {
		return 0
	}
	n := p.vhost(vhost)
	if n < 0 {
		var known []string
		for _, s := range p.servers[1:] {
			known = append(known, s.name)
		}
		p.title(title, line, fmt.Errorf("there is no section [vhost %s]%s", vhost, DidYouMean(vhost, known)))
	}
	return n
}

// places enters the locations and their mounts.
func (p *parser) places() {
	for _, l := range p.locations {
		if l.VHost = p.belongs(l.vhost, l.title, l.Line); l.VHost < 0 {
			continue
		}
		p.cfg.Locations = append(p.cfg.Locations, l.Location)
		jk := &p.servers[l.VHost].jk
		if l.Worker != "" {
			m := Mount{Pattern: l.Path, Worker: l.Worker, Line: l.WorkerLine}
			jk.set(func(s *JkServer) { s.Mounts = append(s.Mounts, m) })
			jk.mention(l.WorkerLine, "JkMount")
		}
		for _, m := range l.unMounts {
			jk.set(func(s *JkServer) { s.UnMounts = append(s.UnMounts, m) })
			jk.mention(m.Line, "JkUnMount")
		}
	}
}
