package connector

import (
	"errors"
	"testing"
)

type ranked struct {
	name    string
	pattern string // "": no match
	err     error
}

func (r ranked) Name() string                           { return r.name }
func (r ranked) Service(*Request, ResponseWriter) error { return nil }
func (r ranked) Close() error                           { return r.err }
func (r ranked) Match(*Request) Worker {
	if r.pattern == "" {
		return nil
	}
	return r
}
func (r ranked) MatchRank(q *Request) (Worker, Rank) { return r.Match(q), RankOf(r.pattern) }

func TestRanking(t *testing.T) {
	for _, tt := range []struct {
		first, second string
		want          string
	}{
		{"", "", ""},
		{"/a", "", "1"},
		{"", "/a", "2"},
		{"/a", "/a", "1"},
		{"/a/*", "/a/b/*", "2"},
		{"/a/b/*", "/a/*", "1"},
		{"/*.jsp", "/x/*", "2"},
		{"/xx", "/x", "1"},
		{"/x", "/xx", "2"},
		{"/*", "/examples/*.jsp", "2"},
	} {
		l := Ranking{ranked{name: "1", pattern: tt.first}, ranked{name: "2", pattern: tt.second}}
		got := ""
		if w := l.Match(&Request{}); w != nil {
			got = w.Name()
		}
		if got != tt.want {
			t.Errorf("%q and %q: worker %q, want %q", tt.first, tt.second, got, tt.want)
		}
	}
}

func TestRankingCloses(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	l := Ranking{ranked{}, ranked{err: one}, ranked{err: two}}
	if err := l.Close(); err != one {
		t.Error(err)
	}
}
