package connector

import "strings"

// Rank is how specific the pattern of a rule is. Of two, the one with more
// slashes is, then the longer one.
type Rank struct{ Slashes, Length int }

// RankOf is the rank of a pattern.
func RankOf(pattern string) Rank {
	return Rank{Slashes: strings.Count(pattern, "/"), Length: len(pattern)}
}

// Above tells whether a is more specific than b.
func (a Rank) Above(b Rank) bool {
	if a.Slashes != b.Slashes {
		return a.Slashes > b.Slashes
	}
	return a.Length > b.Length
}

// Ranked is a Connector that tells how specific its match is.
type Ranked interface {
	Connector
	// MatchRank is Match with the rank of the pattern that matched.
	MatchRank(r *Request) (Worker, Rank)
}

// Ranking are connectors of which the one with the most specific match gets a
// request; of equal ones the first.
type Ranking []Ranked

var _ Connector = Ranking(nil)

// Match implements Connector.
func (l Ranking) Match(r *Request) Worker {
	var best Worker
	var rank Rank
	for _, c := range l {
		if w, k := c.MatchRank(r); w != nil && (best == nil || k.Above(rank)) {
			best, rank = w, k
		}
	}
	return best
}

// Close implements Connector. It returns the first error.
func (l Ranking) Close() (err error) {
	for _, c := range l {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	return err
}
