package balance

import "time"

// Result is how an attempt with one member ended.
type Result uint8

const (
	Success       Result = iota
	ClientError          // the client broke off or sent something impossible
	InternalError        // no fault of anybody but ours
	ProtocolError        // a malformed packet
	SoftStatus           // fail_on_status with a '-'
	HardStatus           // fail_on_status
	BusyLimit            // busy_limit is reached
	NoEndpoint           // the pool has no connection to give
	ReplyTimeout         // reply_timeout is over
	Failure              // could not be reached, did not answer a CPING, broke off
	results
)

var resultNames = [...]string{
	"success", "client error", "internal error", "protocol error", "soft status",
	"hard status", "busy limit", "no endpoint", "reply timeout", "failure",
}

// String returns words for a log.
func (r Result) String() string { return name("Result", resultNames[:], uint8(r)) }

// Facts is what [Judge] has to know.
type Facts struct {
	// Recoverable tells that the request may be sent once more: nothing of an
	// answer has reached the client, and the member's options allow it.
	Recoverable bool
	// ReplyTimeouts is the member's count, this one included, and
	// MaxReplyTimeouts the directive of that name.
	ReplyTimeouts, MaxReplyTimeouts uint64
	// Others tells that the member has other requests in hand.
	Others bool
	// Refused tells that the connect was refused: nobody listens there.
	Refused bool
	// EscalationTime is error_escalation_time.
	EscalationTime time.Duration
	// FirstError is when the member's errors began, 0 if it has none; Now is the
	// time.
	FirstError, Now int64
}

// Times is what becomes of the times of a member's errors.
type Times uint8

const (
	KeepTimes  Times = iota
	ClearTimes       // both become 0
	SetTimes         // both become the present
	AddTime          // the last becomes the present, the first does if it is 0
)

var timesNames = [...]string{"keep", "clear", "set", "add"}

// String returns the verb.
func (t Times) String() string { return name("Times", timesNames[:], uint8(t)) }

// Apply returns the new times of the first and the last error.
func (t Times) Apply(firstError, lastError, now int64) (int64, int64) {
	switch t {
	case ClearTimes:
		return 0, 0
	case SetTimes:
		return now, now
	case AddTime:
		if firstError == 0 {
			firstError = now
		}
		return firstError, now
	}
	return firstError, lastError
}

// Verdict is what is to be recorded of an attempt, and whether there may be
// another.
type Verdict struct {
	// Event is what happens to the member's state: Succeeded, Obtained, Failed
	// or Full. Obtained is for failures that say nothing bad about the member:
	// it ends a probe, and leaves an error alone.
	Event Event
	// CountError adds one to the errors of the member.
	CountError bool
	Times      Times
	// Avoid tells that this request is not to try the member again in this
	// round: [Member].Failed.
	Avoid bool
	// Failover tells that the request may be tried elsewhere.
	Failover bool
}

// Judge decides what the result of an attempt means. It is the same whatever
// the member's state: how the state changes is [State.On].
//
// A malformed packet never disables a member: it may be one page's fault. Nor
// does a member fail as a whole when one of several requests does, unless its
// failures have been going on for error_escalation_time. But where nobody listens
// there is nobody to ask: under load the requests that fail there would be each
// other's proof that the member is alive.
func Judge(r Result, f Facts) Verdict {
	v := Verdict{Event: Obtained, Avoid: true, Failover: f.Recoverable}
	switch r {
	case Success:
		return Verdict{Event: Succeeded, Times: ClearTimes}
	case ClientError:
		v.Event, v.Times, v.Failover = Succeeded, ClearTimes, false
	case SoftStatus:
		v.Event, v.Times = Succeeded, ClearTimes
	case HardStatus:
		v.fail(SetTimes)
	case BusyLimit, NoEndpoint:
		v.Event, v.Failover = Full, true
	case ReplyTimeout:
		if f.ReplyTimeouts > f.MaxReplyTimeouts {
			v.fail(SetTimes)
		}
	case InternalError, ProtocolError:
	default: // Failure, and anything that is none
		v.CountError, v.Times = true, AddTime
		if !f.Others || f.Refused || f.EscalationTime <= 0 || f.FirstError != 0 && age(f.Now, f.FirstError) >= seconds(f.EscalationTime) {
			v.Event = Failed
		}
	}
	return v
}

func (v *Verdict) fail(t Times) { v.Event, v.CountError, v.Times = Failed, true, t }

// age is how long ago then was. A clock that was set back must not make an error
// last for ever, so a time to come counts as much as one that has passed.
func age(now, then int64) int64 {
	if then > now {
		return then - now
	}
	return now - then
}

// seconds is d in seconds, a part of one counts as a whole one.
func seconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64((d-1)/time.Second) + 1
}
