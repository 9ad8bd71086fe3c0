package counters

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"
)

// Table gives access to the memory. It remembers the layout it began with and
// never asks the memory for it again. Its methods may be called concurrently, as
// long as one process alone calls those that are the master's. A nil Table counts
// nothing.
type Table struct {
	mem     []byte
	servers int
	workers []WorkerName
}

// Format prepares mem, which must be all zero, begin at an address that is a
// multiple of 8 and have [Size] bytes or more. The master alone calls it.
func Format(mem []byte, l Layout) (*Table, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("counters: format: %w", err)
	}
	n := size(l.Servers, len(l.Workers))
	if len(mem) < n {
		return nil, fmt.Errorf("counters: format: memory of %d bytes is too small for %d", len(mem), n)
	}
	if !aligned(mem) {
		return nil, fmt.Errorf("counters: format: %w", errAlign)
	}
	t := &Table{mem: mem[:n:n], servers: l.Servers}
	for _, w := range l.Workers {
		t.workers = append(t.workers, w.cut())
	}
	t.writeHeader()
	return t, nil
}

// Attach uses memory that another process has formatted. Whatever it holds, what
// is not a table within the bounds is an error. The names are copied.
func Attach(mem []byte) (*Table, error) {
	fail := func(err error) (*Table, error) { return nil, fmt.Errorf("counters: attach: %w", err) }
	if len(mem) < namesOffset {
		return fail(fmt.Errorf("memory of %d bytes is too small", len(mem)))
	}
	if !aligned(mem) {
		return fail(errAlign)
	}
	h := words(mem, 0, headerWords)
	if m, v := h[headerMagic].Load(), h[headerVersion].Load(); m != magic || v != version {
		return fail(fmt.Errorf("magic %#x and version %d are not %#x and %d", m, v, uint64(magic), version))
	}
	// Compared before they are converted: a large one would turn negative.
	s, w := h[headerServers].Load(), h[headerWorkers].Load()
	if s > MaxServers || w > MaxWorkers {
		return fail(fmt.Errorf("%d servers or %d workers are too many", s, w))
	}
	servers, workers := int(s), int(w)
	if err := checkNumbers(servers, workers); err != nil {
		return fail(err)
	}
	n := size(servers, workers)
	if has := h[headerSize].Load(); has != uint64(n) {
		return fail(fmt.Errorf("size is %d, but the limits make it %d", has, n))
	}
	if len(mem) < n {
		return fail(fmt.Errorf("memory of %d bytes is too small for %d", len(mem), n))
	}
	t := &Table{mem: mem[:n:n], servers: servers, workers: make([]WorkerName, workers)}
	for i := range t.workers {
		name := t.name(i)
		t.workers[i] = WorkerName{text(name[:nameWords]), text(name[nameWords:])}
	}
	t.workers[0], t.workers[workers-1] = Own, Other
	return t, nil
}

var errAlign = errors.New("memory is not aligned to 8 bytes")

func aligned(mem []byte) bool {
	return len(mem) > 0 && uintptr(unsafe.Pointer(&mem[0]))%wordSize == 0
}

// writeHeader writes what never changes. The magic is last: who attaches must
// not see half of it.
func (t *Table) writeHeader() {
	for i, w := range t.workers {
		name := t.name(i)
		putText(name[:nameWords], w.Name)
		putText(name[nameWords:], w.Connector)
	}
	h := words(t.mem, 0, headerWords)
	h[headerVersion].Store(version)
	h[headerServers].Store(uint64(t.servers))
	h[headerWorkers].Store(uint64(len(t.workers)))
	h[headerSize].Store(uint64(len(t.mem)))
	h[headerMagic].Store(magic)
}

func (t *Table) name(worker int) []atomic.Uint64 {
	return words(t.mem, namesOffset+worker*workerWords*wordSize, workerWords)
}

