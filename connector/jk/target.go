package jk

import (
	"errors"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"jkd/conf"
	"jkd/connector"
)

// ParseTarget reads the value of the variable JK_WORKER_NAME: what stands on
// the right side of a rule, "worker;extension=value". The result is a rule
// without a pattern. A worker that is not there is a fault, and so is a bad
// value; names and places that mean nothing are passed over, as in a rule.
// Reading costs more than a look into a map: callers keep the result.
func ParseTarget(c *Config, text string) (*Rule, error) {
	worker, ext, _ := strings.Cut(text, ";")
	r := &Rule{Worker: strings.Trim(worker, blanks), Source: FromEnv, File: FromEnv.String()}
	b := &mapBuilder{report: &report{}, cfg: c}
	if !b.worker(r, conf.Printable(text)) {
		return nil, b.Errs.Err()
	}
	r.Extensions = b.extensions(r, conf.Printable(text), ext)
	if err := b.Errs.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// indicated returns the worker that a variable (JkWorkerIndicator) names for a
// request that no rule maps, or nil when there is no such variable. A worker
// that is not there is answered 500.
func (c *Connector) indicated(s *site, r *connector.Request) connector.Worker {
	if r.Handler != conf.JkHandler {
		return nil
	}
	text, ok := r.Env.Get(s.c.Indicators.Worker)
	if !ok {
		return nil
	}
	return s.named.get(text, func() connector.Worker { return c.named(s, text) })
}

// DirectoryWorker is who gets directories without an index on one server: with
// ForwardDirectories the first worker of worker.list, else nil.
func (c *Connector) DirectoryWorker(vhost int) connector.Worker {
	if vhost < 0 || vhost >= len(c.sites) || !c.sites[vhost].c.Options.ForwardDirectories || len(c.config.Workers) == 0 {
		return nil
	}
	return c.target(&Rule{Worker: c.config.Workers[0].Name}, c.sites[vhost])
}

// named makes the target for a value of the variable.
func (c *Connector) named(s *site, text string) connector.Worker {
	rule, err := ParseTarget(c.config, text)
	if err != nil {
		c.log.Error().Err(err).Str("variable", s.c.Indicators.Worker).Msg("what is given to this worker is answered 500")
		name, _, _ := strings.Cut(text, ";")
		return &missing{name: strings.Trim(name, blanks), err: err}
	}
	return c.target(rule, s)
}

// indicators warns of values of the variable that name no worker.
func (r *report) indicators(c *conf.Config, s *Setup) {
	look := func(server int, at place, key string, env []conf.EnvSetting) {
		name := c.Jk.Servers[server].Indicators.Worker
		for _, e := range env {
			if e.Name != name || e.Unset || e.If != nil {
				continue
			}
			var faults conf.Errors
			if _, err := ParseTarget(s.Config, e.Value); errors.As(err, &faults) {
				r.warn(at, key, "%s: %s", name, faults[0].Msg)
			}
		}
	}
	look(0, place{c.Path, 0}, "SetEnv", c.Env)
	for i := range c.VHosts {
		look(i+1, place{c.Path, c.VHosts[i].Line}, "[vhost "+c.VHosts[i].Name+"]", c.VHosts[i].Env)
	}
	for _, l := range c.Locations {
		look(l.VHost, place{c.Path, l.Line}, "[location "+l.Path+"]", l.Env)
	}
}

// namedTargets are the targets of values of the variable. Looking one up takes
// no lock.
type namedTargets struct {
	made atomic.Pointer[map[string]connector.Worker]
	mu   sync.Mutex
}

// mostNamed bounds how many are kept. The values come from the configuration,
// and few files have as many.
const mostNamed = 1000

func (n *namedTargets) get(text string, target func() connector.Worker) connector.Worker {
	if m := n.made.Load(); m != nil {
		if w := (*m)[text]; w != nil {
			return w
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	old := map[string]connector.Worker{}
	if m := n.made.Load(); m != nil {
		old = *m
	}
	w := old[text]
	if w != nil {
		return w
	}
	w = target()
	if len(old) < mostNamed {
		next := maps.Clone(old)
		next[text] = w
		n.made.Store(&next)
	}
	return w
}
