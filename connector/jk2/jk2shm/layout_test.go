package jk2shm

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// memory is aligned memory of a size.
func memory(size int) []byte {
	w := make([]uint64, (size+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), size)
}

func fresh(t testing.TB, slots int) (*Segment, []byte) {
	t.Helper()
	size, err := Size(slots)
	if err != nil {
		t.Fatal(err)
	}
	mem := memory(size)
	s, err := Format(mem, slots)
	if err != nil {
		t.Fatal(err)
	}
	return s, mem
}

func u32(mem []byte, at int) uint32 { return binary.NativeEndian.Uint32(mem[at:]) }
func u64(mem []byte, at int) uint64 { return binary.NativeEndian.Uint64(mem[at:]) }

func TestSize(t *testing.T) {
	for slots, want := range map[int]int{256: 2162688, 1: 65536, 7: 65536, 8: 131072, 8168: 66977792, 8169: 66977792, 8176: 67043328, MaxSlots: 537001984} {
		if got, err := Size(slots); err != nil || got != want {
			t.Errorf("%d slots: %d bytes, %v, want %d", slots, got, err, want)
		}
	}
	for _, slots := range []int{-1, 0, MaxSlots + 1} {
		if _, err := Size(slots); err == nil {
			t.Errorf("%d slots have a size", slots)
		}
	}
}

// Every field is where mod_jk2 has it.
func TestBytes(t *testing.T) {
	s, mem := fresh(t, 256)
	s.u32(headVersion).Store(7)
	c := s.Child(3)
	e := c.Endpoint(1, 2)
	e.Connected(1_000_000)
	e.Begin([]byte("/examples/servlet/X"), 2_000_000, 2_000_500)
	e.End(true, 2_010_000)
	e.Begin([]byte("/"+strings.Repeat("y", 80)), 3_000_000, 3_000_100)
	e.End(false, 3_004_000)

	for at, want := range map[int]uint32{0: 8192, 4: 8192, 8: 256, 12: 4, 16: 7} {
		if got := u32(mem, at); got != want {
			t.Errorf("header, offset %d: %d, want %d", at, got, want)
		}
	}
	if used := mem[20 : 20+256]; bytes.Count(used, []byte{1}) != 1 || used[3] != 1 {
		t.Errorf("used flags %v", used)
	}
	slot := 8192 + 3*8192
	for at, want := range map[int]uint32{0: 0, 4: 8096, 8: 128, 12: 2} {
		if got := u32(mem, slot+at); got != want {
			t.Errorf("slot, offset %d: %d, want %d", at, got, want)
		}
	}
	if name := mem[slot+16 : slot+80]; string(name) != "epStat.3"+strings.Repeat("\x00", 56) {
		t.Errorf("name %q", name)
	}
	record := slot + 80 + 128
	for at, want := range map[int]uint32{0: 1, 4: 1, 12: 2} {
		if got := u32(mem, record+at); got != want {
			t.Errorf("record, offset %d: %d, want %d", at, got, want)
		}
	}
	if q := u32(mem, record+8); q == 0 || q&1 != 0 {
		t.Errorf("sequence %d", q)
	}
	if active := mem[record+16 : record+80]; string(active) != "/"+strings.Repeat("y", 62)+"\x00" {
		t.Errorf("active %q", active)
	}
	for at, want := range map[int]uint64{80: 1_000_000, 88: 14_000, 96: 10_000, 104: 3_000_000, 112: 3_000_100, 120: 3_004_000} {
		if got := u64(mem, record+at); got != want {
			t.Errorf("record, offset %d: %d, want %d", at, got, want)
		}
	}
	if !bytes.Equal(mem[8192:slot], make([]byte, 3*8192)) || !bytes.Equal(mem[record+128:], make([]byte, len(mem)-record-128)) {
		t.Error("something was written elsewhere")
	}
}

