package jk

import (
	"fmt"
	"slices"
	"time"

	"jkd/conf"
	"jkd/connector/jk/balance"
	"jkd/connector/jk/status"
)

// Config is what workers.properties says, with every default that does not
// depend on the process filled in.
type Config struct {
	// Workers are those of worker.list, in its order, none twice.
	Workers []WorkerConfig
	// Maintain is worker.maintain: the least time between two runs of
	// maintenance. 0 = no maintenance at all. Default 60 s.
	Maintain time.Duration

	// names is what the text says about any worker name.
	names map[string]*nameInfo
	// listAt is where worker.list stands.
	listAt place
	// effective is the text as it counts, for the status worker.
	effective []status.Pair
}

// nameInfo is kept of names that are not (or not only) in worker.list, for
// messages.
type nameInfo struct {
	at       place // first directive of the worker
	memberOf string
	broken   bool // its directives have faults
}

// Worker returns the listed worker of that name, or nil. The pointer is into
// Workers.
func (c *Config) Worker(name string) *WorkerConfig {
	if i := c.index(name); i >= 0 {
		return &c.Workers[i]
	}
	return nil
}

// index is the place of a worker in Workers, or -1.
func (c *Config) index(name string) int {
	return slices.IndexFunc(c.Workers, func(w WorkerConfig) bool { return w.Name == name })
}

// WorkerType is worker.X.type.
type WorkerType uint8

const (
	AJP13  WorkerType = iota // one back end (the default)
	LB                       // several behind one name
	Status                   // mod_jk's status page
)

// String returns the name used in the file.
func (t WorkerType) String() string {
	switch t {
	case AJP13:
		return "ajp13"
	case LB:
		return "lb"
	case Status:
		return "status"
	}
	return fmt.Sprintf("WorkerType(%d)", uint8(t))
}

// WorkerConfig is one worker. Which fields mean something depends on Type.
type WorkerConfig struct {
	Name string
	Type WorkerType
	// Mounts is worker.X.mount: patterns of a [URIMap].
	Mounts []MountPattern

	AJP    AJPConfig     // Type AJP13
	Member MemberConfig  // Type AJP13, of use within a balancer
	LB     *LBConfig     // Type LB, else nil
	Status *StatusConfig // Type Status, else nil
}

// MountPattern is one pattern of worker.X.mount and where it stands.
type MountPattern struct {
	Pattern string
	File    string
	Line    int
}

// AJPConfig is how one back end is reached. Fields are named after the
// directives. Times are 0 when there is no limit, unless stated otherwise.
type AJPConfig struct {
	Host string // name or numeric address without brackets; default "localhost"
	Port int    // default 8009; 0 = never contacted
	// Source is the local address to connect from, "" for any.
	Source     string
	PreferIPv6 bool
	// ResolveTTL is how long addresses of Host are used before the name is
	// looked up again; ≥ 1 s, default 30 s. Directive resolve_ttl, jkd's own.
	ResolveTTL time.Duration
	// MaxConnections is the most connections to this back end that may be open
	// in all processes together, 0 = any number. Directive max_connections,
	// jkd's own.
	MaxConnections int
	// Secret is sent with every request, "" for none.
	Secret string

	SocketTimeout time.Duration // each read and write
	// SocketConnectTimeout defaults to SocketTimeout. When neither is set the
	// field is 0 and SocketConnectTimeoutSet false.
	SocketConnectTimeout    time.Duration
	SocketConnectTimeoutSet bool
	SocketKeepalive         bool
	SocketBuffer            int // bytes, 0 = the system's; else at least MaxPacketSize

	// PingMode tells when to ask the back end for a sign of life. It follows
	// from ping_mode and from the three times that switch a mode on.
	PingMode PingMode
	// PingTimeout is the wait for the answer while idle; default 10 s.
	PingTimeout time.Duration
	// ConnectTimeout is that after connecting, > 0 exactly if PingConnect.
	ConnectTimeout time.Duration
	// PrepostTimeout is that before a request, > 0 exactly if PingPrepost.
	PrepostTimeout time.Duration
	// ConnectionPingInterval is how long a connection may be idle before it is
	// asked, > 0 exactly if PingInterval.
	ConnectionPingInterval time.Duration

	Cache CacheConfig

	ReplyTimeout    time.Duration // before each packet of an answer
	Retries         int           // attempts, the first included; ≥ 1, default 2
	RetryInterval   time.Duration // between attempts, default 100 ms
	RecoveryOptions RecoveryOptions
	// RecoveryOptionsSet tells that the file has recovery_options: an absent
	// one is not the same as 0.
	RecoveryOptionsSet bool
	FailOnStatus       []FailStatus
	BusyLimit          int // requests at a time in all processes, 0 = any number
	// MaxPacketSize is 8192 to 65536, a multiple of 1024. Default: the largest
	// that a balancer sets which the worker is a member of, else 8192.
	MaxPacketSize int
}

