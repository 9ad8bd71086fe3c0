package conf

import (
	"slices"
	"strings"

	"jkd/conf/apache"
)

// The handlers that [status] comes from. The second is jkd's own word.
const (
	statusHandler  = "server-status"
	metricsHandler = "server-metrics"
)

// isStatus tells the location of the status page or the metrics.
func (h *httpd) isStatus(d *apache.Directive) bool {
	return slices.ContainsFunc(d.Children, func(c *apache.Directive) bool {
		args, err := apache.Words(c.Args)
		return !c.Section && strings.EqualFold(c.Name, "SetHandler") && err == nil && len(args) == 1 &&
			(strings.EqualFold(args[0], statusHandler) || strings.EqualFold(args[0], metricsHandler))
	})
}

// statusLocation enters the location of the status page.
func (h *httpd) statusLocation(d *apache.Directive, in context) {
	if in.match || strings.ContainsAny(in.path, "*?") {
		h.fail(d, "the status page has one path, written out, not an expression")
		return
	}
	if in.host != nil {
		h.info(d, "the status page is shown in every virtual host")
	}
	before := len(h.status.Pairs)
	defer func() {
		file := func(p Pair) bool { return strings.EqualFold(p.Key, "AuthUserFile") }
		if h.said["status user"] && !slices.ContainsFunc(h.status.Pairs, file) {
			h.fail(d, "asks for a user and has no AuthUserFile, which says what users there are")
		}
	}()
	h.status.Line = h.line(d.Place)
	h.p.titles[h.status.Line] = d.Title()
	h.walk(d.Children, in)
	if !slices.ContainsFunc(h.status.Pairs[before:], func(p Pair) bool { return strings.EqualFold(p.Key, "Require") }) {
		h.info(d, "has no Require: only this machine may see it")
	}
}

// inStatus enters a directive of that location.
func (h *httpd) inStatus(d *apache.Directive, name string, in context) {
	args, ok := h.words(d)
	if !ok {
		return
	}
	has := func(key string) bool {
		return slices.ContainsFunc(h.status.Pairs, func(p Pair) bool { return strings.EqualFold(p.Key, key) })
	}
	switch name {
	case "sethandler":
		key := "Location"
		if len(args) == 1 && strings.EqualFold(args[0], metricsHandler) {
			key = "Metrics"
		}
		if has(key) {
			h.warn(d, "is not shown here: there is one such page, and it has a <Location> already")
			return
		}
		h.put(h.status, d, key, strings.TrimSuffix(in.path, "/"))
	case "require":
		switch {
		case len(args) > 0 && (strings.EqualFold(args[0], "valid-user") || strings.EqualFold(args[0], "user")):
			h.once(Info, "status user", d, "a user of AuthUserFile is needed, besides an address that may ask")
			if !has("Require") {
				h.put(h.status, d, "Require", "all", "granted")
			}
		default:
			h.put(h.status, d, "Require", args...)
		}
	case "order", "satisfy":
		h.info(d, "is not needed: whom no Allow lets in does not see the page")
	case "allow":
		list, err := parseFrom(given{Pair: Pair{Value: joinWords(args)}})
		if err != nil {
			h.fail(d, "%s", err)
			return
		}
		for _, p := range list {
			h.put(h.status, d, "Require", "ip", p.String())
		}
	case "deny":
		if len(args) != 2 || !strings.EqualFold(args[1], "all") {
			h.fail(d, "only Deny from all is supported for the status page: whom no Allow lets in does not see it")
		} else if !has("Require") {
			h.put(h.status, d, "Require", "all", "denied")
		}
	case "authuserfile", "authname", "extendedstatus", "showquerystrings":
		h.put(h.status, d, d.Name, args...)
	case "authtype":
		if len(args) != 1 || !strings.EqualFold(args[0], "basic") {
			h.fail(d, "only Basic is supported")
		}
	case "authbasicprovider", "options", "allowoverride", "setenv", "setenvif":
		h.info(d, "has no effect on the status page")
	default:
		h.fail(d, "does not belong in the <Location> of %s", statusHandler)
	}
}

// addStatus completes [status].
func (h *httpd) addStatus() {
	for _, d := range h.extra {
		if len(h.status.Pairs) == 0 {
			h.info(d, "has no effect without a <Location> with SetHandler %s", statusHandler)
			continue
		}
		h.add(h.status, d)
	}
}