func TestView(t *testing.T) {
	s, mem := fresh(t, 12)
	// Children 1 and 10 have names of which one begins like the other.
	ten, one := s.Child(10), s.Child(1)
	e := ten.Endpoint(0, 0)
	e.Begin([]byte("/ten"), 0, 0)
	e.End(true, 0)
	e = one.Endpoint(0, 5)
	e.Begin([]byte("/one"), 10, 20)
	var v View
	reader, err := AttachAny(mem)
	if err != nil {
		t.Fatal(err)
	}
	reader.View(&v)
	want := View{LastSlot: 11, Slots: []Slot{
		{Name: "epStat.1", Size: 8096, StructSize: 128, Cnt: 1, Server: 1, Records: []Record{{Worker: 5, Active: "/one", Start: 10, JkStart: 20}}},
		{Name: "epStat.10", Size: 8096, StructSize: 128, Cnt: 1, Server: 10, Records: []Record{{Requests: 1, Active: "/ten"}}},
	}}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("\n got %+v\nwant %+v", v, want)
	}

	// The next child in the slot begins with nothing.
	one = s.Child(1)
	if reader.View(&v); len(v.Slots[0].Records) != 0 {
		t.Errorf("%+v", v.Slots[0])
	}
	one.Endpoint(0, 6)
	reader.View(&v)
	if r := v.Slots[0].Records; len(r) != 1 || r[0] != (Record{Worker: 6}) {
		t.Errorf("%+v", r)
	}
	s.Reset()
	reader.View(&v)
	if r := v.Slots[1].Records[0]; r != (Record{Active: "/ten"}) {
		t.Errorf("%+v", r)
	}
}

// There are as many records as there is room for, and no byte is written behind
// the slot.
func TestMoreEndpointsThanRecords(t *testing.T) {
	s, mem := fresh(t, 3)
	c := s.Child(1)
	for id := range MaxEndpoints {
		e := c.Endpoint(id, 0)
		if e == nil {
			t.Fatal("no record for", id)
		}
		e.Begin([]byte(strings.Repeat("z", 100)), 1, 1)
		e.End(true, 2)
	}
	for _, id := range []int{-1, MaxEndpoints, MaxEndpoints + 1, 1 << 30} {
		e := c.Endpoint(id, 0)
		if e != nil {
			t.Fatal("a record for", id)
		}
		e.Connected(1) // harmless
		e.Begin([]byte("/"), 1, 1)
		e.End(false, 2)
	}
	if n := u32(mem, s.slot(1)+12); n != 63 {
		t.Error(n, "records")
	}
	for i, part := range [][]byte{mem[s.slot(0):s.slot(1)], mem[s.slot(1)+slotData+63*128 : s.slot(2)], mem[s.slot(2):]} {
		if len(bytes.Trim(part, "\x00")) != 0 {
			t.Error("written outside of the records, part", i)
		}
	}
	for _, server := range []int{-1, 3} {
		c := s.Child(server)
		if c != nil {
			t.Error("a slot for", server)
		}
		if c.Endpoint(0, 0) != nil {
			t.Error("a record without slot")
		}
		s.Reclaim(server)
	}
}

func TestReclaim(t *testing.T) {
	s, _ := fresh(t, 2)
	e := s.Child(0).Endpoint(0, 0)
	e.Begin([]byte("/x"), 0, 0)
	e.begin() // and the child is killed
	var v View
	s.View(&v)
	if r := v.Slots[0].Records[0]; !r.Torn || r.Active != "/x" {
		t.Errorf("%+v", r)
	}
	s.Reclaim(0)
	s.Reclaim(0)
	s.View(&v)
	if r := v.Slots[0].Records[0]; r.Torn || r.Active != "/x" {
		t.Errorf("%+v", r)
	}
	e.begin()
	e = s.Child(0).Endpoint(0, 0)
	e.Begin([]byte("/y"), 0, 0)
	s.View(&v)
	if r := v.Slots[0].Records[0]; r != (Record{Active: "/y"}) {
		t.Errorf("%+v", r)
	}
}

