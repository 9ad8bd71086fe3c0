package http1

import (
	"errors"
	"fmt"
	"os"
)

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
	CauseBroken   Cause = iota // the container closed the connection, the network failed, or time ran out
	CauseProtocol              // Err is a *ProtocolError
	CauseClient                // Err is a *connector.ClientError: the container is blameless
	CauseRejected              // the writer did not want the answer (connector.ErrRejected)
)

var causeNames = [...]string{"connection broken", "protocol error", "client", "answer rejected"}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("Cause(%d)", uint8(c))
}

// Error tells how an exchange failed.
type Error struct {
	Phase Phase
	Cause Cause
	// BodyConsumed tells that body bytes were taken that the request does not
	// hold: it can't be sent again.
	BodyConsumed bool
	Err          error
}

func (e *Error) Error() string { return e.Phase.String() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// TimedOut tells that the container was too slow.
func (e *Error) TimedOut() bool {
	return e.Cause == CauseBroken && errors.Is(e.Err, os.ErrDeadlineExceeded)
}

// ProtocolError tells how a container broke the rules of HTTP/1.1.
type ProtocolError struct{ Fault string }

func (e *ProtocolError) Error() string { return "http: " + e.Fault }

func fault(text string) error { return &ProtocolError{text} }

// ErrClosed tells that the container closed the connection too early.
var ErrClosed = errors.New("http: the container closed the connection")
