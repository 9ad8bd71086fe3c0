package jk

import (
	"fmt"
	"strings"
	"time"

	"jkd/conf"
)

// Extensions are the settings of one rule. Zero values mean that the worker's
// own count.
type Extensions struct {
	// ReplyTimeout replaces the worker's when ReplyTimeoutSet; 0 = no limit.
	ReplyTimeout    time.Duration
	ReplyTimeoutSet bool
	StickyIgnore    bool // ignore session ids
	Stateless       bool // do not count as a session
	// Activations override those of members for this rule; none twice.
	Activations []MemberActivation
	// FailOnStatus replaces the worker's when it is not empty.
	FailOnStatus []FailStatus
	// UseServerErrors: answers of this status and above get the front's own
	// error page; 0 = none.
	UseServerErrors int
	// Balancers only. SessionPath begins with ';'.
	SessionCookie     string
	SessionPath       string
	SetSessionCookie  bool
	SessionCookiePath string
}

// MemberActivation is one member named by active, disabled or stopped.
type MemberActivation struct {
	Member     string
	Activation Activation
}

// extension is one name that may follow a rule's worker.
type extension struct {
	// text: the first value counts; else the last one does.
	text bool
	// lbOnly: means nothing unless the worker is a balancer.
	lbOnly bool
	set    func(x *Extensions, value string, say sayer) error
}

// sayer takes a remark on a value that is nevertheless used.
type sayer func(s conf.Severity, format string, args ...any)

var extensionTable = map[string]extension{
	"reply_timeout": {set: func(x *Extensions, value string, say sayer) error {
		n, err := intExtension(value, say)
		if err == nil && n > int64(longest/time.Millisecond) {
			err = fmt.Errorf("%s is too large", value)
		}
		if err != nil {
			return err
		}
		if n > 0 && n < 100 {
			say(conf.Info, "is in milliseconds, and %d are hardly any time: for %d seconds write %d", n, n, n*1000)
		}
		x.ReplyTimeoutSet = n >= 0
		x.ReplyTimeout = time.Duration(max(n, 0)) * time.Millisecond
		return nil
	}},
	"sticky_ignore": {set: func(x *Extensions, value string, say sayer) error { x.StickyIgnore = nonZero(value, say); return nil }},
	"stateless":     {set: func(x *Extensions, value string, say sayer) error { x.Stateless = nonZero(value, say); return nil }},
	"set_session_cookie": {lbOnly: true, set: func(x *Extensions, value string, say sayer) error {
		x.SetSessionCookie = nonZero(value, say)
		return nil
	}},
	"use_server_errors": {set: func(x *Extensions, value string, say sayer) error {
		n, err := intExtension(value, say)
		if err != nil || n < 0 || n > 999 {
			return fmt.Errorf("%q is not an HTTP status", value)
		}
		if n > 0 && n < 400 {
			say(conf.Warn, "with %d answers that are no errors lose their content", n)
		}
		x.UseServerErrors = int(n)
		return nil
	}},
	"fail_on_status": {text: true, set: func(x *Extensions, value string, say sayer) error {
		codes, odd, err := parseFailStatus(value)
		for _, text := range odd {
			say(conf.Warn, "%s", text)
		}
		x.FailOnStatus = codes
		return err
	}},
	"active":         {text: true, lbOnly: true, set: activate(Active)},
	"disabled":       {text: true, lbOnly: true, set: activate(Disabled)},
	"stopped":        {text: true, lbOnly: true, set: activate(Stopped)},
	"session_cookie": {text: true, lbOnly: true, set: func(x *Extensions, value string, _ sayer) error { x.SessionCookie = value; return nil }},
	"session_path": {text: true, lbOnly: true, set: func(x *Extensions, value string, _ sayer) error {
		x.SessionPath = ";" + strings.TrimPrefix(value, ";")
		return nil
	}},
	"session_cookie_path": {text: true, lbOnly: true, set: func(x *Extensions, value string, _ sayer) error { x.SessionCookiePath = value; return nil }},
}

var extensionNames = []string{"reply_timeout", "sticky_ignore", "stateless", "active", "disabled", "stopped", "fail_on_status",
	"use_server_errors", "session_cookie", "session_path", "set_session_cookie", "session_cookie_path"}

