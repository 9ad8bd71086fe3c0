package proxy

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/counters"
	"jkd/connector/dial"
)

// CounterConnector is what workers of this package are called by in counters.
const CounterConnector = "proxy"

// Options are what the process adds to a Setup.
type Options struct {
	Dial dial.Dialers
	// Threads is how many requests the process serves at a time, at least 1.
	Threads int
	// WriteTimeout bounds the wait for a back end to take what is sent; 0: none.
	WriteTimeout time.Duration
	// Server is this process's place in the scoreboard.
	Server int
	// Counters is where it is counted; nil: in this process.
	Counters *counters.Table
	Logger   zerolog.Logger
}

// Connector serves the rules of a Setup. It may be used concurrently.
type Connector struct {
	o         Options
	s         *Setup
	log       zerolog.Logger
	now       func() time.Time
	workers   []*worker
	balancers []*balancer
	targets   [][]*ruleTarget // by server and rule
	calls     sync.Pool
}

var _ connector.Ranked = (*Connector)(nil)

// New makes the connector of one process. It connects to nobody yet.
func New(s *Setup, o Options) *Connector {
	o.Threads = max(o.Threads, 1)
	c := &Connector{o: o, s: s, log: o.Logger, now: time.Now}
	c.calls.New = func() any { return new(call) }
	for i := range s.Workers {
		c.workers = append(c.workers, newWorker(&s.Workers[i], c))
	}
	for i := range s.Balancers {
		c.balancers = append(c.balancers, newBalancer(&s.Balancers[i], c))
	}
	for i := range s.Servers {
		var list []*ruleTarget
		for j := range s.Servers[i].Rules {
			list = append(list, c.target(&s.Servers[i], &s.Servers[i].Rules[j]))
		}
		c.targets = append(c.targets, list)
	}
	return c
}

// Match implements connector.Connector.
func (c *Connector) Match(r *connector.Request) connector.Worker {
	w, _ := c.MatchRank(r)
	return w
}

// MatchRank implements connector.Ranked.
func (c *Connector) MatchRank(r *connector.Request) (connector.Worker, connector.Rank) {
	if len(r.MatchPath) == 0 || r.MatchPath[0] != '/' || r.VHost >= len(c.targets) {
		return nil, connector.Rank{}
	}
	for _, t := range c.targets[r.VHost] {
		if t.rule.matches(r.MatchPath) < 0 {
			continue
		}
		if t.rule.Exclude {
			break
		}
		return t, t.rank
	}
	return nil, connector.Rank{}
}

// Close implements connector.Connector.
func (c *Connector) Close() error {
	for _, w := range c.workers {
		w.pool.shut()
	}
	return nil
}

// CounterNames are the workers that are counted.
func (s *Setup) CounterNames() (names []counters.WorkerName) {
	for i := range s.Balancers {
		names = append(names, counters.WorkerName{Name: balancerName(s.Balancers[i].Name), Connector: CounterConnector})
	}
	for i := range s.Workers {
		names = append(names, counters.WorkerName{Name: s.Workers[i].counterName(), Connector: CounterConnector})
	}
	return names
}

func balancerName(name string) string { return "balancer://" + name }

// counterName tells members of different balancers apart.
func (w *Worker) counterName() string {
	if w.Balancer != "" {
		return w.Balancer + "/" + w.Name
	}
	return w.Name
}

func (c *Connector) tally(name string) *counters.Record {
	if c.o.Counters == nil {
		return new(counters.Record)
	}
	return c.o.Counters.Record(c.o.Server, CounterConnector, name)
}

// ruleTarget is a rule and what serves it.
type ruleTarget struct {
	c        *Connector
	server   *Server
	rule     *Rule
	rank     connector.Rank
	worker   *worker
	balancer *balancer
	reverse  *reverse
	flushAll bool
}

func (c *Connector) target(s *Server, r *Rule) *ruleTarget {
	t := &ruleTarget{c: c, server: s, rule: r, rank: connector.RankOf(r.Path)}
	if r.Worker >= 0 {
		t.worker = c.workers[r.Worker]
		t.flushAll = t.worker.FlushAll
	}
	if r.Group >= 0 {
		t.balancer = c.balancers[r.Group]
		for _, m := range t.balancer.members {
			t.flushAll = t.flushAll || m.FlushAll
		}
	}
	t.reverse = newReverse(c.s, s)
	return t
}

// Name implements connector.Worker.
func (t *ruleTarget) Name() string {
	if t.balancer != nil {
		return t.balancer.name
	}
	return t.worker.name
}

// Record is where the requests for the rule are counted.
func (t *ruleTarget) Record() *counters.Record {
	if t.balancer != nil {
		return t.balancer.tally
	}
	return t.worker.pool.tally
}

// Service implements connector.Worker.
func (t *ruleTarget) Service(r *connector.Request, rw connector.ResponseWriter) error {
	c := t.c.calls.Get().(*call)
	c.begin(t, r, rw)
	var err *connector.Error
	if t.balancer != nil {
		err = t.balancer.serve(c)
	} else {
		err = t.worker.serve(c).err
	}
	c.end()
	t.c.calls.Put(c)
	if err != nil {
		return err // not a nil *connector.Error in an error
	}
	return nil
}
