//go:build unix

package worker

import (
	"testing"

	"jkd/mpm"
	"jkd/mpm/mpmtest"
)

func TestMain(m *testing.M) { mpmtest.Main(m, module) }

const threads = 4

func module(p mpmtest.Params) (mpm.Module, error) {
	return New(Config{
		StartServers: p.Start, MinSpareThreads: p.MinSpare * threads, MaxSpareThreads: p.MaxSpare * threads,
		ThreadsPerChild: threads, ThreadLimit: threads + 2,
		ServerLimit: p.Servers, MaxConnectionsPerChild: p.Share,
	})
}

func TestModule(t *testing.T) { mpmtest.Run(t, module) }
