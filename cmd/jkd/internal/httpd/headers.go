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
	// Answer are those of answers. Those with Always have a list of fields of their
	// own, as in Apache: they don't see the container's, and go out before them,
	// with error pages too.
	Answer []headers.Edit
}

func (h *Headers) empty() bool { return len(h.Request) == 0 && len(h.Answer) == 0 }

// editing tells whether anything is said anywhere.
func editing(sites []Site, directories []Directory) bool {
	if slices.ContainsFunc(directories, func(d Directory) bool { return !d.Headers.empty() }) {
		return true
	}
	for i := range sites {
		if !sites[i].Headers.empty() || slices.ContainsFunc(sites[i].Locations, func(l Location) bool { return !l.Headers.empty() }) {
			return true
		}
	}
	return false
}

// edits calls f for what the places of a request say, the nearest last.
func (s *Server) edits(x *exchange, f func(*Headers)) {
	if x.VHost >= len(s.o.Sites) {
		return
	}
	site := &s.o.Sites[x.VHost]
	f(&site.Headers)
	for _, n := range x.Directories {
		f(&s.o.Directories[n].Headers)
	}
	for i := range site.Locations {
		if l := &site.Locations[i]; !l.Headers.empty() && l.covers(x.MatchPath) {
			f(&l.Headers)
		}
	}
}

// editRequest applies RequestHeader to a request that a worker is going to get.
func (ss *session) editRequest() {
	x := &ss.x
	if !ss.s.editing {
		return
	}
	c := headers.Context{Env: x.Request.Env, Start: ss.start, Now: time.Now()}
	ss.s.edits(x, func(h *Headers) {
		if len(h.Request) > 0 {
			x.Fields = headers.Apply(h.Request, x.Fields, &c)
		}
	})
}

func isType(f connector.Field) bool { return connector.EqualFold(f.Name, "content-type") }

// editAnswer applies Header to the fields of an answer, which is jkd's own page
// or not.
func (ss *session) editAnswer(fields []connector.Field, own bool) []connector.Field {
	c := headers.Context{Env: ss.x.Request.Env, Start: ss.start, Now: time.Now()}
	var always []connector.Field
	ss.s.edits(&ss.x, func(h *Headers) {
		for i := range h.Answer {
			e := h.Answer[i : i+1 : i+1]
			switch {
			case e[0].Always:
				always = headers.Apply(e, always, &c)
			case !own:
				fields = headers.Apply(e, fields, &c)
			}
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
