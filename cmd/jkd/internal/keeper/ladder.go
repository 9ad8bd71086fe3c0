//go:build unix

package keeper

import (
	"syscall"
	"time"
)

// DefaultPatience is Options.Patience where it is not set.
const DefaultPatience = 10 * time.Second

// Processes that are left have termPatience from TERM to KILL, and killPatience
// from there until the keeper goes without having seen their end.
const (
	termPatience = 5 * time.Second
	killPatience = 2 * time.Second
)

// rung is how far the end of what is left has come.
type rung uint8

const (
	keeping     rung = iota // there is a master
	waiting                 // they end by themselves
	terminating             // they were sent TERM
	killing                 // they were sent KILL
	gaveUp
)

func (r rung) String() string {
	return [...]string{"keeping", "waiting", "terminating", "killing", "gave up"}[r]
}

// ladder is the end of what is left after the last master.
type ladder struct {
	at       rung
	patience time.Duration
	timer    *time.Timer
}

func newLadder(patience time.Duration) ladder {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return ladder{patience: patience, timer: t}
}

// begin starts the wait unless that was done.
func (l *ladder) begin() {
	if l.at == keeping {
		l.at = waiting
		l.timer.Reset(l.patience)
	}
}

// reset: there is a master again.
func (l *ladder) reset() {
	if l.at != keeping {
		l.at = keeping
		l.timer.Stop()
	}
}

// next goes a rung up and returns the signal that is due there; 0: none.
func (l *ladder) next() syscall.Signal {
	switch l.at {
	case waiting:
		l.at = terminating
		l.timer.Reset(termPatience)
		return syscall.SIGTERM
	case terminating:
		l.at = killing
		l.timer.Reset(killPatience)
		return syscall.SIGKILL
	case killing:
		l.at = gaveUp
	}
	return 0
}

// climb does what is due when patience is over.
func (k *keeper) climb() {
	if s := k.leaving.next(); s != 0 {
		n := signalAll(s)
		k.log.Warn().Int("processes", n).Msgf("there is no master any more, but processes that it has left: sending signal %d (%s)", int(s), s)
	} else if k.leaving.at == gaveUp {
		k.log.Error().Msg("processes did not end, the keeper goes without them")
	}
}
