package jk2

import (
	"os"
	"strings"

	"jkd/conf"
)

// Env is what ${name} may refer to besides the text itself.
type Env struct {
	// ServerRoot is ${serverRoot} and where relative file names start; "" for
	// none.
	ServerRoot string
	// Lookup returns an environment variable; nil means os.LookupEnv.
	Lookup func(name string) (string, bool)
}

// predefined are the variables that every text begins with, besides
// serverRoot.
var predefined = map[string]string{"fs": "/", "ps": ":", "so": "so", "arch": "i386"}

func (e Env) lookup(name string) (string, bool) {
	if name == "serverRoot" && e.ServerRoot != "" {
		return e.ServerRoot, true
	}
	if v, ok := predefined[name]; ok {
		return v, true
	}
	if e.Lookup != nil {
		return e.Lookup(name)
	}
	return os.LookupEnv(name)
}

// Source is settings from one place: first those that were given one by one,
// then the lines of a file in the language of workers2.properties.
type Source struct {
	File string // for messages
	// Sets are JkSet, JkSet2 and JkUriSet, and changes made on the status
	// page, in their order.
	Sets []Set
	Data []byte
}

// Set is one setting outside of a workers2.properties file.
type Set struct {
	// Object is a component's name as it would stand between brackets,
	// "channel.socket:localhost:8009". Of a Location it is the path.
	Object   string
	Property string
	Value    string
	Line     int

	// Location tells that the setting is JkUriSet's: it is about the paths
	// that are Object or below it, on one virtual host.
	Location bool
	// VHost is the virtual host of a Location as in connector.Request: 0 for
	// the main server.
	VHost int
}

// SplitSet divides the name that JkSet takes at its last '.' or ':', whichever
// comes later. ok is false when there is neither.
func SplitSet(name string) (object, property string, ok bool) {
	i := strings.LastIndexAny(name, ".:")
	if i < 0 {
		return "", name, false
	}
	object, property = name[:i], name[i+1:]
	return object, property, property != "" && object != ""
}

// part is the value of one line.
type part struct {
	conf.Place
	seq   int    // place in the order of reading
	value string // macros replaced
	// written is the value before that.
	written string
	// unresolved is the index of the warning about an unknown ${name}, or -1.
	unresolved int
}

// property is one key of one component, with every line that gave it.
type property struct {
	key   string
	parts []part
}

func (p *property) last() *part { return &p.parts[len(p.parts)-1] }

// component is a section as it was written, or one that exists by itself.
type component struct {
	kind  *kind
	local string
	at    conf.Place
	// implied: nobody wrote it.
	implied bool
	props   map[string]*property
	order   []*property
	// location and vhost are those of [Set].
	location bool
	vhost    int
}

// name is what identifies a component: type, colon, local name.
func (c *component) name() string { return c.kind.typ + ":" + c.local }

// title is the name for messages.
func (c *component) title() string {
	if c.location {
		return "JkUriSet " + c.local
	}
	return "[" + c.name() + "]"
}

func (c *component) add(key string, p part) *property {
	q := c.props[key]
	if q == nil {
		q = &property{key: key}
		c.props[key] = q
		c.order = append(c.order, q)
	}
	q.parts = append(q.parts, p)
	return q
}

// disabled tells whether the component is switched off, without judging how
// that is written.
func (c *component) disabled() bool {
	p := c.props["disabled"]
	return p != nil && strings.Trim(conf.LeadingInt(p.last().value), "-0") != ""
}

// objects are the components in the order they were first written.
type objects struct {
	conf.Report
	env    Env
	byName map[string]*component
	order  []*component
	// settings are the variables that ${name} finds.
	settings map[string]string
	seq      int
}

func readObjects(env Env, sources []Source) *objects {
	o := &objects{env: env, byName: map[string]*component{}, settings: map[string]string{}}
	for _, s := range sources {
		for _, set := range s.Sets {
			o.set(conf.Place{File: s.File, Line: set.Line}, set)
		}
		o.file(s)
	}
	return o
}

var macros = conf.Macros{Open: "${", Close: "}"}

func (o *objects) lookup(name string) (string, bool) {
	if v, ok := o.settings[name]; ok {
		return v, true
	}
	return o.env.lookup(name)
}

