package ajp

import "fmt"

// State is where a connection stands.
type State uint8

// The states of a connection, with the states that may follow.
const (
	Idle      State = iota // no request on it: Sending, Pinging, Broken
	Pinging                // waits for CPONG: Idle, Broken
	Sending                // the request is being written: Awaiting, Broken
	Awaiting               // waits for SEND_HEADERS: Awaiting (body packets), Streaming, Broken
	Streaming              // the answer's body comes: Idle, Broken
	Broken                 // something went wrong; only Close is left: none
)

var stateNames = [...]string{"idle", "pinging", "sending", "awaiting", "streaming", "broken"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// may tells whether to may follow s.
func (s State) may(to State) bool {
	switch s {
	case Idle:
		return to == Sending || to == Pinging || to == Broken
	case Pinging:
		return to == Idle || to == Broken
	case Sending:
		return to == Awaiting || to == Broken
	case Awaiting:
		return to == Streaming || to == Broken
	case Streaming:
		return to == Idle || to == Broken
	}
	return false
}

// transition moves the connection; a step that is not in the table is a bug of
// this package, and goes to Broken rather than on.
func (c *Conn) transition(to State) {
	if !c.state.may(to) {
		to = Broken
	}
	c.state = to
}
