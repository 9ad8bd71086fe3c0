package jk2

import "jkd/connector/counters"

// CounterConnector is what workers of this package are called by in counters.
const CounterConnector = "jk2"

// CounterNames are the workers that are counted: balancers and back ends.
func (c *Config) CounterNames() (names []counters.WorkerName) {
	for i := range c.Balancers {
		names = append(names, counters.WorkerName{Name: c.Balancers[i].Name, Connector: CounterConnector})
	}
	for i := range c.Workers {
		names = append(names, counters.WorkerName{Name: c.Workers[i].Name, Connector: CounterConnector})
	}
	return names
}

// tally is the record in which a component counts: that of the table, or one of
// its own.
func (c *Connector) tally(name string) *counters.Record {
	if c.o.Counters == nil {
		return new(counters.Record)
	}
	return c.o.Counters.Record(c.o.Server, CounterConnector, name)
}

// Record is where the requests for the target are counted; nil: nowhere.
func (t *target) Record() *counters.Record {
	switch to := t.uri.Target; to.Kind {
	case ToWorker:
		return t.s.workers[to.Index].cache.tally
	case ToBalancer:
		return t.s.balancers[to.Index].tally
	}
	return nil
}
