package jk2

import (
	"path/filepath"
	"slices"
	"strings"

	"jkd/conf"
)

// defaultLB is the balancer that always exists: workers without a group join
// it, uris without a group are for it.
const defaultLB = "lb:lb"

// builder turns components as written into a Config.
type builder struct {
	*objects
	cfg *Config
	// places are those in Config.Channels, Workers and Balancers, by name.
	channels, workers, balancers map[string]int
}

func (b *builder) build() {
	b.channels, b.workers, b.balancers = map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range b.order {
		b.check(c)
	}
	b.logger()
	b.workerEnv()
	b.shm()
	b.transports()
	b.groups()
	for _, c := range b.of("status") {
		b.status(c)
	}
	b.uris()
	b.unused()
	b.listSettings()
}

// of returns the components of some types in the order they were written.
func (b *builder) of(types ...string) []*component {
	var out []*component
	for _, c := range b.order {
		if slices.Contains(types, c.kind.typ) {
			out = append(out, c)
		}
	}
	return out
}

func (b *builder) get(c *component) get { return get{&b.Report, c.props} }

// the returns the component of a type of which there is one.
func (b *builder) the(typ string) *component {
	c := b.make(conf.Place{}, kinds()[typ], "")
	c.implied = c.at == (conf.Place{})
	return c
}

// check says what is known of a component and its properties without
// understanding their values.
func (b *builder) check(c *component) {
	k := c.kind
	switch {
	case k.foreign == "":
	case c.disabled():
		b.Info(c.at, c.title(), "is disabled, and nothing jkd has: %s", k.foreign)
		return
	case k.refuse:
		b.Fail(c.at, c.title(), "is not supported: %s. Write disabled=1 below it to keep the section", k.foreign)
		return
	default:
		b.Info(c.at, c.title(), "has no effect: %s", k.foreign)
		return
	}
	for _, p := range c.order {
		at := p.last().Place
		x := k.key(p.key)
		switch {
		case x.dead != "":
			b.Info(at, p.key, "%s", x.dead)
		case x.readOnly:
			b.Warn(at, p.key, "is shown by the status page and cannot be set: ignored")
		case k.any && !k.knows(p.key):
			if n := conf.Nearest(p.key, k.names()); n != "" {
				b.Warn(at, p.key, "is a variable only, did you mean %s?", n)
			}
		case p.key == "version":
			b.Warn(at, p.key, "unknown property of %s: ignored, did you mean ver?", k.typ)
		case !k.knows(p.key):
			b.Warn(at, p.key, "unknown property of %s: ignored%s", k.typ, conf.DidYouMean(p.key, k.names()))
		}
	}
}

// common reads what all components have.
func (b *builder) common(c *component) Component {
	g := b.get(c)
	const most = 1<<31 - 1
	return Component{
		Name:     c.name(),
		Info:     g.text("info", ""),
		Ver:      g.number("ver", -most, most, 0),
		Debug:    g.number("debug", -most, most, 0),
		Disabled: g.flag("disabled", false),
		File:     c.at.File,
		Line:     c.at.Line,
	}
}

func (b *builder) logger() {
	main := b.oneLogger(b.the("logger.apache2"))
	others := map[string]Logger{}
	for _, c := range b.of("logger.file") {
		l := b.oneLogger(c)
		if l.File == "" {
			l.File = "logs/jk2.log"
		}
		if _, piped := conf.PipedLog(l.File); !piped {
			l.File = b.path(l.File)
		}
		others[l.Name] = l
	}
	b.cfg.Logger = main
	env := b.get(b.the("workerEnv"))
	name := env.text("logger", "")
	if name == "" {
		for _, c := range b.of("logger.file") {
			b.Info(c.at, c.title(), "is not used: [workerEnv:] logger=%s would select it", c.name())
		}
		return
	}
	for _, n := range []string{name, name + ":"} {
		if l, ok := others[n]; ok {
			b.cfg.Logger = l
			return
		}
	}
	if kindOf(strings.TrimSuffix(name, ":")) == kinds()["logger.apache2"] {
		return
	}
	known := []string{"logger"}
	for n := range others {
		known = append(known, n)
	}
	slices.Sort(known)
	b.Fail(env.at("logger"), "logger", "there is no logger %s%s", conf.Printable(name), conf.DidYouMean(name, known))
}

func (b *builder) oneLogger(c *component) Logger {
	g := b.get(c)
	l := Logger{Component: b.common(c), Level: LevelError, File: g.text("file", "")}
	if c.kind.typ != "logger.file" {
		l.File = ""
	}
	if word := g.text("level", ""); word != "" {
		i := slices.IndexFunc(levelNames, func(n string) bool { return strings.EqualFold(n, word) })
		if i < 0 {
			b.Warn(g.at("level"), "level", "unknown level %s counts as DEBUG (DEBUG, INFO, ERROR, EMERG)", conf.Printable(word))
		}
		l.Level = Level(max(i, 0))
	}
	return l
}

