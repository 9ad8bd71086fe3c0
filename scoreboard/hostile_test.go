package scoreboard

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"
)

// sane checks what holds for a view of any bytes at all.
func sane(t *testing.T, b *Scoreboard, v *View) {
	t.Helper()
	if v.Layout != b.layout || v.Global.Global != b.global {
		t.Errorf("view of layout %+v, global %+v", v.Layout, v.Global.Global)
	}
	if v.Global.Times.User < 0 || v.Global.Times.System < 0 || v.Global.Times.ChildrenUser < 0 || v.Global.Times.ChildrenSystem < 0 {
		t.Errorf("negative times: %+v", v.Global.Times)
	}
	for i, p := range v.Processes {
		if p.PID < 0 || int64(p.PID) > 1<<31-1 || p.Connections < 0 || p.Parked < 0 || p.CPUUser < 0 || p.CPUSystem < 0 {
			t.Errorf("process %d: %+v", i, p)
		}
	}
	for i, w := range v.Workers {
		if !w.Status.Valid() || w.Duration < 0 {
			t.Errorf("worker %d: status %d, duration %d", i, w.Status, w.Duration)
		}
		if w.MyAccessCount > w.AccessCount || w.ConnCount > w.AccessCount || w.MyBytesServed > w.BytesServed || w.ConnBytes > w.BytesServed {
			t.Errorf("worker %d: parts larger than the whole: %+v", i, w)
		}
		if len(w.Client) > MaxClient || len(w.Request) > MaxRequest || len(w.VHost) > MaxVHost || len(w.Protocol) > MaxProtocol {
			t.Errorf("worker %d: texts of %d, %d, %d, %d bytes", i, len(w.Client), len(w.Request), len(w.VHost), len(w.Protocol))
		}
		for _, text := range [][]byte{w.Client, w.Request, w.VHost, w.Protocol} {
			for _, c := range text {
				if c == 0 {
					t.Errorf("worker %d: zero byte in %q", i, text)
				}
			}
		}
		_ = w.StartTime.Add(w.Duration).Sub(w.LastUsed).String() + w.StopTime.Format(time.RFC3339)
	}
	for server := range b.layout.ServerLimit {
		n := 0
		for _, c := range b.Counts(server) {
			n += c
		}
		if n != b.layout.ThreadLimit {
			t.Errorf("server %d: %d slots counted, not %d", server, n, b.layout.ThreadLimit)
		}
	}
}

// reclaimed checks what Reclaim promises, whatever was there before.
func reclaimed(t *testing.T, b *Scoreboard, server int) {
	t.Helper()
	v := snapshot(b)
	sane(t, b, v)
	for i, w := range v.Server(server) {
		if w.Status != Dead || w.Torn || w.MyAccessCount != 0 || w.MyBytesServed != 0 || w.ConnCount != 0 || w.ConnBytes != 0 {
			t.Errorf("slot (%d,%d) after Reclaim: %+v", server, i, w)
		}
	}
	p := v.Processes[server]
	if p.PID != 0 || p.Quiescing || p.NotAccepting || p.Connections != 0 || p.Parked != 0 || p.CPUUser != 0 || p.CPUSystem != 0 || p.Torn || !p.StartTime.IsZero() {
		t.Errorf("process %d after Reclaim: %+v", server, p)
	}
	if got, want := b.Counts(server), (StatusCounts{Dead: b.layout.ThreadLimit}); got != want {
		t.Errorf("server %d after Reclaim: %v", server, got)
	}
}

// usable checks that a new child can use a slot.
func usable(t *testing.T, b *Scoreboard, server, thread int) {
	t.Helper()
	before := snapshot(b).Worker(server, thread)
	s := b.Slot(server, thread)
	s.SetReady(1)
	s.StartConnection(2, []byte("client"))
	s.StartRequest(3, []byte("GET"), []byte("/"), []byte("HTTP/1.1"), []byte("host"))
	s.EndRequest(4, 5)
	w := snapshot(b).Worker(server, thread)
	if w.Torn || w.Status != Logging || w.AccessCount != before.AccessCount+1 || w.MyAccessCount > 1 || w.ConnCount > 1 ||
		string(w.Client) != "client" || string(w.Request) != "GET / HTTP/1.1" || string(w.VHost) != "host" || string(w.Protocol) != "HTTP/1.1" {
		t.Errorf("slot (%d,%d) is not usable: %+v", server, thread, w)
	}
}

