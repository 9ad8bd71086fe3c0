package jk

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
)

// balancer is an lb worker: several back ends behind one name. What it knows
// of them lies in the shared segment, so that all processes balance as one.
type balancer struct {
	name    string
	cfg     *LBConfig
	seg     *jkshm.Segment
	rec     *jkshm.Balancer
	members []*worker
	names   []string
	server  int
	tally   *counters.Record // of requests for the balancer
	now     func() time.Time

	view  atomic.Pointer[lbView]
	calls calls
}

// lbView is a copy of the settings, which edits may change.
type lbView struct {
	edits   uint64
	s       jkshm.BalancerSettings
	members []balance.Member // settings only
	packet  int              // the smallest packet size of the members
}

// settings returns the current settings. One load tells that nothing changed.
func (b *balancer) settings() *lbView {
	edits := b.seg.Edits()
	if v := b.view.Load(); v != nil && v.edits == edits {
		return v
	}
	v := &lbView{edits: edits, members: make([]balance.Member, len(b.members)), packet: mostPacketSize}
	b.rec.Load(&v.s)
	for i := range v.members {
		var m jkshm.MemberSettings
		b.rec.Member(i).Load(&m)
		v.packet = min(v.packet, b.members[i].packetSize())
		v.members[i] = balance.Member{
			Route: m.Route, Domain: m.Domain, Redirect: m.Redirect, Distance: m.Distance, Factor: m.LBFactor, Activation: m.Activation,
		}
	}
	balance.Multipliers(v.members)
	b.view.Store(v)
	return v
}

// lbTarget is a balancer as one rule of one server has it.
type lbTarget struct {
	*balancer
	site     *site
	ext      *Extensions
	override balance.Override
}

func newTarget(b *balancer, s *site, x *Extensions) *lbTarget {
	var lists [3][]string
	for _, a := range x.Activations {
		if int(a.Activation) < len(lists) {
			lists[a.Activation] = append(lists[a.Activation], a.Member)
		}
	}
	o, _ := balance.NewOverride(b.names, lists[Active], lists[Disabled], lists[Stopped]) // unknown names were warned of
	return &lbTarget{balancer: b, site: s, ext: x, override: o}
}

// Name implements connector.Worker.
func (b *balancer) Name() string { return b.name }

// Service implements connector.Worker.
func (t *lbTarget) Service(r *connector.Request, rw connector.ResponseWriter) error {
	return t.calls.serve(t.name, LB, t.site, t.ext, r, rw, t.serve)
}

func (t *lbTarget) serve(c *call) *connector.Error {
	// Made out to nobody yet: a request that fits no packet is not the fault of
	// any member, and the beginning of the body is read before one is chosen.
	v := t.settings()
	if err := c.fwd.Encode(&c.req, v.packet); err != nil {
		return encodeError(t.name, err)
	}
	forced := c.route // JK_ROUTE
	t.sessions(c, v)
	c.members = append(c.members[:0], v.members...)
	for i := range c.members {
		c.members[i].Activation = t.override.Effective(i, c.members[i].Activation)
	}
	var fail *connector.Error
	attempts := balance.NewAttempts(len(t.members), t.cfg.LBRetries, v.s.Retries)
	for report := balance.Start; ; {
		switch attempts.Next(report) {
		case balance.Try:
			report, fail = t.try(c, v, forced, report == balance.Start)
			if fail == nil {
				return nil
			}
		case balance.Rest:
			if !c.out.pause(v.s.RetryInterval) {
				fail = leftError(t.name)
				t.tell(c.log, balance.Done, fail)
				return fail
			}
			for i := range c.members {
				c.members[i].Failed = false
			}
			report = balance.Rested
		case balance.Revive:
			report = t.revive(c)
		default:
			if fail == nil {
				fail = t.nobody()
			}
			t.tell(c.log, report, fail)
			return fail
		}
	}
}

// nobody is the failure to find a member.
func (t *lbTarget) nobody() *connector.Error {
	return &connector.Error{Worker: t.name, Op: "choose member", Status: 503, Err: errNobody}
}

var errNobody = errors.New("no member of the balancer can be used")

// sessions says where the session ids of the request are.
func (t *lbTarget) sessions(c *call, v *lbView) {
	c.ids = balance.IDs{}
	if c.route != "" {
		c.ids.Route = []byte(c.route)
		return
	}
	if !v.s.StickySession || c.ignoreSticky {
		return
	}
	c.ids.Cookie, c.ids.Param, c.ids.Path = t.cfg.SessionCookie, t.cfg.SessionPath, c.req.Path
	if t.ext.SessionCookie != "" {
		c.ids.Cookie = t.ext.SessionCookie
	}
	if t.ext.SessionPath != "" {
		c.ids.Param = t.ext.SessionPath
	}
	c.cookies = connector.AppendValues(c.cookies[:0], c.req.Fields, "cookie")
	c.ids.Cookies = c.cookies
}

