package conf

import (
	"os"
	"strings"
	"sync"

	"jkd/conf/apache"
)

// httpdSpecial are the directives that are more than a line of jkd.conf in
// other words. They return false for what is to be entered as it is.
var httpdSpecial func() map[string]func(h *httpd, d *apache.Directive, in context) bool

// specialNames are those of them that no section of jkd.conf has.
var specialNames = []string{"LoadModule", "PassEnv", "TransferLog", "Define", "UnDefine", "Include", "IncludeOptional", "Error", "Satisfy", "ScriptAlias", "ScriptAliasMatch"}

func init() { // the table refers to itself by way of knownDirective
	httpdSpecial = sync.OnceValue(makeSpecial)
}

func makeSpecial() map[string]func(*httpd, *apache.Directive, context) bool {
	special := map[string]func(*httpd, *apache.Directive, context) bool{
		"loadmodule": (*httpd).loadModule,
		"servername": (*httpd).serverName, "serveralias": (*httpd).serverAlias,
		"sethandler": (*httpd).setHandler, "jkmount": (*httpd).jkMount, "jkunmount": (*httpd).jkMount,
		"jkworkerproperty": (*httpd).jkWorkerProperty, "jkuriset": (*httpd).jkURISet,
		"proxypass": (*httpd).proxyPass, "proxypassreverse": (*httpd).proxyPass, "proxyrequests": (*httpd).proxyRequests,
		"passenv": (*httpd).passEnv, "logformat": (*httpd).logFormat, "transferlog": (*httpd).transferLog, "customlog": (*httpd).customLog,
		"loglevel": (*httpd).logLevel, "errorlogformat": (*httpd).errorLogFormat,
		"require": (*httpd).require, "satisfy": (*httpd).satisfy, "extendedstatus": (*httpd).extendedStatus,
		"listen": (*httpd).listen, "scriptalias": (*httpd).scriptAlias, "scriptaliasmatch": (*httpd).scriptAlias,
		"errordocument": (*httpd).errorDocument,
	}
	for _, section := range []string{"mpm.prefork", "mpm.worker"} {
		for name := range directives()[section] {
			special[name] = (*httpd).number
		}
	}
	return special
}

// number is a directive of the MPM.
func (h *httpd) number(d *apache.Directive, in context) bool {
	if in.kind == inServer {
		h.numbers = append(h.numbers, d)
		return true
	}
	return false
}

// errorDocument closes the quote before a text, which Apache 1.3 did not have
// closed and which later ones have let be.
func (h *httpd) errorDocument(d *apache.Directive, _ context) bool {
	if i := strings.IndexAny(d.Args, " \t"); i > 0 {
		if text := strings.TrimLeft(d.Args[i:], " \t"); strings.HasPrefix(text, `"`) && !strings.Contains(text[1:], `"`) {
			d.Args += `"`
		}
	}
	return false
}

func (h *httpd) setHandler(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if !ok || len(args) != 1 {
		return false
	}
	name := strings.ToLower(args[0])
	switch {
	case name == JkHandler && in.kind == inLocation:
		return false
	case name == JkHandler && (in.kind == inServer || in.kind == inVHost):
		at := h.open(locationSection, d, in, "", false, "/")
		h.put(at, d, d.Name, JkHandler)
		h.keep(at)
	case name == "jakarta-servlet2":
		h.info(d, "is not needed: JkUriSet says what is forwarded")
	case name == statusHandler || name == metricsHandler:
		h.fail(d, "%s belongs in <Location>", name)
	case strings.HasPrefix(name, "proxy:"):
		h.fail(d, "is not supported: write ProxyPass in a <Location>")
	case name == "none" || name == "default-handler":
		h.warn(d, "has no effect: a handler that was set is not taken back")
	default:
		h.warn(d, "there is no handler %s: requests are answered as without this line", args[0])
	}
	return true
}

// jkMount in a location has a path, not an expression.
func (h *httpd) jkMount(d *apache.Directive, in context) bool {
	if in.kind == inLocation && in.match {
		h.fail(d, "a mount has no regular expression: write JkMount PATTERN WORKER, or SetHandler %s and SetEnv JK_WORKER_NAME", JkHandler)
		return true
	}
	return false
}

// jkWorkerProperty takes the line as it is.
func (h *httpd) jkWorkerProperty(d *apache.Directive, in context) bool {
	if in.kind != inServer {
		return false
	}
	value := d.Args
	if value != "" && strings.ContainsAny(value[:1], "\"'`") {
		value = quoteIni(value + " ") // which makes it one word; the blank is removed again
	}
	h.pair(h.jk, d, d.Name, value)
	return true
}

func (h *httpd) jkURISet(d *apache.Directive, in context) bool {
	if in.kind == inLocation && in.match {
		h.fail(d, "is for a path, not for an expression")
		return true
	}
	return false
}

// proxyPass in a location that is an expression is ProxyPassMatch.
func (h *httpd) proxyPass(d *apache.Directive, in context) bool {
	if in.kind != inLocation || !in.match {
		return false
	}
	args, ok := h.words(d)
	if !ok {
		return true
	}
	if strings.EqualFold(d.Name, "ProxyPassReverse") {
		h.fail(d, "is for a path, not for an expression: write ProxyPassReverse PATH URL outside of <LocationMatch>")
		return true
	}
	s := h.proxy
	if in.host != nil {
		s = in.host.Section
	}
	h.put(s, d, "ProxyPassMatch", append([]string{in.path}, args...)...)
	return true
}

func (h *httpd) proxyRequests(d *apache.Directive, in context) bool {
	if in.kind == inVHost && strings.EqualFold(d.Args, "off") {
		h.info(d, "is not needed: jkd is no forward proxy")
		return true
	}
	if in.kind == inVHost {
		h.fail(d, "jkd is no forward proxy, only Off is possible; ProxyPass does not need it")
	}
	return in.kind == inVHost
}

// passEnv takes the values that the variables have now.
func (h *httpd) passEnv(d *apache.Directive, in context) bool {
	var s *Section
	switch in.kind {
	case inServer:
		s = h.server
	case inVHost:
		s = in.host.Section
	case inLocation:
		s = in.at
	default:
		return false
	}
	args, ok := h.words(d)
	if !ok {
		return true
	}
	for _, name := range args {
		if value, ok := os.LookupEnv(name); ok {
			h.put(s, d, "SetEnv", name, value)
		} else {
			h.info(d, "there is no variable %s in the environment", name)
		}
	}
	return true
}

func (h *httpd) extendedStatus(d *apache.Directive, in context) bool {
	if in.kind == inServer {
		h.extra = append(h.extra, d)
	}
	return in.kind == inServer
}

func (h *httpd) listen(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if ok && in.kind == inServer && len(args) == 2 && strings.EqualFold(args[1], "https") {
		h.fail(d, "jkd listens without TLS: something in front of it has to speak https, and to ask jkd on a port of http")
		return true
	}
	return false
}

// scriptAlias keeps everybody from where the programs are, whose sources must
// not be shown.
func (h *httpd) scriptAlias(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if !ok || len(args) != 2 || in.kind != inServer && in.kind != inVHost {
		return h.refuse(d, in, ok, "needs a path and a directory")
	}
	match := strings.EqualFold(d.Name, "ScriptAliasMatch")
	if err := regularExpression(args[0]); match && err != nil {
		h.fail(d, "%s", err)
		return true
	}
	h.warn(d, "is not done: there are no CGI programs, and nobody may ask for them")
	at := h.open(locationSection, d, in, "", match, args[0])
	h.put(at, d, "Require", "all", "denied")
	h.keep(at)
	return true
}
