package status

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"strconv"
	"sync"

	"jkd/connector"
)

// HandlerOptions describe what a Handler serves, and to whom.
type HandlerOptions struct {
	// Location is the path of the page, Metrics that of the metrics; "" serves
	// none there.
	Location, Metrics string
	Source            Filler
	// Require are the prefixes of addresses that may ask; without any nobody
	// may.
	Require []netip.Prefix
	// Users tells whether a password is that of a user; nil asks for neither.
	Users func(user, password string) bool
	Realm string // what the browser shows when it asks for them, without quotes
}

// Filler is a [Source] that uses memory again.
type Filler interface {
	// Fill makes s the server now. Unless full it may leave out what only pages
	// show: the texts of the slots, the last minutes and the caches of each
	// child. It may be called concurrently, with a Status each.
	Fill(s *Status, full bool)
}

// Handler is the connector that serves the state of the server. Its methods may
// be called concurrently.
type Handler struct {
	o     HandlerOptions
	users *users

	page, metrics endpoint
	statuses      sync.Pool // of *Status
	buffers       sync.Pool // of *bytes.Buffer
}

// NewHandler returns a handler.
func NewHandler(o HandlerOptions) *Handler {
	h := &Handler{o: o}
	if o.Users != nil {
		h.users = newUsers(o.Users)
	}
	h.page = endpoint{h, h.chooseForm}
	h.metrics = endpoint{h, func([]byte) answer { return answer{form: formMetrics} }}
	h.statuses.New = func() any { return new(Status) }
	h.buffers.New = func() any { return new(bytes.Buffer) }
	return h
}

// Match implements connector.Connector.
func (h *Handler) Match(r *connector.Request) connector.Worker {
	switch {
	case at(h.o.Location, r.MatchPath):
		return &h.page
	case at(h.o.Metrics, r.MatchPath):
		return &h.metrics
	}
	return nil
}

// at tells whether path is the one of a location, with or without a slash at
// its end.
func at(location string, path []byte) bool {
	if location == "" {
		return false
	}
	rest, ok := bytes.CutPrefix(path, []byte(location))
	return ok && (len(rest) == 0 || len(rest) == 1 && rest[0] == '/')
}

// Close implements connector.Connector.
func (h *Handler) Close() error { return nil }

// endpoint is one of the two locations.
type endpoint struct {
	h      *Handler
	choose func(query []byte) answer
}

// Name implements connector.Worker.
func (e *endpoint) Name() string { return "status" }

// Service implements connector.Worker.
func (e *endpoint) Service(r *connector.Request, w connector.ResponseWriter) error {
	buf := e.h.buffers.Get().(*bytes.Buffer)
	defer e.h.buffers.Put(buf)
	buf.Reset()
	page := e.h.refuse(r)
	if page == nil {
		var err error
		if page, err = e.h.render(e.choose(r.Query), r, buf); err != nil {
			return &connector.Error{Worker: e.Name(), Op: "write page", Status: 500, Err: err}
		}
	}
	if err := page.Write(w, string(r.Method) == "HEAD"); err != nil {
		out := &connector.Error{Worker: e.Name(), Op: "write answer", Status: 500, Err: err}
		if _, ok := errors.AsType[*connector.ClientError](err); ok {
			out.Client, out.Status = true, connector.ClientStatus(err)
		}
		return out
	}
	return nil
}

// refuse is the answer to who may not see anything, which tells nothing of the
// server. It is nil for others; those who have logged in are the request's user
// then, for the access log.
func (h *Handler) refuse(r *connector.Request) *connector.Page {
	if !allowed(h.o.Require, r.RemoteAddr) {
		return plain(403, "You may not see this address.")
	}
	if h.users != nil {
		user, ok := h.users.allow(r.Fields)
		if !ok {
			p := plain(401, "This address is for people who have logged in.")
			p.Fields = append(p.Fields, connector.PageField{Name: "WWW-Authenticate", Value: `Basic realm="` + h.o.Realm + `", charset="UTF-8"`})
			return p
		}
		r.RemoteUser, r.AuthType = []byte(user), []byte("Basic")
	}
	if m := string(r.Method); m != "GET" && m != "HEAD" {
		p := plain(405, "This address does not take requests of this kind.")
		p.Fields = append(p.Fields, connector.PageField{Name: "Allow", Value: "GET, HEAD"})
		return p
	}
	return nil
}

