package jk

import (
	"fmt"
	"net/netip"
	"time"

	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
	"jkd/connector/jk/status"
)

// control is what one request to a status worker sees and changes. All of it
// lies in the shared segment: a change made by this process is obeyed by the
// others with their next request.
type control struct {
	c   *Connector
	now time.Time
}

var _ status.Control = (*control)(nil)

// find is the listed worker of that name: a balancer or a single back end.
func (p *control) find(name string) (*balancer, *worker, error) {
	i := p.c.config.index(name)
	if i >= 0 && p.c.lbs[i] != nil {
		return p.c.lbs[i], nil, nil
	}
	if i >= 0 && p.c.workers[i] != nil {
		return nil, p.c.workers[i], nil
	}
	return nil, nil, fmt.Errorf("there is no worker '%s'", name)
}

// member is a member of a balancer.
func (p *control) member(w, sw string) (*balancer, int, error) {
	b, _, err := p.find(w)
	if err != nil {
		return nil, 0, err
	}
	if b != nil {
		for i, name := range b.names {
			if name == sw {
				return b, i, nil
			}
		}
	}
	return nil, 0, fmt.Errorf("worker '%s' has no member '%s'", w, sw)
}

// Update implements status.Control.
func (p *control) Update(w, sw string, changes []status.Change) error {
	server := p.c.server
	if sw != "" {
		b, i, err := p.member(w, sw)
		if err != nil {
			return err
		}
		if err := updateMember(server, b, i, changes); err != nil {
			return err
		}
		return p.updateWorker(b.members[i].rec, changes)
	}
	b, a, err := p.find(w)
	switch {
	case err != nil:
		return err
	case a != nil:
		return p.updateWorker(a.rec, changes)
	}
	return b.rec.Update(server, func(s *jkshm.BalancerSettings) error {
		for _, c := range changes {
			setBalancer(s, c)
		}
		return nil
	})
}

// updateMember changes what belongs to the member of a balancer. A member that
// comes into service, or leaves it, begins with all others at 0: else it would
// get every request until it had made up for the time it was away. Multipliers
// need nothing: they are made from the factors when these have changed.
func updateMember(server int, b *balancer, i int, changes []status.Change) error {
	mine, activation := false, false
	for _, c := range changes {
		mine = mine || setMember(&jkshm.MemberSettings{}, c)
		activation = activation || c.Attribute == status.Activation
	}
	if !mine {
		return nil
	}
	err := b.rec.Member(i).Update(server, func(s *jkshm.MemberSettings) error {
		for _, c := range changes {
			setMember(s, c)
		}
		return nil
	})
	if err != nil || !activation {
		return err
	}
	if b.settings().s.Method != balance.ByBusyness {
		for j := range b.rec.Members() {
			b.rec.Member(j).LBValue.Store(0)
		}
	}
	return nil
}

