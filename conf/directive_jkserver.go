package conf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// jkSettings are the Jk directives of one server as they were read. What a
// virtual host inherits is known at the end of the file only, so a directive
// is kept as what it does to the values inherited.
type jkSettings struct {
	do      []func(*JkServer)
	options jkOptionChanges
	// first is the first of them, for messages.
	line int
	key  string
}

func (j *jkSettings) set(f func(*JkServer)) { j.do = append(j.do, f) }

// mention notes that there is a directive.
func (j *jkSettings) mention(line int, key string) {
	if j.line == 0 || line < j.line {
		j.line, j.key = line, key
	}
}

// over returns the values of a server that inherits base.
func (j *jkSettings) over(base JkServer) JkServer {
	for _, f := range j.do {
		f(&base)
	}
	base.Options = j.options.over(base.Options)
	return base
}

// inherited returns what a virtual host has that says nothing.
func (s *JkServer) inherited() JkServer {
	v := *s
	v.Mounts, v.UnMounts, v.MountFile, v.AutoAlias = nil, nil, nil, ""
	v.MountCopy = CopyOff
	if s.MountCopy == CopyAll {
		v.MountCopy = CopyOn
	}
	v.EnvVars = slices.Clone(s.EnvVars)
	return v
}

// merge makes Jk.Servers.
func (p *parser) merge() {
	jk := p.cfg.Jk
	if jk == nil {
		for _, s := range p.servers[1:] {
			p.orphan(&s.jk)
		}
		p.orphan(&p.servers[0].jk)
		return
	}
	jk.Servers = []JkServer{p.servers[0].jk.over(DefaultJkServer())}
	main := jk.Servers[0]
	for _, s := range p.servers[1:] {
		v := s.jk.over(main.inherited())
		if v.MountCopy == CopyOn {
			if v.MountFile == nil {
				v.MountFile = main.MountFile
			}
			if v.AutoAlias == "" {
				v.AutoAlias = main.AutoAlias
			}
		}
		jk.Servers = append(jk.Servers, v)
	}
}

// orphan reports Jk directives in a file without [connector.jk].
func (p *parser) orphan(j *jkSettings) {
	if j.line > 0 {
		p.title(j.key, j.line, errors.New("needs a section [connector.jk], which names the workers"))
	}
}

// addJkServer adds the directives of scope V: those that a virtual host may
// have as well as the main server.
func addJkServer(t table) {
	jk := func(name string, set func(*parser, given) (func(*JkServer), error)) directive {
		return directive{name: name, set: func(p *parser, g given) error {
			g.in.server.jk.mention(g.Line, g.Key)
			f, err := set(p, g)
			if err == nil {
				g.in.server.jk.set(f)
			}
			return err
		}}
	}
	once := func(d directive) directive { d.once = true; return d }
	many := func(d directive) directive { d.many = true; return d }
	format := func(name string, where func(*JkServer) (*string, *int)) {
		t.add(jk(name, func(p *parser, g given) (func(*JkServer), error) {
			v, err := unquote(g.Value)
			return func(s *JkServer) {
				text, line := where(s)
				*text, *line = v, g.Line
			}, err
		}))
	}
	flag := func(name string, where func(*JkServer) *bool) {
		t.add(jk(name, func(p *parser, g given) (func(*JkServer), error) {
			v, err := parseFlag(g.Value)
			return func(s *JkServer) { *where(s) = v }, err
		}))
	}

	t.add(many(jk("JkMount", func(p *parser, g given) (func(*JkServer), error) {
		m, err := parseMount(g)
		return func(s *JkServer) { s.Mounts = append(s.Mounts, m) }, err
	})))
	t.add(many(jk("JkUnMount", func(p *parser, g given) (func(*JkServer), error) {
		m, err := parseMount(g)
		return func(s *JkServer) { s.UnMounts = append(s.UnMounts, m) }, err
	})))
	t.add(once(jk("JkMountFile", func(p *parser, g given) (func(*JkServer), error) {
		f, err := p.input(g)
		return func(s *JkServer) { s.MountFile = f }, err
	})))
	t.add(jk("JkMountFileReload", func(p *parser, g given) (func(*JkServer), error) {
		d, err := parseTime(g.Value, time.Second)
		return func(s *JkServer) { s.MountFileReload = max(d, 0) }, err
	}))
	t.add(jk("JkMountCopy", setMountCopy))
	t.add(jk("JkAutoAlias", func(p *parser, g given) (func(*JkServer), error) {
		dir, err := unquote(g.Value)
		switch {
		case err != nil:
			return nil, err
		case dir == "":
			return nil, errors.New("the path is empty")
		}
		if dir = p.path(dir); !isDir(p.chrooted(dir)) {
			p.warn(g.Line, g.Key, "the directory %s does not exist", p.chrooted(dir))
		}
		return func(s *JkServer) { s.AutoAlias = dir }, nil
	}))
	t.add(jk("JkStripSession", setStripSession))
	flag("JkExtractSSL", func(s *JkServer) *bool { return &s.ExtractSSL })
	t.add(many(jk("JkOptions", setJkOptions)))
	t.add(many(jk("JkEnvVar", setJkEnvVar)))
	for name, where := range jkIndicators {
		t.add(jk(name, func(p *parser, g given) (func(*JkServer), error) {
			v, err := unquote(g.Value)
			if err == nil {
				err = envName(v)
			}
			return func(s *JkServer) { *where(&s.Indicators) = v }, err
		}))
	}

	t.add(jk("JkLogFile", func(p *parser, g given) (func(*JkServer), error) {
		if v, err := unquote(g.Value); err == nil && v == "" {
			return func(s *JkServer) { s.LogFile = "" }, nil // mod_jk: the server's own
		}
		v, err := p.log(g, g.Value)
		return func(s *JkServer) { s.LogFile = v }, err
	}))
	t.add(jk("JkLogLevel", func(p *parser, g given) (func(*JkServer), error) {
		v, err := parseJkLogLevel(g.Value)
		return func(s *JkServer) { s.LogLevel, s.LogLevelSet = v, true }, err
	}))
	format("JkLogStampFormat", func(s *JkServer) (*string, *int) { return &s.LogStampFormat, &s.LogStampLine })
	format("JkRequestLogFormat", func(s *JkServer) (*string, *int) { return &s.RequestLogFormat, &s.RequestLogLine })
}