// look reads what all processes know of the members.
func (t *lbTarget) look(c *call, v *lbView) {
	for i := range c.members {
		m, rec := &c.members[i], t.rec.Member(i)
		m.State = rec.State()
		if !t.members[i].reachable() {
			m.State = balance.Error // for this request; it is no failure of the member
			continue
		}
		if m.State == balance.Busy && t.room(i) {
			rec.CompareAndSwapState(balance.Busy, balance.OK)
			m.State = balance.OK
		}
		if v.s.Method == balance.ByBusyness {
			m.Value = balance.BusyValue(m.Mult, uint64(rec.Worker().Busy()))
		} else {
			m.Value = rec.LBValue.Load()
		}
	}
}

// room tells whether a member that was full may be tried again.
func (t *lbTarget) room(i int) bool {
	w := t.members[i]
	limit := w.live().s.BusyLimit
	return (limit <= 0 || w.rec.Busy() < limit) && w.pool.room()
}

// elect picks a member and takes the load on its account. When another process
// was faster with the same member, the pick is made again: so all of them
// together count as one.
//
// With lock Pessimistic elections wait for one another besides, for as long as
// that makes sense: without the lock they are as right, only sometimes repeated.
func (t *lbTarget) elect(c *call, v *lbView) (balance.Choice, bool) {
	if v.s.Lock == balance.Pessimistic && t.rec.Lock(t.server) == nil {
		defer t.rec.Unlock(t.server)
	}
	for try := 0; ; try++ {
		t.look(c, v)
		choice := balance.Choose(c.members, &c.ids, balance.Options{From: t.rec.Next(), Stateless: c.stateless, Force: v.s.StickySessionForce})
		if choice.Index < 0 {
			return choice, false
		}
		rec := t.rec.Member(choice.Index)
		m := &c.members[choice.Index]
		probe := m.State == balance.Recover
		if probe && !rec.TryProbe(t.server, t.now().Unix()) {
			if try < maxElections {
				continue
			}
			return balance.Choice{Index: -1}, false
		}
		session := !choice.HasID && !c.stateless
		if add := v.s.Method.Assigned(m.Mult, session); add > 0 && v.s.Method != balance.ByBusyness {
			switch {
			case choice.How != balance.ByElection || probe || try >= maxElections:
				// A probe is nobody else's, and must not be left without a request.
				rec.LBValue.Add(add)
			case !rec.LBValue.CompareAndSwap(m.Value, balance.Add(m.Value, add)):
				continue
			}
		}
		t.rec.SetNext((choice.Index + 1) % len(t.members))
		rec.Elected.Add(1)
		if session {
			rec.Sessions.Add(1)
		}
		return choice, true
	}
}

// maxElections bounds how often an election is repeated because others were
// faster.
const maxElections = 64

// try makes one attempt with one member. What the ids of a request tell is told
// at the first.
func (t *lbTarget) try(c *call, v *lbView, forced string, first bool) (balance.Report, *connector.Error) {
	choice, ok := t.elect(c, v)
	if first && choice.Unknown != nil {
		t.unknown(c.log, choice.Unknown)
	}
	if first && choice.EmptyID {
		c.log.Info().Str("worker", t.name).Msg("Detected empty session identifier")
	}
	if !ok {
		if choice.HasID && v.s.StickySessionForce {
			c.log.Info().Str("worker", t.name).Msg("all workers are in error state for session")
		}
		return balance.None, t.nobody()
	}
	i := choice.Index
	w, rec := t.members[i], t.rec.Member(i)
	c.req.Route, c.req.Activation = choice.RouteSent, c.members[i].Activation.String()
	if forced != "" {
		c.req.Route = forced
	}
	c.out.cookie = t.ownCookie(c, choice, c.members[i].Route)
	c.note("JK_WORKER_ROUTE", c.req.Route)
	before := c.traffic
	timeouts := rec.ReplyTimeouts.Load()
	result, fail := t.send(c, w) // fail with Success: an answer with the front's page
	if add, _ := v.s.Method.Ended(c.members[i].Mult, c.traffic-before); add > 0 {
		rec.LBValue.Add(add)
	}
	if result == balance.ReplyTimeout {
		timeouts = rec.ReplyTimeouts.Add(1)
	}
	now := t.now().Unix()
	verdict := balance.Judge(result, balance.Facts{
		Recoverable: fail != nil && c.failover, ReplyTimeouts: timeouts, MaxReplyTimeouts: uint64(v.s.MaxReplyTimeouts),
		Others: fail != nil && w.rec.Busy() > 0, Refused: fail != nil && errors.Is(fail.Err, syscall.ECONNREFUSED), EscalationTime: v.s.ErrorEscalationTime, FirstError: rec.FirstError.Load(), Now: now,
	})
	if fail != nil && errors.Is(fail.Err, errLeft) {
		// Nothing was asked of the member: what was to be found out about it
		// is left to another.
		verdict = balance.Verdict{Event: balance.Orphaned, Avoid: true}
	}
	t.record(rec, verdict, now)
	c.members[i].Failed = verdict.Avoid
	t.noteMember(c, v, i)
	if result == balance.Success {
		return balance.Done, fail
	}
	fail.Worker = t.name + "/" + w.name
	c.log.Info().Str("worker", t.name).Str("member", w.name).Stringer("result", result).Stringer("state", rec.State()).AnErr("cause", fail).
		Msg(memberWords(result, rec.State(), w.name))
	if verdict.Failover {
		return balance.Again, fail
	}
	return balance.Done, fail
}

