package jk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"jkd/conf"
)

// RuleSource is where a rule comes from. Of two rules that are alike in
// everything else the one from the stronger source wins.
type RuleSource uint8

// From the weakest.
const (
	FromWorker RuleSource = 1 + iota // worker.X.mount
	FromMount                        // JkMount, JkUnMount
	FromFile                         // JkMountFile
	FromEnv                          // the variable JK_WORKER_NAME: [ParseTarget]
)

// String returns the directive the rule was written with.
func (s RuleSource) String() string {
	switch s {
	case FromWorker:
		return "mount"
	case FromMount:
		return "JkMount"
	case FromFile:
		return "JkMountFile"
	case FromEnv:
		return "JK_WORKER_NAME"
	}
	return "RuleSource(?)"
}

// Rule is one pattern and its worker.
type Rule struct {
	Pattern string // without prefixes, '|' replaced
	// Worker is the worker's name, "*" (any) in some exclusions. Index is its
	// place in Config.Workers, or AnyWorker or UnknownWorker.
	Worker string
	Index  int
	// Rank is the place among the map's rules: none with a lesser one that
	// matches too is served by another rule.
	Rank int
	// Exclude: paths that match are not for Worker. Disabled: the rule is read
	// and checked but matches nothing.
	Exclude, Disabled bool
	Source            RuleSource
	File              string
	Line              int
	Extensions        Extensions
}

func (r *Rule) at() place { return place{r.File, r.Line} }

// key is how the rule was written, for messages.
func (r *Rule) key() string {
	s := r.Pattern
	if r.Exclude {
		s = "!" + s
	}
	if r.Disabled {
		s = "-" + s
	}
	return s
}

// Values of [Rule.Index] that are no place in Config.Workers.
const (
	// AnyWorker is that of exclusions for the worker "*".
	AnyWorker = -1
	// UnknownWorker is that of a rule whose worker does not exist. There are
	// such rules after [Setup.Remap] only; what they match is answered 500.
	UnknownWorker = -2
)

// Mounts is where the rules of one server come from besides the workers.
type Mounts struct {
	ConfFile string // path of jkd.conf, for messages
	Mounts   []conf.Mount
	UnMounts []conf.Mount
	// Copied and CopiedUn are the main server's (JkMountCopy): those that are
	// not redefined by the first two count.
	Copied, CopiedUn []conf.Mount
	MapFile          *conf.File // uriworkermap.properties, nil for none
	// Virtual leaves out what workers ask for themselves (worker.X.mount): it
	// belongs to the main server.
	Virtual bool
}

// URIMap maps paths to rules. It does not change and may be used concurrently.
type URIMap struct {
	rules    []*Rule // in order of precedence
	mounts   matcher
	excludes matcher
}

// NewURIMap builds the map for the workers of c. It returns all faults as
// [conf.Errors].
func NewURIMap(c *Config, env Env, m Mounts) (*URIMap, []conf.Warning, error) {
	b := &mapBuilder{report: &report{}, cfg: c, env: env, mounts: m}
	u := b.build()
	conf.SortWarnings(b.Warnings)
	if err := b.Errs.Err(); err != nil {
		return nil, b.Warnings, err
	}
	return u, b.Warnings, nil
}

// Rules returns the rules in order of precedence, disabled ones and exclusions
// among them.
func (u *URIMap) Rules() []*Rule { return slices.Clone(u.rules) }

// Match returns the rule for a path that was prepared by connector.CleanPath,
// or nil when the path is not mapped. It allocates nothing.
//
// Of the rules that match, the one with most '/' in its pattern wins, then the
// longest pattern, then the strongest source, then the one written first;
// whether it has wildcards does not count. If then an exclusion of its worker
// matches, the path is not mapped, and no other rule is considered.
func (u *URIMap) Match(path []byte) *Rule {
	r := u.mounts.first(path)
	if r == nil || u.excludes.any(path, r) {
		return nil
	}
	return r
}

// byPrecedence sorts rules as [URIMap.Match] ranks them.
func byPrecedence(rules []*Rule) {
	slices.SortStableFunc(rules, func(a, b *Rule) int {
		return cmp.Or(
			cmp.Compare(strings.Count(b.Pattern, "/"), strings.Count(a.Pattern, "/")),
			cmp.Compare(len(b.Pattern), len(a.Pattern)),
			cmp.Compare(b.Source, a.Source),
		)
	})
}

