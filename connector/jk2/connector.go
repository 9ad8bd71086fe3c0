package jk2

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/counters"
	"jkd/connector/dial"
	"jkd/connector/jk2/board"
	"jkd/connector/jk2/jk2shm"
	"jkd/connector/resolve"
)

// Options are what the process adds to a Setup.
type Options struct {
	// Dial connects to containers.
	Dial dial.Dialers
	// WriteTimeout bounds the wait for a container to take what is sent to it,
	// where its channel has no timeout; 0: none.
	WriteTimeout time.Duration
	// Server is this process's place in the scoreboard.
	Server int
	// Board tells of reloads and edits; nil for a process that is alone.
	Board *board.Board
	// Slots is jk2.shm, which other programs read; nil: none.
	Slots *jk2shm.Segment
	// Counters is where it is counted what connections and requests come to, at
	// the place of Server; nil: in this process.
	Counters *counters.Table
	// Software names the connector on the status page.
	Software string
	Logger   zerolog.Logger
}

// Connector serves the uris of a Setup. It may be used concurrently.
type Connector struct {
	o     Options
	log   zerolog.Logger
	calls calls
	now   func() time.Time
	records

	state     atomic.Pointer[state]
	following sync.Mutex // held while a new state is made; guards the rest
	setup     *Setup
	workers   map[string]*worker // all there ever were
	balancers map[string]*balancer
	own       []Edit // what the status page of this process has taken
}

var _ connector.Ranked = (*Connector)(nil)

// state is a configuration in use. Requests in hand keep theirs when another
// one takes its place.
type state struct {
	generation uint64 // of the board when it was made
	cfg        *Config
	mapper     *Mapper
	workers    []*worker   // by Config.Workers
	balancers  []*balancer // by Config.Balancers
	targets    map[*Uri]*target
}

// New makes the connector of one process. It connects to nobody yet.
func New(s *Setup, o Options) *Connector {
	c := &Connector{o: o, log: o.Logger, now: time.Now, setup: s, workers: map[string]*worker{}, balancers: map[string]*balancer{}}
	c.records.begin(o)
	c.use(s.Config, 0)
	c.current() // a child that is started later begins with the configuration of today
	return c
}

// use makes cfg the configuration in use.
func (c *Connector) use(cfg *Config, generation uint64) {
	s := &state{generation: generation, cfg: cfg, mapper: NewMapper(cfg), targets: map[*Uri]*target{}}
	for i := range cfg.Workers {
		s.workers = append(s.workers, c.worker(cfg, &cfg.Workers[i]))
	}
	for i := range cfg.Balancers {
		x := &cfg.Balancers[i]
		b := c.balancers[x.Name]
		if b == nil {
			b = &balancer{name: x.Name, tally: c.tally(x.Name), log: c.log, now: c.now}
			c.balancers[x.Name] = b
		}
		members := make([]*worker, 0, len(x.Members))
		for _, at := range x.Members {
			members = append(members, s.workers[at])
		}
		b.configure(cfg, x, members)
		s.balancers = append(s.balancers, b)
	}
	for i := range cfg.Uris {
		u := &cfg.Uris[i]
		s.targets[u] = &target{c: c, s: s, uri: u, rank: rankOf(u)}
	}
	c.state.Store(s)
}

// worker is the worker of that name with the settings of cfg.
func (c *Connector) worker(cfg *Config, x *Worker) *worker {
	ch := &cfg.Channels[x.Channel]
	w := c.workers[x.Name]
	if w == nil {
		w = &worker{name: x.Name, write: c.o.WriteTimeout, log: c.log, now: c.now}
		w.cache.tally = c.tally(x.Name)
		w.record = c.records.of(len(c.workers), x.Name)
		c.workers[x.Name] = w
	}
	set := &workerSet{cfg: *x, timeout: ch.Timeout, noRecovery: cfg.WorkerEnv.NoRecoveryIfRequestSent, channel: &channel{
		kind: ch.Kind, host: ch.Host, port: ch.Port, path: ch.Path, dial: &c.o.Dial, now: c.now,
		options: dial.Options{Timeout: ch.Timeout, KeepAlive: ch.KeepAlive},
	}}
	if set.channel.options.Timeout <= 0 {
		set.channel.options.Timeout = defaultConnect
	}
	old := w.set.Load()
	if old != nil && old.channel.same(set.channel) {
		set.channel.resolver = old.channel.resolver
	} else if ch.Kind == Socket {
		set.channel.resolver = resolve.New(ch.Host, uint16(ch.Port), false)
	}
	w.set.Store(set)
	if old != nil && (!old.channel.same(set.channel) || x.Disabled || ch.Disabled) {
		w.cache.drop(counters.ClosedChanged) // what is idle leads to the old place, or nowhere soon
	}
	return w
}

// rankOf is how specific a rule is beside those of other connectors. An
// expression has the rank of its text.
func rankOf(u *Uri) connector.Rank { return connector.RankOf(u.Path) }

// Match implements connector.Connector.
func (c *Connector) Match(r *connector.Request) connector.Worker {
	w, _ := c.MatchRank(r)
	return w
}

// MatchRank implements connector.Ranked.
func (c *Connector) MatchRank(r *connector.Request) (connector.Worker, connector.Rank) {
	s := c.current()
	u := s.mapper.Match(r.VHost, r.ServerName, r.ServerPort, r.MatchPath)
	if u == nil {
		return nil, connector.Rank{}
	}
	t := s.targets[u]
	return t, t.rank
}

// Close implements connector.Connector.
func (c *Connector) Close() error {
	c.following.Lock()
	defer c.following.Unlock()
	for _, w := range c.workers {
		w.cache.shut()
	}
	return nil
}

// target is a rule and what serves it.
type target struct {
	c    *Connector
	s    *state
	uri  *Uri
	rank connector.Rank
}

// Name implements connector.Worker.
func (t *target) Name() string { return t.s.cfg.TargetName(t.uri.Target) }

// Service implements connector.Worker.
func (t *target) Service(r *connector.Request, rw connector.ResponseWriter) error {
	var err *connector.Error
	switch to := t.uri.Target; to.Kind {
	case ToStatus:
		err = t.c.status(t.s, to.Index, r, rw)
	case ToWorker, ToBalancer:
		c := t.c.calls.get()
		c.received = 0
		if t.uri.Timing {
			c.received = t.c.now().UnixMicro()
		}
		if err = c.begin(t.Name(), &t.s.cfg.WorkerEnv, r); err == nil {
			if to.Kind == ToBalancer {
				err = t.s.balancers[to.Index].serve(c, rw)
			} else {
				err = t.single(t.s.workers[to.Index], c, rw)
			}
		}
		t.c.calls.put(c)
	default:
		err = &connector.Error{Worker: t.uri.Name, Op: "find worker", Status: 500, Err: errors.New("the rule leads to no worker")}
	}
	if err != nil {
		return err // not a nil *connector.Error in an error
	}
	return nil
}

// single serves a request by a worker that is no member of anything here.
func (t *target) single(w *worker, c *call, rw connector.ResponseWriter) *connector.Error {
	set := w.set.Load()
	if set.cfg.Disabled {
		return &connector.Error{Worker: w.name, Op: "find worker", Status: 503, Err: fmt.Errorf("%s is disabled", w.name)}
	}
	c.req.Route = ""
	return w.serve(c, rw).err
}
