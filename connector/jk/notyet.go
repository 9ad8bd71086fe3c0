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
	seen := map[string]bool{}
	worker := func(w *WorkerConfig) {
		if !seen[w.Name] && w.Type == AJP13 {
			seen[w.Name] = true
			without(s.Config.names[w.Name].at, workerPrefix+w.Name, w.AJP.notYet())
		}
	}
	for _, m := range s.Maps {
		for _, rule := range m.rules {
			if rule.Index < 0 || rule.Exclude || rule.Disabled {
				continue
			}
			w := &s.Config.Workers[rule.Index]
			worker(w)
			if w.Type == LB {
				for i := range w.LB.Members {
					worker(&w.LB.Members[i])
				}
			}
		}
	}
	without(place{c.Path, 0}, "[connector.jk]", jkNotYet(c.Jk))
	conf.SortWarnings(r.warnings)
	return r.warnings
}

func (a *AJPConfig) notYet() (what []string) {
	if a.PingMode&PingInterval != 0 {
		what = append(what, "connection_ping_interval (ping_mode I)")
	}
	if a.MaxConnections > 0 {
		what = append(what, "max_connections")
	}
	if a.ResolveTTL != resolveTTL {
		what = append(what, "resolve_ttl")
	}
	return what
}

func jkNotYet(j *conf.Jk) (what []string) {
	if j.WatchdogInterval > 0 {
		what = append(what, "JkWatchdogInterval")
	}
	return what
}
