package jkshm

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

func TestFormatAttach(t *testing.T) {
	s := mustFormat(t, testLayout())
	for name, attach := range map[string]func() (*Segment, error){
		"Attach":    func() (*Segment, error) { return Attach(s.mem, testLayout()) },
		"AttachAny": func() (*Segment, error) { return AttachAny(s.mem) },
	} {
		c, err := attach()
		if err != nil {
			t.Fatal(name, err)
		}
		same(t, name+" layout", c.Layout(), testLayout())
		if c.Token() != s.Token() || c.Token() == [16]byte{} {
			t.Errorf("%s: tokens %x and %x", name, c.Token(), s.Token())
		}
		if c.Workers() != 3 || c.Balancers() != 2 || c.Maps() != 2 || c.Balancer(0).Members() != 2 || c.Map(1).Size() != 1000 {
			t.Errorf("%s: wrong counts", name)
		}
		if c.Worker(2).Name() != "alone" || c.Balancer(1).Name() != "other" || c.Balancer(1).Member(0).Name() != "b" {
			t.Errorf("%s: wrong names", name)
		}
		// The records are the same memory.
		s.Balancer(1).Member(0).Worker().Used.Add(1)
		if s.Worker(1).Used.Load() != c.Worker(1).Used.Load() {
			t.Errorf("%s: not the same record", name)
		}
	}
	if other := mustFormat(t, testLayout()); other.Token() == s.Token() {
		t.Error("two segments have the same token")
	}
	if _, err := Format(s.mem, testLayout()); err == nil {
		t.Error("memory in use was formatted")
	}
}

// No two records overlap: each is filled with its own number and then found so.
func TestRecordsApart(t *testing.T) {
	s := mustFormat(t, testLayout())
	n := byte(0)
	var parts [][]byte
	part := func(at, size int64) {
		n++
		p := s.mem[at : at+size]
		if at%line != 0 {
			t.Errorf("part %d begins at %d", n, at)
		}
		copy(p, bytes.Repeat([]byte{n}, len(p)))
		parts = append(parts, p)
	}
	p := s.place
	part(0, globalOffset)
	part(globalOffset, globalLength*wordSize)
	part(p.directory, int64(len(s.layout.directoryWords())*wordSize))
	for i := range s.workers {
		part(p.workers+int64(i)*workerLength*wordSize, workerLength*wordSize)
	}
	for i := range 2 * len(s.workers) {
		part(p.cells+int64(i)*p.cellsSize, p.cellsSize)
	}
	for i := range s.balancers {
		part(p.balancers+int64(i)*up(balancerLength*wordSize), balancerLength*wordSize)
	}
	for i := range s.layout.members() {
		part(p.members+int64(i)*up(memberLength*wordSize), memberLength*wordSize)
	}
	at := p.maps
	for _, size := range s.layout.Maps {
		part(at, mapSize(size))
		at += mapSize(size)
	}
	if at != p.end || int(at) != len(s.mem) {
		t.Errorf("parts end at %d, the segment at %d", at, p.end)
	}
	for i, p := range parts {
		if bytes.Count(p, []byte{byte(i + 1)}) != len(p) {
			t.Errorf("part %d was overwritten", i+1)
		}
	}
}

func TestAttachRefuses(t *testing.T) {
	good := mustFormat(t, testLayout())
	damaged := func(word int, v uint64) []byte {
		mem := memory(len(good.mem))
		copy(mem, good.mem)
		binary.LittleEndian.PutUint64(mem[word*wordSize:], v)
		return mem
	}
	first := int(good.place.directory) / wordSize
	tests := []struct {
		name string
		mem  []byte
		want string
	}{
		{"empty", nil, "too small for a header"},
		{"short", good.mem[:200], "too small for a header"},
		{"cut in the directory", good.mem[:globalOffset+globalLength*wordSize+8], "too small for a directory"},
		{"cut", good.mem[:len(good.mem)-1], "too small for"},
		{"magic", damaged(headerMagic, 1), "magic"},
		{"version", damaged(headerVersion, 99), "version"},
		{"size", damaged(headerSize, 1), "size"},
		{"hash", damaged(headerHash, 1), "hash"},
		{"servers", damaged(headerServers, 0), "servers"},
		{"more servers", damaged(headerServers, 40000), "size"},
		{"many servers", damaged(headerServers, 1<<63), "more than"},
		{"many workers", damaged(headerWorkers, 1<<63), "more than"},
		{"members", damaged(headerMembers, 2), "more members"},
		{"fewer members", damaged(headerMembers, 4), "fewer members"},
		{"no name", damaged(first, 0), "has 0 bytes"},
		{"same name", damaged(first, 'b'), "twice"},
		{"another name", damaged(first, 'c'), "hash"},
		{"member", damaged(first+3*directoryWorker+2*directoryBalancer, 3), "is worker 3 of 3"},
		{"members of a balancer", damaged(first+3*directoryWorker+textWords, 1<<63), "more members"},
		{"map", damaged(first+3*directoryWorker+2*directoryBalancer+3, 1<<40), "map file"},
	}
	for _, tt := range tests {
		for name, attach := range map[string]func() (*Segment, error){
			"Attach":    func() (*Segment, error) { return Attach(tt.mem, testLayout()) },
			"AttachAny": func() (*Segment, error) { return AttachAny(tt.mem) },
		} {
			if _, err := attach(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s %s: %v; want %q", name, tt.name, err, tt.want)
			}
		}
	}
	other := testLayout()
	other.Workers[0].Name = "c"
	if _, err := Attach(good.mem, other); err == nil || !strings.Contains(err.Error(), "another layout") {
		t.Errorf("another layout: %v", err)
	}
	mem := memory(len(good.mem) + 8)[1:]
	copy(mem, good.mem)
	if _, err := AttachAny(mem); err == nil || !strings.Contains(err.Error(), "aligned") {
		t.Errorf("not aligned: %v", err)
	}
	if _, err := Format(memory(len(good.mem)-1), testLayout()); err == nil {
		t.Error("formatted what is too small")
	}
}

