package scoreboard

import "testing"

func TestStatus(t *testing.T) {
	tests := []struct {
		status       Status
		value        uint8
		letter       byte
		name         string
		idle, active bool
	}{
		{Dead, 0, '.', "dead", false, false},
		{Starting, 1, 'S', "starting", true, false},
		{Ready, 2, '_', "ready", true, true},
		{BusyRead, 3, 'R', "busy-read", false, true},
		{BusyWrite, 4, 'W', "busy-write", false, true},
		{KeepAlive, 5, 'K', "keep-alive", false, true},
		{Logging, 6, 'L', "logging", false, true},
		{DNS, 7, 'D', "dns", false, true},
		{Closing, 8, 'C', "closing", false, true},
		{Graceful, 9, 'G', "graceful", false, false},
		{IdleKill, 10, 'I', "idle-kill", false, false},
	}
	if len(tests) != NumStatus {
		t.Errorf("%d rows for %d statuses", len(tests), NumStatus)
	}
	var all StatusCounts
	idle, active := 0, 0
	for _, tt := range tests {
		s := tt.status
		if uint8(s) != tt.value || s.Letter() != tt.letter || s.String() != tt.name || !s.Valid() {
			t.Errorf("%d: letter %c, name %s, valid %v; want %d %c %s", s, s.Letter(), s, s.Valid(), tt.value, tt.letter, tt.name)
		}
		if s.Idle() != tt.idle || s.Active() != tt.active {
			t.Errorf("%v: idle %v, active %v; want %v, %v", s, s.Idle(), s.Active(), tt.idle, tt.active)
		}
		// A different number of each, so that sums tell which were added.
		all[s] = 1 << tt.value
		if tt.idle {
			idle += 1 << tt.value
		}
		if tt.active {
			active += 1 << tt.value
		}
	}
	if all.Idle() != idle || all.Active() != active {
		t.Errorf("counts: %d idle, %d active; want %d, %d", all.Idle(), all.Active(), idle, active)
	}
	sum := all
	sum.Add(all)
	for s, n := range sum {
		if n != 2*all[s] {
			t.Errorf("Add: %v is %d, want %d", Status(s), n, 2*all[s])
		}
	}
	for _, s := range []Status{11, 12, 128, 255} {
		if s.Valid() || s.Letter() != '?' || s.String() != "invalid" || s.Idle() || s.Active() {
			t.Errorf("%d is taken for %c %s, idle %v, active %v", uint8(s), s.Letter(), s, s.Idle(), s.Active())
		}
	}
}
