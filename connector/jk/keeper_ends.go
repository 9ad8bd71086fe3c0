package jk

import (
	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
)

// backEndUse is what a keeper remembers of one back end.
type backEndUse struct {
	rec  *jkshm.Worker
	used uint64 // at the last maintenance
}

// backEnds does the maintenance of the back ends themselves, whether or not
// they are in a balancer: late answers are forgotten by and by, and one that was
// well and has had nothing to do since last time is idle.
func (k *Keeper) backEnds(now int64) {
	if k.ends == nil {
		for i := range k.Segment.Workers() {
			rec := k.Segment.Worker(i)
			k.ends = append(k.ends, backEndUse{rec, rec.Used.Load()})
		}
		k.endsSince = now
	}
	if now < k.endsSince { // the clock was set back
		k.endsSince = now
	}
	shift := balance.Shift(now, k.endsSince, k.Config.Maintain)
	if shift == 0 {
		return
	}
	k.endsSince = now
	for i := range k.ends {
		e := &k.ends[i]
		e.rec.ReplyTimeouts.Shift(shift)
		used := e.rec.Used.Load()
		if used == e.used && e.rec.Busy() == 0 {
			e.rec.CompareAndSwapState(jkshm.WorkerOK, jkshm.WorkerIdle)
		}
		e.used = used
	}
}
