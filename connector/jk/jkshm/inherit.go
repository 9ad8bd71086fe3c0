package jkshm

import "slices"

// Inheritance is what the segment of a generation takes over from that of the one
// before, whose children use theirs for a while. One goroutine of the master uses
// it. A nil Inheritance has nothing to catch up with.
type Inheritance struct {
	numbers  []heir
	settings []follower
	losses   []Loss
	told     map[Loss]bool
}

// heir is a counter that both segments have.
type heir struct {
	to, from Counter
	seen     uint64
	raise    bool // it is a maximum, not a sum
}

// follower is a record of settings that both segments have.
type follower struct {
	record   string
	to, from *record
	spans    []span
	read     func(w []uint64) // what is valid in from, brought into range
	seen     []uint64         // what read said last
	version  uint64           // of from, at that time
	// edit puts the fields of w that changed into the settings of to.
	edit func(w []uint64, changed []span) error
}

// Inherit is [Segment.Carry], and what [Inheritance.Catch] then goes on with: to
// be called about once a second for as long as there are children of the other
// generation, and once more when they are gone. What is lost, Losses tells.
func (s *Segment) Inherit(from *Segment) *Inheritance {
	if s == nil || from == nil {
		return nil
	}
	i := &Inheritance{told: map[Loss]bool{}}
	i.pair(s, from)
	for k := range i.settings {
		f := &i.settings[k]
		f.version = f.from.seq.Load()
		f.seen = make([]uint64, len(f.from.base))
		f.read(f.seen)
	}
	i.losses = s.Carry(from)
	for k := range i.numbers {
		// No child has counted there yet: what is there is what was seen.
		n := &i.numbers[k]
		if n.seen = n.to.Load(); n.seen == mostCarried {
			n.seen = n.from.Load()
		}
	}
	return i
}

// Losses are what could not be taken over since the last call, each once.
func (i *Inheritance) Losses() []Loss {
	if i == nil {
		return nil
	}
	l := i.losses
	i.losses = nil
	return l
}

// mostAtOnce bounds what can have been counted between two calls of Catch.
const mostAtOnce = 1 << 52

// Catch adds what has been counted in the other segment since the last call, or
// since Inherit, and makes the edits that were made there, unless the
// configuration says something new. Loads, states and times are each
// generation's own by now, and so is a reset. Counters do not go back, whatever is
// written there: what has become less, or more than counting can explain, counts
// as nothing. Reads of the other segment hold no lock of this one.
func (i *Inheritance) Catch() {
	if i == nil {
		return
	}
	for k := range i.numbers {
		i.numbers[k].catch()
	}
	for k := range i.settings {
		for _, l := range i.settings[k].catch() {
			if !i.told[l] {
				i.told[l] = true
				i.losses = append(i.losses, l)
			}
		}
	}
}

func (h *heir) catch() {
	now := h.from.Load()
	if h.raise {
		if now <= MaxGauge {
			h.to.Raise(now)
		}
		return
	}
	d := now - min(h.seen, now) // it may have been reset
	h.seen = now
	if d > 0 && d <= mostAtOnce && h.to.Load() <= mostCarried {
		h.to.Add(d)
	}
}

func (f *follower) catch() (losses []Loss) {
	v := f.from.seq.Load()
	if v == f.version {
		return nil
	}
	now := make([]uint64, len(f.from.base))
	f.read(now)
	fromBase, toBase := make([]uint64, len(now)), make([]uint64, len(now))
	load(f.from.base, fromBase)
	load(f.to.base, toBase)
	var changed []span
	for _, x := range f.spans {
		part := func(w []uint64) []uint64 { return w[x.at : x.at+x.n] }
		switch {
		case slices.Equal(part(now), part(f.seen)), slices.Equal(part(now), part(toBase)) && !slices.Equal(part(fromBase), part(toBase)):
		case slices.Equal(part(fromBase), part(toBase)):
			changed = append(changed, x)
		default:
			losses = append(losses, Loss{f.record, x.name, whyChanged})
		}
	}
	if len(changed) > 0 {
		if err := f.edit(now, changed); err != nil {
			return nil // somebody is editing: again the next time
		}
	}
	f.version, f.seen = v, now
	return losses
}

