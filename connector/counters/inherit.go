package counters

import (
	"math"
	"slices"
	"sync/atomic"

	"jkd/shm"
)

// Inheritance is what the table of a generation takes over from that of the one
// before, whose children go on counting there for a while. The goroutine of the
// master that calls [Table.PutSecond] uses it. A nil Inheritance has nothing to catch up with.
type Inheritance struct {
	to, from *Table
	worker   []int    // of each worker of from: the index in to
	seen     []*row   // of each record of from: what was taken over; nil: nothing
	carried  []row    // of each worker of to: what its carried record has
	events   []uint64 // of each event: what was taken over
	used     int      // servers of from, the most there were
	second   int64    // the last one taken over
	seconds  uint64   // how many to had then
}

// grows are the words of a record that only grow: two pieces.
const (
	growsFirst = recordErrors + 1
	grows      = growsFirst + cacheWords
)

// growing is the place in the record of the i-th word that only grows.
func growing(i int) int {
	if i < growsFirst {
		return i
	}
	return recordCache + i - growsFirst
}

type row [grows]uint64

// Inherit takes over what another table, which may be of another layout and hold
// anything, has counted until now: the sums of workers of equal names, those of
// others as Other's, what became of children, the connections that were cut, and the last minutes. What children
// have open is not taken over. The table is only read, and may be read-only. The
// master calls Inherit after Format, before any child attaches and anything else
// is counted; then [Inheritance.Catch] from time to time.
func (t *Table) Inherit(from *Table) *Inheritance {
	if t == nil || from == nil {
		return nil
	}
	i := &Inheritance{
		to: t, from: from,
		worker:  make([]int, len(from.workers)),
		seen:    make([]*row, (from.servers+1)*len(from.workers)),
		carried: make([]row, len(t.workers)),
		events:  make([]uint64, numEvents),
	}
	for w, name := range from.workers {
		if i.worker[w] = slices.Index(t.workers, name); i.worker[w] < 0 {
			i.worker[w] = len(t.workers) - 1
		}
	}
	i.take(math.MaxInt64)
	i.takeHistory()
	return i
}

// Catch adds what was counted in the other table since the last call, or since
// Inherit. It is to be called once a second or so, for as long as there are
// children of the other generation, and once more when they are gone. Whatever
// they write, no sum goes back: what has become less counts as nothing, and so
// does a leap that counting cannot explain.
func (i *Inheritance) Catch() {
	if i == nil {
		return
	}
	i.take(shm.MostAtOnce)
	if words(i.to.mem, historyOffset, 1)[historyNext].Load() == i.seconds {
		i.takeHistory() // nobody has begun to write seconds of this generation
	}
}

func (i *Inheritance) take(most uint64) {
	n := len(i.from.workers)
	i.used = max(i.used, i.from.Used())
	for server := range 1 + i.used {
		for w := range n {
			// The first row is what that generation had taken over itself.
			r := i.from.record(server-1, w)
			to := &i.carried[i.worker[w]]
			seen := i.seen[server*n+w]
			for k := range grows {
				now := r.words[growing(k)].Load()
				if now == 0 && seen == nil {
					continue
				}
				if seen == nil {
					seen = new(row)
					i.seen[server*n+w] = seen
				}
				if d := shm.Forward(&seen[k], now, most); d > 0 {
					to[k] = sum(to[k], d)
				}
			}
		}
	}
	for w := range i.carried {
		i.to.carriedRecord(w).put(&i.carried[w])
	}
	from, to := i.from.events(), i.to.events()
	for e := range i.events {
		if d := shm.Forward(&i.events[e], from[e].Load(), most); d > 0 {
			addBounded(&to[e], d)
		}
	}
}

// addBounded adds to a word that has one process as its writer.
func addBounded(w *atomic.Uint64, d uint64) {
	for {
		n := w.Load()
		if w.CompareAndSwap(n, sum(n, d)) {
			return
		}
	}
}

// takeHistory appends the other table's seconds that are later than those there
// are.
func (i *Inheritance) takeHistory() {
	for _, s := range i.from.History() {
		if s.Unix > i.second {
			i.to.PutSecond(s)
			i.second = s.Unix
		}
	}
	i.seconds = words(i.to.mem, historyOffset, 1)[historyNext].Load()
}

// put makes the words of a carried record, which no child writes to, what the
// master remembers, whatever a child has done to them.
func (r *Record) put(c *row) {
	for k, n := range c {
		if w := &r.words[growing(k)]; w.Load() != n {
			w.Store(n)
		}
	}
}