// jkIndicators are the directives that name variables.
var jkIndicators = map[string]func(*JkIndicators) *string{
	"JkWorkerIndicator":      func(i *JkIndicators) *string { return &i.Worker },
	"JkHTTPSIndicator":       func(i *JkIndicators) *string { return &i.HTTPS },
	"JkSSLPROTOCOLIndicator": func(i *JkIndicators) *string { return &i.SSLProtocol },
	"JkCERTSIndicator":       func(i *JkIndicators) *string { return &i.Certs },
	"JkCIPHERIndicator":      func(i *JkIndicators) *string { return &i.Cipher },
	"JkCERTCHAINPrefix":      func(i *JkIndicators) *string { return &i.CertChainPrefix },
	"JkSESSIONIndicator":     func(i *JkIndicators) *string { return &i.Session },
	"JkKEYSIZEIndicator":     func(i *JkIndicators) *string { return &i.KeySize },
	"JkRequestIdIndicator":   func(i *JkIndicators) *string { return &i.RequestID },
	"JkRemoteAddrIndicator":  func(i *JkIndicators) *string { return &i.RemoteAddr },
	"JkRemotePortIndicator":  func(i *JkIndicators) *string { return &i.RemotePort },
	"JkRemoteHostIndicator":  func(i *JkIndicators) *string { return &i.RemoteHost },
	"JkRemoteUserIndicator":  func(i *JkIndicators) *string { return &i.RemoteUser },
	"JkAuthTypeIndicator":    func(i *JkIndicators) *string { return &i.AuthType },
	"JkLocalNameIndicator":   func(i *JkIndicators) *string { return &i.LocalName },
	"JkLocalAddrIndicator":   func(i *JkIndicators) *string { return &i.LocalAddr },
	"JkLocalPortIndicator":   func(i *JkIndicators) *string { return &i.LocalPort },
	"JkIgnoreCLIndicator":    func(i *JkIndicators) *string { return &i.IgnoreCL },
}

func setMountCopy(p *parser, g given) (func(*JkServer), error) {
	var v MountCopy
	switch {
	case strings.EqualFold(g.Value, "off"):
	case strings.EqualFold(g.Value, "on"):
		v = CopyOn
		if g.in.section == jkSection {
			p.warn(g.Line, g.Key, "On has an effect in a virtual host only; All is for every one of them")
		}
	case strings.EqualFold(g.Value, "all"):
		v = CopyAll
		if g.in.section != jkSection {
			return nil, errors.New("All is for the main server; a virtual host has On or Off")
		}
	default:
		return nil, fmt.Errorf("%q is neither On nor Off nor All", g.Value)
	}
	return func(s *JkServer) { s.MountCopy = v }, nil
}

// setStripSession reads "on|off [name]".
func setStripSession(p *parser, g given) (func(*JkServer), error) {
	args, err := words(g.Value)
	if err != nil {
		return nil, err
	}
	if len(args) > 2 {
		return nil, errors.New("needs On or Off, and perhaps the name of the parameter")
	}
	on, err := parseFlag(args[0])
	if err != nil {
		return nil, err
	}
	name := DefaultJkServer().SessionName
	if len(args) == 2 {
		if name = args[1]; name == "" {
			return nil, errors.New("the name of the parameter is empty")
		}
	}
	return func(s *JkServer) { s.StripSession, s.SessionName = on, name }, nil
}

// setJkEnvVar reads "name [default]". A later one of that name replaces an
// earlier one.
func setJkEnvVar(p *parser, g given) (func(*JkServer), error) {
	args, err := words(g.Value)
	if err != nil {
		return nil, err
	}
	if len(args) > 2 {
		return nil, errors.New("needs a name, and perhaps a default; a default with blanks must be quoted")
	}
	if err := envName(args[0]); err != nil {
		return nil, err
	}
	v := JkEnvVar{Name: args[0]}
	if len(args) == 2 {
		v.Default, v.HasDefault = args[1], true
	}
	return func(s *JkServer) {
		if i := slices.IndexFunc(s.EnvVars, func(e JkEnvVar) bool { return e.Name == v.Name }); i >= 0 {
			s.EnvVars[i] = v
		} else {
			s.EnvVars = append(s.EnvVars, v)
		}
	}, nil
}

// parseJkLogLevel accepts mod_jk's levels, which are fewer than Apache's.
func parseJkLogLevel(s string) (LogLevel, error) {
	known := []string{"trace", "debug", "info", "warn", "error", "emerg"}
	if slices.Contains(known, strings.ToLower(s)) {
		return parseLogLevel(s)
	}
	return 0, fmt.Errorf("unknown level %q%s (%s)", s, DidYouMean(s, known), strings.Join(known, ", "))
}
