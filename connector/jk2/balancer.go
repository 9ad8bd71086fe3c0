package jk2

import (
	"errors"
	"fmt"
	"html"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/counters"
	"jkd/connector/jk/balance"
	"jkd/connector/jk2/lb"
)

// balancer is one lb component in this process. What it knows of its members
// is this process's own, as in mod_jk2.
type balancer struct {
	name string
	log  zerolog.Logger
	now  func() time.Time

	tally *counters.Record // of requests for the balancer

	mu      sync.Mutex // guards the rest
	cfg     *Balancer
	table   *lb.Table
	members []*worker
	routes  []string
}

// configure takes over what a configuration says of the balancer. What is known
// of members that stay is kept.
func (b *balancer) configure(c *Config, cfg *Balancer, members []*worker) {
	s := lb.Settings{Sticky: cfg.StickySession, Recovery: cfg.Recovery, FirstLevelOnly: cfg.HWBalanceErr > 0}
	var list []lb.Member
	var from []int
	var routes []string
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, at := range cfg.Members {
		w := &c.Workers[at]
		list = append(list, lb.Member{
			Route: w.Route, Redirect: w.RouteRedirect, Factor: w.LBFactor, Level: w.Level,
			Disabled: w.Disabled || c.Channels[w.Channel].Disabled, Graceful: w.Graceful,
		})
		routes = append(routes, w.Route)
		was := -1
		for j, m := range b.members {
			if m == members[i] {
				was = j
			}
		}
		from = append(from, was)
	}
	if b.table == nil {
		b.table = lb.NewTable(s, list)
	} else {
		b.table.Set(s, list, from)
	}
	b.cfg, b.members, b.routes = cfg, members, routes
}

// choose finds the worker for the next attempt. With nil there is none.
func (b *balancer) choose(ids *balance.IDs, attempt int) (w *worker, route string, cfg *Balancer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	choice := b.table.Choose(ids, attempt, b.now())
	if choice.Index < 0 {
		return nil, "", b.cfg
	}
	return b.members[choice.Index], b.routes[choice.Index], b.cfg
}

// report enters what became of a request with a worker, which may have left
// the balancer meanwhile.
func (b *balancer) report(w *worker, out outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, m := range b.members {
		switch {
		case m != w:
		case out.faulty:
			b.table.Failed(i, b.now())
		case out.err == nil:
			b.table.Served(i)
		}
	}
}

// sessionCookie and sessionParameter are where mod_jk2 looks for session ids.
const (
	sessionCookie    = "JSESSIONID"
	sessionParameter = ";jsessionid"
)

// serve gives the request of c to one worker after the other until one has
// answered it or it may not be sent again.
func (b *balancer) serve(c *call, rw connector.ResponseWriter) *connector.Error {
	c.cookies = connector.AppendValues(c.cookies[:0], c.req.Fields, "cookie")
	ids := balance.IDs{Cookie: sessionCookie, Param: sessionParameter, Path: c.req.Path, Cookies: c.cookies}
	var last *connector.Error
	for attempt := 0; ; attempt++ {
		w, route, cfg := b.choose(&ids, attempt)
		if w == nil {
			return b.nobody(cfg, c, rw, last)
		}
		c.req.Route = route
		out := w.serve(c, rw)
		b.report(w, out)
		if out.err != nil && !out.err.Client {
			w.cache.tally.Error() // the front counts those of the target of a uri
		}
		if out.err == nil {
			return nil
		}
		out.err.Worker = b.name + "/" + w.name
		if !out.other {
			return out.err
		}
		last = out.err
		b.log.Info().Int("thread", c.req.Thread).Str("worker", b.name).Str("member", w.name).AnErr("cause", last).Msg("the worker failed, trying another one")
	}
}

var errNobody = errors.New("no worker is left")

// nobody is the answer when no worker is left: noWorkerCode, or hwBalanceErr for
// a balancer in front that then looks elsewhere.
func (b *balancer) nobody(cfg *Balancer, c *call, rw connector.ResponseWriter, last *connector.Error) *connector.Error {
	code := cfg.NoWorkerCode
	if cfg.HWBalanceErr > 0 {
		code = cfg.HWBalanceErr
	}
	e := &connector.Error{Worker: b.name, Op: "choose worker", Status: code, Err: errNobody}
	if last != nil {
		e.Addr, e.Err = last.Addr, fmt.Errorf("%w: %w", errNobody, last)
	}
	redirect := code == 302 && cfg.NoWorkerMsg != ""
	switch {
	case redirect:
		e.Own, e.Fields = true, []connector.Field{{Name: []byte("Location"), Value: []byte(cfg.NoWorkerMsg)}}
		return e
	case cfg.NoErrorHeader:
		return e
	}
	b.log.Error().Int("thread", c.req.Thread).Str("worker", b.name).AnErr("cause", e).Int("status", code).Msg("no worker is left, the request is answered by the balancer")
	page := connector.Page{Status: code, ContentType: "text/html; charset=utf-8", Body: []byte("<!DOCTYPE html>\n<html lang=\"en\"><title>" + strconv.Itoa(code) + "</title><p>" + html.EscapeString(cfg.NoWorkerMsg) + "</p></html>\n")}
	if err := page.Write(rw, false); err != nil {
		return &connector.Error{Worker: b.name, Op: "write answer", Status: code, Client: true, Err: err}
	}
	return nil
}
