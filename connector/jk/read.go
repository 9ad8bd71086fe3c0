package jk

import "jkd/conf"

// Load makes workers and rules of section [connector.jk] of c, which must not
// be nil there. It returns every fault of workers.properties, of the map files
// and of the mounts as [conf.Errors]. The environment is that of the process.
func Load(c *conf.Config) (*Setup, []conf.Warning, error) {
	env := Env{ServerRoot: c.Server.ServerRoot}
	sources := []Source{{File: c.Path, Pairs: c.Jk.Properties}}
	if f := c.Jk.WorkersFile; f != nil {
		sources = append(sources, Source{File: f.Path, Data: f.Data})
	}
	w := parseConfig(env, sources)
	cfg, r := w.cfg, w.report
	s := &Setup{Config: cfg, env: env, plan: plan(c)}
	s.Maps = make([]*URIMap, len(s.plan))
	rules := 0
	for i, p := range s.plan {
		if p.shares >= 0 {
			s.Maps[i] = s.Maps[p.shares]
			continue
		}
		b := &mapBuilder{report: r, cfg: cfg, env: env, mounts: p.mounts}
		s.Maps[i] = b.build()
		rules += len(s.Maps[i].rules)
	}
	defer func() { conf.SortWarnings(r.Warnings) }()
	if err := r.Errs.Err(); err != nil {
		return nil, r.Warnings, err
	}
	l := linter{builder: w}
	l.servers, l.threads = capacity(c)
	l.run()
	r.strangers(c, s)
	r.indicators(c, s)
	if rules == 0 && !c.Files.Any() {
		r.warn(place{c.Path, 0}, "", "no path is mounted: every request will be answered 404")
	}
	return s, r.Warnings, nil
}

// capacity is how many processes there may be and how many requests each can
// serve at a time.
func capacity(c *conf.Config) (servers, threads int) {
	if c.Server.MPM == conf.Worker {
		threads = max(c.Worker.ThreadsPerChild, 1)
		return c.Worker.MaxRequestWorkers / threads, threads
	}
	return c.Prefork.MaxRequestWorkers, 1
}
