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
		switch w := &c.Workers[i]; w.Type {
		case AJP13:
			add(w)
		case LB:
			b := jkshm.BalancerLayout{Name: w.Name}
			for j := range w.LB.Members {
				b.Members = append(b.Members, add(&w.LB.Members[j]))
			}
			l.Balancers = append(l.Balancers, b)
		}
	}
	return l
}

// ConfigureSegment writes what the configuration says of balancers and their
// members into a segment that was just formatted.
func ConfigureSegment(s *jkshm.Segment, c *Config) error {
	n := 0
	for i := range c.Workers {
		w := &c.Workers[i]
		if w.Type != LB {
			continue
		}
		b := s.Balancer(n)
		n++
		if err := b.Configure(w.LB.settings()); err != nil {
			return err
		}
		for j := range w.LB.Members {
			m := &w.LB.Members[j].Member
			err := b.Member(j).Configure(jkshm.MemberSettings{
				Activation: m.Activation, LBFactor: m.LBFactor, Route: m.Route, Redirect: m.Redirect, Domain: m.Domain, Distance: m.Distance,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *LBConfig) settings() jkshm.BalancerSettings {
	return jkshm.BalancerSettings{
		StickySession: l.StickySession, StickySessionForce: l.StickySessionForce, Retries: l.Retries, RetryInterval: l.RetryInterval,
		RecoverTime: l.RecoverTime, ErrorEscalationTime: l.ErrorEscalationTime, MaxReplyTimeouts: l.MaxReplyTimeouts, Method: l.Method, Lock: l.Lock,
	}
}

// private is a segment of this process alone.
func private(c *Config) (*jkshm.Segment, error) {
	l := SegmentLayout(c, 1)
	size, err := jkshm.Size(l)
	if err != nil {
		return nil, err
	}
	const line = 128
	mem := make([]byte, size+line)
	off := int(-uintptr(unsafe.Pointer(&mem[0])) & (line - 1))
	s, err := jkshm.Format(mem[off:off+size], l)
	if err != nil {
		return nil, err
	}
	return s, ConfigureSegment(s, c)
}
