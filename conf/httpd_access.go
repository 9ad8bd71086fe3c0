package conf

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"jkd/conf/apache"
)

// isAccess tells a directive about who may ask.
func isAccess(name string) bool {
	switch name {
	case "require", "order", "allow", "deny", "satisfy":
		return true
	}
	return false
}

// grants tells that directives say no more than that everybody may ask.
func (h *httpd) grants(list []*apache.Directive) bool {
	ordered, allowed := false, false
	for _, d := range list {
		args := strings.ToLower(strings.Join(strings.Fields(d.Args), ""))
		switch name := strings.ToLower(d.Name); {
		case d.Skipped, name == "allowoverride", name == "satisfy", name == "require" && args == "allgranted":
		case name == "order":
			ordered = args != "deny,allow" // by which nobody is let in without Allow
		case name == "allow" && args == "fromall":
			allowed = true
		default:
			return false
		}
	}
	return allowed || !ordered
}

var errRequire = errors.New("this combination is not supported: either Require lines of which one is enough, or <RequireAll> with one Require and any number of Require not")

// requireSection turns RequireAny into lines, and RequireAll with exceptions
// into Require and Require not.
func (h *httpd) requireSection(d *apache.Directive, in context) {
	if strings.EqualFold(d.Name, "RequireAny") {
		for _, c := range d.Children {
			switch {
			case c.Skipped:
			case c.Section:
				h.fail(c, "%s", errRequire)
			default:
				h.directive(c, in)
			}
		}
		return
	}
	allow, deny, err := h.requireAll(d)
	if slices.ContainsFunc(in.at.Pairs, func(p Pair) bool { return strings.EqualFold(p.Key, "Require") }) {
		err = errRequire // one of both would be enough
	}
	if err != nil {
		h.fail(d, "%s", err)
		return
	}
	h.put(in.at, d, "Require", allow...)
	if len(deny) > 0 {
		h.put(in.at, d, "Require", append([]string{"not", "ip"}, deny...)...)
	}
}

// requireAll reads the conditions of RequireAll: the arguments of a Require that
// says who may ask, and the addresses of them that may not.
func (h *httpd) requireAll(d *apache.Directive) (allow, deny []string, err error) {
	if strings.EqualFold(d.Name, "RequireNone") {
		return nil, nil, errRequire
	}
	granted, limited := []string{"all", "granted"}, false
	for _, c := range d.Children {
		lines, none, err := h.requirement(c)
		if err != nil {
			return nil, nil, err
		}
		var list []string
		for _, args := range lines {
			prefixes, err := parseRequire(joinWords(args))
			if err != nil {
				return nil, nil, fmt.Errorf("Require: %w", err)
			}
			for _, p := range prefixes {
				list = append(list, p.String())
			}
		}
		switch {
		case c.Skipped:
		case none:
			deny = append(deny, list...)
		case len(list) == len(everyone) && list[0] == everyone[0].String():
			if allow == nil {
				allow = granted
			}
		case limited:
			return nil, nil, errRequire
		case len(list) == 0:
			allow, limited = []string{"all", "denied"}, true
		default:
			allow, limited = append([]string{"ip"}, list...), true
		}
	}
	if allow == nil {
		return nil, nil, errRequire
	}
	return allow, deny, nil
}

// requirement is one condition of RequireAll: the lines of which one has to
// hold, or none.
func (h *httpd) requirement(d *apache.Directive) (lines [][]string, none bool, err error) {
	list := []*apache.Directive{d}
	switch name := strings.ToLower(d.Name); {
	case d.Skipped:
		return nil, false, nil
	case d.Section && (name == "requireany" || name == "requirenone"):
		list, none = d.Children, name == "requirenone"
	}
	for _, c := range list {
		args, err := apache.Words(c.Args)
		if err != nil || len(args) == 0 || c.Section || !strings.EqualFold(c.Name, "Require") {
			return nil, false, errRequire
		}
		if strings.EqualFold(args[0], "not") && !d.Section && len(args) > 1 {
			none, args = true, args[1:]
		}
		lines = append(lines, args)
	}
	return lines, none, nil
}

// require is checked here for what would leave something open.
func (h *httpd) require(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	if !ok || len(args) == 0 || in.kind != inLocation && in.kind != inDirectory {
		return false
	}
	switch strings.ToLower(args[0]) {
	case "valid-user", "user", "group", "file-owner", "file-group":
		h.fail(d, "is not supported: jkd asks nobody for a password, except for the status page; the container can do it")
		return true
	case "not":
		h.fail(d, "belongs in <RequireAll> beside a Require that lets somebody in")
		return true
	}
	return false
}

func (h *httpd) satisfy(d *apache.Directive, in context) bool {
	if in.kind == inLocation || in.kind == inDirectory {
		if strings.EqualFold(d.Args, "any") {
			h.warn(d, "has no effect: both Require and Order, Allow and Deny have to let a client in")
		}
		return true
	}
	return in.kind == inNothing
}
