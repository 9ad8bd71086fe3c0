package status

import "fmt"

// target is what a command is about: a balancer, a member of one, or a back end
// that is in none.
type target struct {
	balancer *Balancer
	member   *Member // of balancer, may be nil
	ajp      *AJP    // if balancer is nil
}

func (t *target) endpoint() *Endpoint {
	if t.member != nil {
		return &t.member.Endpoint
	}
	return &t.ajp.Endpoint
}

// names are the parameters w and sw.
func (t *target) names() (w, sw string) {
	switch {
	case t.member != nil:
		return t.balancer.Name, t.member.Name
	case t.balancer != nil:
		return t.balancer.Name, ""
	}
	return t.ajp.Name, ""
}

// String is what log lines call it.
func (t *target) String() string {
	switch {
	case t.member != nil:
		return fmt.Sprintf("sub worker '%s' of lb worker '%s'", t.member.Name, t.balancer.Name)
	case t.balancer != nil:
		return fmt.Sprintf("lb worker '%s'", t.balancer.Name)
	}
	return fmt.Sprintf("ajp worker '%s'", t.ajp.Name)
}

// has tells whether the target has attributes of that scope.
func (t *target) has(s scope) bool {
	switch s {
	case ofBalancer:
		return t.balancer != nil && t.member == nil
	case ofMember:
		return t.member != nil
	}
	return t.member != nil || t.ajp != nil
}

const errNoWorker = fault("A worker must be given.")

// find looks up a worker and, unless sw is "", one of its members.
func (v *View) find(w, sw string) (target, error) {
	if w == "" {
		return target{}, errNoWorker
	}
	for i := range v.Balancers {
		b := &v.Balancers[i]
		if b.Name != w {
			continue
		}
		if sw == "" {
			return target{balancer: b}, nil
		}
		for j := range b.Members {
			if b.Members[j].Name == sw {
				return target{balancer: b, member: &b.Members[j]}, nil
			}
		}
		return target{}, noMember(w, sw)
	}
	for i := range v.AJP {
		if v.AJP[i].Name != w {
			continue
		}
		if sw != "" {
			return target{}, noMember(w, sw)
		}
		return target{ajp: &v.AJP[i]}, nil
	}
	return target{}, fault(fmt.Sprintf("There is no worker '%s'.", w))
}

func noMember(w, sw string) error {
	return fault(fmt.Sprintf("Worker '%s' has no member '%s'.", w, sw))
}
