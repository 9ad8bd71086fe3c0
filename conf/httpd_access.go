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
	for _, d := range list {
		args := strings.ToLower(strings.Join(strings.Fields(d.Args), " "))
		switch strings.ToLower(d.Name) {
		case "order", "allowoverride", "satisfy":
		case "allow":
			if args != "from all" {
				return false
			}
		case "require":
			if args != "all granted" {
				return false
			}
		default:
			if !d.Skipped {
				return false
			}
		}
	}
	return true
}

var errRequire = errors.New("this combination is not supported: either Require lines of which one is enough, or <RequireAll> with one Require and any number of Require not")

// requireSection turns RequireAny into lines, and RequireAll with exceptions
// into Order, Allow and Deny, which say the same.
func (h *httpd) requireSection(d *apache.Directive, in context) {
	switch strings.ToLower(d.Name) {
	case "requireany":
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
	case "requirenone":
		h.fail(d, "%s", errRequire)
		return
	}
	if slices.ContainsFunc(in.at.Pairs, func(p Pair) bool { return isAccess(strings.ToLower(p.Key)) }) {
		h.fail(d, "%s", errRequire)
		return
	}
	allow, deny, err := h.requireAll(d)
	if err != nil {
		h.fail(d, "%s", err)
		return
	}
	from := func(key string, list []string) {
		if len(list) > 0 {
			h.put(in.at, d, key, append([]string{"from"}, list...)...)
		}
	}
	h.put(in.at, d, "Order", "Allow,Deny")
	from("Allow", allow)
	from("Deny", deny)
}

// requireAll reads the conditions of RequireAll as addresses that may ask and
// those of them that may not.
func (h *httpd) requireAll(d *apache.Directive) (allow, deny []string, err error) {
	groups := 0
	for _, c := range d.Children {
		if c.Skipped {
			continue
		}
		var lines [][]string
		name, none := strings.ToLower(c.Name), false
		switch {
		case name == "require":
			args, err := apache.Words(c.Args)
			if err != nil || len(args) == 0 {
				return nil, nil, errRequire
			}
			if strings.EqualFold(args[0], "not") {
				none, args = true, args[1:]
			}
			lines = append(lines, args)
		case name == "requireany" || name == "requirenone":
			none = name == "requirenone"
			for _, g := range c.Children {
				args, err := apache.Words(g.Args)
				if err != nil || len(args) == 0 || g.Section || !strings.EqualFold(g.Name, "Require") {
					return nil, nil, errRequire
				}
				lines = append(lines, args)
			}
		default:
			return nil, nil, errRequire
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
		all := len(list) == 2 && list[0] == everyone[0].String()
		switch {
		case none:
			deny = append(deny, list...)
		case all && groups == 0 && allow == nil:
			allow = list
		case all:
		case groups > 0:
			return nil, nil, errRequire
		default:
			allow, groups = list, 1
		}
	}
	if allow == nil && groups == 0 {
		return nil, nil, errRequire
	}
	return allow, deny, nil
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
		h.info(d, "is not needed: addresses alone decide who may ask")
		return true
	}
	return in.kind == inNothing
}
