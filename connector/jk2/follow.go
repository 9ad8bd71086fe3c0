package jk2

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// current returns the state for a request that begins now. One atomic load
// tells that nothing has been announced. Else the first to notice makes the new
// state, and the others go on with the old one meanwhile.
func (c *Connector) current() *state {
	s := c.state.Load()
	if c.o.Board == nil || s.generation == c.o.Board.Generation() || !c.following.TryLock() {
		return s
	}
	defer c.following.Unlock()
	return c.follow()
}

// follow takes over what has been announced. The generation is read first:
// whatever comes later counts one more.
func (c *Connector) follow() *state {
	generation := c.o.Board.Generation()
	make := c.setup.with // the components of before
	if data, _, ok := c.o.Board.Text(nil); ok {
		make = func(edits []Edit) (*Setup, error) { return c.setup.adopt(data, edits) }
	}
	next, err := make(append(published(parseEdits(c.o.Board.Edits(nil))), c.own...))
	if err != nil {
		// The master has judged the text and the process that made them the
		// edits, so this is an edit that a later text does not go with.
		c.log.Error().Err(err).Msg("the changed configuration cannot be used as a whole, the edits of the status page are left out")
		if next, err = make(nil); err != nil {
			c.log.Error().Err(err).Msg("the changed configuration cannot be used, the old one stays")
			s := *c.state.Load()
			s.generation = generation
			c.state.Store(&s)
			return &s
		}
	}
	c.own = without(c.own, c.setup, next)
	c.setup = next
	c.use(next.Config, generation)
	c.log.Debug().Uint64("generation", generation).Msg("the changed configuration is in use")
	return c.state.Load()
}

// edit takes one edit of the status page: this process obeys it at once, and
// the others when it is one of ver.
func (c *Connector) edit(e Edit) error {
	c.following.Lock()
	defer c.following.Unlock()
	s := c.state.Load()
	if _, ok := s.cfg.component(e.Component); !ok {
		return fmt.Errorf("there is no component %q", e.Component)
	}
	typ, _, _ := strings.Cut(e.Component, ":")
	if k := kindOf(typ); k == nil || !k.knows(e.Property) || k.key(e.Property).readOnly {
		return fmt.Errorf("%s has no property %q that can be set", typ, e.Property)
	}
	if c.o.Board == nil {
		return errors.New("this process is alone")
	}
	own := mergedEdits(c.own, e)
	others := published(parseEdits(c.o.Board.Edits(nil)))
	next, err := c.setup.with(append(others, own...))
	if err != nil {
		return err
	}
	err = c.o.Board.Edit(c.o.Server, func(old []byte) ([]byte, error) {
		edits := mergedEdits(parseEdits(old), e)
		if len(edits) > mostEdits {
			return nil, fmt.Errorf("more than %d edits", mostEdits)
		}
		return formatEdits(edits), nil
	})
	if err != nil {
		return err
	}
	c.own = own
	c.use(next.Config, s.generation)
	if e.Property == verProperty {
		c.announce()
	}
	return nil
}

// announce makes all processes look at text and edits again.
func (c *Connector) announce() {
	c.o.Board.Announce()
	if c.o.Slots != nil {
		c.o.Slots.Announce()
	}
}

// answerWait is how long a request to the status page waits for the master to
// look at the file.
const answerWait = 2 * time.Second

// check asks the master to look at the file, as mod_jk2 does itself with each
// request to its status page, and takes over what came of it.
func (c *Connector) check() *state {
	if c.o.Board == nil {
		return c.state.Load()
	}
	n := c.o.Board.Ask()
	for end := time.Now().Add(answerWait); c.o.Board.Answered() < n && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	return c.current()
}
