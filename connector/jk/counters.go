package jk

import "jkd/connector/counters"

// CounterConnector is what workers of this package are called by in counters.
const CounterConnector = "jk"

// CounterNames are the workers that are counted: those of worker.list which are
// back ends or balancers, and the balancers' members.
func (c *Config) CounterNames() (names []counters.WorkerName) {
	add := func(name string) {
		names = append(names, counters.WorkerName{Name: name, Connector: CounterConnector})
	}
	for i := range c.Workers {
		if t := c.Workers[i].Type; t == AJP13 || t == LB {
			add(c.Workers[i].Name)
		}
	}
	for i := range c.Workers {
		if lb := c.Workers[i].LB; lb != nil {
			for j := range lb.Members {
				add(lb.Members[j].Name)
			}
		}
	}
	return names
}

// tallies gives each worker the record in which it counts: that of the table,
// or one of its own.
func tallies(t *counters.Table, server int) func(name string) *counters.Record {
	return func(name string) *counters.Record {
		if t == nil {
			return new(counters.Record)
		}
		return t.Record(server, CounterConnector, name)
	}
}

// Record is where the requests for the back end are counted.
func (w *worker) Record() *counters.Record { return w.tally }

// Record is where the requests for the balancer are counted.
func (b *balancer) Record() *counters.Record { return b.tally }
