package jk

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector/jk/jkshm"
	"jkd/connector/resolve"
)

// Names is what the master does for the host names of back ends: it asks the
// name service for all its children and publishes the answers in the segment.
// A name is asked for again after resolve_ttl, after an edit of the host, and
// soon after a child could not connect to any of its addresses. While a look-up
// fails the last good answer stays in use, and the pauses between attempts grow.
// One goroutine at a time uses it.
type Names struct {
	Config  *Config
	Segment *jkshm.Segment
	Logger  zerolog.Logger
	// Lookup finds the addresses of a name; nil: the system's name service. It
	// ends when the context does and may be called concurrently.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	hosts   map[string]*namedHost
	edits   uint64
	grouped bool
}

const (
	// nameBeat is how often the wishes of the children are looked at.
	nameBeat = 100 * time.Millisecond
	// resolveTimeout bounds one look-up.
	resolveTimeout = 5 * time.Second
	// resolveAgain is the least time between two look-ups of a name, and the
	// first pause after one that failed; resolveLongest is the longest.
	resolveAgain   = time.Second
	resolveLongest = 30 * time.Second
	// mostLookups bounds the look-ups at a time.
	mostLookups = 16
)

// namedHost is one name and what is known of it.
type namedHost struct {
	name  string
	users []hostUser
	ttl   time.Duration // the least of its users

	asking bool
	asked  time.Time     // when the last answer, or none, had come
	due    time.Time     // of the next look-up
	pause  time.Duration // after a look-up that failed; 0: the last one did not
	found  []netip.Addr  // the last good answer
}

// hostUser is a back end with that name.
type hostUser struct {
	rec        *jkshm.Worker
	preferIPv6 bool
}

// nameAnswer is how a look-up ended.
type nameAnswer struct {
	host  *namedHost
	found []netip.Addr
	err   error
}

// Run does so until stop is closed.
func (n *Names) Run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	answers := make(chan nameAnswer)
	asking := 0
	defer func() {
		cancel()
		for ; asking > 0; asking-- {
			<-answers
		}
	}()
	t := time.NewTicker(nameBeat)
	defer t.Stop()
	for {
		n.group()
		for _, h := range n.due(time.Now()) {
			if asking == mostLookups {
				break
			}
			asking++
			h.asking = true
			go func() { answers <- n.ask(ctx, h) }()
		}
		select {
		case <-stop:
			return
		case a := <-answers:
			asking--
			n.settle(a, time.Now())
		case <-t.C:
		}
	}
}

// First looks all names up once, before there are children. It takes no longer
// than limit; a name that nobody can tell by then is left to Run.
func (n *Names) First(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	n.group()
	n.round(ctx, n.due(time.Now()), time.Now)
}

// round looks names up, a number of them at a time, and waits for the answers.
func (n *Names) round(ctx context.Context, hosts []*namedHost, now func() time.Time) {
	answers := make(chan nameAnswer)
	places := make(chan struct{}, mostLookups)
	for _, h := range hosts {
		go func() {
			places <- struct{}{}
			a := n.ask(ctx, h)
			<-places
			answers <- a
		}()
	}
	for range hosts {
		n.settle(<-answers, now())
	}
}

// group finds out which back ends have which name, if an edit may have changed
// that.
func (n *Names) group() {
	edits := n.Segment.Edits()
	if n.grouped && edits == n.edits {
		return
	}
	n.grouped, n.edits = true, edits
	if n.hosts == nil {
		n.hosts = map[string]*namedHost{}
	}
	for _, h := range n.hosts {
		h.users = h.users[:0]
	}
	for i, w := range n.Config.backEnds() {
		rec := n.Segment.Worker(i)
		var s jkshm.WorkerSettings
		rec.Load(&s)
		if s.Port == 0 || numeric(s.Host) {
			continue
		}
		h := n.hosts[s.Host]
		if h == nil {
			h = &namedHost{name: s.Host}
			n.hosts[s.Host] = h
		}
		if len(h.users) == 0 {
			h.ttl = w.AJP.ResolveTTL
		}
		h.ttl = min(h.ttl, w.AJP.ResolveTTL)
		u := hostUser{rec, w.AJP.PreferIPv6}
		h.users = append(h.users, u)
		var a jkshm.Addresses
		if rec.LoadAddresses(&a); !a.Resolved && h.found != nil {
			n.publish(h, u, h.found)
		}
	}
	for name, h := range n.hosts {
		if len(h.users) == 0 && !h.asking {
			delete(n.hosts, name)
		}
	}
}

