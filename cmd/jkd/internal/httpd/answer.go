package httpd

import (
	"errors"

	"jkd/connector"
)

// answer has the request served, or answers it with an error page.
func (ss *session) answer() {
	r := &ss.x.Request
	if len(r.Path) == 1 { // OPTIONS * is about the server itself, or GET /
		if r.Path[0] == '*' {
			_ = ss.w.Start(200, []connector.Field{{Name: []byte("Allow"), Value: []byte("GET,HEAD,POST,OPTIONS")}})
			_ = ss.w.Finish()
			return
		}
	}
	if m := ss.s.o.Moved; m != nil {
		if w := m.Match(r); w != nil {
			ss.serveBy(w, false)
			return
		}
	}
	if ss.x.denied {
		ss.s.o.Log.Info().Int("thread", ss.slot.Thread()).Str("client", string(ss.x.RemoteAddr)).
			Str("request", string(r.Method)+" "+string(r.Path)).
			Int("status", 403).Str("cause", "the configuration does not let this client in").Msg("request refused")
		ss.fail(403, nil)
		return
	}
	worker, mapped := ss.s.route(r)
	if worker == nil {
		ss.s.o.Log.Info().Int("thread", ss.slot.Thread()).Str("client", string(ss.x.RemoteAddr)).
			Str("request", string(r.Method)+" "+string(r.Path)).
			Int("status", 404).Str("cause", "no mount matches").Msg("request not mapped")
		ss.fail(404, nil)
		return
	}
	ss.serveBy(worker, mapped)
}

// serveBy has the request served by a worker. mapped tells that a connector has
// chosen it.
func (ss *session) serveBy(worker connector.Worker, mapped bool) {
	r := &ss.x.Request
	ss.x.mapped = mapped
	ss.editRequest()
	if c, ok := worker.(Counted); ok {
		if r := c.Record(); r != nil {
			ss.record = r
		}
	}
	err := worker.Service(r, &ss.w)
	if err == nil && !ss.w.finished {
		err = errUnfinished
	}
	if err == nil {
		return
	}
	var to *connector.Redirect
	if errors.As(err, &to) {
		if err = ss.redirect(to.Path); err == nil {
			ss.answer()
			return
		}
		err = &connector.Error{Worker: worker.Name(), Op: "redirect", Status: 500, Err: err}
	}
	status := 502
	var e *connector.Error
	var keepFields []connector.Field
	if errors.As(err, &e) && (e.Status >= 400 || e.Own && e.Status >= 300) && e.Status <= 599 {
		status, keepFields = e.Status, e.Fields
	}
	if e == nil || !e.Client && !e.Own {
		ss.record.Error()
	}
	ss.logFailure(worker.Name(), e, err, status)
	if ss.w.sent {
		ss.cut()
		return
	}
	// Nothing has been sent: what the container had begun is forgotten.
	keep := ss.x.keep && (e == nil || !e.Client)
	failed := ss.w.err
	ss.w.begin(ss.w.isHead, ss.w.http10, keep, ss.w.keepTok)
	var ce *connector.ClientError
	if errors.As(failed, &ce) {
		ss.w.err, ss.w.keep = failed, false // the client is gone
		return
	}
	ss.fail(status, keepFields)
}

var (
	errUnfinished = errors.New("httpd: the worker did not finish its answer")
	errCut        = errors.New("httpd: answer cut")
	errRedirects  = errors.New("httpd: too many paths lead to one another")
)

// maxRedirects bounds how often a request may be for another path, as Apache's
// LimitInternalRecursion does.
const maxRedirects = 10

// redirect makes the request one for another path.
func (ss *session) redirect(path []byte) (err error) {
	x := &ss.x
	if x.redirects++; x.redirects > maxRedirects {
		return errRedirects
	}
	if x.match, err = connector.CleanPath(x.match[:0], path); err != nil {
		return err
	}
	x.Path, x.MatchPath = path, x.match
	x.displace()
	ss.s.place(x, ss.localPort)
	return nil
}

// cut ends the connection so that the answer can't look complete.
func (ss *session) cut() {
	ss.w.keep = false
	if ss.w.err == nil {
		ss.w.err = errCut
	}
	if !ss.w.chunked && ss.w.length < 0 {
		// Only the end of the connection tells the end of this answer: a
		// reset is the one way to say that it was not the right one.
		_ = ss.conn.Abort()
	}
}

// page answers with jkd's own error page. fields are what its head keeps of the
// container's, but for what describes the container's own page.
func (ss *session) page(status int, fields []connector.Field) {
	ss.errPage = errorBody(ss.errPage[:0], status, "")
	ss.pageOf(status, fields, ss.errPage)
}

// pageOf is page with another text.
func (ss *session) pageOf(status int, fields []connector.Field, text []byte) {
	head := errorFields
	if len(fields) > 0 {
		head = append(make([]connector.Field, 0, len(fields)+1), errorFields...)
		for _, f := range fields {
			if !ofPage(f.Name) {
				head = append(head, f)
			}
		}
	}
	ss.w.own = true
	if ss.w.Start(status, head) == nil && ss.w.Append(text) == nil {
		if ss.w.isHead {
			ss.w.length = -1
		}
		_ = ss.w.Finish()
	}
}

// logFailure writes the one line of a request that failed.
func (ss *session) logFailure(worker string, e *connector.Error, err error, status int) {
	log := &ss.s.o.Log
	ev := log.Error()
	switch {
	case e == nil:
	case e.Own:
		ev = log.Debug()
	case e.Client:
		ev = log.Info()
	}
	if e != nil && e.Addr != "" {
		ev = ev.Str("address", e.Addr)
	}
	what := "request failed"
	if e != nil && e.Own {
		what = "page replaced"
	}
	ev.Int("thread", ss.slot.Thread()).Str("worker", worker).Str("client", string(ss.x.RemoteAddr)).
		Str("request", string(ss.x.Method)+" "+string(ss.x.Path)).
		Int("status", status).Bool("cut", ss.w.sent).AnErr("cause", err).Msg(what)
}
