package scoreboard

// Reclaim frees the records of a child that is gone, whatever it left in them.
// The master calls it after it has waited for the child, when it is the only
// writer; it may be called again. All slots become Dead and what the child and
// its last connection counted becomes zero, while the slot's totals and its
// last request stay; sequences that an interrupted update left odd become
// even; the process record has no pid, is not quiescing, and has used no
// processor time. It panics when server is out of range.
func (b *Scoreboard) Reclaim(server int) {
	b.checkServer(server)
	first := server * b.layout.ThreadLimit
	for i := first; i < first+b.layout.ThreadLimit; i++ {
		r := b.worker(i)
		s := begin(&r[workerSeq])
		access, bytes := r[workerAccessCount].Load(), r[workerBytesServed].Load()
		r[workerMyAccessBase].Store(access)
		r[workerConnBase].Store(access)
		r[workerMyBytesBase].Store(bytes)
		r[workerConnByteBase].Store(bytes)
		end(&r[workerSeq], s)
		r[workerStatus].Store(uint64(Dead))
	}
	p := b.process(server)
	s := begin(&p[processChildSeq])
	p[processCPUUser].Store(0)
	p[processCPUSystem].Store(0)
	end(&p[processChildSeq], s)
	p[processQuiescing].Store(0)
	p[processNotAccepting].Store(0)

	s = begin(&p[processSeq])
	p[processPID].Store(0)
	p[processStartTime].Store(0)
	end(&p[processSeq], s)
}
