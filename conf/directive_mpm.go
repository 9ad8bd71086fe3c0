package conf

import "math"

func preforkTable() table {
	t := table{}
	t.add(directive{name: "StartServers", set: anyNumber(func(c *Config) *int { return &c.Prefork.StartServers })})
	t.add(directive{name: "MinSpareServers", set: anyNumber(func(c *Config) *int { return &c.Prefork.MinSpareServers })})
	t.add(directive{name: "MaxSpareServers", set: anyNumber(func(c *Config) *int { return &c.Prefork.MaxSpareServers })})
	t.add(directive{name: "ServerLimit", set: anyNumber(func(c *Config) *int { return &c.Prefork.ServerLimit })})
	t.add(directive{name: "MaxRequestWorkers",
		set: anyNumber(func(c *Config) *int { return &c.Prefork.MaxRequestWorkers })}, "MaxClients")
	t.add(directive{name: "MaxConnectionsPerChild",
		set: anyNumber(func(c *Config) *int { return &c.Prefork.MaxConnectionsPerChild })}, "MaxRequestsPerChild")
	return t
}

func workerTable() table {
	t := table{}
	t.add(directive{name: "StartServers", set: anyNumber(func(c *Config) *int { return &c.Worker.StartServers })})
	t.add(directive{name: "MinSpareThreads", set: anyNumber(func(c *Config) *int { return &c.Worker.MinSpareThreads })})
	t.add(directive{name: "MaxSpareThreads", set: anyNumber(func(c *Config) *int { return &c.Worker.MaxSpareThreads })})
	t.add(directive{name: "ServerLimit", set: anyNumber(func(c *Config) *int { return &c.Worker.ServerLimit })})
	t.add(directive{name: "ThreadLimit", set: anyNumber(func(c *Config) *int { return &c.Worker.ThreadLimit })})
	t.add(directive{name: "ThreadsPerChild", set: anyNumber(func(c *Config) *int { return &c.Worker.ThreadsPerChild })})
	t.add(directive{name: "MaxRequestWorkers",
		set: anyNumber(func(c *Config) *int { return &c.Worker.MaxRequestWorkers })}, "MaxClients")
	t.add(directive{name: "MaxConnectionsPerChild",
		set: anyNumber(func(c *Config) *int { return &c.Worker.MaxConnectionsPerChild })}, "MaxRequestsPerChild")
	t.add(directive{name: "ThreadStackSize", set: func(p *parser, g given) error {
		err := size(func(c *Config) *int64 { return &c.Worker.ThreadStackSize }, 0, math.MaxInt64)(p, g)
		if err == nil && p.cfg.Worker.ThreadStackSize > 0 {
			p.warn(g.Line, g.Key, "has no effect: stacks grow by themselves")
		}
		return err
	}})
	return t
}
