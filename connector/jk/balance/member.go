package balance

// Member is what an election knows about one member. A caller fills a slice of
// them, in the order of balance_workers, from whatever it keeps; the slice is
// meant to be used again for every pick.
type Member struct {
	Route    string // of the sessions that are its own; no two members share one
	Domain   string // group of members that know each other's sessions, "": none
	Redirect string // route of the member to prefer when this one cannot, "": none
	Distance int    // the nearest members that are usable get the requests
	Factor   int    // lbfactor, its share; less than 1 counts as 1
	Mult     uint64 // see [Multipliers]
	Value    uint64 // load so far, see [Method]
	State    State  // shared by all processes
	// Activation is the effective one, see [Override].
	Activation Activation
	// Failed tells that this request tried the member in this round and failed,
	// or found it full, and so is not to try it again. Only this request knows.
	Failed bool
}

// Usable tells whether the member may be given a new session.
func (m *Member) Usable() bool {
	return m.Activation == Active && m.State.Usable() && !m.Failed
}

// UsableSticky tells whether the member may be given a request of a session of
// its own, or one that a redirect leads to it.
func (m *Member) UsableSticky() bool {
	return (m.Activation == Active || m.Activation == Disabled) && m.State.Usable() && !m.Failed
}

// ForceAll is forced recovery in the slice of one request: members in error
// become usable once more, also those this request has tried. It returns how
// many there were. The caller does the same, by [State.On] with [Forced], to
// what is shared.
func ForceAll(members []Member) int {
	n := 0
	for i := range members {
		if m := &members[i]; m.State.InError() {
			m.State, m.Failed = m.State.On(Forced), false
			n++
		}
	}
	return n
}
