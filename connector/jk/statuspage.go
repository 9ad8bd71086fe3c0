package jk

import (
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/jk/status"
)

// statusPage is a status worker as one server has it.
type statusPage struct {
	c      *Connector
	name   string
	config status.Config
	token  string
	site   *site
	log    *zerolog.Logger
	now    func() time.Time

	calls calls
}

// statusTarget makes the target of rules for the status worker at index.
func (c *Connector) statusTarget(index int, s *site) connector.Worker {
	w := &c.config.Workers[index]
	token := c.seg.Token()
	p := &statusPage{c: c, name: w.Name, token: hex.EncodeToString(token[:]), site: s, log: s.log, now: time.Now}
	p.config = w.Status.page(w.Name, p.tell)
	return p
}

// page is the directives as package status takes them.
func (c *StatusConfig) page(name string, log func(status.Level, string)) status.Config {
	return status.Config{
		Name: name, CSS: c.CSS, ReadOnly: c.ReadOnly, Users: c.Users, UserCaseInsensitive: c.UserCaseInsensitive,
		Good: c.Good, Bad: c.Bad, Prefix: c.Prefix, NS: c.NS, XMLNS: c.XMLNS, Doctype: c.Doctype,
		AllowGetUpdate: c.AllowGetUpdate, Log: log,
	}
}

// tell writes a line of the page into the connector's log.
func (p *statusPage) tell(l status.Level, text string) {
	e := p.log.Info()
	if l == status.Warn {
		e = p.log.Warn()
	}
	e.Str("worker", p.name).Msg(text)
}

// Name implements connector.Worker.
func (p *statusPage) Name() string { return p.name }

// noExtensions are those of a status worker's rules: none has a meaning there.
var noExtensions Extensions

// Service implements connector.Worker.
func (p *statusPage) Service(r *connector.Request, rw connector.ResponseWriter) error {
	return p.calls.serve(p.name, Status, p.site, &noExtensions, r, rw, func(c *call) *connector.Error {
		return p.answer(c, rw)
	})
}

// answer takes the request as a container would be told of it: the user, for
// one, is the one that JkRemoteUserIndicator names.
func (p *statusPage) answer(c *call, rw connector.ResponseWriter) *connector.Error {
	r := c.req.Request
	in := status.Input{
		Method: string(r.Method), Query: r.Query, ContentType: connector.Value(r.Fields, "content-type"),
		Host: connector.Value(r.Fields, "host"), Origin: connector.Value(r.Fields, "origin"), SecFetchSite: connector.Value(r.Fields, "sec-fetch-site"),
		RemoteUser: string(r.RemoteUser), ServerName: string(r.ServerName), ServerPort: r.ServerPort,
		Now: p.now(), Token: p.token,
	}
	if in.Method == "POST" {
		// One byte more tells that there was more. What else there is the front
		// throws away.
		body, err := io.ReadAll(io.LimitReader(r.Body, status.MaxBody+1))
		if err != nil {
			return p.failed("read request body", err)
		}
		in.Body = body
	}
	page := connector.Page(status.Serve(in, &control{c: p.c, now: in.Now}, p.config))
	if err := page.Write(rw, in.Method == "HEAD"); err != nil {
		return p.failed("write answer", err)
	}
	return nil
}

// failed is a failure of the client's: nobody else takes part in this.
func (p *statusPage) failed(op string, err error) *connector.Error {
	var ce *connector.ClientError
	if !errors.As(err, &ce) {
		return &connector.Error{Worker: p.name, Op: op, Status: 500, Err: err}
	}
	return &connector.Error{Worker: p.name, Op: op, Client: true, Status: connector.ClientStatus(err), Err: err}
}