// intExtension reads a number the way C does, but not without a word.
func intExtension(value string, say sayer) (int64, error) {
	n, err := parseInt(value)
	if err == nil {
		return n, nil
	}
	if digits := conf.LeadingInt(value); digits != "" {
		if n, bad := parseInt(digits); bad == nil {
			say(conf.Warn, "of %q only %d is read", value, n)
			return n, nil
		}
	}
	return 0, err
}

// nonZero reads a switch. As in mod_jk a word is 0, whatever it says.
func nonZero(value string, say sayer) bool {
	n, err := intExtension(value, say)
	if err != nil {
		say(conf.Warn, "%q is not a number and counts as 0, which is off; 1 is on", value)
	}
	return n != 0
}

// activate names members. When a member is named by several extensions the
// stricter one wins.
func activate(a Activation) func(*Extensions, string, sayer) error {
	return func(x *Extensions, value string, _ sayer) error {
		for _, name := range split(value) {
			have := false
			for i := range x.Activations {
				if m := &x.Activations[i]; m.Member == name {
					m.Activation, have = max(m.Activation, a), true
				}
			}
			if !have {
				x.Activations = append(x.Activations, MemberActivation{Member: name, Activation: a})
			}
		}
		return nil
	}
}

// pieces splits what follows the worker's name at ';'. Blanks around the
// pieces go and empty ones are skipped, except that session_path may have a
// value that begins with the separator itself.
func pieces(text string) []string {
	var out []string
	for piece := range strings.SplitSeq(text, ";") {
		piece = strings.Trim(piece, blanks)
		if n := len(out); n > 0 && piece != "" && !strings.Contains(piece, "=") {
			if name, value, ok := strings.Cut(out[n-1], "="); ok && strings.Trim(name, blanks) == "session_path" && value == "" {
				out[n-1] += ";" + piece
				continue
			}
		}
		if piece != "" {
			out = append(out, piece)
		}
	}
	return out
}

func (b *mapBuilder) extensions(r *Rule, written, text string) (x Extensions) {
	list := pieces(text)
	if len(list) > 0 && r.Exclude {
		b.info(r.at(), written, "extensions of an exclusion have no effect")
		return x
	}
	lb := (*LBConfig)(nil)
	if r.Index >= 0 {
		lb = b.cfg.Workers[r.Index].LB
	}
	if info := b.cfg.names[r.Worker]; info != nil && info.broken && lb == nil {
		return x // nobody knows what the worker was meant to be
	}
	given := map[string]bool{}
	for _, piece := range list {
		name, value, ok := strings.Cut(piece, "=")
		name, value = strings.Trim(name, blanks), strings.Trim(value, blanks)
		e, known := extensionTable[name]
		switch {
		case !known:
			b.warn(r.at(), written, "unknown rule extension %s: ignored%s", conf.Printable(name), conf.DidYouMean(name, extensionNames))
			continue
		case !ok || value == "":
			b.warn(r.at(), written, "extension %s has no value: ignored", name)
			continue
		case e.lbOnly && lb == nil && r.Index != UnknownWorker:
			b.warn(r.at(), written, "extension %s is for balancers and worker %s is none: ignored", name, conf.Printable(r.Worker))
			continue
		case e.text && given[name]:
			b.warn(r.at(), written, "extension %s is given again: the first one counts", name)
			continue
		}
		given[name] = true
		say := func(s conf.Severity, format string, args ...any) {
			b.note(s, r.at(), written, "extension %s: %s", name, fmt.Sprintf(format, args...))
		}
		if err := e.set(&x, value, say); err != nil {
			b.fail(r.at(), written, "extension %s: %s", name, err)
		}
	}
	for _, m := range x.Activations {
		if lb != nil && !hasMember(lb, m.Member) {
			b.warn(r.at(), written, "worker %s has no member %s", conf.Printable(r.Worker), conf.Printable(m.Member))
		}
	}
	return x
}

func hasMember(lb *LBConfig, name string) bool {
	for i := range lb.Members {
		if lb.Members[i].Name == name {
			return true
		}
	}
	return false
}
