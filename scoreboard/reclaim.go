package scoreboard

// Reclaim frees the records of a child that is gone, whatever it left in them.
// The master calls it after it has waited for the child, when it is the only
// writer; it may be called again. It panics when server is out of range.
//
// All slots become Dead. What the child and its last connection counted becomes
// zero; the slot's totals and its last request stay. An update that the child's
// death interrupted is closed: the sequence becomes even, and the texts, which
// may mix two requests, are emptied. (The totals may lack the bytes of the
// request that was just being counted.) The process record has no pid, is not
// quiescing and has used no processor time.
//
// Handles of the slots that were taken before must not be used any more.
func (b *Scoreboard) Reclaim(server int) {
	b.checkServer(server)
	first := server * b.layout.ThreadLimit
	for i := first; i < first+b.layout.ThreadLimit; i++ {
		reclaimWorker(b.worker(i))
	}
	reclaimProcess(b.process(server))
}

func reclaimWorker(r *workerRecord) {
	interrupted := r[workerSeq].Load()&1 != 0
	s := begin(&r[workerSeq])
	access, served := r[workerAccessCount].Load(), r[workerBytesServed].Load()
	r[workerMyAccessBase].Store(access)
	r[workerConnBase].Store(access)
	r[workerMyBytesBase].Store(served)
	r[workerConnByteBase].Store(served)
	if interrupted {
		for w := workerText; w < workerLength; w++ {
			r[w].Store(0)
		}
	}
	end(&r[workerSeq], s)
	r[workerStatus].Store(uint64(Dead))
}

func reclaimProcess(p *processRecord) {
	s := begin(&p[processChildSeq])
	p[processCPUUser].Store(0)
	p[processCPUSystem].Store(0)
	end(&p[processChildSeq], s)
	p[processQuiescing].Store(0)
	p[processNotAccepting].Store(0)
	p[processConnections].Store(0)
	p[processParked].Store(0)

	s = begin(&p[processSeq])
	p[processPID].Store(0)
	p[processStartTime].Store(0)
	end(&p[processSeq], s)
}
