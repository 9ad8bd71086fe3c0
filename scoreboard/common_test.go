package scoreboard

import (
	"testing"
	"time"
)

var (
	testGlobal = Global{Generation: 3, BuildID: 0xfeedface12345678, StartTime: time.Unix(1700000000, 123456789)}
	testLayout = Layout{ServerLimit: 4, ThreadLimit: 3}
)

// mustNew is a scoreboard in Go's memory, which the race detector watches.
func mustNew(t testing.TB, l Layout) *Scoreboard {
	t.Helper()
	size, err := Size(l)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(make([]byte, size), l, testGlobal)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// snapshot is a fresh view.
func snapshot(b *Scoreboard) *View {
	v := new(View)
	b.Snapshot(v)
	return v
}
