package scoreboard

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// The segment is one header, one global record, ServerLimit process records
// and ServerLimit × ThreadLimit worker records (those of one server side by
// side). Everything is made of 64-bit words; the constants below are indexes
// of words inside a record. Text is packed eight bytes a word, the first byte
// lowest, and ends with a zero byte. Any change here is a new version.
const (
	magic   = 0x45524f4353444b4a // "JKDSCORE" in the order of the bytes
	version = 3

	wordSize = 8
	line     = 128 // no two writers share one: two cache lines, as processors fetch them in pairs
)

// Bounds of a [Layout]: ServerLimit and ThreadLimit as Apache's MPMs bound
// them, and how many slots there may be at most (256 MB of records).
const (
	MaxServerLimit = 200000
	MaxThreadLimit = 20000
	MaxSlots       = 1 << 20
)

// Header: written by New, later only by Restore.
const (
	headerMagic       = 0 // written last
	headerVersion     = 1
	headerBuildID     = 2
	headerGeneration  = 3
	headerServerLimit = 4
	headerThreadLimit = 5
	headerSize        = 6  // of the whole segment, in bytes
	headerProcessSize = 7  // of a process record, in bytes
	headerWorkerSize  = 8  // of a worker record, in bytes
	headerStartTime   = 9  // Unix ns; Apache's restart_time
	headerRestartTime = 10 // Unix ns

	headerLength = line / wordSize
)

// Global record: written by the master.
const (
	globalSeq               = 0
	globalCPUUser           = 1 // µs, of the master
	globalCPUSystem         = 2
	globalCPUChildrenUser   = 3 // µs, of the children it has waited for
	globalCPUChildrenSystem = 4

	globalBeforeSeq       = 8 // of what generations before have counted
	globalBeforeAccesses  = 9
	globalBeforeBytes     = 10
	globalBeforeDuration  = 11 // ns
	globalBeforeCPUUser   = 12 // µs
	globalBeforeCPUSystem = 13

	globalLength = line / wordSize
)

// Process record: one line for the master's words, one for the child's.
const (
	processSeq        = 0 // master's
	processPID        = 1 // 0: no child
	processGeneration = 2
	processStartTime  = 3 // Unix ns

	processChildSeq     = 16 // child's
	processQuiescing    = 17 // 0 or 1; outside the sequence
	processNotAccepting = 18 // 0 or 1; outside the sequence
	processCPUUser      = 19 // µs
	processCPUSystem    = 20
	processConnections  = 21 // open; outside the sequence
	processParked       = 22 // of these without a slot; outside the sequence

	processLength = 2 * line / wordSize
)

// Worker record: written by the child's thread, and by the master before there
// is one and after the child is waited for.
//
// What Apache counts per child (my_access_count, my_bytes_served) and per
// connection (conn_count, conn_bytes) is here the difference between the
// slot's total and what the total was when the child or the connection began.
// So a request adds to two words instead of six.
const (
	workerStatus       = 0 // a Status; outside the sequence
	workerSeq          = 1
	workerAccessCount  = 2 // requests of the slot
	workerBytesServed  = 3 // of the slot
	workerMyAccessBase = 4 // workerAccessCount when the child began
	workerMyBytesBase  = 5
	workerConnBase     = 6 // workerAccessCount when the connection began
	workerConnByteBase = 7
	workerStartTime    = 8  // Unix ns, of the last request
	workerStopTime     = 9  // Unix ns, of the last request that ended
	workerLastUsed     = 10 // Unix ns
	workerDuration     = 11 // ns, sum of the slot's requests
	workerVHost        = 12
	workerRequest      = 16
	workerClient       = 24
	workerProtocol     = 30

	workerVHostWords    = 4
	workerRequestWords  = 8
	workerClientWords   = 6
	workerProtocolWords = 2

	workerText   = workerVHost // from here on, all is text
	workerLength = 2 * line / wordSize
)

