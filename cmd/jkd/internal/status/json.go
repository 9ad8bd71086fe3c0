package status

import (
	"encoding/json"
	"io"
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// Document is what WriteJSON writes; docs/status.md describes it. Moments are
// RFC 3339 in UTC, null where there is none; durations are seconds.
type Document struct {
	Schema    int                `json:"schema"`
	Server    DocumentServer     `json:"server"`
	Totals    DocumentTotals     `json:"totals"`
	Limits    DocumentLimits     `json:"limits"`
	Board     string             `json:"scoreboard"` // a letter for each slot
	Children  []DocumentChild    `json:"children"`
	Slots     []DocumentSlot     `json:"slots"`
	Workers   []DocumentWorker   `json:"workers"`
	Balancers []DocumentBalancer `json:"balancers"`
	Events    DocumentEvents     `json:"events"`
	History   []DocumentSecond   `json:"history"`
}

// DocumentServer is Server.
type DocumentServer struct {
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Built      string     `json:"built"`
	GoVersion  string     `json:"go_version"`
	MPM        string     `json:"mpm"`
	Generation uint32     `json:"generation"`
	Now        *time.Time `json:"now"`
	Restart    *time.Time `json:"restart"`
	Uptime     seconds    `json:"uptime"`
	Load       [3]float64 `json:"load"`
	Extended   bool       `json:"extended"`
	MasterPID  int        `json:"master_pid"`
}

// DocumentTotals is Totals. The first four members are null without
// ExtendedStatus.
type DocumentTotals struct {
	Accesses *uint64      `json:"accesses"`
	Bytes    *uint64      `json:"bytes"`
	Duration *seconds     `json:"duration"`
	CPU      *DocumentCPU `json:"cpu"`
	Busy     int          `json:"busy"`
	Graceful int          `json:"graceful"`
	Idle     int          `json:"idle"`

	Connections int `json:"connections"`
	Parked      int `json:"parked"`
}

// DocumentCPU is processor time: of the master and the living children, and of
// the children that are gone.
type DocumentCPU struct {
	User           seconds `json:"user"`
	System         seconds `json:"system"`
	ChildrenUser   seconds `json:"children_user"`
	ChildrenSystem seconds `json:"children_system"`
	Load           float64 `json:"load"` // percent of one processor
}

// DocumentLimits is Limits.
type DocumentLimits struct {
	ServerLimit       int `json:"server_limit"`
	ThreadLimit       int `json:"thread_limit"`
	ThreadsPerChild   int `json:"threads_per_child"`
	MaxRequestWorkers int `json:"max_request_workers"`
}

// DocumentChild is Child.
type DocumentChild struct {
	Server       int             `json:"server"`
	PID          int             `json:"pid"`
	Generation   uint32          `json:"generation"`
	Started      *time.Time      `json:"started"`
	Quiescing    bool            `json:"quiescing"`
	NotAccepting bool            `json:"not_accepting"`
	CPU          seconds         `json:"cpu"`
	Busy         int             `json:"busy"`
	Idle         int             `json:"idle"`
	Connections  int             `json:"connections"`
	Parked       int             `json:"parked"`
	Accesses     uint64          `json:"accesses"`
	Caches       []DocumentCache `json:"caches"`
}

// DocumentCache is a connection cache: of a child to a worker, or of all
// children together.
type DocumentCache struct {
	Worker  string            `json:"worker,omitempty"`
	Idle    int               `json:"idle"`
	Busy    int               `json:"busy"`
	Hits    uint64            `json:"hits"`
	Misses  uint64            `json:"misses"`
	Refused uint64            `json:"refused"`
	Opened  uint64            `json:"opened"`
	Closed  map[string]uint64 `json:"closed"` // by reason, those that were
	Oldest  *time.Time        `json:"oldest"` // since when the one that waits longest waits
}

// DocumentSlot is Slot. Extended is null without ExtendedStatus.
type DocumentSlot struct {
	Server     int               `json:"server"`
	Thread     int               `json:"thread"`
	PID        int               `json:"pid"`
	Generation uint32            `json:"generation"`
	Current    bool              `json:"current"`
	Status     string            `json:"status"`
	Letter     string            `json:"letter"`
	Torn       bool              `json:"torn,omitempty"`
	Extended   *DocumentExtended `json:"extended"`
}

// DocumentExtended is what ExtendedStatus adds to a slot.
type DocumentExtended struct {
	ConnAccesses  uint64  `json:"connection_accesses"`
	ChildAccesses uint64  `json:"child_accesses"`
	SlotAccesses  uint64  `json:"slot_accesses"`
	ConnBytes     uint64  `json:"connection_bytes"`
	ChildBytes    uint64  `json:"child_bytes"`
	SlotBytes     uint64  `json:"slot_bytes"`
	SinceLastUsed seconds `json:"since_last_used"`
	LastRequest   seconds `json:"last_request"`
	Duration      seconds `json:"duration"`
	Client        string  `json:"client"`
	Protocol      string  `json:"protocol"`
	VHost         string  `json:"vhost"`
	Request       string  `json:"request"`
}

// DocumentWorker is Worker.
type DocumentWorker struct {
	Name      string            `json:"name"`
	Connector string            `json:"connector"`
	Requests  map[string]uint64 `json:"requests"` // by class: 2xx, ..., aborted
	Errors    uint64            `json:"errors"`
	Bytes     uint64            `json:"bytes"`
	Duration  seconds           `json:"duration"`
	Latency   []DocumentBucket  `json:"latency"`
	Cache     DocumentCache     `json:"cache"`
}

// DocumentBucket is a class of durations: requests that took longer than the
// class before and at most UpTo. The last has no bound: null.
type DocumentBucket struct {
	UpTo  *seconds `json:"up_to"`
	Count uint64   `json:"count"`
}

// DocumentBalancer is Balancer.
type DocumentBalancer struct {
	Name      string           `json:"name"`
	Connector string           `json:"connector"`
	Method    string           `json:"method"`
	Members   []DocumentMember `json:"members"`
}

// DocumentMember is Member.
type DocumentMember struct {
	Name       string     `json:"name"`
	Address    string     `json:"address"`
	Activation string     `json:"activation"`
	State      string     `json:"state"`
	Sick       bool       `json:"sick"`
	Factor     int        `json:"factor"`
	Elected    uint64     `json:"elected"`
	Errors     uint64     `json:"errors"`
	Busy       int        `json:"busy"`
	LastError  *time.Time `json:"last_error"`
}

// DocumentEvents is Events.
type DocumentEvents struct {
	Starts uint64            `json:"starts"`
	Deaths map[string]uint64 `json:"deaths"` // by reason
	Cut    uint64            `json:"connections_cut"`
}

// DocumentSecond is one second of the last minutes.
type DocumentSecond struct {
	Unix     int64   `json:"unix"`
	Requests uint64  `json:"requests"`
	Errors   uint64  `json:"errors"`
	Bytes    uint64  `json:"bytes"`
	Duration seconds `json:"duration"`
	Busy     int     `json:"busy"`
	Idle     int     `json:"idle"`
}

// seconds is a duration in JSON.
type seconds float64

// WriteJSON writes s as a Document.
func WriteJSON(w io.Writer, s *Status) error { return json.NewEncoder(w).Encode(NewDocument(s)) }

// NewDocument is s as WriteJSON writes it.
func NewDocument(s *Status) *Document {
	v := &s.Server
	d := &Document{
		Schema: SchemaVersion,
		Server: DocumentServer{
			Name: v.Name, Version: v.Version, Built: v.Built, GoVersion: v.GoVersion, MPM: v.MPM, Generation: v.Generation,
			Now: moment(v.Now), Restart: moment(v.Restart), Uptime: secondsOf(v.Uptime()), Load: v.Load, Extended: v.Extended, MasterPID: v.MasterPID,
		},
		Totals:    documentTotals(s),
		Limits:    DocumentLimits(s.Limits),
		Children:  make([]DocumentChild, len(s.Children)),
		Workers:   make([]DocumentWorker, len(s.Workers)),
		Balancers: make([]DocumentBalancer, len(s.Balancers)),
		Events:    DocumentEvents{Starts: s.Events.Starts, Deaths: make(map[string]uint64, len(s.Events.Deaths)), Cut: s.Events.Cut},
		History:   make([]DocumentSecond, len(s.History)),
	}
	d.Board, d.Slots = documentSlots(s)
	for i := range s.Children {
		d.Children[i] = documentChild(&s.Children[i])
	}
	for i := range s.Workers {
		d.Workers[i] = documentWorker(&s.Workers[i])
	}
	for i := range s.Balancers {
		b := &s.Balancers[i]
		d.Balancers[i] = DocumentBalancer{Name: b.Name, Connector: b.Connector, Method: b.Method, Members: make([]DocumentMember, len(b.Members))}
		for j, m := range b.Members {
			d.Balancers[i].Members[j] = DocumentMember{
				Name: m.Name, Address: m.Address, Activation: m.Activation, State: m.State, Sick: m.Sick, Factor: m.Factor,
				Elected: m.Elected, Errors: m.Errors, Busy: m.Busy, LastError: moment(m.LastError),
			}
		}
	}
	for _, x := range s.Events.Deaths {
		d.Events.Deaths[x.Reason] += x.Count
	}
	for i, x := range s.History {
		d.History[i] = DocumentSecond{Unix: x.Unix, Requests: x.Requests, Errors: x.Errors, Bytes: x.Bytes, Duration: secondsOf(x.Duration), Busy: x.Busy, Idle: x.Idle}
	}
	return d
}

func documentTotals(s *Status) DocumentTotals {
	t := &s.Totals
	d := DocumentTotals{Busy: t.Busy, Graceful: t.Graceful, Idle: t.Idle, Connections: t.Connections, Parked: t.Parked}
	if !s.Server.Extended {
		return d
	}
	duration, load := secondsOf(t.Duration), 0.0
	if l, ok := s.CPULoad(); ok {
		load = l
	}
	d.Accesses, d.Bytes, d.Duration = &t.Accesses, &t.Bytes, &duration
	d.CPU = &DocumentCPU{
		User: secondsOf(t.CPU.User), System: secondsOf(t.CPU.System),
		ChildrenUser: secondsOf(t.CPU.ChildrenUser), ChildrenSystem: secondsOf(t.CPU.ChildrenSystem), Load: load,
	}
	return d
}

// letterTexts are the letters as texts that need no memory.
var letterTexts = func() (t [scoreboard.NumStatus]string) {
	for i := range t {
		t[i] = string(rune(scoreboard.Status(i).Letter()))
	}
	return t
}()

func documentSlots(s *Status) (letters string, slots []DocumentSlot) {
	slots = make([]DocumentSlot, len(s.Slots))
	board := make([]byte, len(s.Slots))
	var extended []DocumentExtended
	if s.Server.Extended {
		extended = make([]DocumentExtended, len(s.Slots))
	}
	for i := range s.Slots {
		x := &s.Slots[i]
		st := x.Status
		if !st.Valid() {
			st = scoreboard.Dead
		}
		board[i] = st.Letter()
		slots[i] = DocumentSlot{
			Server: x.Server, Thread: x.Thread, PID: x.PID, Generation: x.Generation, Current: x.Current,
			Status: st.String(), Letter: letterTexts[st], Torn: x.Torn,
		}
		if extended == nil {
			continue
		}
		extended[i] = DocumentExtended{
			ConnAccesses: x.ConnAccesses, ChildAccesses: x.ChildAccesses, SlotAccesses: x.SlotAccesses,
			ConnBytes: x.ConnBytes, ChildBytes: x.ChildBytes, SlotBytes: x.SlotBytes,
			SinceLastUsed: secondsOf(x.SinceLastUsed), LastRequest: secondsOf(x.LastRequest), Duration: secondsOf(x.Duration),
			Client: x.Client, Protocol: x.Protocol, VHost: x.VHost, Request: x.Request,
		}
		slots[i].Extended = &extended[i]
	}
	return string(board), slots
}

func documentChild(c *Child) DocumentChild {
	d := DocumentChild{
		Server: c.Server, PID: c.PID, Generation: c.Generation, Started: moment(c.Started), Quiescing: c.Quiescing, NotAccepting: c.NotAccepting,
		CPU: secondsOf(c.CPU), Busy: c.Busy, Idle: c.Idle, Connections: c.Connections, Parked: c.Parked, Accesses: c.Accesses, Caches: make([]DocumentCache, len(c.Caches)),
	}
	for i := range c.Caches {
		d.Caches[i] = documentCache(c.Caches[i].Worker, &c.Caches[i].Cache)
	}
	return d
}

func documentWorker(w *Worker) DocumentWorker {
	d := DocumentWorker{
		Name: w.Name, Connector: w.Connector, Requests: make(map[string]uint64, counters.NumClasses), Errors: w.Errors, Bytes: w.Bytes,
		Duration: secondsOf(w.Duration), Latency: make([]DocumentBucket, len(w.Durations)), Cache: documentCache("", &w.Cache),
	}
	for i, n := range w.Requests {
		d.Requests[classNames[i]] = n
	}
	for i, n := range w.Durations {
		d.Latency[i].Count = n
		if i < len(counters.Bounds) {
			bound := secondsOf(counters.Bounds[i])
			d.Latency[i].UpTo = &bound
		}
	}
	return d
}

func documentCache(worker string, c *counters.Cache) DocumentCache {
	d := DocumentCache{
		Worker: worker, Idle: c.Idle, Busy: c.Busy, Hits: c.Hits, Misses: c.Misses, Refused: c.Refused, Opened: c.Opened,
		Closed: make(map[string]uint64), Oldest: moment(c.Oldest),
	}
	for i, n := range c.Closed {
		if n > 0 {
			d.Closed[counters.CloseReason(i).String()] = n
		}
	}
	return d
}

// classNames are those of the classes of status codes.
var classNames = [counters.NumClasses]string{"1xx", "2xx", "3xx", "4xx", "5xx", "aborted"}

// moment is t in UTC, nil if it is zero or no moment that JSON can have.
func moment(t time.Time) *time.Time {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	return &t
}

func secondsOf(d time.Duration) seconds { return seconds(d.Seconds()) }
