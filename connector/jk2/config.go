package jk2

import (
	"time"

	"jkd/conf"
)

// Component is what all components have.
type Component struct {
	// Name is type, colon and local name: "ajp13:localhost:8009".
	Name string
	Info string // info: what the section is for, in the user's words
	// Ver is ver: while jkd runs, a component that is there already is read
	// again only if its number has changed.
	Ver      int
	Debug    int  // debug: more than 0 says more in the log
	Disabled bool // disabled
	// File and Line are where it was first written, "" and 0 for a component
	// that exists without.
	File string
	Line int
}

// Level is the level of a logger.
type Level uint8

// The levels from the most talkative on.
const (
	LevelDebug Level = iota
	LevelInfo
	LevelError
	LevelEmerg
)

var levelNames = []string{"DEBUG", "INFO", "ERROR", "EMERG"}

// String returns the word in the file.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return "Level(?)"
}

// Logger is logger.apache2 (the server's log) or a logger.file.
type Logger struct {
	Component
	Level Level // level, default ERROR
	// File is file; "" is the server's log and "stderr" standard error.
	File string
}

// ForwardURI is the form in which containers get the path. The zero value is
// the default, which mod_jk2 has not: nothing rewrites paths here, and what is
// not touched cannot be spoilt.
type ForwardURI uint8

// The forms.
const (
	ForwardURICompatUnparsed ForwardURI = iota // as it came, without the query
	ForwardURICompat                           // decoded
	ForwardURIEscaped                          // decoded and encoded again
)

// String returns the property that selects it.
func (f ForwardURI) String() string {
	switch f {
	case ForwardURICompat:
		return "forwardURICompat"
	case ForwardURICompatUnparsed:
		return "forwardURICompatUnparsed"
	case ForwardURIEscaped:
		return "forwardURIEscaped"
	}
	return "ForwardURI(?)"
}

// WorkerEnv is [workerEnv:], what holds for all workers.
type WorkerEnv struct {
	Component
	Timing bool // timing: measure the requests of all uris
	// Names of variables of the request: httpsIndicator and so on.
	HTTPSIndicator, CertsIndicator, CipherIndicator, SessionIndicator, KeySizeIndicator string

	ForwardKeySize bool
	ForwardURI     ForwardURI
	// At most one of the two is set.
	NoRecoveryIfRequestSent, NoRecoveryIfHeaderSent bool
}

// Shm is [shm:], the memory that tells other programs about endpoints.
type Shm struct {
	Component
	// File is where it lies, absolute if ServerRoot is known. "" with On is
	// memory without a file (useMemory, or a name that begins with "anon").
	File string
	// On is whether there is any: a file was given and disabled was not.
	On    bool
	Slots int // slots, 1 to MaxSlots, default 256
}

// MaxSlots bounds slots.
const MaxSlots = 65536

// ChannelKind is the kind of transport.
type ChannelKind uint8

// The kinds.
const (
	Socket ChannelKind = iota // channel.socket and channel.apr: TCP
	Unix                      // channel.un
)

// Channel is how a worker is reached.
type Channel struct {
	Component
	Kind ChannelKind
	// Socket only. Host is a name or an address, default 127.0.0.1; Port 8009.
	Host string
	Port int
	// Timeout bounds a connect, each send and each receive; 0 = no bound.
	Timeout   time.Duration
	KeepAlive bool // keepalive: SO_KEEPALIVE
	NoDelay   bool // nodelay: TCP_NODELAY
	// Unix only: the socket's path.
	Path string
}

// Worker is an ajp13 component: one container behind one channel.
type Worker struct {
	Component
	// Channel is its place in Config.Channels.
	Channel int
	// Route is tomcatId or route, default the local name.
	Route         string
	RouteRedirect string // sessions of Route go to this route instead; "" = they stay
	// LBFactor is what a request costs in the balancer's books: twice the
	// number, half the requests. 0 takes all. Default 1.
	LBFactor int
	Level    int  // level, 0 to 3; the lowest that has anybody left counts
	Graceful bool // only requests of sessions of its own
	// MaxConnections is max_connections, of one process; 0 = no limit.
	MaxConnections int
	Secret         string // secretkey
	// ConnectTimeout and PrepostTimeout ask for a sign of life after
	// connecting and before a request; ReplyTimeout bounds the wait for each
	// answer. 0 = none.
	ConnectTimeout, PrepostTimeout, ReplyTimeout time.Duration
}