// Bytes of text a worker record can hold; longer text is cut.
const (
	MaxVHost    = workerVHostWords*wordSize - 1
	MaxRequest  = workerRequestWords*wordSize - 1
	MaxClient   = workerClientWords*wordSize - 1
	MaxProtocol = workerProtocolWords*wordSize - 1
)

// The records as they lie in memory.
type (
	header        [headerLength]atomic.Uint64
	globalRecord  [globalLength]atomic.Uint64
	processRecord [processLength]atomic.Uint64
	workerRecord  [workerLength]atomic.Uint64
)

const (
	globalOffset  = headerLength * wordSize
	processOffset = globalOffset + globalLength*wordSize
	processSize   = processLength * wordSize
	workerSize    = workerLength * wordSize
)

// Layout says how many records there are. The zero value is not valid.
type Layout struct {
	ServerLimit int // most children; 1 to MaxServerLimit
	ThreadLimit int // most threads of a child, 1 under prefork; 1 to MaxThreadLimit
}

func (l Layout) check() error {
	switch {
	case l.ServerLimit < 1 || l.ServerLimit > MaxServerLimit:
		return fmt.Errorf("ServerLimit %d is not between 1 and %d", l.ServerLimit, MaxServerLimit)
	case l.ThreadLimit < 1 || l.ThreadLimit > MaxThreadLimit:
		return fmt.Errorf("ThreadLimit %d is not between 1 and %d", l.ThreadLimit, MaxThreadLimit)
	case int64(l.ServerLimit)*int64(l.ThreadLimit) > MaxSlots:
		return fmt.Errorf("ServerLimit %d times ThreadLimit %d is more than %d", l.ServerLimit, l.ThreadLimit, MaxSlots)
	}
	return nil
}

func (l Layout) slots() int { return l.ServerLimit * l.ThreadLimit }

func (l Layout) workerOffset() int { return processOffset + l.ServerLimit*processSize }

func (l Layout) size() int { return l.workerOffset() + l.slots()*workerSize }

// Size is the number of bytes a scoreboard of layout l needs. It is an error
// when l is out of bounds.
func Size(l Layout) (int, error) {
	if err := l.check(); err != nil {
		return 0, fmt.Errorf("scoreboard: size: %w", err)
	}
	return l.size(), nil
}

// headerLayout reads the layout of a header, which may hold anything.
func headerLayout(h *header, mem int) (Layout, error) {
	if m := h[headerMagic].Load(); m != magic {
		return Layout{}, fmt.Errorf("magic is %#x, not %#x", m, uint64(magic))
	}
	if v := h[headerVersion].Load(); v != version {
		return Layout{}, fmt.Errorf("version is %d, not %d", v, version)
	}
	servers, threads := h[headerServerLimit].Load(), h[headerThreadLimit].Load()
	// Compared before they are converted: a large one would turn negative.
	if servers > MaxServerLimit || threads > MaxThreadLimit {
		return Layout{}, fmt.Errorf("ServerLimit %d or ThreadLimit %d is too large", servers, threads)
	}
	l := Layout{ServerLimit: int(servers), ThreadLimit: int(threads)}
	if err := l.check(); err != nil {
		return Layout{}, err
	}
	if p, w := h[headerProcessSize].Load(), h[headerWorkerSize].Load(); p != processSize || w != workerSize {
		return Layout{}, fmt.Errorf("records are %d and %d bytes, not %d and %d", p, w, processSize, workerSize)
	}
	if n := h[headerSize].Load(); n != uint64(l.size()) {
		return Layout{}, fmt.Errorf("size is %d, but the limits make it %d", n, l.size())
	}
	if mem < l.size() {
		return Layout{}, fmt.Errorf("memory of %d bytes is too small for %d", mem, l.size())
	}
	return l, nil
}

var errAlign = errors.New("memory is not aligned to 8 bytes")
