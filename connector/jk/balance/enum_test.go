package balance

import "testing"

func TestNames(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Active.String(), "ACT"}, {Disabled.String(), "DIS"}, {Stopped.String(), "STP"}, {Activation(3).String(), "Activation(3)"},
		{Active.Word(), "active"}, {Disabled.Word(), "disabled"}, {Stopped.Word(), "stopped"},
		{ByRequests.String(), "Request"}, {ByTraffic.String(), "Traffic"}, {ByBusyness.String(), "Busyness"},
		{BySessions.String(), "Sessions"}, {ByNext.String(), "Next"}, {Method(5).String(), "Method(5)"},
		{Optimistic.String(), "Optimistic"}, {Pessimistic.String(), "Pessimistic"}, {Lock(2).String(), "Lock(2)"},
		{Idle.String(), "OK/IDLE"}, {OK.String(), "OK"}, {Recover.String(), "ERR/REC"}, {Force.String(), "ERR/FRC"},
		{Busy.String(), "OK/BUSY"}, {Error.String(), "ERR"}, {Probe.String(), "ERR/PRB"}, {State(7).String(), "State(7)"},
		{Nothing.String(), "nothing"}, {Reset.String(), "reset"}, {Event(99).String(), "Event(99)"},
		{KeepTimes.String(), "keep"}, {AddTime.String(), "add"}, {NoneRevived.String(), "none revived"}, {Revive.String(), "revive"},
		{NotFound.String(), "none"}, {ByStandby.String(), "standby"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
	// The numbers are seen by scripts and by other processes.
	if Idle != 0 || OK != 1 || Recover != 2 || Force != 3 || Busy != 4 || Error != 5 || Probe != 6 {
		t.Error("states are numbered differently from mod_jk's")
	}
}

func TestValid(t *testing.T) {
	for n := range 256 {
		b := uint8(n)
		for what, got := range map[string]struct{ is, want bool }{
			"state":      {State(b).Valid(), n < 7},
			"activation": {Activation(b).Valid(), n < 3},
			"method":     {Method(b).Valid(), n < 5},
			"lock":       {Lock(b).Valid(), n < 2},
			"usable":     {State(b).Usable(), n < 4},
		} {
			if got.is != got.want {
				t.Errorf("%s %d: %v", what, n, got.is)
			}
		}
	}
}

func TestParse(t *testing.T) {
	check := func(what, in string, got uint8, ok bool, want int) {
		t.Helper()
		if ok != (want >= 0) || ok && int(got) != want {
			t.Errorf("%s %q: %d %v, want %d", what, in, got, ok, want)
		}
	}
	for in, want := range map[string]int{
		"a": 0, "A": 0, "active": 0, "ACT": 0, "0": 0, "d": 1, "DIS": 1, "1": 1, "s": 2, "Stopped": 2, "2": 2,
		"": -1, "3": -1, "x": -1, " a": -1, "-1": -1, "\x10": -1,
	} {
		v, ok := ParseActivation(in)
		check("activation", in, uint8(v), ok, want)
	}
	for in, want := range map[string]int{
		"R": 0, "request": 0, "0": 0, "T": 1, "1": 1, "b": 2, "2": 2, "Sessions": 3, "3": 3, "next": 4, "4": 4,
		"": -1, "5": -1, "q": -1,
	} {
		v, ok := ParseMethod(in)
		check("method", in, uint8(v), ok, want)
	}
	for in, want := range map[string]int{"O": 0, "optimistic": 0, "0": 0, "P": 1, "1": 1, "": -1, "2": -1, "x": -1} {
		v, ok := ParseLock(in)
		check("lock", in, uint8(v), ok, want)
	}
}
