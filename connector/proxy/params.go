package proxy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"jkd/conf"
)

// Worker is a back end and the parameters of its connections.
type Worker struct {
	Name     string // its URL, the port written out
	Balancer string // whose member it is, "" for none
	target

	Secret         string        // of AJP
	Max            int           // connections of a process; 0: as many as it has threads
	SMax           int           // those above it are closed when they have not been used for TTL; -1: all may be
	TTL            time.Duration // 0: none
	Acquire        time.Duration // wait for a connection when Max are in use; 0: no limit
	ConnectTimeout time.Duration // 0: Timeout
	Timeout        time.Duration // 0: ProxyTimeout
	Retry          time.Duration // how long a failed back end is left alone
	Ping           time.Duration // AJP: CPING before each request; 0: none
	KeepAlive      bool          // SO_KEEPALIVE
	NoReuse        bool          // disablereuse
	FlushAll       bool          // flushpackets=on
	Upgrade        Upgrade       // of HTTP, where a rule says nothing

	Route, Redirect string
	Factor          int // in hundredths, as Apache has it
	Set             int // lbset
	Disabled        bool
	Stopped         bool
	Ignore          bool // of errors: it is never in error
	Standby         bool // hot standby
	Spare           bool // hot spare
	Drain           bool

	packet int // AJP packet size
	set    int // line of the rule that gave parameters
}

func defaultWorker(name string, t target) Worker {
	w := Worker{Name: name, target: t, SMax: -1, Retry: 60 * time.Second, Factor: 100, packet: 8192}
	if t.ws {
		w.Upgrade.Protocol = webSocket
	}
	return w
}

// Method is lbmethod.
type Method uint8

// The methods.
const (
	ByRequests Method = iota
	ByTraffic
	ByBusyness
)

var methodNames = [...]string{"byrequests", "bytraffic", "bybusyness"}

func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return fmt.Sprintf("Method(%d)", uint8(m))
}

// Balancer is a balancer and its parameters.
type Balancer struct {
	Name          string
	Members       []int // indexes of Setup.Workers
	Method        Method
	Cookie, Param string        // stickysession, both "" for none
	Separator     byte          // between a session's id and its route
	Timeout       time.Duration // of members that have none; 0: ProxyTimeout
	NoFailover    bool          // a session whose member has failed is refused
	MaxAttempts   int           // failovers; -1: one less than there are members
	FailStatuses  []int         // that put a member in error
	FailTimeout   bool          // so does a member that is too slow
	ForceRecovery bool          // all in error: all are tried
}

// params reads parameters into those of a worker, a balancer and a rule that
// are not nil.
func (l *loader) params(list []conf.ProxyParam, w *Worker, b *Balancer, r *Rule) error {
	for _, p := range list {
		if p.Value == "" && p.Key != "nocanon" && p.Key != "noquery" && p.Key != "interpolate" {
			return fmt.Errorf("%s has no value", p.Key)
		}
		err := errNotHere
		if r != nil {
			err = l.ruleParam(p, r)
		}
		if err == errNotHere && w != nil {
			err = l.workerParam(p, w)
		}
		if err == errNotHere && b != nil {
			err = l.balancerParam(p, b)
		}
		if err == errNotHere {
			return fmt.Errorf("%s is no parameter here%s", p.Key, conf.DidYouMean(p.Key, paramNames(w, b, r)))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Key, err)
		}
	}
	return nil
}

var errNotHere = errors.New("unknown")

var (
	ruleParams     = []string{"nocanon", "noquery", "interpolate", "mapping", "upgrade"}
	workerParams   = []string{"min", "max", "smax", "acquire", "connectiontimeout", "disablereuse", "enablereuse", "flushpackets", "flushwait", "iobuffersize", "responsefieldsize", "keepalive", "lbset", "loadfactor", "ping", "receivebuffersize", "redirect", "retry", "route", "secret", "status", "timeout", "ttl", "addressttl", "upgrade"}
	balancerParams = []string{"lbmethod", "maxattempts", "nofailover", "stickysession", "stickysessionsep", "scolonpathdelim", "timeout", "failonstatus", "failontimeout", "forcerecovery", "nonce", "growth"}
)

