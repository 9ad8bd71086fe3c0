package balance

import (
	"strings"
	"testing"
)

func TestAttempts(t *testing.T) {
	report := map[string]Report{"start": Start, "none": None, "again": Again, "done": Done, "rested": Rested, "revived": Revived, "dead": NoneRevived}
	for _, tt := range []struct {
		name                        string
		members, lbRetries, retries int
		script                      string // report>step ...
	}{
		{"success", 2, 2, 2, "start>try done>stop"},
		{"fails over", 2, 2, 2, "start>try again>try done>stop"},
		{"defaults, all fail", 2, 2, 2, "start>try again>try again>rest rested>try again>try again>stop"},
		{"more members than picks", 5, 2, 2, "start>try again>try again>rest rested>try again>try again>stop"},
		{"more picks than members", 1, 9, 2, "start>try again>rest rested>try again>stop"},
		{"one round", 3, 2, 1, "start>try again>try again>stop"},
		{"three rounds", 1, 1, 3, "start>try again>rest rested>try again>rest rested>try again>stop"},
		{"less than one is one", 3, 0, -1, "start>try again>stop"},
		{"nobody, revived, success", 2, 2, 2, "start>try none>revive revived>try done>stop"},
		{"revival does not count", 2, 2, 1, "start>try none>revive revived>try again>try again>stop"},
		{"revival only once", 2, 2, 1, "start>try none>revive revived>try none>try none>stop"},
		{"nobody to revive", 2, 2, 2, "start>try none>revive dead>try none>rest rested>try none>try none>stop"},
		{"revival in the second round", 2, 2, 2, "start>try again>try again>rest rested>try none>revive revived>try again>try again>stop"},
		{"no members", 0, 2, 2, "start>stop start>stop"},
		{"over is over", 2, 2, 2, "start>try done>stop start>stop again>stop rested>stop"},
		{"over after the last round", 1, 1, 1, "start>try again>stop start>stop"},
		{"not what was asked", 2, 2, 2, "start>try rested>stop"},
		{"not what was asked, start", 2, 2, 2, "start>try start>stop"},
		{"not what was asked, revived", 2, 2, 2, "start>try revived>stop"},
		{"not what was asked, rest", 1, 1, 2, "start>try again>rest again>stop"},
		{"not what was asked, beginning", 1, 1, 2, "again>stop start>stop"},
		{"no report", 2, 2, 2, "start>try ?>stop"},
	} {
		a := NewAttempts(tt.members, tt.lbRetries, tt.retries)
		for i, pair := range strings.Fields(tt.script) {
			in, want, _ := strings.Cut(pair, ">")
			r, known := report[in]
			if !known {
				r = reports
			}
			if got := a.Next(r); got.String() != want {
				t.Errorf("%s: step %d, %s: %s, want %s", tt.name, i, in, got, want)
				break
			}
		}
	}
	a := NewAttempts(1, 1, 2)
	before := a.round
	a.Next(Start)
	a.Next(Again)
	if before != 0 || a.round != 1 {
		t.Errorf("rounds: %d, then %d", before, a.round)
	}
	var zero Attempts
	if got := zero.Next(Start); got != Stop {
		t.Errorf("zero value: %s", got)
	}
}

// sends counts what reaches the members, all of which fail, and how often they
// were revived and waited for. shared tells that a failure puts a member in
// error for everybody.
func sends(members, lbRetries, retries int, shared bool) (sent, revivals, rests int) {
	m := lb(members)
	a := NewAttempts(members, lbRetries, retries)
	for r := Start; ; {
		switch a.Next(r) {
		case Stop:
			return sent, revivals, rests
		case Rest:
			rests++
			for i := range m {
				m[i].Failed = false
			}
			r = Rested
		case Revive:
			revivals++
			r = NoneRevived
			if ForceAll(m) > 0 {
				r = Revived
			}
		case Try:
			c := Choose(m, nil, Options{})
			if c.Index < 0 {
				r = None
				continue
			}
			sent++
			v := Judge(Failure, Facts{Recoverable: true, Others: !shared, EscalationTime: 1e18, Now: 1})
			m[c.Index].State = m[c.Index].State.On(v.Event)
			m[c.Index].Failed = v.Avoid
			r = Again
		}
	}
}

// TestAttemptsMost: what reaches the members when all fail is
// min(lb_retries, members) × retries (times the retries of each worker, which
// is not counted here), unless the failures take them out of service: then
// each is sent at most one request in the time it is usable and one when it is
// revived.
func TestAttemptsMost(t *testing.T) {
	for members := 1; members <= 5; members++ {
		for lbRetries := 1; lbRetries <= 6; lbRetries++ {
			for retries := 1; retries <= 4; retries++ {
				round := min(lbRetries, members)
				sent, _, rests := sends(members, lbRetries, retries, false)
				if sent != round*retries || rests != retries-1 {
					t.Errorf("%d members, lb_retries %d, retries %d: %d sent, %d rests", members, lbRetries, retries, sent, rests)
				}
				sent, revivals, rests := sends(members, lbRetries, retries, true)
				if want := min(round*retries, 2*members); sent != want || revivals > 1 || rests != retries-1 {
					t.Errorf("%d members, lb_retries %d, retries %d, in error: %d sent, want %d; %d revivals, %d rests", members, lbRetries, retries, sent, want, revivals, rests)
				}
			}
		}
	}
	const workerRetries = 2
	if sent, _, _ := sends(3, 2, 2, true); sent*workerRetries != 8 {
		t.Errorf("defaults: %d sent, want 8", sent*workerRetries)
	}
}
