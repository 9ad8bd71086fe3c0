package scoreboard

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"
)

// View is a copy of a scoreboard at about one moment. The zero value is ready
// for [Scoreboard.Snapshot], which uses its memory again and again. All values
// are for display and for counting: a child can write what it likes into its
// part. Statuses are always valid ones, texts never hold a zero byte; other
// control characters must be escaped by who shows them.
type View struct {
	Layout    Layout
	Global    GlobalScore
	Processes []ProcessScore // by server
	Workers   []WorkerScore  // by server × ThreadLimit + thread

	text []byte // of all workers
}

// GlobalScore is a copy of the header and the master's record.
type GlobalScore struct {
	Global
	Times  Times  // of the master, to the microsecond
	Before Before // what generations before have counted
	Torn   bool   // Times or Before may mix two updates
}

// ProcessScore is a copy of a child's process record.
type ProcessScore struct {
	PID          int // 0: no child. Never send a signal to it
	Generation   uint32
	StartTime    time.Time // zero if no child
	Quiescing    bool
	NotAccepting bool
	Connections  int           // open, as the child says; see [Process.SetConnections]
	Parked       int           // of these without a slot
	CPUUser      time.Duration // to the microsecond
	CPUSystem    time.Duration
	Torn         bool // values may mix two updates
}

// WorkerScore is a copy of a worker record. The texts lie in the memory of the
// View and are good until its next snapshot.
type WorkerScore struct {
	Status Status
	Torn   bool // values may mix two updates, or the status was none and is shown as Dead

	AccessCount   uint64 // requests of the slot
	BytesServed   uint64 // of the slot
	MyAccessCount uint64 // requests of the child
	MyBytesServed uint64
	ConnCount     uint64 // requests of the connection
	ConnBytes     uint64

	StartTime time.Time     // of the last request; zero if none
	StopTime  time.Time     // of the last request that ended; zero if none
	LastUsed  time.Time     // zero if never
	Duration  time.Duration // sum over the slot's requests

	Client   []byte // empty if none; so are the other texts
	Request  []byte // "GET /path HTTP/1.1"
	VHost    []byte // "name:port"
	Protocol []byte // "HTTP/1.1"
}

// Worker is the copy of one slot. It panics when server or thread is out of
// range.
func (v *View) Worker(server, thread int) *WorkerScore {
	return &v.Server(server)[thread]
}

// Server is the copies of all slots of a server. It panics when server is out
// of range.
func (v *View) Server(server int) []WorkerScore {
	from, to := server*v.Layout.ThreadLimit, (server+1)*v.Layout.ThreadLimit
	return v.Workers[from:to:to]
}

// Counts is the number of slots of a server by status. It panics when server is
// out of range.
func (v *View) Counts(server int) StatusCounts {
	var c StatusCounts
	for i := range v.Server(server) {
		c[v.Worker(server, i).Status]++
	}
	return c
}

// Snapshot copies all records into v. It may be called by any process, while
// others write. Each record is consistent in itself or marked Torn after a
// bounded number of tries; it never waits, and whatever the memory holds it
// stays within its bounds. It allocates memory only when v has none for this
// layout.
func (b *Scoreboard) Snapshot(v *View) {
	b.shape(v)
	b.readGlobal(&v.Global)
	for i := range v.Processes {
		readProcess(b.process(i), &v.Processes[i])
	}
	for i := range v.Workers {
		readWorker(b.worker(i), &v.Workers[i], v.text[i*textSize:(i+1)*textSize])
	}
}

// Counts is the number of slots of a server by status, read one by one, without
// copying the records. A word that is no status counts as Dead. It panics when
// server is out of range.
func (b *Scoreboard) Counts(server int) StatusCounts {
	b.checkServer(server)
	var c StatusCounts
	first := server * b.layout.ThreadLimit
	for i := first; i < first+b.layout.ThreadLimit; i++ {
		st, _ := status(b.worker(i))
		c[st]++
	}
	return c
}

// textSize is what the texts of one worker take in a View.
const textSize = (workerLength - workerText) * wordSize