// Levels is how many levels there are.
const Levels = 4

// Balancer is an lb component.
type Balancer struct {
	Component
	// Members are places in Config.Workers, in the order that decides between
	// equals.
	Members []int

	StickySession bool          // stickySession, default true
	Recovery      time.Duration // recovery, default 60 s
	NoWorkerCode  int           // noWorkerCode, default 503
	// NoWorkerMsg is the text for it, or the Location if the code is 302.
	NoWorkerMsg string
	// NoErrorHeader leaves the error page to the server; default true.
	NoErrorHeader bool
	// HWBalanceErr, if not 0, sends new sessions to level 0 only, and is the
	// answer when nobody is left there: a balancer in front shall look
	// elsewhere.
	HWBalanceErr int
}

// StatusPage is a status component.
type StatusPage struct {
	Component
	StyleMode int // styleMode, 0 to 3
	StylePath string
}

// TargetKind is what a uri leads to.
type TargetKind uint8

// The kinds.
const (
	NoTarget TargetKind = iota // a uri that maps nothing
	ToWorker
	ToBalancer
	ToStatus
)

// Target is a component that answers requests: its place in Config.Workers,
// Balancers or Statuses.
type Target struct {
	Kind  TargetKind
	Index int
}

// Config is all components. It does not change and may be used concurrently.
type Config struct {
	Logger    Logger
	WorkerEnv WorkerEnv
	Shm       Shm

	Channels  []Channel
	Workers   []Worker
	Balancers []Balancer // lb:lb is always among them
	Statuses  []StatusPage
	Uris      []Uri

	targets  map[string]Target
	settings []Setting
}

// Target finds a component by its full name, or a balancer by its local name,
// or a component without a local name by its type.
func (c *Config) Target(name string) (Target, bool) {
	for _, n := range []string{name, "lb:" + name, name + ":"} {
		if t, ok := c.targets[n]; ok {
			return t, true
		}
	}
	return Target{}, false
}

// TargetName is the full name of a target of c, "" for NoTarget.
func (c *Config) TargetName(t Target) string {
	switch t.Kind {
	case ToWorker:
		return c.Workers[t.Index].Name
	case ToBalancer:
		return c.Balancers[t.Index].Name
	case ToStatus:
		return c.Statuses[t.Index].Name
	}
	return ""
}

// component finds any component by its full name.
func (c *Config) component(name string) (*Component, bool) {
	for _, one := range []*Component{&c.Logger.Component, &c.WorkerEnv.Component, &c.Shm.Component} {
		if one.Name == name {
			return one, true
		}
	}
	for i := range c.Channels {
		if x := &c.Channels[i].Component; x.Name == name {
			return x, true
		}
	}
	for i := range c.Workers {
		if x := &c.Workers[i].Component; x.Name == name {
			return x, true
		}
	}
	for i := range c.Balancers {
		if x := &c.Balancers[i].Component; x.Name == name {
			return x, true
		}
	}
	for i := range c.Statuses {
		if x := &c.Statuses[i].Component; x.Name == name {
			return x, true
		}
	}
	for i := range c.Uris {
		if x := &c.Uris[i].Component; x.Name == name {
			return x, true
		}
	}
	return nil, false
}

// Setting is one line as it counts.
type Setting struct {
	Component, Property string
	// Written is the value as it stands there, Value has its macros replaced.
	// Those of secrets are "*".
	Written, Value string
	File           string
	Line           int
}

// Settings returns every setting in the order of the components.
func (c *Config) Settings() []Setting { return c.settings }

// ParseConfig reads workers2.properties and what belongs to it: the sources in
// order as if they were one text. It returns all faults as [conf.Errors].
func ParseConfig(env Env, sources ...Source) (*Config, []conf.Warning, error) {
	o := readObjects(env, sources)
	b := &builder{objects: o, cfg: &Config{targets: map[string]Target{}}}
	b.build()
	conf.SortWarnings(o.Warnings)
	if err := o.Errs.Err(); err != nil {
		return nil, o.Warnings, err
	}
	return b.cfg, o.Warnings, nil
}
