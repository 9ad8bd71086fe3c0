package balance

// State is what a balancer thinks of a member. All processes share it. The
// numbers are mod_jk's. The zero value is Idle.
type State uint8

const (
	// Idle: usable, and not used since the last maintenance.
	Idle State = iota
	// OK: usable.
	OK
	// Recover: was in error for long enough; the next request becomes its
	// probe.
	Recover
	// Force: was in error, but so was everybody; usable.
	Force
	// Busy: no room for another request; not usable until there is.
	Busy
	// Error: not usable.
	Error
	// Probe: one request is finding out; not usable for any other.
	Probe
	states
)

var stateNames = [...]string{"OK/IDLE", "OK", "ERR/REC", "ERR/FRC", "OK/BUSY", "ERR", "ERR/PRB"}

// String returns the form that mod_jk's status page shows.
func (s State) String() string { return name("State", stateNames[:], uint8(s)) }

// Valid tells whether s is one of the constants: memory that others write may
// hold anything.
func (s State) Valid() bool { return s < states }

// Usable tells whether a request may go to a member in this state.
func (s State) Usable() bool { return s <= Force }

// InError tells whether a member in this state waits for recover_time. Unknown
// states count as Error.
func (s State) InError() bool { return s == Error || !s.Valid() }

// Event is what happens to a member's state. The zero value is Nothing.
type Event uint8

const (
	Nothing   Event = iota
	Elected         // a request was given to it
	Obtained        // a connection or the place for one was to be had
	Succeeded       // a request was answered
	Failed          // a request failed, and that is the member's fault
	Full            // no place for another request
	Room            // there is place again
	Due             // it has been in error for recover_time, or an administrator says so
	Forced          // nobody is left
	Escalated       // errors that were tolerated went on for error_escalation_time
	Unused          // no request since the last maintenance
	Orphaned        // the process that had the probe is gone
	Reset           // an administrator starts afresh
	events
)

var eventNames = [...]string{
	"nothing", "elected", "obtained", "succeeded", "failed", "full", "room",
	"due", "forced", "escalated", "unused", "orphaned", "reset",
}

// String returns the name of the constant in lower case.
func (e Event) String() string { return name("Event", eventNames[:], uint8(e)) }

// transitions is where each event leads from each state. Where a row has the
// state it came from the event does not matter there.
//
// Error is left by success, by time or because nobody is left, but not for
// Busy: "no room" says nothing about health, and Busy soon turns into OK.
// Escalated leaves those alone that are being found out about, else a second
// probe would follow before the first has come back.
var transitions = [events][states]State{
	//          Idle   OK     Recover  Force  Busy   Error    Probe
	Nothing:   {Idle, OK, Recover, Force, Busy, Error, Probe},
	Elected:   {Idle, OK, Probe, Force, Busy, Error, Probe},
	Obtained:  {OK, OK, OK, OK, OK, Error, OK},
	Succeeded: {OK, OK, OK, OK, OK, OK, OK},
	Failed:    {Error, Error, Error, Error, Error, Error, Error},
	Full:      {Busy, Busy, Busy, Busy, Busy, Error, Busy},
	Room:      {Idle, OK, Recover, Force, OK, Error, Probe},
	Due:       {Idle, OK, Recover, Force, Busy, Recover, Probe},
	Forced:    {Idle, OK, Recover, Force, Busy, Force, Probe},
	Escalated: {Error, Error, Recover, Force, Error, Error, Probe},
	Unused:    {Idle, Idle, Recover, Force, Busy, Error, Probe},
	Orphaned:  {Idle, OK, Recover, Force, Busy, Error, Recover},
	Reset:     {Idle, Idle, Idle, Idle, Idle, Idle, Idle},
}

// On returns the state after e. An unknown state is taken for Error, which time
// repairs; an unknown event for Nothing.
func (s State) On(e Event) State {
	if !s.Valid() {
		s = Error
	}
	if e >= events {
		return s
	}
	return transitions[e][s]
}
