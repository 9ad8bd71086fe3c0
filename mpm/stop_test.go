//go:build unix

package mpm

import (
	"testing"
	"time"
)

func TestClimb(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		done    int
		elapsed time.Duration
		due     StopAction
		none    bool
		taken   int
		wait    time.Duration
	}{
		{0, 0, StopTerm, false, 1, 3 * s},
		{1, 1 * s, 0, true, 1, 2 * s},
		{1, 3 * s, StopTerm, false, 2, 2 * s},
		{2, 5100 * time.Millisecond, StopTerm, false, 3, 1900 * time.Millisecond},
		{3, 7 * s, StopTerm, false, 4, 2 * s},
		{4, 9 * s, StopKill, false, 5, 1 * s},
		{5, 9900 * time.Millisecond, 0, true, 5, 100 * time.Millisecond},
		{5, 10 * s, StopGiveUp, false, 6, -1},
		{6, 11 * s, 0, true, 6, -1},
		// A master that was itself stopped for a while skips what is past.
		{1, 9500 * time.Millisecond, StopKill, false, 5, 500 * time.Millisecond},
		{0, 60 * s, StopGiveUp, false, 6, -1},
	} {
		due, taken, wait := climb(DefaultLadder, c.done, c.elapsed)
		if (due == nil) != c.none || due != nil && due.Action != c.due || taken != c.taken || wait != c.wait {
			t.Errorf("climb(%d, %s) = %v, %d, %s", c.done, c.elapsed, due, taken, wait)
		}
	}
}

// TestLadderWalk goes up the whole ladder the way the Supervisor does.
func TestLadderWalk(t *testing.T) {
	var got []StopAction
	var at []time.Duration
	done, elapsed := 0, time.Duration(0)
	for {
		due, taken, wait := climb(DefaultLadder, done, elapsed)
		done = taken
		if due != nil {
			got = append(got, due.Action)
			at = append(at, elapsed)
		}
		if wait < 0 {
			break
		}
		elapsed += wait
	}
	if len(got) != len(DefaultLadder) {
		t.Fatalf("took %d steps", len(got))
	}
	for i, step := range DefaultLadder {
		if got[i] != step.Action || at[i] != step.After {
			t.Errorf("step %d was %s at %s, want %s at %s", i, got[i], at[i], step.Action, step.After)
		}
	}
	if last := DefaultLadder[len(DefaultLadder)-1]; last.Action != StopGiveUp {
		t.Errorf("the ladder ends with %s", last.Action)
	}
}

func TestStopActionString(t *testing.T) {
	for a, want := range map[StopAction]string{StopTerm: "SIGTERM", StopKill: "SIGKILL", StopGiveUp: "give up", 9: "unknown"} {
		if a.String() != want {
			t.Errorf("%d: %s", a, a)
		}
	}
}
