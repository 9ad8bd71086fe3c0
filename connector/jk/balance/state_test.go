package balance

import (
	"strings"
	"testing"
)

// TestStateOn is the full matrix, written the other way around than the table
// it tests: for each state what each event makes of it. A '-' is no change.
func TestStateOn(t *testing.T) {
	letter := map[byte]State{'I': Idle, 'O': OK, 'R': Recover, 'F': Force, 'B': Busy, 'E': Error, 'P': Probe}
	order := []Event{Nothing, Elected, Obtained, Succeeded, Failed, Full, Room, Due, Forced, Escalated, Unused, Orphaned, Reset}
	if len(order) != int(events) {
		t.Fatalf("%d events are tested, there are %d", len(order), events)
	}
	rows := map[State]string{
		//       Not Ele Obt Suc Fai Ful Roo Due For Esc Unu Orp Res
		Idle:    "-   -   O   O   E   B   -   -   -   E   -   -   -",
		OK:      "-   -   -   -   E   B   -   -   -   E   I   -   I",
		Recover: "-   P   O   O   E   B   -   -   -   -   -   -   I",
		Force:   "-   -   O   O   E   B   -   -   -   -   -   -   I",
		Busy:    "-   -   O   O   E   -   O   -   -   E   -   -   I",
		Error:   "-   -   -   O   -   -   -   R   F   -   -   -   I",
		Probe:   "-   -   O   O   E   B   -   -   -   -   -   R   I",
	}
	if len(rows) != int(states) {
		t.Fatalf("%d states are tested, there are %d", len(rows), states)
	}
	for from, row := range rows {
		for i, cell := range strings.Fields(row) {
			want := from
			if cell != "-" {
				want = letter[cell[0]]
			}
			if got := from.On(order[i]); got != want {
				t.Errorf("%s on %s: %s, want %s", from, order[i], got, want)
			}
		}
	}
}

// TestStateOnGarbage: whatever stands in shared memory, a member comes back.
func TestStateOnGarbage(t *testing.T) {
	for n := int(states); n < 256; n++ {
		if got := State(n).On(Nothing); got != Error {
			t.Errorf("state %d: %s", n, got)
		}
		if got := State(n).On(Due); got != Recover {
			t.Errorf("state %d, due: %s", n, got)
		}
		if got := Idle.On(Event(n)); n >= int(events) && got != Idle {
			t.Errorf("event %d: %s", n, got)
		}
	}
}
