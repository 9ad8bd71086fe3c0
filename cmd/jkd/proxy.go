//go:build unix

package main

import (
	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector/counters"
	"jkd/connector/proxy"
	"jkd/mpm"
)

// newProxy makes the connector of mod_proxy's directives in a child that serves
// so many requests at a time.
func newProxy(c *mpm.Child, cfg *conf.Config, threads int, table *counters.Table, log zerolog.Logger) (*proxy.Connector, error) {
	setup, _, err := proxy.Load(cfg)
	if err != nil {
		return nil, err
	}
	return proxy.New(setup, proxy.Options{
		Dial: dialers(cfg.Server.MPM), Threads: threads, WriteTimeout: cfg.Server.TimeOut,
		Server: c.Server, Counters: table, Logger: log,
	}), nil
}
