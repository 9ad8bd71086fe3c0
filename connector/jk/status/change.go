package status

import (
	"fmt"
	"strconv"
	"time"

	"jkd/connector/jk/balance"
)

// Attribute is a value that an update can change. The comments name the
// directive, the parameter, and the field of [Change] the new value is in.
type Attribute uint8

const (
	noAttribute Attribute = iota

	// Of a balancer.

	LBRetries             // retries, vlr: Int ≥ 1
	LBRetryInterval       // retry_interval, vlri: Duration > 0
	LBRecoverTime         // recover_time, vlt: Duration > 0
	LBErrorEscalationTime // error_escalation_time, vlee: Duration > 0
	LBMaxReplyTimeouts    // max_reply_timeouts, vlx: Int ≥ 0
	LBStickySession       // sticky_session, vls: Int 0 or 1
	LBStickySessionForce  // sticky_session_force, vlf: Int 0 or 1
	LBMethod              // method, vlm: Int is a [balance.Method]
	LBLock                // lock, vll: Int is a [balance.Lock]

	// Of a member.

	Activation // activation, vwa: Int is a [balance.Activation]
	LBFactor   // lbfactor, vwf: Int ≥ 1
	Route      // route, vwn: Text, never empty, of no other member
	Redirect   // redirect, vwr: Text
	Domain     // domain, vwc: Text
	Distance   // distance, vwd: Int ≥ 0

	// Of a back end, member or not.

	Host                   // host, vahst: Text, never empty
	Port                   // port, vaprt: Int 0 to 65535
	ConnectionPoolTimeout  // connection_pool_timeout, vacpt: Duration, whole seconds
	PingTimeout            // ping_timeout, vapng: Duration
	ConnectTimeout         // connect_timeout, vact: Duration
	PrepostTimeout         // prepost_timeout, vapt: Duration
	ReplyTimeout           // reply_timeout, vart: Duration
	Retries                // retries, var: Int ≥ 1
	RetryInterval          // retry_interval, vari: Duration > 0
	ConnectionPingInterval // connection_ping_interval, vacpi: Duration, whole seconds > 0
	RecoveryOptions        // recovery_options, varo: Int 0 to 31
	BusyLimit              // busy_limit, vabl: Int ≥ 0
	MaxPacketSize          // max_packet_size, vamps: Int 8192 to 65536, a multiple of 1024

	attributeCount
)

// scope is whose value an attribute is.
type scope uint8

const (
	ofBalancer scope = iota
	ofMember
	ofEndpoint
)

// kind is how a value is written.
type kind uint8

const (
	integer kind = iota
	milliseconds
	seconds
	boolean
	word // text for a route, redirect or domain
	host
	activation
	method
	lock
	packet
)

const (
	maxInt  = 1<<31 - 1
	maxText = 63  // bytes of a text
	maxHost = 255 // of a host's name

	maxPort            = 65535
	allRecoveryOptions = 31
	minPacket          = 8192
	maxPacket          = 65536
	packetStep         = 1024
)

// definition is all about an attribute. Out of least and most a value is
// ignored; they count in the unit of the kind.
type definition struct {
	code, name  string
	scope       scope
	kind        kind
	least, most int
	value       func(*target) value
}

// value is the value of an attribute, in one of the fields.
type value struct {
	num  int
	span time.Duration
	text string
}

func asValue(b bool) value {
	if b {
		return value{num: 1}
	}
	return value{}
}

