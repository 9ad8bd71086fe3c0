package httpd

import (
	"bytes"
	"slices"
	"strconv"

	"jkd/connector"
)

// ErrorDocument is what is sent for an error instead of the page of [errorBody]
// (Apache's ErrorDocument). Of Path, URL and Text one is set at most; if none
// is, an ErrorDocument that stands farther away is taken back.
type ErrorDocument struct {
	Status int // 400 to 599
	// Path is a path of this server, encoded, with its query: who made the
	// request gets that page, with Status.
	Path []byte
	URL  string // where the client is sent, by 302
	Text string // the page, HTML in UTF-8
}

// document is what the configuration has for an error of a request, nil for
// nothing. It is looked for only now, so that other requests do without.
func (s *Server) document(x *exchange, status int) (d *ErrorDocument) {
	s.answers(x, func(a *Answers) {
		for i := range a.Documents {
			if a.Documents[i].Status == status {
				d = &a.Documents[i]
			}
		}
	})
	return d
}

// fail answers a request that has failed, and of whose answer nothing is sent.
// fields are what the answer keeps of the container's header, as [session.page]
// does. An error of the page for another error is answered with jkd's own page
// for the first.
func (ss *session) fail(status int, fields []connector.Field) {
	x := &ss.x
	if x.failed.status != 0 {
		ss.page(x.failed.status, x.failed.fields)
		return
	}
	d := ss.s.document(x, status)
	switch {
	case d == nil:
		ss.page(status, fields)
	case d.Path != nil:
		ss.serveDocument(d, status, fields)
	case d.URL != "":
		ss.page(302, []connector.Field{{Name: []byte("Location"), Value: []byte(d.URL)}})
	case d.Text != "":
		ss.pageOf(status, fields, []byte(d.Text))
	default:
		ss.page(status, fields)
	}
}

// failure is the error that a request for an ErrorDocument is about.
type failure struct {
	status int // 0: there is none
	fields []connector.Field
}

// serveDocument makes the request one for a page of this server and has that
// answered with the status of the error.
func (ss *session) serveDocument(d *ErrorDocument, status int, fields []connector.Field) {
	x := &ss.x
	x.failed.status, x.failed.fields = status, cloneFields(fields)
	method, query, hasQuery := x.Method, x.Query, x.HasQuery
	path := string(x.MatchPath)
	record := ss.record

	x.Method = methodGET
	// What came with the request was for the page that has failed.
	x.Fields = slices.DeleteFunc(x.Fields, func(f connector.Field) bool { return ofAnotherPage(f.Name) })
	x.ContentLength, x.Body, x.Upgrade = 0, &body{done: true}, nil
	var target []byte
	target, x.Query, x.HasQuery = bytes.Cut(d.Path, []byte{'?'})
	if err := ss.redirect(target); err != nil {
		ss.s.o.Log.Error().Int("thread", ss.slot.Thread()).Int("status", status).Bytes("document", d.Path).AnErr("cause", err).Msg("ErrorDocument not served")
		ss.page(status, fields)
		return
	}
	x.env.Set("REDIRECT_STATUS", strconv.Itoa(status))
	x.env.Set("REDIRECT_REQUEST_METHOD", string(method))
	x.env.Set("REDIRECT_URL", path)
	if hasQuery {
		x.env.Set("REDIRECT_QUERY_STRING", string(query))
	}
	ss.w.instead, ss.w.extra = status, x.failed.fields
	ss.answer()
	ss.record = record // the request was for the worker that has failed
}

// asDocument makes the head of an answer that of an ErrorDocument: the error
// keeps its status, unless the page sends the client elsewhere, and what else
// its head has to say.
func (w *response) asDocument(status int, fields []connector.Field) (int, []connector.Field) {
	if status < 300 || status > 399 {
		status = w.instead
	}
	head := slices.Clone(w.extra)
	for _, f := range fields {
		same := func(e connector.Field) bool { return bytes.EqualFold(e.Name, f.Name) }
		if !slices.ContainsFunc(w.extra, same) {
			head = append(head, f)
		}
	}
	return status, head
}

var methodGET = []byte("GET")

// cloneFields copies fields, which belong to whoever has failed, and leaves out
// those of its page.
func cloneFields(fields []connector.Field) (out []connector.Field) {
	for _, f := range fields {
		if !ofPage(f.Name) {
			out = append(out, connector.Field{Name: bytes.Clone(f.Name), Value: bytes.Clone(f.Value)})
		}
	}
	return out
}

// ofAnotherPage tells the fields of a request that are about its body or about
// what the client has of the page already.
func ofAnotherPage(name []byte) bool {
	for _, prefix := range []string{"content-", "if-"} {
		if len(name) > len(prefix) && connector.EqualFold(name[:len(prefix)], prefix) {
			return true
		}
	}
	return connector.EqualFold(name, "range")
}
