package jk2

import (
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/connectortest"
)

// setup reads a text that has no faults.
func setup(t testing.TB, text string) *Setup {
	t.Helper()
	s, _, err := (&Setup{File: "workers2.properties", env: Env{Lookup: func(string) (string, bool) { return "", false }}}).Reload([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// long is a deadline for what happens at once unless it is broken.
const long = 20 * time.Second

// TestSuite is what all connectors have in common, by way of a balancer and
// without one.
func TestSuite(t *testing.T) {
	for _, group := range []string{"lb:lb", "ajp13"} {
		t.Run(group, func(t *testing.T) {
			connectortest.Run(t, func(t *testing.T, addr string, threads int) connector.Connector {
				to := group
				if group == "ajp13" {
					to += ":" + addr
				}
				s := setup(t, fmt.Sprintf("[channel.socket:%s]\n[uri:/*]\ngroup=%s\n", addr, to))
				return New(s, Options{Dial: connectortest.Dialers(threads), WriteTimeout: long, Logger: zerolog.Nop()})
			})
		})
	}
}
