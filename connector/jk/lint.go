package jk

import (
	"fmt"
	"slices"
	"strings"

	"jkd/conf"
	"jkd/connector/resolve"
)

// linter says what is legal and works, and is surely not meant, or surprises
// people. Faults of the language are found by the builder; what is here looks
// at workers as they will run.
type linter struct {
	*builder
	// servers is how many processes there may be, threads how many requests
	// each can serve at a time.
	servers, threads int
}

func (l linter) run() {
	for i := range l.cfg.Workers {
		switch w := &l.cfg.Workers[i]; w.Type {
		case AJP13:
			l.backEnd(w)
		case LB:
			for j := range w.LB.Members {
				l.backEnd(&w.LB.Members[j])
			}
			l.balancer(w)
		case Status:
			if w.Status.AllowGetUpdate && !w.Status.ReadOnly {
				at, key := l.written(w.Name, "allow_get_update")
				l.warn(at, key, "any link or image on a page that an administrator looks at can change things; POST needs no such leave")
			}
		}
	}
	l.sharedHosts()
}

// Tomcat's limits as it comes: threads of an AJP connector, and connections.
const (
	usualThreads     = 200
	usualConnections = 8192
)

// backEnd looks at one container. A worker that is listed and a member is
// looked at twice and spoken of once.
func (l linter) backEnd(w *WorkerConfig) {
	l.spare(w)
	a := &w.AJP
	if a.Port == 0 {
		return
	}
	at, key := l.written(w.Name, "host", "port")
	if a.Secret == "" && !resolve.Loopback(a.Host) {
		l.warn(at, key, "has no secret, and %s is not this machine: whoever reaches the port can be any user to the container (secret here and there, or secretRequired=false there)", conf.Printable(a.Host))
	}
	switch a.Port {
	case 80, 443, 8080, 8443:
		at, key := l.written(w.Name, "port")
		l.warn(at, key, "%d is usually a port for HTTP: the container needs a connector with protocol AJP/1.3, mostly at %d", a.Port, normalPort)
	case 8005:
		at, key := l.written(w.Name, "port")
		l.warn(at, key, "%d is usually Tomcat's port for shutdown, that for AJP is mostly %d", a.Port, normalPort)
	}
	if a.MaxPacketSize > leastPacketSize {
		at, key := l.written(w.Name, "max_packet_size")
		l.info(at, key, "the container's connector needs packetSize=%q too", fmt.Sprint(a.MaxPacketSize))
	}
	l.recovery(w)
}

func (l linter) recovery(w *WorkerConfig) {
	at, key := l.written(w.Name, "recovery_options")
	switch o := w.AJP.RecoveryOptions; {
	case !w.AJP.RecoveryOptionsSet:
	case o&(RecoverNotSent|RecoverNotStarted) == 0 && o&(RecoverHead|RecoverGet) != 0:
		l.info(at, key, "bits %d and %d are exceptions to bit %d, which is not set: POST requests are sent again too", RecoverHead, RecoverGet, RecoverNotSent)
	case o&RecoverNotSent == 0:
		l.info(at, key, "without bit %d every request is sent again after a failure, also a POST that was carried out; 27 sends only HEAD and GET again", RecoverNotSent)
	}
}

// spare remarks on sizes that no process can use up, and says what the others
// come to: a pool is a process's own, which surprises people.
func (l linter) spare(w *WorkerConfig) {
	c := &w.AJP.Cache
	if !c.SizeSet || c.Size <= 1 {
		return
	}
	at, key := l.written(w.Name)
	n := c.Size
	if n > l.threads {
		l.info(at, key, "of the %d connections a process may keep it never uses more than it serves requests at a time (%d)", n, l.threads)
		n = l.threads
	}
	all := l.servers * n
	if m := w.AJP.MaxConnections; m > 0 {
		if c.Mode == ModePool && c.MinSize*l.servers > m {
			at, key := l.written(w.Name, "max_connections")
			l.warn(at, key, "%d processes that keep %d connections each (connection_pool_minsize) are more than %d", l.servers, c.MinSize, m)
		}
		return
	}
	text := fmt.Sprintf("%d processes with up to %d connections each: the back end must take up to %d", l.servers, n, all)
	switch {
	case all > usualConnections:
		l.warn(at, key, "%s; Tomcat takes %d (maxConnections) if nothing else is set there. Bound them here with max_connections", text, usualConnections)
	case all > usualThreads:
		l.info(at, key, "%s; Tomcat has %d threads (maxThreads) if nothing else is set there, max_connections is a bound here", text, usualThreads)
	default:
		l.info(at, key, "%s", text)
	}
}