var definitions = [attributeCount]definition{
	LBRetries:             {"vlr", "retries", ofBalancer, integer, 1, maxInt, func(t *target) value { return value{num: t.balancer.Retries} }},
	LBRetryInterval:       {"vlri", "retry_interval", ofBalancer, milliseconds, 1, maxInt, func(t *target) value { return value{span: t.balancer.RetryInterval} }},
	LBRecoverTime:         {"vlt", "recover_time", ofBalancer, seconds, 1, maxInt, func(t *target) value { return value{span: t.balancer.RecoverTime} }},
	LBErrorEscalationTime: {"vlee", "error_escalation_time", ofBalancer, seconds, 1, maxInt, func(t *target) value { return value{span: t.balancer.ErrorEscalationTime} }},
	LBMaxReplyTimeouts:    {"vlx", "max_reply_timeouts", ofBalancer, integer, 0, maxInt, func(t *target) value { return value{num: t.balancer.MaxReplyTimeouts} }},
	LBStickySession:       {"vls", "sticky_session", ofBalancer, boolean, 0, 1, func(t *target) value { return asValue(t.balancer.StickySession) }},
	LBStickySessionForce:  {"vlf", "sticky_session_force", ofBalancer, boolean, 0, 1, func(t *target) value { return asValue(t.balancer.StickySessionForce) }},
	LBMethod:              {"vlm", "method", ofBalancer, method, 0, 0, func(t *target) value { return value{num: int(t.balancer.Method)} }},
	LBLock:                {"vll", "lock", ofBalancer, lock, 0, 0, func(t *target) value { return value{num: int(t.balancer.Lock)} }},

	Activation: {"vwa", "activation", ofMember, activation, 0, 0, func(t *target) value { return value{num: int(t.member.Activation)} }},
	LBFactor:   {"vwf", "lbfactor", ofMember, integer, 1, maxInt, func(t *target) value { return value{num: t.member.LBFactor} }},
	Route:      {"vwn", "route", ofMember, word, 1, maxText, func(t *target) value { return value{text: t.member.Route} }},
	Redirect:   {"vwr", "redirect", ofMember, word, 0, maxText, func(t *target) value { return value{text: t.member.Redirect} }},
	Domain:     {"vwc", "domain", ofMember, word, 0, maxText, func(t *target) value { return value{text: t.member.Domain} }},
	Distance:   {"vwd", "distance", ofMember, integer, 0, maxInt, func(t *target) value { return value{num: t.member.Distance} }},

	Host:                   {"vahst", "host", ofEndpoint, host, 1, maxHost, func(t *target) value { return value{text: t.endpoint().Host} }},
	Port:                   {"vaprt", "port", ofEndpoint, integer, 0, maxPort, func(t *target) value { return value{num: t.endpoint().Port} }},
	ConnectionPoolTimeout:  {"vacpt", "connection_pool_timeout", ofEndpoint, seconds, 0, maxInt, func(t *target) value { return value{span: t.endpoint().ConnectionPoolTimeout} }},
	PingTimeout:            {"vapng", "ping_timeout", ofEndpoint, milliseconds, 0, maxInt, func(t *target) value { return value{span: t.endpoint().PingTimeout} }},
	ConnectTimeout:         {"vact", "connect_timeout", ofEndpoint, milliseconds, 0, maxInt, func(t *target) value { return value{span: t.endpoint().ConnectTimeout} }},
	PrepostTimeout:         {"vapt", "prepost_timeout", ofEndpoint, milliseconds, 0, maxInt, func(t *target) value { return value{span: t.endpoint().PrepostTimeout} }},
	ReplyTimeout:           {"vart", "reply_timeout", ofEndpoint, milliseconds, 0, maxInt, func(t *target) value { return value{span: t.endpoint().ReplyTimeout} }},
	Retries:                {"var", "retries", ofEndpoint, integer, 1, maxInt, func(t *target) value { return value{num: t.endpoint().Retries} }},
	RetryInterval:          {"vari", "retry_interval", ofEndpoint, milliseconds, 1, maxInt, func(t *target) value { return value{span: t.endpoint().RetryInterval} }},
	ConnectionPingInterval: {"vacpi", "connection_ping_interval", ofEndpoint, seconds, 1, maxInt, func(t *target) value { return value{span: t.endpoint().ConnectionPingInterval} }},
	RecoveryOptions:        {"varo", "recovery_options", ofEndpoint, integer, 0, allRecoveryOptions, func(t *target) value { return value{num: t.endpoint().RecoveryOptions} }},
	BusyLimit:              {"vabl", "busy_limit", ofEndpoint, integer, 0, maxInt, func(t *target) value { return value{num: t.endpoint().BusyLimit} }},
	MaxPacketSize:          {"vamps", "max_packet_size", ofEndpoint, packet, minPacket, maxPacket, func(t *target) value { return value{num: t.endpoint().MaxPacketSize} }},
}