// path is a file name that starts from ServerRoot unless it is absolute.
// "stderr" is none.
func (b *builder) path(name string) string {
	if name == "stderr" || filepath.IsAbs(name) || b.env.ServerRoot == "" {
		return name
	}
	return filepath.Join(b.env.ServerRoot, name)
}

func (b *builder) workerEnv() {
	c := b.the("workerEnv")
	g := b.get(c)
	e := WorkerEnv{
		Component:        b.common(c),
		Timing:           g.number("timing", -1<<31, 1<<31-1, 0) == 1,
		HTTPSIndicator:   g.text("httpsIndicator", "HTTPS"),
		CertsIndicator:   g.text("certsIndicator", "SSL_CLIENT_CERT"),
		CipherIndicator:  g.text("cipherIndicator", "SSL_CIPHER"),
		SessionIndicator: g.text("sessionIndicator", "SSL_SESSION_ID"),
		KeySizeIndicator: g.text("keySizeIndicator", "SSL_CIPHER_USEKEYSIZE"),
		ForwardKeySize:   g.present("forwardKeySize"),
	}
	g.present("sslEnable")
	// Of several forms, and of the two recovery options, the one that was
	// written last counts: each takes the place of the others.
	switch g.latest("forwardURICompat", "forwardURICompatUnparsed", "forwardURIEscaped") {
	case "forwardURICompat":
		e.ForwardURI = ForwardURICompat
	case "forwardURIEscaped":
		e.ForwardURI = ForwardURIEscaped
	}
	switch g.latest("noRecoveryIfRequestSent", "noRecoveryIfHeaderSent") {
	case "noRecoveryIfRequestSent":
		e.NoRecoveryIfRequestSent = true
	case "noRecoveryIfHeaderSent":
		e.NoRecoveryIfHeaderSent = true
	}
	b.cfg.WorkerEnv = e
}

// latest is the switch among names that was written last, "" for none.
func (g get) latest(names ...string) string {
	best := ""
	for _, n := range names {
		if !g.present(n) {
			continue
		}
		if best != "" {
			g.r.Warn(g.at(n), n, "stands beside %s, and only the last of them counts", best)
		}
		if best == "" || g.props[n].last().seq > g.props[best].last().seq {
			best = n
		}
	}
	return best
}

func (b *builder) shm() {
	c := b.the("shm")
	g := b.get(c)
	s := Shm{
		Component: b.common(c),
		Slots:     max(g.number("slots", 0, MaxSlots, 256), 1),
		File:      g.text("file", ""),
	}
	s.On = s.File != "" && !s.Disabled
	if p := g.props["file"]; p != nil && strings.ContainsAny(s.File[:1], `"'`) {
		b.Warn(p.last().Place, "file", "the quotes are part of the name")
	}
	switch {
	case g.flag("useMemory", false) || strings.HasPrefix(s.File, "anon"):
		s.File = ""
	case s.File != "":
		s.File = b.path(s.File)
	}
	if s.File == "" && !s.On && !c.implied && !s.Disabled {
		b.Info(c.at, c.title(), "has no file, so there is no shared memory; file=anon would be memory without a file")
	}
	b.cfg.Shm = s
}

func (b *builder) status(c *component) {
	g := b.get(c)
	s := StatusPage{Component: b.common(c), StyleMode: g.number("styleMode", 0, 3, 0), StylePath: g.text("stylePath", "")}
	if s.StyleMode > 1 && s.StylePath == "" {
		b.Warn(g.at("styleMode"), "styleMode", "%d needs stylePath beside it", s.StyleMode)
	} else if s.StyleMode == 3 {
		b.Warn(g.at("styleMode"), "styleMode", "3 is read as 1, the page's own style: no file is put into the page; 2 names the address of one")
	}
	b.cfg.targets[s.Name] = Target{ToStatus, len(b.cfg.Statuses)}
	b.cfg.Statuses = append(b.cfg.Statuses, s)
}

// listSettings keeps every line for those who want to see the configuration.
func (b *builder) listSettings() {
	secrets := map[string]bool{}
	for _, c := range b.order {
		for _, p := range c.order {
			if c.kind.key(p.key).secret {
				for _, x := range p.parts {
					secrets[x.value] = true
				}
			}
		}
	}
	for _, c := range b.order {
		for _, p := range c.order {
			for _, x := range p.parts {
				s := Setting{c.name(), p.key, x.written, x.value, x.File, x.Line}
				// [config:] is also where people define what ${name} stands for.
				if c.kind.key(p.key).secret || c.kind.typ == "config" && secrets[x.value] {
					s.Written, s.Value = "*", "*"
				}
				b.cfg.settings = append(b.cfg.settings, s)
			}
		}
	}
}
