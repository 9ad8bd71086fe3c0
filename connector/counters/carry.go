package counters

import (
	"slices"
	"time"
)

// Carry takes over what another table has counted, which may be of another
// layout and hold anything: the sums of workers of equal names, those of others
// as Other's, what became of children, and the last minutes. What children have
// open is not carried, and what is counted in the other table later is lost. The
// master calls it after Format and before any child attaches.
func (t *Table) Carry(from *Table) {
	if t == nil || from == nil {
		return
	}
	for i, name := range from.workers {
		to := slices.Index(t.workers, name)
		if to < 0 {
			to = len(t.workers) - 1
		}
		sums := from.Totals(i)
		if sums == (Totals{}) {
			continue
		}
		r := t.Record(0, t.workers[to].Connector, t.workers[to].Name)
		r.carry(&sums)
		r.reclaim() // the child to come has done nothing of it
	}
	t.events()[eventStarts].Add(from.Starts())
	for d := range NumDeaths {
		t.events()[eventDeaths+int(d)].Add(from.Deaths(d))
	}
	for _, s := range from.History() {
		t.PutSecond(s)
	}
}

// carry adds sums to a record that no child writes to.
func (r *Record) carry(s *Totals) {
	put := func(word int, n uint64) { r.words[word].Store(sum(r.words[word].Load(), n)) }
	for i, n := range s.Requests {
		put(recordRequests+i, n)
	}
	for i, n := range s.Durations {
		put(recordDurations+i, n)
	}
	put(recordDuration, uint64(max(s.Duration, time.Duration(0))))
	put(recordBytes, s.Bytes)
	put(recordErrors, s.Errors)
	put(recordHits, s.Cache.Hits)
	put(recordMisses, s.Cache.Misses)
	put(recordRefuse, s.Cache.Refused)
	put(recordOpened, s.Cache.Opened)
	for i, n := range s.Cache.Closed {
		put(recordClosed+i, n)
	}
}
