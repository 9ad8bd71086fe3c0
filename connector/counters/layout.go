package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// The memory is one header, the master's events and its ring of seconds, the
// workers' names, and servers × workers records, those of one server side by
// side. Everything is made of 64-bit words; the constants below are indexes of
// words inside a part. Text is packed eight bytes a word, the first byte lowest,
// and ends with a zero byte. Any change here is a new version.
const (
	magic   = 0x544e554f43444b4a // "JKDCOUNT" in the order of the bytes
	version = 2

	wordSize = 8
	line     = 128 // no two writers share one: two cache lines, as processors fetch them in pairs
)

// Bounds of a [Layout].
const (
	MaxServers = 200000
	MaxWorkers = 4096
	MaxRecords = 1 << 20 // (servers + 1) × workers: 512 MB
)

// Bytes of text a worker's name and its connector's can have; longer text is cut.
const (
	MaxName      = nameWords*wordSize - 1
	MaxConnector = connectorWords*wordSize - 1
)

const (
	headerMagic   = 0 // written last
	headerVersion = 1
	headerServers = 2
	headerWorkers = 3
	headerSize    = 4  // of the whole, in bytes
	headerUsed    = 16 // in a line of its own: records of servers below it may have been used

	headerWords = 2 * line / wordSize
)

const (
	eventStarts = 0
	eventDeaths = 1 // NumDeaths of them
	// Spare, and so 0, in memory of builds that do not know it: no new version.
	eventCut  = eventDeaths + int(NumDeaths)
	numEvents = eventCut + 1

	eventWords = line / wordSize
)

const (
	historyNext = 0 // how many seconds were ever put there
	historyRing = line / wordSize

	secondSeq      = 0 // odd while the others are written
	secondUnix     = 1
	secondRequests = 2
	secondErrors   = 3
	secondBytes    = 4
	secondDuration = 5 // ns
	secondBusy     = 6
	secondIdle     = 7

	secondWords = 8
	historySize = (historyRing + HistorySeconds*secondWords) * wordSize
)

const (
	nameWords      = 14
	connectorWords = 2

	workerWords = nameWords + connectorWords
)

const (
	eventOffset   = headerWords * wordSize
	historyOffset = eventOffset + eventWords*wordSize
	namesOffset   = (historyOffset + historySize + line - 1) / line * line

	recordSize = int(unsafe.Sizeof(Record{}))
)

// WorkerName names a worker; the connectors are "jk" and "jk2". Text is bounded
// by MaxName and MaxConnector and has no zero bytes.
type WorkerName struct{ Name, Connector string }

// The first and the last worker of every table.
var (
	// Own is jkd itself: what it answers without asking a worker.
	Own = WorkerName{Name: "-"}
	// Other is all workers that were not known when the memory was formatted.
	Other = WorkerName{Name: "other"}
)

// Layout says how many records there are. The zero value is not valid; see
// [NewLayout].
type Layout struct {
	Servers int          // most children
	Workers []WorkerName // begins with Own and ends with Other
}

// NewLayout is a layout for so many children and these workers, each once.
// Workers for which there is no room are left to Other.
func NewLayout(servers int, workers []WorkerName) Layout {
	l := Layout{Servers: servers, Workers: []WorkerName{Own}}
	most := min(MaxWorkers, MaxRecords/(max(servers, 1)+1)) - 1
	for _, w := range workers {
		if w = w.cut(); len(l.Workers) < most && !slices.Contains(l.Workers, w) {
			l.Workers = append(l.Workers, w)
		}
	}
	l.Workers = append(l.Workers, Other)
	return l
}

// cut makes n what the memory can hold of it.
func (n WorkerName) cut() WorkerName {
	return WorkerName{cutText(n.Name, MaxName), cutText(n.Connector, MaxConnector)}
}

func cutText(s string, most int) string {
	s, _, _ = strings.Cut(s, "\x00")
	return s[:min(len(s), most)]
}

func (l Layout) check() error {
	n := len(l.Workers)
	switch {
	case n < 2 || l.Workers[0] != Own || l.Workers[n-1] != Other:
		return errors.New("workers do not begin with Own and end with Other")
	}
	return checkNumbers(l.Servers, n)
}

func checkNumbers(servers, workers int) error {
	switch {
	case servers < 1 || servers > MaxServers:
		return fmt.Errorf("%d servers are not between 1 and %d", servers, MaxServers)
	case workers < 2 || workers > MaxWorkers:
		return fmt.Errorf("%d workers are not between 2 and %d", workers, MaxWorkers)
	case int64(servers+1)*int64(workers) > MaxRecords:
		return fmt.Errorf("%d servers and one, times %d workers is more than %d", servers, workers, MaxRecords)
	}
	return nil
}

// recordsOffset is where the records of a table with so many workers begin.
func recordsOffset(workers int) int { return namesOffset + workers*workerWords*wordSize }

func size(servers, workers int) int { return recordsOffset(workers) + (servers+1)*workers*recordSize }

// Size is the number of bytes that a layout needs. It is an error when l is out
// of bounds.
func Size(l Layout) (int, error) {
	if err := l.check(); err != nil {
		return 0, fmt.Errorf("counters: size: %w", err)
	}
	return size(l.Servers, len(l.Workers)), nil
}

// words is a piece of memory as words; it must lie within mem.
func words(mem []byte, offset, n int) []atomic.Uint64 {
	piece := mem[offset : offset+n*wordSize]
	return unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&piece[0])), n)
}

// putText writes s, which is cut, to w.
func putText(w []atomic.Uint64, s string) {
	b := make([]byte, len(w)*wordSize)
	copy(b, s)
	for i := range w {
		w[i].Store(binary.LittleEndian.Uint64(b[i*wordSize:]))
	}
}

// text reads what putText wrote, or whatever else is there.
func text(w []atomic.Uint64) string {
	b := make([]byte, len(w)*wordSize)
	for i := range w {
		binary.LittleEndian.PutUint64(b[i*wordSize:], w[i].Load())
	}
	return cutText(string(b), len(b)-1)
}
