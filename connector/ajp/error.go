package ajp

import (
	"errors"
	"fmt"
	"os"

	"jkd/connector"
)

// ProtocolError tells how a container broke the rules of AJP13.
type ProtocolError struct {
	Fault string // what is wrong
	Head  []byte // the first bytes of the offending packet, at most 16
}

func (e *ProtocolError) Error() string {
	if len(e.Head) == 0 {
		return "ajp: " + e.Fault
	}
	return fmt.Sprintf("ajp: %s (packet begins % x)", e.Fault, e.Head)
}

// TooLongError tells that a request does not fit one packet. Nothing has been
// sent.
type TooLongError struct {
	Need, Max int // bytes
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("ajp: request needs a packet of %d bytes, max_packet_size is %d", e.Need, e.Max)
}

// RequestError is the failure of a worker to make the packets of a request
// ([Forward.Encode] and its parts): all of them are the client's fault.
func RequestError(worker string, err error) *connector.Error {
	e := &connector.Error{Worker: worker, Op: "make request packet", Client: true, Status: 413, Err: err}
	var ce *connector.ClientError
	if errors.As(err, &ce) {
		e.Op, e.Status = "read request body", connector.ClientStatus(err)
	}
	return e
}

// Phase is how far an exchange had come when it failed.
type Phase uint8

// The phases in order.
const (
	PhaseSend  Phase = iota // the request was not written completely
	PhaseReply              // written; not one byte of an answer has come
	PhaseHead               // the container has begun to answer, no header has been passed on
	PhaseBody               // the answer has been begun towards the client
)

var phaseNames = [...]string{"send request", "await reply", "read reply", "read reply body"}

func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return fmt.Sprintf("Phase(%d)", uint8(p))
}

// Cause is whose fault a failed exchange is.
type Cause uint8

// The causes.
const (
	CauseBroken   Cause = iota // the container closed the connection or the network failed
	CauseTimeout               // reply_timeout
	CauseProtocol              // Err is a *ProtocolError
	CauseClient                // Err is a *connector.ClientError: the container is blameless
	CauseRejected              // the writer did not want the answer (connector.ErrRejected)
)

var causeNames = [...]string{"connection broken", "reply timeout", "protocol error", "client", "answer rejected"}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("Cause(%d)", uint8(c))
}

// ExchangeError tells how an exchange failed. The connection is Broken.
type ExchangeError struct {
	Phase Phase
	Cause Cause
	// BodyConsumed tells that body bytes beyond the first packet have been
	// taken from the client: the request can't be sent again.
	BodyConsumed bool
	Err          error
}

func (e *ExchangeError) Error() string { return e.Phase.String() + ": " + e.Err.Error() }

// TimedOut tells that the container took too long, with whichever of the
// Timeouts: the connection is as it was, and so is the request in its hands.
func (e *ExchangeError) TimedOut() bool {
	return e.Cause == CauseTimeout || errors.Is(e.Err, os.ErrDeadlineExceeded)
}

// Unwrap returns the cause.
func (e *ExchangeError) Unwrap() error { return e.Err }
