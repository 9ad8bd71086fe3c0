package jkshm

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// Segment gives access to the records of one segment. It remembers the layout
// it began with and does not ask the memory for it again. All methods of it and
// of its records may be called concurrently unless they say otherwise; the
// memory must stay mapped. Methods that only read need no right to write.
type Segment struct {
	// Sleep is how an edit waits for another one; nil: time.Sleep. Set it
	// before the segment is used.
	Sleep func(time.Duration)

	mem    []byte
	layout Layout
	place  placement
	token  [16]byte

	edits, high, lock *atomic.Uint64

	workers   []Worker
	balancers []Balancer
	maps      []Map

	// step is called between the stores of an edit, for tests that die there.
	step func(string)
}

var errAlign = errors.New("memory is not aligned to 8 bytes")

// Format makes a segment out of mem, which must be all zero, hold at least
// [Size] bytes and begin at an address that is a multiple of 8. Only the master
// calls it; the settings of each record are to be given to Configure before any
// child attaches.
func Format(mem []byte, l Layout) (*Segment, error) {
	s, err := format(mem, l)
	if err != nil {
		return nil, fmt.Errorf("jkshm: format: %w", err)
	}
	return s, nil
}

func format(mem []byte, l Layout) (*Segment, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if n := l.place().end; int64(len(mem)) < n {
		return nil, fmt.Errorf("memory of %d bytes is too small for %d", len(mem), n)
	}
	if !aligned(mem) {
		return nil, errAlign
	}
	h := words(mem, 0, headerLength)
	for i := range h {
		if h[i].Load() != 0 {
			return nil, errors.New("memory is in use already")
		}
	}
	var token [16]byte
	if _, err := rand.Read(token[:]); err != nil {
		return nil, err
	}
	s := newSegment(mem, l.clone(), token)
	s.writeHeader()
	return s, nil
}

// Attach is for a child, or anybody else who knows the layout, of a segment
// that another process has formatted. It is an error when the segment is of
// another layout.
func Attach(mem []byte, l Layout) (*Segment, error) {
	s, err := attach(mem, &l)
	if err != nil {
		return nil, fmt.Errorf("jkshm: attach: %w", err)
	}
	return s, nil
}

// AttachAny takes the layout from the segment itself, whose bytes may be
// anything: it is an error when they are no layout within the bounds that fits
// into mem. It is for a tool, and for [Segment.Carry].
func AttachAny(mem []byte) (*Segment, error) {
	s, err := attach(mem, nil)
	if err != nil {
		return nil, fmt.Errorf("jkshm: attach: %w", err)
	}
	return s, nil
}

func attach(mem []byte, want *Layout) (*Segment, error) {
	if len(mem) < globalOffset+globalLength*wordSize {
		return nil, fmt.Errorf("memory of %d bytes is too small for a header", len(mem))
	}
	if !aligned(mem) {
		return nil, errAlign
	}
	if want != nil {
		if err := want.check(); err != nil {
			return nil, err
		}
	}
	l, err := readLayout(mem)
	if err != nil {
		return nil, err
	}
	if want != nil && l.hash() != want.hash() {
		return nil, errors.New("the segment is of another layout")
	}
	h := words(mem, 0, headerLength)
	var token [16]byte
	binary.LittleEndian.PutUint64(token[:], h[headerToken].Load())
	binary.LittleEndian.PutUint64(token[8:], h[headerToken+1].Load())
	return newSegment(mem, l, token), nil
}

// newSegment makes the handles of all records.
func newSegment(mem []byte, l Layout, token [16]byte) *Segment {
	p := l.place()
	s := &Segment{mem: mem[:p.end:p.end], layout: l, place: p, token: token}
	g := words(s.mem, globalOffset, globalLength)
	s.edits, s.high, s.lock = &g[globalEdits], &g[globalHigh], &g[globalLock]

	s.workers = make([]Worker, len(l.Workers))
	for i := range s.workers {
		at := int(p.workers) + i*workerLength*wordSize
		cells := int(p.cells) + i*gauges*int(p.cellsSize)
		s.workers[i].init(s, i, words(s.mem, at, workerLength), s.cells(cells), s.cells(cells+int(p.cellsSize)))
	}
	s.balancers = make([]Balancer, len(l.Balancers))
	member := int(p.members)
	for i := range s.balancers {
		b := &s.balancers[i]
		b.init(s, i, words(s.mem, int(p.balancers)+i*int(up(balancerLength*wordSize)), balancerLength))
		b.members = make([]Member, len(l.Balancers[i].Members))
		for j, w := range l.Balancers[i].Members {
			b.members[j].init(s, b, &s.workers[w], words(s.mem, member, memberLength))
			member += int(up(memberLength * wordSize))
		}
	}
	at := int(p.maps)
	s.maps = make([]Map, len(l.Maps))
	for i, n := range l.Maps {
		s.maps[i].init(s, i, n, words(s.mem, at, int(mapSize(n))/wordSize))
		at += int(mapSize(n))
	}
	return s
}

