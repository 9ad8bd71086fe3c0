package jkshm

import "jkd/connector/jk/balance"

// Reclaim takes back what a child held that is gone: its requests in hand and
// open connections are no more, members that it was probing are to be probed by
// another (balance.Recover), and locks it had are free. An edit it had not
// completed has not happened. The master calls it after it has waited for the
// child and before it starts another of that number. It panics when server is
// out of range.
func (s *Segment) Reclaim(server int) {
	owner := s.owner(server)
	for i := range s.workers {
		s.workers[i].busy.reclaim(server)
		s.workers[i].connected.reclaim(server)
	}
	for i := range s.balancers {
		b := &s.balancers[i]
		for j := range b.members {
			b.members[j].EndProbe(server, balance.Recover)
		}
		release(b.lock, owner)
	}
	if s.lock.CompareAndSwap(owner, 0) {
		// It may have published its edit and not said so.
		s.edits.Add(1)
	}
}

// Settle makes up for what the gauges cannot do at every request: the maxima
// become at least what there is now, and nonsense in the words that help to
// find them is corrected. The master calls it now and then, say once a second.
func (s *Segment) Settle() {
	for i := range s.workers {
		s.workers[i].busy.settle()
		s.workers[i].connected.settle()
	}
}
