package balance

import (
	"testing"
	"time"
)

func TestShift(t *testing.T) {
	for _, tt := range []struct {
		now, last int64
		maintain  time.Duration
		want      uint
	}{
		{100, 40, time.Minute, 1},
		{99, 40, time.Minute, 0},
		{160, 40, time.Minute, 2},
		{100, 40, 0, 0},
		{100, 40, -1, 0},
		{40, 100, time.Minute, 0},
		{40, 40, time.Minute, 0},
		{103, 100, 1500 * time.Millisecond, 1},
		{1 << 40, 0, time.Second, 64},
	} {
		if got := Shift(tt.now, tt.last, tt.maintain); got != tt.want {
			t.Errorf("%d after %d by %s: %d, want %d", tt.now, tt.last, tt.maintain, got, tt.want)
		}
	}
}

func TestLook(t *testing.T) {
	const now = 10000
	whole := Run{Shift: 1, Now: now, RecoverTime: time.Minute, EscalationTime: 30 * time.Second}
	look := whole
	look.Shift = 0
	busy := whole
	busy.Method = ByBusyness
	due := Change{Event: Due, Raise: true, ClearTimeouts: true}
	for _, tt := range []struct {
		name string
		r    Run
		m    Upkeep
		want Change
	}{
		{"error, not yet", whole, Upkeep{State: Error, FirstError: now - 60, LastError: now - 60}, Change{}},
		{"error, due", whole, Upkeep{State: Error, FirstError: now - 99, LastError: now - 61}, due},
		{"error, due at a mere look", look, Upkeep{State: Error, LastError: now - 61, Used: true}, due},
		{"error, due, by busyness", busy, Upkeep{State: Error, LastError: now - 61}, Change{Event: Due, ClearTimeouts: true}},
		{"error without a time", whole, Upkeep{State: Error}, due},
		{"error, the clock was set back a little", whole, Upkeep{State: Error, LastError: now + 60}, Change{}},
		{"error, the clock was set back far", whole, Upkeep{State: Error, LastError: now + 61}, due},
		{"no known state, due", whole, Upkeep{State: 99, LastError: now - 61}, due},
		{"ok, errors go on", look, Upkeep{State: OK, FirstError: now - 30, LastError: now - 1, Used: true}, Change{Event: Escalated}},
		{"idle, errors went on", look, Upkeep{State: Idle, FirstError: now - 30, LastError: now - 30}, Change{Event: Escalated}},
		{"busy, errors go on", look, Upkeep{State: Busy, FirstError: now - 30}, Change{Event: Escalated}},
		{"ok, young errors", whole, Upkeep{State: OK, FirstError: now - 29, Used: true}, Change{}},
		{"ok, young errors, unused", whole, Upkeep{State: OK, FirstError: now - 29}, Change{Event: Unused}},
		{"recover, old errors", whole, Upkeep{State: Recover, FirstError: now - 99, LastError: now - 99}, Change{}},
		{"probe, old errors", whole, Upkeep{State: Probe, FirstError: now - 99, LastError: now - 99}, Change{}},
		{"force, old errors", whole, Upkeep{State: Force, FirstError: now - 99, LastError: now - 99}, Change{}},
		{"ok, used", whole, Upkeep{State: OK, Used: true}, Change{}},
		{"ok, unused", whole, Upkeep{State: OK}, Change{Event: Unused}},
		{"ok, unused, a mere look", look, Upkeep{State: OK}, Change{}},
		{"idle, unused", whole, Upkeep{State: Idle}, Change{}},
		{"busy, unused", whole, Upkeep{State: Busy}, Change{}},
	} {
		if got := tt.r.Look(tt.m); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	whole.EscalationTime = 0
	if got := whole.Look(Upkeep{State: OK, FirstError: now, Used: true}); got.Event != Escalated {
		t.Errorf("no patience: %+v", got)
	}
}

func TestExtremes(t *testing.T) {
	m := lb(4)
	m[0].Value, m[1].Value, m[2].Value, m[3].Value = 3, 7, 20, 1
	m[2].Activation, m[3].State = Stopped, Error
	if least, most := Extremes(m); least != 3 || most != 20 {
		t.Errorf("%d %d", least, most)
	}
	m[0].State, m[1].State = Error, Busy
	if least, most := Extremes(m); least != 0 || most != 20 {
		t.Errorf("nobody usable: %d %d", least, most)
	}
	if least, most := Extremes(nil); least != 0 || most != 0 {
		t.Errorf("no members: %d %d", least, most)
	}
}

func TestAllInError(t *testing.T) {
	m := lb(2)
	for a := range states {
		for b := range states {
			m[0].State, m[1].State = a, b
			if got := AllInError(m); got != (a == Error && b == Error) {
				t.Errorf("%s %s: %v", a, b, got)
			}
		}
	}
	m[0].State, m[1].State = 99, Error
	if !AllInError(m) || AllInError(nil) {
		t.Error("garbage or nothing")
	}
}
