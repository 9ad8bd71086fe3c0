package jk

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
	"jkd/connector/jk/status"
)

// Snapshot implements status.Control. Every number is read for itself while
// requests go on: they need not fit each other to the last one.
func (p *control) Snapshot(dst *status.View) {
	c := p.c
	dst.Software = status.Software{WebServer: c.software, JKVersion: c.software}
	dst.Configuration = c.config.effective
	m := c.current()
	for i := range c.config.Workers {
		w := &c.config.Workers[i]
		switch w.Type {
		case LB:
			b := p.balancer(c.lbs[i])
			b.Maps = m.of(i)
			dst.Balancers = append(dst.Balancers, b)
		case AJP13:
			a := p.ajp(c.workers[i])
			a.Maps = m.of(i)
			dst.AJP = append(dst.AJP, a)
		}
	}
}

func (p *control) balancer(b *balancer) status.Balancer {
	v := b.settings()
	out := status.Balancer{
		Name: b.name, StickySession: v.s.StickySession, StickySessionForce: v.s.StickySessionForce,
		Retries: v.s.Retries, RetryInterval: v.s.RetryInterval, RecoverTime: v.s.RecoverTime, ErrorEscalationTime: v.s.ErrorEscalationTime,
		MaxReplyTimeouts: v.s.MaxReplyTimeouts, Method: v.s.Method, Lock: v.s.Lock, LastReset: b.rec.LastReset.Load(),
	}
	now, every := p.now.Unix(), p.c.config.Maintain
	if every > 0 { // else there is no maintenance to wait for
		last := b.rec.LastMaintenance.Load()
		if last == 0 {
			last = now // the master has just begun
		}
		out.TimeToMaintenanceMin, out.TimeToMaintenanceMax = status.NextMaintenance(last, now, every)
	}
	for i, w := range b.members {
		rec, s := b.rec.Member(i), &v.members[i]
		m := status.Member{
			Endpoint: endpoint(w), Counters: counts(w.rec),
			Activation: s.Activation, LBFactor: s.Factor, Route: s.Route, Redirect: s.Redirect, Domain: s.Domain, Distance: s.Distance,
			State: rec.State(), LBMult: s.Mult, LBValue: rec.LBValue.Load(), Elected: rec.Elected.Load(), Sessions: rec.Sessions.Load(),
		}
		// What the balancer thinks of the member, not what others it is in do.
		m.Errors, m.ReplyTimeouts = rec.Errors.Load(), rec.ReplyTimeouts.Load()
		m.LastReset, m.ErrorTime = rec.LastReset.Load(), rec.FirstError.Load()
		if v.s.Method == balance.ByBusyness {
			m.LBValue = balance.BusyValue(m.LBMult, uint64(m.Busy))
		}
		if m.State == balance.Error && every > 0 {
			m.TimeToRecoverMin, m.TimeToRecoverMax = status.NextRecovery(rec.LastError.Load(), now, v.s.RecoverTime, out.TimeToMaintenanceMin, every)
		}
		out.Busy += m.Busy
		out.MaxBusy = max(out.MaxBusy, m.MaxBusy)
		out.Members = append(out.Members, m)
	}
	out.MaxBusy = max(out.MaxBusy, out.Busy, int(min(b.rec.MaxBusy.Load(), jkshm.MaxGauge)))
	return out
}

func (p *control) ajp(w *worker) status.AJP {
	a := status.AJP{Endpoint: endpoint(w), Counters: counts(w.rec), Used: w.rec.Used.Load()}
	switch w.rec.State() {
	case jkshm.WorkerIdle:
		a.State = balance.Idle
	case jkshm.WorkerOK:
		a.State = balance.OK
	case jkshm.WorkerProbe:
		a.State = balance.Probe
	default:
		a.State = balance.Error
	}
	return a
}

// endpoint is the settings of a back end that count now.
func endpoint(w *worker) status.Endpoint {
	var s jkshm.WorkerSettings
	w.rec.Load(&s)
	if !s.RecoveryOptionsSet {
		// Not 0, which would be something else and could not be asked for.
		s.RecoveryOptions = int(defaultRecovery)
	}
	return status.Endpoint{
		Name: w.name, Host: s.Host, Port: s.Port, Address: address(w.rec, &s), Source: w.cfg.Source,
		ConnectionPoolTimeout: s.ConnectionPoolTimeout, PingTimeout: s.PingTimeout, ConnectTimeout: s.ConnectTimeout,
		PrepostTimeout: s.PrepostTimeout, ReplyTimeout: s.ReplyTimeout, ConnectionPingInterval: s.ConnectionPingInterval,
		Retries: s.Retries, RetryInterval: s.RetryInterval, RecoveryOptions: s.RecoveryOptions,
		BusyLimit: s.BusyLimit, MaxPacketSize: s.MaxPacketSize,
	}
}

// address is the first of the addresses of a back end, which is the one that
// is tried first. "": its name is not resolved.
func address(rec *jkshm.Worker, s *jkshm.WorkerSettings) string {
	if a, err := netip.ParseAddr(s.Host); err == nil {
		return net.JoinHostPort(a.String(), strconv.Itoa(s.Port))
	}
	var a jkshm.Addresses
	if rec.LoadAddresses(&a); a.Resolved && len(a.List) > 0 {
		return a.List[0].String()
	}
	return ""
}

// counts is what all processes have counted of a back end.
func counts(rec *jkshm.Worker) status.Counters {
	return status.Counters{
		Errors: rec.Errors.Load(), ClientErrors: rec.ClientErrors.Load(), ReplyTimeouts: rec.ReplyTimeouts.Load(),
		Transferred: rec.Transferred.Load(), Read: rec.Read.Load(), Busy: rec.Busy(), MaxBusy: rec.MaxBusy(),
		Connected: rec.Connected(), MaxConnected: rec.MaxConnected(), LastReset: rec.LastReset.Load(), ErrorTime: rec.ErrorTime.Load(),
	}
}

// of lists the rules of all servers that lead to a worker, or away from it, in
// the order of precedence.
func (m *mapping) of(index int) []status.Map {
	var out []status.Map
	for i, u := range m.setup.Maps {
		server := m.setup.serverName(i)
		for _, r := range u.rules {
			if r.Index == index || r.Index == AnyWorker {
				out = append(out, mapOf(r, server))
			}
		}
	}
	return out
}

var mapSources = map[RuleSource]status.MapSource{FromWorker: status.FromWorker, FromMount: status.FromMount, FromFile: status.FromMountMap}

func mapOf(r *Rule, server string) status.Map {
	x := &r.Extensions
	m := status.Map{
		Server: server, URI: r.Pattern, Disabled: r.Disabled, Unmount: r.Exclude, Exact: !strings.ContainsAny(r.Pattern, "*?"),
		Source: mapSources[r.Source], ReplyTimeout: -1, StickyIgnore: x.StickyIgnore, Stateless: x.Stateless,
		UseServerErrors: x.UseServerErrors,
	}
	if x.ReplyTimeoutSet {
		m.ReplyTimeout = x.ReplyTimeout
	}
	var codes []string
	for _, s := range x.FailOnStatus {
		code := strconv.Itoa(s.Code)
		if s.Soft {
			code = "-" + code
		}
		codes = append(codes, code)
	}
	m.FailOnStatus = strings.Join(codes, ",")
	lists := map[Activation]*string{Active: &m.Active, Disabled: &m.DisabledMembers, Stopped: &m.Stopped}
	for _, a := range x.Activations {
		list := lists[a.Activation]
		if *list != "" {
			*list += ","
		}
		*list += a.Member
	}
	return m
}
