package balance

// Options are the rules of one election.
type Options struct {
	// From is where an election begins, see [Elect].
	From int
	// Stateless: the request neither has nor begins a session (rule extension
	// stateless, JK_STATELESS).
	Stateless bool
	// Force is sticky_session_force: a request whose session has a route goes
	// there or nowhere.
	Force bool
}

// How is the way a member was found.
type How uint8

const (
	NotFound   How = iota
	BySingle       // it is the only one
	ByRoute        // the session's route is its own
	ByRedirect     // it stands in for the member that the route names
	ByDomain       // it is of the domain that the route or its member names
	ByElection     // the least loaded
	ByStandby      // nobody could be elected, a redirect leads to it
)

var howNames = [...]string{"none", "single", "route", "redirect", "domain", "election", "standby"}

// String returns a word for logs.
func (h How) String() string { return name("How", howNames[:], uint8(h)) }

// Choice is the member that is to serve a request.
type Choice struct {
	// Index is that of the member, -1 if there is none.
	Index int
	How   How
	// Sticky tells that the session stays where it was, so there is no need of
	// another cookie. That of a balancer with one member always does.
	Sticky bool
	// RouteSent is what the container is told as route: the member's, or its
	// domain if only that was known. "" without a member.
	RouteSent string
	// HasID tells that the request has a session id, with or without route. A
	// request that has none and is not stateless begins a session.
	HasID bool
	// EmptyID tells that an id of no characters was passed over.
	EmptyID bool
	// Unknown is the first route that fits neither a member nor a domain, nil
	// if there was none. It is a piece of the request.
	Unknown []byte
}

// found is a Choice of member i.
func found(members []Member, i int, how How) Choice {
	c := Choice{Index: i}
	if i < 0 {
		return c
	}
	m := &members[i]
	c.How, c.RouteSent = how, m.Route
	c.Sticky = how == BySingle || how == ByRoute
	if how == ByDomain {
		c.RouteSent = m.Domain
	}
	return c
}

// Resolve finds the member for a session: that whose route is the one in the
// id; else that whose route follows the id's last '.'; else the best of the
// domain in front. If the member that the route names cannot be used, its
// redirect and then its domain may, unless o.Force. Only HasID and EmptyID of
// the Choice are not filled in.
func Resolve(members []Member, id ID, o Options) Choice {
	if len(id.Route) == 0 {
		return Choice{Index: -1}
	}
	i := withRoute(members, id.Route)
	if i < 0 && id.Last != nil {
		i = withRoute(members, id.Last)
	}
	if i < 0 {
		domain := withDomain(members, id.Domain())
		if domain == "" {
			return Choice{Index: -1, Unknown: id.Route}
		}
		return found(members, elect(members, o.From, o.Stateless, domain), ByDomain)
	}
	m := &members[i]
	switch {
	case m.UsableSticky():
		return found(members, i, ByRoute)
	case o.Force:
		return Choice{Index: -1}
	}
	return instead(members, m, o)
}

// instead finds who stands in for a member that cannot be used.
func instead(members []Member, m *Member, o Options) Choice {
	if m.Redirect != "" {
		if i := withRouteText(members, m.Redirect); i >= 0 && members[i].UsableSticky() {
			return found(members, i, ByRedirect)
		}
	}
	if m.Domain != "" {
		return found(members, elect(members, o.From, o.Stateless, m.Domain), ByDomain)
	}
	return Choice{Index: -1}
}

// withRoute returns the index of the member that has exactly that route, or -1.
func withRoute(members []Member, route []byte) int {
	for i := range members {
		if members[i].Route == string(route) {
			return i
		}
	}
	return -1
}

func withRouteText(members []Member, route string) int {
	for i := range members {
		if members[i].Route == route {
			return i
		}
	}
	return -1
}

// withDomain returns the domain as a member has it, or "" if none does.
func withDomain(members []Member, domain []byte) string {
	if len(domain) == 0 {
		return ""
	}
	for i := range members {
		if members[i].Domain == string(domain) {
			return members[i].Domain
		}
	}
	return ""
}
