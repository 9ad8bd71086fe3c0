package conf

import (
	"slices"
	"strings"

	"jkd/conf/apache"
)

// formatsOf looks for the formats of a virtual host, which jkd knows for all of
// the server only: its logs get them in full.
func (h *httpd) formatsOf(v *host, list []*apache.Directive) {
	for _, d := range list {
		args, err := apache.Words(d.Args)
		if d.Section || err != nil || !strings.EqualFold(d.Name, "LogFormat") {
			continue
		}
		switch len(args) {
		case 1:
			h.plain[v] = args[0]
		case 2:
			if h.formats[v] == nil {
				h.formats[v] = map[string]string{}
			}
			h.formats[v][args[1]] = args[0]
		}
	}
}

func (h *httpd) logFormat(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	switch {
	case in.kind == inVHost:
		return ok // formatsOf has it
	case in.kind == inServer && ok && len(args) == 1:
		h.plain[nil] = args[0]
		return true
	}
	return false
}

func (h *httpd) transferLog(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if !ok || len(args) != 1 || in.kind != inServer && in.kind != inVHost {
		return h.refuse(d, in, ok, "needs the path of a file")
	}
	format, ok := h.plain[in.host]
	if !ok {
		if format, ok = h.plain[nil]; !ok {
			format = "common"
		}
	}
	h.log(d, in, []string{args[0], format})
	return true
}

// refuse reports a directive that is not for this context or faulty.
func (h *httpd) refuse(d *apache.Directive, in context, ok bool, what string) bool {
	switch {
	case !ok || in.kind == inNothing:
	case in.kind != inServer && in.kind != inVHost:
		h.fail(d, "does not belong here but in the server's own directives or <VirtualHost>")
	default:
		h.fail(d, "%s", what)
	}
	return true
}

func (h *httpd) customLog(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if !ok || len(args) < 2 || len(args) > 3 || in.kind != inServer && in.kind != inVHost {
		return h.refuse(d, in, ok, "needs a path, a format, and perhaps env=NAME")
	}
	h.log(d, in, args)
	return true
}

func (h *httpd) log(d *apache.Directive, in context, args []string) {
	s := h.server
	if in.host != nil {
		s = in.host.Section
		if format, ok := h.formats[in.host][args[1]]; ok {
			args[1] = format
		}
	}
	h.put(s, d, "CustomLog", args...)
}

// logLevel leaves out what is for single modules.
func (h *httpd) logLevel(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if !ok || in.kind != inServer {
		return !ok
	}
	plain := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.Contains(a, ":") })
	if len(plain) < len(args) {
		h.info(d, "levels of single modules do not count; JkLogLevel is that of the connector")
	}
	if len(plain) > 0 || len(args) == 0 {
		h.put(h.server, d, d.Name, plain...)
	}
	return true
}

func (h *httpd) errorLogFormat(d *apache.Directive, in context) bool {
	if strings.EqualFold(d.Args, "text") || strings.EqualFold(d.Args, "json") {
		return false
	}
	h.info(d, "the error log has jkd's own format: text, or json with ErrorLogFormat json")
	return true
}