func paramNames(w *Worker, b *Balancer, r *Rule) (names []string) {
	if r != nil {
		names = append(names, ruleParams...)
	}
	if w != nil {
		names = append(names, workerParams...)
	}
	if b != nil {
		names = append(names, balancerParams...)
	}
	return names
}

func (l *loader) ruleParam(p conf.ProxyParam, r *Rule) error {
	switch p.Key {
	case "nocanon":
		r.NoCanon = true
	case "noquery":
		// In Apache, too, back ends get the query: it is about a variable of CGI.
	case "interpolate":
		return errors.New("is not supported: nothing of a request gets into URLs here")
	case "upgrade":
		u, err := parseUpgrade(p.Value)
		r.Upgrade = &u
		return err
	case "mapping":
		if p.Value != "servlet" {
			return fmt.Errorf("only servlet is supported, not %s", p.Value)
		}
	default:
		return errNotHere
	}
	return nil
}

func (l *loader) workerParam(p conf.ProxyParam, w *Worker) (err error) {
	number := func(dst *int, least, most int) {
		var n int
		if n, err = strconv.Atoi(p.Value); err != nil || n < least || n > most {
			err = fmt.Errorf("%q is no number from %d to %d", p.Value, least, most)
			return
		}
		*dst = n
	}
	switch p.Key {
	case "max":
		number(&w.Max, 0, 1<<16)
	case "smax":
		number(&w.SMax, 0, 1<<16)
	case "min", "responsefieldsize", "receivebuffersize", "addressttl":
		var n int
		number(&n, 0, math.MaxInt32)
		l.warn(l.line, l.key, "%s has no effect here", p.Key)
	case "acquire":
		w.Acquire, err = duration(p.Value, time.Millisecond, time.Millisecond)
	case "connectiontimeout":
		w.ConnectTimeout, err = duration(p.Value, time.Second, time.Millisecond)
	case "timeout":
		w.Timeout, err = duration(p.Value, time.Second, time.Second)
	case "retry":
		w.Retry, err = duration(p.Value, time.Second, 0)
	case "ttl":
		w.TTL, err = duration(p.Value, time.Second, time.Second)
	case "ping":
		w.Ping, err = duration(p.Value, time.Second, time.Millisecond)
		if err == nil && w.scheme != "ajp" {
			w.Ping = 0
			l.warn(l.line, l.key, "ping has no effect on HTTP: an idle connection is looked at before each use")
		}
	case "keepalive":
		w.KeepAlive, err = flag(p.Value)
	case "disablereuse":
		w.NoReuse, err = flag(p.Value)
	case "enablereuse":
		var on bool
		on, err = flag(p.Value)
		w.NoReuse = !on
	case "flushpackets":
		switch strings.ToLower(p.Value) {
		case "on":
			w.FlushAll = true
		case "off", "auto":
			w.FlushAll = false
		default:
			err = fmt.Errorf("%q is neither on nor off nor auto", p.Value)
		}
	case "flushwait":
		l.warn(l.line, l.key, "flushwait has no effect: what is there is sent as soon as the back end pauses")
	case "iobuffersize":
		number(&w.packet, 512, 65536)
		w.packet = max(w.packet, 8192)
	case "secret":
		if w.scheme != "ajp" {
			err = errors.New("is for AJP")
		}
		w.Secret = p.Value
	case "upgrade":
		if w.scheme != "http" {
			return errUpgrade
		}
		w.Upgrade, err = parseUpgrade(p.Value)
	case "route":
		w.Route, err = word(p.Value)
	case "redirect":
		w.Redirect, err = word(p.Value)
	case "lbset":
		number(&w.Set, 0, 99)
	case "loadfactor":
		var f float64
		if f, err = strconv.ParseFloat(p.Value, 64); err != nil || !(f >= 1 && f <= 100) {
			err = fmt.Errorf("%q is no number from 1 to 100", p.Value)
		}
		w.Factor = int(math.Round(f * 100))
	case "status":
		err = w.status(p.Value)
	default:
		return errNotHere
	}
	return err
}

