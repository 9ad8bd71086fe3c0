package logformat

import (
	"strconv"
	"time"
)

// requestDirectives are those of JkRequestLogFormat. They have neither
// arguments nor conditions.
var requestDirectives = map[string]directive{
	"b": {write: writeBody},
	"B": directives["B"],
	"H": directives["H"],
	"m": directives["m"],
	"p": directives["p"],
	"q": {write: writeQuery},
	"r": {write: writeLine},
	"R": {needs: Needs{Notes: true}, write: note("JK_WORKER_ROUTE")},
	"s": {write: writeStatus},
	"T": {needs: Needs{Notes: true}, write: writeRequestDuration},
	"U": {write: writePath},
	"v": {write: writeServer},
	"V": directives["V"],
	"w": {needs: Needs{Notes: true}, write: note("JK_WORKER_NAME")},
}

// ParseRequest reads a JkRequestLogFormat. Its directives are %b %B %H %m %p %q
// %r %s %U %v %V as in LogFormat, %w for the mapped worker, %R for the route
// used and %T for how long the worker took, in seconds with six decimals; %R
// and %w and, where it is there, %T are notes of the connector. Values are
// escaped as in LogFormat, which mod_jk doesn't. The error is an *[Error].
func ParseRequest(s string) (*Format, error) { return parse(s, (*Format).requestDirective) }

func (f *Format) requestDirective(s string, at int) (int, *Error) {
	if at+1 == len(s) {
		return 0, &Error{Column: at + 1, Token: "%", Reason: "the format ends within a directive"}
	}
	d, ok := requestDirectives[s[at+1:at+2]]
	if !ok {
		e := &Error{Column: at + 1, Token: s[at : at+2], Reason: "there is no such directive in JkRequestLogFormat"}
		if c := otherCase(s[at+1], func(c string) bool { _, ok := requestDirectives[c]; return ok }); c != "" {
			e.Nearest = "%" + c
		}
		return 0, e
	}
	f.needs = f.needs.Or(d.needs)
	f.items = append(f.items, item{write: d.write})
	return 2, nil
}

func note(name string) writer {
	return func(b []byte, _ *item, e *Entry) []byte {
		v, _ := e.Request.Notes.Get(name)
		return str(b, v)
	}
}

// writeRequestDuration writes how long the worker took; without its word the
// whole request.
func writeRequestDuration(b []byte, _ *item, e *Entry) []byte {
	if v, ok := e.Request.Notes.Get("JK_REQUEST_DURATION"); ok {
		return escape(b, v)
	}
	d := max(e.End.Sub(e.Start), 0)
	b = append(strconv.AppendInt(b, int64(d/time.Second), 10), '.')
	return appendPadded(b, int(d%time.Second/time.Microsecond), 6, '0')
}
