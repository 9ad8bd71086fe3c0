package conf

import (
	"strings"

	"jkd/conf/apache"
)

// apacheSections are the sections that are understood, besides the conditional
// ones.
var apacheSections = []string{
	"virtualhost", "location", "locationmatch", "directory", "directorymatch", "files", "filesmatch", "proxy",
	"requireany", "requireall", "requirenone", "limit", "limitexcept", "ifmodule", "ifdefine", "ifversion", "iffile", "ifdirective", "ifsection",
}

// section enters a section.
func (h *httpd) section(d *apache.Directive, in context) {
	name := strings.ToLower(d.Name)
	if in.kind == inNothing {
		return
	}
	wrong := func(where string) { h.fail(d, "does not belong here but in %s", where) }
	switch name {
	case "virtualhost":
		if in.section != nil {
			h.fail(d, "does not belong here but outside of all other sections")
			return
		}
		h.virtualHost(d)
	case "location", "locationmatch":
		if in.kind != inServer && in.kind != inVHost {
			wrong("the server's own directives or <VirtualHost>")
			return
		}
		h.location(d, in, name == "locationmatch")
	case "directory", "directorymatch", "files", "filesmatch":
		h.directorySection(d, in, strings.HasPrefix(name, "files"), strings.HasSuffix(name, "match"))
	case "proxy", "proxymatch":
		if in.kind != inServer && in.kind != inVHost {
			wrong("the server's own directives or <VirtualHost>")
			return
		}
		h.proxySection(d, in)
	case "requireany", "requireall", "requirenone":
		switch {
		case in.status:
			h.fail(d, "is not supported here: Require lines stand alone in the <Location> of server-status")
		case in.kind != inLocation && in.kind != inDirectory:
			wrong("<Location> or <Directory>")
		default:
			h.requireSection(d, in)
		}
	case "limit", "limitexcept":
		if !h.grants(d.Children) {
			h.fail(d, "rules for some methods only are not supported")
			return
		}
		h.info(d, "is not needed: it lets everybody in")
	case "if", "elseif", "else":
		h.fail(d, "expressions are not supported; SetEnvIf and <LocationMatch> can do some of what they do")
	case "macro":
		h.fail(d, "macros are not supported; Define and Include can do some of what they do")
	default:
		if text, ok := notNeeded()["<"+name]; ok {
			h.say(text.severity, d, "%s", text.text)
			return
		}
		h.fail(d, "unknown section%s", DidYouMean(d.Name, []string{
			"VirtualHost", "Location", "LocationMatch", "Directory", "DirectoryMatch", "Files", "FilesMatch", "Proxy", "RequireAny", "RequireAll",
			"RequireNone", "Limit", "LimitExcept", "IfModule", "IfDefine", "IfVersion", "IfFile", "IfDirective", "IfSection",
		}))
	}
}

// proxySection is <Proxy>: of a balancer or worker, or who may use the proxy.
func (h *httpd) proxySection(d *apache.Directive, in context) {
	args, ok := h.words(d)
	if !ok {
		return
	}
	url := ""
	if len(args) == 1 {
		url = args[0]
	}
	if strings.EqualFold(d.Name, "ProxyMatch") || strings.ContainsAny(url, "*?") || !strings.Contains(url, "://") {
		if h.grants(d.Children) {
			h.info(d, "is not needed: it lets everybody in")
			return
		}
		h.fail(d, "says more than who may ask, or not to everybody: jkd knows <Proxy> for the URL of a balancer or worker only; who may ask belongs in <Location>")
		return
	}
	if in.host != nil {
		h.info(d, "what it says holds in all virtual hosts")
	}
	s := &Section{Name: proxySection + " " + quoteHeader(url), Line: h.line(d.Place)}
	h.p.titles[s.Line] = d.Title()
	h.proxies = append(h.proxies, s)
	for _, c := range d.Children {
		switch {
		case !c.Section && isAccess(strings.ToLower(c.Name)):
			if !h.grants([]*apache.Directive{c}) {
				h.fail(c, "is not supported in <Proxy>; who may ask belongs in <Location>")
			}
		case c.Section:
			h.section(c, context{kind: inProxy, at: s, section: d})
		default:
			h.directive(c, context{kind: inProxy, at: s, section: d})
		}
	}
}

func joinWords(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quoteIni(a)
	}
	return strings.Join(quoted, " ")
}
