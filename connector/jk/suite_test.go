package jk

import (
	"fmt"
	"net"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/connectortest"
)

// TestSuite is what all connectors have in common.
func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T, addr string, threads int) connector.Connector {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: fmt.Appendf(nil, "worker.list=w\nworker.w.host=%s\nworker.w.port=%s\n", host, port)})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := NewURIMap(cfg, Env{}, mapFile("/*=w\n"))
		if err != nil {
			t.Fatal(err)
		}
		kind := dialKinds[0]
		if threads > 1 {
			kind = dialKinds[1]
		}
		return New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{Threads: threads, Dial: kind.dial, Logger: zerolog.Nop(), WriteTimeout: long})
	})
}
