package jk2

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"jkd/connector"
	"jkd/connector/counters"
	"jkd/connector/jk2/jk2shm"
	"jkd/connector/jk2/status"
)

// status serves a request to a status component. As in mod_jk2 each of them has
// the file looked at.
func (c *Connector) status(s *state, index int, r *connector.Request, rw connector.ResponseWriter) *connector.Error {
	name := s.cfg.Statuses[index].Name
	in := status.Input{
		Method: string(r.Method), Query: r.Query, ServerName: string(r.ServerName),
		Host: connector.Value(r.Fields, "host"), Origin: connector.Value(r.Fields, "origin"), SecFetchSite: connector.Value(r.Fields, "sec-fetch-site"),
	}
	if x := &s.cfg.Statuses[index]; x.StyleMode == styleLink {
		in.CSS = x.StylePath
	}
	if c.o.Board != nil {
		token := c.o.Board.Token()
		in.Token = hex.EncodeToString(token[:])
	}
	if in.Method == "POST" {
		form, err := io.ReadAll(io.LimitReader(r.Body, status.MaxQuery+1))
		if err != nil {
			return &connector.Error{Worker: name, Op: "read request body", Client: true, Status: connector.ClientStatus(err), Err: err}
		}
		in.Form = form
	}
	c.check()
	page := connector.Page(status.Serve(in, c.model, &control{c}))
	if err := page.Write(rw, in.Method == "HEAD"); err != nil {
		return &connector.Error{Worker: name, Op: "write answer", Client: true, Status: connector.ClientStatus(err), Err: err}
	}
	return nil
}

// styleLink is the styleMode that names a style sheet. The others mean the
// page's own style, which mod_jk2 has as mode 1.
const styleLink = 2

// control changes things for the status page.
type control struct{ c *Connector }

// Set implements status.Control.
func (p *control) Set(component, property, value string) error {
	e, err := ParseEdit(Edit{component, property, value}.String())
	if err != nil {
		return err
	}
	if e.Component != component || e.Property != property {
		return errors.New("has a '|' in a name")
	}
	if err := p.c.edit(e); err != nil {
		return err
	}
	p.c.log.Info().Str("component", component).Str("property", property).Msg("set by the status page")
	return nil
}

// Invoke implements status.Control: destroy of a worker closes its idle
// connections in this process. They are opened again when they are needed.
func (p *control) Invoke(component, method string) error {
	s := p.c.state.Load()
	for _, w := range s.workers {
		if w.name != component {
			continue
		}
		switch method {
		case "destroy":
			w.cache.drop(counters.ClosedChanged)
			p.c.log.Info().Str("worker", component).Msg("the status page has closed the idle connections")
			return nil
		case "init":
			return nil // it always is
		}
		return fmt.Errorf("%s has no method %q", component, method)
	}
	return fmt.Errorf("%q is no worker", component)
}

// Reload implements status.Control.
func (p *control) Reload() error {
	if p.c.o.Board == nil {
		return errors.New("this process is alone")
	}
	p.c.announce()
	p.c.log.Info().Msg("the status page makes all processes look at the configuration")
	return nil
}

// Reset implements status.Control.
func (p *control) Reset() error {
	if p.c.o.Slots == nil {
		return errors.New("there is no scoreboard: [shm:] has no file, or is disabled")
	}
	p.c.o.Slots.Reset()
	p.c.log.Info().Msg("the status page has reset the counters of all processes")
	return nil
}

// model is what the page shows.
func (c *Connector) model() *status.Model {
	s := c.current()
	m := &status.Model{Software: c.o.Software, Child: c.o.Server, Generation: s.generation}
	for _, x := range s.cfg.Settings() {
		m.Settings = append(m.Settings, status.Setting{Component: x.Component, Property: x.Property, Written: x.Written, Value: x.Value})
	}
	if c.o.Slots != nil {
		m.Board = new(jk2shm.View)
		c.o.Slots.View(m.Board)
	}
	health := s.health()
	for i := range s.cfg.Workers {
		m.Components = append(m.Components, s.worker(i, health[i]))
		m.Caches = append(m.Caches, s.workers[i].counts())
	}
	for i := range s.cfg.Channels {
		m.Components = append(m.Components, s.channel(i))
	}
	for i := range s.cfg.Balancers {
		m.Components = append(m.Components, s.balancer(i))
	}
	for i := range s.cfg.Uris {
		m.Components = append(m.Components, uriComponent(s.cfg, &s.cfg.Uris[i]))
	}
	for i := range s.cfg.Statuses {
		m.Components = append(m.Components, describe(&s.cfg.Statuses[i].Component, "status"))
	}
	return m
}