// mapBuilder makes one URIMap.
type mapBuilder struct {
	*report
	cfg    *Config
	env    Env
	mounts Mounts
	rules  []*Rule
	index  map[ruleID]*Rule

	// copying: a rule that is there already stays.
	copying bool
	// lenient: rules for workers that do not exist are kept, and the faults
	// go to unknown.
	lenient bool
	unknown conf.Errors
}

// ruleID is what makes two lines the same rule. Exclusions of different
// workers are different rules: dropping one of them would open what it closed.
type ruleID struct {
	pattern           string
	worker            string // exclusions only
	exclude, disabled bool
	source            RuleSource
}

func (b *mapBuilder) build() *URIMap {
	b.index = map[ruleID]*Rule{}
	for i := range b.cfg.Workers {
		w := &b.cfg.Workers[i]
		if b.mounts.Virtual {
			break
		}
		for _, m := range w.Mounts {
			at := place{m.File, m.Line}
			if strings.Contains(m.Pattern, "|") {
				b.warn(at, m.Pattern, "'|' stands for itself in a worker's mount; JkMount knows it as a shortcut")
			}
			b.add(at, FromWorker, m.Pattern, w.Name, "")
		}
	}
	lines := func(mounts, unMounts []conf.Mount) {
		for _, m := range mounts {
			b.line(place{b.mounts.ConfFile, m.Line}, FromMount, m.Pattern, m.Worker)
		}
		for _, m := range unMounts {
			b.line(place{b.mounts.ConfFile, m.Line}, FromMount, exclusion(m.Pattern), m.Worker)
		}
	}
	lines(b.mounts.Mounts, b.mounts.UnMounts)
	b.copying = true
	lines(b.mounts.Copied, b.mounts.CopiedUn)
	b.copying = false
	if f := b.mounts.MapFile; f != nil {
		seen := map[string]string{}
		lookup := func(name string) (string, bool) {
			if v, ok := seen[name]; ok {
				return v, true
			}
			return b.env.lookup(name)
		}
		b.entries(Source{File: f.Path, Data: f.Data}, func(e entry) {
			value, _ := b.macros(e.place, e.key, e.value, lookup)
			seen[e.key] = value
			b.line(e.place, FromFile, e.key, value)
		})
	}
	byPrecedence(b.rules)
	b.spellings()
	b.writable()
	b.hidden()
	b.idleExclusions()
	u := &URIMap{rules: b.rules}
	for rank, r := range u.rules {
		r.Rank = rank
		switch {
		case r.Disabled:
		case r.Exclude:
			u.excludes.add(r, rank)
		default:
			u.mounts.add(r, rank)
		}
	}
	return u
}

// exclusion adds the prefix that JkUnMount stands for.
func exclusion(pattern string) string {
	rest, disabled := strings.CutPrefix(pattern, "-")
	if !strings.HasPrefix(rest, "!") {
		rest = "!" + rest
	}
	if disabled {
		return "-" + rest
	}
	return rest
}

// line adds the one or two rules of a line.
func (b *mapBuilder) line(at place, from RuleSource, pattern, target string) {
	worker, ext, _ := strings.Cut(target, ";")
	worker = strings.Trim(worker, blanks)
	before, after, both := strings.Cut(pattern, "|")
	if !both {
		b.add(at, from, pattern, worker, ext)
		return
	}
	if b.add(at, from, before, worker, ext) {
		b.add(at, from, before+after, worker, ext)
	}
}

// add checks a rule and enters it.
func (b *mapBuilder) add(at place, from RuleSource, written, worker, ext string) bool {
	r := &Rule{Worker: worker, Source: from, File: at.file, Line: at.line}
	rest, ok := strings.CutPrefix(written, "-")
	r.Disabled = ok
	rest, r.Exclude = strings.CutPrefix(rest, "!")
	r.Pattern = rest
	if !b.pattern(at, written, rest) || !b.worker(r, written) {
		return false
	}
	r.Extensions = b.extensions(r, written, ext)
	id := ruleID{pattern: r.Pattern, exclude: r.Exclude, disabled: r.Disabled, source: from}
	if r.Exclude {
		id.worker = worker
	}
	if old := b.index[id]; old != nil {
		if b.copying {
			return true
		}
		b.warn(at, written, "given again: this line counts, not %s (%s)", old.at(), conf.Printable(old.Worker))
		b.rules = slices.DeleteFunc(b.rules, func(x *Rule) bool { return x == old })
	}
	b.index[id] = r
	b.rules = append(b.rules, r)
	return true
}

