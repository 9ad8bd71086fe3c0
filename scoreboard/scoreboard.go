package scoreboard

import (
	"fmt"
	"time"
	"unsafe"
)

// Global is what the header says about the generation that made the segment.
type Global struct {
	Generation uint32
	BuildID    uint64 // of the program that made it; a child of another build must not go on
	// StartTime is when the server was started, RestartTime when this generation
	// was; zero there: the same. Apache's restart_time and uptime go by the first
	// one: a graceful restart does not change them. Kept to the nanosecond.
	StartTime, RestartTime time.Time
}

// Scoreboard gives access to the records in shared memory. It remembers the
// layout it began with and never asks the memory for it again, so that nothing
// that is written there can lead it outside. Its methods may be called
// concurrently as long as each record has one writer; the memory must stay
// mapped.
type Scoreboard struct {
	mem    []byte
	layout Layout
	global Global
}

// New formats mem, which must be all zero, hold at least [Size] bytes and begin
// at an address that is a multiple of 8. Only the creator of the segment calls
// it. It writes the header and leaves the records alone: on memory in use it
// only restores the header, see also [Scoreboard.Restore].
func New(mem []byte, l Layout, g Global) (*Scoreboard, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("scoreboard: new: %w", err)
	}
	if len(mem) < l.size() {
		return nil, fmt.Errorf("scoreboard: new: memory of %d bytes is too small for %d", len(mem), l.size())
	}
	if !aligned(mem) {
		return nil, fmt.Errorf("scoreboard: new: %w", errAlign)
	}
	// The header cannot tell nanoseconds beyond int64 or a zone.
	if g.RestartTime.IsZero() {
		g.RestartTime = g.StartTime
	}
	g.StartTime, g.RestartTime = timeOf(uint64(unixNano(g.StartTime))), timeOf(uint64(unixNano(g.RestartTime)))
	b := &Scoreboard{mem: mem[:l.size():l.size()], layout: l, global: g}
	b.writeHeader()
	return b, nil
}

// Attach reads the header of a segment that another process has formatted.
// With want, the layout must be that one; with nil, it may be any within the
// bounds that fits into mem. The caller compares [Scoreboard.Global] with its
// own build and generation. mem may be read-only if nothing is written through
// the result.
func Attach(mem []byte, want *Layout) (*Scoreboard, error) {
	if len(mem) < processOffset {
		return nil, fmt.Errorf("scoreboard: attach: memory of %d bytes is too small for a header", len(mem))
	}
	if !aligned(mem) {
		return nil, fmt.Errorf("scoreboard: attach: %w", errAlign)
	}
	h := (*header)(unsafe.Pointer(&mem[0]))
	l, err := headerLayout(h, len(mem))
	if err != nil {
		return nil, fmt.Errorf("scoreboard: attach: %w", err)
	}
	if want != nil && *want != l {
		return nil, fmt.Errorf("scoreboard: attach: limits are %d servers of %d threads, not %d of %d",
			l.ServerLimit, l.ThreadLimit, want.ServerLimit, want.ThreadLimit)
	}
	return &Scoreboard{mem: mem[:l.size():l.size()], layout: l, global: headerGlobal(h)}, nil
}

// headerWord is one word of the header and its value.
type headerWord struct {
	at    int
	value uint64
}

// headerWords lists the header in the order of writing. The magic is last: who
// attaches by name must not see half a header.
func (b *Scoreboard) headerWords() []headerWord {
	return []headerWord{
		{headerVersion, version},
		{headerBuildID, b.global.BuildID},
		{headerGeneration, uint64(b.global.Generation)},
		{headerServerLimit, uint64(b.layout.ServerLimit)},
		{headerThreadLimit, uint64(b.layout.ThreadLimit)},
		{headerSize, uint64(b.layout.size())},
		{headerProcessSize, processSize},
		{headerWorkerSize, workerSize},
		{headerStartTime, uint64(unixNano(b.global.StartTime))},
		{headerRestartTime, uint64(unixNano(b.global.RestartTime))},
		{headerMagic, magic},
	}
}

