package balance

import "strconv"

// Activation is whether the administrator lets a balancer use a member
// (directive activation). The zero value is Active.
type Activation uint8

const (
	Active   Activation = iota
	Disabled            // only for sessions of its own, and as a standby
	Stopped             // not at all
	activations
)

var activationNames = [...]string{"ACT", "DIS", "STP"}

// String returns the short form that mod_jk prints and that goes to the
// container as JK_LB_ACTIVATION.
func (a Activation) String() string { return name("Activation", activationNames[:], uint8(a)) }

// Word returns the value of the directive activation: active, disabled or
// stopped.
func (a Activation) Word() string {
	return name("Activation", []string{"active", "disabled", "stopped"}, uint8(a))
}

// Valid tells whether a is one of the constants: memory that others write may
// hold anything.
func (a Activation) Valid() bool { return a < activations }

// ParseActivation reads what an edit says: the first letter or digit counts,
// a or 0, d or 1, s or 2. It reports whether it was one of these.
func ParseActivation(s string) (Activation, bool) {
	n, ok := first(s, "ads")
	return Activation(n), ok
}

// Method is what a balancer counts (directive method). The zero value is
// ByRequests.
type Method uint8

const (
	ByRequests Method = iota // requests
	ByTraffic                // bytes in both directions
	ByBusyness               // requests being served now
	BySessions               // requests without a session
	ByNext                   // as BySessions, the past is forgotten faster
	methods
)

var methodNames = [...]string{"Request", "Traffic", "Busyness", "Sessions", "Next"}

// String returns the value of the directive method.
func (m Method) String() string { return name("Method", methodNames[:], uint8(m)) }

// Valid tells whether m is one of the constants.
func (m Method) Valid() bool { return m < methods }

// ParseMethod reads what an edit says: R, T, B, S, N in either case, or 0 to 4.
// Only the first character counts.
func ParseMethod(s string) (Method, bool) {
	n, ok := first(s, "rtbsn")
	return Method(n), ok
}

// Lock is how processes agree on an election (directive lock). The zero value
// is Optimistic.
type Lock uint8

const (
	Optimistic  Lock = iota // by what the shared numbers say at the moment
	Pessimistic             // one after the other
	locks
)

var lockNames = [...]string{"Optimistic", "Pessimistic"}

// String returns the value of the directive lock.
func (l Lock) String() string { return name("Lock", lockNames[:], uint8(l)) }

// Valid tells whether l is one of the constants.
func (l Lock) Valid() bool { return l < locks }

// ParseLock reads what an edit says: O or 0, P or 1. Only the first character
// counts.
func ParseLock(s string) (Lock, bool) {
	n, ok := first(s, "op")
	return Lock(n), ok
}

// first finds the first character of s among letters, in either case, or as
// the digit of a place there.
func first(s, letters string) (uint8, bool) {
	if s == "" {
		return 0, false
	}
	for i := range len(letters) {
		if s[0]|0x20 == letters[i] || s[0] == '0'+byte(i) {
			return uint8(i), true
		}
	}
	return 0, false
}

// name is the n-th of names, or a form that shows what was found instead.
func name(what string, names []string, n uint8) string {
	if int(n) < len(names) {
		return names[n]
	}
	return what + "(" + strconv.Itoa(int(n)) + ")"
}
