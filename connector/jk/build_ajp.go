package jk

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"

	"jkd/conf"
	"jkd/connector/jk/jkshm"
)

const (
	normalPort      = 8009
	leastPacketSize = 8192
	mostPacketSize  = 65536
)

// ajp reads section 2.4's directives in mod_jk's order of dependence.
func (g get) ajp() AJPConfig {
	c := AJPConfig{
		Host:       g.host(),
		Port:       int(g.number("port", 0, 65535, normalPort)),
		Source:     g.source(),
		PreferIPv6: g.bool("prefer_ipv6", false),
		ResolveTTL: time.Duration(g.raised("resolve_ttl", 1, 30)) * time.Second,
		Secret:     g.text("secret", ""),

		SocketTimeout:   g.time("socket_timeout", time.Second, 0, negativeIsZero),
		SocketKeepalive: g.bool("socket_keepalive", false),

		ReplyTimeout:       g.time("reply_timeout", time.Millisecond, 0, negativeIsZero),
		Retries:            g.raised("retries", 1, 2),
		RetryInterval:      g.time("retry_interval", time.Millisecond, 100*time.Millisecond, negativeIsZero),
		RecoveryOptions:    g.recovery(),
		RecoveryOptionsSet: g.set("recovery_options"),
		FailOnStatus:       g.failStatus(),
		BusyLimit:          int(g.number("busy_limit", math.MinInt32, math.MaxInt32, 0)),
		MaxPacketSize:      g.packetSize(),
	}
	c.BusyLimit = max(c.BusyLimit, 0)
	c.MaxConnections = int(max(g.number("max_connections", math.MinInt32, math.MaxInt32, 0), 0))
	c.SocketConnectTimeout = g.time("socket_connect_timeout", time.Millisecond, c.SocketTimeout, negativeIsZero)
	c.SocketConnectTimeoutSet = g.set("socket_connect_timeout") || c.SocketTimeout > 0
	c.SocketBuffer = int(g.number("socket_buffer", math.MinInt32, 1<<30, 0))
	if c.SocketBuffer > 0 {
		c.SocketBuffer = max(c.SocketBuffer, c.MaxPacketSize)
	}
	c.SocketBuffer = max(c.SocketBuffer, 0)
	g.pings(&c)
	c.Cache = g.cache(time.Duration(c.Retries) * c.RetryInterval)
	return c
}

// host accepts a name or a numeric address, with or without brackets. mod_jk
// takes "name:port" for a name that then cannot be found; here it is a fault.
func (g get) host() string {
	const usual = "localhost"
	host := g.upTo(jkshm.MaxHost, "host", usual)
	p := g.own["host"]
	if p == nil || host == usual {
		return host
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		if a, err := netip.ParseAddr(inner); closed && err == nil && a.Is6() {
			return inner
		}
	}
	switch i := strings.IndexByte(host, ':'); {
	case i < 0 && !hostName(host), strings.HasPrefix(host, "["):
		g.b.fail(p.at(), p.Name, "%s is neither a host name nor an address", conf.Printable(host))
	case i < 0:
		return host
	default:
		if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
			return host
		}
		g.b.fail(p.at(), p.Name, "%s: the port has a directive of its own, port", conf.Printable(host))
	}
	return usual
}