// describe is what all components show. typ is what a query knows it by.
func describe(c *Component, typ string) status.Component {
	out := status.Component{Name: c.Name, Type: typ, Ver: c.Ver, Debug: c.Debug, Disabled: c.Disabled}
	if k := kindOf(typ); k != nil {
		for _, name := range k.names() {
			if !k.key(name).secret {
				out.Settable = append(out.Settable, name)
			}
		}
	}
	return out
}

func attributes(pairs ...string) (out []status.Attribute) {
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, status.Attribute{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// memberHealth is what the balancers of this process think of a worker.
type memberHealth struct {
	groups  []string
	value   int
	failing bool
	failed  time.Time
}

// health is that of all workers. Of a worker in several balancers the worst
// counts.
func (s *state) health() []memberHealth {
	out := make([]memberHealth, len(s.workers))
	for i, b := range s.balancers {
		b.mu.Lock()
		for j, at := range s.cfg.Balancers[i].Members {
			h := &out[at]
			h.groups = append(h.groups, b.name)
			if j >= b.table.Len() {
				continue // another configuration has come meanwhile
			}
			x := b.table.Status(j)
			if h.value = x.Value; !x.Failed.IsZero() {
				h.failing, h.failed = true, x.Failed
			}
		}
		b.mu.Unlock()
	}
	return out
}

func (s *state) worker(i int, h memberHealth) status.Component {
	x := &s.cfg.Workers[i]
	out := describe(&x.Component, "ajp13")
	failed := "0"
	if h.failing {
		failed = strconv.FormatInt(h.failed.Unix(), 10)
	}
	_, idle, _ := s.workers[i].cache.counts()
	out.Attributes = attributes(
		"channel", s.cfg.Channels[x.Channel].Name, "groups", strings.Join(h.groups, " "), "max_connections", strconv.Itoa(x.MaxConnections),
		"epCount", strconv.Itoa(idle), "level", strconv.Itoa(x.Level), "lb_factor", strconv.Itoa(x.LBFactor), "lb_value", strconv.Itoa(h.value),
		"route", x.Route, "routeRedirect", x.RouteRedirect, "graceful", digit(x.Graceful), "errorState", digit(h.failing), "errorTime", failed,
		"connectTimeout", millis(x.ConnectTimeout), "replyTimeout", millis(x.ReplyTimeout), "prepostTimeout", millis(x.PrepostTimeout),
	)
	out.Invocable = []string{"init", "destroy"}
	return out
}

func (s *state) channel(i int) status.Component {
	x := &s.cfg.Channels[i]
	if x.Kind == Unix {
		out := describe(&x.Component, "channel.un")
		out.Attributes = attributes("file", x.Path)
		return out
	}
	out := describe(&x.Component, "channel.socket")
	out.Attributes = attributes(
		"host", x.Host, "port", strconv.Itoa(x.Port), "keepalive", digit(x.KeepAlive),
		"timeout", strconv.FormatInt(int64(x.Timeout/time.Second), 10), "nodelay", digit(x.NoDelay),
		"graceful", digit(slices.ContainsFunc(s.cfg.Workers, func(w Worker) bool { return w.Channel == i && w.Graceful })),
	)
	return out
}

func (s *state) balancer(i int) status.Component {
	x := &s.cfg.Balancers[i]
	out := describe(&x.Component, "lb")
	var members []string
	for _, at := range x.Members {
		members = append(members, s.cfg.Workers[at].Name)
	}
	out.Attributes = attributes(
		"workers", strings.Join(members, " "), "stickySession", digit(x.StickySession), "recovery", strconv.FormatInt(int64(x.Recovery/time.Second), 10),
		"noWorkerCode", strconv.Itoa(x.NoWorkerCode), "noErrorHeader", digit(x.NoErrorHeader), "hwBalanceErr", strconv.Itoa(x.HWBalanceErr),
	)
	return out
}

func uriComponent(c *Config, u *Uri) status.Component {
	out := describe(&u.Component, "uri")
	host := u.Host
	if u.Port > 0 {
		host += ":" + strconv.Itoa(u.Port)
	}
	out.Attributes = attributes(
		"host", host, "uri", u.Path, "group", c.TargetName(u.Target), "context", u.Context, "inheritGlobals", digit(u.InheritGlobals),
		"match_type", u.Kind.String(), "servlet", u.Servlet, "timing", digit(u.Timing), "aliases", strings.Join(u.Aliases, " "),
	)
	return out
}

// counts is what this process has counted of a worker.
func (w *worker) counts() status.Cache {
	made, idle, connected := w.cache.counts()
	n := w.cache.tally.Cache()
	return status.Cache{
		Worker: w.name, Endpoints: made, Idle: idle, Connected: connected, Max: w.set.Load().cfg.MaxConnections,
		Requests: w.requests.Load(), Errors: w.errors.Load(), Hits: n.Hits, Connects: n.Opened, Refused: n.Refused,
	}
}
