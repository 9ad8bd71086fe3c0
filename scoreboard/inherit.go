package scoreboard

import (
	"math"
	"time"

	"jkd/shm"
)

// Before is what the generations before this one have counted.
type Before struct {
	Accesses, Bytes    uint64
	Duration           time.Duration
	CPUUser, CPUSystem time.Duration // of masters and children, to the microsecond
}

// before reads it; false if it may be torn.
func (b *Scoreboard) before() (Before, bool) {
	var w [globalBeforeCPUSystem - globalBeforeAccesses + 1]uint64
	r := b.globalRec()
	ok := read(&r[globalBeforeSeq], r[globalBeforeAccesses:globalBeforeCPUSystem+1], w[:])
	return Before{
		Accesses: min(w[0], math.MaxInt64), Bytes: min(w[1], math.MaxInt64), Duration: ofNanos(w[2]),
		CPUUser: ofMicros(w[3]), CPUSystem: ofMicros(w[4]),
	}, ok
}

func (b *Scoreboard) setBefore(v Before) {
	r := b.globalRec()
	s := begin(&r[globalBeforeSeq])
	r[globalBeforeAccesses].Store(v.Accesses)
	r[globalBeforeBytes].Store(v.Bytes)
	r[globalBeforeDuration].Store(uint64(v.Duration))
	r[globalBeforeCPUUser].Store(micros(v.CPUUser))
	r[globalBeforeCPUSystem].Store(micros(v.CPUSystem))
	end(&r[globalBeforeSeq], s)
}

// Next is what [New] is to be told for the generation after the one of this
// scoreboard, which begins now: the next number, the same StartTime. A StartTime
// that cannot be is taken for now.
func (b *Scoreboard) Next(build uint64, now time.Time) Global {
	g := Global{Generation: b.global.Generation + 1, BuildID: build, StartTime: b.global.StartTime, RestartTime: now}
	if g.Generation == 0 {
		g.Generation = 1 // after all the others
	}
	if g.StartTime.IsZero() || g.StartTime.UnixNano() <= 0 || g.StartTime.After(now) {
		g.StartTime = now
	}
	return g
}

// Inheritance is what a generation's scoreboard takes over from that of the one
// before, whose children go on counting there for a while. One goroutine of the
// master uses it. A nil Inheritance has nothing to catch up with.
type Inheritance struct {
	to, from *Scoreboard
	own      Before      // what from had inherited itself, as far as it was taken over
	slots    [][3]uint64 // of each slot: accesses, bytes, duration taken over
	user     time.Duration
	system   time.Duration
	sum      Before // what to has
}

// Inherit takes over what another scoreboard, of any layout and with anything in
// it, says of all generations until now: requests, bytes, durations and processor
// time. It is only read, and may be read-only. The master calls Inherit after
// New, before any child attaches; then [Inheritance.Catch] from time to time.
func (b *Scoreboard) Inherit(from *Scoreboard) *Inheritance {
	if b == nil || from == nil {
		return nil
	}
	i := &Inheritance{to: b, from: from, slots: make([][3]uint64, from.layout.slots())}
	i.take(math.MaxInt64)
	return i
}

// Catch adds what was counted in the other scoreboard since the last call, or
// since Inherit. It is to be called once a second or so, for as long as there are
// children of the other generation, and once more when they are gone. Whatever
// they write, no sum goes back: what has become less counts as nothing, and so
// does a leap that counting cannot explain.
func (i *Inheritance) Catch() {
	if i != nil {
		i.take(shm.MostAtOnce)
	}
}

func (i *Inheritance) take(most uint64) {
	add := func(sum, seen *uint64, now uint64) { *sum = plus(*sum, shm.Forward(seen, now, most)) }
	addTime := func(sum, seen *time.Duration, now time.Duration) {
		s, x := uint64(*sum), uint64(*seen)
		add(&s, &x, uint64(max(now, 0)))
		*sum, *seen = time.Duration(s), time.Duration(x)
	}
	before, _ := i.from.before()
	add(&i.sum.Accesses, &i.own.Accesses, before.Accesses)
	add(&i.sum.Bytes, &i.own.Bytes, before.Bytes)
	addTime(&i.sum.Duration, &i.own.Duration, before.Duration)
	for n := range i.slots {
		r, seen := i.from.worker(n), &i.slots[n]
		add(&i.sum.Accesses, &seen[0], r[workerAccessCount].Load())
		add(&i.sum.Bytes, &seen[1], r[workerBytesServed].Load())
		d := uint64(i.sum.Duration)
		add(&d, &seen[2], r[workerDuration].Load())
		i.sum.Duration = time.Duration(d)
	}
	// A child's time is its own until it is waited for and then, a moment later,
	// part of the master's: between the two the sum is less, which counts as
	// nothing.
	user, system := i.from.cpu(before)
	addTime(&i.sum.CPUUser, &i.user, user)
	addTime(&i.sum.CPUSystem, &i.system, system)
	i.to.setBefore(i.sum)
}

// cpu is the processor time of a generation and those before it.
func (b *Scoreboard) cpu(before Before) (user, system time.Duration) {
	var g GlobalScore
	b.readGlobal(&g)
	user = plusTime(plusTime(before.CPUUser, g.Times.User), g.Times.ChildrenUser)
	system = plusTime(plusTime(before.CPUSystem, g.Times.System), g.Times.ChildrenSystem)
	for server := range b.layout.ServerLimit {
		var p ProcessScore
		readProcess(b.process(server), &p)
		user, system = plusTime(user, p.CPUUser), plusTime(system, p.CPUSystem)
	}
	return user, system
}

// plus is a sum, at most math.MaxInt64.
func plus(a, b uint64) uint64 {
	return min(min(a, math.MaxInt64)+min(b, math.MaxInt64), math.MaxInt64)
}

func plusTime(a, b time.Duration) time.Duration { return time.Duration(plus(uint64(a), uint64(b))) }
