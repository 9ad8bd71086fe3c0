//go:build unix

package mpm

import (
	"testing"
	"time"
)

// TestFirstMaintain: none without both, and children that are spread over the
// interval whatever their number.
func TestFirstMaintain(t *testing.T) {
	nop := func(time.Time) {}
	for _, c := range []Child{{}, {Maintain: nop}, {MaintainEvery: time.Second}, {Maintain: nop, MaintainEvery: -1}} {
		if _, ok := c.FirstMaintain(); ok {
			t.Errorf("maintenance every %s", c.MaintainEvery)
		}
	}
	const every = time.Minute
	for _, n := range []int{1, 2, 10, 256} {
		tenths := make([]int, 10)
		for i := range n {
			c := Child{Server: i, Maintain: nop, MaintainEvery: every}
			first, ok := c.FirstMaintain()
			if !ok || first <= 0 || first > every {
				t.Fatalf("child %d: %s, %t", i, first, ok)
			}
			tenths[int((first-1)*10/every)]++
		}
		for i, got := range tenths {
			if got > n/10+2 {
				t.Errorf("%d of %d children begin in tenth %d", got, n, i)
			}
		}
	}
}
