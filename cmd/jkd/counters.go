//go:build unix

package main

import (
	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/master"
	"jkd/connector/counters"
	"jkd/connector/jk"
	"jkd/connector/jk2"
	"jkd/mpm"
	"jkd/scoreboard"
)

// addCounters adds to the master the memory in which children count, and who
// writes down the last minutes there. The memory is the caller's, who gives it up
// with close.
func addCounters(o *master.Options, jkSetup *jk.Setup, jk2Setup *jk2.Setup) (t *counters.Table, close func(), err error) {
	var names []counters.WorkerName
	if jkSetup != nil {
		names = append(names, jkSetup.Config.CounterNames()...)
	}
	if jk2Setup != nil {
		names = append(names, jk2Setup.Config.CounterNames()...)
	}
	l := counters.NewLayout(o.Module.ServerLimit, names)
	size, err := counters.Size(l)
	if err != nil {
		return nil, nil, err
	}
	mem, t, err := memory("jkd-counters", "", "", size, func(mem []byte) (*counters.Table, error) { return counters.Format(mem, l) })
	if err != nil {
		return nil, nil, err
	}
	o.Segments[countersSegment] = mem
	reclaim := o.OnReclaim
	o.OnReclaim = func(server int) {
		if reclaim != nil {
			reclaim(server)
		}
		t.Reclaim(server)
	}
	o.OnStart = func(int) { t.CountStart() }
	o.OnExit = func(_ int, e mpm.Exit) { t.CountDeath(deathOf(e)) }
	h := &history{table: t}
	onBoard := o.OnBoard
	o.OnBoard = func(b *scoreboard.Scoreboard) {
		if h.board = b; onBoard != nil {
			onBoard(b)
		}
	}
	o.Background = append(o.Background, h.Run)
	return t, func() { _ = mem.Close() }, nil
}

// deathOf is what the end of a child is counted as.
func deathOf(e mpm.Exit) counters.Death {
	switch {
	case !e.Known:
		return counters.DeathUnknown
	case e.Quiet():
		return counters.DeathKilled
	case e.Signal != 0:
		return counters.DeathCrashed
	}
	switch e.Code {
	case mpm.ExitOK:
		return counters.DeathOK
	case mpm.ExitSick:
		return counters.DeathSick
	case mpm.ExitFatal:
		return counters.DeathFatal
	case mpm.ExitBadHandshake:
		return counters.DeathHandshake
	}
	return counters.DeathExit
}

// childCounters is the table of a child. Without it requests are served all the
// same: what was counted is only for display.
func childCounters(c *mpm.Child, log zerolog.Logger) *counters.Table {
	mem := c.Segments[countersSegment]
	if mem == nil {
		return nil
	}
	t, err := counters.Attach(mem.Bytes())
	if err != nil {
		log.Error().Err(err).Msg("requests of this child are not counted")
		return nil
	}
	return t
}
