//go:build unix

package main

import (
	"os"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/master"
	"jkd/connector/counters"
	"jkd/connector/jk/jkshm"
	"jkd/connector/jk2"
	"jkd/connector/jk2/board"
	"jkd/connector/jk2/jk2shm"
	"jkd/scoreboard"
	"jkd/shm"
)

// inherited is the shared memory of the generation before, from which this one
// takes over what was counted and edited, until that one has gone. Everything
// there was written by children and perhaps by another build: what cannot be
// read is left, and the log says so. That of the first generation is empty.
type inherited struct {
	log    zerolog.Logger
	parent int
	all    []*shm.Segment // to be given back

	board, jk, jk2Board, jk2Slots, counters *shm.Segment

	scores *scoreboard.Scoreboard // in board; nil if it cannot be read

	catches []func() // what each segment's part of catch is
}

// inherit takes what the generation before hands over.
func inherit(h *master.Heritage, o *master.Options, log zerolog.Logger) *inherited {
	i := &inherited{log: log}
	if i.parent = h.Parent(); i.parent == 0 {
		return i
	}
	take := func(name string) *shm.Segment {
		s := h.Segment(name)
		if s != nil {
			i.all = append(i.all, s)
		}
		return s
	}
	i.board = take("scoreboard")
	i.jk, i.jk2Board = take(segmentNames[jkSegment]), take(segmentNames[jk2Board])
	i.jk2Slots, i.counters = take(segmentNames[jk2Slots]), take(segmentNames[countersSegment])
	o.BeforeSegment = i.board
	i.scores = attach(i, i.board, "the scoreboard", func(mem []byte) (*scoreboard.Scoreboard, error) { return scoreboard.Attach(mem, nil) })
	o.Before = i.scores
	return i
}

// attach reads a segment; nil if there is none or it is not one of ours.
func attach[T any](i *inherited, m *shm.Segment, what string, f func(mem []byte) (*T, error)) (t *T) {
	if m == nil {
		return nil
	}
	var err error
	if e := m.Guard(func() { t, err = f(m.Bytes()) }); e != nil {
		err = e
	}
	if err != nil {
		i.log.Warn().Err(err).Msgf("%s of the generation before is not taken over and starts afresh", what)
		return nil
	}
	return t
}

// from begins to take over a segment: f returns what is to be done again later.
func (i *inherited) from(m *shm.Segment, what string, f func() (catch func())) {
	var again func()
	if err := m.Guard(func() { again = f() }); err != nil {
		i.log.Warn().Err(err).Msgf("%s of the generation before is not taken over", what)
		return
	}
	i.catches = append(i.catches, func() { _ = m.Guard(again) })
}

func (i *inherited) takeBoard(b *scoreboard.Scoreboard) {
	if i.scores != nil {
		i.from(i.board, "the scoreboard", func() func() { return b.Inherit(i.scores).Catch })
	}
}

func (i *inherited) takeCounters(t *counters.Table) {
	if from := attach(i, i.counters, "the memory of the counters", counters.Attach); from != nil {
		i.from(i.counters, "the memory of the counters", func() func() { return t.Inherit(from).Catch })
	}
}

func (i *inherited) takeJk(s *jkshm.Segment) {
	if from := attach(i, i.jk, "the memory of [connector.jk]", jkshm.AttachAny); from != nil {
		i.from(i.jk, "the memory of [connector.jk]", func() func() {
			in := s.Inherit(from)
			for _, l := range in.Losses() {
				i.log.Warn().Msgf("an edit of the status page is lost: %s", l)
			}
			return in.Catch
		})
	}
}

// takeJk2 also prepares the board for the next generation, so it has something
// to do without one before.
func (i *inherited) takeJk2(setup *jk2.Setup, b *board.Board) {
	from := attach(i, i.jk2Board, "the memory of [connector.jk2]", board.Attach)
	if from == nil {
		if _, err := jk2.Inherit(setup, b, nil); err != nil {
			i.log.Warn().Err(err).Msg("edits of the status page will not outlive a reload")
		}
		return
	}
	i.from(i.jk2Board, "the memory of [connector.jk2]", func() func() {
		in, err := jk2.Inherit(setup, b, from)
		if err != nil {
			i.log.Warn().Err(err).Msg("edits of the status page will not outlive a reload")
		}
		for _, l := range in.Losses() {
			i.log.Warn().Msgf("an edit of the status page is lost: %s", l)
		}
		return in.Catch
	})
}

func (i *inherited) takeJk2Slots(s *jk2shm.Segment) {
	if s == nil {
		return
	}
	if from := attach(i, i.jk2Slots, "jk2.shm", jk2shm.AttachAny); from != nil {
		i.from(i.jk2Slots, "jk2.shm", func() func() { s.Inherit(from); return func() {} })
	}
}

// catch takes over what has been counted and edited since, once more after the
// generation before has ended; then its memory is given back. It belongs to the
// goroutine of the history.
func (i *inherited) catch() {
	if i.all == nil {
		return
	}
	ended := os.Getppid() != i.parent
	for _, f := range i.catches {
		f()
	}
	if ended {
		for _, m := range i.all {
			_ = m.Close()
		}
		i.all, i.catches = nil, nil
	}
}
