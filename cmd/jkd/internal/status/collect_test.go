package status

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"jkd/connector/counters"
	"jkd/scoreboard"
)

// words is zeroed memory at an address as shared memory has it.
func words(n int) []byte {
	w := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), len(w)*8)[:n]
}

// boardStart is when the scoreboards of the tests began.
var boardStart = time.Unix(1_700_000_000, 0)

func newBoard(t testing.TB, servers, threads int) (*scoreboard.Scoreboard, []byte) {
	t.Helper()
	l := scoreboard.Layout{ServerLimit: servers, ThreadLimit: threads}
	size, err := scoreboard.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	mem := words(size)
	b, err := scoreboard.New(mem, l, scoreboard.Global{Generation: 2, StartTime: boardStart})
	if err != nil {
		t.Fatal(err)
	}
	return b, mem
}

func newTable(t testing.TB, servers int) (*counters.Table, []byte) {
	t.Helper()
	l := counters.NewLayout(servers, []counters.WorkerName{{Name: "a", Connector: "jk"}, {Name: "b", Connector: "jk2"}})
	size, err := counters.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	mem := words(size)
	table, err := counters.Format(mem, l)
	if err != nil {
		t.Fatal(err)
	}
	return table, mem
}

// after is so many seconds after boardStart, as slots want it.
func after(seconds int) int64 { return boardStart.Add(time.Duration(seconds) * time.Second).UnixNano() }

func newCollector(b *scoreboard.Scoreboard, limits Limits) *Collector {
	return &Collector{Board: b, Server: Server{Extended: true}, Limits: limits, Now: func() time.Time { return time.Unix(0, after(100)) }}
}

func letters(s *Status) string {
	var b strings.Builder
	for i := range s.Slots {
		b.WriteByte(s.Slots[i].Status.Letter())
	}
	return b.String()
}

// Which slots are shown, and which count as busy, graceful and idle.
func TestCollectCounts(t *testing.T) {
	limits := Limits{ServerLimit: 4, ThreadLimit: 3, ThreadsPerChild: 2, MaxRequestWorkers: 6}
	for _, tt := range []struct {
		name                 string
		servers              []string // the letters of each, upper-case prefix: o old generation, q quiescing, - no pid
		board                string
		busy, graceful, idle int
	}{
		{"nothing", nil, "......", 0, 0, 0},
		{"one child", []string{"_W"}, "_W....", 1, 0, 1},
		{"all letters", []string{"_S", "RW", "KL", "CG"}, "_SRWKLCG", 5, 1, 1},
		{"beyond the limits only what is in use", []string{"__R", "", "", "_.."}, "__R...._", 1, 0, 3},
		{"old generation: idle ones are not counted", []string{"o_WG"}, "_WG....", 1, 1, 0},
		{"quiescing: none is", []string{"q_WG"}, "_WG....", 0, 0, 0},
		{"no process: none is", []string{"-_W"}, "_W....", 0, 0, 0},
	} {
		b, _ := newBoard(t, 4, 3)
		for i, s := range tt.servers {
			generation := uint32(2)
			switch pid := 100 + i; {
			case strings.HasPrefix(s, "-"):
			case strings.HasPrefix(s, "o"):
				generation = 1
				fallthrough
			default:
				b.Process(i).SetPID(pid, generation, after(0))
				b.Process(i).SetQuiescing(strings.HasPrefix(s, "q"))
			}
			for j, c := range strings.TrimLeft(s, "-oq") {
				for st := range scoreboard.Status(scoreboard.NumStatus) {
					if rune(st.Letter()) == c {
						b.Slot(i, j).SetStatus(st)
					}
				}
			}
		}
		s := newCollector(b, limits).Snapshot()
		if got := letters(s); got != tt.board {
			t.Errorf("%s: board %q, want %q", tt.name, got, tt.board)
		}
		if x := s.Totals; x.Busy != tt.busy || x.Graceful != tt.graceful || x.Idle != tt.idle {
			t.Errorf("%s: %d busy, %d graceful, %d idle", tt.name, x.Busy, x.Graceful, x.Idle)
		}
	}
}

