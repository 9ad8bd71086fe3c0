//go:build unix

package mpm

import "time"

// process is the master's own record of one child. The Supervisor's goroutine
// is its only reader and writer.
type process struct {
	server  int
	pid     int
	started time.Time
	state   ServerState // starting, running, leaving
	ready   bool        // was seen ready
	told    bool        // an order was sent
	leaving time.Time   // since when it says that it is leaving
	link    *link
}

// table is the process table: at most one process a server index.
type table struct {
	servers []*process // by index; nil: free
	alive   int
}

func newTable(serverLimit int) table {
	return table{servers: make([]*process, serverLimit)}
}

// free returns the lowest index without a process, or -1.
func (t *table) free() int {
	if t.alive == len(t.servers) {
		return -1
	}
	for i, p := range t.servers {
		if p == nil {
			return i
		}
	}
	return -1
}

func (t *table) add(p *process) {
	if t.servers[p.server] != nil {
		panic("mpm: two processes for one server")
	}
	t.servers[p.server] = p
	t.alive++
}

func (t *table) remove(p *process) {
	t.servers[p.server] = nil
	t.alive--
}

// each calls f for every process, in order of index; f may remove it.
func (t *table) each(f func(*process)) {
	for _, p := range t.servers {
		if p != nil {
			f(p)
		}
	}
}

// ready counts children that are ready and were not told to leave.
func (t *table) ready() (n int) {
	t.each(func(p *process) {
		if p.state == ServerRunning {
			n++
		}
	})
	return n
}
