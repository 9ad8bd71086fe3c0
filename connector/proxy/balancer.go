package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/counters"
)

// balancer is one balancer in this process. What it knows of its members is the
// process's own.
type balancer struct {
	*Balancer
	name  string
	tally *counters.Record
	log   zerolog.Logger

	mu      sync.Mutex // guards the numbers of the members
	members []*member
	ranks   [][]*member // see elect; not changed
	room    []*member   // for pick
}

// member is a member in the eyes of its balancer.
type member struct {
	*worker
	status int64  // lbstatus, of byrequests and, between equals, bybusyness
	bytes  uint64 // passed either way, of bytraffic
	busy   int
}

func newBalancer(b *Balancer, c *Connector) *balancer {
	x := &balancer{Balancer: b, name: balancerName(b.Name), tally: c.tally(balancerName(b.Name)), log: c.log}
	for _, i := range b.Members {
		x.members = append(x.members, &member{worker: c.workers[i]})
	}
	x.rank()
	return x
}

// choose finds the member for the next attempt and counts it as busy; nil if
// there is none. tried are those that have failed with this request.
func (b *balancer) choose(route string, tried []*member) *member {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.byRoute(route, tried)
	if m == nil && (route == "" || !b.NoFailover || b.known(route) == nil) {
		m = b.elect(tried)
		if m == nil && b.ForceRecovery && len(tried) == 0 {
			for _, o := range b.members {
				o.failedAt.Store(0)
			}
			m = b.elect(tried)
		}
	}
	if m != nil {
		m.busy++
	}
	return m
}

func (b *balancer) known(route string) *member {
	for _, m := range b.members {
		if route != "" && m.Route == route {
			return m
		}
	}
	return nil
}

// byRoute is the member that a session belongs to, or the one that is to take
// its place.
func (b *balancer) byRoute(route string, tried []*member) *member {
	m := b.known(route)
	if m == nil {
		return nil
	}
	now := m.now()
	if m.usable(now) && !slices.Contains(tried, m) {
		return m
	}
	if m = b.known(m.Redirect); m != nil && m.usable(now) && !slices.Contains(tried, m) {
		return m
	}
	return nil
}

// rank sorts the members into those that are asked before others: the lower set
// first, in a set ordinary members first, then hot spares, then hot standbys.
func (b *balancer) rank() {
	kind := func(m *member) int {
		switch {
		case m.Standby:
			return 2
		case m.Spare:
			return 1
		}
		return 0
	}
	sorted := slices.Clone(b.members)
	order := func(m, o *member) int { return cmp.Or(cmp.Compare(m.Set, o.Set), cmp.Compare(kind(m), kind(o))) }
	slices.SortStableFunc(sorted, order)
	for i, m := range sorted {
		if i == 0 || order(sorted[i-1], m) != 0 {
			b.ranks = append(b.ranks, nil)
		}
		b.ranks[len(b.ranks)-1] = append(b.ranks[len(b.ranks)-1], m)
	}
}

// elect finds the member that has least to do among the first of ranks that has
// any that may get a request.
func (b *balancer) elect(tried []*member) *member {
	if len(b.members) == 0 {
		return nil
	}
	now := b.members[0].now()
	for _, rank := range b.ranks {
		b.room = b.room[:0]
		for _, m := range rank {
			if !m.Drain && m.usable(now) && !slices.Contains(tried, m) {
				b.room = append(b.room, m)
			}
		}
		if m := b.pick(b.room); m != nil {
			return m
		}
	}
	return nil
}

// pick is mod_lbmethod_byrequests, bytraffic and bybusyness.
func (b *balancer) pick(from []*member) (best *member) {
	total := int64(0)
	for _, m := range from {
		if b.Method != ByTraffic {
			m.status += int64(m.Factor)
			total += int64(m.Factor)
		}
		if best == nil || b.better(m, best) {
			best = m
		}
	}
	if best != nil && b.Method != ByTraffic {
		best.status -= total
	}
	return best
}

