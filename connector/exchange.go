package connector

import (
	"errors"
	"fmt"
	"os"
)

// Phase is how far an exchange with a container had come when it failed, in any
// protocol.
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
	CauseProtocol              // Err is the *ProtocolError of the protocol's package
	CauseClient                // Err is a *ClientError: the container is blameless
	CauseRejected              // the writer did not want the answer (ErrRejected)
)

var causeNames = [...]string{"connection broken", "reply timeout", "protocol error", "client", "answer rejected"}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("Cause(%d)", uint8(c))
}

// ExchangeError tells how an exchange failed. The connection can't be used again.
type ExchangeError struct {
	Phase Phase
	Cause Cause
	// BodyConsumed tells that body bytes have been taken from the client that
	// the request does not hold (under AJP those beyond the first packet): it
	// can't be sent again.
	BodyConsumed bool
	Err          error
}

func (e *ExchangeError) Error() string { return e.Phase.String() + ": " + e.Err.Error() }

// TimedOut tells that the container took too long, with whichever timeout: the
// connection is as it was, and so is the request in its hands. It means nothing
// with CauseClient.
func (e *ExchangeError) TimedOut() bool {
	return e.Cause == CauseTimeout || errors.Is(e.Err, os.ErrDeadlineExceeded)
}

// Unwrap returns the cause.
func (e *ExchangeError) Unwrap() error { return e.Err }
