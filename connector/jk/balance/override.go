package balance

import "slices"

// Override is the activations that one rule of the map gives to members (rule
// extensions active, disabled, stopped). nil changes none. It is made once and
// only read afterwards.
type Override []setting

// setting is an Activation + 1, or 0 for none.
type setting uint8

// NewOverride makes the activations of a rule for a balancer whose members have
// these names. A member in more than one list is what the later of active,
// disabled and stopped says. unknown is the names in the lists that no member
// has, each once.
func NewOverride(members, active, disabled, stopped []string) (o Override, unknown []string) {
	for a, names := range [...][]string{Active: active, Disabled: disabled, Stopped: stopped} {
		for _, name := range names {
			i := slices.Index(members, name)
			switch {
			case i >= 0:
				if o == nil {
					o = make(Override, len(members))
				}
				o[i] = setting(a) + 1
			case !slices.Contains(unknown, name):
				unknown = append(unknown, name)
			}
		}
	}
	return o, unknown
}

// Effective returns the activation of member i under the rule; a is its own.
// One that the rule does not name, or beyond the members it was made for, keeps
// its own.
func (o Override) Effective(i int, a Activation) Activation {
	if i < 0 || i >= len(o) || o[i] == 0 {
		return a
	}
	return Activation(o[i] - 1)
}
