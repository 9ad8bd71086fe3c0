package scoreboard

import (
	"sync/atomic"
	"time"
)

// Process is the handle for a child's process record. The master calls SetPID,
// the child the other setters: each has words of its own. Quiescing may be
// called by anybody, concurrently.
type Process struct {
	r *processRecord
}

// SetPID tells which process fills the server, of which generation, started
// when (Unix ns). The master calls it after it has started the child; pid 0
// means none. The pid is for people: the master signals only processes it
// remembers in its own memory.
func (p *Process) SetPID(pid int, generation uint32, now int64) {
	s := begin(&p.r[processSeq])
	p.r[processPID].Store(uint64(max(pid, 0)))
	p.r[processGeneration].Store(uint64(generation))
	p.r[processStartTime].Store(uint64(now))
	end(&p.r[processSeq], s)
}

// SetQuiescing tells whether the child is finishing and takes no more
// connections. The child calls it.
func (p *Process) SetQuiescing(on bool) { storeBool(&p.r[processQuiescing], on) }

// Quiescing tells what SetQuiescing said last. Reclaim makes it false.
func (p *Process) Quiescing() bool { return p.r[processQuiescing].Load() != 0 }

// SetNotAccepting tells whether the child has stopped accepting for the
// moment, for instance because all its threads are busy. The child calls it.
func (p *Process) SetNotAccepting(on bool) { storeBool(&p.r[processNotAccepting], on) }

// SetConnections tells how many connections the child has open, and how many of
// them are parked: they have no slot, because they wait for a request. The
// child calls it; a child that never does has one connection a busy slot.
func (p *Process) SetConnections(open, parked int) {
	p.r[processConnections].Store(uint64(max(open, 0)))
	p.r[processParked].Store(uint64(max(parked, 0)))
}

// SetCPU tells how much processor time the child has used, to the microsecond.
// One thread of the child calls it, from time to time.
func (p *Process) SetCPU(user, system time.Duration) {
	s := begin(&p.r[processChildSeq])
	p.r[processCPUUser].Store(micros(user))
	p.r[processCPUSystem].Store(micros(system))
	end(&p.r[processChildSeq], s)
}

func storeBool(w *atomic.Uint64, on bool) {
	var v uint64
	if on {
		v = 1
	}
	w.Store(v)
}
