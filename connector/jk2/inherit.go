package jk2

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"jkd/connector/jk2/board"
)

// Inheritance is what the board of a generation takes over from that of the one
// before, whose children may still take edits: those of the status page. One
// goroutine of the master uses it. A nil Inheritance has nothing to catch up with.
type Inheritance struct {
	setup    *Setup
	before   *Setup // as the other generation read it, nil if that can't be told
	to, from *board.Board
	seen     []byte // edits on from, as they were taken over
	losses   []string
}

// Inherit prepares the board of a new generation, which serves setup: the
// generation after it will find there what was configured, and the status page's
// edits of the one before are made again. Not those of components that are gone,
// and not where the configuration says something new: another ver, or another
// value for what was edited. from is the board of the generation before, which is
// only read and may hold anything, or nil. The master calls it after Format,
// before there are children, and [Inheritance.Catch] from time to time.
//
// What processes know of the workers (errors, lb_value) is their own, as in
// mod_jk2, and ends with them.
func Inherit(setup *Setup, to, from *board.Board) (*Inheritance, error) {
	text, err := setup.export()
	if err == nil {
		err = to.Begin(text)
	}
	if from == nil {
		return nil, err
	}
	to.InheritToken(from)
	i := &Inheritance{setup: setup, to: to, from: from}
	if text, _, ok := from.Text(nil); ok {
		i.before, _ = setup.adopt(text, nil)
	}
	i.Catch()
	return i, err
}

// Losses are the edits that could not be made again since the last call, as
// sentences for a log.
func (i *Inheritance) Losses() []string {
	if i == nil {
		return nil
	}
	l := i.losses
	i.losses = nil
	return l
}

// Catch makes the edits that have come to the other board since the last call. It
// is to be called about once a second for as long as there are children of the
// other generation, and once more when they are gone.
func (i *Inheritance) Catch() {
	if i == nil {
		return
	}
	now := i.from.Edits(nil)
	if bytes.Equal(now, i.seen) {
		return
	}
	var fresh []Edit
	known := parseEdits(i.seen)
	for _, e := range parseEdits(now) {
		if slices.Contains(known, e) {
			continue
		}
		if why := i.obstacle(e); why != "" {
			i.lose(fmt.Sprintf("%s: the edit of %s on the status page: %s", e.Component, e.Property, why))
			continue
		}
		fresh = append(fresh, e)
	}
	if len(fresh) > 0 {
		err := i.to.EditAll(func(old []byte) ([]byte, error) {
			all := parseEdits(old)
			for _, e := range fresh {
				all = mergedEdits(all, e)
			}
			if len(all) > mostEdits {
				return nil, fmt.Errorf("more than %d edits", mostEdits)
			}
			if _, err := i.setup.with(published(all)); err != nil {
				return nil, err
			}
			return formatEdits(all), nil
		})
		if err != nil {
			i.lose(fmt.Sprintf("the edits of the status page are left out: %v", err))
		} else {
			i.to.Announce()
		}
	}
	i.seen = now
}

// mostLosses bounds what is told at a time.
const mostLosses = 100

func (i *Inheritance) lose(what string) {
	if len(i.losses) < mostLosses {
		i.losses = append(i.losses, what)
	}
}

// obstacle is why an edit is not made again, "" if it is.
func (i *Inheritance) obstacle(e Edit) string {
	typ, local, _ := strings.Cut(e.Component, ":")
	k := kindOf(typ)
	if _, ok := i.setup.Config.component(e.Component); !ok || k == nil {
		return "it is not in the configuration any more"
	}
	if !k.knows(e.Property) || k.key(e.Property).readOnly {
		return "there is no such property that can be set"
	}
	if i.before == nil {
		return "it is not known what was configured when it was made"
	}
	if i.before.changed(i.setup, e.Component) {
		return "the component is configured anew: the configuration counts"
	}
	// What is written for a channel holds for its worker.
	for _, name := range []string{e.Component, "channel.socket:" + local, "channel.un:" + local} {
		if !slices.Equal(i.before.values(name, e.Property), i.setup.values(name, e.Property)) {
			return "it is now configured differently from before: the configuration counts"
		}
	}
	return ""
}

// values are what is written for a property, edits not among them.
func (s *Setup) values(component, property string) (out []string) {
	if c := s.written.byName[component]; c != nil && c.props[property] != nil {
		for _, p := range c.props[property].parts {
			out = append(out, p.value)
		}
	}
	return out
}