// String returns the name of the directive.
func (a Attribute) String() string {
	if noAttribute < a && a < attributeCount {
		return definitions[a].name
	}
	return "Attribute(" + strconv.Itoa(int(a)) + ")"
}

// Code returns the parameter of an update, "vwa" for [Activation].
func (a Attribute) Code() string {
	if noAttribute < a && a < attributeCount {
		return definitions[a].code
	}
	return ""
}

// Change is one new value. The comment at each [Attribute] tells which of Int,
// Duration and Text it is in and its range, which has been checked; it is never
// the value that the [View] had.
type Change struct {
	Attribute Attribute
	Int       int // numbers, 0 and 1 for False and True, enumerations
	Duration  time.Duration
	Text      string
	// Old and New are both values as they are shown.
	Old, New string
}

// parse reads a value. Without ok it is to be ignored; an error is one the
// client must know.
func (d *definition) parse(text string) (v value, ok bool, err error) {
	switch d.kind {
	case word, host:
		switch {
		case len(text) > d.most:
			return v, false, fmt.Errorf("value for %s is longer than %d bytes", d.name, d.most)
		case len(text) < d.least:
			return v, false, nil
		case !allowed(d.kind, text):
			return v, false, fmt.Errorf("value for %s has characters that are not allowed", d.name)
		}
		return value{text: text}, true, nil
	case boolean:
		v, ok = parseBool(text)
		return v, ok, nil
	case activation:
		a, ok := balance.ParseActivation(text)
		return value{num: int(a)}, ok, nil
	case method:
		m, ok := balance.ParseMethod(text)
		return value{num: int(m)}, ok, nil
	case lock:
		l, ok := balance.ParseLock(text)
		return value{num: int(l)}, ok, nil
	}
	n, ok := number(text)
	if !ok || n < d.least || n > d.most {
		return v, false, nil
	}
	switch d.kind {
	case milliseconds:
		return value{span: time.Duration(n) * time.Millisecond}, true, nil
	case seconds:
		return value{span: time.Duration(n) * time.Second}, true, nil
	case packet:
		n = (n + packetStep - 1) / packetStep * packetStep
	}
	return value{num: n}, true, nil
}

// show is a value in the unit in which it is written.
func (d *definition) show(v value) string {
	switch d.kind {
	case word, host:
		return v.text
	case milliseconds:
		return strconv.FormatInt(v.span.Milliseconds(), 10)
	case seconds:
		return strconv.FormatInt(int64(v.span/time.Second), 10)
	case boolean:
		return boolText(v.num != 0)
	case activation:
		return balance.Activation(v.num).String()
	case method:
		return balance.Method(v.num).String()
	case lock:
		return balance.Lock(v.num).String()
	}
	return strconv.Itoa(v.num)
}

// allowed tells whether a text has no characters that would break a cookie, a
// header field, a log line or the look-up of a host.
func allowed(k kind, text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ' || c >= 0x7f, c == ';', c == ',', c == '"', c == '\\':
			return false
		case k == host && !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= ':' || c == '.' || c == '-' || c == '_' || c == '%'):
			return false
		}
	}
	return true
}

// parseBool reads what directives take for a boolean.
func parseBool(text string) (value, bool) {
	if text == "" {
		return value{}, false
	}
	switch c := text[0] | 0x20; {
	case text == "1", c == 'y', c == 't', len(text) == 2 && c == 'o' && text[1]|0x20 == 'n':
		return asValue(true), true
	case text == "0", c == 'n', c == 'f', len(text) == 3 && c == 'o' && text[1]|0x20 == 'f':
		return asValue(false), true
	}
	return value{}, false
}