func (b *balancer) better(m, best *member) bool {
	switch b.Method {
	case ByTraffic:
		return m.bytes*uint64(best.Factor) < best.bytes*uint64(m.Factor)
	case ByBusyness:
		if m.busy != best.busy {
			return m.busy < best.busy
		}
	}
	return m.status > best.status
}

// done enters what became of a request with a member.
func (b *balancer) done(m *member, c *call) {
	b.mu.Lock()
	m.busy--
	m.bytes += c.read + uint64(max(c.r.ContentLength, 0))
	b.mu.Unlock()
}

var errNobody = errors.New("no member of the balancer is left")

// serve gives the request of c to one member after the other until one has
// answered it or it may not be sent again.
func (b *balancer) serve(c *call) *connector.Error {
	route := ""
	if b.Cookie != "" {
		route = b.sessionRoute(c)
	}
	attempts := b.MaxAttempts
	if attempts < 0 {
		attempts = max(len(b.members)-1, 0)
	}
	var tried []*member
	var last *connector.Error
	for {
		m := b.choose(route, tried)
		if m == nil {
			e := &connector.Error{Worker: b.name, Op: "choose worker", Status: 503, Err: errNobody}
			if last != nil {
				e.Addr, e.Err = last.Addr, errors.Join(errNobody, last)
			}
			return e
		}
		c.route, c.read = m.Route, 0
		out := b.try(m, c)
		if out.err == nil {
			return nil
		}
		if !out.err.Client && !out.err.Own {
			m.pool.tally.Error() // the front counts those of the balancer
		}
		if !out.other || route != "" && b.NoFailover && m.Route == route || len(tried) >= attempts {
			return out.err
		}
		tried, last = append(tried, m), out.err
		b.log.Info().Int("thread", c.r.Thread).Str("worker", b.name).Str("member", m.name).AnErr("cause", last).Msg("the member failed, trying another one")
	}
}

func (b *balancer) try(m *member, c *call) outcome {
	defer b.done(m, c) // also when the writer panics
	out := m.serve(c)
	failed := slices.Contains(b.FailStatuses, c.answer.status) ||
		out.err != nil && !out.err.Client && !out.err.Own && (slices.Contains(b.FailStatuses, out.err.Status) || b.FailTimeout && out.err.Status == 504)
	if failed {
		m.failed()
		b.log.Warn().Int("thread", c.r.Thread).Str("worker", b.name).Str("member", m.name).Int("status", max(c.answer.status, 0)).Msg("the member is in error by failonstatus or failontimeout")
	}
	return out
}

// sessionRoute finds the route of the session of a request: in its path, its
// query or a cookie.
func (b *balancer) sessionRoute(c *call) string {
	if id := parameter(c.r.Path, b.Param, ";/"); id != nil {
		return b.routeOf(id)
	}
	if id := parameter(c.r.Query, b.Param, "&"); id != nil {
		return b.routeOf(id)
	}
	c.cookies = connector.AppendValues(c.cookies[:0], c.r.Fields, "cookie")
	for _, v := range c.cookies {
		for part := range bytes.SplitSeq(v, []byte{';'}) {
			name, value, ok := bytes.Cut(bytes.Trim(part, " \t"), []byte{'='})
			if ok && string(name) == b.Cookie {
				if r := b.routeOf(bytes.Trim(value, `"`)); r != "" {
					return r
				}
			}
		}
	}
	return ""
}

// parameter finds name=value in a text of several that one of the separators
// ends. In a path the first separator begins them.
func parameter(text []byte, name, separators string) []byte {
	first := separators == "&"
	for len(text) > 0 {
		i := bytes.IndexAny(text, separators)
		part, sep := text, byte(0)
		if i >= 0 {
			part, sep, text = text[:i], text[i], text[i+1:]
		} else {
			text = nil
		}
		if first && len(part) > len(name) && part[len(name)] == '=' && string(part[:len(name)]) == name {
			return part[len(name)+1:]
		}
		first = separators == "&" || sep == ';'
	}
	return nil
}

// routeOf is what follows the separator in a session's id.
func (b *balancer) routeOf(id []byte) string {
	if b.Separator == 0 {
		return string(id)
	}
	_, route, _ := strings.Cut(string(id), string(rune(b.Separator)))
	return route
}
