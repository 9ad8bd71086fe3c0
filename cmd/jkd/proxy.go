//go:build unix

package main

import (
	"net/netip"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/proxy"
	"jkd/mpm"
	"jkd/mpm/sock"
)

// newProxy makes the connector of mod_proxy's directives in a child that serves
// so many requests at a time.
func newProxy(c *mpm.Child, cfg *conf.Config, threads int, table *counters.Table, log zerolog.Logger) (*proxy.Connector, error) {
	setup, _, err := proxy.Load(cfg)
	if err != nil {
		return nil, err
	}
	return proxy.New(setup, proxy.Options{
		Dial: proxyDialers(cfg.Server.MPM), Threads: threads, WriteTimeout: cfg.Server.TimeOut,
		Server: c.Server, Counters: table, Logger: log,
	}), nil
}

// proxyDialers connect to back ends the way the MPM waits.
func proxyDialers(name string) proxy.Dialers {
	tcp, un := sock.DialBlocking, sock.DialUnixBlocking
	if name == conf.Worker {
		tcp, un = sock.DialPolled, sock.DialUnixPolled
	}
	return proxy.Dialers{
		TCP: func(addr netip.AddrPort, o proxy.DialOptions) (ajp.NetConn, error) {
			return tcp(addr, sock.DialOptions{Timeout: o.Timeout, KeepAlive: o.KeepAlive})
		},
		Unix: func(path string, o proxy.DialOptions) (ajp.NetConn, error) {
			return un(path, sock.DialOptions{Timeout: o.Timeout})
		},
	}
}