func TestAttach(t *testing.T) {
	_, mem := fresh(t, 5)
	if s, err := AttachAny(mem); err != nil || s.slots != 5 {
		t.Error(err)
	}
	end := headerSize(5) + 5*slotSize
	for name, m := range map[string][]byte{"short": mem[:end-1], "header only": mem[:8192], "head of it": mem[:headUsed-1], "nothing": {}, "not aligned": mem[1:]} {
		if _, err := AttachAny(m); err == nil {
			t.Error("attached:", name)
		}
	}
	if _, err := AttachAny(mem[:end]); err != nil {
		t.Error("the end of the file is not needed:", err)
	}
	if _, err := Format(mem[:len(mem)-1], 5); err == nil {
		t.Error("formatted memory that is too small")
	}
	if _, err := Format(mem, 0); err == nil {
		t.Error("formatted without slots")
	}
	for _, at := range []int{0, 4, 8} {
		for _, v := range []uint32{0, 1, 1 << 20, 1 << 31, 1<<32 - 1} {
			if at == 8 && v == 1 {
				continue // a header of 8192 bytes is that of one slot too
			}
			bad := memory(len(mem))
			copy(bad, mem)
			binary.NativeEndian.PutUint32(bad[at:], v)
			if _, err := AttachAny(bad); err == nil {
				t.Errorf("attached with %d at %d", v, at)
			}
		}
	}
}

func TestDump(t *testing.T) {
	s, mem := fresh(t, 3)
	s.u32(headVersion).Store(2)
	e := s.Child(0).Endpoint(0, 0)
	e.Connected(1_000_000_000_000_000)
	e.Begin([]byte("/examples/servlet/Hello"), 1_000_000_001_000_000, 1_000_000_001_002_000)
	e.End(true, 1_000_000_001_030_000)
	e.Begin([]byte("/\x1b[2J\xff"), 1_000_000_002_000_000, 1_000_000_002_001_000)
	e.End(false, 1_000_000_002_020_000)
	e = s.Child(2).Endpoint(0, 1)
	e.Begin([]byte("/now"), 0, 0)
	s.Child(1)
	var out strings.Builder
	if err := Dump(&out, mem); err != nil {
		t.Fatal(err)
	}
	want := `ver=2 slots=3

epStat.0 Cnt=1 size=128
  Id  Worker  Req  Err           ConnectionTime  TotalTime  MaxTime  AvgTime                 ReqStart  +jk  +end  LastReq
   0       0    1    1  2001-09-09T01:46:40.000         50       30       25  2001-09-09T01:46:42.000    1    20  /\x1b[2J\xff

epStat.1 Cnt=0 size=128

epStat.2 Cnt=1 size=128
  Id  Worker  Req  Err  ConnectionTime  TotalTime  MaxTime  AvgTime  ReqStart  +jk  +end  LastReq
   0       1    0    0               -          0        0        -         -    -     -  /now

Totals: Req=1 Err=1 Max=30 Avg=25
`
	if out.String() != want {
		t.Errorf("got:\n%s", out.String())
	}
	if err := Dump(&out, mem[:100]); err == nil {
		t.Error("dumped what is no segment")
	}
}

func TestEndpointAllocates(t *testing.T) {
	s, _ := fresh(t, 1)
	e := s.Child(0).Endpoint(0, 0)
	path := []byte("/examples/servlet/HelloWorldExample")
	if n := testing.AllocsPerRun(100, func() { e.Connected(1); e.Begin(path, 1, 2); e.End(true, 3) }); n != 0 {
		t.Error(n, "allocations")
	}
}

func BenchmarkRequest(b *testing.B) {
	s, _ := fresh(b, 1)
	e := s.Child(0).Endpoint(0, 0)
	path := []byte("/examples/servlet/HelloWorldExample")
	for b.Loop() {
		e.Begin(path, 1, 2)
		e.End(true, 3)
	}
}

// lbVer goes on from generation to generation, and wraps around.
func TestInherit(t *testing.T) {
	size, err := Size(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []uint32{0, 7, 1<<32 - 1} {
		var segs [2]*Segment
		for i := range segs {
			words := make([]uint64, size/8)
			if segs[i], err = Format(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size), 2); err != nil {
				t.Fatal(err)
			}
		}
		segs[0].u32(headVersion).Store(v)
		segs[1].Inherit(segs[0])
		if got := segs[1].Version(); got != v+1 {
			t.Errorf("%d became %d", v, got)
		}
		segs[1].Inherit(nil)
		(*Segment)(nil).Inherit(segs[0])
		if got := segs[1].Version(); got != v+1 {
			t.Errorf("%d", got)
		}
	}
}