// PingMode is a set of occasions to send a CPING.
type PingMode uint8

const (
	PingConnect  PingMode = 1 << iota // C: on a new connection
	PingPrepost                       // P: before a request
	PingInterval                      // I: on idle connections
	PingAll      = PingConnect | PingPrepost | PingInterval
)

// String returns the letters of ping_mode.
func (m PingMode) String() string {
	s := ""
	for i, letter := range []string{"C", "P", "I"} {
		if m&(1<<i) != 0 {
			s += letter
		}
	}
	return s
}

// RecoveryOptions is the bit mask of recovery_options: what to do when the
// connection breaks after a request was sent.
type RecoveryOptions uint8

const (
	// RecoverNotSent: do not try again after the request was sent.
	RecoverNotSent RecoveryOptions = 1 << iota
	// RecoverNotStarted: do not try again after the answer's head was
	// received.
	RecoverNotStarted
	// RecoverCloseOnClientError: when the client fails, close the connection
	// to the back end hard.
	RecoverCloseOnClientError
	// RecoverHead: try HEAD again in spite of RecoverNotSent.
	RecoverHead
	// RecoverGet: try GET again in spite of RecoverNotSent.
	RecoverGet

	recoverAll = 1<<iota - 1
)

// Mode is how a process keeps its connections to a back end.
type Mode uint8

const (
	// ModeCache: any number of connections is open when needed, and at most
	// Size idle ones are kept; those beyond are closed after use. Timeout is
	// looked at when a kept connection is about to be reused, and only then: an
	// older one is closed and replaced. Directives cachesize, cache_timeout; it
	// is also what a worker without any cache directive has.
	ModeCache Mode = iota
	// ModePool: never more than Size connections are open; a request waits
	// AcquireTimeout for one. Maintenance closes those idle for longer than
	// Timeout as long as more than MinSize are open. Directives
	// connection_pool_size, _minsize, _timeout and connection_acquire_timeout,
	// any of which selects it.
	ModePool
)

