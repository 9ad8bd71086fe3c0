package jk2shm

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// use does everything that a segment can be used for.
func use(s *Segment) {
	var v View
	s.View(&v)
	_ = v.Write(io.Discard)
	for _, n := range []int{0, s.Slots() - 1} {
		c := s.Child(n)
		for _, id := range []int{0, MaxEndpoints - 1, MaxEndpoints} {
			e := c.Endpoint(id, -1)
			e.Connected(-1)
			e.Begin(bytes.Repeat([]byte{0xff}, 200), -1, -1)
			e.End(true, 1<<62)
		}
		s.Reclaim(n)
	}
	s.Reset()
	s.View(&v)
	_ = v.Write(io.Discard)
}

// A child may write anything anywhere at any time, also after others have
// attached.
func TestHostile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s, mem := fresh(t, 3)
	for round := range 60 {
		for i := range mem {
			switch round % 3 {
			case 0:
				mem[i] = byte(rnd.Uint32())
			case 1:
				mem[i] = 0xff
			case 2:
				mem[i] = byte(i % 3) // small counts, many odd sequences
			}
		}
		use(s)
	}
	var v View
	for i := range mem {
		mem[i] = 0xff
	}
	s.View(&v)
	if v.LastSlot != 3 || len(v.Slots) != 3 || v.Slots[0].Server != -1 || len(v.Slots[0].Name) != nameSize {
		t.Errorf("%+v", v)
	}
}

// A slot that says the name of another one, or of a child there cannot be, is
// shown as it is.
func TestForeignNames(t *testing.T) {
	s, mem := fresh(t, 4)
	for i := range 4 {
		s.Child(i).Endpoint(0, 0)
	}
	for i, name := range []string{"epStat.0", "epStat.-1", "epStat.99", "TOMCAT:localhost:8009"} {
		copy(mem[s.slot(i)+slotName:], name+strings.Repeat("\x00", nameSize-len(name)))
	}
	var v View
	s.View(&v)
	for i, want := range []int{0, -1, -1, -1} {
		if x := v.Slots[i]; x.Server != want || (len(x.Records) > 0) != (want >= 0) {
			t.Errorf("slot %d: %+v", i, x)
		}
	}
}

// FuzzAttachAny: whatever a file holds, it can be shown or is refused.
func FuzzAttachAny(f *testing.F) {
	s, mem := fresh(f, 2)
	e := s.Child(1).Endpoint(2, 0)
	e.Begin([]byte("/x"), 1, 2)
	f.Add(bytes.Clone(mem[:100]), bytes.Clone(mem[s.slot(1):s.slot(1)+600]))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, head, slot []byte) {
		size, _ := Size(2)
		mem := memory(size)
		copy(mem, head)
		copy(mem[headerSize(2)+slotSize:], slot)
		s, err := AttachAny(mem)
		if err != nil {
			return
		}
		var out strings.Builder
		if err := Dump(&out, mem); err != nil {
			t.Fatal(err)
		}
		for _, c := range []byte(out.String()) {
			if c != '\n' && (c < ' ' || c > '~') {
				t.Fatalf("byte %#x in the table", c)
			}
		}
		use(s)
	})
}
