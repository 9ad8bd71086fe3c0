package jk2

import (
	"bytes"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector/filestamp"
	"jkd/connector/jk2/board"
	"jkd/connector/jk2/jk2shm"
)

// Reloader is what the master does for the configuration of all its children:
// when one of them is asked for its status page it looks whether the file has
// changed, judges the new text and publishes it. The children need no right to
// read it, and all of them take over the same text.
type Reloader struct {
	Setup  *Setup // as loaded
	Board  *board.Board
	Slots  *jk2shm.Segment // nil: none
	Logger zerolog.Logger

	setup    *Setup // with the text published last
	modified int64  // of the file, Unix nanoseconds
	trouble  string
}

// pause is how often Run looks for a question.
const pause = 50 * time.Millisecond

// Run does so until stop is closed. Without a file it returns at once.
func (r *Reloader) Run(stop <-chan struct{}) {
	if r.Setup.File == "" {
		return
	}
	r.begin()
	t := time.NewTicker(pause)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			r.turn()
		}
	}
}

func (r *Reloader) begin() {
	r.setup = r.Setup
	if s, err := filestamp.Stat(r.Setup.File); err == nil {
		r.modified = s.Modified
	}
}

// turn answers the questions there are.
func (r *Reloader) turn() {
	asked := r.Board.Asked()
	if asked == r.Board.Answered() {
		return
	}
	r.look()
	r.Board.Answer(asked)
}

// look looks at the file once.
func (r *Reloader) look() {
	s, err := filestamp.Stat(r.Setup.File)
	if err != nil {
		r.unreadable(err)
		return
	}
	if s.Modified == r.modified && r.trouble == "" {
		return
	}
	data, s, _, err := filestamp.Read(r.Setup.File, r.Board.Room())
	switch {
	case err != nil:
		r.unreadable(err)
		return
	case !settled(s.Modified, time.Now()):
		return // somebody may be writing it: the next question finds it
	}
	r.trouble = ""
	r.modified = s.Modified
	if bytes.Equal(data, r.setup.text) {
		return
	}
	r.judge(data, s.Modified)
}

// settle is how long a file must have been left alone before it is read.
const settle = 100 * time.Millisecond

// settled tells whether a file that was modified at a time (Unix ns) has been left
// alone. A time far ahead is another machine's, or from before this one's clock
// was set back, and must not keep the file from being read until it has come.
func settled(modified int64, now time.Time) bool {
	return now.Sub(time.Unix(0, modified)).Abs() >= settle
}

// judge publishes a text, or tells why it can't be used.
func (r *Reloader) judge(data []byte, modified int64) {
	next, warnings, err := r.setup.Reload(data)
	var text []byte
	if err == nil {
		text, err = next.export()
	}
	if err == nil {
		err = r.Board.EditAll(func(old []byte) ([]byte, error) {
			return formatEdits(without(parseEdits(old), r.setup, next)), nil
		})
	}
	if err == nil {
		err = r.Board.Publish(text, modified)
	}
	if err != nil {
		e := r.Logger.Error()
		var all conf.Errors
		if errors.As(err, &all) && len(all) > 1 {
			e, err = e.Int("more", len(all)-1), all[0]
		}
		e.Err(err).Msgf("%s is not reloaded, the old configuration stays", r.Setup.File)
		return
	}
	for _, w := range warnings {
		if w.Severity == conf.Warn {
			r.Logger.Warn().Msg(w.String())
		}
	}
	r.setup = next
	if r.Slots != nil {
		r.Slots.Announce()
	}
	r.Logger.Info().Msgf("%s reloaded", r.Setup.File)
}

// unreadable reports that the file can't be read, when that begins.
func (r *Reloader) unreadable(err error) {
	if r.trouble != err.Error() {
		r.trouble = err.Error()
		r.Logger.Error().Err(err).Msgf("%s cannot be read, the old configuration stays", r.Setup.File)
	}
}
