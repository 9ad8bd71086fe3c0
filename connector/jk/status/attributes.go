package status

import (
	"strconv"
	"time"
)

// attribute is one fact as every format but HTML shows it.
type attribute struct {
	key, value string
	quoted     bool // in txt
}

// attributes is a list in the order in which scripts expect it.
type attributes []attribute

func (a *attributes) text(key, value string) { *a = append(*a, attribute{key, value, false}) }

func (a *attributes) quote(key, value string) { *a = append(*a, attribute{key, value, true}) }

func (a *attributes) number(key string, n int) { a.text(key, strconv.Itoa(n)) }

func (a *attributes) count(key string, n uint64) { a.text(key, strconv.FormatUint(n, 10)) }

func (a *attributes) seconds(key string, d time.Duration) { a.number(key, int(d/time.Second)) }

func (a *attributes) millis(key string, d time.Duration) { a.number(key, int(d/time.Millisecond)) }

func (a *attributes) boolean(key string, b bool) { a.text(key, boolText(b)) }

// digit is how rules show their switches.
func (a *attributes) digit(key string, b bool) {
	if b {
		a.text(key, "1")
	} else {
		a.text(key, "0")
	}
}

func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// reset is when the counters were set to 0.
func (a *attributes) reset(at int64, now time.Time) {
	a.text("last_reset_at", strconv.FormatInt(at, 10))
	a.text("last_reset_ago", strconv.FormatInt(ago(at, now), 10))
}

// ago is how long ago something was in seconds.
func ago(at int64, now time.Time) int64 { return max(now.Unix()-at, 0) }

const (
	stampFormat = "20060102150405"
	zoneFormat  = "-0700"
)

func (s *service) server() (a attributes) {
	a.text("name", s.in.ServerName)
	a.number("port", s.in.ServerPort)
	return a
}

func (s *service) time() (a attributes) {
	a.text("datetime", s.in.Now.Format(stampFormat))
	a.text("tz", s.in.Now.Format(zoneFormat))
	a.text("unix", strconv.FormatInt(s.in.Now.Unix(), 10))
	return a
}

func (s *service) software() (a attributes) {
	a.quote("web_server", s.view.Software.WebServer)
	a.text("jk_version", s.view.Software.JKVersion)
	return a
}

func (s *service) balancer(b *Balancer) (a attributes) {
	n := s.count(b)
	a.text("name", b.Name)
	a.text("type", "lb")
	a.boolean("sticky_session", b.StickySession)
	a.boolean("sticky_session_force", b.StickySessionForce)
	a.number("retries", b.Retries)
	a.seconds("recover_time", b.RecoverTime)
	a.seconds("error_escalation_time", b.ErrorEscalationTime)
	a.number("max_reply_timeouts", b.MaxReplyTimeouts)
	a.text("method", b.Method.String())
	a.text("lock", b.Lock.String())
	a.number("member_count", len(b.Members))
	a.number("good", n[good])
	a.number("degraded", n[degraded])
	a.number("bad", n[bad])
	a.number("busy", b.Busy)
	a.number("max_busy", b.MaxBusy)
	a.number("map_count", len(b.Maps))
	a.seconds("time_to_maintenance_min", b.TimeToMaintenanceMin)
	a.seconds("time_to_maintenance_max", b.TimeToMaintenanceMax)
	a.reset(b.LastReset, s.in.Now)
	return a
}

// endpoint has the order of mod_jk, which is one in XML and another elsewhere.
func (a *attributes) endpoint(e *Endpoint, m Mime) {
	a.text("name", e.Name)
	a.text("type", e.kind())
	a.text("host", e.Host)
	a.number("port", e.Port)
	a.text("address", e.address())
	a.text("source", e.source())
	a.seconds("connection_pool_timeout", e.ConnectionPoolTimeout)
	a.millis("ping_timeout", e.PingTimeout)
	a.millis("connect_timeout", e.ConnectTimeout)
	a.millis("prepost_timeout", e.PrepostTimeout)
	a.millis("reply_timeout", e.ReplyTimeout)
	if m == XML {
		a.seconds("connection_ping_interval", e.ConnectionPingInterval)
		a.number("retries", e.Retries)
	} else {
		a.number("retries", e.Retries)
		a.seconds("connection_ping_interval", e.ConnectionPingInterval)
	}
	a.number("recovery_options", e.RecoveryOptions)
	a.number("busy_limit", e.BusyLimit)
	a.number("max_packet_size", e.MaxPacketSize)
}

