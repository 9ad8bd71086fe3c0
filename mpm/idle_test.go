//go:build unix

package mpm

import (
	"strings"
	"testing"
	"time"
)

// TestPaceDoubles is Apache's sequence: 1, 2, 4, 8, 16, 32, 32 and the first
// "busy" with 8.
func TestPaceDoubles(t *testing.T) {
	var p Pace
	for i, want := range []int{1, 2, 4, 8, 16, 32, 32, 32} {
		n, next := p.Grow(1000)
		if n != want {
			t.Errorf("tick %d: %d children", i, n)
		}
		if note := p.Busy(n, 3, 7); (note != nil) != (want >= 8) {
			t.Errorf("tick %d: note %v", i, note)
		}
		p = next
	}
	if n, _ := p.Grow(5); n != 5 {
		t.Errorf("%d children in room for 5", n)
	}
	if p = p.Rest(); p.Rate != 1 {
		t.Errorf("rate %d after a rest", p.Rate)
	}
}

func TestPaceOnce(t *testing.T) {
	var p Pace
	for k := range noteKinds {
		n, next := p.Once(k)
		if n == nil || n.Kind != k {
			t.Errorf("%d: not said", k)
		}
		if n, _ := next.Once(k); n != nil {
			t.Errorf("%d: said again", k)
		}
		if n, _ := next.Rest().Once(k); n != nil {
			t.Errorf("%d: said again after a rest", k)
		}
		p = next
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		n    Note
		want string
	}{
		{Note{NoteBusy, 8, 2, 30}, "spawning 8 children, there are 2 idle, and 30 total children"},
		{Note{Kind: NoteReached}, "server reached MaxRequestWorkers setting"},
		{Note{Kind: NoteWithin}, "server is within MinSpareThreads of MaxRequestWorkers"},
		{Note{Kind: NoteBoardFull}, "scoreboard is full, not at MaxRequestWorkers"},
	} {
		if !strings.Contains(c.n.String(), c.want) {
			t.Errorf("%q does not contain %q", c.n, c.want)
		}
	}
}

func TestBrake(t *testing.T) {
	var b Brake
	now := time.Unix(1000, 0)
	if b.Holds(now) || b.On() {
		t.Error("a new brake is on")
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 32} {
		want *= time.Second
		b.Died(now)
		b.Died(now) // the same burst
		if b.Delay() != want || !b.Holds(now.Add(want-1)) || b.Holds(now.Add(want)) {
			t.Fatalf("delay %s, want %s", b.Delay(), want)
		}
		now = now.Add(want)
	}
	b.Healthy(time.Unix(1, 0), now) // from before: proves nothing
	if !b.On() {
		t.Error("an old child released the brake")
	}
	b.Healthy(now, now.Add(quickDeath-1)) // too early to tell
	if !b.On() {
		t.Error("a young child released the brake")
	}
	b.Healthy(now, now.Add(quickDeath))
	if b.On() || b.Holds(now) {
		t.Error("a healthy child did not release the brake")
	}
	b.Died(now)
	if b.Delay() != brakeMin {
		t.Errorf("delay %s after a release", b.Delay())
	}
}
