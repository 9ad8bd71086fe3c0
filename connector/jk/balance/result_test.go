package balance

import (
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	const now = 1000
	const half = 30 * time.Second
	recoverable := Facts{Recoverable: true, Now: now, EscalationTime: half}
	with := func(edit func(f *Facts)) Facts {
		f := recoverable
		edit(&f)
		return f
	}
	bad := Verdict{Event: Failed, CountError: true, Times: SetTimes, Avoid: true, Failover: true}
	local := Verdict{Event: Obtained, Avoid: true, Failover: true}
	broken := Verdict{Event: Failed, CountError: true, Times: AddTime, Avoid: true, Failover: true}
	tolerated := Verdict{Event: Obtained, CountError: true, Times: AddTime, Avoid: true, Failover: true}
	final := func(v Verdict) Verdict { v.Failover = false; return v }
	once := func(f *Facts) { f.Recoverable = false }

	for _, tt := range []struct {
		name string
		r    Result
		f    Facts
		want Verdict
	}{
		{"success", Success, recoverable, Verdict{Event: Succeeded, Times: ClearTimes}},
		{"client error", ClientError, recoverable, Verdict{Event: Succeeded, Times: ClearTimes, Avoid: true}},
		{"internal error", InternalError, recoverable, local},
		{"internal error, once", InternalError, with(once), final(local)},
		{"protocol error", ProtocolError, recoverable, local},
		{"protocol error, once", ProtocolError, with(once), final(local)},
		{"soft status", SoftStatus, recoverable, Verdict{Event: Succeeded, Times: ClearTimes, Avoid: true, Failover: true}},
		{"hard status", HardStatus, recoverable, bad},
		{"hard status, others", HardStatus, with(func(f *Facts) { f.Others = true }), bad},
		{"hard status, once", HardStatus, with(once), final(bad)},
		{"busy limit", BusyLimit, with(once), Verdict{Event: Full, Avoid: true, Failover: true}},
		{"no endpoint", NoEndpoint, with(once), Verdict{Event: Full, Avoid: true, Failover: true}},
		{"first reply timeout, none allowed", ReplyTimeout, with(func(f *Facts) { f.ReplyTimeouts = 1 }), bad},
		{"second reply timeout, two allowed", ReplyTimeout, with(func(f *Facts) { f.ReplyTimeouts, f.MaxReplyTimeouts = 2, 2 }), local},
		{"third reply timeout, two allowed", ReplyTimeout, with(func(f *Facts) { f.ReplyTimeouts, f.MaxReplyTimeouts = 3, 2 }), bad},
		{"third reply timeout, once", ReplyTimeout, with(func(f *Facts) { f.ReplyTimeouts, f.MaxReplyTimeouts = 3, 2; once(f) }), final(bad)},
		{"failure, alone", Failure, recoverable, broken},
		{"failure, alone, once", Failure, with(once), final(broken)},
		{"failure, others", Failure, with(func(f *Facts) { f.Others = true }), tolerated},
		{"failure, others, refused", Failure, with(func(f *Facts) { f.Others, f.Refused = true, true }), broken},
		{"failure, others, no patience", Failure, with(func(f *Facts) { f.Others, f.EscalationTime = true, 0 }), broken},
		{"failure, others, young errors", Failure, with(func(f *Facts) { f.Others, f.FirstError = true, now-29 }), tolerated},
		{"failure, others, old errors", Failure, with(func(f *Facts) { f.Others, f.FirstError = true, now-30 }), broken},
		{"failure, others, errors of tomorrow", Failure, with(func(f *Facts) { f.Others, f.FirstError = true, now+86400 }), broken},
		{"what is no result is a failure", Result(77), recoverable, broken},
	} {
		if got := Judge(tt.r, tt.f); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestJudgeState is column "shared state" of the result table, from each state.
func TestJudgeState(t *testing.T) {
	for r := range results {
		for from := range states {
			f := Facts{Recoverable: true, ReplyTimeouts: 1, MaxReplyTimeouts: 5, Others: true, EscalationTime: time.Minute, Now: 1}
			unchanged := OK
			if from == Error {
				unchanged = Error
			}
			want := map[Result]State{
				Success: OK, ClientError: OK, SoftStatus: OK, HardStatus: Error,
				InternalError: unchanged, ProtocolError: unchanged, ReplyTimeout: unchanged, Failure: unchanged,
				BusyLimit: Busy, NoEndpoint: Busy,
			}[r]
			if want == Busy && from == Error {
				want = Error
			}
			if got := from.On(Judge(r, f).Event); got != want {
				t.Errorf("%s in %s: %s, want %s", r, from, got, want)
			}
			f.ReplyTimeouts, f.Others = 6, false
			if got := from.On(Judge(r, f).Event); (r == Failure || r == ReplyTimeout) && got != Error {
				t.Errorf("%s in %s, for good: %s", r, from, got)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		t                   Times
		first, last         int64
		wantFirst, wantLast int64
	}{
		{KeepTimes, 3, 5, 3, 5},
		{ClearTimes, 3, 5, 0, 0},
		{SetTimes, 3, 5, 9, 9},
		{AddTime, 3, 5, 3, 9},
		{AddTime, 0, 0, 9, 9},
	} {
		if f, l := tt.t.Apply(tt.first, tt.last, 9); f != tt.wantFirst || l != tt.wantLast {
			t.Errorf("%s: %d %d, want %d %d", tt.t, f, l, tt.wantFirst, tt.wantLast)
		}
	}
}

func TestResultNames(t *testing.T) {
	seen := map[string]bool{}
	for r := range results {
		if s := r.String(); s == "" || seen[s] {
			t.Errorf("result %d is called %q", r, s)
		} else {
			seen[s] = true
		}
	}
}
