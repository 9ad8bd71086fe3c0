package conf

import (
	"slices"
	"strconv"
	"strings"

	"jkd/conf/apache"
)

// parseAddress reads an address of <VirtualHost>: its port is 0 for any. plain
// tells that it is one for all addresses.
func parseAddress(s string) (port int, plain bool, err error) {
	addr := s
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') && (strings.Count(s, ":") == 1 || strings.HasPrefix(s, "[")) {
		addr = s[:i]
		if text := s[i+1:]; text != "*" {
			if port, err = parsePort(text); err != nil {
				return 0, false, err
			}
		}
	}
	if addr == "*" || strings.EqualFold(addr, "_default_") {
		return port, true, nil
	}
	_, err = parseHost(addr)
	return port, false, err
}

// virtualHost enters a virtual host, for each of its ports: those of jkd have a
// name and one port or any.
func (h *httpd) virtualHost(d *apache.Directive) {
	args, ok := h.words(d)
	if !ok {
		return
	}
	if len(args) == 0 {
		h.fail(d, "needs an address, such as *:80")
		return
	}
	var ports []int
	for _, a := range args {
		port, plain, err := parseAddress(a)
		if err != nil {
			h.fail(d, "%s", err)
			return
		}
		if !plain {
			h.info(d, "the address of %s does not count: virtual hosts are told apart by the name that is asked for and by the port", a)
		}
		if !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	name, own, ok := h.hostName(d)
	if !ok {
		return
	}
	for _, port := range ports {
		v := &host{Section: &Section{Line: h.line(d.Place)}, name: name, port: port, at: d}
		if name == "" {
			v.name = "unnamed-" + strconv.Itoa(len(h.hosts)+1)
			h.warn(d, "has no ServerName: it serves what no other one on its port is asked by name for, if it is the first there")
		}
		if port > 0 {
			v.name += ":" + strconv.Itoa(port)
		}
		if before := h.taken[v.name]; before != nil {
			h.warn(d, "is never reached: the one of %s has the same name and port", h.p.at(h.line(before.Place)))
			h.walk(d.Children, context{kind: inNothing, section: d})
			continue
		}
		if own > 0 && port > 0 && own != port {
			h.info(d, "the port %d of its ServerName does not count", own)
		}
		h.taken[v.name] = d
		v.Name = vhostSection + " " + v.name
		h.p.titles[v.Line] = d.Title()
		h.hosts = append(h.hosts, v)
		h.formatsOf(v, d.Children)
		h.walk(d.Children, context{kind: inVHost, host: v, section: d})
	}
}

// hostName is the ServerName of a virtual host, or what takes its place: the
// first of its aliases, or the main server's name. It is "" if there is none.
func (h *httpd) hostName(d *apache.Directive) (name string, port int, ok bool) {
	first := func(list []*apache.Directive, key string) (at *apache.Directive, arg string) {
		for _, c := range list {
			if args, err := apache.Words(c.Args); !c.Section && strings.EqualFold(c.Name, key) && err == nil && len(args) > 0 {
				if key == "ServerName" || at == nil && !wild(args[0]) {
					at, arg = c, args[0]
				}
			}
		}
		return at, arg
	}
	if at, arg := first(d.Children, "ServerName"); at != nil {
		name, port, err := parseVHostName(withoutScheme(arg))
		if err != nil {
			h.fail(at, "%s", err)
		}
		return name, port, err == nil
	}
	if at, arg := first(d.Children, "ServerAlias"); at != nil {
		if name, _, err := parseVHostName(arg); err == nil {
			return name, 0, true
		}
	}
	if at, arg := first(h.tree.Directives, "ServerName"); at != nil {
		if name, _, err := parseVHostName(withoutScheme(arg)); err == nil && !h.named(name) {
			return name, 0, true
		}
	}
	return "", 0, true
}

func (h *httpd) named(name string) bool {
	return slices.ContainsFunc(h.hosts, func(v *host) bool { n, _, _ := strings.Cut(v.name, ":"); return n == name })
}

func withoutScheme(s string) string {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		return rest
	}
	return s
}

// addDefaultHosts makes the first virtual host of each port the one for names
// that no other has, as in Apache.
func (h *httpd) addDefaultHosts() {
	done := map[int]bool{}
	all := func(v *host) bool {
		return slices.ContainsFunc(v.Pairs, func(p Pair) bool {
			return strings.EqualFold(p.Key, "ServerAlias") && slices.Contains(strings.Fields(p.Value), "*")
		})
	}
	for _, v := range h.hosts {
		if all(v) {
			done[v.port] = true
		}
	}
	for _, v := range h.hosts {
		if !done[v.port] {
			h.pair(v.Section, v.at, "ServerAlias", "*")
		}
		done[v.port] = true
	}
}

// dropAliases takes the names away that another virtual host of the port has
// already: that one serves them.
func (h *httpd) dropAliases() {
	owners := map[string]*host{}
	for _, v := range h.hosts {
		owners[v.name] = v
	}
	for _, v := range h.hosts {
		for i := range v.Pairs {
			p := &v.Pairs[i]
			if !strings.EqualFold(p.Key, "ServerAlias") {
				continue
			}
			args, err := words(p.Value)
			if err != nil {
				continue
			}
			var kept []string
			for _, a := range args {
				name, err := parseAlias(a)
				if v.port > 0 {
					name += ":" + strconv.Itoa(v.port)
				}
				if o := owners[name]; err == nil && o != nil && o != v {
					h.p.warn(p.Line, p.Key, "the name %s is that of %s in %s too, which serves it", a, o.at.Title(), h.p.at(o.Line))
					continue
				}
				owners[name] = v
				kept = append(kept, a)
			}
			if p.Value = joinWords(kept); len(kept) < len(args) && len(kept) == 0 {
				p.Key = ""
			}
		}
		v.Pairs = slices.DeleteFunc(v.Pairs, func(p Pair) bool { return p.Key == "" })
	}
}

func (h *httpd) serverName(d *apache.Directive, in context) bool {
	args, ok := h.words(d)
	switch {
	case in.kind == inVHost:
		return true // its section is named by it
	case in.kind != inServer || !ok:
		return false
	}
	if len(args) == 1 && withoutScheme(args[0]) != args[0] {
		h.info(d, "the scheme %s does not count", args[0][:strings.Index(args[0], "://")])
		args[0] = withoutScheme(args[0])
	}
	h.put(h.server, d, d.Name, args...)
	return true
}

func (h *httpd) serverAlias(d *apache.Directive, in context) bool {
	if in.kind == inServer {
		h.info(d, "has no effect outside of <VirtualHost>: the main server serves every host that no virtual host is asked for by")
	}
	return in.kind == inServer
}
