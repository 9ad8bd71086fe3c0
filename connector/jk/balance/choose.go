package balance

// Choose finds the member for the next attempt of a request: the one its
// session belongs to, else the least loaded, else the standby. ids may be nil.
//
// Several ids are tried in their order; the first one that leads to a usable
// member wins. With o.Force a request that has a route and cannot go there
// goes nowhere; an id without route does not bind it.
//
// Nothing is allocated. members is only read.
func Choose(members []Member, ids *IDs, o Options) Choice {
	cursor := ids.Begin()
	id, ok := cursor.Next()
	c := Choice{Index: -1}
	if len(members) == 1 && members[0].Usable() {
		c = found(members, 0, BySingle)
	} else {
		c = walk(members, &cursor, id, ok, o)
	}
	c.HasID, c.EmptyID = ok, cursor.Empty()
	return c
}

// walk looks at id, if ok, and those after it, and holds an election if none
// of them helps.
func walk(members []Member, cursor *Cursor, id ID, ok bool, o Options) Choice {
	var unknown []byte
	routed := false
	for ; ok; id, ok = cursor.Next() {
		if len(id.Route) == 0 {
			continue
		}
		routed = true
		c := Resolve(members, id, o)
		if unknown == nil {
			unknown = c.Unknown
		}
		if c.Index >= 0 {
			c.Unknown = unknown
			return c
		}
	}
	c := Choice{Index: -1}
	if !routed || !o.Force {
		c = found(members, Elect(members, o.From, o.Stateless), ByElection)
		if c.Index < 0 {
			c = standby(members, o)
		}
	}
	c.Unknown = unknown
	return c
}

// standby finds a member when nobody can be elected: the one that the first
// redirect of the configuration names, even if it is disabled. This is how a
// hot standby is used at all.
func standby(members []Member, o Options) Choice {
	for i := range members {
		if members[i].Redirect == "" {
			continue
		}
		at := withRouteText(members, members[i].Redirect)
		if at < 0 {
			break
		}
		if members[at].UsableSticky() {
			return found(members, at, ByStandby)
		}
		c := instead(members, &members[at], o)
		if c.Index >= 0 {
			c.How = ByStandby
		}
		return c
	}
	return Choice{Index: -1}
}
