package jk2shm

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// View is what a segment said at some moment.
type View struct {
	Version  uint32 // lbVer
	LastSlot int    // the highest slot in use, plus one
	Slots    []Slot // those in use
}

// Slot is one slot of a View.
type Slot struct {
	Name                  string
	Size, StructSize, Cnt uint32 // as the memory has them
	// Server is the child of an epStat slot, -1 of others, which have no
	// records.
	Server  int
	Records []Record
}

// Record is one endpoint. Times are microseconds since 1970 and, of Total and
// Max, microseconds; 0 is unknown.
type Record struct {
	Requests, Errors    uint32 // reqCnt, errCnt
	Worker              uint32 // of the child's workers
	Active              string // path of the last request
	Connected           uint64 // connectedTime
	Total, Max          uint64
	Start, JkStart, End uint64
	// Torn: the record was being changed whenever it was looked at, or its
	// child died over that; the fields may not belong together.
	Torn bool
}

// Average is Total by all requests, in microseconds; 0 if there were none.
func (r *Record) Average() uint64 {
	if n := uint64(r.Requests) + uint64(r.Errors); n > 0 {
		return r.Total / n
	}
	return 0
}

// A record that is being changed is looked at a few times more; then its child
// may have been interrupted, and others need time to go on. There is a bound on
// that for all records together.
const (
	looks = 10
	waits = 20
	wait  = time.Millisecond
)

// View copies what the segment says into v, whose memory it uses again.
func (s *Segment) View(v *View) {
	v.Version, v.LastSlot = s.Version(), s.lastSlot()
	v.Slots = v.Slots[:0]
	patience := waits
	for i := range v.LastSlot {
		if s.used(i) {
			v.Slots = append(v.Slots, s.view(i, &patience))
		}
	}
}

func (s *Segment) view(i int, patience *int) Slot {
	at := s.slot(i)
	out := Slot{
		Name:       s.textAt(at+slotName, nameSize),
		Size:       s.u32(at + slotLength).Load(),
		StructSize: s.u32(at + slotStructSize).Load(),
		Cnt:        s.u32(at + slotStructCnt).Load(),
		Server:     -1,
	}
	digits, ok := strings.CutPrefix(out.Name, prefix)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n >= s.slots || out.StructSize != recordSize {
		return out
	}
	out.Server = n
	for id := range s.records(i) {
		out.Records = append(out.Records, s.wait(s.record(i, id), patience))
	}
	return out
}

// wait reads a record until it is whole.
func (s *Segment) wait(at int, patience *int) Record {
	for {
		for range looks {
			if r, whole := s.look(at); whole {
				return r
			}
		}
		if *patience <= 0 {
			break
		}
		*patience--
		time.Sleep(wait)
	}
	r, whole := s.look(at)
	r.Torn = !whole
	return r
}

// look reads a record and tells whether it was whole.
func (s *Segment) look(at int) (r Record, whole bool) {
	before := s.u32(at + recordSequence).Load()
	r = Record{
		Requests:  s.u32(at + recordRequests).Load(),
		Errors:    s.u32(at + recordErrors).Load(),
		Worker:    s.u32(at + recordWorker).Load(),
		Active:    s.textAt(at+recordActive, activeSize),
		Connected: s.u64(at + recordConnected).Load(),
		Total:     s.u64(at + recordTotal).Load(),
		Max:       s.u64(at + recordMax).Load(),
		Start:     s.u64(at + recordStart).Load(),
		JkStart:   s.u64(at + recordJkStart).Load(),
		End:       s.u64(at + recordEnd).Load(),
	}
	return r, before&1 == 0 && s.u32(at+recordSequence).Load() == before
}

// textAt reads a text that may be anything.
func (s *Segment) textAt(at, size int) string {
	var b [nameSize]byte
	for i := 0; i < size; i += 8 {
		binary.NativeEndian.PutUint64(b[i:], s.u64(at+i).Load())
	}
	t := b[:size]
	if i := bytes.IndexByte(t, 0); i >= 0 {
		t = t[:i]
	}
	return string(t)
}
