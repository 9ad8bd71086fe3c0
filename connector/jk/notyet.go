package jk

import (
	"strings"

	"jkd/conf"
)

// NotYet returns warnings of settings that [Load] has read and checked but that
// do nothing in this version: a limit that is silently not kept is worse than
// one that is missing.
func NotYet(c *conf.Config, s *Setup) []conf.Warning {
	r := &report{}
	without := func(at place, key string, what []string) {
		if len(what) > 0 {
			r.warn(at, key, "without effect in this version of jkd: %s", strings.Join(what, ", "))
		}
	}
	without(place{c.Path, 0}, "[connector.jk]", jkNotYet(c.Jk))
	conf.SortWarnings(r.warnings)
	return r.warnings
}

func jkNotYet(j *conf.Jk) (what []string) {
	if j.WatchdogInterval > 0 {
		what = append(what, "JkWatchdogInterval")
	}
	return what
}
