package jk

import (
	"time"
	"unsafe"

	"jkd/connector/jk/jkshm"
)

// SegmentLayout is what the shared segment of a configuration holds, for so
// many processes: a record for each back end by its name, listed or a member
// or both, one for each balancer, and room for each of [Setup.MapFiles].
func SegmentLayout(s *Setup, servers int) jkshm.Layout {
	l := jkshm.Layout{Servers: servers}
	at := map[string]int{}
	for _, w := range s.Config.backEnds() {
		at[w.Name] = len(l.Workers)
		l.Workers = append(l.Workers, jkshm.WorkerLayout{Name: w.Name})
	}
	for _, w := range s.Config.balancers() {
		b := jkshm.BalancerLayout{Name: w.Name}
		for j := range w.LB.Members {
			b.Members = append(b.Members, at[w.LB.Members[j].Name])
		}
		l.Balancers = append(l.Balancers, b)
	}
	for _, f := range s.MapFiles() {
		l.Maps = append(l.Maps, mapRoom(len(f.Data)))
	}
	return l
}

// Room for a map file: it may grow while jkd runs, to leastMapRoom in any case
// and otherwise to several times its size. Pages that were never written to
// cost nothing.
const (
	leastMapRoom = 1 << 20
	mapGrowth    = 8
)

func mapRoom(n int) int {
	return min(max(leastMapRoom, mapGrowth*n), jkshm.MaxMapSize)
}

// FormatSegment makes zeroed memory of the size of [SegmentLayout] a segment
// that holds what the configuration says of back ends, balancers and their
// members. All counters are counted from now on.
func FormatSegment(mem []byte, setup *Setup, servers int) (*jkshm.Segment, error) {
	c := setup.Config
	s, err := jkshm.Format(mem, SegmentLayout(setup, servers))
	if err != nil {
		return nil, err
	}
	now := time.Now().Unix()
	for i, w := range c.backEnds() {
		s.Worker(i).LastReset.Store(now)
		if err := s.Worker(i).Configure(w.AJP.settings(), jkshm.Addresses{}); err != nil {
			return nil, err
		}
	}
	for n, w := range c.balancers() {
		b := s.Balancer(n)
		b.LastReset.Store(now)
		if err := b.Configure(w.LB.settings()); err != nil {
			return nil, err
		}
		for j := range w.LB.Members {
			m := &w.LB.Members[j].Member
			b.Member(j).LastReset.Store(now)
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

// backEnds are the workers of type ajp13, each name once, in the order of
// their records in the segment: those of worker.list, then those that are
// members only. Of a name that is there more than once the first is as good as
// any: they differ in their secrets only.
func (c *Config) backEnds() []*WorkerConfig {
	var out []*WorkerConfig
	seen := map[string]bool{}
	add := func(w *WorkerConfig) {
		if !seen[w.Name] {
			seen[w.Name] = true
			out = append(out, w)
		}
	}
	for i := range c.Workers {
		if w := &c.Workers[i]; w.Type == AJP13 {
			add(w)
		}
	}
	for _, w := range c.balancers() {
		for j := range w.LB.Members {
			add(&w.LB.Members[j])
		}
	}
	return out
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

func (a *AJPConfig) settings() jkshm.WorkerSettings {
	return jkshm.WorkerSettings{
		Host: a.Host, Port: a.Port, ConnectionPoolTimeout: a.Cache.Timeout, PingTimeout: a.PingTimeout, ConnectTimeout: a.ConnectTimeout,
		PrepostTimeout: a.PrepostTimeout, ReplyTimeout: a.ReplyTimeout, Retries: a.Retries, RetryInterval: a.RetryInterval,
		ConnectionPingInterval: a.ConnectionPingInterval, RecoveryOptions: int(a.RecoveryOptions), RecoveryOptionsSet: a.RecoveryOptionsSet,
		BusyLimit: a.BusyLimit, MaxPacketSize: a.MaxPacketSize, MaxConnections: a.MaxConnections,
	}
}

// private is a segment of this process alone.
func private(s *Setup) (*jkshm.Segment, error) {
	size, err := jkshm.Size(SegmentLayout(s, 1))
	if err != nil {
		return nil, err
	}
	words := make([]uint64, (size+7)/8) // aligned as a segment has to be
	return FormatSegment(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), s, 1)
}
