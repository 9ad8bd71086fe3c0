package jk

import (
	"errors"
	"fmt"
	"strconv"

	"jkd/connector"
)

// filter stands between a container's answer and the client and does what the
// configuration wants done to answers: fail_on_status, use_server_errors, an
// error page where the container sends none, the balancer's own cookie, extra
// flushes. An answer that none of this concerns passes straight through.
type filter struct {
	w connector.ResponseWriter

	fail         []FailStatus // fail_on_status
	serverErrors int          // use_server_errors, 0: off
	cookie       []byte       // value of a Set-Cookie to add, nil: none
	flushPackets bool         // JkOptions +FlushPackets
	flushHeader  bool         // JkOptions +FlushHeader
	isHead       bool

	verdict answerVerdict
	status  int  // of the answer, 0 before it came
	body    bool // the answer has a body

	held   bool // the head waits for a body
	fields []connector.Field
	text   []byte // backing of held fields
}

// answerVerdict is what a filter made of an answer.
type answerVerdict uint8

const (
	passed   answerVerdict = iota
	softFail               // fail_on_status -code: the request failed, the back end is well
	hardFail               // fail_on_status code: the back end is in error
	ownPage                // the client gets the front's page for the status
)

func (v answerVerdict) String() string {
	switch v {
	case passed:
		return "passed"
	case softFail:
		return "soft"
	case hardFail:
		return "hard"
	case ownPage:
		return "own page"
	}
	return fmt.Sprintf("answerVerdict(%d)", uint8(v))
}

var _ connector.ResponseWriter = (*filter)(nil)

// begin prepares for the next answer to the same request.
func (f *filter) begin() { f.verdict, f.status, f.body, f.held = passed, 0, false, false }

// Start implements connector.ResponseWriter.
func (f *filter) Start(status int, fields []connector.Field) error {
	f.status = status
	for _, s := range f.fail {
		if s.Code != status {
			continue
		}
		f.verdict = hardFail
		if s.Soft {
			f.verdict = softFail
		}
		return connector.ErrRejected
	}
	if status >= 400 && !f.isHead || f.serverErrors > 0 && status >= f.serverErrors {
		f.hold(fields)
		if f.serverErrors > 0 && status >= f.serverErrors {
			f.verdict = ownPage
		}
		return nil
	}
	return f.start(status, fields)
}

// start passes the head on, with the cookie behind the container's own fields.
func (f *filter) start(status int, fields []connector.Field) error {
	if f.cookie != nil {
		fields = append(fields, connector.Field{Name: setCookie, Value: f.cookie})
	}
	if err := f.w.Start(status, fields); err != nil {
		return err
	}
	if f.flushHeader {
		return f.w.Flush()
	}
	return nil
}

var setCookie = []byte("Set-Cookie")

// hold keeps a copy of the head: the connection's buffer moves on.
func (f *filter) hold(fields []connector.Field) {
	f.held = true
	f.fields, f.text = f.fields[:0], f.text[:0]
	for _, x := range fields {
		f.text = append(append(f.text, x.Name...), x.Value...)
	}
	rest := f.text
	for _, x := range fields {
		n, v := len(x.Name), len(x.Value)
		f.fields = append(f.fields, connector.Field{Name: rest[:n:n], Value: rest[n : n+v : n+v]})
		rest = rest[n+v:]
	}
}

// letGo passes a held head on.
func (f *filter) letGo() error {
	f.held = false
	return f.start(f.status, f.fields)
}

// Append implements connector.ResponseWriter.
func (f *filter) Append(p []byte) error {
	f.body = f.body || len(p) > 0
	if f.held {
		if f.verdict == ownPage || len(p) == 0 {
			return nil
		}
		if err := f.letGo(); err != nil {
			return err
		}
	}
	if err := f.w.Append(p); err != nil || !f.flushPackets {
		return err
	}
	return f.w.Flush()
}

// Buffered implements connector.ResponseWriter.
func (f *filter) Buffered() int {
	if f.held {
		return 0
	}
	return f.w.Buffered()
}

// Flush implements connector.ResponseWriter.
func (f *filter) Flush() error {
	if f.held {
		return nil
	}
	return f.w.Flush()
}

// Started implements connector.ResponseWriter.
func (f *filter) Started() bool { return !f.held && f.w.Started() }

// Finish implements connector.ResponseWriter. An answer still held has no body
// and is replaced by the front's page.
func (f *filter) Finish() error {
	if f.held {
		f.verdict = ownPage
		return nil
	}
	return f.w.Finish()
}

// errOwnPage is the cause of an answer whose page is the front's.
var errOwnPage = errors.New("the container's answer is replaced by an error page")

// page is the error that makes the front write its page for the answer, with
// what of the container's header still holds.
func (f *filter) page(worker string) *connector.Error {
	e := &connector.Error{Worker: worker, Op: "answer with status " + strconv.Itoa(f.status), Status: f.status, Own: true, Err: errOwnPage}
	for _, x := range f.fields {
		if !aboutBody(x.Name) {
			e.Fields = append(e.Fields, x)
		}
	}
	if f.cookie != nil {
		e.Fields = append(e.Fields, connector.Field{Name: setCookie, Value: f.cookie})
	}
	return e
}

// aboutBody tells the fields that describe the body that is not sent.
func aboutBody(name []byte) bool {
	for _, n := range []string{"content-length", "content-type", "content-encoding", "content-language",
		"content-range", "content-disposition", "etag", "last-modified", "accept-ranges", "transfer-encoding"} {
		if connector.EqualFold(name, n) {
			return true
		}
	}
	return false
}
