package jkshm

import (
	"fmt"
	"slices"

	"jkd/connector/jk/balance"
)

// Loss is something that Carry could not carry.
type Loss struct {
	// Record names the record: `worker "a"`, `balancer "lb"`, `member "a" of
	// balancer "lb"`.
	Record string
	// Directive is the setting, "" if it is the whole record.
	Directive string
	Why       string
}

// String is a sentence for a log.
func (l Loss) String() string {
	if l.Directive == "" {
		return l.Record + ": " + l.Why
	}
	return l.Record + ": " + l.Directive + ": " + l.Why
}

// recordName names a record for a Loss; of is the balancer of a member.
func recordName(kind, name, of string) string {
	if of != "" {
		return fmt.Sprintf("%s %q of balancer %q", kind, name, of)
	}
	return fmt.Sprintf("%s %q", kind, name)
}

// Why something is lost.
const (
	whyGone    = "it is not in the configuration any more"
	whyChanged = "it was edited, but is now configured differently from before: the configuration counts"
)

// Carry takes over what another segment knows about workers, balancers and
// members of equal names: what they have counted, their states, and the
// settings that were edited, except those the configuration says something new
// about. It returns what was lost. What children hold (gauges, locks, probes) is
// not carried. from may be of another layout and may hold anything ([AttachAny]);
// it is not written to. So that forms of the status page that were made before
// still hold, the token is from's. The master calls Carry after Configure of all
// records and before any child attaches; see also [Segment.Inherit].
func (s *Segment) Carry(from *Segment) []Loss {
	var losses []Loss
	add := func(record string, directives []string) {
		for _, d := range directives {
			losses = append(losses, Loss{record, d, whyChanged})
		}
	}
	workers := map[string]*Worker{}
	for i := range s.workers {
		workers[s.workers[i].name] = &s.workers[i]
	}
	for i := range from.workers {
		old := &from.workers[i]
		record := recordName("worker", old.name, "")
		if w := workers[old.name]; w != nil {
			add(record, w.carry(old))
		} else {
			losses = append(losses, Loss{Record: record, Why: whyGone})
		}
	}
	balancers := map[string]*Balancer{}
	for i := range s.balancers {
		balancers[s.balancers[i].name] = &s.balancers[i]
	}
	for i := range from.balancers {
		old := &from.balancers[i]
		record := recordName("balancer", old.name, "")
		b := balancers[old.name]
		if b == nil {
			losses = append(losses, Loss{Record: record, Why: whyGone})
			continue
		}
		add(record, b.carry(old))
		members := map[string]*Member{}
		for j := range b.members {
			members[b.members[j].Name()] = &b.members[j]
		}
		for j := range old.members {
			om := &old.members[j]
			record := recordName("member", om.Name(), old.name)
			if m := members[om.Name()]; m != nil {
				add(record, m.carry(om))
			} else {
				losses = append(losses, Loss{Record: record, Why: whyGone})
			}
		}
	}
	if from.token != ([16]byte{}) {
		s.token = from.token
		s.writeHeader()
	}
	s.edits.Add(1)
	return losses
}

// counters are the counters that are carried, in the same order for each
// record of a kind; times likewise.

func (w *Worker) counters() []Counter {
	return []Counter{w.Used, w.Errors, w.ClientErrors, w.ReplyTimeouts, w.Transferred, w.Read}
}

func (w *Worker) times() []Time { return []Time{w.ErrorTime, w.LastReset} }

func (b *Balancer) counters() []Counter { return []Counter{b.MaxBusy, b.UnknownRoutes, b.Forced} }

func (b *Balancer) times() []Time {
	return []Time{b.LastReset, b.LastMaintenance, b.LastLook, b.RouteTold}
}

func (m *Member) counters() []Counter {
	return []Counter{m.LBValue, m.Elected, m.Sessions, m.Errors, m.ReplyTimeouts, m.ElectedSnapshot}
}

func (m *Member) times() []Time { return []Time{m.FirstError, m.LastError, m.LastReset} }

// mostCarried is the most a counter begins with: what is counted on top of it
// does not overflow.
const mostCarried = 1 << 62

func carryNumbers(to, from interface {
	counters() []Counter
	times() []Time
}) {
	toCounters, toTimes := to.counters(), to.times()
	for i, c := range from.counters() {
		toCounters[i].Store(min(c.Load(), mostCarried))
	}
	for i, t := range from.times() {
		toTimes[i].Store(t.Load())
	}
}

func (w *Worker) carry(from *Worker) []string {
	carryNumbers(w, from)
	Counter{w.busy.max}.Raise(uint64(from.busy.highest()))
	Counter{w.connected.max}.Raise(uint64(from.connected.highest()))
	state := from.State()
	if state == WorkerProbe {
		state = WorkerError // its request is no concern of this segment
	}
	w.SetState(state)

	var old, before, now workerConfig
	from.record.load(&old)
	w.record.load(&before)
	lost := carrySettings[workerConfig](&w.record, &from.record, workerSpans)
	w.record.load(&now)
	same := now.Host == old.Host && now.Port == old.Port
	switch {
	case same && old.Resolved && !now.Resolved,
		same && (now.Host != before.Host || now.Port != before.Port):
		now.Addresses = old.Addresses
	case now.Host != before.Host || now.Port != before.Port:
		now.Addresses = Addresses{}
	default:
		return lost
	}
	now.generation++
	// All of it came out of records, so it is in range.
	if err := w.record.publishSettings(&now); err != nil {
		panic(err)
	}
	return lost
}

func (b *Balancer) carry(from *Balancer) []string {
	carryNumbers(b, from)
	b.SetNext(from.Next())
	return carrySettings[BalancerSettings](&b.record, &from.record, balancerSpans)
}

func (m *Member) carry(from *Member) []string {
	carryNumbers(m, from)
	m.SetState(from.State().On(balance.Orphaned))
	return carrySettings[MemberSettings](&m.record, &from.record, memberSpans)
}

// carrySettings takes over the fields that were edited in from. It returns the
// names of those that are now configured otherwise than they were there.
func carrySettings[T any, P interface {
	*T
	configurable
}](to, from *record, spans []span) (lost []string) {
	n := len(to.base)
	words := func(load func(P)) []uint64 {
		// By way of the struct: that brings everything into range.
		var s T
		load(&s)
		w := make([]uint64, n)
		if err := encode(P(&s), w); err != nil {
			panic(err)
		}
		return w
	}
	base := func(r *record) func(P) {
		return func(s P) {
			w := make([]uint64, n)
			load(r.base, w)
			decode(s, w)
		}
	}
	valid := func(r *record) func(P) { return func(s P) { r.load(s) } }

	toBase, fromBase := words(base(to)), words(base(from))
	result, edited := words(valid(to)), words(valid(from))
	for _, f := range spans {
		part := func(w []uint64) []uint64 { return w[f.at : f.at+f.n] }
		switch {
		case slices.Equal(part(edited), part(fromBase)): // not edited
		case slices.Equal(part(edited), part(toBase)): // configured by now
		case slices.Equal(part(fromBase), part(toBase)):
			copy(part(result), part(edited))
		default:
			lost = append(lost, f.name)
		}
	}
	to.publish(result, nil)
	return lost
}
