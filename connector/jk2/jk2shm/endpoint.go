package jk2shm

import (
	"encoding/binary"
	"strconv"
	"sync/atomic"
)

// Child is the slot of one child, as the child itself uses it.
type Child struct {
	seg  *Segment
	slot int
}

// Child takes the slot of a child, which begins without records. The child
// calls it once. server counts from 0; nil, which counts nothing, is returned
// when there is no slot of that number.
func (s *Segment) Child(server int) *Child {
	if server < 0 || server >= s.slots {
		return nil
	}
	at := s.slot(server)
	s.u32(at + slotStructCnt).Store(0)
	s.u32(at + slotLength).Store(askedSize)
	s.u32(at + slotStructSize).Store(recordSize)
	s.text(at+slotName, nameSize, strconv.AppendInt([]byte(prefix), int64(server), 10))
	s.use(server)
	for last := s.u32(headLastSlot); ; {
		old := last.Load()
		if old > uint32(server) && old <= uint32(s.slots) || last.CompareAndSwap(old, uint32(server+1)) {
			return &Child{s, server}
		}
	}
}

// use marks a slot.
func (s *Segment) use(slot int) {
	at := headUsed + slot
	var b [4]byte
	b[at%4] = 1
	s.u32(at &^ 3).Or(binary.NativeEndian.Uint32(b[:]))
}

func (s *Segment) used(slot int) bool {
	at := headUsed + slot
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], s.u32(at&^3).Load())
	return b[at%4] != 0
}

// text writes a text into a field that is a multiple of 8 bytes long; a zero
// byte always follows it.
func (s *Segment) text(at, size int, t []byte) {
	t = t[:min(len(t), size-1)]
	for i := 0; i < size; i += 8 {
		var b [8]byte
		if i < len(t) {
			copy(b[:], t[i:])
		}
		s.u64(at + i).Store(binary.NativeEndian.Uint64(b[:]))
	}
}

// Endpoint is the record of one endpoint. One goroutine at a time may call its
// methods. nil is an endpoint without a record; its methods do nothing.
type Endpoint struct {
	seg *Segment
	at  int
}

// Endpoint takes the record of a new endpoint: id counts the endpoints of the
// child from 0, worker is for display. It is nil beyond MaxEndpoints. One
// goroutine at a time may call it.
func (c *Child) Endpoint(id, worker int) *Endpoint {
	if c == nil || id < 0 || id >= MaxEndpoints {
		return nil
	}
	e := &Endpoint{c.seg, c.seg.record(c.slot, id)}
	e.begin()
	for _, f := range []int{recordRequests, recordErrors} {
		e.u32(f).Store(0)
	}
	e.u32(recordWorker).Store(uint32(worker))
	for f := recordActive; f < recordSize; f += 8 {
		e.u64(f).Store(0)
	}
	e.end()
	n := c.seg.u32(c.seg.slot(c.slot) + slotStructCnt)
	n.Store(max(min(n.Load(), MaxEndpoints), uint32(id+1)))
	return e
}

func (e *Endpoint) u32(field int) *atomic.Uint32 { return e.seg.u32(e.at + field) }
func (e *Endpoint) u64(field int) *atomic.Uint64 { return e.seg.u64(e.at + field) }

// begin and end enclose a change. A child that died in one left the sequence
// odd, which is made good here.
func (e *Endpoint) begin() { q := e.u32(recordSequence); q.Store(q.Load() | 1) }
func (e *Endpoint) end()   { e.u32(recordSequence).Add(1) }

// Connected enters that the endpoint has a new connection. Times are
// microseconds since 1970.
func (e *Endpoint) Connected(now int64) {
	if e == nil {
		return
	}
	e.begin()
	e.u64(recordConnected).Store(uint64(now))
	e.end()
}

// Begin enters that a request for a path is being served. received is when it
// was there, taken when the connector got it; both are 0 where times are not
// wanted.
func (e *Endpoint) Begin(path []byte, received, taken int64) {
	if e == nil {
		return
	}
	e.begin()
	e.seg.text(e.at+recordActive, activeSize, path)
	if received != 0 {
		e.u64(recordStart).Store(uint64(received))
		e.u64(recordJkStart).Store(uint64(taken))
	}
	e.end()
}

// End enters how the request that Begin was told of ended; now is 0 where
// times are not wanted.
func (e *Endpoint) End(ok bool, now int64) {
	if e == nil {
		return
	}
	e.begin()
	if ok {
		e.u32(recordRequests).Add(1)
	} else {
		e.u32(recordErrors).Add(1)
	}
	if now != 0 {
		e.u64(recordEnd).Store(uint64(now))
		took := uint64(max(now-int64(e.u64(recordStart).Load()), 0))
		e.u64(recordTotal).Add(took)
		if m := e.u64(recordMax); took > m.Load() {
			m.Store(took)
		}
	}
	e.end()
}

// Reclaim ends the changes that a child which is gone was in the middle of.
// What the child has counted stays visible until another one takes the slot.
// The master calls it after wait.
func (s *Segment) Reclaim(server int) {
	if server < 0 || server >= s.slots {
		return
	}
	for id := range s.records(server) {
		if q := s.u32(s.record(server, id) + recordSequence); q.Load()&1 != 0 {
			q.Add(1)
		}
	}
}

// Reset makes the counters of all records 0: requests, errors, total and
// longest time. Any process may call it at any time.
func (s *Segment) Reset() {
	for i := range s.lastSlot() {
		for id := range s.records(i) {
			at := s.record(i, id)
			s.u32(at + recordRequests).Store(0)
			s.u32(at + recordErrors).Store(0)
			s.u64(at + recordTotal).Store(0)
			s.u64(at + recordMax).Store(0)
		}
	}
}

// lastSlot and records are counts from the memory, which may be anything.
func (s *Segment) lastSlot() int { return int(min(s.u32(headLastSlot).Load(), uint32(s.slots))) }

func (s *Segment) records(slot int) int {
	return int(min(s.u32(s.slot(slot)+slotStructCnt).Load(), MaxEndpoints))
}
