package status

import (
	"time"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// SchemaVersion is the version of the JSON document (see docs/status.md). It
// changes when a member changes its meaning or goes, not when one is added.
const SchemaVersion = 1

// Status is the server at about one moment.
type Status struct {
	Server   Server
	Totals   Totals
	Limits   Limits
	Children []Child // those that live, by server
	// Slots are all slots that are configured, server-major: ThreadsPerChild
	// of each of the servers that MaxRequestWorkers allows, and any other that
	// is in use.
	Slots     []Slot
	Workers   []Worker   // with at least one request or connection; the rest of jkd ("-") first
	Balancers []Balancer // of both connectors
	Events    Events
	History   []counters.Second // one a second, oldest first, at most counters.HistorySeconds
}

// Server is what does not count.
type Server struct {
	Name       string // ServerName, or the host's name
	Via        string // address the page was asked at; "" elsewhere
	Version    string // "jkd/1.0 (linux)"
	Built      string // time of the revision, or of the program's file: "2026-12-02T10:11:12Z"; "" not known
	GoVersion  string
	MPM        string // prefork, worker
	Generation uint32 // both of mod_status's generations
	Now        time.Time
	Restart    time.Time // of the first generation: a graceful restart does not change it
	Load       [3]float64
	Extended   bool // ExtendedStatus
	MasterPID  int
}

// Uptime is how long the server has been up, 0 at the least.
func (s *Server) Uptime() time.Duration { return max(s.Now.Sub(s.Restart), 0) }

// Totals are sums over all slots.
type Totals struct {
	Accesses uint64
	Bytes    uint64
	Duration time.Duration // of all requests
	CPU      scoreboard.Times
	// Busy, Graceful and Idle count slots as mod_status does (BusyWorkers,
	// GracefulWorkers, IdleWorkers).
	Busy, Graceful, Idle int
	// Connections are the open ones of all children, Parked those of them that
	// have no slot because they wait for a request (KeepAliveParking).
	Connections, Parked int
}

// Limits are the MPM's, as configured.
type Limits struct {
	ServerLimit, ThreadLimit, ThreadsPerChild, MaxRequestWorkers int
}

// Child is one child process.
type Child struct {
	Server       int
	PID          int
	Generation   uint32
	Started      time.Time
	Quiescing    bool
	NotAccepting bool
	CPU          time.Duration // user and system
	Busy, Idle   int           // of its slots
	Connections  int           // open ones
	Parked       int           // those without a slot
	Accesses     uint64        // since it started
	Caches       []Cache       // a worker each, those it has used
}

// Cache is the connection cache of one child to one worker.
type Cache struct {
	Worker string
	counters.Cache
}

// Slot is one slot of the scoreboard. Texts are copies and may hold any byte
// but zero.
type Slot struct {
	Server, Thread int
	PID            int
	Generation     uint32
	Current        bool // its child belongs to this generation and is not quiescing
	Status         scoreboard.Status
	Torn           bool

	// With ExtendedStatus; else zero.
	ConnAccesses, ChildAccesses, SlotAccesses uint64
	ConnBytes, ChildBytes, SlotBytes          uint64
	CPU                                       time.Duration // of the child
	SinceLastUsed                             time.Duration // SS
	LastRequest                               time.Duration // Req
	Duration                                  time.Duration // Dur
	Client, Protocol, VHost, Request          string        // Request without what follows '?', unless ShowQueryStrings
}

// Worker is what all children together have done for one worker.
type Worker struct {
	Name      string // "-" for answers of jkd itself
	Connector string // jk, jk2; "" for "-"
	counters.Totals
}

// Balancer is a load balancer.
type Balancer struct {
	Name      string
	Connector string // jk, jk2
	Method    string // Request, Session, ... ; "level" under jk2
	Members   []Member
}

// Member is a member of a Balancer, or a worker of its own in a Balancer
// without name.
type Member struct {
	Name       string
	Address    string
	Activation string // ACT, DIS, STP
	State      string // OK, OK/IDLE, ERR, BSY, REC ...
	Sick       bool   // State means that it does not get requests it should
	Factor     int
	Elected    uint64
	Errors     uint64
	Busy       int
	LastError  time.Time // zero if none
}

// Events are what became of children and of connections at their end, over all generations.
type Events struct {
	Starts uint64
	Deaths []Death // every reason, in a fixed order
	Cut    uint64  // connections, by GracefulShutdownTimeout
}

// Death is why children ended, and how many.
type Death struct {
	Reason string
	Count  uint64
}

// Source makes snapshots.
type Source interface {
	// Snapshot is the server now. It may be called concurrently.
	Snapshot() *Status
}
