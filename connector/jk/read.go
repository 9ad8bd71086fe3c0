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
	cfg, r := parseConfig(env, sources)
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
	defer func() { conf.SortWarnings(r.warnings) }()
	if err := r.errs.Err(); err != nil {
		return nil, r.warnings, err
	}
	servers, threads := capacity(c)
	for i := range cfg.Workers {
		r.spare(&cfg.Workers[i], cfg, servers, threads)
	}
	if rules == 0 {
		r.warn(place{c.Path, 0}, "", "no path is mounted: every request will be answered 404")
	}
	return s, r.warnings, nil
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

// spare remarks on sizes that no process can use up, and says what the others
// come to: a pool is a process's own, which surprises people.
func (r *report) spare(w *WorkerConfig, c *Config, servers, threads int) {
	if w.LB != nil {
		for i := range w.LB.Members {
			r.spare(&w.LB.Members[i], c, servers, threads)
		}
		return
	}
	if w.Type != AJP13 || !w.AJP.Cache.SizeSet || w.AJP.Cache.Size <= 1 {
		return
	}
	at, n := place{}, w.AJP.Cache.Size
	if info := c.names[w.Name]; info != nil {
		at = info.at
	}
	key := workerPrefix + w.Name
	if n > threads {
		r.info(at, key, "of the %d connections a process may keep it never uses more than it serves requests at a time (%d)", n, threads)
		n = threads
	}
	r.info(at, key, "%d processes with up to %d connections each: the back end must take up to %d", servers, n, servers*n)
}
