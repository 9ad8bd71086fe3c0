package status

import "jkd/connector/jk/balance"

// rating is how a member is counted in good, degraded and bad.
type rating uint8

const (
	degraded rating = iota
	good
	bad
)

var ratingNames = [...]string{"degraded", "good", "bad"}

func (r rating) String() string { return ratingNames[r] }

// What directives good and bad are when they are absent.
var (
	defaultGood = []string{"a.o", "a.i", "a.n", "a.b", "a.r"}
	defaultBad  = []string{"s", "e"}
)

// rate rates a member by the directives bad and good, which are asked in this
// order.
func rate(a balance.Activation, s balance.State, goods, bads []string) rating {
	for _, item := range bads {
		if covers(item, a, s) {
			return bad
		}
	}
	for _, item := range goods {
		if covers(item, a, s) {
			return good
		}
	}
	return degraded
}

// covers tells whether an item of good or bad, A, S or A.S, is about an
// activation and a state. Of both names the first letter counts.
func covers(item string, a balance.Activation, s balance.State) bool {
	if item == "" {
		return false
	}
	if _, ok := balance.ParseActivation(item[:1]); !ok || '0' <= item[0] && item[0] <= '9' {
		return stateLetter(item[0], s)
	}
	want, _ := balance.ParseActivation(item[:1])
	if want != a {
		return false
	}
	for i := 1; i < len(item); i++ {
		if item[i] == '.' {
			return i+1 < len(item) && stateLetter(item[i+1], s)
		}
	}
	return true
}

// stateLetter tells whether a letter stands for a state.
func stateLetter(c byte, s balance.State) bool {
	switch c | 0x20 {
	case 'o':
		return s == balance.OK
	case 'i', 'n':
		return s == balance.Idle
	case 'b':
		return s == balance.Busy
	case 'r':
		return s == balance.Recover || s == balance.Force || s == balance.Probe
	case 'e':
		return s == balance.Error
	}
	return false
}

// rateState rates a state alone.
func rateState(s balance.State) rating {
	switch s {
	case balance.Idle, balance.OK:
		return good
	case balance.Error:
		return bad
	}
	return degraded
}

// count rates all members of a balancer.
func (s *service) count(b *Balancer) (n [3]int) {
	for i := range b.Members {
		n[s.rate(&b.Members[i])]++
	}
	return n
}

func (s *service) rate(m *Member) rating {
	return rate(m.Activation, m.State, s.config.Good, s.config.Bad)
}
