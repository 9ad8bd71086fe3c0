package balance

// Attempts counts how often a request is tried. The caller does the step it is
// told and reports what came of it to [Attempts.Next] until the step is Stop.
// The zero value stops at once; [NewAttempts] makes a useful one. One request,
// one goroutine.
//
// The status for the client is that of the last attempt, or 503 if the last
// pick found nobody.
type Attempts struct {
	perRound int // picks in a round, 0: it is over
	rounds   int
	picks    int // in this round
	round    int
	forced   bool
	last     Step
}

// NewAttempts begins the attempts of a request with a balancer that has so many
// members. lbRetries is lb_retries, the picks in a round; retries is the
// balancer's retries, the rounds; both are at least 1.
func NewAttempts(members, lbRetries, retries int) Attempts {
	return Attempts{perRound: min(members, max(lbRetries, 1)), rounds: max(retries, 1)}
}

// Step is what to do next.
type Step uint8

const (
	// Stop: the request is over.
	Stop Step = iota
	// Try: pick a member and run the request. Report None, Again or Done.
	Try
	// Rest: wait for retry_interval, forget which members failed and read the
	// shared states again. Report Rested.
	Rest
	// Revive: make all members in error usable once more ([ForceAll]). Report
	// Revived or NoneRevived.
	Revive
)

var stepNames = [...]string{"stop", "try", "rest", "revive"}

// String returns the name of the constant in lower case.
func (s Step) String() string { return name("Step", stepNames[:], uint8(s)) }

// Report is what came of a step.
type Report uint8

const (
	Start       Report = iota // nothing has been done so far
	None                      // the pick found nobody
	Again                     // the attempt failed, [Verdict].Failover
	Done                      // the attempt succeeded, or there may be no other
	Rested                    // after Rest
	Revived                   // at least one member was in error
	NoneRevived               // none was
	reports
)

var reportNames = [...]string{"start", "none", "again", "done", "rested", "revived", "none revived"}

// String returns words for a log.
func (r Report) String() string { return name("Report", reportNames[:], uint8(r)) }

// Next returns the next step. A report that does not belong to the step before
// ends the request.
func (a *Attempts) Next(r Report) Step {
	a.last = a.next(r)
	if a.last == Stop {
		a.perRound = 0
	}
	return a.last
}

func (a *Attempts) next(r Report) Step {
	switch {
	case a.perRound <= 0:
		return Stop
	case r == Start && a.last == Stop:
		return Try
	case r == None && a.last == Try && !a.forced:
		// Nobody is left. Before the client is told so, those in error get a
		// chance; the pick that found nobody does not count then.
		a.forced = true
		return Revive
	case r == Revived && a.last == Revive, r == Rested && a.last == Rest:
		return Try
	case (r == None || r == Again) && a.last == Try, r == NoneRevived && a.last == Revive:
		a.picks++
		if a.picks < a.perRound {
			return Try
		}
		a.picks = 0
		a.round++
		if a.round < a.rounds {
			return Rest
		}
	}
	return Stop
}