func word(s string) (string, error) {
	if len(s) > 96 || strings.ContainsAny(s, " \t") {
		return "", errors.New("must be a word of at most 96 characters")
	}
	return s, nil
}

// status reads letters, each set, or taken away by a '-' before them.
func (w *Worker) status(s string) error {
	on := true
	for _, c := range strings.ToUpper(s) {
		switch c {
		case '+':
			on = true
		case '-':
			on = false
		case 'D':
			w.Disabled = on
		case 'S':
			w.Stopped = on
		case 'I':
			w.Ignore = on
		case 'H':
			w.Standby = on
		case 'R':
			w.Spare = on
		case 'N':
			w.Drain = on
		case 'E', 'C':
			return fmt.Errorf("%c can't be set here", c)
		default:
			return fmt.Errorf("unknown status %q: there are D, S, I, H, R and N", c)
		}
	}
	return nil
}

func (l *loader) balancerParam(p conf.ProxyParam, b *Balancer) (err error) {
	switch p.Key {
	case "lbmethod":
		i := slices.Index(methodNames[:], strings.ToLower(p.Value))
		if i < 0 {
			return fmt.Errorf("there is no method %q, only %s", p.Value, strings.Join(methodNames[:], ", "))
		}
		b.Method = Method(i)
	case "maxattempts":
		if b.MaxAttempts, err = strconv.Atoi(p.Value); err != nil || b.MaxAttempts < 0 {
			err = fmt.Errorf("%q is no number", p.Value)
		}
	case "nofailover":
		b.NoFailover, err = flag(p.Value)
	case "stickysession":
		cookie, param, two := strings.Cut(p.Value, "|")
		if b.Cookie, b.Param = cookie, cookie; two {
			b.Param = param
		}
		if b.Cookie == "" || b.Param == "" || strings.ContainsAny(p.Value, " \t=;,?&/") {
			err = fmt.Errorf("%q is no name of a cookie, or cookie|parameter", p.Value)
		}
	case "stickysessionsep":
		b.Separator = p.Value[0]
		if strings.EqualFold(p.Value, "off") {
			b.Separator = 0
		} else if len(p.Value) != 1 {
			err = errors.New("is one character, or off")
		}
	case "scolonpathdelim":
		_, err = flag(p.Value) // a session's id ends at a semicolon in any case
	case "timeout":
		// Apache waits so long for a free member, which jkd does not; who writes
		// it means the answer.
		b.Timeout, err = duration(p.Value, time.Second, time.Second)
	case "failonstatus":
		b.FailStatuses = nil
		for s := range strings.SplitSeq(p.Value, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil || n < 100 || n > 999 {
				return fmt.Errorf("%q is no status", s)
			}
			b.FailStatuses = append(b.FailStatuses, n)
		}
	case "failontimeout":
		b.FailTimeout, err = flag(p.Value)
	case "forcerecovery":
		b.ForceRecovery, err = flag(p.Value)
	case "nonce", "growth":
		l.warn(l.line, l.key, "%s has no effect: there is no balancer-manager", p.Key)
	default:
		return errNotHere
	}
	return err
}

func flag(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "on":
		return true, nil
	case "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither On nor Off", s)
}

// duration reads a number of units, or one followed by ms, s or min.
func duration(s string, unit, least time.Duration) (time.Duration, error) {
	number := s
	for _, x := range []struct {
		suffix string
		unit   time.Duration
	}{{"ms", time.Millisecond}, {"min", time.Minute}, {"mi", time.Minute}, {"s", time.Second}} {
		if n, ok := strings.CutSuffix(strings.ToLower(s), x.suffix); ok {
			number, unit = n, x.unit
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if d := time.Duration(n) * unit; err == nil && n >= 0 && d >= least {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no time of at least %s", s, least)
}
