package jkshm

import "sync/atomic"

// gauges is how many gauges a worker has: busy and connected.
const gauges = 2

const (
	// MaxGauge is the most a gauge shows.
	MaxGauge = 1<<31 - 1
	// maxCell is the most one child is believed to hold.
	maxCell = 1 << 20
	// maxDrift is how far the hint may be off the sum because of children that
	// are about to move it.
	maxDrift = 1 << 16
)

// gauge counts what is held at the moment, by all children together. Each child
// counts in its own cell, so that what a killed child held can be told from
// what the others hold.
//
// The sum over the cells is the truth and too slow for every request. hint is
// moved before a cell goes up and after it went down, so that it is the sum or
// more, also after a child was killed in between; only when it exceeds the
// maximum the sum needs to be taken to see whether there is a new one.
type gauge struct {
	cells     []atomic.Uint32
	high      *atomic.Uint64
	hint, max *atomic.Uint64
}

func (g *gauge) enter(server int) {
	cell := g.cell(server)
	g.hint.Add(1)
	cell.Add(1)
	// Whoever raises the last cell sees the hints of all the others.
	if g.hint.Load() > g.max.Load() {
		Counter{g.max}.Raise(uint64(g.sum()))
	}
}

func (g *gauge) leave(server int) {
	cell := &g.cells[server]
	for {
		n := cell.Load()
		if n == 0 {
			return
		}
		if cell.CompareAndSwap(n, n-1) {
			break
		}
	}
	if n := g.hint.Add(^uint64(0)); int64(n) < 0 {
		g.hint.CompareAndSwap(n, 0)
	}
}

// tries bounds how often tryEnter begins again because others that were in its
// way failed as well.
const tries = 8

// tryEnter counts one more in unless the sum is limit already. Of those that
// have come in, the last to raise its cell saw the cells of all others: so there
// are never more than limit in.
func (g *gauge) tryEnter(server, limit int) bool {
	if limit <= 0 {
		g.enter(server)
		return true
	}
	cell := g.cell(server)
	for range tries {
		g.hint.Add(1)
		cell.Add(1)
		n := g.sum()
		if n <= limit {
			Counter{g.max}.Raise(uint64(n))
			return true
		}
		g.leave(server)
		if g.sum() >= limit {
			return false
		}
	}
	return false
}

// cell is the cell of a server, which from now on is part of the sum.
func (g *gauge) cell(server int) *atomic.Uint32 {
	cell := &g.cells[server]
	if seen := uint64(server) + 1; g.high.Load() < seen {
		Counter{g.high}.Raise(seen)
	}
	return cell
}

// sum is what the children hold, 0 to MaxGauge.
func (g *gauge) sum() int {
	cells := g.cells[:min(g.high.Load(), uint64(len(g.cells)))]
	n := int64(0)
	for i := range cells {
		n += int64(cellValue(cells[i].Load()))
	}
	return int(min(n, MaxGauge))
}

// cellValue is what a cell is believed to say; what would be a negative number
// is nothing.
func cellValue(v uint32) uint32 {
	if v >= 1<<31 {
		return 0
	}
	return min(v, maxCell)
}

// reclaim empties the cell of a server that is gone.
func (g *gauge) reclaim(server int) {
	if n := g.cells[server].Swap(0); n != 0 {
		Counter{g.hint}.Sub(uint64(cellValue(n)))
	}
}

// settle brings the maximum up to the sum, and the hint near it if somebody has
// written nonsense there.
func (g *gauge) settle() {
	hint := g.hint.Load()
	n := uint64(g.sum())
	if hint < n || hint > n+maxDrift {
		g.hint.CompareAndSwap(hint, n)
	}
	Counter{g.max}.Raise(n)
}

// highest is the maximum, 0 to MaxGauge.
func (g *gauge) highest() int { return int(min(g.max.Load(), MaxGauge)) }

// reset makes what is held now the maximum.
func (g *gauge) reset() { g.max.Store(uint64(g.sum())) }
