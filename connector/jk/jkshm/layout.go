package jkshm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync/atomic"

	"jkd/connector/sheet"
)

// The segment is a header, the words of all (edits, lock), a directory of names
// and then the records: workers, cells of the gauges, balancers, members, map
// files. All but the cells is made of 64-bit words; the constants below are
// indexes of words inside a record. Text is packed eight bytes a word, the
// first byte lowest, and ends with a zero byte. Any change is a new version.
const (
	magic   = 0x4d48534b4a444b4a // "JKDJKSHM" in the order of the bytes
	version = 2

	wordSize  = 8
	line      = 128 // words that different writers use often do not share one
	lineWords = line / wordSize
)

// Bounds of a [Layout].
const (
	MaxServers   = 200000
	MaxWorkers   = 10000
	MaxBalancers = 10000
	MaxMembers   = 100000 // of all balancers together
	MaxMaps      = 1000
	MaxMapSize   = 16 << 20 // bytes of one map file
	MaxName      = 63       // bytes of a name and of any text but a host's
	MaxHost      = 255      // bytes of the name of a host
	MaxSize      = 1 << 30  // bytes of the segment
)

// Header: written by Format, later only by Restore.
const (
	headerMagic     = 0 // written last
	headerVersion   = 1
	headerSize      = 2 // of the segment, in bytes
	headerHash      = 3 // of the layout
	headerServers   = 4
	headerWorkers   = 5
	headerBalancers = 6
	headerMembers   = 7 // of all balancers
	headerMaps      = 8
	headerToken     = 9 // two words

	headerLength = lineWords
)

// Words of all. The first line is read with every request, hence apart from the
// lock.
const (
	globalEdits = 0 // how many edits there were
	globalHigh  = 1 // highest server seen, plus one

	globalLock = 16 // owner of the edit lock, 0 if it is free

	globalLength = 2 * lineWords
)

// Directory: for each worker its name, for each balancer its name and how many
// members it has, for each member the index of its worker, for each map its
// bytes.
const (
	textWords = (MaxName + 1) / wordSize
	hostWords = (MaxHost + 1) / wordSize

	directoryWorker   = textWords
	directoryBalancer = textWords + 1
)

// Worker record: a line for what every request changes, a line for what every
// request reads and hardly any changes, then the settings: as configured and
// the two copies.
const (
	workerBusyHint      = 0 // sum of the cells or more, see gauge
	workerConnectedHint = 1
	workerUsed          = 2
	workerErrors        = 3
	workerClientErrors  = 4
	workerReplyTimeouts = 5
	workerTransferred   = 6 // bytes
	workerRead          = 7 // bytes
	workerState         = 8 // a WorkerState
	workerErrorTime     = 9 // Unix s

	workerSeq          = 16
	workerMaxBusy      = 17
	workerMaxConnected = 18
	workerLastReset    = 19 // Unix s
	workerSuspect      = 20 // 0 or 1
	workerLookUps      = 21

	workerBase = 2 * lineWords

	workerConfigWords = 96 // settings and addresses
	workerLength      = workerBase + 3*workerConfigWords
)

// Balancer record.
const (
	balancerMaxBusy         = 0
	balancerLastReset       = 1 // Unix s
	balancerLastMaintenance = 2 // Unix s
	balancerLastLook        = 3 // Unix s
	balancerUnknownRoutes   = 4
	balancerForced          = 5
	balancerNext            = 6 // member to begin the next election with
	balancerRouteTold       = 7 // Unix s

	balancerLock = 16 // owner, 0 if it is free

	balancerSeq = 32

	balancerBase = 3 * lineWords

	balancerConfigWords = 16
	balancerLength      = balancerBase + 3*balancerConfigWords
)

// Member record.
const (
	memberState         = 0 // state, owner and time of the probe, see stateWord
	memberLBValue       = 1
	memberElected       = 2
	memberSessions      = 3
	memberErrors        = 4
	memberReplyTimeouts = 5
	memberFirstError    = 6 // Unix s
	memberLastError     = 7 // Unix s
	memberSnapshot      = 8 // memberElected at the last maintenance
	memberLastReset     = 9 // Unix s

	memberSeq = 16

	memberBase = 2 * lineWords

	memberConfigWords = 32
	memberLength      = memberBase + 3*memberConfigWords
)

// Layout says which records there are. The zero value is not valid.
type Layout struct {
	// Servers is ServerLimit: children are numbered from 0 to one less; 1 to
	// MaxServers.
	Servers int
	// Workers are the back ends, none twice. A back end that is in several
	// balancers or also listed by itself is one worker.
	Workers []WorkerLayout
	// Balancers are named each once.
	Balancers []BalancerLayout
	// Maps is how many bytes to keep for each watched map file, 1 to
	// MaxMapSize; may be empty.
	Maps []int
}