// pair finds what both segments have.
func (i *Inheritance) pair(s, from *Segment) {
	workers := map[string]*Worker{}
	for k := range s.workers {
		workers[s.workers[k].name] = &s.workers[k]
	}
	for k := range from.workers {
		old := &from.workers[k]
		if w := workers[old.name]; w != nil {
			i.count(w.counters(), old.counters())
			i.most(Counter{w.busy.max}, Counter{old.busy.max})
			i.most(Counter{w.connected.max}, Counter{old.connected.max})
			i.settings = append(i.settings, followWorker(w, old))
		}
	}
	balancers := map[string]*Balancer{}
	for k := range s.balancers {
		balancers[s.balancers[k].name] = &s.balancers[k]
	}
	for k := range from.balancers {
		old := &from.balancers[k]
		b := balancers[old.name]
		if b == nil {
			continue
		}
		i.count([]Counter{b.UnknownRoutes, b.Forced}, []Counter{old.UnknownRoutes, old.Forced})
		i.most(b.MaxBusy, old.MaxBusy)
		i.settings = append(i.settings, follow[BalancerSettings](recordName("balancer", old.name, ""), &b.record, &old.record, balancerSpans, b.Update))
		members := map[string]*Member{}
		for j := range b.members {
			members[b.members[j].Name()] = &b.members[j]
		}
		for j := range old.members {
			om := &old.members[j]
			m := members[om.Name()]
			if m == nil {
				continue
			}
			i.count([]Counter{m.Elected, m.Sessions, m.Errors, m.ReplyTimeouts}, []Counter{om.Elected, om.Sessions, om.Errors, om.ReplyTimeouts})
			i.settings = append(i.settings, follow[MemberSettings](recordName("member", om.Name(), old.name), &m.record, &om.record, memberSpans, m.Update))
		}
	}
}

func (i *Inheritance) count(to, from []Counter) {
	for k := range to {
		i.numbers = append(i.numbers, heir{to: to[k], from: from[k]})
	}
}

func (i *Inheritance) most(to, from Counter) {
	i.numbers = append(i.numbers, heir{to: to, from: from, raise: true})
}

// follow is for settings that are words of one struct.
func follow[T any, P interface {
	*T
	configurable
}](name string, to, from *record, spans []span, update func(int, func(*T) error) error) follower {
	return follower{
		record: name, to: to, from: from, spans: spans,
		read: func(w []uint64) {
			var s T
			from.load(P(&s))
			recode(P(&s), w)
		},
		edit: func(w []uint64, changed []span) error {
			return update(Master, func(s *T) error { merge(P(s), w, changed); return nil })
		},
	}
}

// followWorker is for those of a worker, whose addresses go with host and port.
func followWorker(to, from *Worker) follower {
	f := follow[WorkerSettings](recordName("worker", from.name, ""), &to.record, &from.record, workerSpans, nil)
	f.edit = func(w []uint64, changed []span) error {
		var there workerConfig
		from.record.load(&there)
		return to.Edit(Master, func(s *WorkerSettings, a *Addresses) error {
			host, port := s.Host, s.Port
			merge(s, w, changed)
			switch {
			case s.Host == host && s.Port == port:
			case s.Host == there.Host && s.Port == there.Port:
				*a = there.Addresses
			default:
				*a = Addresses{}
			}
			return nil
		})
	}
	return f
}

// recode writes s, which came out of a record and is therefore in range.
func recode(s configurable, w []uint64) {
	if err := encode(s, w); err != nil {
		panic(err)
	}
}

// merge puts the fields of w that changed into s.
func merge(s configurable, w []uint64, changed []span) {
	mine := make([]uint64, len(w))
	recode(s, mine)
	for _, x := range changed {
		copy(mine[x.at:x.at+x.n], w[x.at:x.at+x.n])
	}
	decode(s, mine)
}
