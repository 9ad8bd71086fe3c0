//go:build unix

package main

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"jkd/connector/counters"
	"jkd/mpm"
	"jkd/scoreboard"
)

func TestDeathOf(t *testing.T) {
	for _, tt := range []struct {
		e    mpm.Exit
		want counters.Death
	}{
		{mpm.Exit{}, counters.DeathUnknown},
		{mpm.Exit{Known: true}, counters.DeathOK},
		{mpm.Exit{Known: true, Code: mpm.ExitSick}, counters.DeathSick},
		{mpm.Exit{Known: true, Code: mpm.ExitFatal}, counters.DeathFatal},
		{mpm.Exit{Known: true, Code: mpm.ExitBadHandshake}, counters.DeathHandshake},
		{mpm.Exit{Known: true, Code: 2}, counters.DeathExit},
		{mpm.Exit{Known: true, Signal: syscall.SIGKILL}, counters.DeathKilled},
		{mpm.Exit{Known: true, Signal: syscall.SIGSEGV}, counters.DeathCrashed},
	} {
		if got := deathOf(tt.e); got != tt.want {
			t.Errorf("%+v: %s, not %s", tt.e, got, tt.want)
		}
	}
}

// What the generation before counts at the end is in the seconds too, all of it
// once.
func TestHistoryInherits(t *testing.T) {
	l := counters.NewLayout(1, nil)
	n, err := counters.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	var tables [2]*counters.Table
	for i := range tables {
		if tables[i], err = counters.Format(make([]byte, n), l); err != nil {
			t.Fatal(err)
		}
	}
	layout := scoreboard.Layout{ServerLimit: 1, ThreadLimit: 1}
	if n, err = scoreboard.Size(layout); err != nil {
		t.Fatal(err)
	}
	board, err := scoreboard.New(make([]byte, n), layout, scoreboard.Global{})
	if err != nil {
		t.Fatal(err)
	}
	old := tables[0].Record(0, "", "-")
	old.Request(200, false, 0, 1)
	tables[0].PutSecond(counters.Second{Unix: 1, Requests: 1})
	i := tables[1].Inherit(tables[0])
	old.Request(200, false, 0, 1) // before the first look: the other table's seconds would have it
	h := &history{table: tables[1], board: board, catch: func() {
		i.Catch()
		old.Request(200, false, 0, 1) // after the last one: comes with the next
	}}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		h.Run(stop)
		close(done)
	}()
	for end := time.Now().Add(time.Minute); len(tables[1].History()) < 3; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no seconds")
		}
	}
	close(stop)
	<-done
	for k, s := range tables[1].History() {
		if s.Requests != 1 {
			t.Errorf("second %d: %d requests", k, s.Requests)
		}
	}
}

// The seconds are what was counted between two looks.
func TestHistorySums(t *testing.T) {
	l := counters.NewLayout(2, []counters.WorkerName{{Name: "w", Connector: "jk"}})
	n, err := counters.Size(l)
	if err != nil {
		t.Fatal(err)
	}
	table, err := counters.Format(make([]byte, n), l)
	if err != nil {
		t.Fatal(err)
	}
	layout := scoreboard.Layout{ServerLimit: 2, ThreadLimit: 3}
	if n, err = scoreboard.Size(layout); err != nil {
		t.Fatal(err)
	}
	board, err := scoreboard.New(make([]byte, n), layout, scoreboard.Global{})
	if err != nil {
		t.Fatal(err)
	}
	h := &history{table: table, board: board}
	own, w := table.Record(0, "", "-"), table.Record(1, "jk", "w")
	own.Request(200, false, time.Second, 10)
	before := h.sums()
	own.Request(404, false, time.Second, 1)
	w.Request(503, false, 2*time.Second, 2)
	w.Request(200, true, 3*time.Second, 4)
	want := counters.Second{Requests: 3, Errors: 1, Bytes: 7, Duration: 6 * time.Second}
	if got := h.sums().since(before); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
	if got := before.since(h.sums()); got != (counters.Second{}) {
		t.Errorf("backwards: %+v", got)
	}
	for i, s := range []scoreboard.Status{scoreboard.Ready, scoreboard.BusyWrite, scoreboard.KeepAlive} {
		board.Slot(0, i).SetStatus(s)
		board.Slot(1, i).SetStatus([]scoreboard.Status{scoreboard.Graceful, scoreboard.Starting, scoreboard.Ready}[i])
	}
	if busy, idle := h.slots(); busy != 2 || idle != 2 {
		t.Errorf("%d busy, %d idle", busy, idle)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		h.Run(stop)
		close(done)
	}()
	eventually := time.Now().Add(time.Minute)
	for len(table.History()) < 2 {
		if time.Now().After(eventually) {
			t.Fatal("no seconds")
		}
		time.Sleep(50 * time.Millisecond)
	}
	close(stop)
	<-done
	s := table.History()
	if !slices.IsSortedFunc(s, func(a, b counters.Second) int { return int(a.Unix - b.Unix) }) || s[0].Busy != 2 || s[0].Idle != 2 {
		t.Errorf("%+v", s)
	}
	var v scoreboard.View
	board.Snapshot(&v)
	if v.Global.Times.User+v.Global.Times.System <= 0 {
		t.Errorf("%+v", v.Global.Times)
	}
}