// allowed tells whether one of the prefixes has the address. Those who have none
// are clients of a Unix socket, and that may be a proxy for all the world: they
// are allowed what everybody is.
func allowed(require []netip.Prefix, addr []byte) bool {
	a, _ := netip.ParseAddr(string(addr))
	a = a.Unmap().WithZone("")
	for _, p := range require {
		if p.Contains(a) || p.Bits() == 0 && !a.IsValid() {
			return true
		}
	}
	return false
}

func plain(status int, text string) *connector.Page {
	return &connector.Page{Status: status, ContentType: "text/plain; charset=utf-8", Fields: fields(), Body: []byte(text + "\n")}
}

// fields are those of all answers.
func fields() []connector.PageField {
	return append(make([]connector.PageField, 0, 6),
		connector.PageField{Name: "Cache-Control", Value: "no-store"},
		connector.PageField{Name: "X-Content-Type-Options", Value: "nosniff"})
}

// answer is what a query asks for.
type answer struct {
	form    form
	refresh int // seconds; 0: not asked for
	noTable bool
}

// form is how the state is written.
type form uint8

const (
	formHTML form = iota
	formAuto
	formText
	formJSON
	formMetrics
)

// contentTypes are those of the forms; mod_status's have the character set that
// it has.
var contentTypes = [...]string{
	formHTML:    "text/html; charset=utf-8",
	formAuto:    "text/plain; charset=ISO-8859-1",
	formText:    "text/plain; charset=utf-8",
	formJSON:    "application/json",
	formMetrics: "text/plain; version=0.0.4; charset=utf-8",
}

// defaultRefresh is how many seconds refresh means without a number.
const defaultRefresh = 10

// chooseForm reads a query as mod_status does: an option counts wherever it is
// in it.
func (h *Handler) chooseForm(query []byte) (a answer) {
	has := func(option string) bool { return bytes.Contains(query, []byte(option)) }
	if i := bytes.Index(query, []byte("refresh")); i >= 0 {
		a.refresh = seconds10(query[i+len("refresh"):])
	}
	a.noTable = has("notable")
	switch {
	case has("mime=json"):
		a.form = formJSON
	case has("mime=text"):
		a.form = formText
	case has("auto"):
		a.form = formAuto
	}
	return a
}

// seconds10 is the number behind "refresh", as atoi reads it.
func seconds10(rest []byte) int {
	rest, ok := bytes.CutPrefix(rest, []byte("="))
	if !ok {
		return defaultRefresh
	}
	n := 0
	for _, c := range rest {
		if c < '0' || c > '9' || n > 1e6 {
			break
		}
		n = n*10 + int(c-'0')
	}
	if n < 1 {
		return defaultRefresh
	}
	return n
}

// render writes the answer into buf, which the page has for its body.
func (h *Handler) render(a answer, r *connector.Request, buf *bytes.Buffer) (*connector.Page, error) {
	s := h.statuses.Get().(*Status)
	defer h.statuses.Put(s)
	h.o.Source.Fill(s, a.form != formAuto && a.form != formMetrics)
	s.Server.Via = string(r.LocalAddr)
	p := &connector.Page{Status: 200, ContentType: contentTypes[a.form], Fields: fields()}
	if a.refresh > 0 {
		p.Fields = append(p.Fields, connector.PageField{Name: "Refresh", Value: strconv.Itoa(a.refresh)})
	}
	if err := h.write(a, s, buf, p); err != nil {
		return nil, err
	}
	p.Body = buf.Bytes()
	return p, nil
}

func (h *Handler) write(a answer, s *Status, w io.Writer, p *connector.Page) error {
	switch a.form {
	case formAuto:
		return WriteAuto(w, s)
	case formText:
		return WriteText(w, s)
	case formJSON:
		return WriteJSON(w, s)
	case formMetrics:
		return WriteMetrics(w, s)
	}
	p.Fields = append(p.Fields,
		connector.PageField{Name: "Content-Security-Policy", Value: ContentSecurityPolicy()},
		connector.PageField{Name: "Referrer-Policy", Value: "no-referrer"})
	return WriteHTML(w, s, HTMLOptions{Refresh: a.refresh, NoTable: a.noTable})
}
