//go:build unix

package main

import (
	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/master"
	"jkd/connector/counters"
	"jkd/mpm"
	"jkd/scoreboard"
)

// addCounters adds to the master the memory in which children count, and who
// writes down the last minutes there. The memory is the caller's, who gives it up
// with close.
func addCounters(o *master.Options, l *loaded, old *inherited) (t *counters.Table, close func(), err error) {
	var names []counters.WorkerName
	if l.jk != nil {
		names = append(names, l.jk.Config.CounterNames()...)
	}
	if l.jk2 != nil {
		names = append(names, l.jk2.Config.CounterNames()...)
	}
	if l.proxy != nil {
		names = append(names, l.proxy.CounterNames()...)
	}
	layout := counters.NewLayout(o.Module.ServerLimit, names)
	size, err := counters.Size(layout)
	if err != nil {
		return nil, nil, err
	}
	mem, t, err := memory("jkd-counters", "", "", size, nil, func(mem []byte) (*counters.Table, error) { return counters.Format(mem, layout) })
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
	o.OnCut = t.CountCut
	old.takeCounters(t)
	h := &history{table: t, catch: old.catch}
	onBoard := o.OnBoard
	o.OnBoard = func(b *scoreboard.Scoreboard) {
		old.takeBoard(b)
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