// carriedServer is the index of the records that have what generations before
// have counted.
const carriedServer = -1

// carriedRecord is the record of what generations before have counted for a
// worker. The master alone writes to it.
func (t *Table) carriedRecord(worker int) *Record { return t.record(carriedServer, worker) }

// record is a record by indexes that are ours, never from the memory.
func (t *Table) record(server, worker int) *Record {
	off := recordsOffset(len(t.workers)) + ((server+1)*len(t.workers)+worker)*recordSize
	piece := t.mem[off : off+recordSize]
	return (*Record)(unsafe.Pointer(&piece[0]))
}

func (t *Table) check(server, worker int) {
	if server < 0 || server >= t.servers || worker < 0 || worker >= len(t.workers) {
		panic(fmt.Sprintf("counters: server %d, worker %d is out of range (%d, %d)", server, worker, t.servers, len(t.workers)))
	}
}

// Record is the record of one server and one worker, for the child of that index
// to write to. A worker that the table does not know is Other. It panics when
// server is out of range. Take it once: it looks through the names.
func (t *Table) Record(server int, connector, name string) *Record {
	if t == nil {
		return nil
	}
	i := slices.Index(t.workers, WorkerName{name, connector}.cut())
	if i < 0 {
		i = len(t.workers) - 1
	}
	t.check(server, i)
	used := &words(t.mem, 0, headerWords)[headerUsed]
	for u := used.Load(); u < uint64(server)+1; u = used.Load() {
		used.CompareAndSwap(u, uint64(server)+1)
	}
	return t.record(server, i)
}

// Used is how many servers may have counted something: those of lower indexes.
// Records beyond have never been touched, and looking at them would make memory
// of them.
func (t *Table) Used() int {
	return int(min(words(t.mem, 0, headerWords)[headerUsed].Load(), uint64(t.servers)))
}

// Workers are the workers in the order of the table: Own first, Other last. It
// must not be written to.
func (t *Table) Workers() []WorkerName {
	if t == nil {
		return nil
	}
	return t.workers
}

// Reclaim is called by the master when the child of an index has ended, before
// the index is given to another: what it had open is gone and what [Table.Child]
// tells begins anew; sums stay. It panics when server is out of range.
func (t *Table) Reclaim(server int) {
	if t == nil {
		return
	}
	t.check(server, 0)
	for w := range t.workers {
		t.record(server, w).reclaim()
	}
	// A child can damage it, and its successors would refuse to attach.
	t.writeHeader()
}

// Totals are the sums over all servers and, see [Table.Inherit], the generations
// before, for the worker of an index of [Table.Workers], with which it panics if it is out of range. No sum is above
// math.MaxInt64.
func (t *Table) Totals(worker int) Totals {
	t.check(0, worker)
	var s Totals
	now := time.Now()
	t.carriedRecord(worker).addTo(&s, now)
	s.Cache.Idle, s.Cache.Busy, s.Cache.Oldest = 0, 0, time.Time{} // nothing of that is carried
	for server := range t.Used() {
		t.record(server, worker).addTo(&s, now)
	}
	return s
}

// Answers is how many requests of a class all servers had for all workers, in
// the generations before too.
func (t *Table) Answers(class int) (n uint64) {
	for server := carriedServer; server < t.Used(); server++ {
		for w := range t.workers {
			n = sum(n, t.record(server, w).words[recordRequests+class].Load())
		}
	}
	return n
}

// Child is the connection cache of the living child of an index for the worker
// of an index, since that child began. It panics when one is out of range.
func (t *Table) Child(server, worker int) Cache {
	t.check(server, worker)
	if server >= t.Used() {
		return Cache{}
	}
	return t.record(server, worker).mine(time.Now())
}

// sum adds without ever going back: what a child wrote may be anything.
func sum(a, b uint64) uint64 { return min(min(a, math.MaxInt64)+min(b, math.MaxInt64), math.MaxInt64) }
