package http1

import "errors"

// ProtocolError tells how a container broke the rules of HTTP/1.1.
type ProtocolError struct{ Fault string }

func (e *ProtocolError) Error() string { return "http: " + e.Fault }

func fault(text string) error { return &ProtocolError{text} }

// ErrClosed tells that the container closed the connection too early.
var ErrClosed = errors.New("http: the container closed the connection")