// String returns "cache" or "pool".
func (m Mode) String() string {
	switch m {
	case ModeCache:
		return "cache"
	case ModePool:
		return "pool"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// CacheConfig is the connections one process keeps to one back end.
type CacheConfig struct {
	Mode Mode
	// Size counts connections; what it bounds depends on Mode. SizeSet is
	// false when no directive gives it: [CacheConfig.Resolve] then does. In
	// ModeCache a Size that is set to 0 keeps no connection.
	Size    int
	SizeSet bool
	// MinSize is of use in ModePool only; -1 until resolved.
	MinSize int
	// Timeout is the age of an idle connection at which it goes, 0 = never.
	Timeout time.Duration
	// MaxIdle is the vendors' max_reuse_connections: the most idle connections
	// to keep in either mode, 0 = no limit of its own.
	MaxIdle int
	// AcquireTimeout is of use in ModePool only; 0 = do not wait. Default:
	// retries times retry_interval.
	AcquireTimeout time.Duration
}

// Resolve fills in what depends on how many requests a process serves at a
// time: 1 under prefork, ThreadsPerChild under worker.
func (c CacheConfig) Resolve(threads int) CacheConfig {
	if !c.SizeSet {
		c.Size = max(threads, 1)
	}
	if c.MinSize < 0 {
		c.MinSize = (c.Size + 1) / 2
	}
	return c
}

// MemberConfig is what a balancer knows about a worker.
type MemberConfig struct {
	LBFactor   int // ≥ 1, default 1
	Distance   int
	Activation Activation
	Route      string // default: the worker's name
	Domain     string // default: what precedes the first '.' of Route, if there is one
	Redirect   string // route of the member to prefer when this one fails
}

// Activation is whether a balancer may use a member.
type Activation = balance.Activation

// The activations.
const (
	Active   = balance.Active
	Disabled = balance.Disabled
	Stopped  = balance.Stopped
)

// LBConfig is a balancer.
type LBConfig struct {
	// Members are those of balance_workers, in its order; all of Type AJP13.
	// A member that is also listed, or is in two balancers, is a copy: it
	// inherits the balancer's secret if it has none. The other fields are the
	// same in all copies.
	Members []WorkerConfig

	StickySession      bool // default true
	StickySessionForce bool
	Method             Method
	Lock               Lock
	Retries            int           // rounds, default 2
	RetryInterval      time.Duration // between rounds, default 100 ms
	LBRetries          int           // members tried in a round, default 2
	RecoverTime        time.Duration // default 60 s
	// ErrorEscalationTime defaults to half of RecoverTime.
	ErrorEscalationTime time.Duration
	MaxReplyTimeouts    int
	SessionCookie       string // default JSESSIONID
	SessionPath         string // default ;jsessionid
	SetSessionCookie    bool
	SessionCookiePath   string // default /
	Secret              string
	// MaxPacketSize is the largest of the members', or more if it is set. What
	// is set members without one of their own inherit.
	MaxPacketSize int
}

// Method is what a balancer counts.
type Method = balance.Method

// The methods.
const (
	ByRequests = balance.ByRequests
	ByTraffic  = balance.ByTraffic
	ByBusyness = balance.ByBusyness
	BySessions = balance.BySessions
	ByNext     = balance.ByNext
)

// Lock is how balancers in different processes agree. Either way an election
// is repeated when another process was faster.
type Lock = balance.Lock

// The locks.
const (
	Optimistic  = balance.Optimistic
	Pessimistic = balance.Pessimistic
)

// StatusConfig is a status page.
type StatusConfig struct {
	CSS                 string
	ReadOnly            bool
	Users               []string // empty = everybody
	UserCaseInsensitive bool
	// AllowGetUpdate lets a GET change things, as it does in mod_jk; otherwise
	// it takes a POST. Directive allow_get_update, jkd's own.
	AllowGetUpdate bool
	Good           []string // default a.o a.i a.b a.r
	Bad            []string // default s e
	Prefix         string   // default worker
	NS             string   // default jk:
	XMLNS          string   // default xmlns:jk="http://tomcat.apache.org"
	Doctype        string
}

// ParseConfig reads workers.properties: the sources in order as if they were
// one text. It returns all faults as [conf.Errors].
func ParseConfig(env Env, sources ...Source) (*Config, []conf.Warning, error) {
	b := parseConfig(env, sources)
	conf.SortWarnings(b.Warnings)
	if err := b.Errs.Err(); err != nil {
		return nil, b.Warnings, err
	}
	return b.cfg, b.Warnings, nil
}

// parseConfig is ParseConfig that gives what could be read although there are
// faults, so that the rules can be checked against it.
func parseConfig(env Env, sources []Source) *builder {
	p := parseProperties(env, sources)
	b := &builder{report: &p.report, props: p, cfg: &Config{names: map[string]*nameInfo{}}, workers: map[string]*definition{}}
	b.build()
	return b
}
