package ajp

import (
	"errors"
	"fmt"

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
