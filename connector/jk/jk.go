package jk

import (
	"cmp"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"jkd/conf"
	"jkd/connector"
	"jkd/connector/counters"
	"jkd/connector/jk/jkshm"
)

// defaultConnectTimeout bounds a connect when the file doesn't: the kernel's
// own limit is over a minute, during which a user looks at a blank page.
const defaultConnectTimeout = 5 * time.Second

// Options are what the process adds to a Setup.
type Options struct {
	// Threads is how many requests the process serves at a time: the default
	// size of its caches.
	Threads int
	// Dial connects to back ends.
	Dial DialFunc
	// WriteTimeout bounds the wait for a back end to take what is sent to it,
	// where socket_timeout doesn't; 0: none.
	WriteTimeout time.Duration
	// Segment is the shared memory, laid out by [SegmentLayout]; nil for a
	// process that is alone. Server is this process's place in it.
	Segment *jkshm.Segment
	Server  int
	// Counters is where it is counted what connections and requests come to, at
	// the place of Server; nil: in this process.
	Counters *counters.Table
	// Software is what the program calls itself on status pages, "" for jkd.
	Software string
	// Sites are conf.Jk.Servers; those missing have the defaults.
	Sites []conf.JkServer
	// Logs are the logs of what is said of a request, by its virtual host
	// (JkLogFile, JkLogLevel); nil or missing: Logger, which has all the rest.
	Logs   []*zerolog.Logger
	Logger zerolog.Logger
}

// Connector serves the rules of a Setup. It may be used concurrently.
type Connector struct {
	config  *Config
	seg     *jkshm.Segment
	server  int         // this process's place in seg
	workers []*worker   // by Config.Workers; nil where it is no ajp13 worker
	lbs     []*balancer // likewise for lb
	members []*worker   // of all balancers
	sites   []*site     // by Request.VHost
	files   []string    // paths of Setup.MapFiles
	log     zerolog.Logger

	maintained int // where the next Maintain begins
	software   string

	mapping   atomic.Pointer[mapping]
	following sync.Mutex // held by whoever makes the next mapping
}

var _ connector.Ranked = (*Connector)(nil)

// New makes the connector of one process. It connects to nobody yet.
func New(s *Setup, o Options) *Connector {
	seg, tally := o.Segment, tallies(o.Counters, o.Server)
	if seg == nil {
		var err error
		if seg, err = private(s); err != nil {
			panic(err) // the configuration has been checked
		}
		o.Server = 0
	}
	c := &Connector{
		config: s.Config, seg: seg, server: o.Server, software: cmp.Or(o.Software, "jkd"), log: o.Logger,
		workers: make([]*worker, len(s.Config.Workers)), lbs: make([]*balancer, len(s.Config.Workers)),
	}
	var own *ownNames
	if o.Segment == nil {
		own = &ownNames{names: Names{Config: s.Config, Segment: seg, Logger: o.Logger}}
		own.edits.Store(seg.Edits() - 1) // the first request asks
	}
	records := map[string]*jkshm.Worker{}
	for i := range seg.Workers() {
		records[seg.Worker(i).Name()] = seg.Worker(i)
	}
	balancers := 0
	for i := range s.Config.Workers {
		switch w := &s.Config.Workers[i]; w.Type {
		case AJP13:
			c.workers[i] = newWorker(w, o, seg, records[w.Name], own, tally(w.Name))
		case LB:
			b := &balancer{name: w.Name, cfg: w.LB, seg: seg, rec: seg.Balancer(balancers), server: o.Server, tally: tally(w.Name), now: time.Now}
			balancers++
			for j := range w.LB.Members {
				m := &w.LB.Members[j]
				b.members = append(b.members, newWorker(m, o, seg, records[m.Name], own, tally(m.Name)))
				b.names = append(b.names, m.Name)
				b.members[j].member = true
			}
			c.lbs[i] = b
			c.members = append(c.members, b.members...)
		}
	}
	for i := range s.Maps {
		c.sites = append(c.sites, newSite(o.site(i), o.logger(i)))
	}
	for _, f := range s.MapFiles() {
		c.files = append(c.files, f.Path)
	}
	c.mapping.Store(c.newMapping(s, nil))
	c.follow() // a child that is started later begins with the rules of today
	return c
}

// site is the directives of one server.
func (o *Options) site(i int) *conf.JkServer {
	if i < len(o.Sites) {
		return &o.Sites[i]
	}
	s := conf.DefaultJkServer()
	return &s
}