func (b *Scoreboard) writeHeader() {
	h := b.header()
	for _, w := range b.headerWords() {
		h[w.at].Store(w.value)
	}
}

// Restore writes the header again if it is not what it was when the scoreboard
// was made or attached, and tells whether it had to. A child can damage it, and
// those that come later would refuse to attach. The master alone calls it.
func (b *Scoreboard) Restore() bool {
	h := b.header()
	for _, w := range b.headerWords() {
		if h[w.at].Load() != w.value {
			b.writeHeader()
			return true
		}
	}
	return false
}

func aligned(mem []byte) bool { return uintptr(unsafe.Pointer(&mem[0]))%wordSize == 0 }

func headerGlobal(h *header) Global {
	return Global{
		Generation:  uint32(h[headerGeneration].Load()),
		BuildID:     h[headerBuildID].Load(),
		StartTime:   timeOf(h[headerStartTime].Load()),
		RestartTime: timeOf(h[headerRestartTime].Load()),
	}
}

// unixNano is 0 for the zero time, whose nanoseconds are not defined.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// timeOf is the time of a word; 0 is the zero time.
func timeOf(ns uint64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(ns))
}

// Layout is the layout the scoreboard was made or attached with.
func (b *Scoreboard) Layout() Layout { return b.layout }

// Global is what the header said when the scoreboard was made or attached.
func (b *Scoreboard) Global() Global { return b.global }

// Slot is the handle through which one thread of one child writes its record.
// Take it once and keep it: it holds copies of what it wrote. It panics when
// server or thread is out of range.
func (b *Scoreboard) Slot(server, thread int) *Slot {
	return newSlot(b.worker(b.slotIndex(server, thread)), thread)
}

// Process is the handle for the record of one child. It panics when server is
// out of range.
func (b *Scoreboard) Process(server int) *Process {
	b.checkServer(server)
	return &Process{r: b.process(server)}
}

// The master's own record.

// Times is processor time.
type Times struct {
	User, System                 time.Duration // of the process
	ChildrenUser, ChildrenSystem time.Duration // of its children that were waited for
}

// SetTimes writes the master's processor time, to the microsecond; the master
// alone calls it.
func (b *Scoreboard) SetTimes(t Times) {
	r := b.globalRec()
	s := begin(&r[globalSeq])
	r[globalCPUUser].Store(micros(t.User))
	r[globalCPUSystem].Store(micros(t.System))
	r[globalCPUChildrenUser].Store(micros(t.ChildrenUser))
	r[globalCPUChildrenSystem].Store(micros(t.ChildrenSystem))
	end(&r[globalSeq], s)
}

func (b *Scoreboard) checkServer(server int) {
	if server < 0 || server >= b.layout.ServerLimit {
		panic(fmt.Sprintf("scoreboard: server %d is out of range (ServerLimit %d)", server, b.layout.ServerLimit))
	}
}

func (b *Scoreboard) slotIndex(server, thread int) int {
	b.checkServer(server)
	if thread < 0 || thread >= b.layout.ThreadLimit {
		panic(fmt.Sprintf("scoreboard: thread %d is out of range (ThreadLimit %d)", thread, b.layout.ThreadLimit))
	}
	return server*b.layout.ThreadLimit + thread
}

// Records by index. The index is always ours, never from the memory; the slice
// expression bounds it all the same.

func (b *Scoreboard) header() *header { return (*header)(unsafe.Pointer(&b.mem[0])) }

func (b *Scoreboard) globalRec() *globalRecord {
	return (*globalRecord)(unsafe.Pointer(&b.mem[globalOffset]))
}

func (b *Scoreboard) process(i int) *processRecord {
	off := processOffset + i*processSize
	return (*processRecord)(unsafe.Pointer(&b.mem[off : off+processSize][0]))
}

func (b *Scoreboard) worker(i int) *workerRecord {
	off := b.layout.workerOffset() + i*workerSize
	return (*workerRecord)(unsafe.Pointer(&b.mem[off : off+workerSize][0]))
}
