package jk2shm

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Header, all fields of four bytes; behind it one byte for each slot that is
// not 0 when the slot is used.
const (
	headStructSize = 0  // of the header: where the first slot begins
	headSlotSize   = 4  // of each slot
	headSlotMax    = 8  // how many slots there are
	headLastSlot   = 12 // the highest one in use, plus one
	headVersion    = 16 // lbVer: generation of the configuration
	headUsed       = 20

	slotSize  = 8192
	headAlign = 8192
	fileAlign = 64 << 10
)

// Slot.
const (
	slotVersion    = 0 // not used
	slotLength     = 4 // of the data that was asked for
	slotStructSize = 8
	slotStructCnt  = 12 // records in use
	slotName       = 16
	slotData       = 80

	nameSize = slotData - slotName
	// askedSize is what mod_jk2 asks for.
	askedSize = 8096
)

// Record. Counts are of four bytes, times of eight: microseconds since 1970,
// or of lengths of time, microseconds.
const (
	recordRequests  = 0 // reqCnt: ended well
	recordErrors    = 4 // errCnt
	recordSequence  = 8 // connected
	recordWorker    = 12
	recordActive    = 16 // path of the request, the last one when there is none
	recordConnected = 80 // connectedTime
	recordTotal     = 88
	recordMax       = 96
	recordStart     = 104
	recordJkStart   = 112
	recordEnd       = 120

	recordSize = 128
	activeSize = recordConnected - recordActive
)

// MaxEndpoints is how many endpoints of one child have records.
const MaxEndpoints = (slotSize - slotData) / recordSize

// MaxSlots bounds the slots of a segment.
const MaxSlots = 65536

// prefix begins the names of slots with records; the child's number follows.
const prefix = "epStat."

// headerSize is where the first slot begins.
func headerSize(slots int) int { return up(24+slots, headAlign) }

func up(n, to int) int { return (n + to - 1) / to * to }

// Size is the number of bytes for so many slots, 1 to MaxSlots.
func Size(slots int) (int, error) {
	if slots < 1 || slots > MaxSlots {
		return 0, fmt.Errorf("jk2shm: %d slots are not between 1 and %d", slots, MaxSlots)
	}
	return up(headerSize(slots)+slots*slotSize, fileAlign), nil
}

// Segment gives access to the memory. It remembers how many slots there are.
// Its methods may be called concurrently; the memory must stay mapped. Methods
// that only read need no right to write.
type Segment struct {
	mem   []byte
	slots int
}

// Format makes zeroed memory a segment. Only the master calls it, before there
// are children.
func Format(mem []byte, slots int) (*Segment, error) {
	size, err := Size(slots)
	if err != nil {
		return nil, err
	}
	if err := check(mem, size); err != nil {
		return nil, err
	}
	s := &Segment{mem: mem, slots: slots}
	s.u32(headStructSize).Store(uint32(headerSize(slots)))
	s.u32(headSlotMax).Store(uint32(slots))
	s.u32(headSlotSize).Store(slotSize)
	return s, nil
}

// AttachAny is for a reader that does not know how many slots there are. The
// memory may hold anything.
func AttachAny(mem []byte) (*Segment, error) {
	if err := check(mem, headUsed); err != nil {
		return nil, err
	}
	s := &Segment{mem: mem}
	slots := s.u32(headSlotMax).Load()
	if slots < 1 || slots > MaxSlots {
		return nil, fmt.Errorf("jk2shm: %d slots are not between 1 and %d", slots, MaxSlots)
	}
	s.slots = int(slots)
	if got, want := s.u32(headStructSize).Load(), headerSize(s.slots); got != uint32(want) {
		return nil, fmt.Errorf("jk2shm: a header of %d bytes is not that of %d slots, %d", got, slots, want)
	}
	if got := s.u32(headSlotSize).Load(); got != slotSize {
		return nil, fmt.Errorf("jk2shm: slots have %d bytes, not %d", got, slotSize)
	}
	if err := check(mem, headerSize(s.slots)+s.slots*slotSize); err != nil {
		return nil, err
	}
	return s, nil
}

func check(mem []byte, size int) error {
	switch {
	case len(mem) < size || len(mem) == 0:
		return fmt.Errorf("jk2shm: memory of %d bytes is too small for %d", len(mem), size)
	case uintptr(unsafe.Pointer(&mem[0]))%8 != 0:
		return errors.New("jk2shm: the memory is not aligned")
	}
	return nil
}

// u32 and u64 are fields by their offsets, which are multiples of their sizes.
func (s *Segment) u32(at int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&s.mem[at : at+4 : at+4][0]))
}

func (s *Segment) u64(at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.mem[at : at+8 : at+8][0]))
}

// slot is where slot i begins.
func (s *Segment) slot(i int) int { return headerSize(s.slots) + i*slotSize }

// record is where record id of slot i begins.
func (s *Segment) record(i, id int) int { return s.slot(i) + slotData + id*recordSize }

// Slots is how many there are.
func (s *Segment) Slots() int { return s.slots }

// Version is lbVer, which changes when children have to look at the
// configuration again. One atomic load.
func (s *Segment) Version() uint32 { return s.u32(headVersion).Load() }

// Announce raises lbVer.
func (s *Segment) Announce() { s.u32(headVersion).Add(1) }

// Inherit continues lbVer of the generation before, so that who waits for it to
// change sees that it has. The records belong to that generation's children, and
// a new child begins with empty ones. from may hold anything and is only read;
// nil: nothing. The master calls it after Format.
func (s *Segment) Inherit(from *Segment) {
	if s != nil && from != nil {
		s.u32(headVersion).Store(from.Version() + 1)
	}
}