// send makes the request out to a member and sends it.
func (t *lbTarget) send(c *call, w *worker) (balance.Result, *connector.Error) {
	c.req.Secret = w.cfg.Secret
	if err := c.fwd.EncodeHead(&c.req); err != nil {
		fail := encodeError(w.name, err)
		w.blame(fail)
		return balance.ClientError, fail
	}
	return w.run(c)
}

// record writes a verdict into the member's record, which others write too.
func (t *lbTarget) record(rec *jkshm.Member, v balance.Verdict, now int64) {
	if v.CountError {
		rec.Errors.Add(1)
	}
	if v.Times != balance.KeepTimes {
		first, last := v.Times.Apply(rec.FirstError.Load(), rec.LastError.Load(), now)
		rec.FirstError.Store(first)
		rec.LastError.Store(last)
	}
	for range maxElections {
		old := rec.State()
		if old == old.On(v.Event) {
			return
		}
		if old == balance.Probe {
			if rec.EndProbe(t.server, old.On(v.Event)) {
				return
			}
			if v.Event != balance.Failed && v.Event != balance.Succeeded {
				return // somebody else's probe
			}
			rec.SetState(old.On(v.Event))
			return
		}
		if rec.CompareAndSwapState(old, old.On(v.Event)) {
			return
		}
	}
}

// revive gives members in error another chance, also those that others have
// just given one.
func (t *lbTarget) revive(c *call) balance.Report {
	force(t.rec, *c.log)
	revived := balance.NoneRevived
	for i := range c.members {
		if t.rec.Member(i).State() == balance.Force && t.members[i].reachable() {
			c.members[i].Failed = false
			revived = balance.Revived
		}
	}
	return revived
}

// unknown counts a session whose route no member has. The log is told of one a
// minute, whichever process meets it: there is one per request where route and
// jvmRoute do not agree.
func (b *balancer) unknown(log *zerolog.Logger, route []byte) {
	n := b.rec.UnknownRoutes.Add(1)
	now, last := b.now().Unix(), b.rec.RouteTold.Load()
	if last <= now && now-last < unknownEvery || !b.rec.RouteTold.CompareAndSwap(last, now) {
		return
	}
	log.Warn().Str("worker", b.name).Str("route", visible(route)).Uint64("unknown_routes", n).
		Msgf("no worker of %s has the route %s of a session: check route here and jvmRoute of the container", b.name, visible(route))
}

// unknownEvery is the least time between two words about unknown routes, in
// seconds.
const unknownEvery = 60

// visible is what a client sent, fit for a log: at most 64 bytes, and those
// that are not printable replaced.
func visible(b []byte) string {
	const most = 64
	more := ""
	if len(b) > most {
		b, more = b[:most], "..."
	}
	out := make([]byte, len(b))
	for i, c := range b {
		if c <= ' ' || c > '~' {
			c = '?'
		}
		out[i] = c
	}
	return string(out) + more
}

// ownCookie is the balancer's own cookie (set_session_cookie), nil for none.
func (t *lbTarget) ownCookie(c *call, choice balance.Choice, route string) []byte {
	if choice.Sticky || !t.cfg.SetSessionCookie && !t.ext.SetSessionCookie {
		return nil
	}
	name := c.ids.Cookie
	if name == "" {
		name = t.cfg.SessionCookie
	}
	path := t.cfg.SessionCookiePath
	if t.ext.SessionCookiePath != "" {
		path = t.ext.SessionCookiePath
	}
	b := append(c.cookie[:0], name...)
	b = append(append(b, "=."...), route...)
	if path != "" {
		b = append(append(b, "; Path="...), path...)
	}
	b = append(b, "; HttpOnly"...)
	if c.req.Secure {
		b = append(b, "; Secure"...)
	}
	c.cookie = b
	return b
}

// encodeError is ajp.RequestError with what helps against a packet that is too
// small.
func encodeError(name string, err error) *connector.Error {
	e := ajp.RequestError(name, err)
	var long *ajp.TooLongError
	if errors.As(err, &long) {
		e.Err = fmt.Errorf("%w: Creating AJP message failed, check max_packet_size here and packetSize of the container's connector", err)
	}
	return e
}
