//go:build unix

package mpm

import "time"

// StopAction is one rung of the stop ladder.
type StopAction uint8

// The actions in rising order of severity.
const (
	StopTerm   StopAction = iota // SIGTERM
	StopKill                     // SIGKILL
	StopGiveUp                   // wait no longer
)

func (a StopAction) String() string {
	switch a {
	case StopTerm:
		return "SIGTERM"
	case StopKill:
		return "SIGKILL"
	case StopGiveUp:
		return "give up"
	}
	return "unknown"
}

// StopStep says what is done to children still alive when a stop has lasted
// After.
type StopStep struct {
	After  time.Duration
	Action StopAction
}

// DefaultLadder is Apache's (ap_reclaim_child_processes). The order to stop
// goes out on the control sockets before the first step.
var DefaultLadder = []StopStep{
	{0, StopTerm},
	{3 * time.Second, StopTerm},
	{5 * time.Second, StopTerm},
	{7 * time.Second, StopTerm},
	{9 * time.Second, StopKill},
	{10 * time.Second, StopGiveUp},
}

// climb returns the steps of the ladder that are due after elapsed, given that
// done of them have been taken, and how long to wait for the next one: of
// several that are due at once only the last counts. A negative wait means
// that there is none left.
func climb(ladder []StopStep, done int, elapsed time.Duration) (due *StopStep, taken int, wait time.Duration) {
	taken = done
	for taken < len(ladder) && ladder[taken].After <= elapsed {
		due = &ladder[taken]
		taken++
	}
	if taken == len(ladder) {
		return due, taken, -1
	}
	return due, taken, ladder[taken].After - elapsed
}
