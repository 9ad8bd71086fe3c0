package jk

import (
	"strings"

	"jkd/conf"
)

// hidden warns of mounts that no path can reach: the same pattern is mounted
// by a stronger source, or an exclusion takes all of it.
func (b *mapBuilder) hidden() {
	first := map[string]*Rule{} // rules come by precedence
	for _, r := range b.rules {
		if r.Exclude || r.Disabled {
			continue
		}
		if f := first[r.Pattern]; f == nil {
			first[r.Pattern] = r
		} else if f.Source != r.Source {
			severity := conf.Warn
			if f.Worker == r.Worker {
				severity = conf.Info
			}
			b.note(severity, r.at(), r.key(), "never used: %s (%s) has the same pattern for %s, and %s counts more than %s",
				f.at(), f.Source, conf.Printable(f.Worker), f.Source, r.Source)
			continue
		}
		for _, x := range b.rules {
			if x.Exclude && !x.Disabled && x.speaksOf(r) && covers(x.Pattern, r.Pattern) {
				b.warn(r.at(), r.key(), "never used: %s (%s) excludes all of it", conf.Printable(x.key()), x.at())
				break
			}
		}
	}
}

// covers tells whether pattern a surely matches whatever b matches: taken as a
// text, b's own wildcards can only be taken by those of a.
func covers(a, b string) bool {
	return !strings.Contains(a, "?") && conf.Wildcard(a, b)
}

// idleExclusions remarks on exclusions for a worker that nothing is mounted to.
func (b *mapBuilder) idleExclusions() {
	mounted := map[string]bool{}
	for _, r := range b.rules {
		if !r.Exclude && !r.Disabled {
			mounted[r.Worker] = true
		}
	}
	for _, r := range b.rules {
		if r.Exclude && !r.Disabled && r.Index >= 0 && !mounted[r.Worker] && !b.mounts.Virtual {
			b.info(r.at(), r.key(), "excludes nothing: no path is mounted to worker %s", conf.Printable(r.Worker))
		}
	}
}
