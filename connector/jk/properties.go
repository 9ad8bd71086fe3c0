package jk

import (
	"slices"
	"strings"

	"jkd/conf"
)

// Property is one directive as it was written, with its macros replaced.
type Property struct {
	// Name is the whole name, "worker.list" or "worker.ajp13.host".
	Name string
	// Worker and Directive are its parts; Worker is "" for worker.list,
	// worker.maintain and for variables, and so is Directive for the latter.
	Worker, Directive string
	// Parts are the values of the lines that gave it: one, except for lists.
	Parts []Part
}

// Part is the value of one line.
type Part struct {
	Value string
	File  string
	Line  int
	// unresolved is the index of the warning about an unknown $(name) in
	// Value, or -1.
	unresolved int
}

// Value returns the parts joined by commas.
func (p *Property) Value() string {
	if len(p.Parts) == 1 {
		return p.Parts[0].Value
	}
	all := make([]string, len(p.Parts))
	for i := range p.Parts {
		all[i] = p.Parts[i].Value
	}
	return strings.Join(all, ",")
}

// at is the line of the first part.
func (p *Property) at() place { return place{p.Parts[0].File, p.Parts[0].Line} }

// Properties are the properties of one or more texts. They are as written:
// nothing is inherited yet and no value is interpreted.
type Properties struct {
	byName map[string]*Property
	// order is that of the first lines.
	order []*Property
	env   Env
	report
}

// ParseProperties reads texts in the language of workers.properties, in order,
// as if they were one. It finds the faults of the language, which includes
// unknown directives, and returns all of them as [conf.Errors]. The
// properties are valid even then, as far as they could be read.
func ParseProperties(env Env, sources ...Source) (*Properties, []conf.Warning, error) {
	p := parseProperties(env, sources)
	conf.SortWarnings(p.Warnings)
	return p, p.Warnings, p.Errs.Err()
}

func parseProperties(env Env, sources []Source) *Properties {
	p := &Properties{byName: map[string]*Property{}, env: env}
	for _, s := range sources {
		p.entries(s, p.add)
	}
	return p
}

// Get returns a property by its whole name, or nil.
func (p *Properties) Get(name string) *Property { return p.byName[name] }

// All returns the properties in the order of their first lines.
func (p *Properties) All() []*Property { return slices.Clone(p.order) }

func (p *Properties) lookup(name string) (string, bool) {
	if known := p.byName[name]; known != nil {
		return known.Value(), true
	}
	return p.env.lookup(name)
}

const workerPrefix = "worker."

func (p *Properties) add(e entry) {
	value, note := p.macros(e.place, e.key, e.value, p.lookup)
	if value = strings.Trim(value, blanks); value == "" {
		p.warn(e.place, e.key, "is empty once $(...) is replaced: ignored")
		return
	}
	part := Part{Value: value, File: e.file, Line: e.line, unresolved: note}
	rest, ok := strings.CutPrefix(e.key, workerPrefix)
	if !ok {
		p.hint(e)
		p.put(&Property{Name: e.key, Parts: []Part{part}}, directive{})
		return
	}
	name, last := "", rest
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		name, last = rest[:i], rest[i+1:]
	}
	d, known := directiveTable[last]
	switch {
	case rest == "list" || rest == "maintain":
		p.put(&Property{Name: e.key, Directive: rest, Parts: []Part{part}}, directive{list: rest == "list"})
		return
	case name == "" && known:
		p.fail(e.place, e.key, "names no worker: write worker.NAME.%s", last)
		return
	case name == "":
		p.fail(e.place, e.key, "unknown directive%s", conf.DidYouMean(rest, globalNames))
		return
	case !known && slices.Contains(globalNames, last):
		p.fail(e.place, e.key, "belongs to no single worker: write worker.%s", last)
		return
	case !known:
		p.fail(e.place, e.key, "%s", unknownDirective(last))
		return
	}
	if d.secret && e.cut {
		p.warn(e.place, e.key, "the value ends at a '#', which begins a comment; it is not part of the secret")
	}
	switch {
	case d.dead != "":
		p.warn(e.place, e.key, "has no effect: it %s", d.dead)
	case d.now != "":
		p.warn(e.place, e.key, "%s is deprecated, %s is the current name", last, d.now)
	case last == "max_reuse_connections":
		p.warn(e.place, e.key, "is a vendor's directive: read as the most idle connections to keep")
	}
	p.put(&Property{Name: e.key, Worker: name, Directive: last, Parts: []Part{part}}, d)
}

// put enters a property or settles what a second line for it means.
func (p *Properties) put(q *Property, d directive) {
	old := p.byName[q.Name]
	if old == nil {
		p.byName[q.Name] = q
		p.order = append(p.order, q)
		return
	}
	if d.list {
		old.Parts = append(old.Parts, q.Parts...)
		return
	}
	what := conf.Printable(old.Parts[0].Value)
	if d.secret {
		what = "that"
	}
	p.warn(q.at(), q.Name, "Duplicate key: this one counts, not %s of %s", what, old.at())
	old.Parts = q.Parts
}

// hint speaks about names that were probably meant to begin with "worker.":
// by themselves they are variables and nobody would notice.
func (p *Properties) hint(e entry) {
	first, rest, ok := strings.Cut(e.key, ".")
	if !ok || conf.Nearest(first, []string{"worker"}) == "" {
		return
	}
	last := rest[strings.LastIndexByte(rest, '.')+1:]
	d, known := directiveTable[last]
	if known && d.dead == "" && last != rest || slices.Contains(globalNames, rest) {
		p.warn(e.place, e.key, "is a variable without meaning, did you mean %s%s?", workerPrefix, rest)
	}
}
