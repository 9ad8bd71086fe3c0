package status

// document is a format for scripts. Its methods write what is in the middle of
// a document; all formats show the same objects in the same order.
type document interface {
	balancers(n int, list func())
	balancer(a attributes, members, maps func())
	member(balancer string, a attributes)
	ajps(n int, list func())
	ajp(a attributes)
	mapping(worker string, id int, a attributes, inBalancer bool)
	configuration(pairs []Pair)
}

// shows tells whether the answer begins with the server, time and software.
func (s *service) shows() bool {
	if s.failure != "" {
		return false
	}
	switch s.query.Cmd {
	case List, Show, Version, Dump:
		return true
	}
	return false
}

// body writes what the command is about.
func (s *service) body(d document) {
	if s.failure != "" {
		return
	}
	switch s.query.Cmd {
	case List:
		if s.query.Options&NoBalancers == 0 {
			d.balancers(len(s.view.Balancers), func() {
				for i := range s.view.Balancers {
					s.oneBalancer(d, &s.view.Balancers[i], nil)
				}
			})
		}
		if s.query.Options&NoAJP == 0 {
			d.ajps(len(s.view.AJP), func() {
				for i := range s.view.AJP {
					s.oneAJP(d, &s.view.AJP[i])
				}
			})
		}
	case Show:
		if t := &s.target; t.balancer != nil {
			s.oneBalancer(d, t.balancer, t.member)
		} else {
			s.oneAJP(d, t.ajp)
		}
	case Dump:
		d.configuration(visible(s.view.Configuration))
	}
}

// oneBalancer writes a balancer with one of its members, or all if only is nil.
func (s *service) oneBalancer(d document, b *Balancer, only *Member) {
	d.balancer(s.balancer(b), func() {
		for i := range b.Members {
			m := &b.Members[i]
			if (only == nil || m == only) && s.query.Options&NoMembers == 0 {
				d.member(b.Name, s.member(m))
			}
		}
	}, func() { s.maps(d, b.Name, b.Maps, true) })
}

func (s *service) oneAJP(d document, w *AJP) {
	d.ajp(s.ajp(w))
	s.maps(d, w.Name, w.Maps, false)
}

func (s *service) maps(d document, worker string, maps []Map, inBalancer bool) {
	if s.query.Options&NoMaps != 0 {
		return
	}
	for i := range maps {
		d.mapping(worker, i+1, mapping(&maps[i]), inBalancer)
	}
}