// logger is the log of one server's requests.
func (o *Options) logger(i int) *zerolog.Logger {
	if i < len(o.Logs) && o.Logs[i] != nil {
		return o.Logs[i]
	}
	return &o.Logger
}

// target is the worker of a rule, with the rule's own settings.
func (c *Connector) target(r *Rule, s *site) connector.Worker {
	switch {
	case r.Index < 0:
	case c.workers[r.Index] != nil:
		return &single{worker: c.workers[r.Index], site: s, ext: &r.Extensions}
	case c.lbs[r.Index] != nil:
		return newTarget(c.lbs[r.Index], s, &r.Extensions)
	case c.config.Workers[r.Index].Type == Status:
		return c.statusTarget(r.Index, s)
	}
	return &missing{name: r.Worker}
}

// Match implements connector.Connector.
func (c *Connector) Match(r *connector.Request) connector.Worker {
	w, _ := c.match(r)
	return w
}

// MatchRank implements connector.Ranked. A worker that a variable names is
// below all rules.
func (c *Connector) MatchRank(r *connector.Request) (connector.Worker, connector.Rank) {
	w, rule := c.match(r)
	if rule == nil {
		return w, connector.Rank{}
	}
	return w, connector.RankOf(rule.Pattern)
}

// match returns the worker for a request and the rule that has given it, if
// it was one. A request with the variable no-jk is nobody's here.
func (c *Connector) match(r *connector.Request) (w connector.Worker, rule *Rule) {
	m := c.current()
	if r.VHost < 0 || r.VHost >= len(m.targets) {
		return nil, nil
	}
	if _, never := r.Env.Get("no-jk"); never {
		return nil, nil
	}
	s := c.sites[r.VHost]
	if rule = m.setup.Maps[r.VHost].Match(r.MatchPath); rule != nil {
		w = m.targets[r.VHost][rule]
	} else if w = c.indicated(s, r); w == nil {
		return nil, nil
	}
	if why := refuse(r, s.c.Options.RejectUnsafeURI); why != refusalNone {
		return &unmapped{log: s.log, why: why}, rule
	}
	return w, rule
}

// Close implements connector.Connector.
func (c *Connector) Close() error {
	for _, w := range c.workers {
		if w != nil {
			w.pool.shut()
		}
	}
	for _, w := range c.members {
		w.pool.shut()
	}
	return nil
}

// Stats returns the counters of this process, a back end each: those of
// worker.list in its order, then the members of each balancer.
func (c *Connector) Stats() []Stats {
	var out []Stats
	for _, w := range c.workers {
		if w != nil {
			out = append(out, w.stats())
		}
	}
	for _, b := range c.lbs {
		if b == nil {
			continue
		}
		for _, w := range b.members {
			s := w.stats()
			s.Balancer = b.name
			out = append(out, s)
		}
	}
	return out
}

// missing stands for a worker that can't be run.
type missing struct {
	name string
	err  error // why, nil when it is simply not there
}

func (m *missing) Name() string { return m.name }

func (m *missing) Service(*connector.Request, connector.ResponseWriter) error {
	err := m.err
	if err == nil {
		err = fmt.Errorf("Could not find a worker for worker name=%s", m.name)
	}
	return &connector.Error{Worker: m.name, Op: "find worker", Status: 500, Err: err}
}

func newWorker(c *WorkerConfig, o Options, seg *jkshm.Segment, rec *jkshm.Worker, own *ownNames, tally *counters.Record) *worker {
	a := &c.AJP
	w := &worker{
		name: c.Name, tally: tally, cfg: a, seg: seg, rec: rec, own: own, server: o.Server, dial: o.Dial, log: o.Logger, now: time.Now,
		write:    a.SocketTimeout,
		dialOpts: DialOptions{Timeout: a.SocketConnectTimeout, KeepAlive: a.SocketKeepalive, Buffer: a.SocketBuffer},
	}
	if w.write == 0 {
		w.write = o.WriteTimeout
	}
	if w.dialOpts.Timeout == 0 {
		w.dialOpts.Timeout = defaultConnectTimeout
	}
	if s, err := netip.ParseAddr(a.Source); err == nil {
		w.dialOpts.Source = s
	}
	cache := a.Cache.Resolve(o.Threads)
	w.pool = newPool(cache, cache.MaxIdle, tally)
	w.pool.onShut = func() { rec.Closed(o.Server) }
	return w
}
