package balance

// Elect returns the index of the member that a request without a session goes
// to, or -1. Among those that may have one it is the least distant, then the
// one with the lowest value, then the first one met when going around from
// index from. A caller that passes the last elected index + 1 gets a round
// robin among equals. With stateless the values don't count at all.
//
// Any from will do.
func Elect(members []Member, from int, stateless bool) int {
	return elect(members, from, stateless, "")
}

// elect is Elect among the members of a domain, "": all.
func elect(members []Member, from int, stateless bool, domain string) int {
	n := len(members)
	if n == 0 {
		return -1
	}
	if from %= n; from < 0 {
		from += n
	}
	best := -1
	for k := range n {
		i := from + k
		if i >= n {
			i -= n
		}
		m := &members[i]
		if !m.Usable() || domain != "" && m.Domain != domain {
			continue
		}
		if best < 0 || m.Distance < members[best].Distance ||
			!stateless && m.Distance == members[best].Distance && m.Value < members[best].Value {
			best = i
		}
	}
	return best
}