// A child writes what it likes all over the segment, header included. Who has a
// handle lives on with the layout it knows.
func TestRandomBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	fills := map[string]func() uint64{
		"random":   rnd.Uint64,
		"ones":     func() uint64 { return 1<<64 - 1 },
		"top bit":  func() uint64 { return 1 << 63 },
		"odd":      func() uint64 { return rnd.Uint64() | 1 },
		"even":     func() uint64 { return rnd.Uint64() &^ 1 },
		"small":    func() uint64 { return rnd.Uint64N(20) },
		"zero":     func() uint64 { return 0 },
		"no zeros": func() uint64 { return 0x4141414141414141 },
	}
	for name, word := range fills {
		t.Run(name, func(t *testing.T) {
			b := mustNew(t, testLayout)
			early := b.Slot(0, 0)
			var v View
			for range 50 {
				for i := 0; i < len(b.mem); i += wordSize {
					binary.LittleEndian.PutUint64(b.mem[i:], word())
				}
				b.Snapshot(&v)
				sane(t, b, &v)
				early.StartConnection(1, []byte("x"))
				early.EndRequest(2, 3)
				b.Process(1).SetCPU(1, 2)
				b.Process(1).SetPID(3, 4, 5)
				b.Process(1).Quiescing()
				b.SetTimes(Times{})
				for server := range testLayout.ServerLimit {
					b.Reclaim(server)
					reclaimed(t, b, server)
				}
				usable(t, b, 3, 1)
				if name != "zero" {
					if _, err := Attach(b.mem, nil); err == nil {
						t.Error("Attach accepts a header of any bytes")
					}
				}
				b.Restore()
				if _, err := Attach(b.mem, &testLayout); err != nil {
					t.Errorf("after Restore: %v", err)
				}
			}
		})
	}
}

// A sequence that wraps around is like any other.
func TestSequenceWraps(t *testing.T) {
	b := mustNew(t, testLayout)
	for _, seq := range []uint64{1<<64 - 1, 1<<64 - 2} {
		r := b.worker(0)
		r[workerSeq].Store(seq)
		usable(t, b, 0, 0)
		if got := r[workerSeq].Load(); got&1 != 0 {
			t.Errorf("sequence %d after %d", got, seq)
		}
		r[workerSeq].Store(seq)
		b.Reclaim(0)
		reclaimed(t, b, 0)
	}
}

// FuzzAttach gives memory of any content, of about the right size, to Attach
// and, if it is taken, uses everything.
func FuzzAttach(f *testing.F) {
	l := Layout{2, 2}
	size, err := Size(l)
	if err != nil {
		f.Fatal(err)
	}
	good := make([]byte, size)
	b, err := New(good, l, testGlobal)
	if err != nil {
		f.Fatal(err)
	}
	pattern(b.Slot(1, 1), 77)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(good[:processOffset])
	f.Add([]byte{})
	larger := append([]byte(nil), good...)
	binary.LittleEndian.PutUint64(larger[headerServerLimit*wordSize:], 3)
	f.Add(larger)
	f.Fuzz(func(t *testing.T, data []byte) {
		words := make([]uint64, (len(data)+wordSize-1)/wordSize+1) // aligned
		mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*wordSize)[:len(data)]
		copy(mem, data)
		b, err := Attach(mem, nil)
		if err != nil {
			return
		}
		sane(t, b, snapshot(b))
		heir := mustNew(t, Layout{1, 1})
		heir.Inherit(b).Catch()
		sane(t, heir, snapshot(heir))
		_ = b.Next(1, time.Unix(1, 0))
		last := b.Layout().ServerLimit - 1
		b.Reclaim(last)
		reclaimed(t, b, last)
		usable(t, b, last, b.Layout().ThreadLimit-1)
	})
}
