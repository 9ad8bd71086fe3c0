package connectortest

import (
	"io"
	"strings"

	"jkd/connector"
)

// Request is a request with a body of known length.
func Request(method, path, body string) *connector.Request {
	return &connector.Request{
		Method: []byte(method), Protocol: []byte("HTTP/1.1"), Path: []byte(path), MatchPath: []byte(path),
		ServerName: []byte("www.example.org"), ServerPort: 80,
		RemoteAddr: []byte("192.0.2.1"), RemotePort: []byte("4711"), LocalAddr: []byte("192.0.2.2"),
		Fields:        []connector.Field{{Name: []byte("Host"), Value: []byte("www.example.org")}},
		ContentLength: int64(len(body)), Body: strings.NewReader(body),
	}
}

// Answer takes an answer as the contract of connector.ResponseWriter says: what
// is appended is looked at no earlier than it would be sent.
type Answer struct {
	Status   int
	Fields   []string // "Name: value"
	Body     []byte
	Finished bool
	// Leaves makes the client leave when it has got Gone bytes of the body,
	// before Start if Gone is -1.
	Leaves bool
	Gone   int
	// Panics names a method that panics.
	Panics string

	started  bool
	flushes  int
	pending  [][]byte
	buffered int
}

var _ connector.ResponseWriter = (*Answer)(nil)

func (a *Answer) fault(method string) error {
	if a.Panics == method {
		panic("writer: " + method)
	}
	if a.Leaves && (a.Gone < 0 || method != "Start" && len(a.Body)+a.buffered >= a.Gone) {
		return &connector.ClientError{Op: "write", Err: io.ErrClosedPipe}
	}
	return nil
}

// Start implements connector.ResponseWriter.
func (a *Answer) Start(status int, fields []connector.Field) error {
	if a.started {
		panic("started twice")
	}
	a.started, a.Status = true, status
	for _, f := range fields {
		a.Fields = append(a.Fields, string(f.Name)+": "+string(f.Value))
	}
	return a.fault("Start")
}

// Append implements connector.ResponseWriter.
func (a *Answer) Append(p []byte) error {
	a.pending = append(a.pending, p)
	a.buffered += len(p)
	return a.fault("Append")
}

// Buffered implements connector.ResponseWriter.
func (a *Answer) Buffered() int {
	if a.started && a.flushes == 0 {
		return a.buffered + 1
	}
	return a.buffered
}

func (a *Answer) send() {
	for _, p := range a.pending {
		a.Body = append(a.Body, p...)
	}
	a.pending, a.buffered = a.pending[:0], 0
	a.flushes++
}

// Flush implements connector.ResponseWriter.
func (a *Answer) Flush() error {
	err := a.fault("Flush")
	if err == nil {
		a.send()
	}
	return err
}

// Finish implements connector.ResponseWriter.
func (a *Answer) Finish() error {
	if a.Finished {
		panic("finished twice")
	}
	if err := a.fault("Finish"); err != nil {
		return err
	}
	a.send()
	a.Finished = true
	return nil
}

// Started implements connector.ResponseWriter.
func (a *Answer) Started() bool { return a.started }
