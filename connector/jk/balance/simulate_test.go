package balance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

const elections = 10000

var simulated = [][]int{{1, 2, 3}, {1, 1}, {5, 3, 2, 7}}

// checkShares fails when what the members got is off by more than 1 % of what
// their factors promise.
func checkShares(t *testing.T, m []Member, got []uint64) {
	t.Helper()
	var total, factors float64
	for i := range m {
		total += float64(got[i])
		factors += float64(m[i].Factor)
	}
	for i := range m {
		want := total * float64(m[i].Factor) / factors
		if math.Abs(float64(got[i])-want) > want/100 {
			t.Errorf("member %d of factor %d got %d, want %.0f", i, m[i].Factor, got[i], want)
		}
	}
}

// TestShares elects one after the other, with maintenance every 1000 requests
// and one request in three of a session that is already there. What a method
// counts is what must be shared: requests, sessions or bytes.
func TestShares(t *testing.T) {
	for _, method := range []Method{ByRequests, BySessions, ByNext, ByTraffic} {
		for _, factors := range simulated {
			t.Run(fmt.Sprint(method, factors), func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 2))
				r := newRig(withFactors(factors...)...)
				r.method = method
				got := make([]uint64, len(factors))
				for n := range elections {
					if n%1000 == 999 {
						r.maintain(60)
					}
					var ids *IDs
					if method != ByRequests && method != ByTraffic && n%3 == 0 {
						ids = session("x." + r.members[random.IntN(len(factors))].Route)
					}
					c := Choose(r.members, ids, r.o)
					r.attempt(c, Success)
					bytes := random.Uint64N(100000)
					add, sub := method.Ended(r.members[c.Index].Mult, bytes)
					r.members[c.Index].Value = Sub(Add(r.members[c.Index].Value, add), sub)
					switch {
					case method == ByTraffic:
						got[c.Index] += bytes
					case ids == nil:
						got[c.Index]++
					}
				}
				checkShares(t, r.members, got)
			})
		}
	}
}

// TestSharesOfBusyness keeps so many requests in hand that whole numbers can
// show the shares; the oldest ends when the next one comes.
func TestSharesOfBusyness(t *testing.T) {
	for _, factors := range simulated {
		t.Run(fmt.Sprint(factors), func(t *testing.T) {
			m := withFactors(factors...)
			sum := 0
			for _, f := range factors {
				sum += f
			}
			var inHand []int
			from := 0
			got := make([]uint64, len(m))
			for range elections {
				if len(inHand) == 10*sum {
					_, sub := ByBusyness.Ended(m[inHand[0]].Mult, 1)
					m[inHand[0]].Value = Sub(m[inHand[0]].Value, sub)
					inHand = inHand[1:]
				}
				i := Elect(m, from, false)
				from = i + 1
				m[i].Value = Add(m[i].Value, ByBusyness.Assigned(m[i].Mult, true))
				inHand = append(inHand, i)
				got[i]++
			}
			checkShares(t, m, got)
			for i := range m {
				busy := uint64(0)
				for _, at := range inHand {
					if at == i {
						busy++
					}
				}
				if m[i].Value != BusyValue(m[i].Mult, busy) {
					t.Errorf("member %d: value %d with %d in hand", i, m[i].Value, busy)
				}
			}
		})
	}
}

// TestSharesStateless: round robin, whatever the factors.
func TestSharesStateless(t *testing.T) {
	m := withFactors(1, 2, 3)
	from := 0
	got := make([]uint64, len(m))
	for range elections {
		i := Elect(m, from, true)
		from = i + 1
		got[i]++
	}
	for i := range m {
		m[i].Factor = 1
	}
	checkShares(t, m, got)
}

// TestSharesAtOnce elects in 64 goroutines that know each other only by the
// values: read all, elect, compare and swap, again if somebody was faster.
func TestSharesAtOnce(t *testing.T) {
	for _, method := range []Method{ByRequests, BySessions, ByNext} {
		for _, factors := range simulated {
			t.Run(fmt.Sprint(method, factors), func(t *testing.T) {
				base := withFactors(factors...)
				values := make([]atomic.Uint64, len(base))
				counts := make([]atomic.Uint64, len(base))
				var next atomic.Int64
				var left atomic.Int64
				left.Store(elections)
				var wg sync.WaitGroup
				for range 64 {
					wg.Go(func() {
						m := append([]Member(nil), base...)
						for left.Add(-1) >= 0 {
							for {
								for i := range m {
									m[i].Value = values[i].Load()
								}
								c := Choose(m, nil, Options{From: int(next.Load())})
								i := c.Index
								if values[i].CompareAndSwap(m[i].Value, Add(m[i].Value, method.Assigned(m[i].Mult, true))) {
									next.Store(int64(i + 1))
									counts[i].Add(1)
									break
								}
							}
						}
					})
				}
				wg.Wait()
				got := make([]uint64, len(base))
				for i := range counts {
					got[i] = counts[i].Load()
				}
				checkShares(t, base, got)
			})
		}
	}
}

// TestValuesAtOnce: what is taken by busyness is given back, and no byte is
// lost, with 64 goroutines at it.
func TestValuesAtOnce(t *testing.T) {
	for _, method := range []Method{ByBusyness, ByTraffic} {
		base := withFactors(1, 2, 3)
		values := make([]atomic.Uint64, len(base))
		bytes := make([]atomic.Uint64, len(base))
		change := func(i int, f func(uint64) uint64) {
			for {
				old := values[i].Load()
				if values[i].CompareAndSwap(old, f(old)) {
					return
				}
			}
		}
		var wg sync.WaitGroup
		for g := range 64 {
			wg.Go(func() {
				m := append([]Member(nil), base...)
				for n := range 150 {
					for i := range m {
						m[i].Value = values[i].Load()
					}
					i := Elect(m, g, false)
					change(i, func(v uint64) uint64 { return Add(v, method.Assigned(m[i].Mult, true)) })
					bytes[i].Add(uint64(n))
					add, sub := method.Ended(m[i].Mult, uint64(n))
					change(i, func(v uint64) uint64 { return Sub(Add(v, add), sub) })
				}
			})
		}
		wg.Wait()
		for i := range base {
			want := uint64(0)
			if method == ByTraffic {
				want = base[i].Mult * bytes[i].Load()
			}
			if got := values[i].Load(); got != want {
				t.Errorf("%s, member %d: %d, want %d", method, i, got, want)
			}
		}
	}
}

// TestComesBackGently: a member that was away does not get all requests until
// its value has caught up.
func TestComesBackGently(t *testing.T) {
	r := newRig(lb(2)...)
	r.recoverTime = 600e9
	r.down["n1"] = true
	r.serve(nil, Success)
	for range 660 {
		for range 10 {
			if got := r.serve(nil, Success); got.member != "n2" {
				t.Fatalf("%+v", got)
			}
		}
		r.maintain(1)
		if r.state("n1") == Recover {
			break
		}
	}
	r.down["n1"] = false
	got := make([]uint64, 2)
	for range 1000 {
		c := Choose(r.members, nil, r.o)
		r.attempt(c, Success)
		got[c.Index]++
	}
	checkShares(t, r.members, got)
}