// WorkerLayout is one back end.
type WorkerLayout struct {
	Name string // 1 to MaxName bytes, none of them zero
}

// BalancerLayout is one balancer.
type BalancerLayout struct {
	Name    string // 1 to MaxName bytes, none of them zero
	Members []int  // indexes of Layout.Workers, none twice
}

func (l *Layout) members() int {
	n := 0
	for _, b := range l.Balancers {
		n += len(b.Members)
	}
	return n
}

func (l *Layout) check() error {
	switch {
	case l.Servers < 1 || l.Servers > MaxServers:
		return fmt.Errorf("%d servers are not between 1 and %d", l.Servers, MaxServers)
	case len(l.Workers) > MaxWorkers:
		return fmt.Errorf("%d workers are more than %d", len(l.Workers), MaxWorkers)
	case len(l.Balancers) > MaxBalancers:
		return fmt.Errorf("%d balancers are more than %d", len(l.Balancers), MaxBalancers)
	case l.members() > MaxMembers:
		return fmt.Errorf("%d members of balancers are more than %d", l.members(), MaxMembers)
	case len(l.Maps) > MaxMaps:
		return fmt.Errorf("%d map files are more than %d", len(l.Maps), MaxMaps)
	}
	seen := map[string]bool{}
	for _, w := range l.Workers {
		if err := checkName("worker", w.Name, seen); err != nil {
			return err
		}
	}
	clear(seen)
	for _, b := range l.Balancers {
		if err := checkName("balancer", b.Name, seen); err != nil {
			return err
		}
		in := make(map[int]bool, len(b.Members))
		for _, w := range b.Members {
			if w < 0 || w >= len(l.Workers) {
				return fmt.Errorf("balancer %q has member %d of %d workers", b.Name, w, len(l.Workers))
			}
			if in[w] {
				return fmt.Errorf("balancer %q has member %q twice", b.Name, l.Workers[w].Name)
			}
			in[w] = true
		}
	}
	for i, n := range l.Maps {
		if n < 1 || n > MaxMapSize {
			return fmt.Errorf("%d bytes for map file %d are not between 1 and %d", n, i, MaxMapSize)
		}
	}
	if p := l.place(); p.end > MaxSize {
		return fmt.Errorf("%d bytes are more than %d", p.end, int64(MaxSize))
	}
	return nil
}

func checkName(what, name string, seen map[string]bool) error {
	switch {
	case name == "" || len(name) > MaxName:
		return fmt.Errorf("%s name %q has %d bytes, not 1 to %d", what, name, len(name), MaxName)
	case strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("%s name %q has a zero byte", what, name)
	case seen[name]:
		return fmt.Errorf("%s %q is there twice", what, name)
	}
	seen[name] = true
	return nil
}

// placement is where the parts begin, in bytes. 64 bits hold the sum for any
// counts within the bounds.
type placement struct {
	directory, workers, cells, balancers, members, maps, end int64

	cellsSize int64 // of one gauge
}

const globalOffset = headerLength * wordSize

func (l *Layout) place() placement {
	var p placement
	members := int64(l.members())
	p.directory = globalOffset + globalLength*wordSize
	words := int64(len(l.Workers)*directoryWorker+len(l.Balancers)*directoryBalancer+len(l.Maps)) + members
	p.workers = up(p.directory + words*wordSize)
	p.cells = p.workers + int64(len(l.Workers))*workerLength*wordSize
	p.cellsSize = up(int64(l.Servers) * 4)
	p.balancers = p.cells + int64(len(l.Workers))*gauges*p.cellsSize
	p.members = p.balancers + int64(len(l.Balancers))*up(balancerLength*wordSize)
	p.maps = p.members + members*up(memberLength*wordSize)
	p.end = p.maps
	for _, n := range l.Maps {
		p.end += mapSize(n)
	}
	return p
}

// up is the next beginning of a line.
func up(n int64) int64 { return (n + line - 1) &^ (line - 1) }

// mapSize is the size of a map's record, which is a sheet.
func mapSize(n int) int64 { return up(int64(sheet.Words(n)) * wordSize) }

// hash tells layouts apart.
func (l *Layout) hash() uint64 {
	h := fnv.New64a()
	var b []byte
	number := func(n int) { b = binary.LittleEndian.AppendUint64(b, uint64(n)) }
	text := func(s string) { number(len(s)); b = append(b, s...) }
	for _, n := range []int{workerLength, balancerLength, memberLength, l.Servers, len(l.Workers), len(l.Balancers), len(l.Maps)} {
		number(n)
	}
	for _, w := range l.Workers {
		text(w.Name)
	}
	for _, x := range l.Balancers {
		text(x.Name)
		number(len(x.Members))
		for _, m := range x.Members {
			number(m)
		}
	}
	for _, n := range l.Maps {
		number(n)
	}
	h.Write(b)
	return h.Sum64()
}