func TestCollectSlot(t *testing.T) {
	b, _ := newBoard(t, 2, 1)
	b.Process(1).SetPID(77, 2, after(10))
	b.Process(1).SetCPU(time.Second, time.Second/2)
	b.SetTimes(scoreboard.Times{User: time.Second, System: time.Second, ChildrenUser: 2 * time.Second, ChildrenSystem: 3 * time.Second})
	slot := b.Slot(1, 0)
	slot.SetReady(after(11))
	slot.StartConnection(after(90), []byte("192.0.2.7"))
	slot.StartRequest(after(91), []byte("GET"), []byte("/a?password=x"), []byte("HTTP/1.1"), []byte("www:80"))
	slot.EndRequest(after(93), 1000)
	c := newCollector(b, Limits{ThreadsPerChild: 1, MaxRequestWorkers: 2})
	s := c.Snapshot()
	x := s.Slots[1]
	want := Slot{
		Server: 1, PID: 77, Generation: 2, Current: true, Status: scoreboard.Logging, ConnAccesses: 1, ChildAccesses: 1, SlotAccesses: 1,
		ConnBytes: 1000, ChildBytes: 1000, SlotBytes: 1000, CPU: 1500 * time.Millisecond, SinceLastUsed: 7 * time.Second, LastRequest: 2 * time.Second,
		Duration: 2 * time.Second, Client: "192.0.2.7", Protocol: "HTTP/1.1", VHost: "www:80", Request: "GET /a HTTP/1.1",
	}
	if x != want {
		t.Errorf("slot %+v,\nwant %+v", x, want)
	}
	if tot := s.Totals; tot.Accesses != 1 || tot.Bytes != 1000 || tot.Duration != 2*time.Second ||
		tot.CPU != (scoreboard.Times{User: 2 * time.Second, System: 1500 * time.Millisecond, ChildrenUser: 2 * time.Second, ChildrenSystem: 3 * time.Second}) {
		t.Errorf("totals %+v", tot)
	}
	if len(s.Children) != 1 || s.Children[0].Server != 1 || s.Children[0].PID != 77 || s.Children[0].Accesses != 1 || s.Children[0].Busy != 1 || s.Children[0].CPU != 1500*time.Millisecond {
		t.Errorf("children %+v", s.Children)
	}
	if s.Server.Uptime() != 100*time.Second || s.Server.Generation != 2 {
		t.Errorf("server %+v", s.Server)
	}
	c.ShowQueryStrings = true
	if got := c.Snapshot().Slots[1].Request; got != "GET /a?password=x HTTP/1.1" {
		t.Errorf("with queries: %q", got)
	}
	c.Fill(s, false)
	if x := s.Slots[1]; x.Request != "" || x.SlotAccesses != 1 {
		t.Errorf("without texts: %+v", x)
	}
	c.Server.Extended = false
	if x := c.Snapshot().Slots[1]; x != (Slot{Server: 1, PID: 77, Generation: 2, Current: true, Status: scoreboard.Logging}) {
		t.Errorf("without ExtendedStatus: %+v", x)
	}

	// What the slot has counted stays when its child is gone.
	b.Reclaim(1)
	if s = c.Snapshot(); s.Totals.Accesses != 1 || s.Totals.Bytes != 1000 || len(s.Children) != 0 || letters(s) != ".." {
		t.Errorf("after the child's death: %+v, board %q", s.Totals, letters(s))
	}
}

func TestRequestLine(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"GET /a HTTP/1.1", "GET /a HTTP/1.1"},
		{"GET /a?b HTTP/1.1", "GET /a HTTP/1.1"},
		{"GET /a?b c?d HTTP/1.1", "GET /a HTTP/1.1"},
		{"GET /a?token=abc", "GET /a"}, // cut
		{"?", ""},
		{"", ""},
	} {
		hide, show := texts{hideQuery: true}, texts{}
		if got := hide.request([]byte(tt.line)); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
		if got := show.request([]byte(tt.line)); got != tt.line {
			t.Errorf("%q: %q", tt.line, got)
		}
	}
}

