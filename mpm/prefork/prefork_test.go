//go:build unix

package prefork

import (
	"testing"

	"jkd/mpm"
	"jkd/mpm/mpmtest"
)

func TestMain(m *testing.M) { mpmtest.Main(m, module) }

func module(p mpmtest.Params) (mpm.Module, error) {
	return New(Config{
		StartServers: p.Start, MinSpareServers: p.MinSpare, MaxSpareServers: p.MaxSpare,
		ServerLimit: p.Servers, MaxConnectionsPerChild: p.Share,
	})
}

func TestModule(t *testing.T) { mpmtest.Run(t, module) }
