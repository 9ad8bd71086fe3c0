package balance

import (
	"strings"
	"time"
)

// rig is a balancer with members that are up or down, a clock that is set by
// hand, and everything the decisions are about. It is what the glue between
// this package and shared memory does, for one process.
type rig struct {
	members     []Member
	first, last []int64 // times of errors
	timeouts    []uint64
	others      []bool // other requests are in hand
	down        map[string]bool
	used        []bool

	method                      Method
	lbRetries, retries          int
	recoverTime, escalationTime time.Duration
	maxReplyTimeouts            uint64
	now, lastDecay              int64
	o                           Options
}

// newRig has the defaults of the directives.
func newRig(members ...Member) *rig {
	n := len(members)
	Multipliers(members)
	return &rig{
		members: members, first: make([]int64, n), last: make([]int64, n), timeouts: make([]uint64, n), others: make([]bool, n), used: make([]bool, n),
		down: map[string]bool{}, lbRetries: 2, retries: 2, recoverTime: time.Minute, escalationTime: 30 * time.Second, now: 1e9, lastDecay: 1e9,
	}
}

// served is what became of a request.
type served struct {
	tried  string // routes in the order they were tried
	member string // that answered; "503": nobody
	choice Choice // the last one that found a member
}

// serve runs a request; outcome says how a member that is up answers it.
func (r *rig) serve(ids *IDs, outcome Result) served {
	var s served
	var tried []string
	status := "503"
	a := NewAttempts(len(r.members), r.lbRetries, r.retries)
	for report := Start; ; {
		switch a.Next(report) {
		case Stop:
			for i := range r.members {
				r.members[i].Failed = false
			}
			s.tried, s.member = strings.Join(tried, " "), status
			return s
		case Rest:
			for i := range r.members {
				r.members[i].Failed = false
			}
			report = Rested
		case Revive:
			report = NoneRevived
			if ForceAll(r.members) > 0 {
				report = Revived
			}
		case Try:
			c := Choose(r.members, ids, r.o)
			if c.Index < 0 {
				status, report = "503", None
				continue
			}
			s.choice = c
			tried = append(tried, r.members[c.Index].Route)
			result := outcome
			if r.down[r.members[c.Index].Route] {
				result = Failure
			}
			v := r.attempt(c, result)
			report = Done
			if v.Failover {
				report = Again
			}
			status = "failed"
			if result == Success {
				status = r.members[c.Index].Route
			}
		}
	}
}

// attempt gives a request to the member chosen and records the result.
func (r *rig) attempt(c Choice, result Result) Verdict {
	i := c.Index
	m := &r.members[i]
	m.State = m.State.On(Elected)
	r.used[i] = true
	if c.How == ByElection {
		r.o.From = i + 1
	}
	m.Value = Add(m.Value, r.method.Assigned(m.Mult, !c.HasID && !r.o.Stateless))
	if result == ReplyTimeout {
		r.timeouts[i]++
	}
	v := Judge(result, Facts{
		Recoverable: true, ReplyTimeouts: r.timeouts[i], MaxReplyTimeouts: r.maxReplyTimeouts, Others: r.others[i],
		EscalationTime: r.escalationTime, FirstError: r.first[i], Now: r.now,
	})
	m.State = m.State.On(v.Event)
	m.Failed = v.Avoid
	r.first[i], r.last[i] = v.Times.Apply(r.first[i], r.last[i], r.now)
	return v
}

// maintain sets the clock on and runs maintenance as worker.maintain=60 does.
func (r *rig) maintain(seconds int64) {
	r.now += seconds
	run := Run{Method: r.method, Shift: Shift(r.now, r.lastDecay, time.Minute), Now: r.now, RecoverTime: r.recoverTime, EscalationTime: r.escalationTime}
	least, _ := Extremes(r.members)
	shift, sub := run.Decay(least)
	for i := range r.members {
		r.members[i].Value = Sub(r.members[i].Value>>shift, sub)
		r.timeouts[i] >>= run.Shift
	}
	_, most := Extremes(r.members)
	for i := range r.members {
		m := &r.members[i]
		c := run.Look(Upkeep{State: m.State, FirstError: r.first[i], LastError: r.last[i], Used: r.used[i]})
		m.State = m.State.On(c.Event)
		if c.Raise {
			m.Value = max(m.Value, most)
		}
		if c.ClearTimeouts {
			r.timeouts[i] = 0
		}
	}
	if run.Shift > 0 {
		r.lastDecay = r.now
		clear(r.used)
		if AllInError(r.members) {
			ForceAll(r.members)
		}
	}
}

// state is that of the member with this route.
func (r *rig) state(route string) State { return r.members[withRouteText(r.members, route)].State }
