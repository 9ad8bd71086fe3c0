package conf

import "strings"

// hosts finds the virtual host of a name.
type hosts struct {
	names map[string][]hostPort
	wild  []wildHost // in file order
	rest  []hostPort // those with the alias *, for every other name and for none
}

// hostPort is a virtual host, counted from 1, and the port it is for.
type hostPort struct{ port, vhost int }

type wildHost struct {
	pattern string
	hostPort
}

func newHosts(list []VHost) *hosts {
	h := &hosts{names: map[string][]hostPort{}}
	for i := range list {
		v := &list[i]
		at := hostPort{v.Port, i + 1}
		h.names[v.Name] = append(h.names[v.Name], at)
		for _, a := range v.Aliases {
			if a == "*" {
				h.rest = append(h.rest, at)
			} else if wild(a) {
				h.wild = append(h.wild, wildHost{a, at})
			} else {
				h.names[a] = append(h.names[a], at)
			}
		}
	}
	return h
}

func wild(s string) bool { return strings.ContainsAny(s, "*?") }

// index prepares VHost.
func (c *Config) index() {
	if len(c.VHosts) > 0 {
		c.hosts = newHosts(c.VHosts)
	}
}

// maxHost is the longest host name looked for, in bytes; there are none beyond
// 253.
const maxHost = 255

// VHost returns the virtual host that serves a request, as its place in VHosts
// plus 1, or 0 for the main server. host is the name the client asked for,
// without brackets and port, port the one its connection came in on. Case and
// a final dot do not count. A name wins over a pattern, a virtual host for
// this port over one for any, and among patterns the first one of the file. The
// alias * is for every host that is found in no other way, and for requests
// that name none.
//
// It allocates nothing and may be called concurrently, for a configuration
// that [Parse] or [Decode] returned.
func (c *Config) VHost(host []byte, port int) int {
	if len(c.VHosts) == 0 {
		return 0
	}
	if c.hosts == nil {
		return newHosts(c.VHosts).find(host, port) // made in code
	}
	return c.hosts.find(host, port)
}

func (h *hosts) find(host []byte, port int) int {
	if n := len(host); n > 0 && host[n-1] == '.' {
		host = host[:n-1]
	}
	if len(host) == 0 || len(host) > maxHost {
		return h.other(port)
	}
	var buf [maxHost]byte
	name := buf[:len(host)]
	for i, b := range host {
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		name[i] = b
	}
	any := 0
	for _, at := range h.names[string(name)] {
		switch at.port {
		case port:
			return at.vhost
		case 0:
			any = at.vhost
		}
	}
	if any > 0 {
		return any
	}
	for i := range h.wild {
		w := &h.wild[i]
		if (w.port == 0 || w.port == port) && Wildcard(w.pattern, name) {
			return w.vhost
		}
	}
	return h.other(port)
}

// other is the virtual host for names that no other one has.
func (h *hosts) other(port int) (any int) {
	for _, at := range h.rest {
		switch {
		case at.port == port:
			return at.vhost
		case at.port == 0 && any == 0:
			any = at.vhost
		}
	}
	return any
}
