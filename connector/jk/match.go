package jk

import (
	"bytes"
	"math"
	"strings"

	"jkd/conf"
)

// matcher holds patterns in a tree of their literal beginnings. The way down
// for a path passes exactly the nodes whose patterns can match it.
type matcher struct {
	root *node
}

// node is a place in the tree: the bytes that lead to it from its parent, the
// patterns whose literal beginning ends here, and what goes on from here.
type node struct {
	label []byte
	// exact are the patterns without wildcards, suffixes those that only ask
	// for an end of two bytes or more, tails all others, each by ascending
	// rank. ends[i] is the last two bytes of suffixes[i]: sites have hundreds
	// of rules like /*.jsp, and most can be told from it.
	exact    []pattern
	suffixes []pattern
	ends     []uint16
	tails    []pattern
	// first[i] is the first byte of kids[i].label.
	first []byte
	kids  []*node
	// best is the least rank in this node and below.
	best int
}

// pattern is one rule and what its pattern asks of the rest of a path.
type pattern struct {
	rule *Rule
	rank int // place in the order of precedence
	// kind tells what tail means.
	kind tailKind
	tail []byte
}

type tailKind uint8

const (
	tailNone    tailKind = iota // the path must end here
	tailAny                     // "*"
	tailSuffix                  // '*' and then tail, which has no wildcard
	tailPattern                 // tail is a pattern
)

const noRank = math.MaxInt

// add enters a rule; rules come by ascending rank.
func (m *matcher) add(r *Rule, rank int) {
	literal, tail := r.Pattern, ""
	if i := strings.IndexAny(r.Pattern, "*?"); i >= 0 {
		literal, tail = r.Pattern[:i], r.Pattern[i:]
	}
	p := pattern{rule: r, rank: rank}
	switch {
	case tail == "":
	case strings.Trim(tail, "*") == "":
		p.kind = tailAny
	case tail[0] == '*' && !strings.ContainsAny(tail[1:], "*?"):
		p.kind, p.tail = tailSuffix, []byte(tail[1:])
	default:
		p.kind, p.tail = tailPattern, []byte(tail)
	}
	if m.root == nil {
		m.root = &node{best: noRank}
	}
	n := m.root.reach([]byte(literal), rank)
	switch {
	case p.kind == tailNone:
		n.exact = append(n.exact, p)
	case p.kind == tailSuffix && len(p.tail) >= 2:
		n.suffixes = append(n.suffixes, p)
		n.ends = append(n.ends, end(p.tail))
	default:
		n.tails = append(n.tails, p)
	}
}

// end is the last two bytes of s, which has as many.
func end(s []byte) uint16 { return uint16(s[len(s)-2])<<8 | uint16(s[len(s)-1]) }

// reach returns the node for literal below n, made if need be, and notes on
// the way that rank is found there.
func (n *node) reach(literal []byte, rank int) *node {
	n.best = min(n.best, rank)
	if len(literal) == 0 {
		return n
	}
	i := bytes.IndexByte(n.first, literal[0])
	if i < 0 {
		kid := &node{label: literal, best: rank}
		n.first = append(n.first, literal[0])
		n.kids = append(n.kids, kid)
		return kid
	}
	kid := n.kids[i]
	same := common(kid.label, literal)
	if same < len(kid.label) {
		// Split the way to kid where the two part.
		upper := &node{label: kid.label[:same], first: []byte{kid.label[same]}, kids: []*node{kid}, best: kid.best}
		kid.label = kid.label[same:]
		n.kids[i] = upper
		kid = upper
	}
	return kid.reach(literal[same:], rank)
}

func common(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// first returns the rule of least rank that matches path, or nil.
func (m *matcher) first(path []byte) *Rule {
	if m.root == nil {
		return nil
	}
	found, _ := m.root.find(path, nil, noRank)
	return found
}

// find returns the rule of least rank in n and below that matches rest, if its
// rank is less than best, else found and best. It looks below first: the
// patterns there are longer, and what they yield mostly saves looking here.
func (n *node) find(rest []byte, found *Rule, best int) (*Rule, int) {
	if n.best >= best {
		return found, best
	}
	if len(rest) == 0 {
		if len(n.exact) > 0 && n.exact[0].rank < best {
			found, best = n.exact[0].rule, n.exact[0].rank
		}
	} else if kid, more := n.step(rest); kid != nil {
		found, best = kid.find(more, found, best)
	}
	for i := range n.tails {
		p := &n.tails[i]
		if p.rank >= best {
			break
		}
		if p.match(rest) {
			found, best = p.rule, p.rank
			break
		}
	}
	if len(rest) >= 2 && len(n.suffixes) > 0 && n.suffixes[0].rank < best {
		e := end(rest)
		for i, x := range n.ends {
			if x != e {
				continue
			}
			p := &n.suffixes[i]
			if p.rank >= best {
				break
			}
			if p.match(rest) {
				return p.rule, p.rank
			}
		}
	}
	return found, best
}

// any tells whether a rule for r's worker, or for any, matches path.
func (m *matcher) any(path []byte, r *Rule) bool {
	for n, rest := m.root, path; n != nil; n, rest = n.step(rest) {
		if serves(n.tails, rest, r) || serves(n.suffixes, rest, r) {
			return true
		}
		if len(rest) == 0 {
			return serves(n.exact, rest, r)
		}
	}
	return false
}

func serves(list []pattern, rest []byte, r *Rule) bool {
	for i := range list {
		if p := &list[i]; p.rule.speaksOf(r) && p.match(rest) {
			return true
		}
	}
	return false
}

// speaksOf tells whether the exclusion x is for the worker of r.
func (x *Rule) speaksOf(r *Rule) bool {
	return x.Index == AnyWorker || x.Index == r.Index && (r.Index >= 0 || x.Worker == r.Worker)
}

// step goes on to the node that rest leads to; the node is nil when there is
// none. rest is not empty.
func (n *node) step(rest []byte) (*node, []byte) {
	i := bytes.IndexByte(n.first, rest[0])
	if i < 0 {
		return nil, nil
	}
	kid := n.kids[i]
	if !bytes.HasPrefix(rest, kid.label) {
		return nil, nil
	}
	return kid, rest[len(kid.label):]
}

func (p *pattern) match(rest []byte) bool {
	switch p.kind {
	case tailAny:
		return true
	case tailSuffix:
		return bytes.HasSuffix(rest, p.tail)
	case tailPattern:
		return conf.Wildcard(p.tail, rest)
	}
	return len(rest) == 0
}
