package jk2

import (
	"fmt"
	"sync"
	"testing"

	"jkd/connector/jk2/jk2shm"
)

func none() *jk2shm.Endpoint { return nil }

// The one that was returned last is taken first, and none is ever dropped.
func TestCacheIsLIFO(t *testing.T) {
	var c cache
	var all []*endpoint
	for range 200 {
		all = append(all, c.take(0, none))
	}
	for _, e := range all {
		c.give(e)
	}
	if made, idle, connected := c.counts(); made != 200 || idle != 200 || connected != 0 {
		t.Error(made, idle, connected)
	}
	for i := range all {
		if e := c.take(0, none); e != all[len(all)-1-i] {
			t.Fatalf("take %d: another endpoint than the one returned last", i)
		}
	}
}

func TestCacheLimit(t *testing.T) {
	var c cache
	a, b := c.take(2, none), c.take(2, none)
	if a == nil || b == nil || c.take(2, none) != nil || c.refused.Load() != 1 {
		t.Fatal("the limit does not hold")
	}
	c.give(a)
	if c.take(2, none) != a {
		t.Error("an idle endpoint was not taken")
	}
	c.give(b)
	// A lower limit counts for new ones only.
	if c.take(1, none) != b || c.take(1, none) != nil || c.take(3, none) == nil {
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
				e := c.take(limit, none)
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
