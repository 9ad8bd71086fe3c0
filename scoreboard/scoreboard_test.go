package scoreboard

import (
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestNewAttach(t *testing.T) {
	for _, l := range []Layout{{1, 1}, {256, 1}, {3, 20}} {
		size, err := Size(l)
		if err != nil {
			t.Fatal(err)
		}
		mem := make([]byte, size+100) // a mapping may be longer
		a, err := New(mem, l, testGlobal)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []*Layout{nil, &l} {
			b, err := Attach(mem, want)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range []*Scoreboard{a, b} {
				g := x.Global()
				if x.Layout() != l || g.Generation != testGlobal.Generation || g.BuildID != testGlobal.BuildID ||
					!g.StartTime.Equal(testGlobal.StartTime) {
					t.Errorf("%+v: layout %+v, global %+v", l, x.Layout(), g)
				}
			}
			// They are the same records.
			a.Slot(l.ServerLimit-1, l.ThreadLimit-1).SetStatus(DNS)
			if got := b.Slot(l.ServerLimit-1, l.ThreadLimit-1).Status(); got != DNS {
				t.Errorf("%+v: status is %v", l, got)
			}
		}
		for i, b := range mem[size:] {
			if b != 0 {
				t.Errorf("%+v: byte %d behind the scoreboard was written", l, i)
			}
		}
	}
}

func TestZeroStartTime(t *testing.T) {
	mem := make([]byte, 4096)
	if _, err := New(mem, Layout{1, 1}, Global{}); err != nil {
		t.Fatal(err)
	}
	b, err := Attach(mem, nil)
	if err != nil || !b.Global().StartTime.IsZero() {
		t.Errorf("start time is %v, %v", b.Global().StartTime, err)
	}
}

func TestNewRefuses(t *testing.T) {
	size, err := Size(testLayout)
	if err != nil {
		t.Fatal(err)
	}
	mem := make([]byte, size+8)
	tests := []struct {
		name string
		mem  []byte
		l    Layout
		want string
	}{
		{"no memory", nil, testLayout, "too small"},
		{"too little", mem[:size-1], testLayout, "too small"},
		{"unaligned", mem[1:], testLayout, "aligned"},
		{"unaligned by 4", mem[4:], testLayout, "aligned"},
		{"no servers", mem, Layout{0, 1}, "ServerLimit 0"},
		{"too many", mem, Layout{1 << 40, 1 << 40}, "ServerLimit"},
	}
	for _, tt := range tests {
		b, err := New(tt.mem, tt.l, testGlobal)
		if b != nil || err == nil || !strings.HasPrefix(err.Error(), "scoreboard: new: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New = %v, %v; want %q", tt.name, b, err, tt.want)
		}
	}
}

func TestAttachRefuses(t *testing.T) {
	size, err := Size(testLayout)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		hurt func(h *header)
		cut  int // bytes of memory less
		want string
	}{
		{"magic", func(h *header) { h[headerMagic].Add(1) }, 0, "magic"},
		{"all zero", func(h *header) { *h = header{} }, 0, "magic"},
		{"version", func(h *header) { h[headerVersion].Store(version + 1) }, 0, "version"},
		{"no servers", func(h *header) { h[headerServerLimit].Store(0) }, 0, "ServerLimit 0"},
		{"no threads", func(h *header) { h[headerThreadLimit].Store(0) }, 0, "ThreadLimit 0"},
		{"too many servers", func(h *header) { h[headerServerLimit].Store(MaxServerLimit + 1) }, 0, "too large"},
		{"too many threads", func(h *header) { h[headerThreadLimit].Store(MaxThreadLimit + 1) }, 0, "too large"},
		{"negative servers", func(h *header) { h[headerServerLimit].Store(1<<64 - 1) }, 0, "too large"},
		{"negative threads", func(h *header) { h[headerThreadLimit].Store(1 << 63) }, 0, "too large"},
		{"product", func(h *header) {
			h[headerServerLimit].Store(MaxServerLimit)
			h[headerThreadLimit].Store(MaxThreadLimit)
		}, 0, "more than"},
		{"other limits", func(h *header) { h[headerServerLimit].Add(1) }, 0, "size is"},
		{"other limits with their size", func(h *header) {
			h[headerServerLimit].Store(5)
			h[headerSize].Store(uint64(Layout{5, 3}.size()))
		}, 0, "too small"},
		{"fewer with their size", func(h *header) {
			h[headerServerLimit].Store(2)
			h[headerSize].Store(uint64(Layout{2, 3}.size()))
		}, 0, "not 4 of 3"},
		{"size", func(h *header) { h[headerSize].Add(8) }, 0, "size is"},
		{"process size", func(h *header) { h[headerProcessSize].Store(0) }, 0, "records are"},
		{"worker size", func(h *header) { h[headerWorkerSize].Add(128) }, 0, "records are"},
		{"short", func(*header) {}, 1, "too small"},
		{"header only", func(*header) {}, size - processOffset, "too small"},
		{"no header", func(*header) {}, size - processOffset + 1, "too small for a header"},
		{"nothing", func(*header) {}, size, "too small for a header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mem := make([]byte, size)
			if _, err := New(mem, testLayout, testGlobal); err != nil {
				t.Fatal(err)
			}
			tt.hurt((*header)(unsafe.Pointer(&mem[0])))
			b, err := Attach(mem[:size-tt.cut], &testLayout)
			if b != nil || err == nil || !strings.HasPrefix(err.Error(), "scoreboard: attach: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Attach = %v, %v; want %q", b, err, tt.want)
			}
		})
	}
	mem := make([]byte, size+8)
	if _, err := Attach(mem[4:], nil); err == nil || !strings.Contains(err.Error(), "aligned") {
		t.Errorf("unaligned: %v", err)
	}
}