// file reads the lines of one file.
func (o *objects) file(s Source) {
	var section *component
	before := true // no section yet
	o.Lines(s.File, s.Data, func(l conf.TextLine) {
		if l.Text[0] == '[' {
			before = false
			section = o.header(l)
			return
		}
		key, value, ok := l.Pair(&o.Report)
		switch {
		case !ok:
		case before:
			o.orphan(l.Place, key, value)
		case section != nil:
			o.put(section, key, value, l)
		}
	})
}

// header is the component of a section's first line, or nil when what follows
// is to be skipped.
func (o *objects) header(l conf.TextLine) *component {
	name, rest, closed := strings.Cut(l.Text[1:], "]")
	if !closed {
		o.Fail(l.Place, l.Text, "the section header has no closing bracket")
		return nil
	}
	if strings.Trim(rest, " \t") != "" {
		o.Warn(l.Place, l.Text, "what follows the first ']' is dropped: the section is [%s]", conf.Printable(name))
	}
	return o.object(l.Place, strings.TrimSpace(name))
}

// orphan is a pair before the first section, which is a variable at most.
func (o *objects) orphan(at conf.Place, key, value string) {
	value, _ = macros.Expand(&o.Report, at, key, value, o.lookup)
	if object, property, ok := SplitSet(key); ok {
		if k, _, _ := strings.Cut(object, ":"); kinds()[k] != nil {
			o.Warn(at, key, "has no effect before the first section: write [%s] and below it %s=%s", conf.Printable(object), conf.Printable(property), conf.Printable(value))
		}
	}
	o.Info(at, key, "stands before the first section and is a variable only")
	o.settings[strings.TrimPrefix(key, "$")] = value
}

// set applies one Set.
func (o *objects) set(at conf.Place, s Set) {
	var c *component
	name := s.Object
	if s.Location {
		if c = o.locationObject(at, s); c == nil {
			return
		}
	} else {
		name, _ = macros.Expand(&o.Report, at, s.Property, name, o.lookup)
		if c = o.object(at, name); c == nil {
			return
		}
	}
	if s.Property == "" || s.Value == "" {
		o.Info(at, s.Object, "has no property or no value: ignored")
		return
	}
	o.put(c, s.Property, s.Value, conf.TextLine{Place: at})
}

// put enters a property of a component.
func (o *objects) put(c *component, key, value string, l conf.TextLine) {
	if name, ok := strings.CutPrefix(key, "$"); ok {
		o.settings[name] = value // as it is: mod_jk2 does not look into it
		return
	}
	o.seq++
	p := part{Place: l.Place, seq: o.seq, written: value, unresolved: -1}
	if c.kind.foreign != "" {
		// Nobody will use it, so nobody needs to hear about it.
		p.value, _ = macros.Expand(new(conf.Report), l.Place, key, value, o.lookup)
	} else {
		p.value, p.unresolved = macros.Expand(&o.Report, l.Place, key, value, o.lookup)
		p.value = strings.TrimSpace(p.value)
		if p.value == "" {
			o.Warn(l.Place, key, "is empty once ${...} is replaced: ignored")
			return
		}
	}
	k := c.kind.key(key)
	switch {
	case c.kind.typ == "config":
		o.settings[key] = p.value
	case k.secret:
		// Not to be had by a variable: it would lose its name, and with it
		// the care that is taken of it.
		if l.Cut {
			o.Warn(l.Place, key, "the value ends at a '#', which begins a comment; it is not part of the secret")
		}
	default:
		o.settings[c.name()+"."+key] = p.value
	}
	if old := c.props[key]; old != nil && !k.multi && c.kind.foreign == "" {
		what := conf.Printable(old.last().value)
		if k.secret {
			what = "that"
		}
		if old.last().value != p.value || k.secret {
			o.Note(again(old.last(), &p), l.Place, key, "given again: this one counts, not %s of %s", what, old.last().Place)
		}
	}
	c.add(key, p)
}

// again is how a second line is spoken of: within a file it may be a slip,
// from elsewhere it is meant.
func again(old, now *part) conf.Severity {
	if old.File == now.File {
		return conf.Warn
	}
	return conf.Info
}