func aligned(mem []byte) bool {
	return len(mem) > 0 && uintptr(unsafe.Pointer(&mem[0]))%wordSize == 0
}

// words is the n words at byte offset at. The offset is ours; the slice
// expression bounds it all the same.
func words(mem []byte, at, n int) []atomic.Uint64 {
	if n == 0 {
		return nil
	}
	b := mem[at : at+n*wordSize]
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&b[0])), n)
}

// cells is one cell for each server, at byte offset at.
func (s *Segment) cells(at int) []atomic.Uint32 {
	b := s.mem[at : at+s.layout.Servers*4]
	return unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(&b[0])), s.layout.Servers)
}

func load(w []atomic.Uint64, dst []uint64) {
	for i := range dst {
		dst[i] = w[i].Load()
	}
}

// headerWords is the header as it has to be, without the magic.
func (s *Segment) headerWords() [headerLength]uint64 {
	var h [headerLength]uint64
	h[headerVersion] = version
	h[headerSize] = uint64(s.place.end)
	h[headerHash] = s.layout.hash()
	h[headerServers] = uint64(s.layout.Servers)
	h[headerWorkers] = uint64(len(s.layout.Workers))
	h[headerBalancers] = uint64(len(s.layout.Balancers))
	h[headerMembers] = uint64(s.layout.members())
	h[headerMaps] = uint64(len(s.layout.Maps))
	h[headerToken] = binary.LittleEndian.Uint64(s.token[:])
	h[headerToken+1] = binary.LittleEndian.Uint64(s.token[8:])
	return h
}

// writeHeader writes header and directory. The magic is last: who attaches by
// name must not see half of them.
func (s *Segment) writeHeader() {
	h, want := words(s.mem, 0, headerLength), s.headerWords()
	for i := range want {
		if i != headerMagic {
			h[i].Store(want[i])
		}
	}
	d := s.layout.directoryWords()
	w := words(s.mem, int(s.place.directory), len(d))
	for i, v := range d {
		w[i].Store(v)
	}
	h[headerMagic].Store(magic)
}

// Restore writes header and directory again if they are not what they were when
// the segment was formatted, and tells whether it had to. A child can damage
// them, and those that come later would refuse to attach. The master alone
// calls it.
func (s *Segment) Restore() bool {
	h, want := words(s.mem, 0, headerLength), s.headerWords()
	want[headerMagic] = magic
	same := true
	for i := range want {
		same = same && h[i].Load() == want[i]
	}
	d := s.layout.directoryWords()
	w := words(s.mem, int(s.place.directory), len(d))
	for i, v := range d {
		same = same && w[i].Load() == v
	}
	if !same {
		s.writeHeader()
	}
	return !same
}

// High is how many servers have held anything so far: the most children there
// were at a time, as the lowest free number is given to a new one.
func (s *Segment) High() int { return int(min(s.high.Load(), uint64(s.layout.Servers))) }

// Layout is a copy of the layout.
func (s *Segment) Layout() Layout { return s.layout.clone() }

// Token is what Format made at random: a status page puts it into its forms, so
// that an edit can be told from a link somebody was made to follow. It is the
// same for all who attach to the segment.
func (s *Segment) Token() [16]byte { return s.token }

// Edits counts the edits of the segment: settings, addresses, map files. Who
// has seen the same number before has nothing to load again. One atomic load.
func (s *Segment) Edits() uint64 { return s.edits.Load() }

// Workers is the number of workers.
func (s *Segment) Workers() int { return len(s.workers) }

// Worker is the record of the i-th worker of the layout. It panics when i is
// out of range.
func (s *Segment) Worker(i int) *Worker { return &s.workers[i] }

// Balancers is the number of balancers.
func (s *Segment) Balancers() int { return len(s.balancers) }

// Balancer is the record of the i-th balancer of the layout. It panics when i
// is out of range.
func (s *Segment) Balancer(i int) *Balancer { return &s.balancers[i] }

// Maps is the number of map files.
func (s *Segment) Maps() int { return len(s.maps) }

// Map is the record of the k-th map file. It panics when k is out of range.
func (s *Segment) Map(k int) *Map { return &s.maps[k] }