// shape gives v the slices this scoreboard needs. The texts of a worker are
// slices of one buffer.
func (b *Scoreboard) shape(v *View) {
	if v.Layout == b.layout && len(v.Processes) == b.layout.ServerLimit &&
		len(v.Workers) == b.layout.slots() && len(v.text) == len(v.Workers)*textSize {
		return
	}
	v.Layout = b.layout
	v.Processes = make([]ProcessScore, b.layout.ServerLimit)
	v.Workers = make([]WorkerScore, b.layout.slots())
	v.text = make([]byte, len(v.Workers)*textSize)
}

func (b *Scoreboard) readGlobal(g *GlobalScore) {
	var w [globalCPUChildrenSystem - globalCPUUser + 1]uint64
	r := b.globalRec()
	ok := read(&r[globalSeq], r[globalCPUUser:globalCPUChildrenSystem+1], w[:])
	before, okBefore := b.before()
	*g = GlobalScore{
		Global: b.global,
		Times:  Times{ofMicros(w[0]), ofMicros(w[1]), ofMicros(w[2]), ofMicros(w[3])},
		Before: before,
		Torn:   !ok || !okBefore,
	}
}

func readProcess(r *processRecord, p *ProcessScore) {
	var m [processStartTime - processPID + 1]uint64
	var c [processCPUSystem - processCPUUser + 1]uint64
	ok := read(&r[processSeq], r[processPID:processStartTime+1], m[:])
	okChild := read(&r[processChildSeq], r[processCPUUser:processCPUSystem+1], c[:])
	*p = ProcessScore{
		PID:          int(min(m[0], math.MaxInt32)),
		Generation:   uint32(m[1]),
		StartTime:    timeOf(m[2]),
		Quiescing:    r[processQuiescing].Load() != 0,
		NotAccepting: r[processNotAccepting].Load() != 0,
		Connections:  int(min(r[processConnections].Load(), math.MaxInt32)),
		Parked:       int(min(r[processParked].Load(), math.MaxInt32)),
		CPUUser:      ofMicros(c[0]),
		CPUSystem:    ofMicros(c[1]),
		Torn:         !ok || !okChild,
	}
}

// readWorker copies a record; its texts go to buf, of textSize bytes.
func readWorker(r *workerRecord, w *WorkerScore, buf []byte) {
	const first = workerAccessCount
	var c [workerLength - first]uint64
	ok := read(&r[workerSeq], r[first:], c[:])
	st, valid := status(r)
	for i, word := range c[workerText-first:] {
		binary.LittleEndian.PutUint64(buf[i*wordSize:], word)
	}
	access, served := c[workerAccessCount-first], c[workerBytesServed-first]
	*w = WorkerScore{
		Status:        st,
		Torn:          !ok || !valid,
		AccessCount:   access,
		BytesServed:   served,
		MyAccessCount: since(access, c[workerMyAccessBase-first]),
		MyBytesServed: since(served, c[workerMyBytesBase-first]),
		ConnCount:     since(access, c[workerConnBase-first]),
		ConnBytes:     since(served, c[workerConnByteBase-first]),
		StartTime:     timeOf(c[workerStartTime-first]),
		StopTime:      timeOf(c[workerStopTime-first]),
		LastUsed:      timeOf(c[workerLastUsed-first]),
		Duration:      ofNanos(c[workerDuration-first]),
		Client:        text(buf, workerClient, workerClientWords),
		Request:       text(buf, workerRequest, workerRequestWords),
		VHost:         text(buf, workerVHost, workerVHostWords),
		Protocol:      text(buf, workerProtocol, workerProtocolWords),
	}
}

// since is what was counted after base; a torn copy must not give a number
// below zero.
func since(total, base uint64) uint64 {
	if base > total {
		return 0
	}
	return total - base
}

// text is the text of n words at word first of a record whose texts are buf.
func text(buf []byte, first, n int) []byte {
	from := (first - workerText) * wordSize
	b := buf[from : from+n*wordSize-1]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b[:len(b):len(b)]
}