func TestCollectCounters(t *testing.T) {
	b, _ := newBoard(t, 3, 1)
	table, _ := newTable(t, 3)
	for i := range 2 {
		b.Process(i).SetPID(100+i, 2, after(0))
		r := table.Record(i, "jk", "a")
		r.Miss()
		r.Opened()
		r.Hit()
		r.AddIdle(1, boardStart)
		r.Request(200, false, time.Millisecond, 10)
	}
	table.Record(1, "", "-").Request(404, false, 0, 0)
	table.Record(1, "jk2", "b").Refused()
	table.CountStart()
	table.CountDeath(counters.DeathKilled)
	table.CountCut(6)
	table.PutSecond(counters.Second{Unix: 1, Requests: 2})
	c := newCollector(b, Limits{ThreadsPerChild: 1, MaxRequestWorkers: 3})
	c.Counters = table
	c.Balancers = func() []Balancer { return []Balancer{{Name: "lb"}} }
	s := c.Snapshot()
	if len(s.Workers) != 3 || s.Workers[0].Name != "-" || s.Workers[1].Name != "a" || s.Workers[1].Requests[counters.Class2xx] != 2 || s.Workers[1].Cache.Idle != 2 ||
		s.Workers[2].Name != "b" || s.Workers[2].Connector != "jk2" {
		t.Errorf("workers %+v", s.Workers)
	}
	if len(s.Children) != 2 || len(s.Children[0].Caches) != 1 || s.Children[0].Caches[0].Worker != "a" || s.Children[0].Caches[0].Hits != 1 || len(s.Children[1].Caches) != 2 {
		t.Errorf("children %+v", s.Children)
	}
	if s.Events.Starts != 1 || s.Events.Cut != 6 || len(s.Events.Deaths) != int(counters.NumDeaths) || s.Events.Deaths[counters.DeathKilled] != (Death{"killed", 1}) {
		t.Errorf("events %+v", s.Events)
	}
	if len(s.History) != 1 || len(s.Balancers) != 1 {
		t.Errorf("history %+v, balancers %+v", s.History, s.Balancers)
	}
	// Into the same memory again, when one child is gone and its sums are not.
	b.Reclaim(0)
	table.Reclaim(0)
	c.Fill(s, true)
	if len(s.Children) != 1 || s.Children[0].PID != 101 || len(s.Children[0].Caches) != 2 || s.Workers[1].Requests[counters.Class2xx] != 2 || s.Workers[1].Cache.Idle != 1 {
		t.Errorf("after a death: children %+v, workers %+v", s.Children, s.Workers)
	}
}

// Whatever is in the memory, there is a snapshot and every form of it.
func TestCollectHostile(t *testing.T) {
	b, mem := newBoard(t, 5, 4)
	table, tableMem := newTable(t, 5)
	c := newCollector(b, Limits{ThreadsPerChild: 4, MaxRequestWorkers: 20})
	c.Counters = table
	random := rand.New(rand.NewPCG(1, 2))
	scribble := func(m []byte, some int) {
		for i := range m {
			if random.IntN(some) == 0 {
				m[i] = byte(random.Uint32())
			}
		}
	}
	var s Status
	for round := range 200 {
		scribble(mem, 1+round%20)
		scribble(tableMem, 1+round%20)
		if round%10 == 9 {
			for i := range mem {
				mem[i] = 0xff
			}
			for i := range tableMem {
				tableMem[i] = 0xff
			}
		}
		c.Fill(&s, true)
		if len(s.Slots) > 20 || len(s.Children) > 5 || s.Totals.Busy+s.Totals.Idle+s.Totals.Graceful > 20 {
			t.Fatalf("%d slots, %d children, %+v", len(s.Slots), len(s.Children), s.Totals)
		}
		for name, write := range map[string]func(io.Writer, *Status) error{
			"auto": WriteAuto, "text": WriteText, "json": WriteJSON, "metrics": WriteMetrics,
			"html": func(w io.Writer, s *Status) error { return WriteHTML(w, s, HTMLOptions{}) },
		} {
			var out bytes.Buffer
			if err := write(&out, &s); err != nil || out.Len() == 0 {
				t.Errorf("%s: %v, %d bytes", name, err, out.Len())
			}
		}
	}
}

