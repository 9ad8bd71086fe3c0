package jkshm

import (
	"slices"
	"sync/atomic"
)

// attempts bounds how often a reader tries for one copy. Only two edits while
// it reads can spoil it.
const attempts = 100

// record is settings in shared memory: what was configured, two copies of what
// is valid now, and the sequence word whose lowest bit selects one of them.
type record struct {
	seq    *atomic.Uint64
	base   []atomic.Uint64
	copies [2][]atomic.Uint64
}

// newRecord is the record with base and copies of n words at word at.
func newRecord(w []atomic.Uint64, seq, at, n int) record {
	return record{
		seq:    &w[seq],
		base:   w[at : at+n],
		copies: [2][]atomic.Uint64{w[at+n : at+2*n], w[at+2*n : at+3*n]},
	}
}

// read copies the valid copy to dst and returns its version. If the sequence
// never rests, which only nonsense in the memory can cause, the copy may be a
// mixture, and the version is one that will be found to have changed.
func (r *record) read(dst []uint64) uint64 {
	var s uint64
	for range attempts {
		s = r.seq.Load()
		load(r.copies[s&1], dst)
		if r.seq.Load() == s {
			break
		}
	}
	return s
}

// load makes s what is valid.
func (r *record) load(s configurable) uint64 {
	var buf [workerConfigWords]uint64
	w := buf[:len(r.base)]
	v := r.read(w)
	decode(s, w)
	return v
}

// configure sets what is configured and valid, before anybody else looks.
func (r *record) configure(s configurable) error {
	w := make([]uint64, len(r.base))
	if err := encode(s, w); err != nil {
		return err
	}
	store(r.base, w)
	r.publish(w, nil)
	return nil
}

// publishSettings makes s valid.
func (r *record) publishSettings(s configurable) error {
	w := make([]uint64, len(r.base))
	if err := encode(s, w); err != nil {
		return err
	}
	r.publish(w, nil)
	return nil
}

// write publishes s if it is in range and not what is valid already. The edit
// lock is held.
func (r *record) write(g *Segment, s configurable) error {
	w, old := make([]uint64, len(r.base)), make([]uint64, len(r.base))
	if err := encode(s, w); err != nil {
		return err
	}
	r.read(old)
	if slices.Equal(w, old) {
		return nil
	}
	g.reached("changed")
	r.publish(w, g.reached)
	g.edits.Add(1)
	g.reached("counted")
	return nil
}

// publish fills the copy that is not valid and makes it so.
func (r *record) publish(w []uint64, reached func(string)) {
	s := r.seq.Load() + 1
	c := r.copies[s&1]
	for i, v := range w {
		c[i].Store(v)
		if reached != nil && i == len(w)/2 {
			reached("half written")
		}
	}
	if reached != nil {
		reached("written")
	}
	r.seq.Store(s)
	if reached != nil {
		reached("published")
	}
}

func store(dst []atomic.Uint64, w []uint64) {
	for i, v := range w {
		dst[i].Store(v)
	}
}

// edited lists the fields that are not as configured.
func (r *record) edited(spans []span) []string {
	var buf, base [workerConfigWords]uint64
	r.read(buf[:len(r.base)])
	load(r.base, base[:len(r.base)])
	var out []string
	for _, f := range spans {
		if !slices.Equal(buf[f.at:f.at+f.n], base[f.at:f.at+f.n]) {
			out = append(out, f.name)
		}
	}
	return out
}
