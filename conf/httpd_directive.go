package conf

import (
	"slices"
	"strings"

	"jkd/conf/apache"
)

// directive enters one directive into the section that it belongs in.
func (h *httpd) directive(d *apache.Directive, in context) {
	name := strings.ToLower(d.Name)
	if strings.HasPrefix(d.Args, "=") {
		h.fail(d, "has no '=' between name and value in Apache's language; a file in jkd's own begins with a [section]")
		return
	}
	if in.status {
		h.inStatus(d, name, in)
		return
	}
	if f, ok := httpdSpecial()[name]; ok && f(h, d, in) {
		return
	}
	if s := h.target(name, in); s != nil {
		h.add(s, d)
		return
	}
	h.other(d, name, in)
}

// target is the section of a directive of jkd.conf, nil if it is not for this
// context.
func (h *httpd) target(name string, in context) *Section {
	has := func(section string) bool { _, ok := directives()[section][name]; return ok }
	switch in.kind {
	case inServer:
		switch {
		case has(serverSection):
			return h.server
		case has(jkSection):
			return h.jk
		case has(jk2Section) && name != "file":
			return h.jk2
		case has(proxySection):
			return h.proxy
		}
	case inVHost:
		if has(vhostSection) {
			return in.host.Section
		}
	case inLocation:
		if has(locationSection) {
			return in.at
		}
	case inDirectory:
		if has(directorySection) {
			return in.at
		}
	case inProxy:
		if name == "balancermember" || name == "proxyset" {
			return in.at
		}
	}
	return nil
}

// other says why a directive is not entered.
func (h *httpd) other(d *apache.Directive, name string, in context) {
	if in.kind == inNothing {
		return // the section was remarked upon
	}
	if text, ok := refused[name]; ok {
		h.fail(d, "%s", text)
		return
	}
	if is, ok := asIs[name]; ok {
		switch {
		case strings.EqualFold(d.Args, is.value):
			h.info(d, "is what jkd does")
		case is.otherwise == "":
			h.fail(d, "only %s %s is supported", is.name, is.value)
		default:
			h.warn(d, "%s", is.otherwise)
		}
		return
	}
	if n, ok := notNeeded()[name]; ok {
		h.note(n, d)
		return
	}
	if !knownDirective(name) {
		h.fail(d, "unknown directive%s", DidYouMean(d.Name, httpdNames()))
		return
	}
	_, server := directives()[serverSection][name]
	_, number := directives()["mpm.worker"][name]
	switch {
	case in.kind == inVHost && server && !number && slices.Contains(ofVHosts, name):
		h.warn(d, "has no effect here: jkd has one %s for all virtual hosts, the main server's", directives()[serverSection][name].name)
	case in.kind == inDirectory:
		h.warn(d, "has no effect here: jkd knows it for paths of URLs (<Location>), not for directories and files")
	default:
		h.fail(d, "does not belong here but in %s", strings.Join(httpdContexts(name), " or "))
	}
}

// ofVHosts are directives that Apache has for each virtual host, and jkd for all
// together.
var ofVHosts = []string{
	"timeout", "keepalive", "keepalivetimeout", "maxkeepaliverequests", "limitrequestline", "limitrequestfields", "limitrequestfieldsize", "limitrequestbody",
	"errorlog", "errorlogformat", "loglevel",
}

// httpdContexts are where a directive belongs.
func httpdContexts(name string) []string {
	var out []string
	for _, c := range []struct{ section, title string }{
		{serverSection, "the server's own directives"}, {"mpm.prefork", "the server's own directives"}, {"mpm.worker", "the server's own directives"},
		{jkSection, "the server's own directives"}, {jk2Section, "the server's own directives"}, {proxySection, "the server's own directives"},
		{vhostSection, "<VirtualHost>"}, {locationSection, "<Location>"}, {directorySection, "<Directory>"},
	} {
		if _, ok := directives()[c.section][name]; ok && !slices.Contains(out, c.title) {
			out = append(out, c.title)
		}
	}
	if _, ok := directives()[statusSection][name]; ok {
		out = append(out, "the <Location> of server-status")
	}
	return out
}

// knownDirective tells a directive that is handled in some context.
func knownDirective(name string) bool {
	for _, t := range directives() {
		if _, ok := t[name]; ok && name != "file" && name != "location" && name != "metrics" {
			return true
		}
	}
	_, special := httpdSpecial()[name]
	_, noted := notNeeded()[name]
	_, is := asIs[name]
	_, refused := refused[name]
	return special || noted || is || refused || slices.ContainsFunc(specialNames, func(s string) bool { return strings.EqualFold(s, name) })
}

// httpdNames are all names that can be meant by a misspelt one.
func httpdNames() []string {
	var out []string
	for _, t := range directives() {
		for _, d := range t {
			out = append(out, d.name)
		}
	}
	for _, n := range notNeeded() {
		out = append(out, n.name)
	}
	for _, is := range asIs {
		out = append(out, is.name)
	}
	out = append(out, specialNames...)
	slices.Sort(out)
	return slices.Compact(out)
}
