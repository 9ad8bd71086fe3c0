package jk

import (
	"fmt"
	"strings"

	"jkd/conf"
)

// notYet warns of settings that are read and checked but do nothing in this
// version, for workers that requests can reach: a limit that is silently not
// kept is worse than one that is missing.
func notYet(c *Config, u *URIMap) []conf.Warning {
	var out []conf.Warning
	seen := map[int]bool{}
	for _, r := range u.rules {
		if r.Index < 0 || r.Exclude || r.Disabled {
			continue
		}
		if what := r.Extensions.notYet(); len(what) > 0 {
			out = append(out, conf.Warning{File: r.File, Line: r.Line, Key: r.key(), Msg: without(what)})
		}
		w := &c.Workers[r.Index]
		if seen[r.Index] || w.Type != AJP13 {
			continue
		}
		seen[r.Index] = true
		if what := w.AJP.notYet(); len(what) > 0 {
			warning := conf.Warning{Key: workerPrefix + w.Name, Msg: without(what)}
			if info := c.names[w.Name]; info != nil {
				warning.File, warning.Line = info.at.file, info.at.line
			}
			out = append(out, warning)
		}
	}
	return out
}

func without(what []string) string {
	return fmt.Sprintf("without effect in this version of jkd: %s", strings.Join(what, ", "))
}

// notYet names the directives of a back end that do nothing yet.
func (a *AJPConfig) notYet() (what []string) {
	if a.BusyLimit > 0 {
		what = append(what, "busy_limit")
	}
	if len(a.FailOnStatus) > 0 {
		what = append(what, "fail_on_status")
	}
	if a.PingMode&PingInterval != 0 {
		what = append(what, "connection_ping_interval (ping_mode I)")
	}
	if a.RecoveryOptionsSet && a.RecoveryOptions&RecoverCloseOnClientError != 0 {
		what = append(what, "bit 4 of recovery_options")
	}
	return what
}

// notYet names the extensions of a rule that do nothing yet for a back end
// that is not a balancer.
func (x *Extensions) notYet() (what []string) {
	if len(x.FailOnStatus) > 0 {
		what = append(what, "fail_on_status")
	}
	if x.UseServerErrors > 0 {
		what = append(what, "use_server_errors")
	}
	return what
}
