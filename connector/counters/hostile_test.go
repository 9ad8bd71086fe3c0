package counters

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// sane checks what holds for any bytes at all, and uses everything.
func sane(t *testing.T, tab *Table) {
	t.Helper()
	cache := func(c *Cache) {
		for _, n := range append(c.Closed[:], c.Hits, c.Misses, c.Refused, c.Opened) {
			if n > math.MaxInt64 {
				t.Errorf("%d is out of bounds", n)
			}
		}
		if c.Idle < 0 || c.Busy < 0 || c.Idle > maxGauge*tab.servers || c.Busy > maxGauge*tab.servers || c.Oldest.After(time.Now()) || c.Idle == 0 && !c.Oldest.IsZero() {
			t.Errorf("cache %+v", c)
		}
	}
	for w, name := range tab.Workers() {
		if len(name.Name) > MaxName || len(name.Connector) > MaxConnector {
			t.Errorf("name %q", name)
		}
		s := tab.Totals(w)
		if s.Duration < 0 {
			t.Errorf("duration %v", s.Duration)
		}
		for _, n := range append(append(s.Requests[:], s.Durations[:]...), s.Bytes, s.Errors) {
			if n > math.MaxInt64 {
				t.Errorf("%d is out of bounds", n)
			}
		}
		cache(&s.Cache)
		for server := range tab.servers {
			c := tab.Child(server, w)
			cache(&c)
		}
	}
	for d := range NumDeaths {
		_ = tab.Deaths(d)
	}
	h := tab.History()
	for i, s := range h {
		if i > 0 && s.Unix <= h[i-1].Unix || s.Unix <= 0 || s.Duration < 0 || s.Busy < 0 || s.Idle < 0 {
			t.Errorf("second %d: %+v", i, s)
		}
	}
	if len(h) > HistorySeconds {
		t.Errorf("%d seconds", len(h))
	}
}

// A child writes what it likes all over the memory. Who has a table lives on
// with the layout it knows, the sums do not go back and successors can attach.
func TestRandomBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for name, word := range map[string]func() uint64{
		"random":  rnd.Uint64,
		"ones":    func() uint64 { return math.MaxUint64 },
		"top bit": func() uint64 { return 1 << 63 },
		"odd":     func() uint64 { return rnd.Uint64() | 1 },
		"even":    func() uint64 { return rnd.Uint64() &^ 1 },
		"small":   func() uint64 { return rnd.Uint64N(400) },
		"zero":    func() uint64 { return 0 },
		"text":    func() uint64 { return 0x4141414141414141 },
	} {
		t.Run(name, func(t *testing.T) {
			tab := mustFormat(t, 3, names...)
			r := tab.Record(1, "jk", "a")
			for range 20 {
				for i := 0; i < len(tab.mem); i += wordSize {
					binary.LittleEndian.PutUint64(tab.mem[i:], word())
				}
				sane(t, tab)
				tab.PutSecond(Second{Unix: 1})
				r.Request(200, false, time.Second, 1)
				r.AddIdle(1, time.Now())
				if _, err := Attach(tab.mem); err == nil {
					t.Error("Attach takes a header of any bytes")
				}
				before := tab.Totals(1)
				for server := range tab.servers {
					tab.Reclaim(server)
				}
				after := tab.Totals(1)
				if after.Requests != before.Requests || after.Bytes != before.Bytes || after.Cache.Opened != before.Cache.Opened || after.Cache.Idle != 0 {
					t.Errorf("Reclaim: %+v became %+v", before, after)
				}
				again, err := Attach(tab.mem)
				if err != nil {
					t.Fatal(err)
				}
				sane(t, again)
				if again.Record(1, "jk", "a") != r {
					t.Error("the names are not what they were")
				}
			}
		})
	}
}

// FuzzAttach gives memory of any content to Attach and, if it is taken, uses
// everything.
func FuzzAttach(f *testing.F) {
	l := NewLayout(2, names)
	n, err := Size(l)
	if err != nil {
		f.Fatal(err)
	}
	good := memory(n)
	tab, err := Format(good, l)
	if err != nil {
		f.Fatal(err)
	}
	tab.Record(1, "jk", "a").Request(200, false, 1, 1)
	f.Add(good)
	f.Add(good[:n-1])
	f.Add(good[:namesOffset])
	f.Add([]byte{})
	larger := append([]byte(nil), good...)
	binary.LittleEndian.PutUint64(larger[headerServers*wordSize:], 3)
	f.Add(larger)
	f.Fuzz(func(t *testing.T, data []byte) {
		mem := memory(len(data))
		copy(mem, data)
		tab, err := Attach(mem)
		if err != nil {
			return
		}
		sane(t, tab)
		heir := mustFormat(t, 1, names...)
		heir.Inherit(tab).Catch()
		sane(t, heir)
		tab.Record(tab.servers-1, "jk", "a").Hit()
		tab.Reclaim(tab.servers - 1)
		tab.PutSecond(Second{Unix: 3})
		sane(t, tab)
	})
}
