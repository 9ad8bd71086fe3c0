package status

import (
	"time"

	"jkd/connector/jk/balance"
)

// View is everything the pages show, as it is at one moment. Fields are named
// after the attributes of the XML. Instants are Unix seconds, 0 is "never";
// counters are since the last reset.
type View struct {
	Software  Software
	Balancers []Balancer // those of worker.list, in its order
	// AJP are the other back ends of worker.list, in its order.
	AJP []AJP
	// Configuration is what the command dump shows: workers.properties with its
	// macros and references resolved, each directive once. Keys that hold a
	// secret need not be left out: they are never shown.
	Configuration []Pair
}

// Software names who serves.
type Software struct {
	WebServer string // web_server, what the front calls itself
	JKVersion string // jk_version, what the connector calls itself
}

// Pair is one line of the configuration.
type Pair struct{ Key, Value string }

// Balancer is a worker of type lb.
type Balancer struct {
	Name                string
	StickySession       bool
	StickySessionForce  bool
	Retries             int
	RetryInterval       time.Duration // in no listing, but can be edited
	RecoverTime         time.Duration
	ErrorEscalationTime time.Duration
	MaxReplyTimeouts    int
	Method              balance.Method
	Lock                balance.Lock
	Members             []Member // in the order of balance_workers
	Busy, MaxBusy       int
	Maps                []Map
	// The next maintenance is due in this time; see [NextMaintenance].
	TimeToMaintenanceMin, TimeToMaintenanceMax time.Duration
	LastReset                                  int64
}

// Endpoint is how a back end is reached.
type Endpoint struct {
	Name string
	Type string // "" is ajp13
	Host string
	Port int // 0 is never contacted
	// Address is what Host was resolved to, as address:port; "" when it could
	// not be. Without a port it is not shown.
	Address                string
	Source                 string // "": any
	ConnectionPoolTimeout  time.Duration
	PingTimeout            time.Duration
	ConnectTimeout         time.Duration
	PrepostTimeout         time.Duration
	ReplyTimeout           time.Duration
	ConnectionPingInterval time.Duration
	Retries                int
	RetryInterval          time.Duration // in no listing, but can be edited
	RecoveryOptions        int
	BusyLimit              int // 0: none
	MaxPacketSize          int // bytes
}

// Counters is what was counted of a back end.
type Counters struct {
	Errors, ClientErrors, ReplyTimeouts uint64
	// Transferred are the bytes sent to the back end, Read those received, with
	// the framing of AJP.
	Transferred, Read       uint64
	Busy, MaxBusy           int // requests in hand
	Connected, MaxConnected int // open connections
	LastReset               int64
	// ErrorTime is when the errors began that have not ended (member), or when
	// the last request failed (AJP).
	ErrorTime int64
}

// Member is a back end in a balancer.
type Member struct {
	Endpoint
	Counters
	Activation              balance.Activation
	LBFactor                int
	Route, Redirect, Domain string
	Distance                int
	State                   balance.State
	LBMult, LBValue         uint64
	Elected, Sessions       uint64
	// A member in [balance.Error] is tried again in this time, in any other
	// state both are 0; see [NextRecovery].
	TimeToRecoverMin, TimeToRecoverMax time.Duration
}

// AJP is a back end that stands in worker.list itself.
type AJP struct {
	Endpoint
	Counters
	// State is one of Idle, OK, Error and Probe. It is shown on the HTML pages
	// only.
	State balance.State
	Used  uint64 // requests
	Maps  []Map
}

// MapSource is where a rule was written.
type MapSource uint8

const (
	FromWorker   MapSource = iota // worker.NAME.mount
	FromMount                     // JkMount, JkUnMount
	FromMountMap                  // JkMountFile
	mapSources
)

var mapSourceNames = [mapSources]string{"worker definition", "JkMount", "uriworkermap"}

// String returns what mod_jk calls it.
func (s MapSource) String() string {
	if s < mapSources {
		return mapSourceNames[s]
	}
	return "unknown"
}

// Map is a rule that leads to a worker.
type Map struct {
	// Server is the server or virtual host, "name:port" or "name
	// [address:port]". "": the attribute is left out.
	Server            string
	URI               string // the pattern, without prefixes
	Disabled, Unmount bool   // prefixes - and !
	Exact             bool   // no wildcards in it
	Source            MapSource
	ReplyTimeout      time.Duration // negative: the worker's own
	StickyIgnore      bool
	Stateless         bool
	FailOnStatus      string // this and the next as they are written
	// The members that the rule makes active, disabled and stopped.
	Active, DisabledMembers, Stopped string
	UseServerErrors                  int // 0: not
}

// NextMaintenance is when a balancer is maintained next, for the attributes
// time_to_maintenance_min and _max: last is when it was (Unix s), every is
// worker.maintain. As mod_jk does it allows for two seconds.
func NextMaintenance(last, now int64, every time.Duration) (least, most time.Duration) {
	left := every - time.Duration(now-last)*time.Second
	return max(left-2*time.Second, 0), max(left+every, 0)
}

// NextRecovery is when a member in error is tried again, for the attributes
// time_to_recover_min and _max: since is when it was found to be in error (Unix
// s), maintenance the least time until the next maintenance, and every is
// worker.maintain.
func NextRecovery(since, now int64, recoverTime, maintenance, every time.Duration) (least, most time.Duration) {
	left := max(recoverTime-time.Duration(now-since)*time.Second, 0)
	return max(left, maintenance), left + every
}