func (e *Endpoint) kind() string {
	if e.Type == "" {
		return "ajp13"
	}
	return e.Type
}

func (e *Endpoint) address() string {
	switch {
	case e.Port <= 0:
		return "invalid"
	case e.Address == "":
		return "unresolved"
	}
	return e.Address
}

func (e *Endpoint) source() string {
	if e.Source == "" {
		return "undefined"
	}
	return e.Source
}

func (a *attributes) counters(c *Counters) {
	a.count("errors", c.Errors)
	a.count("client_errors", c.ClientErrors)
	a.count("reply_timeouts", c.ReplyTimeouts)
	a.count("transferred", c.Transferred)
	a.count("read", c.Read)
	a.number("busy", c.Busy)
	a.number("max_busy", c.MaxBusy)
	a.number("connected", c.Connected)
	a.number("max_connected", c.MaxConnected)
}

func (a *attributes) errorTime(at int64, now time.Time) {
	if at <= 0 {
		return
	}
	t := time.Unix(at, 0).In(now.Location())
	a.text("error_time_datetime", t.Format(stampFormat))
	a.text("error_time_tz", t.Format(zoneFormat))
	a.text("error_time_unix_seconds", strconv.FormatInt(at, 10))
	a.text("error_time_ago", strconv.FormatInt(ago(at, now), 10))
}

func (s *service) member(m *Member) (a attributes) {
	a.endpoint(&m.Endpoint, s.query.Mime)
	a.text("activation", m.Activation.String())
	a.number("lbfactor", m.LBFactor)
	a.quote("route", m.Route)
	a.quote("redirect", m.Redirect)
	a.quote("domain", m.Domain)
	a.number("distance", m.Distance)
	a.text("state", m.State.String())
	a.count("lbmult", m.LBMult)
	a.count("lbvalue", m.LBValue)
	a.count("elected", m.Elected)
	a.count("sessions", m.Sessions)
	a.counters(&m.Counters)
	a.seconds("time_to_recover_min", m.TimeToRecoverMin)
	a.seconds("time_to_recover_max", m.TimeToRecoverMax)
	a.reset(m.LastReset, s.in.Now)
	a.errorTime(m.ErrorTime, s.in.Now)
	return a
}

func (s *service) ajp(w *AJP) (a attributes) {
	a.endpoint(&w.Endpoint, s.query.Mime)
	a.count("used", w.Used)
	a.counters(&w.Counters)
	a.number("map_count", len(w.Maps))
	a.reset(w.LastReset, s.in.Now)
	a.errorTime(w.ErrorTime, s.in.Now)
	return a
}

// mapping is a rule without its id.
func mapping(m *Map) (a attributes) {
	if m.Server != "" {
		a.quote("server", m.Server)
	}
	a.quote("uri", m.URI)
	a.quote("type", m.kind())
	a.quote("source", m.Source.String())
	a.number("reply_timeout", m.replyTimeout())
	a.digit("sticky_ignore", m.StickyIgnore)
	a.digit("stateless", m.Stateless)
	a.quote("fail_on_status", m.FailOnStatus)
	a.quote("active", m.Active)
	a.quote("disabled", m.DisabledMembers)
	a.quote("stopped", m.Stopped)
	a.number("use_server_errors", m.UseServerErrors)
	return a
}

func (m *Map) kind() string {
	k := "Wildchar"
	if m.Exact {
		k = "Exact"
	}
	if m.Unmount {
		k = "Unmount " + k
	}
	if m.Disabled {
		k = "Disabled " + k
	}
	return k
}

// replyTimeout is in ms, -1 for none of its own.
func (m *Map) replyTimeout() int {
	if m.ReplyTimeout < 0 {
		return -1
	}
	return int(m.ReplyTimeout / time.Millisecond)
}

func (s *service) outcome() (a attributes) {
	kind, message := "OK", "Action finished"
	if s.failure != "" {
		kind, message = "ERROR", s.failure
	}
	a.text("type", kind)
	a.quote("message", message)
	return a
}
