package connector

import (
	"errors"
	"strconv"
)

// Error tells why a worker could not serve a request.
type Error struct {
	Worker string // name of the worker
	Addr   string // address of the back end, if one was involved
	Op     string // what was tried: "connect", "send request", "read reply", ...
	Status int    // what the client should see if nothing was sent yet
	// Recoverable tells that the request may be tried again, here or
	// elsewhere, without the risk that it is carried out twice.
	Recoverable bool
	// Client tells that the client, not the back end, is at fault: the
	// worker's state must not change.
	Client bool
	// Own tells that nothing failed: Status is the container's own, and only
	// the page is to be the front's (use_server_errors). Fields are what that
	// page keeps of the container's header, WWW-Authenticate for example.
	Own    bool
	Fields []Field
	Err    error
}

func (e *Error) Error() string {
	s := "worker " + e.Worker
	if e.Addr != "" {
		s += " (" + e.Addr + ")"
	}
	s += ": " + e.Op
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClientError is a failure on the client's side of the front: it left, was
// too slow, or broke the rules of HTTP in the middle of its body. Status is
// what it would be told if it could still hear it (400, 408 or 413).
type ClientError struct {
	Op     string
	Status int
	Err    error
}

func (e *ClientError) Error() string {
	s := "client: " + e.Op
	if e.Status != 0 {
		s += " (" + strconv.Itoa(e.Status) + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *ClientError) Unwrap() error { return e.Err }

// ClientStatus is what a client that failed, by a [ClientError] in err or else
// for a reason unknown, would be told. It mostly is not there to hear it.
func ClientStatus(err error) int {
	var ce *ClientError
	if errors.As(err, &ce) && ce.Status != 0 {
		return ce.Status
	}
	return 400
}

// ErrBodyLength is returned by a [ResponseWriter] whose answer has announced a
// Content-Length that its body does not keep: the back end is at fault.
var ErrBodyLength = errors.New("connector: the body does not have the announced Content-Length")

// ErrRejected is returned by a [ResponseWriter] that stands between a back end
// and the front and does not want this answer: neither of the two is at fault.
var ErrRejected = errors.New("connector: the answer is not wanted")

// Redirect is returned by a worker that has found a request to be for another
// path of the same server: the index of a directory. The front then maps the
// request as if the client had asked for that, without telling it (Apache's
// internal redirect).
type Redirect struct {
	// Path is the other path, encoded as a client would; it begins with '/'. The
	// query is the request's.
	Path []byte
}

func (e *Redirect) Error() string { return "is for " + string(e.Path) }