// Snapshots may be made at the same time as others, and as children write.
func TestCollectConcurrent(t *testing.T) {
	b, _ := newBoard(t, 4, 4)
	c := newCollector(b, Limits{ThreadsPerChild: 4, MaxRequestWorkers: 16})
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		b.Process(i).SetPID(100+i, 2, after(0))
		writers.Go(func() {
			slot := b.Slot(i, 0)
			for {
				select {
				case <-done:
					return
				default:
					slot.StartConnection(after(1), []byte("192.0.2.1"))
					slot.StartRequest(after(1), []byte("GET"), []byte("/a?b"), []byte("HTTP/1.1"), []byte("www:80"))
					slot.EndRequest(after(1), 1)
				}
			}
		})
	}
	for range 3 {
		readers.Go(func() {
			var s Status
			var last uint64
			for range 300 {
				c.Fill(&s, true)
				if s.Totals.Accesses < last {
					t.Errorf("%d accesses after %d", s.Totals.Accesses, last)
				}
				last = s.Totals.Accesses
				for i := range s.Slots {
					if x := &s.Slots[i]; !x.Torn && x.Client != "" && x.Client != "192.0.2.1" || strings.Contains(x.Request, "?") {
						t.Errorf("slot %+v", x)
					}
				}
			}
		})
	}
	readers.Wait()
	close(done)
	writers.Wait()
}

// A snapshot costs a few pieces of memory, however many slots there are.
func TestCollectAllocations(t *testing.T) {
	b, _ := newBoard(t, 256, 64)
	for i := range 256 {
		b.Process(i).SetPID(100+i, 2, after(0))
		for j := range 64 {
			slot := b.Slot(i, j)
			slot.StartConnection(after(1), []byte("192.0.2.1"))
			slot.StartRequest(after(1), []byte("GET"), []byte("/some/path?query"), []byte("HTTP/1.1"), []byte("www.example.com:80"))
		}
	}
	c := newCollector(b, Limits{ThreadsPerChild: 64, MaxRequestWorkers: 256 * 64})
	var s Status
	c.Fill(&s, true)
	for full, most := range map[bool]float64{false: 4, true: 8} {
		if n := testing.AllocsPerRun(5, func() { c.Fill(&s, full) }); n > most {
			t.Errorf("full %v: %v allocations", full, n)
		}
	}
	if len(s.Slots) != 256*64 {
		t.Errorf("%d slots", len(s.Slots))
	}
}

func TestAddTimes(t *testing.T) {
	const most = time.Duration(1<<63 - 1)
	for _, tt := range []struct{ a, b, want time.Duration }{{1, 2, 3}, {most, 1, most}, {most, most, most}, {-5, 2, 2}, {0, 0, 0}} {
		if got := addTimes(tt.a, tt.b); got != tt.want {
			t.Errorf("%d + %d = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
	if got := add(1<<64-1, 1<<64-1); got != 1<<63-1 {
		t.Errorf("the largest sum is %d", got)
	}
}

func BenchmarkCollect(b *testing.B) {
	for _, bb := range []struct {
		name             string
		servers, threads int
		full             bool
	}{{"prefork256", 256, 1, false}, {"worker16x25", 16, 25, false}, {"worker16x25full", 16, 25, true}, {"worker256x64", 256, 64, false}} {
		b.Run(bb.name, func(b *testing.B) {
			board, _ := newBoard(b, bb.servers, bb.threads)
			c := newCollector(board, Limits{ThreadsPerChild: bb.threads, MaxRequestWorkers: bb.servers * bb.threads})
			var s Status
			b.ReportAllocs()
			for b.Loop() {
				c.Fill(&s, bb.full)
			}
		})
	}
}

// The totals are of all generations since the start of the server.
func TestCollectInherited(t *testing.T) {
	old, _ := newBoard(t, 2, 1)
	slot := old.Slot(1, 0)
	slot.StartRequest(after(1), []byte("GET"), []byte("/"), []byte("HTTP/1.1"), nil)
	slot.EndRequest(after(3), 100)
	old.SetTimes(scoreboard.Times{User: time.Second, ChildrenSystem: 2 * time.Second})
	b, _ := newBoard(t, 1, 1)
	b.Inherit(old)
	b.SetTimes(scoreboard.Times{User: 4 * time.Second, ChildrenUser: 8 * time.Second})
	slot = b.Slot(0, 0)
	slot.StartRequest(after(5), []byte("GET"), []byte("/"), []byte("HTTP/1.1"), nil)
	slot.EndRequest(after(6), 10)
	got := newCollector(b, Limits{}).Snapshot().Totals
	got.Busy, got.Graceful, got.Idle = 0, 0, 0
	want := Totals{Accesses: 2, Bytes: 110, Duration: 3 * time.Second,
		CPU: scoreboard.Times{User: 4 * time.Second, ChildrenUser: 9 * time.Second, ChildrenSystem: 2 * time.Second}}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