// pattern checks a pattern without its prefixes.
func (b *mapBuilder) pattern(at place, written, rest string) bool {
	switch {
	case strings.HasPrefix(rest, "/"):
	case strings.HasPrefix(rest, "-"):
		b.fail(at, written, "the prefixes are '-' or '!' or '-!', in this order")
		return false
	case strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "?"):
		b.fail(at, written, "invalid mapping rule: the pattern does not begin with '/', did you mean /%s?", conf.Printable(rest))
		return false
	default:
		b.fail(at, written, "invalid mapping rule: the pattern does not begin with '/'")
		return false
	}
	for _, never := range []string{"//", "/./", "/../", ";"} {
		if strings.Contains(rest, never) {
			b.warn(at, written, "matches no path: they are compared without %q in them", never)
			return true
		}
	}
	if strings.HasSuffix(rest, "/.") || strings.HasSuffix(rest, "/..") {
		b.warn(at, written, "matches no path: the dots at its end are resolved before")
		return true
	}
	if strings.Contains(rest, "%") {
		b.warn(at, written, "is compared with the decoded path, where '%%' stands for itself")
	}
	return true
}

// worker finds the rule's worker.
func (b *mapBuilder) worker(r *Rule, written string) bool {
	switch {
	case r.Worker == "":
		b.fail(r.at(), written, "the worker's name is missing")
		return false
	case r.Worker == "*" && !r.Exclude:
		b.fail(r.at(), written, "worker * (any) is for exclusions only")
		return false
	case r.Worker == "*":
		r.Index = AnyWorker
		return true
	}
	r.Index = b.cfg.index(r.Worker)
	if r.Index >= 0 {
		return true
	}
	r.Index = UnknownWorker
	if !b.lenient {
		b.fail(r.at(), written, "%s", b.unlisted(r.Worker))
		return false
	}
	b.unknown = append(b.unknown, &conf.Error{File: r.File, Line: r.Line, Key: written, Msg: b.unlisted(r.Worker)})
	return true
}

// unlisted says what is known of a worker that is not in worker.list.
func (b *mapBuilder) unlisted(worker string) string {
	name := conf.Printable(worker)
	list := "worker.list"
	if b.cfg.listAt != (place{}) {
		list += " (" + b.cfg.listAt.String() + ")"
	}
	switch info := b.cfg.names[worker]; {
	case info != nil && info.memberOf != "":
		return fmt.Sprintf("worker %s (%s) is a member of %s but not in %s", name, info.at, info.memberOf, list)
	case info != nil:
		return fmt.Sprintf("worker %s is defined in %s but not in %s", name, info.at, list)
	}
	return fmt.Sprintf("there is no worker %s in %s%s", name, list, conf.DidYouMean(worker, b.names()))
}

func (b *mapBuilder) names() []string {
	var out []string
	for i := range b.cfg.Workers {
		out = append(out, b.cfg.Workers[i].Name)
	}
	return out
}

// spellings warns of exclusions in one spelling while mounts are made in
// several: on a file system that ignores case the others are open.
func (b *mapBuilder) spellings() {
	mounts, excludes := map[string]string{}, map[string]int{}
	several := false
	for _, r := range b.rules {
		if r.Disabled {
			continue
		}
		folded := strings.ToLower(r.Pattern)
		if r.Exclude {
			excludes[folded]++
			continue
		}
		if other, ok := mounts[folded]; ok && other != r.Pattern {
			several = true
		}
		mounts[folded] = r.Pattern
	}
	if !several {
		return
	}
	for _, r := range b.rules {
		if r.Exclude && !r.Disabled && excludes[strings.ToLower(r.Pattern)] == 1 && strings.IndexFunc(r.Pattern, unicode.IsLetter) >= 0 {
			b.warn(r.at(), r.key(), "is excluded in this spelling only, while there are mounts in several spellings")
		}
	}
}

// writable warns of status pages that anybody who reaches them may use.
func (b *mapBuilder) writable() {
	for _, r := range b.rules {
		if r.Index < 0 || r.Exclude || r.Disabled {
			continue
		}
		if s := b.cfg.Workers[r.Index].Status; s != nil && !s.ReadOnly && len(s.Users) == 0 {
			b.warn(r.at(), r.key(), "the status page of worker %s is mounted and may be changed by everybody (read_only, user)", r.Worker)
		}
	}
}
