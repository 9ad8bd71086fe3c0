package status

import (
	"bytes"
	"math"
	"strings"
	"sync"
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// Collector makes snapshots of what is in shared memory. It is a [Source] and a
// [Filler]; its methods may be called concurrently.
type Collector struct {
	Board    *scoreboard.Scoreboard
	Counters *counters.Table // nil: there are none
	// Balancers are those of the connectors now; nil: there are none.
	Balancers func() []Balancer
	// Server is what does not change: all but Via, Generation, Now, Restart and
	// Load.
	Server Server
	Limits Limits
	// ShowQueryStrings shows what follows '?' in a request.
	ShowQueryStrings bool
	Now              func() time.Time // nil: time.Now

	views sync.Pool // of *scoreboard.View
}

// Snapshot implements Source.
func (c *Collector) Snapshot() *Status {
	s := new(Status)
	c.Fill(s, true)
	return s
}

// Fill implements Filler.
func (c *Collector) Fill(s *Status, full bool) {
	v, ok := c.views.Get().(*scoreboard.View)
	if !ok {
		v = new(scoreboard.View)
	}
	defer c.views.Put(v)
	c.Board.Snapshot(v)

	s.Server, s.Limits = c.Server, c.Limits
	s.Server.Generation, s.Server.Restart = v.Global.Generation, v.Global.StartTime
	if s.Server.Now = time.Now(); c.Now != nil {
		s.Server.Now = c.Now()
	}
	s.Server.Load = loadAverage()
	s.Totals = totalsBefore(&v.Global)
	s.Children, s.Slots = s.Children[:0], s.Slots[:0]
	texts := texts{hideQuery: !c.ShowQueryStrings}
	if full && c.Server.Extended {
		texts.prepare(v)
	}
	for i := range v.Processes {
		c.server(s, v, i, &texts)
		if n := len(s.Children); full && n > 0 && s.Children[n-1].Server == i {
			c.caches(&s.Children[n-1])
		}
	}
	c.counted(s, full)
	s.Balancers = nil
	if c.Balancers != nil {
		s.Balancers = c.Balancers()
	}
}

// totalsBefore is what the generations before have counted, whose processes are
// like children that were waited for, and the processor time of the master.
func totalsBefore(g *scoreboard.GlobalScore) Totals {
	t := Totals{Accesses: g.Before.Accesses, Bytes: g.Before.Bytes, Duration: g.Before.Duration, CPU: g.Times}
	t.CPU.ChildrenUser = addTimes(t.CPU.ChildrenUser, g.Before.CPUUser)
	t.CPU.ChildrenSystem = addTimes(t.CPU.ChildrenSystem, g.Before.CPUSystem)
	return t
}

// server adds one server's child and slots to s.
func (c *Collector) server(s *Status, v *scoreboard.View, server int, texts *texts) {
	p := &v.Processes[server]
	living := p.PID != 0
	current := living && !p.Quiescing && p.Generation == s.Server.Generation
	child := Child{
		Server: server, PID: p.PID, Generation: p.Generation, Started: p.StartTime, Quiescing: p.Quiescing, NotAccepting: p.NotAccepting,
		CPU: addTimes(p.CPUUser, p.CPUSystem),
	}
	workers := v.Server(server)
	for thread := range workers {
		w := &workers[thread]
		t := &s.Totals
		t.Accesses, t.Bytes, t.Duration = add(t.Accesses, w.AccessCount), add(t.Bytes, w.BytesServed), addTimes(t.Duration, w.Duration)
		child.Accesses = add(child.Accesses, w.MyAccessCount)
		if living {
			c.count(s, &child, w.Status, current)
		}
		if w.Status != scoreboard.Dead || c.configured(server, thread) {
			s.Slots = append(s.Slots, Slot{
				Server: server, Thread: thread, PID: p.PID, Generation: p.Generation, Current: current, Status: w.Status, Torn: w.Torn || p.Torn,
			})
			if c.Server.Extended {
				s.Slots[len(s.Slots)-1].extend(w, child.CPU, s.Server.Now, texts)
			}
		}
	}
	if !living {
		return
	}
	// A child of one connection a slot doesn't count them.
	child.Connections = max(p.Connections, child.Busy)
	child.Parked = min(p.Parked, child.Connections)
	s.Totals.Connections += child.Connections
	s.Totals.Parked += child.Parked
	s.Totals.CPU.User = addTimes(s.Totals.CPU.User, p.CPUUser)
	s.Totals.CPU.System = addTimes(s.Totals.CPU.System, p.CPUSystem)
	if n := len(s.Children); n < cap(s.Children) {
		child.Caches = s.Children[:n+1][n].Caches[:0]
	}
	s.Children = append(s.Children, child)
}

// configured tells whether a free slot is one that the MPM may use. mod_status
// leaves others out ("disabled").
func (c *Collector) configured(server, thread int) bool {
	per := max(c.Limits.ThreadsPerChild, 1)
	return thread < per && server < c.Limits.MaxRequestWorkers/per
}

// count counts a slot of a living child as mod_status does: one that waits
// only counts if it may get a connection of this generation.
func (c *Collector) count(s *Status, child *Child, st scoreboard.Status, current bool) {
	switch st {
	case scoreboard.Dead, scoreboard.Starting, scoreboard.IdleKill:
		return
	case scoreboard.Ready:
		child.Idle++
		if current {
			s.Totals.Idle++
		}
		return
	}
	child.Busy++
	switch {
	case child.Quiescing:
	case st == scoreboard.Graceful:
		s.Totals.Graceful++
	default:
		s.Totals.Busy++
	}
}

// extend adds what ExtendedStatus shows.
func (x *Slot) extend(w *scoreboard.WorkerScore, cpu time.Duration, now time.Time, t *texts) {
	x.ConnAccesses, x.ChildAccesses, x.SlotAccesses = w.ConnCount, w.MyAccessCount, w.AccessCount
	x.ConnBytes, x.ChildBytes, x.SlotBytes = w.ConnBytes, w.MyBytesServed, w.BytesServed
	x.CPU, x.Duration = cpu, w.Duration
	if !w.LastUsed.IsZero() {
		x.SinceLastUsed = max(now.Sub(w.LastUsed), 0)
	}
	if !w.StartTime.IsZero() && !w.StopTime.IsZero() {
		x.LastRequest = max(w.StopTime.Sub(w.StartTime), 0)
	}
	if t.prepared {
		x.Client, x.Protocol, x.VHost, x.Request = t.copy(w.Client), t.copy(w.Protocol), t.copy(w.VHost), t.request(w.Request)
	}
}

// texts copies all texts of a snapshot into one piece of memory.
type texts struct {
	prepared  bool
	hideQuery bool
	all       strings.Builder
}

func (t *texts) prepare(v *scoreboard.View) {
	n := 0
	for i := range v.Workers {
		w := &v.Workers[i]
		n += len(w.Client) + len(w.Protocol) + len(w.VHost) + len(w.Request)
	}
	t.all.Grow(n)
	t.prepared = true
}

// copy is the parts, one after the other.
func (t *texts) copy(parts ...[]byte) string {
	from := t.all.Len()
	for _, p := range parts {
		t.all.Write(p)
	}
	return t.all.String()[from:]
}

// request is a request line, without its query unless that is shown.
func (t *texts) request(line []byte) string {
	at := bytes.IndexByte(line, '?')
	if at < 0 || !t.hideQuery {
		return t.copy(line)
	}
	rest := line[at:]
	if space := bytes.LastIndexByte(rest, ' '); space >= 0 {
		return t.copy(line[:at], rest[space:])
	}
	return t.copy(line[:at])
}

// caches are the connection caches that a child has used.
func (c *Collector) caches(child *Child) {
	if c.Counters == nil {
		return
	}
	for i, w := range c.Counters.Workers() {
		if cache := c.Counters.Child(child.Server, i); cache != (counters.Cache{}) {
			child.Caches = append(child.Caches, Cache{w.Name, cache})
		}
	}
}

// counted is what the counters tell.
func (c *Collector) counted(s *Status, full bool) {
	s.Workers, s.Events, s.History = s.Workers[:0], Events{Deaths: s.Events.Deaths[:0]}, nil
	if c.Counters == nil {
		return
	}
	for i, w := range c.Counters.Workers() {
		if t := c.Counters.Totals(i); t != (counters.Totals{}) {
			s.Workers = append(s.Workers, Worker{w.Name, w.Connector, t})
		}
	}
	s.Events.Starts, s.Events.Cut = c.Counters.Starts(), c.Counters.Cut()
	for d := range counters.NumDeaths {
		s.Events.Deaths = append(s.Events.Deaths, Death{d.String(), c.Counters.Deaths(d)})
	}
	if full {
		s.History = c.Counters.History()
	}
}

// add is a sum that stays where it would overflow: a child can write any
// number.
func add(a, b uint64) uint64 {
	if a > math.MaxInt64-min(b, math.MaxInt64) {
		return math.MaxInt64
	}
	return a + b
}

func addTimes(a, b time.Duration) time.Duration {
	return time.Duration(add(uint64(max(a, 0)), uint64(max(b, 0))))
}
