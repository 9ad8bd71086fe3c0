package balance

import (
	"math"
	"testing"
)

// withFactors makes members with these factors and their multipliers.
func withFactors(factors ...int) []Member {
	m := lb(len(factors))
	for i, f := range factors {
		m[i].Factor = f
	}
	Multipliers(m)
	return m
}

func TestMultipliers(t *testing.T) {
	for _, tt := range []struct {
		factors []int
		want    []uint64
	}{
		{[]int{1}, []uint64{1}},
		{[]int{1, 1}, []uint64{1, 1}},
		{[]int{1, 2, 3}, []uint64{6, 3, 2}},
		{[]int{5, 3, 2, 7}, []uint64{42, 70, 105, 30}},
		{[]int{4, 6}, []uint64{3, 2}},
		{[]int{100000, 50000}, []uint64{1, 2}},
		{[]int{0, -3, 2}, []uint64{2, 2, 1}},
		{[]int{math.MaxInt32, math.MaxInt32}, []uint64{1, 1}},
		{[]int{1, 1 << 24}, []uint64{1 << 24, 1}},
	} {
		m := withFactors(tt.factors...)
		for i := range m {
			if m[i].Mult != tt.want[i] {
				t.Errorf("%v: member %d has %d, want %d", tt.factors, i, m[i].Mult, tt.want[i])
			}
		}
	}
	Multipliers(nil)
}

// TestMultipliersScaled: factors without a useful common multiple still give
// the right shares, and none gives a multiplier that is out of range.
func TestMultipliersScaled(t *testing.T) {
	for _, factors := range [][]int{
		{99991, 99989},
		{997, 991, 983, 977, 971, 967, 953, 947},
		{1, 10007, 9973},
		{math.MaxInt32, math.MaxInt32 - 1, math.MaxInt32 - 2},
	} {
		m := withFactors(factors...)
		for i := range m {
			// factor × multiplier is the same for all.
			a, b := float64(m[i].Mult)*float64(factors[i]), float64(m[0].Mult)*float64(factors[0])
			if math.Abs(a/b-1) > 0.001 || m[i].Mult > maxMultiplier {
				t.Errorf("%v: member %d has %d", factors, i, m[i].Mult)
			}
		}
	}
	for _, factors := range [][]int{{math.MaxInt, 1}, {math.MaxInt, math.MaxInt - 1, 3}, {math.MaxInt, math.MaxInt - 1}, {1, math.MaxInt32, 7}} {
		for i, m := range withFactors(factors...) {
			if m.Mult < 1 || m.Mult > maxMultiplier {
				t.Errorf("%v: member %d has %d", factors, i, m.Mult)
			}
		}
	}
}

// TestValues is the table of load values: what each method does when a request
// is assigned and when it ends.
func TestValues(t *testing.T) {
	const mult, bytes = 3, 1000
	for _, tt := range []struct {
		m                     Method
		begins, continues     uint64
		add, sub              uint64
		shiftOf4, lessByLeast uint64
		gauge                 bool
	}{
		{m: ByRequests, begins: 3, continues: 3, shiftOf4: 4},
		{m: BySessions, begins: 3, shiftOf4: 4},
		{m: ByNext, begins: 3, lessByLeast: 20},
		{m: ByTraffic, add: 3000, shiftOf4: 4},
		{m: ByBusyness, begins: 3, continues: 3, sub: 3, gauge: true},
		{m: Method(9)},
	} {
		if a, b := tt.m.Assigned(mult, true), tt.m.Assigned(mult, false); a != tt.begins || b != tt.continues {
			t.Errorf("%s assigned: %d and %d", tt.m, a, b)
		}
		if add, sub := tt.m.Ended(mult, bytes); add != tt.add || sub != tt.sub {
			t.Errorf("%s ended: +%d -%d", tt.m, add, sub)
		}
		if tt.m.Gauge() != tt.gauge {
			t.Errorf("%s: gauge %v", tt.m, tt.m.Gauge())
		}
		if !tt.m.Valid() {
			continue
		}
		if shift, sub := (Run{Method: tt.m, Shift: 4}).Decay(20); uint64(shift) != tt.shiftOf4 || sub != tt.lessByLeast {
			t.Errorf("%s decays by %d and %d", tt.m, shift, sub)
		}
		if shift, sub := (Run{Method: tt.m}).Decay(20); shift != 0 || sub != 0 {
			t.Errorf("%s decays at a mere look", tt.m)
		}
	}
}

func TestArithmetic(t *testing.T) {
	const most = math.MaxUint64
	for _, tt := range []struct{ got, want uint64 }{
		{Add(1, 2), 3}, {Add(most, 1), most}, {Add(most-1, 1), most}, {Add(0, most), most},
		{Sub(3, 2), 1}, {Sub(2, 3), 0}, {Sub(most, most), 0},
		{BusyValue(6, 7), 42}, {BusyValue(6, 0), 0}, {BusyValue(0, 7), 0},
		{BusyValue(most, 2), 1 << 62}, {BusyValue(2, most), 1 << 62},
	} {
		if tt.got != tt.want {
			t.Errorf("%d, want %d", tt.got, tt.want)
		}
	}
	if add, _ := ByTraffic.Ended(maxMultiplier, most); Add(add, add) < add {
		t.Error("two giants overflow")
	}
}
