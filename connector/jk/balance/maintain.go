package balance

import (
	"math"
	"time"
)

// Run is one run of maintenance over one balancer. Somebody looks at the members
// often (say, every second), so that one whose time has come is found soon;
// only every worker.maintain values decay and unused members are marked.
type Run struct {
	Method Method
	// Shift is how many times to halve the values, see [Shift]. 0: this is only
	// a look.
	Shift uint
	Now   int64
	// RecoverTime is recover_time, EscalationTime is error_escalation_time.
	RecoverTime, EscalationTime time.Duration
}

// Shift returns how many times maintain fits into the time since the last decay.
// It is 0 when maintain is 0 or the clock was set back; a caller then begins
// anew with now as the last.
func Shift(now, last int64, maintain time.Duration) uint {
	if maintain <= 0 || now <= last {
		return 0
	}
	return uint(min((now-last)/seconds(maintain), 64))
}

// Decay returns what becomes of the value of each member: it is halved shift
// times, and then sub is taken away but not below 0. least is that of
// [Extremes].
func (r Run) Decay(least uint64) (shift uint, sub uint64) {
	switch {
	case r.Shift == 0 || r.Method.Gauge():
		return 0, 0
	case r.Method == ByNext:
		return 0, least
	}
	return r.Shift, 0
}

// Extremes returns the least value of the members that are usable, 0 if none
// is, and the largest of all.
func Extremes(members []Member) (least, most uint64) {
	least = math.MaxUint64
	usable := false
	for i := range members {
		m := &members[i]
		most = max(most, m.Value)
		if m.Usable() {
			least, usable = min(least, m.Value), true
		}
	}
	if !usable {
		least = 0
	}
	return least, most
}

// Upkeep is what maintenance has to know about one member.
type Upkeep struct {
	State State
	// FirstError and LastError are when its errors began and when there was the
	// last, 0: none.
	FirstError, LastError int64
	// Used tells that it was given a request since the last decay.
	Used bool
}

// Change is what maintenance does to one member.
type Change struct {
	// Event is what happens to its state: Nothing, Due, Escalated or Unused.
	Event Event
	// Raise makes its value that of the member with the largest, after the
	// decay: one that comes back is not to get all requests until it has caught
	// up.
	Raise bool
	// ClearTimeouts sets its count of late replies to 0.
	ClearTimeouts bool
}

// Look decides about one member. Its count of late replies is halved r.Shift
// times besides.
func (r Run) Look(m Upkeep) Change {
	switch {
	case m.State.InError():
		if age(r.Now, m.LastError) > seconds(r.RecoverTime) {
			return r.Recovered()
		}
	case m.FirstError != 0 && m.State.On(Escalated) == Error && age(r.Now, m.FirstError) >= seconds(r.EscalationTime):
		return Change{Event: Escalated}
	case r.Shift > 0 && !m.Used && m.State.On(Unused) != m.State:
		return Change{Event: Unused}
	}
	return Change{}
}

// Recovered is the change for a member whose time in error is over, also when an
// administrator says so (command recover), which does nothing to members that
// are not in error.
func (r Run) Recovered() Change {
	return Change{Event: Due, Raise: !r.Method.Gauge(), ClearTimeouts: true}
}

// AllInError tells that nobody is left and all members should be given another
// chance ([ForceAll]), which also sets their counts of late replies to 0.
func AllInError(members []Member) bool {
	for i := range members {
		if !members[i].State.InError() {
			return false
		}
	}
	return len(members) > 0
}