func TestRestore(t *testing.T) {
	b := mustNew(t, testLayout)
	if b.Restore() {
		t.Error("an intact header was restored")
	}
	b.Slot(1, 1).SetStatus(KeepAlive)
	for i := range b.headerWords() {
		b.header()[i].Add(1)
		if !b.Restore() {
			t.Errorf("word %d: damage not found", i)
		}
		if b.Restore() {
			t.Errorf("word %d: still damaged", i)
		}
		again, err := Attach(b.mem, &testLayout)
		if err != nil || again.Global() != b.Global() {
			t.Errorf("word %d: %v", i, err)
		}
	}
	if got := b.Slot(1, 1).Status(); got != KeepAlive {
		t.Errorf("Restore changed a record: %v", got)
	}
}

func TestIndexPanics(t *testing.T) {
	b := mustNew(t, testLayout)
	v := snapshot(b)
	for name, f := range map[string]func(){
		"server -1":          func() { b.Slot(-1, 0) },
		"server 4":           func() { b.Slot(4, 0) },
		"thread -1":          func() { b.Slot(1, -1) },
		"thread 3":           func() { b.Slot(0, 3) },
		"process -1":         func() { b.Process(-1) },
		"process 4":          func() { b.Process(4) },
		"reclaim 4":          func() { b.Reclaim(4) },
		"counts 4":           func() { b.Counts(4) },
		"view server 4":      func() { v.Server(4) },
		"view thread 3":      func() { v.Worker(0, 3) },
		"view server -1":     func() { v.Worker(-1, 0) },
		"view counts server": func() { v.Counts(4) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestSetTimes(t *testing.T) {
	b := mustNew(t, testLayout)
	want := Times{time.Second, 2 * time.Millisecond, 3 * time.Hour, 4 * time.Microsecond}
	b.SetTimes(want)
	g := snapshot(b).Global
	if g.Times != want || g.Torn || g.Global != b.Global() {
		t.Errorf("global score is %+v", g)
	}
	b.SetTimes(Times{User: -time.Second, System: 1999})
	if got, want := snapshot(b).Global.Times, (Times{System: time.Microsecond}); got != want {
		t.Errorf("times are %+v, want %+v", got, want)
	}
}

func TestProcess(t *testing.T) {
	b := mustNew(t, testLayout)
	p := b.Process(2)
	if p.Quiescing() {
		t.Error("a new record is quiescing")
	}
	p.SetPID(1234, 7, 5e9)
	p.SetQuiescing(true)
	p.SetNotAccepting(true)
	p.SetConnections(30, 12)
	p.SetCPU(1500*time.Microsecond, 2*time.Second)
	want := ProcessScore{PID: 1234, Generation: 7, StartTime: time.Unix(5, 0), Quiescing: true, NotAccepting: true,
		Connections: 30, Parked: 12, CPUUser: 1500 * time.Microsecond, CPUSystem: 2 * time.Second}
	v := snapshot(b)
	for i, got := range v.Processes {
		if i == 2 && got != want || i != 2 && got != (ProcessScore{}) {
			t.Errorf("server %d: %+v", i, got)
		}
	}
	if !p.Quiescing() || !b.Process(2).Quiescing() {
		t.Error("not quiescing")
	}
	p.SetQuiescing(false)
	p.SetNotAccepting(false)
	p.SetPID(-1, 8, 0)
	want.Quiescing, want.NotAccepting, want.PID, want.Generation, want.StartTime = false, false, 0, 8, time.Time{}
	if b.Snapshot(v); v.Processes[2] != want {
		t.Errorf("%+v, want %+v", v.Processes[2], want)
	}
}
