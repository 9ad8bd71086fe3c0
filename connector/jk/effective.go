package jk

import (
	"maps"
	"slices"

	"jkd/connector/jk/status"
)

// effective is the directives as they count: macros replaced, lists joined,
// what a template gives among the rest, and each one once. Variables are left
// out, for they have done their work; they are the place where a part of a
// secret may stand without a name that tells.
func (b *builder) effective() []status.Pair {
	var out []status.Pair
	for _, p := range b.props.order {
		if p.Worker == "" && p.Directive != "" {
			out = append(out, status.Pair{Key: p.Name, Value: p.Value()})
		}
	}
	for _, d := range b.order {
		own := slices.Collect(maps.Values(d.own))
		slices.SortFunc(own, func(p, q *Property) int { return b.rank(d, p) - b.rank(d, q) })
		for _, p := range own {
			if p.Directive != "reference" {
				out = append(out, status.Pair{Key: workerPrefix + d.name + "." + p.Directive, Value: p.Value()})
			}
		}
	}
	return out
}

// rank is where a directive stands among those of d: its own before those of
// its templates, each in the order of the text.
func (b *builder) rank(d *definition, p *Property) int {
	n := slices.Index(b.props.order, p)
	if p.Worker != d.name {
		n += len(b.props.order)
	}
	return n
}