func TestRestore(t *testing.T) {
	s := mustFormat(t, testLayout())
	if s.Restore() {
		t.Error("restored what is not damaged")
	}
	for at := 0; at < globalOffset; at += wordSize {
		binary.LittleEndian.PutUint64(s.mem[at:], ^binary.LittleEndian.Uint64(s.mem[at:]))
		// The last words of the header mean nothing, but are kept all the same.
		if !s.Restore() {
			t.Errorf("damage at %d was not seen", at)
		}
		mustAttach(t, s)
	}
	binary.LittleEndian.PutUint64(s.mem[s.place.directory:], 'z')
	if !s.Restore() {
		t.Error("damage of a name was not seen")
	}
	mustAttach(t, s)
}

func TestSize(t *testing.T) {
	named := func(n int, prefix string) []WorkerLayout {
		var w []WorkerLayout
		for i := range n {
			w = append(w, WorkerLayout{Name: prefix + strings.Repeat("x", i%3) + string(rune('0'+i%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i/100%10)) + string(rune('0'+i/1000%10)) + string(rune('0'+i/10000))})
		}
		return w
	}
	a := []WorkerLayout{{"a"}}
	tests := []struct {
		name string
		l    Layout
		want string // part of the error, "": none
	}{
		{"least", Layout{Servers: 1}, ""},
		{"most servers", Layout{Servers: MaxServers, Workers: a}, ""},
		{"longest name", Layout{Servers: 1, Workers: []WorkerLayout{{strings.Repeat("n", 63)}}}, ""},
		{"most workers", Layout{Servers: 8, Workers: named(MaxWorkers, "w")}, ""},
		{"zero", Layout{}, "0 servers"},
		{"negative", Layout{Servers: -1}, "-1 servers"},
		{"servers", Layout{Servers: MaxServers + 1}, "servers"},
		{"workers", Layout{Servers: 1, Workers: named(MaxWorkers+1, "w")}, "10001 workers"},
		{"balancers", Layout{Servers: 1, Balancers: make([]BalancerLayout, MaxBalancers+1)}, "10001 balancers"},
		{"members", Layout{Servers: 1, Balancers: []BalancerLayout{{"lb", make([]int, MaxMembers+1)}}}, "100001 members"},
		{"maps", Layout{Servers: 1, Maps: make([]int, MaxMaps+1)}, "1001 map files"},
		{"no name", Layout{Servers: 1, Workers: []WorkerLayout{{""}}}, "0 bytes"},
		{"long name", Layout{Servers: 1, Workers: []WorkerLayout{{strings.Repeat("n", 64)}}}, "64 bytes"},
		{"zero byte", Layout{Servers: 1, Workers: []WorkerLayout{{"a\x00b"}}}, "zero byte"},
		{"same name", Layout{Servers: 1, Workers: []WorkerLayout{{"a"}, {"a"}}}, "twice"},
		{"same balancer", Layout{Servers: 1, Balancers: []BalancerLayout{{"a", nil}, {"a", nil}}}, "twice"},
		{"member twice", Layout{Servers: 1, Workers: a, Balancers: []BalancerLayout{{"lb", []int{0, 0}}}}, "twice"},
		{"no such member", Layout{Servers: 1, Workers: a, Balancers: []BalancerLayout{{"lb", []int{1}}}}, "member 1 of 1"},
		{"negative member", Layout{Servers: 1, Workers: a, Balancers: []BalancerLayout{{"lb", []int{-1}}}}, "member -1"},
		{"empty map", Layout{Servers: 1, Maps: []int{0}}, "0 bytes"},
		{"large map", Layout{Servers: 1, Maps: []int{MaxMapSize + 1}}, "map file 0"},
		{"in all", Layout{Servers: MaxServers, Workers: named(1000, "w")}, "bytes are more than"},
	}
	for _, tt := range tests {
		n, err := Size(tt.l)
		if tt.want == "" && (err != nil || n <= 0 || n%line != 0) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %d, %v; want %q", tt.name, n, err, tt.want)
		}
	}
}
