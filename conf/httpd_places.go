package conf

import (
	"slices"
	"strings"

	"jkd/conf/apache"
)

// placeHeader is the header of a section about a path.
func placeHeader(section string, v *host, within string, match bool, path string) string {
	name := section
	if v != nil {
		name += " " + v.name
	}
	if within != "" {
		name += " " + quoteHeader(within)
	}
	if match {
		name += " ~"
	}
	return name + " " + quoteHeader(path)
}

// quoteHeader is quoteIni for a header, in which ~ alone means something.
func quoteHeader(s string) string {
	if s == "~" {
		return `"~"`
	}
	return quoteIni(s)
}

// placeArgs reads the arguments of a section about a path.
func (h *httpd) placeArgs(d *apache.Directive, match bool) (path string, isMatch, ok bool) {
	args, ok := h.words(d)
	if !ok {
		return "", false, false
	}
	if len(args) == 2 && args[0] == "~" {
		match, args = true, args[1:]
	}
	if len(args) != 1 || args[0] == "" {
		h.fail(d, "needs one argument; what contains blanks must be quoted")
		return "", false, false
	}
	if match {
		if err := regularExpression(args[0]); err != nil {
			h.fail(d, "%s", err)
			return "", false, false
		}
	}
	return args[0], match, true
}

// open makes a section about a path; it is kept if something comes to be in it.
func (h *httpd) open(section string, d *apache.Directive, in context, within string, match bool, path string) *Section {
	s := &Section{Name: placeHeader(section, in.host, within, match, path), Line: h.line(d.Place)}
	h.p.titles[s.Line] = d.Title()
	return s
}

func (h *httpd) location(d *apache.Directive, in context, match bool) {
	path, match, ok := h.placeArgs(d, match)
	if !ok {
		return
	}
	if !match && !strings.HasPrefix(path, "/") {
		h.fail(d, "the path %q does not begin with '/'", path)
		return
	}
	at := h.open(locationSection, d, in, "", match, path)
	next := context{kind: inLocation, host: in.host, at: at, path: path, match: match, section: d}
	if h.isStatus(d) {
		next.status = true
		h.statusLocation(d, next)
		return
	}
	h.walk(d.Children, next)
	h.keep(at)
}

// keep enters a section about a path that has something to say.
func (h *httpd) keep(at *Section) {
	if len(at.Pairs) > 0 {
		h.places = append(h.places, at)
	}
}

func (h *httpd) directorySection(d *apache.Directive, in context, files, match bool) {
	path, match, ok := h.placeArgs(d, match)
	if !ok {
		return
	}
	section := directorySection
	if files {
		section = filesSection
	}
	within := ""
	if files && in.kind == inDirectory && !in.match && strings.EqualFold(in.section.Name, "Directory") {
		within = in.path
	}
	switch {
	case in.kind != inServer && in.kind != inVHost && within == "":
		says := slices.ContainsFunc(d.Children, func(c *apache.Directive) bool { return isAccess(strings.ToLower(c.Name)) })
		switch {
		case h.grants(d.Children):
			h.info(d, "sections within %s are not supported; this one only lets everybody in", in.section.Title())
		case says && !strings.Contains(path, ".ht"): // those are never served
			h.fail(d, "sections within %s are not supported: write who may see these files outside of it", in.section.Title())
		default:
			h.warn(d, "sections within %s are not supported: what it says is not done", in.section.Title())
		}
		return
	case files && !match && strings.Contains(path, "/"):
		h.fail(d, "%q is not the name of a file", path)
		return
	case !files && !match && !strings.HasPrefix(path, "/"):
		h.fail(d, "the path %q is not absolute", path)
		return
	}
	at := h.open(section, d, in, within, match, path)
	h.walk(d.Children, context{kind: inDirectory, host: in.host, at: at, path: path, match: match, section: d})
	h.keep(at)
}
