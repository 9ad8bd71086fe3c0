package jk

import (
	"sync/atomic"

	"jkd/connector"
)

// mapping is the maps in use and what serves their rules. When a map file
// changes another one takes its place; requests in hand keep theirs.
type mapping struct {
	setup   *Setup
	targets []map[*Rule]connector.Worker // by Request.VHost
	// generations are the texts that setup was made of: jkshm.Map.Generation of
	// each of Connector.files.
	generations []uint64
	// edits is the segment's when the generations were compared last.
	edits atomic.Uint64
}

// newMapping gives every rule of s its target. What old, which may be nil, has
// for a map that is in s too is taken over.
func (c *Connector) newMapping(s *Setup, old *mapping) *mapping {
	m := &mapping{setup: s, generations: make([]uint64, len(c.files))}
	for i, u := range s.Maps {
		if old != nil && old.setup.Maps[i] == u {
			m.targets = append(m.targets, old.targets[i])
			continue
		}
		t := map[*Rule]connector.Worker{}
		for _, r := range u.rules {
			if !r.Exclude && !r.Disabled {
				t[r] = c.target(r, c.sites[i])
			}
		}
		m.targets = append(m.targets, t)
	}
	if old != nil {
		copy(m.generations, old.generations)
	}
	return m
}

// current returns the mapping for a request that begins now. One atomic load
// tells that nothing in the segment has changed. Else the first to notice makes
// the new mapping, and the others go on with the old one meanwhile.
func (c *Connector) current() *mapping {
	m := c.mapping.Load()
	if edits := c.seg.Edits(); m.edits.Load() == edits || !c.following.TryLock() {
		return m
	}
	defer c.following.Unlock()
	return c.follow()
}

// follow takes over what the master has published. Edits are read before the
// generations: whatever comes later counts one more.
func (c *Connector) follow() *mapping {
	m := c.mapping.Load()
	edits := c.seg.Edits()
	s, generations := m.setup, append([]uint64(nil), m.generations...)
	for k, file := range c.files {
		p := c.seg.Map(k)
		if g := p.Generation(); g == 0 || g == generations[k] {
			continue
		}
		text, _, g, ok := p.Load(nil)
		if !ok {
			return m // texts come too fast: the next request looks again
		}
		generations[k] = g
		r, err := s.Remap(file, text)
		if err != nil {
			// The master has judged the same text by the same function, so
			// this is memory that somebody else has written to.
			c.log.Error().Err(err).Str("file", file).Msg("the published map file cannot be used, the old rules stay")
			continue
		}
		s = r.Setup
	}
	if s != m.setup {
		m = c.newMapping(s, m)
		c.log.Debug().Msg("the rules of a changed map file are in use")
	}
	copy(m.generations, generations)
	m.edits.Store(edits)
	c.mapping.Store(m)
	return m
}
