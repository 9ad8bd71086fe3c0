package jkshm

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"jkd/connector/jk/balance"
)

// sane reads everything there is and checks that it is in its range.
func sane(t *testing.T, s *Segment) {
	t.Helper()
	gauge := func(what string, n int) {
		t.Helper()
		if n < 0 || n > MaxGauge {
			t.Errorf("%s is %d", what, n)
		}
	}
	times := func(what string, all []Time) {
		t.Helper()
		for i, x := range all {
			if v := x.Load(); v < 0 || v > MaxTime {
				t.Errorf("%s: time %d is %d", what, i, v)
			}
		}
	}
	// What comes out must be allowed in.
	inRange := func(what string, c configurable) {
		t.Helper()
		if err := encode(c, make([]uint64, workerConfigWords)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.Edits()
	for i := range s.Workers() {
		w := s.Worker(i)
		gauge("busy", w.Busy())
		gauge("connected", w.Connected())
		gauge("most busy", w.MaxBusy())
		gauge("most connected", w.MaxConnected())
		for server := range s.layout.Servers {
			b, c := w.Held(server)
			gauge("held requests", b)
			gauge("held connections", c)
		}
		if w.State() >= workerStates {
			t.Errorf("state %d", w.State())
		}
		times("worker", w.times())
		for _, c := range w.counters() {
			c.Load()
		}
		x := workerSettings(w)
		inRange("worker", &x)
		if len(x.Host) > MaxHost || x.Port < 0 || x.Port > 65535 || x.Retries < 1 || x.ReplyTimeout < 0 || x.ReplyTimeout > MaxDuration ||
			x.MaxPacketSize < MinPacketSize || x.MaxPacketSize > MaxPacketSize || x.MaxPacketSize%PacketStep != 0 || x.RecoveryOptions > 31 {
			t.Errorf("worker: %+v", x)
		}
		a := addresses(w)
		inRange("addresses", &a)
		for _, addr := range a.List {
			if !addr.IsValid() || len(addr.String()) > 100 {
				t.Errorf("address %v", addr)
			}
		}
		w.AddressGeneration()
		w.Edited()
	}
	for i := range s.Balancers() {
		b := s.Balancer(i)
		times("balancer", b.times())
		x := balancerSettings(b)
		inRange("balancer", &x)
		if !x.Method.Valid() || !x.Lock.Valid() || x.RecoverTime < time.Second {
			t.Errorf("balancer: %+v", x)
		}
		if n := b.Next(); n < 0 || n >= max(1, b.Members()) {
			t.Errorf("next is %d of %d", n, b.Members())
		}
		b.Edited()
		for j := range b.Members() {
			m := b.Member(j)
			times("member", m.times())
			if !m.State().Valid() {
				t.Errorf("state %d", m.State())
			}
			if server, since, ok := m.Probe(); ok && (server < 0 || server >= s.layout.Servers || since < 0 || since > 1<<32) {
				t.Errorf("probe of %d since %d", server, since)
			}
			x := memberSettings(m)
			inRange("member", &x)
			if len(x.Route) > MaxName || strings.Contains(x.Route, "\x00") || x.LBFactor < 1 || !x.Activation.Valid() {
				t.Errorf("member: %+v", x)
			}
			m.Edited()
		}
	}
	for k := range s.Maps() {
		if text, _, _, ok := s.Map(k).Load(nil); ok && len(text) > s.Map(k).Size() {
			t.Errorf("map %d has %d bytes", k, len(text))
		}
	}
}

// exercise uses everything that writes, as server; nothing may crash.
func exercise(t *testing.T, s *Segment, server int) {
	t.Helper()
	var locked *LockedError
	edited := func(err error) {
		t.Helper()
		if err != nil && !errors.As(err, &locked) {
			t.Error(err)
		}
	}
	for i := range s.Workers() {
		w := s.Worker(i)
		w.Enter(server)
		w.TryEnter(server, 5)
		w.Leave(server)
		w.Opened(server)
		w.TryOpen(server, 1)
		w.Closed(server)
		w.SetState(WorkerProbe)
		w.CompareAndSwapState(WorkerProbe, WorkerError)
		w.Suspect()
		w.TakeSuspect()
		w.Used.Add(1)
		w.ReplyTimeouts.Shift(1)
		edited(w.Update(server, func(s *WorkerSettings) error { s.Host += "x"; s.Host = s.Host[len(s.Host)-1:]; return nil }))
		edited(w.SetAddresses(server, testAddresses))
	}
	for i := range s.Balancers() {
		b := s.Balancer(i)
		edited(b.Lock(server))
		b.Unlock(server)
		b.SetNext(1)
		edited(b.Update(server, func(s *BalancerSettings) error { s.StickySession = !s.StickySession; return nil }))
		for j := range b.Members() {
			m := b.Member(j)
			m.CompareAndSwapState(balance.Error, balance.Recover)
			m.TryProbe(server, 1)
			m.EndProbe(server, balance.OK)
			m.LBValue.Add(3)
			m.LBValue.Sub(7)
			edited(m.Update(server, func(s *MemberSettings) error { s.LBFactor = s.LBFactor%10 + 1; return nil }))
		}
	}
	for k := range s.Maps() {
		if err := s.Map(k).Publish([]byte("/a=a\n"), 1); err != nil {
			t.Error(err)
		}
	}
	s.Settle()
}

// usable checks that, after all servers were reclaimed, the segment works as if
// nothing had happened.
func usable(t *testing.T, s *Segment) {
	t.Helper()
	for server := range s.layout.Servers {
		s.Reclaim(server)
	}
	s.Settle()
	for i := range s.Workers() {
		w := s.Worker(i)
		if w.Busy() != 0 || w.Connected() != 0 {
			t.Errorf("worker %d after Reclaim: %d, %d", i, w.Busy(), w.Connected())
		}
		w.Reset(1)
		w.Enter(1)
		if !w.TryOpen(1, 1) || w.TryOpen(0, 1) || w.Busy() != 1 || w.MaxBusy() != 1 || w.Connected() != 1 || w.MaxConnected() != 1 {
			t.Errorf("worker %d is not usable: %d, %d; %d, %d", i, w.Busy(), w.MaxBusy(), w.Connected(), w.MaxConnected())
		}
		if err := w.SetAddresses(Master, testAddresses); err != nil {
			t.Error(err)
		}
		same(t, "addresses", addresses(w), testAddresses)
		w.Leave(1)
		w.Closed(1)
	}
	for i := range s.Balancers() {
		for j := range s.Balancer(i).Members() {
			m := s.Balancer(i).Member(j)
			if server, _, ok := m.Probe(); ok {
				t.Errorf("server %d is probing after Reclaim", server)
			}
			if err := m.Update(1, func(s *MemberSettings) error { *s = testMember; return nil }); err != nil {
				t.Error(err)
			}
			same(t, "member", memberSettings(m), testMember)
		}
	}
	for k := range s.Maps() {
		if err := s.Map(k).Publish([]byte("/b=b"), 2); err != nil {
			t.Error(err)
		}
		if text, _, _, ok := s.Map(k).Load(nil); !ok || string(text) != "/b=b" {
			t.Errorf("map %d: %q, %v", k, text, ok)
		}
	}
}

// F085: a child writes what it likes all over the segment, header included. Who has a
// handle lives on with the layout it knows.
func TestF085RandomBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	fills := map[string]func() uint64{
		"random":   rnd.Uint64,
		"ones":     func() uint64 { return 1<<64 - 1 },
		"top bit":  func() uint64 { return 1 << 63 },
		"small":    func() uint64 { return rnd.Uint64N(20) },
		"zero":     func() uint64 { return 0 },
		"no zeros": func() uint64 { return 0x4141414141414141 },
		"any size": func() uint64 { return rnd.Uint64N(1 << rnd.UintN(64)) },
	}
	for name, word := range fills {
		t.Run(name, func(t *testing.T) {
			s := mustFormat(t, testLayout())
			s.Sleep = func(time.Duration) {}
			other := mustFormat(t, testLayout())
			fill := func() {
				for i := 0; i < len(s.mem); i += wordSize {
					binary.LittleEndian.PutUint64(s.mem[i:], word())
				}
			}
			for range 20 {
				fill()
				sane(t, s)
				if name != "zero" {
					if _, err := AttachAny(s.mem); err == nil {
						t.Error("attached to a header of any bytes")
					}
				}
				other.Carry(s)
				sane(t, other)
				exercise(t, s, 2)
				sane(t, s)
				fill()
				s.Restore()
				mustAttach(t, s)
				usable(t, s)
				sane(t, s)
			}
		})
	}
}

// FuzzAttach gives memory of any content, of about the right size, to AttachAny
// and, if it is taken, uses everything.
func FuzzAttach(f *testing.F) {
	l := Layout{Servers: 2, Workers: []WorkerLayout{{"a"}, {"b"}}, Balancers: []BalancerLayout{{"lb", []int{1}}}, Maps: []int{20}}
	good := mustFormat(f, l)
	f.Add(good.mem)
	f.Add(good.mem[:len(good.mem)-1])
	f.Add(good.mem[:globalOffset+globalLength*wordSize])
	f.Add([]byte{})
	scribbled := append([]byte(nil), good.mem...)
	for i := int(good.place.workers); i < len(scribbled); i += 3 {
		scribbled[i] ^= byte(i)
	}
	f.Add(scribbled)
	f.Fuzz(func(t *testing.T, data []byte) {
		mem := memory(len(data))
		copy(mem, data)
		s, err := AttachAny(mem)
		if err != nil {
			// What is behind a header that is right may be anything all the same.
			if len(data) < len(good.mem) {
				return
			}
			mem = memory(len(good.mem))
			copy(mem, data)
			copy(mem, good.mem[:good.place.workers])
			if s, err = AttachAny(mem); err != nil {
				t.Fatal(err)
			}
		}
		s.Sleep = func(time.Duration) {}
		sane(t, s)
		mustFormat(t, l).Carry(s)
		heir := mustFormat(t, l)
		i := heir.Inherit(s)
		exercise(t, s, s.layout.Servers-1)
		i.Catch()
		sane(t, heir)
		sane(t, s)
		if s.layout.Servers > 1 {
			usable(t, s)
		}
	})
}
