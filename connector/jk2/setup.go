package jk2

import (
	"cmp"
	"encoding/json"
	"slices"

	"jkd/conf"
)

// Setup is what [connector.jk2] says, checked: it can be served. It does not
// change and may be used concurrently; [Setup.Reload] makes another one.
type Setup struct {
	Config *Config
	// File is the path of workers2.properties, "" without one.
	File string

	env    Env
	sets   Source // JkSet and its kin
	before int    // how many of them count less than the file
	text   []byte // of the file
	// written are the components as they were written, edits not among them.
	written *objects
}

// Size is that of the file's text in bytes.
func (s *Setup) Size() int { return len(s.text) }

// Load makes components of section [connector.jk2] of c, which must not be nil
// there. It returns every fault as [conf.Errors]. The environment is that of
// the process.
func Load(c *conf.Config) (*Setup, []conf.Warning, error) {
	s := &Setup{env: Env{ServerRoot: c.Server.ServerRoot}, sets: Source{File: c.Path}, before: c.Jk2.Before}
	for _, x := range c.Jk2.Sets {
		set := Set{Object: x.Object, Property: x.Property, Value: x.Value, Line: x.Line}
		if set.Object == "" {
			set.Object, set.Property, _ = SplitSet(x.Property)
		}
		s.sets.Sets = append(s.sets.Sets, set)
	}
	for _, x := range c.Jk2.URISets {
		s.sets.Sets = append(s.sets.Sets, Set{Object: x.Path, Property: x.Property, Value: x.Value, Line: x.Line, Location: true, VHost: x.VHost})
	}
	if f := c.Jk2.File; f != nil {
		s.File, s.text = f.Path, f.Data
	}
	return s.make(s.sources(s.text), nil, nil)
}

// Reload makes a Setup of another text of the file; s stays as it is. As in
// mod_jk2 a component that is in both texts is read again only if its ver
// differs, and one that is missing in the new text stays. What is new is there,
// uris too. With faults, which are returned as [conf.Errors], nothing has
// changed.
func (s *Setup) Reload(text []byte) (*Setup, []conf.Warning, error) {
	out, warnings, err := s.make(s.sources(text), s.written, nil)
	if err == nil {
		out.text = text
	}
	return out, warnings, err
}

func (s *Setup) sources(text []byte) []Source {
	if s.File == "" {
		return []Source{s.sets}
	}
	before, after := s.sets, s.sets
	before.Sets, after.Sets = s.sets.Sets[:s.before], s.sets.Sets[s.before:]
	return []Source{before, {File: s.File, Data: text}, after}
}

// export is all components as written, for [Setup.adopt]: what came of several
// texts one after the other can't be had from the last one alone.
func (s *Setup) export() ([]byte, error) {
	var sets []Set
	for _, c := range s.written.order {
		name := c.name()
		if c.location {
			name = c.local
		}
		set := Set{Object: name, Location: c.location, VHost: c.vhost, Line: c.at.Line}
		var parts []part
		keys := map[int]string{}
		for _, p := range c.order {
			for _, x := range p.parts {
				parts, keys[x.seq] = append(parts, x), p.key
			}
		}
		if len(parts) == 0 {
			sets = append(sets, set)
		}
		slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.seq, b.seq) })
		for _, x := range parts {
			set.Property, set.Value, set.Line = keys[x.seq], x.value, x.Line
			sets = append(sets, set)
		}
	}
	return json.Marshal(sets)
}

// adopt makes a Setup of what another process has exported, and of edits.
func (s *Setup) adopt(data []byte, edits []Edit) (*Setup, error) {
	var sets []Set
	if err := json.Unmarshal(data, &sets); err != nil {
		return nil, err
	}
	x := *s
	x.sets, x.before, x.File = Source{File: s.File, Sets: sets}, len(sets), ""
	out, _, err := x.make([]Source{x.sets}, nil, edits)
	if err == nil {
		out.File = s.File
	}
	return out, err
}

// with makes a Setup with other edits.
func (s *Setup) with(edits []Edit) (*Setup, error) {
	data, err := s.export()
	if err != nil {
		return nil, err
	}
	return s.adopt(data, edits)
}

// make reads sources. Components that old has as well are old's unless their
// number has changed.
func (s *Setup) make(sources []Source, old *objects, edits []Edit) (*Setup, []conf.Warning, error) {
	o := readObjects(s.env, sources)
	if old != nil {
		o.keep(old)
	}
	out := &Setup{File: s.File, env: s.env, sets: s.sets, before: s.before, text: s.text, written: o.clone()}
	for _, e := range edits {
		o.set(conf.Place{File: editPlace}, Set{Object: e.Component, Property: e.Property, Value: e.Value})
	}
	b := &builder{objects: o, cfg: &Config{targets: map[string]Target{}}}
	b.build()
	conf.SortWarnings(o.Warnings)
	if err := o.Errs.Err(); err != nil {
		return nil, o.Warnings, err
	}
	out.Config = b.cfg
	return out, o.Warnings, nil
}

// editPlace is where edits stand, for messages.
const editPlace = "status page"

// ver is the number of a component as written, which Reload goes by.
func (c *component) ver() string {
	if p := c.props["ver"]; p != nil {
		return conf.LeadingInt(p.last().value)
	}
	return "0"
}

// keep takes over the components of old that a reload leaves alone.
func (o *objects) keep(old *objects) {
	for _, was := range old.order {
		id := was.id()
		now := o.byName[id]
		switch {
		case now == nil:
			was = was.clone()
			o.byName[id] = was
			o.order = append(o.order, was)
		case now.ver() == was.ver():
			*now = *was.clone()
		}
	}
}

// id is what o.byName has a component by.
func (c *component) id() string {
	if c.location {
		return locationID(c.vhost, c.local)
	}
	return c.name()
}

// clone is a copy that shares nothing that is changed later.
func (c *component) clone() *component {
	out := *c
	out.props, out.order = make(map[string]*property, len(c.props)), nil
	for _, p := range c.order {
		q := &property{key: p.key, parts: append([]part(nil), p.parts...)}
		for i := range q.parts {
			q.parts[i].unresolved = -1 // a warning of another report
		}
		out.props[q.key] = q
		out.order = append(out.order, q)
	}
	return &out
}

// clone copies the components, not what was reported of them.
func (o *objects) clone() *objects {
	out := &objects{env: o.env, byName: map[string]*component{}}
	for _, c := range o.order {
		c = c.clone()
		out.byName[c.id()] = c
		out.order = append(out.order, c)
	}
	return out
}

// changed tells whether a reload from s to next has read the component of that
// name again.
func (s *Setup) changed(next *Setup, name string) bool {
	was, now := s.written.byName[name], next.written.byName[name]
	switch {
	case was == nil || now == nil:
		return was != now
	}
	return was.ver() != now.ver()
}