// updateWorker changes what belongs to a back end, in all balancers it is in.
func (p *control) updateWorker(rec *jkshm.Worker, changes []status.Change) error {
	mine := false
	for _, c := range changes {
		mine = mine || setWorker(&jkshm.WorkerSettings{}, c)
	}
	if !mine {
		return nil
	}
	var old, now jkshm.WorkerSettings
	var addrs jkshm.Addresses
	rec.LoadAddresses(&addrs)
	err := rec.Update(p.c.server, func(s *jkshm.WorkerSettings) error {
		old = *s
		for _, c := range changes {
			setWorker(s, c)
		}
		now = *s
		return nil
	})
	if err != nil || now.Host == old.Host || now.Port == 0 {
		return err
	}
	if _, err := netip.ParseAddr(now.Host); err == nil {
		return nil
	}
	if p.resolved(rec) {
		return nil
	}
	// A slip of the pen must not take a back end out of service.
	err = rec.Edit(p.c.server, func(s *jkshm.WorkerSettings, a *jkshm.Addresses) error {
		if s.Host == now.Host {
			s.Host, *a = old.Host, addrs
			for i, addr := range a.List {
				a.List[i] = netip.AddrPortFrom(addr.Addr(), uint16(s.Port))
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("host '%s' could not be resolved, and host '%s' could not be restored: %w", now.Host, old.Host, err)
	}
	return fmt.Errorf("host '%s' could not be resolved, host '%s' is restored", now.Host, old.Host)
}

const (
	// lookUpWait is how long a change of a host waits for the master to look
	// the name up, lookUpPause how often it looks.
	lookUpWait  = 6 * time.Second
	lookUpPause = 10 * time.Millisecond
)

// resolved waits until the new host of a back end has addresses. It is false
// when the master says that there are none, or says nothing at all.
func (p *control) resolved(rec *jkshm.Worker) bool {
	end := time.Now().Add(lookUpWait)
	for range 2 { // the first answer may be one about the old host
		rec.Suspect()
		for before := rec.LookUps.Load(); rec.LookUps.Load() == before && time.Now().Before(end); {
			time.Sleep(lookUpPause)
			var a jkshm.Addresses
			if rec.LoadAddresses(&a); a.Resolved {
				return true
			}
		}
	}
	var a jkshm.Addresses
	rec.LoadAddresses(&a)
	return a.Resolved
}

func setBalancer(s *jkshm.BalancerSettings, c status.Change) {
	switch c.Attribute {
	case status.LBRetries:
		s.Retries = c.Int
	case status.LBRetryInterval:
		s.RetryInterval = c.Duration
	case status.LBRecoverTime:
		s.RecoverTime = c.Duration
	case status.LBErrorEscalationTime:
		s.ErrorEscalationTime = c.Duration
	case status.LBMaxReplyTimeouts:
		s.MaxReplyTimeouts = c.Int
	case status.LBStickySession:
		s.StickySession = c.Int != 0
	case status.LBStickySessionForce:
		s.StickySessionForce = c.Int != 0
	case status.LBMethod:
		s.Method = balance.Method(c.Int)
	case status.LBLock:
		s.Lock = balance.Lock(c.Int)
	}
}

// setMember makes a change to s if it is one of a member.
func setMember(s *jkshm.MemberSettings, c status.Change) bool {
	switch c.Attribute {
	case status.Activation:
		s.Activation = balance.Activation(c.Int)
	case status.LBFactor:
		s.LBFactor = c.Int
	case status.Route:
		s.Route = c.Text
	case status.Redirect:
		s.Redirect = c.Text
	case status.Domain:
		s.Domain = c.Text
	case status.Distance:
		s.Distance = c.Int
	default:
		return false
	}
	return true
}

// setWorker makes a change to s if it is one of a back end.
func setWorker(s *jkshm.WorkerSettings, c status.Change) bool {
	switch c.Attribute {
	case status.Host:
		s.Host = c.Text
	case status.Port:
		s.Port = c.Int
	case status.ConnectionPoolTimeout:
		s.ConnectionPoolTimeout = c.Duration
	case status.PingTimeout:
		s.PingTimeout = c.Duration
	case status.ConnectTimeout:
		s.ConnectTimeout = c.Duration
	case status.PrepostTimeout:
		s.PrepostTimeout = c.Duration
	case status.ReplyTimeout:
		s.ReplyTimeout = c.Duration
	case status.Retries:
		s.Retries = c.Int
	case status.RetryInterval:
		s.RetryInterval = c.Duration
	case status.ConnectionPingInterval:
		s.ConnectionPingInterval = c.Duration
	case status.RecoveryOptions:
		s.RecoveryOptions, s.RecoveryOptionsSet = c.Int, true
	case status.BusyLimit:
		s.BusyLimit = c.Int
	case status.MaxPacketSize:
		s.MaxPacketSize = c.Int
	default:
		return false
	}
	return true
}

// Reset implements status.Control.
func (p *control) Reset(w, sw string, now time.Time) error {
	at := now.Unix()
	member := func(b *balancer, i int) {
		b.rec.Member(i).Reset(at)
		b.members[i].rec.Reset(at)
	}
	if sw != "" {
		b, i, err := p.member(w, sw)
		if err != nil {
			return err
		}
		member(b, i)
		return nil
	}
	b, a, err := p.find(w)
	switch {
	case err != nil:
		return err
	case a != nil:
		a.rec.Reset(at)
		return nil
	}
	b.rec.Reset(at)
	for i := range b.members {
		member(b, i)
	}
	return nil
}

// Recover implements status.Control. The member comes back with as much load
// on its account as the most loaded one has, so that it gets its share and not
// everything.
func (p *control) Recover(w, sw string) error {
	b, i, err := p.member(w, sw)
	if err != nil {
		return err
	}
	m := b.rec.Member(i)
	if !m.CompareAndSwapState(balance.Error, balance.Error.On(balance.Due)) {
		return fmt.Errorf("member '%s' is not in error any more", sw)
	}
	m.ReplyTimeouts.Store(0)
	if b.settings().s.Method != balance.ByBusyness {
		most := uint64(0)
		for j := range b.rec.Members() {
			most = max(most, b.rec.Member(j).LBValue.Load())
		}
		m.LBValue.Raise(most)
	}
	return nil
}
