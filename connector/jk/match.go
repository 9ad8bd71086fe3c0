package jk

import (
	"bytes"
	"math"
	"strings"
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
	// exact are the patterns without wildcards, tails those with, each by
	// ascending rank.
	exact []pattern
	tails []pattern
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
	if p.kind == tailNone {
		n.exact = append(n.exact, p)
	} else {
		n.tails = append(n.tails, p)
	}
}

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
	var found *Rule
	best := noRank
	for n, rest := m.root, path; n != nil && n.best < best; {
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
		if len(rest) == 0 {
			if len(n.exact) > 0 && n.exact[0].rank < best {
				found = n.exact[0].rule
			}
			break
		}
		n, rest = n.step(rest)
	}
	return found
}

// any tells whether a rule for that worker, or for any, matches path.
func (m *matcher) any(path []byte, worker int) bool {
	for n, rest := m.root, path; n != nil; n, rest = n.step(rest) {
		for i := range n.tails {
			if p := &n.tails[i]; (p.rule.Index == worker || p.rule.Index < 0) && p.match(rest) {
				return true
			}
		}
		if len(rest) == 0 {
			for i := range n.exact {
				if x := n.exact[i].rule.Index; x == worker || x < 0 {
					return true
				}
			}
			return false
		}
	}
	return false
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
		return len(rest) >= len(p.tail) && rest[len(rest)-1] == p.tail[len(p.tail)-1] && bytes.HasSuffix(rest, p.tail)
	case tailPattern:
		return wildcard(p.tail, rest)
	}
	return len(rest) == 0
}

// wildcard matches s against a pattern in which '*' is any run of bytes and
// '?' is one byte. It goes back to the latest '*' only: what an earlier one
// could have taken, the latest can take as well.
func wildcard(pattern, s []byte) bool {
	p, i := 0, 0
	star, from := -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			from++
			p, i = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
