package httpd

import (
	"slices"
	"time"

	"jkd/cmd/jkd/internal/headers"
	"jkd/connector"
)

// Headers are the Header and RequestHeader directives of one place.
type Headers struct {
	Request []headers.Edit
	Answer  []headers.Edit // Header onsuccess, of all answers but jkd's own pages
	// Always is Header always. It has a list of fields of its own, as in Apache: it
	// doesn't see the container's, and goes out before them, with error pages too.
	Always []headers.Edit
}

// editing tells whether anything is said anywhere.
func editing(sites []Site, directories []Answers) bool {
	for i := range sites {
		if sites[i].edits() || slices.ContainsFunc(sites[i].Locations, func(l Location) bool { return l.edits() }) {
			return true
		}
	}
	return slices.ContainsFunc(directories, func(a Answers) bool { return a.edits() })
}

func (h *Headers) edits() bool { return len(h.Request)+len(h.Answer)+len(h.Always) > 0 }

func (ss *session) editContext() *headers.Context {
	return &headers.Context{Env: ss.x.Request.Env, Start: ss.start, Now: time.Now()}
}

// editRequest applies RequestHeader to a request that a worker is going to get.
func (ss *session) editRequest() {
	if !ss.s.editing {
		return
	}
	x, c := &ss.x, ss.editContext()
	ss.s.answers(x, func(a *Answers) { x.Fields = headers.Apply(a.Request, x.Fields, c) })
}

// editAnswer applies Header to the fields of an answer, which is jkd's own page
// or not.
func (ss *session) editAnswer(fields []connector.Field, own bool) []connector.Field {
	c := ss.editContext()
	var always []connector.Field
	ss.s.answers(&ss.x, func(a *Answers) {
		always = headers.Apply(a.Always, always, c)
		if !own {
			fields = headers.Apply(a.Answer, fields, c)
		}
	})
	if len(always) == 0 {
		return fields
	}
	if slices.ContainsFunc(always, isType) { // which an answer has once
		fields = slices.DeleteFunc(slices.Clone(fields), isType)
	}
	return append(always, fields...)
}

func isType(f connector.Field) bool { return connector.EqualFold(f.Name, "content-type") }
