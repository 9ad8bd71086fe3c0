package jk

import (
	"slices"
	"strings"
	"time"

	"jkd/conf"
)

// definition is the directives of one worker name.
type definition struct {
	name string
	at   place
	own  map[string]*Property
	// refs is where reference resolution stands: 0 not begun, 1 in progress,
	// 2 done.
	refs int
	used bool
}

// builder turns properties into a Config.
type builder struct {
	*report
	props   *Properties
	cfg     *Config
	workers map[string]*definition
	order   []*definition
}

func (b *builder) build() {
	for _, p := range b.props.order {
		if p.Worker == "" {
			continue
		}
		d := b.workers[p.Worker]
		if d == nil {
			d = b.define(p.Worker, p.at())
		}
		d.own[p.Directive] = p
	}
	for _, d := range b.order {
		b.checkName(d)
		b.checkType(d)
	}
	for _, d := range b.order {
		b.inherit(d, []string{d.name})
	}
	b.list()
	b.packetSizes()
	b.cfg.Maintain = b.maintain()
	b.mountsUnlisted()
	b.cfg.effective = b.effective()
	for _, d := range b.order {
		if !d.used && len(d.own) > 0 {
			b.info(d.at, workerPrefix+d.name, "is neither in worker.list nor a member of a balancer nor a template: not created")
		}
	}
}

// mountsUnlisted warns of mounts that nobody gets.
func (b *builder) mountsUnlisted() {
	listed := map[*Property]bool{}
	for i := range b.cfg.Workers {
		listed[b.workers[b.cfg.Workers[i].Name].own["mount"]] = true
	}
	for _, p := range b.props.order {
		if p.Directive == "mount" && !listed[p] {
			b.warn(p.at(), p.Name, "has no effect: %s is not in worker.list", conf.Printable(p.Worker))
		}
	}
}

func (b *builder) define(name string, at place) *definition {
	d := &definition{name: name, at: at, own: map[string]*Property{}}
	b.workers[name] = d
	b.order = append(b.order, d)
	b.cfg.names[name] = &nameInfo{at: at}
	return d
}

// longestName is mod_jk's limit for names and for most texts.
const longestName = 63

func (b *builder) checkName(d *definition) {
	key := workerPrefix + d.name
	switch {
	case len(d.name) > longestName:
		b.fail(d.at, key, "the worker's name is longer than %d bytes", longestName)
	case d.name == "*":
		b.fail(d.at, key, "'*' cannot be a worker's name")
	case strings.ContainsAny(d.name, ";, \t"):
		b.fail(d.at, key, "a worker's name cannot contain blanks, ',' or ';'")
	}
}

var workerTypes = map[string]WorkerType{"ajp13": AJP13, "lb": LB, "status": Status}

// checkType looks at every type that is written, used or not.
func (b *builder) checkType(d *definition) {
	p := d.own["type"]
	if p == nil {
		return
	}
	value := p.Value()
	if _, ok := workerTypes[value]; ok {
		return
	}
	b.cfg.names[d.name].broken = true
	switch value {
	case "ajp12", "ajp14":
		b.fail(p.at(), p.Name, "type %s is not supported: give the container an AJP/1.3 connector and use ajp13", value)
	case "jni":
		b.fail(p.at(), p.Name, "type jni is not supported: run the container as a process of its own and use ajp13")
	default:
		b.fail(p.at(), p.Name, "Unknown worker type %s%s (ajp13, lb, status)", conf.Printable(value),
			conf.DidYouMean(value, []string{"ajp13", "lb", "status"}))
	}
}

// deepest is how many references may follow one another.
const deepest = 20

// inherit copies the directives that d has not set itself from its template,
// the template's own template first. chain is the names that led here.
func (b *builder) inherit(d *definition, chain []string) bool {
	switch d.refs {
	case 1:
		return false // a loop; whoever began it reports it
	case 2:
		return !b.cfg.names[d.name].broken || d.own["reference"] == nil
	}
	d.refs = 1
	defer func() { d.refs = 2 }()
	p := d.own["reference"]
	if p == nil {
		return true
	}
	target, ok := strings.CutPrefix(p.Value(), workerPrefix)
	if !ok {
		b.fail(p.at(), p.Name, "the value must be %sNAME, not %s", workerPrefix, conf.Printable(p.Value()))
		return b.broken(d)
	}
	chain = append(chain, target)
	t := b.workers[target]
	switch {
	case t == nil:
		b.fail(p.at(), p.Name, "Reference not found: %s%s", strings.Join(chain, " -> "), conf.DidYouMean(target, b.names()))
		return b.broken(d)
	case t.refs == 1:
		b.fail(p.at(), p.Name, "the references go in a circle: %s", strings.Join(chain, " -> "))
		return b.broken(d)
	case len(chain) > deepest+1:
		b.fail(p.at(), p.Name, "more than %d references follow one another: %s", deepest, strings.Join(chain, " -> "))
		return b.broken(d)
	}
	t.used = true
	if !b.inherit(t, chain) {
		return b.broken(d)
	}
	for name, q := range t.own {
		if _, set := d.own[name]; !set && name != "reference" {
			d.own[name] = q
		}
	}
	if b.cfg.names[t.name].broken {
		return b.broken(d)
	}
	return true
}

