package proxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/connectortest"
)

// long is a deadline for what happens at once unless it is broken.
const long = 20 * time.Second

// setup reads a configuration that has no faults.
func setup(t testing.TB, text string) (*Setup, []conf.Warning) {
	t.Helper()
	cfg, _, err := conf.Parse("/etc/jkd.conf", []byte("[server]\nListen = 127.0.0.1:1\n"+text), conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, w, err := Load(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

func newConnector(t testing.TB, threads int, text string) *Connector {
	t.Helper()
	s, _ := setup(t, text)
	return New(s, Options{Dial: connectortest.Dialers(threads), Threads: threads, WriteTimeout: long, Logger: zerolog.Nop()})
}

// TestSuite is what all connectors have in common, over AJP by way of a balancer
// and without one. retry=0: the next request finds out that a back end is well.
func TestSuite(t *testing.T) {
	for name, text := range map[string]string{
		"balancer": "[proxy balancer://b]\nBalancerMember = ajp://%s retry=0\n[proxy]\nProxyPass = / balancer://b/\n",
		"single":   "[proxy]\nProxyPass = / ajp://%s/ retry=0\n",
	} {
		t.Run(name, func(t *testing.T) {
			connectortest.Run(t, func(t *testing.T, addr string, threads int) connector.Connector {
				return newConnector(t, threads, fmt.Sprintf(text, addr))
			})
		})
	}
}