func hostName(s string) bool {
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

func (g get) source() string {
	s := g.short("source", "")
	if s == "" {
		return s
	}
	if _, err := netip.ParseAddr(strings.Trim(s, "[]")); err != nil && strings.ContainsAny(s, ":/ \t") {
		p := g.own["source"]
		g.b.fail(p.at(), p.Name, "%s is not an address", conf.Printable(s))
	}
	return strings.Trim(s, "[]")
}

func (g get) recovery() RecoveryOptions {
	n := g.number("recovery_options", 0, math.MaxInt32, 0)
	if n&^recoverAll != 0 {
		p := g.own["recovery_options"]
		g.b.warn(p.at(), p.Name, "%d has bits that mean nothing; %d is used", n, n&recoverAll)
	}
	return RecoveryOptions(n & recoverAll)
}

func (g get) failStatus() []FailStatus {
	var out []FailStatus
	for _, part := range g.parts("fail_on_status") {
		at, key := place{part.File, part.Line}, g.own["fail_on_status"].Name
		codes, odd, err := parseFailStatus(part.Value)
		if err != nil && !g.excused(part, "the line is ignored") {
			g.b.fail(at, key, "%s", err)
		}
		for _, text := range odd {
			g.b.warn(at, key, "%s", text)
		}
		out = append(out, codes...)
	}
	return out
}

// packetSize rounds up to whole KiB, as mod_jk does.
func (g get) packetSize() int {
	p := g.own["max_packet_size"]
	n := int(g.number("max_packet_size", math.MinInt32, math.MaxInt32, leastPacketSize))
	want := min(max((n+1023)/1024*1024, leastPacketSize), mostPacketSize)
	switch {
	case want == n:
	case n < leastPacketSize || n > mostPacketSize:
		g.b.warn(p.at(), p.Name, "%d is not within %d and %d; %d is used", n, leastPacketSize, mostPacketSize, want)
	default:
		g.b.info(p.at(), p.Name, "%d is rounded up to %d", n, want)
	}
	return want
}

// pings settles when to ask for a sign of life: the letters of ping_mode give
// each occasion the general timeout, and a timeout of its own switches an
// occasion on.
func (g get) pings(c *AJPConfig) {
	for _, letter := range g.text("ping_mode", "") {
		switch letter {
		case 'c', 'C':
			c.PingMode |= PingConnect
		case 'p', 'P':
			c.PingMode |= PingPrepost
		case 'i', 'I':
			c.PingMode |= PingInterval
		case 'a', 'A':
			c.PingMode |= PingAll
		default:
			p := g.own["ping_mode"]
			g.b.warn(p.at(), p.Name, "the letter %q means nothing (C, P, I, A)", letter)
		}
	}
	wanted := c.PingMode
	c.PingTimeout = g.time("ping_timeout", time.Millisecond, 10*time.Second, negativeIsZero)
	own := func(name string, unit time.Duration, bit PingMode, usual time.Duration) time.Duration {
		t := g.time(name, unit, 0, negativeIsZero)
		if t == 0 && c.PingMode&bit != 0 {
			t = usual
		}
		if t > 0 {
			c.PingMode |= bit
		} else {
			c.PingMode &^= bit
		}
		return t
	}
	c.ConnectTimeout = own("connect_timeout", time.Millisecond, PingConnect, c.PingTimeout)
	c.PrepostTimeout = own("prepost_timeout", time.Millisecond, PingPrepost, c.PingTimeout)
	// The interval in seconds is a hundredth of the timeout in milliseconds.
	c.ConnectionPingInterval = own("connection_ping_interval", time.Second, PingInterval,
		min(time.Duration(c.PingTimeout.Milliseconds()/100)*time.Second, longest))

	if p := g.own["ping_mode"]; p != nil {
		if off := wanted &^ c.PingMode; off != 0 {
			g.b.warn(p.at(), p.Name, "asks for %s, but a ping_timeout of %d ms switches that off", off, c.PingTimeout.Milliseconds())
		}
		if on := c.PingMode &^ wanted; on != 0 {
			g.b.info(p.at(), p.Name, "does not have %s, which a time of its own switches on all the same", on)
		}
	}
}

const mostConnections = 1 << 20

// cache decides between the two ways to keep connections; see [Mode].
func (g get) cache(usualWait time.Duration) CacheConfig {
	c := CacheConfig{MinSize: -1, AcquireTimeout: usualWait}
	c.MaxIdle = int(g.number("max_reuse_connections", 0, mostConnections, 0))
	newName := ""
	for _, name := range []string{"connection_pool_size", "connection_pool_minsize", "connection_pool_timeout", "connection_acquire_timeout"} {
		if g.set(name) {
			c.Mode, newName = ModePool, name
			break
		}
	}
	if c.Mode == ModeCache {
		c.Size, c.SizeSet = g.size("cachesize", 0)
		c.Timeout = g.time("cache_timeout", time.Second, 0, negativeIsZero)
		return c
	}
	c.Size, c.SizeSet = g.size("connection_pool_size", 1)
	c.Timeout = g.time("connection_pool_timeout", time.Second, 0, negativeIsZero)
	if g.set("connection_pool_minsize") {
		c.MinSize = int(g.number("connection_pool_minsize", -1, mostConnections, -1))
	}
	if p := g.own["connection_acquire_timeout"]; p != nil {
		c.AcquireTimeout = g.time("connection_acquire_timeout", time.Millisecond, usualWait, negativeIsZero)
		if c.AcquireTimeout == 0 {
			g.b.warn(p.at(), p.Name, "no request waits: when all connections are busy it fails at once")
		}
	}
	g.mixed("cachesize", "connection_pool_size", newName, func() { c.Size, c.SizeSet = g.size("cachesize", 1) })
	g.mixed("cache_timeout", "connection_pool_timeout", newName, func() {
		c.Timeout = g.time("cache_timeout", time.Second, 0, negativeIsZero)
	})
	if c.SizeSet && c.MinSize > c.Size {
		p := g.own["connection_pool_minsize"]
		g.b.warn(p.at(), p.Name, "%d is more than the pool's size %d; %d is used", c.MinSize, c.Size, c.Size)
		c.MinSize = c.Size
	}
	return c
}

// size reads a number of connections.
func (g get) size(name string, least int64) (n int, set bool) {
	p := g.own[name]
	if p == nil {
		return 0, false
	}
	const unset = -1
	v, err := g.int(p)
	switch {
	case err != nil:
	case v < least && v == 0:
		err = fmt.Errorf("with 0 connections no request can be served")
	case v < least:
		err = fmt.Errorf("%d is too small, at least %d is needed", v, least)
	case v > mostConnections:
		err = fmt.Errorf("%d is too large, at most %d is allowed", v, mostConnections)
	}
	if err != nil {
		g.bad(p, err, "for the MPM")
		v = unset
	}
	return int(max(v, 0)), v != unset
}

// mixed handles an old name beside new ones: the new ones win, and the old one
// counts as an alias of the one that is missing.
func (g get) mixed(old, now, because string, take func()) {
	p := g.own[old]
	if p == nil {
		return
	}
	if g.set(now) {
		g.b.warn(p.at(), p.Name, "ignored: %s is given too", now)
		return
	}
	g.b.warn(p.at(), p.Name, "read as %s, because %s makes the connections a bounded pool", now, because)
	take()
}
