package jkshm

import (
	"net/netip"
	"slices"
	"time"

	"jkd/connector/jk/balance"
)

// Bounds of max_packet_size, which is a multiple of PacketStep.
const (
	MinPacketSize = 8192
	MaxPacketSize = 65536
	PacketStep    = 1024
)

// maxRecoveryOptions has all bits of recovery_options.
const maxRecoveryOptions = 31

// WorkerSettings are the values of a back end that can be changed while it is
// used, each named after its directive. Every field is in range when it comes
// out of a segment and must be when it goes in: times 0 to MaxDuration, counts 0
// to MaxCount unless stated otherwise.
type WorkerSettings struct {
	Host                   string // at most MaxHost bytes
	Port                   int    // 0 to 65535; 0: not contacted
	ConnectionPoolTimeout  time.Duration
	PingTimeout            time.Duration
	ConnectTimeout         time.Duration
	PrepostTimeout         time.Duration
	ReplyTimeout           time.Duration
	Retries                int // 1 to MaxCount
	RetryInterval          time.Duration
	ConnectionPingInterval time.Duration
	RecoveryOptions        int  // 0 to 31
	RecoveryOptionsSet     bool // recovery_options is given; 0 is not the same as none
	BusyLimit              int  // requests in all processes; 0: no limit
	MaxPacketSize          int  // MinPacketSize to MaxPacketSize, in steps of PacketStep
	MaxConnections         int  // connections of all processes; 0: no limit
}

func (s *WorkerSettings) fields(c *codec) {
	c.host("host", &s.Host)
	c.integer("port", &s.Port, 0, 65535)
	c.duration("connection_pool_timeout", &s.ConnectionPoolTimeout, 0)
	c.duration("ping_timeout", &s.PingTimeout, 0)
	c.duration("connect_timeout", &s.ConnectTimeout, 0)
	c.duration("prepost_timeout", &s.PrepostTimeout, 0)
	c.duration("reply_timeout", &s.ReplyTimeout, 0)
	c.integer("retries", &s.Retries, 1, MaxCount)
	c.duration("retry_interval", &s.RetryInterval, 0)
	c.duration("connection_ping_interval", &s.ConnectionPingInterval, 0)
	c.integer("recovery_options", &s.RecoveryOptions, 0, maxRecoveryOptions)
	c.boolean("recovery_options set", &s.RecoveryOptionsSet)
	c.integer("busy_limit", &s.BusyLimit, 0, MaxCount)
	c.multiple("max_packet_size", &s.MaxPacketSize, MinPacketSize, MaxPacketSize, PacketStep)
	c.integer("max_connections", &s.MaxConnections, 0, MaxCount)
}

// MaxAddresses is how many addresses of a back end are kept.
const MaxAddresses = 8

// Addresses is what the host of a worker was resolved to. The zero value: it
// was not.
type Addresses struct {
	// Resolved is false as long as the host's name could not be resolved, and
	// after an edit of the host until somebody has done it again.
	Resolved bool
	// List has at most MaxAddresses addresses, in the order to try them.
	List []netip.AddrPort
}

func (a *Addresses) equal(b *Addresses) bool {
	return a.Resolved == b.Resolved && slices.Equal(a.List, b.List)
}

func (a *Addresses) fields(c *codec) {
	c.boolean("resolved", &a.Resolved)
	n := len(a.List)
	c.integer("addresses", &n, 0, MaxAddresses)
	if !c.encode {
		a.List = a.List[:0]
	}
	for i := range MaxAddresses {
		w := c.next("address", addrWords)
		switch {
		case i >= n:
		case c.encode:
			c.addrPort(w, a.List[i])
		default:
			a.List = append(a.List, addrPortOf(w))
		}
	}
}

// workerConfig is one copy in a worker's record.
type workerConfig struct {
	WorkerSettings
	Addresses
	generation uint64 // of the addresses
}

func (s *workerConfig) fields(c *codec) {
	s.WorkerSettings.fields(c)
	w := c.next("generation", 1)
	if c.encode {
		w[0] = s.generation
	} else {
		s.generation = w[0]
	}
	s.Addresses.fields(c)
}

// workerGeneration is where the generation of the addresses is in a copy.
const workerGeneration = hostWords + 14

// BalancerSettings are the values of a balancer that can be changed while it is
// used, each named after its directive.
type BalancerSettings struct {
	StickySession       bool
	StickySessionForce  bool
	Retries             int // 1 to MaxCount
	RetryInterval       time.Duration
	RecoverTime         time.Duration // at least 1 s
	ErrorEscalationTime time.Duration
	MaxReplyTimeouts    int
	Method              balance.Method // read as ByRequests when it is none
	Lock                balance.Lock   // read as Optimistic when it is none
}

func (s *BalancerSettings) fields(c *codec) {
	c.boolean("sticky_session", &s.StickySession)
	c.boolean("sticky_session_force", &s.StickySessionForce)
	c.integer("retries", &s.Retries, 1, MaxCount)
	c.duration("retry_interval", &s.RetryInterval, 0)
	c.duration("recover_time", &s.RecoverTime, time.Second)
	c.duration("error_escalation_time", &s.ErrorEscalationTime, 0)
	c.integer("max_reply_timeouts", &s.MaxReplyTimeouts, 0, MaxCount)
	enumeration(c, "method", &s.Method, balance.ByRequests)
	enumeration(c, "lock", &s.Lock, balance.Optimistic)
}

// MemberSettings are the values of a member of a balancer that can be changed
// while it is used, each named after its directive. Texts have at most MaxName
// bytes.
type MemberSettings struct {
	Activation balance.Activation // read as Stopped when it is none
	LBFactor   int                // 1 to MaxCount
	Route      string
	Redirect   string
	Domain     string
	Distance   int // -MaxCount to MaxCount
}

func (s *MemberSettings) fields(c *codec) {
	enumeration(c, "activation", &s.Activation, balance.Stopped)
	c.integer("lbfactor", &s.LBFactor, 1, MaxCount)
	c.text("route", &s.Route)
	c.text("redirect", &s.Redirect)
	c.text("domain", &s.Domain)
	c.integer("distance", &s.Distance, -MaxCount, MaxCount)
}