// clone is a copy that shares nothing with l.
func (l *Layout) clone() Layout {
	c := Layout{Servers: l.Servers}
	c.Workers = append(c.Workers, l.Workers...)
	for _, b := range l.Balancers {
		c.Balancers = append(c.Balancers, BalancerLayout{Name: b.Name, Members: append([]int(nil), b.Members...)})
	}
	c.Maps = append(c.Maps, l.Maps...)
	return c
}

// Size is the number of bytes a segment of layout l needs. It is an error when
// l is out of bounds.
func Size(l Layout) (int, error) {
	if err := l.check(); err != nil {
		return 0, fmt.Errorf("jkshm: size: %w", err)
	}
	return int(l.place().end), nil
}

// directory is the layout as the words of the directory.
func (l *Layout) directoryWords() []uint64 {
	var d []uint64
	text := func(s string) {
		var t [textWords]uint64
		packText(t[:], s)
		d = append(d, t[:]...)
	}
	for _, w := range l.Workers {
		text(w.Name)
	}
	for _, b := range l.Balancers {
		text(b.Name)
		d = append(d, uint64(len(b.Members)))
	}
	for _, b := range l.Balancers {
		for _, m := range b.Members {
			d = append(d, uint64(m))
		}
	}
	for _, n := range l.Maps {
		d = append(d, uint64(n))
	}
	return d
}

// readLayout takes the layout out of a segment, which may hold anything.
func readLayout(mem []byte) (Layout, error) {
	h := words(mem, 0, headerLength)
	if m := h[headerMagic].Load(); m != magic {
		return Layout{}, fmt.Errorf("magic is %#x, not %#x", m, uint64(magic))
	}
	if v := h[headerVersion].Load(); v != version {
		return Layout{}, fmt.Errorf("version is %d, not %d", v, version)
	}
	var counts [5]int
	bounds := [5]uint64{MaxServers, MaxWorkers, MaxBalancers, MaxMembers, MaxMaps}
	for i := range counts {
		// Compared before it is converted: a large one would turn negative.
		n := h[headerServers+i].Load()
		if n > bounds[i] {
			return Layout{}, fmt.Errorf("count %d of the header is %d, more than %d", i, n, bounds[i])
		}
		counts[i] = int(n)
	}
	servers, workers, balancers, members, maps := counts[0], counts[1], counts[2], counts[3], counts[4]
	n := workers*directoryWorker + balancers*directoryBalancer + members + maps
	at := globalOffset + globalLength*wordSize
	if len(mem) < at+n*wordSize {
		return Layout{}, fmt.Errorf("memory of %d bytes is too small for a directory of %d words", len(mem), n)
	}
	d := make([]uint64, n)
	load(words(mem, at, n), d)
	next := func(n int) []uint64 { x := d[:n]; d = d[n:]; return x }

	l := Layout{Servers: servers}
	for range workers {
		l.Workers = append(l.Workers, WorkerLayout{Name: unpackText(next(textWords))})
	}
	var sizes []int
	left := uint64(members)
	for range balancers {
		name := unpackText(next(textWords))
		n := next(1)[0]
		if n > left {
			return Layout{}, errors.New("the balancers have more members than the header says")
		}
		left -= n
		sizes = append(sizes, int(n))
		l.Balancers = append(l.Balancers, BalancerLayout{Name: name})
	}
	if left != 0 {
		return Layout{}, errors.New("the balancers have fewer members than the header says")
	}
	for i, n := range sizes {
		for _, w := range next(n) {
			if w >= uint64(workers) {
				return Layout{}, fmt.Errorf("a member is worker %d of %d", w, workers)
			}
			l.Balancers[i].Members = append(l.Balancers[i].Members, int(w))
		}
	}
	for _, n := range next(maps) {
		if n > MaxMapSize {
			return Layout{}, fmt.Errorf("%d bytes for a map file are more than %d", n, MaxMapSize)
		}
		l.Maps = append(l.Maps, int(n))
	}
	if err := l.check(); err != nil {
		return Layout{}, err
	}
	return l, checkHeader(h, &l, len(mem))
}

// checkHeader compares size and hash of a header with what the layout makes
// them.
func checkHeader(h []atomic.Uint64, l *Layout, mem int) error {
	size := l.place().end
	switch n := h[headerSize].Load(); {
	case n != uint64(size):
		return fmt.Errorf("size is %d, but the layout makes it %d", n, size)
	case int64(mem) < size:
		return fmt.Errorf("memory of %d bytes is too small for %d", mem, size)
	}
	if got, want := h[headerHash].Load(), l.hash(); got != want {
		return fmt.Errorf("layout hash is %#x, not %#x", got, want)
	}
	return nil
}