func (b *builder) broken(d *definition) bool {
	b.cfg.names[d.name].broken = true
	return false
}

// names are all worker names, in the order of the text.
func (b *builder) names() []string {
	var out []string
	for _, d := range b.order {
		out = append(out, d.name)
	}
	return out
}

// list creates the workers of worker.list.
func (b *builder) list() {
	p := b.props.Get("worker.list")
	if p == nil {
		// As in mod_jk, a text without a list is about one worker.
		b.cfg.listAt = place{}
		if b.workers["ajp13"] == nil && len(b.order) > 0 {
			b.warn(b.order[0].at, "worker.list", "is missing: the only worker is ajp13 at localhost:8009")
		}
		b.listed("ajp13", place{}, "worker.list")
		return
	}
	b.cfg.listAt = p.at()
	for _, part := range p.Parts {
		for _, name := range split(part.Value) {
			b.listed(name, place{part.File, part.Line}, p.Name)
		}
	}
	if len(b.cfg.Workers) == 0 && len(b.Errs) == 0 {
		b.fail(p.at(), p.Name, "names no worker")
	}
}

func (b *builder) listed(name string, at place, key string) {
	d := b.workers[name]
	if d == nil {
		d = b.define(name, at)
		b.checkName(d)
		if at != (place{}) {
			b.warn(at, key, "worker %s has no directives: ajp13 at localhost:8009 is used%s", conf.Printable(name), conf.DidYouMean(name, b.otherNames(name)))
		}
	}
	if b.cfg.Worker(name) != nil {
		b.info(at, key, "worker %s is listed twice", conf.Printable(name))
		return
	}
	d.used = true
	b.cfg.Workers = append(b.cfg.Workers, b.worker(d))
}

// otherNames are all defined names but one.
func (b *builder) otherNames(name string) []string {
	return slices.DeleteFunc(b.names(), func(n string) bool { return n == name })
}

func (b *builder) maintain() time.Duration {
	const normal = 60
	g := get{b: b, own: map[string]*Property{"maintain": b.props.Get("worker.maintain")}}
	return max(0, g.time("maintain", time.Second, normal*time.Second, negativeIsZero))
}

// worker builds one worker, whatever its type.
func (b *builder) worker(d *definition) WorkerConfig {
	before := len(b.Errs)
	w := WorkerConfig{Name: d.name}
	g := get{b: b, own: d.own}
	if p := d.own["type"]; p != nil {
		t, ok := workerTypes[p.Value()]
		if !ok {
			return w // reported by checkType
		}
		w.Type = t
	}
	for _, m := range g.parts("mount") {
		for _, pattern := range split(m.Value) {
			w.Mounts = append(w.Mounts, MountPattern{Pattern: pattern, File: m.File, Line: m.Line})
		}
	}
	b.misplaced(d, w.Type)
	switch w.Type {
	case AJP13:
		w.AJP = g.ajp()
		w.Member = g.member(d.name)
		if w.AJP.Port == 0 && w.Member.Activation != Stopped {
			w.Member.Activation = Stopped
		}
	case LB:
		w.LB = b.balancer(d, g)
	case Status:
		w.Status = g.status()
	}
	if len(b.Errs) > before {
		b.cfg.names[d.name].broken = true
	}
	return w
}

// misplaced remarks on directives that mean nothing to the worker's type.
func (b *builder) misplaced(d *definition, t WorkerType) {
	fits := forAJP | forMember
	switch t {
	case LB:
		fits = forLB
	case Status:
		fits = forStatus
	}
	for _, p := range b.props.order {
		if d.own[p.Directive] != p || p.Worker != d.name {
			continue // not there, or inherited: a template serves many
		}
		if dir := directiveTable[p.Directive]; dir.use != 0 && dir.use&fits == 0 {
			b.info(p.at(), p.Name, "has no effect on a worker of type %s", t)
		}
	}
}
