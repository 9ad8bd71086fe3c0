package jk

import (
	"unsafe"

	"jkd/connector/jk/jkshm"
)

// SegmentLayout is what the shared segment of a configuration holds, for so
// many processes: a record for each back end by its name, listed or a member
// or both, and one for each balancer.
func SegmentLayout(c *Config, servers int) jkshm.Layout {
	l := jkshm.Layout{Servers: servers}
	at := map[string]int{}
	add := func(w *WorkerConfig) int {
		i, ok := at[w.Name]
		if !ok {
			i = len(l.Workers)
			at[w.Name] = i
			l.Workers = append(l.Workers, jkshm.WorkerLayout{Name: w.Name})
		}
		return i
	}
	for i := range c.Workers {
		if w := &c.Workers[i]; w.Type == AJP13 {
			add(w)
		}
	}
	for _, w := range c.balancers() {
		b := jkshm.BalancerLayout{Name: w.Name}
		for j := range w.LB.Members {
			b.Members = append(b.Members, add(&w.LB.Members[j]))
		}
		l.Balancers = append(l.Balancers, b)
	}
	return l
}

// FormatSegment makes zeroed memory of the size of [SegmentLayout] a segment
// that holds what the configuration says of balancers and their members.
func FormatSegment(mem []byte, c *Config, servers int) (*jkshm.Segment, error) {
	s, err := jkshm.Format(mem, SegmentLayout(c, servers))
	if err != nil {
		return nil, err
	}
	for n, w := range c.balancers() {
		b := s.Balancer(n)
		if err := b.Configure(w.LB.settings()); err != nil {
			return nil, err
		}
		for j := range w.LB.Members {
			m := &w.LB.Members[j].Member
			err := b.Member(j).Configure(jkshm.MemberSettings{
				Activation: m.Activation, LBFactor: m.LBFactor, Route: m.Route, Redirect: m.Redirect, Domain: m.Domain, Distance: m.Distance,
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// balancers are the workers of type lb, in the order of their records in the
// segment.
func (c *Config) balancers() []*WorkerConfig {
	var out []*WorkerConfig
	for i := range c.Workers {
		if w := &c.Workers[i]; w.Type == LB {
			out = append(out, w)
		}
	}
	return out
}

func (l *LBConfig) settings() jkshm.BalancerSettings {
	return jkshm.BalancerSettings{
		StickySession: l.StickySession, StickySessionForce: l.StickySessionForce, Retries: l.Retries, RetryInterval: l.RetryInterval,
		RecoverTime: l.RecoverTime, ErrorEscalationTime: l.ErrorEscalationTime, MaxReplyTimeouts: l.MaxReplyTimeouts, Method: l.Method, Lock: l.Lock,
	}
}

// private is a segment of this process alone.
func private(c *Config) (*jkshm.Segment, error) {
	size, err := jkshm.Size(SegmentLayout(c, 1))
	if err != nil {
		return nil, err
	}
	words := make([]uint64, (size+7)/8) // aligned as a segment has to be
	return FormatSegment(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), c, 1)
}