func numeric(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// due lists the names to ask for now.
func (n *Names) due(now time.Time) (out []*namedHost) {
	for _, h := range n.hosts {
		if h.asking || len(h.users) == 0 {
			continue
		}
		suspect := false
		for _, u := range h.users {
			suspect = u.rec.TakeSuspect() || suspect
		}
		switch {
		case !now.Before(h.due):
			out = append(out, h)
		case suspect && now.Sub(h.asked) < resolveAgain:
			h.count() // that is the newest there is
		case suspect:
			h.due = now // also if there is no place for it yet
			out = append(out, h)
		}
	}
	return out
}

// count tells those who wait that there is nothing more to wait for.
func (h *namedHost) count() {
	for _, u := range h.users {
		u.rec.LookUps.Add(1)
	}
}

// ask looks one name up.
func (n *Names) ask(ctx context.Context, h *namedHost) nameAnswer {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	lookup := n.Lookup
	if lookup == nil {
		lookup = lookupHost
	}
	found, err := lookup(ctx, h.name)
	found = slices.DeleteFunc(slices.Clone(found), func(a netip.Addr) bool { return !a.IsValid() || a.Zone() != "" })
	if err == nil && len(found) == 0 {
		err = errNoAddress
	}
	return nameAnswer{h, found, err}
}

var errNoAddress = errors.New("the name has no address")

func lookupHost(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// settle takes an answer, publishes what is new and says so once.
func (n *Names) settle(a nameAnswer, now time.Time) {
	h := a.host
	h.asking, h.asked = false, now
	failing := h.pause > 0
	if a.err != nil {
		h.pause = min(max(2*h.pause, resolveAgain), resolveLongest)
		h.due = now.Add(h.pause)
		switch {
		case failing:
		case h.found == nil:
			n.Logger.Warn().Str("host", h.name).Strs("workers", h.workers()).AnErr("cause", a.err).
				Msgf("can't resolve tomcat address %s: nobody is sent there until it can be", h.name)
		default:
			n.Logger.Warn().Str("host", h.name).Strs("workers", h.workers()).AnErr("cause", a.err).
				Msgf("can't resolve tomcat address %s any more: the addresses of before stay in use", h.name)
		}
		h.count()
		return
	}
	h.pause, h.due = 0, now.Add(h.ttl)
	old, changed := h.found, !sameAddresses(h.found, a.found)
	if changed {
		h.found = a.found
		for _, u := range h.users {
			n.publish(h, u, a.found)
		}
	}
	switch {
	case failing:
		n.Logger.Info().Str("host", h.name).Strs("workers", h.workers()).Strs("addresses", addressTexts(a.found)).
			Msgf("tomcat address %s can be resolved again", h.name)
	case changed && old != nil:
		n.Logger.Info().Str("host", h.name).Strs("workers", h.workers()).Strs("addresses", addressTexts(a.found)).
			Strs("before", addressTexts(old)).Msgf("tomcat address %s has changed", h.name)
	}
	h.count()
}

// sameAddresses tells whether two answers differ in their order at most: many
// name services turn it with each answer.
func sameAddresses(a, b []netip.Addr) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.SortFunc(a, netip.Addr.Compare)
	slices.SortFunc(b, netip.Addr.Compare)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

func (h *namedHost) workers() (out []string) {
	for _, u := range h.users {
		out = append(out, u.rec.Name())
	}
	return out
}

func addressTexts(addrs []netip.Addr) (out []string) {
	for _, a := range addrs {
		out = append(out, a.String())
	}
	return out
}

// errOtherHost ends an edit: the host is another one by now.
var errOtherHost = errors.New("the host has been changed")

// publish gives a back end the addresses of its name. If it cannot, the name is
// soon asked for again.
func (n *Names) publish(h *namedHost, u hostUser, found []netip.Addr) {
	err := u.rec.Edit(jkshm.Master, func(s *jkshm.WorkerSettings, a *jkshm.Addresses) error {
		if s.Host != h.name {
			return errOtherHost
		}
		list := resolve.Order(found, uint16(s.Port), u.preferIPv6)
		*a = jkshm.Addresses{Resolved: true, List: list[:min(len(list), jkshm.MaxAddresses)]}
		return nil
	})
	if err != nil && !errors.Is(err, errOtherHost) {
		// Somebody holds the lock for long. The next round does it.
		h.found, h.due = nil, h.asked.Add(resolveAgain)
		n.Logger.Debug().Err(err).Str("worker", u.rec.Name()).Msg("the addresses could not be published yet")
	}
}

// next is when the next name is due; zero: there is none.
func (n *Names) next() (t time.Time) {
	for _, h := range n.hosts {
		if t.IsZero() || h.due.Before(t) {
			t = h.due
		}
	}
	return t
}
