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
	for i := range c.Jk.Servers {
		at, key := place{c.Path, 0}, "[connector.jk]"
		if i > 0 {
			at.line, key = c.VHosts[i-1].Line, "[vhost "+c.VHosts[i-1].Name+"]"
		}
		without(at, key, siteNotYet(&c.Jk.Servers[i]))
	}
	conf.SortWarnings(r.Warnings)
	return r.Warnings
}

func siteNotYet(s *conf.JkServer) (what []string) {
	if s.Options.ForwardDirectories {
		what = append(what, "ForwardDirectories (a directory without an index is answered with 404)")
	}
	return what
}