// balancer looks at members together.
func (l linter) balancer(w *WorkerConfig) {
	lb := w.LB
	same := map[string]*WorkerConfig{}
	domains := map[string]int{}
	var sizes, with, without []string // secret
	differ, open := false, false
	for i := range lb.Members {
		m := &lb.Members[i]
		if m.AJP.Port != 0 {
			address := fmt.Sprintf("%s:%d", strings.ToLower(m.AJP.Host), m.AJP.Port)
			if o := same[address]; o != nil {
				at, key := l.written(m.Name, "port", "host")
				l.warn(at, key, "is at %s like member %s: a balancer of one container twice", conf.Printable(address), conf.Printable(o.Name))
			}
			same[address] = m
		}
		domains[m.Member.Domain]++
		sizes = append(sizes, fmt.Sprintf("%s %d", conf.Printable(m.Name), m.AJP.MaxPacketSize))
		differ = differ || m.AJP.MaxPacketSize != lb.Members[0].AJP.MaxPacketSize
		open = open || m.Member.Activation == Active
		if m.AJP.Secret != "" {
			with = append(with, conf.Printable(m.Name))
		} else {
			without = append(without, conf.Printable(m.Name))
		}
	}
	at, key := l.written(w.Name, "balance_workers", "balanced_workers")
	if len(with) > 0 && len(without) > 0 {
		l.warn(at, key, "some members have a secret (%s) and some have none (%s)", strings.Join(with, ", "), strings.Join(without, ", "))
	}
	if differ {
		l.info(at, key, "max_packet_size differs among the members (%s): a request must fit into the smallest", strings.Join(sizes, ", "))
	}
	if !open {
		l.warn(at, key, "no member is active: requests without a session get 503")
	}
	for i := range lb.Members {
		m := &lb.Members[i]
		if d := l.workers[m.Name].own["domain"]; d != nil && domains[m.Member.Domain] == 1 && len(lb.Members) > 1 {
			l.info(d.at(), d.Name, "no other member of %s is in domain %s: its sessions have no member to move to there", conf.Printable(w.Name), conf.Printable(m.Member.Domain))
		}
	}
	if lb.StickySession {
		return
	}
	at, key = l.written(w.Name, "sticky_session")
	if lb.StickySessionForce {
		l.warn(at, key, "is off, so sticky_session_force has no effect")
	}
	for i := range lb.Members {
		m := &lb.Members[i]
		own := l.workers[m.Name].own
		switch {
		case own["redirect"] != nil:
			l.warn(at, key, "is off, so no session leads to the redirect of member %s", conf.Printable(m.Name))
		case own["domain"] != nil:
			l.info(at, key, "is off, so the domain of member %s has no effect", conf.Printable(m.Name))
		case m.Member.Route != m.Name && (own["route"] != nil || own["jvm_route"] != nil):
			l.info(at, key, "is off, so the route of member %s has no effect here", conf.Printable(m.Name))
		}
	}
}

// sharedHosts remarks on containers that fail together because they are on one
// machine.
func (l linter) sharedHosts() {
	first, seen := map[string]string{}, map[string]bool{}
	look := func(w *WorkerConfig) {
		host := strings.ToLower(w.AJP.Host)
		if seen[w.Name] || w.AJP.Port == 0 || resolve.Loopback(host) {
			return
		}
		seen[w.Name] = true
		if other, ok := first[host]; ok {
			at, key := l.written(w.Name, "host")
			l.info(at, key, "%s and %s share a host", conf.Printable(other), conf.Printable(w.Name))
			return
		}
		first[host] = w.Name
	}
	for i := range l.cfg.Workers {
		switch w := &l.cfg.Workers[i]; w.Type {
		case AJP13:
			look(w)
		case LB:
			for j := range w.LB.Members {
				look(&w.LB.Members[j])
			}
		}
	}
}

// covered warns of mounts of the main server that a virtual host does not have
// and gives to another worker.
func (r *report) covered(main, own *URIMap, host string) {
	for _, m := range main.rules {
		if m.Exclude || m.Disabled || slices.ContainsFunc(own.rules, func(o *Rule) bool { return o.Pattern == m.Pattern }) {
			continue
		}
		for _, o := range own.rules {
			if !o.Exclude && !o.Disabled && o.Worker != m.Worker && covers(o.Pattern, m.Pattern) {
				r.warn(m.at(), m.Pattern, "not in vhost %s: %s (%s) gives it to %s there, and the main server's mounts are not its own without JkMountCopy = On",
					host, conf.Printable(o.Pattern), o.at(), conf.Printable(o.Worker))
				break
			}
		}
	}
}

// strangers warns of virtual hosts that map nothing although the main server
// does: only JkMountCopy makes its mounts theirs.
func (r *report) strangers(c *conf.Config, s *Setup) {
	if len(s.Maps[0].rules) == 0 {
		return
	}
	served := map[int]bool{}
	for i := range c.Locations {
		if l := &c.Locations[i]; l.Handler != "" {
			served[l.VHost] = true
		}
	}
	for i := 1; i < len(s.Maps) && i <= len(c.VHosts); i++ {
		if len(s.Maps[i].rules) == 0 && !served[i] && !served[0] && c.Jk.Servers[i].AutoAlias == "" {
			h := &c.VHosts[i-1]
			r.warn(place{c.Path, h.Line}, "vhost "+h.Name, "maps nothing: the main server's mounts are not its own without JkMountCopy = On")
		}
		r.covered(s.Maps[0], s.Maps[i], c.VHosts[i-1].Name)
	}
}
