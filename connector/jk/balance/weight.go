package balance

import "math"

// maxMultiplier is the largest multiplier. A balancer that counts traffic and
// moves 10 Gbit/s has about 2^37 bytes in its values, so that they and a
// multiplier of 2^24 stay far from the end of 64 bits.
const maxMultiplier = 1 << 24

// Multipliers sets Mult of all members from their Factor: what one unit of load
// costs a member. It is the least common multiple of all factors divided by the
// member's own, as in mod_jk, so that members with equal values have had loads
// in the ratio of their factors.
//
// When this would give a multiplier over 2^24 (factors like 99991 and 99989),
// all are scaled so that the smallest factor has 2^24 and the others are
// rounded, none to less than 1. The shares then are off by less than one in a
// thousand as long as the factors differ by less than a factor of 2^14.
func Multipliers(members []Member) {
	least := uint64(math.MaxUint64)
	for i := range members {
		least = min(least, members[i].factor())
	}
	multiple, exact := uint64(1), true
	for i := range members {
		// No overflow: multiple is at most least times 2^24 and a factor is less
		// than 2^31 by its directive. Others are not trusted, hence the division.
		step := members[i].factor()
		step /= gcd(multiple, step)
		if multiple > maxMultiplier*min(least, math.MaxUint32)/step {
			exact = false
			break
		}
		multiple *= step
	}
	for i := range members {
		m := &members[i]
		if exact {
			m.Mult = multiple / m.factor()
			continue
		}
		// min keeps the product within 64 bits for factors that no file can
		// give.
		f, l := min(m.factor(), math.MaxUint32), min(least, math.MaxUint32)
		m.Mult = max(1, (maxMultiplier*l+f/2)/f)
	}
}

// factor is Factor with what is out of range put right.
func (m *Member) factor() uint64 { return uint64(max(m.Factor, 1)) }

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Gauge tells that the value is what a member has in hand now. It then never
// decays, is not raised when the member recovers, and stays when activations
// change or statistics are reset.
func (m Method) Gauge() bool { return m == ByBusyness }

// Assigned returns what to add to the value of a member when a request is given
// to it. session tells that the request begins one: it has no session id and is
// not stateless.
func (m Method) Assigned(mult uint64, session bool) uint64 {
	switch m {
	case ByRequests, ByBusyness:
		return mult
	case BySessions, ByNext:
		if session {
			return mult
		}
	}
	return 0
}

// Ended returns what to add to the value of a member, and what to take away
// from it but not below 0, when an attempt has ended. bytes is what was read
// from and written to the container.
func (m Method) Ended(mult, bytes uint64) (add, sub uint64) {
	switch m {
	case ByTraffic:
		return product(mult, bytes), 0
	case ByBusyness:
		return 0, mult
	}
	return 0, 0
}

// BusyValue is the value by busyness of a member that has busy requests in
// hand: for those who count these anyway and need not keep the value, which a
// child that is killed could not take back.
func BusyValue(mult, busy uint64) uint64 { return product(mult, busy) }

// Add returns value + n, or the largest number there is.
func Add(value, n uint64) uint64 {
	if value > math.MaxUint64-n {
		return math.MaxUint64
	}
	return value + n
}

// Sub returns value − n, or 0.
func Sub(value, n uint64) uint64 { return value - min(n, value) }

// product is a × b, or a number that is large and leaves room to add.
func product(a, b uint64) uint64 {
	const most = 1 << 62
	if a != 0 && b > most/a {
		return most
	}
	return a * b
}
