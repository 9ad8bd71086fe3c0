package jk2

import (
	"fmt"
	"sync"
	"testing"
)

func fresh() stats { return noStats{} }

// The one that was returned last is taken first, and none is ever dropped.
func TestCacheIsLIFO(t *testing.T) {
	var c cache
	var all []*endpoint
	for range 200 {
		all = append(all, c.take(0, fresh))
	}
	for _, e := range all {
		c.give(e)
	}
	if made, idle, connected := c.counts(); made != 200 || idle != 200 || connected != 0 {
		t.Error(made, idle, connected)
	}
	for i := range all {
		if e := c.take(0, fresh); e != all[len(all)-1-i] {
			t.Fatalf("take %d: another endpoint than the one returned last", i)
		}
	}
}

func TestCacheLimit(t *testing.T) {
	var c cache
	a, b := c.take(2, fresh), c.take(2, fresh)
	if a == nil || b == nil || c.take(2, fresh) != nil || c.refused.Load() != 1 {
		t.Fatal("the limit does not hold")
	}
	c.give(a)
	if c.take(2, fresh) != a {
		t.Error("an idle endpoint was not taken")
	}
	c.give(b)
	// A lower limit counts for new ones only.
	if c.take(1, fresh) != b || c.take(1, fresh) != nil || c.take(3, fresh) == nil {
		t.Error("a changed limit")
	}
}

// Whatever the timing, never more than the limit are out.
func TestCacheConcurrently(t *testing.T) {
	const limit = 5
	var c cache
	var mu sync.Mutex
	out := 0
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range 200 {
				e := c.take(limit, fresh)
				if e == nil {
					continue
				}
				mu.Lock()
				out++
				if out > limit {
					t.Errorf("%d are out", out)
				}
				mu.Unlock()
				mu.Lock()
				out--
				mu.Unlock()
				c.give(e)
			}
		})
	}
	wg.Wait()
	if made, idle, _ := c.counts(); made > limit || idle != made {
		t.Error(fmt.Sprint(made, idle))
	}
}
