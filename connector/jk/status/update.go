package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jkd/conf"
)

// Control is what the pages show and change. Its methods may be called
// concurrently. Errors are told to the client as they are: they must name no
// secret.
type Control interface {
	// Snapshot fills dst, which is empty.
	Snapshot(dst *View)
	// Update changes values of worker w, or of its member sw if that is not "".
	// It does what follows from a change: a new activation sets all lb_values to
	// 0 (not for method Busyness), a new lbfactor changes the multipliers of all
	// members, a new host is resolved. With an error it may have changed a part.
	Update(w, sw string, changes []Change) error
	// Reset sets the counters to 0, the state to idle, lb_value and error times
	// to 0, and keeps gauges: of member sw, or of worker w with all its members.
	Reset(w, sw string, now time.Time) error
	// Recover lets the next request try a member that is in error.
	Recover(w, sw string) error
}

// update applies the parameters to what the query names.
func (s *service) update() error {
	q := s.query
	if q.Att != "" {
		return s.updateAll()
	}
	t, err := s.view.find(q.W, "")
	if err != nil {
		return err
	}
	if q.SW == "" {
		return s.apply(plan{{t, q.param}})
	}
	if t.balancer == nil {
		return noMember(q.W, q.SW)
	}
	var p plan
	for i := range t.balancer.Members {
		m := &t.balancer.Members[i]
		if conf.Wildcard(q.SW, m.Name) {
			p = append(p, step{target{balancer: t.balancer, member: m}, q.param})
		}
	}
	if len(p) == 0 {
		return noMember(q.W, q.SW)
	}
	return s.apply(p)
}

const (
	errAttribute = fault("Invalid attribute.")
	errMembers   = fault("Only a balancer has members to edit.")
)

// common is the attribute of the parameter att, if it can be edited for all
// members at once.
func common(code string) (Attribute, bool) {
	for a := noAttribute + 1; a < attributeCount; a++ {
		if d := &definitions[a]; d.code == code && d.scope != ofBalancer && a != Host && a != Port {
			return a, true
		}
	}
	return noAttribute, false
}

// updateAll applies val0, val1 and so on to the members in turn.
func (s *service) updateAll() error {
	a, ok := common(s.query.Att)
	if !ok {
		return errAttribute
	}
	t, err := s.view.find(s.query.W, "")
	if err != nil {
		return err
	}
	if t.balancer == nil {
		return errMembers
	}
	var p plan
	for i := range t.balancer.Members {
		key := "val" + strconv.Itoa(i)
		p = append(p, step{
			target{balancer: t.balancer, member: &t.balancer.Members[i]},
			func(name string) (string, bool) {
				switch name {
				case a.Code():
					return s.query.param(key)
				case before + a.Code():
					return s.query.param(before + key)
				}
				return "", false
			},
		})
	}
	return s.apply(p)
}

// step is one target and where its new values are, by code; those a form was
// filled with have before in front of it.
type step struct {
	target target
	param  func(code string) (string, bool)
}

type plan []step

// apply makes all changes that can be made. Its error tells of those that
// cannot.
func (s *service) apply(p plan) error {
	var faults []string
	fail := func(t *target, err error) {
		faults = append(faults, fmt.Sprintf("%s: %v", t, err))
	}
	changes := make([][]Change, len(p))
	for i := range p {
		t := &p[i].target
		cs, errs := changesOf(t, p[i].param)
		for _, err := range errs {
			fail(t, err)
		}
		changes[i] = cs
	}
	for i, route := range sameRoutes(p, changes) {
		fail(&p[i].target, fmt.Errorf("route '%s' is that of another member", route))
		changes[i] = slices.DeleteFunc(changes[i], func(c Change) bool { return c.Attribute == Route })
	}
	for i := range p {
		t := &p[i].target
		cs := withDomain(t, changes[i])
		if len(cs) == 0 {
			continue
		}
		w, sw := t.names()
		if err := s.control.Update(w, sw, cs); err != nil {
			fail(t, err)
			continue
		}
		for _, c := range cs {
			s.log(Info, fmt.Sprintf("changing '%s' for %s from '%s' to '%s'", c.Attribute, t, c.Old, c.New))
			s.done = append(s.done, done{t.String(), c})
		}
	}
	if len(faults) > 0 {
		return fault("Update failed for " + strings.Join(faults, "; ") + ".")
	}
	return nil
}

// before begins the names of parameters with which a form tells what it was
// filled with. What was not touched must stay as it is now, for it may have been
// changed since: a form that was open for an hour must not put a member back
// into service that a script has stopped meanwhile.
const before = "o"

// changesOf are the changes that the parameters mean for a target.
func changesOf(t *target, param func(code string) (string, bool)) (changes []Change, errs []error) {
	for a := noAttribute + 1; a < attributeCount; a++ {
		d := &definitions[a]
		if !t.has(d.scope) {
			continue
		}
		text, given := param(d.code)
		if was, told := param(before + d.code); !given || told && was == text {
			continue
		}
		v, ok, err := d.parse(text)
		if err != nil {
			errs = append(errs, err)
		}
		if c := d.change(a, d.value(t), v); ok && c.Old != c.New {
			changes = append(changes, c)
		}
	}
	return changes, errs
}

func (d *definition) change(a Attribute, old, v value) Change {
	return Change{Attribute: a, Int: v.num, Duration: v.span, Text: v.text, Old: d.show(old), New: d.show(v)}
}

// withDomain adds the domain that a new route with a dot implies for a member
// that has none.
func withDomain(t *target, changes []Change) []Change {
	at := -1
	for i, c := range changes {
		switch c.Attribute {
		case Domain:
			return changes
		case Route:
			at = i
		}
	}
	if at < 0 || t.member.Domain != "" {
		return changes
	}
	domain, _, dotted := strings.Cut(changes[at].Text, ".")
	if !dotted || domain == "" {
		return changes
	}
	return append(changes, definitions[Domain].change(Domain, value{}, value{text: domain}))
}

// sameRoutes are the places of the changes that would give a member the route
// of another one of its balancer: sessions could not be told apart.
func sameRoutes(p plan, changes [][]Change) map[int]string {
	if len(p) == 0 || p[0].target.member == nil {
		return nil
	}
	after := map[*Member]string{} // routes if all changes are made
	fresh := map[int]string{}
	for i := range p {
		for _, c := range changes[i] {
			if c.Attribute == Route {
				after[p[i].target.member], fresh[i] = c.Text, c.Text
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	count := map[string]int{}
	b := p[0].target.balancer
	for i := range b.Members {
		m := &b.Members[i]
		if route, ok := after[m]; ok {
			count[route]++
		} else {
			count[m.Route]++
		}
	}
	clash := false
	for _, route := range fresh {
		clash = clash || count[route] > 1
	}
	if !clash {
		return nil
	}
	return fresh // a swap of routes must not be done by half
}
