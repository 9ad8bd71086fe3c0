package jk

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
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
	Logger       zerolog.Logger
}

// Connector serves the rules of a Setup. It may be used concurrently.
type Connector struct {
	m       *URIMap
	targets map[*Rule]connector.Worker
	workers []*worker // by Config.Workers; nil where there is none to run
}

var _ connector.Connector = (*Connector)(nil)

// New makes the connector of one process. It connects to nobody yet.
func New(s *Setup, o Options) *Connector {
	c := &Connector{m: s.Map(), targets: map[*Rule]connector.Worker{}, workers: make([]*worker, len(s.Config.Workers))}
	for i := range s.Config.Workers {
		if w := &s.Config.Workers[i]; w.Type == AJP13 {
			c.workers[i] = newWorker(w, s.Config.Maintain, o)
		}
	}
	for _, r := range s.Map().rules {
		if r.Exclude || r.Disabled {
			continue
		}
		c.targets[r] = c.target(r)
	}
	return c
}

// target is the worker of a rule, with the rule's own settings.
func (c *Connector) target(r *Rule) connector.Worker {
	if r.Index < 0 || c.workers[r.Index] == nil {
		return missing{r.Worker}
	}
	w := c.workers[r.Index]
	if r.Extensions.ReplyTimeoutSet {
		return &ruled{worker: w, reply: r.Extensions.ReplyTimeout}
	}
	return w
}

// Match implements connector.Connector. Rules know no hosts.
func (c *Connector) Match(r *connector.Request) connector.Worker {
	rule := c.m.Match(r.MatchPath)
	if rule == nil {
		return nil
	}
	return c.targets[rule]
}

// Close implements connector.Connector.
func (c *Connector) Close() error {
	for _, w := range c.workers {
		if w != nil {
			w.pool.shut()
		}
	}
	return nil
}

// Stats returns the counters of this process, a worker each, in the order of
// worker.list.
func (c *Connector) Stats() []Stats {
	var out []Stats
	for _, w := range c.workers {
		if w != nil {
			out = append(out, w.stats())
		}
	}
	return out
}

// ruled is a worker as one rule has it.
type ruled struct {
	*worker
	reply time.Duration
}

// Service implements connector.Worker.
func (r *ruled) Service(req *connector.Request, w connector.ResponseWriter) error {
	return r.serve(req, w, r.reply)
}

// missing stands for a worker that can't be run.
type missing struct{ name string }

func (m missing) Name() string { return m.name }

func (m missing) Service(*connector.Request, connector.ResponseWriter) error {
	return &connector.Error{Worker: m.name, Op: "find worker", Status: 500, Err: fmt.Errorf("there is no worker %q to run", m.name)}
}

func newWorker(c *WorkerConfig, maintain time.Duration, o Options) *worker {
	a := &c.AJP
	w := &worker{
		name: c.Name, cfg: a, dial: o.Dial, maintain: maintain, log: o.Logger, now: time.Now,
		resolver: newResolver(a.Host, uint16(a.Port), a.PreferIPv6),
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
	w.pool = newPool(cache, cache.MaxIdle, &w.count)
	return w
}
