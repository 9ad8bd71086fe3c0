package jk

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk/jkshm"
)

// edit changes the settings of the rig's worker as a status worker does.
func (r *rig) edit(f func(*jkshm.WorkerSettings)) {
	r.t.Helper()
	if err := r.w.rec.Update(0, func(s *jkshm.WorkerSettings) error { f(s); return nil }); err != nil {
		r.t.Fatal(err)
	}
}

// Settings count as they are when a request begins.
func TestEditsAreObeyed(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		c := ajptest.New(t, func(e *ajptest.Exchange) {
			if e.Request.URI == "/silent" {
				<-e.Container().Done()
				return
			}
			e.Respond(200, "x")
		})
		r := newRig(t, dial, c, 1, "retries=1")
		r.get("/")
		r.edit(func(s *jkshm.WorkerSettings) { s.PrepostTimeout = 9 * time.Second })
		r.get("/")
		if c.CPings() != 1 {
			t.Errorf("%d pings", c.CPings())
		}
		r.edit(func(s *jkshm.WorkerSettings) { s.PrepostTimeout, s.ReplyTimeout = 0, 30*time.Millisecond })
		r.fails(request("GET", "/silent", ""), &answer{}, 504)
		r.edit(func(s *jkshm.WorkerSettings) { s.ReplyTimeout = 0; s.ConnectionPoolTimeout = time.Second })
		r.get("/")
		r.clock.add(2 * time.Second)
		r.get("/") // too old
		if s := r.w.stats(); s.Closed["age"] != 1 || c.CPings() != 1 {
			t.Errorf("%+v, %d pings", s, c.CPings())
		}
		r.edit(func(s *jkshm.WorkerSettings) { s.Port = 0 })
		if e := r.fails(request("GET", "/", ""), &answer{}, 503); !errors.Is(e, errPortZero) {
			t.Error(e)
		}
	})
}

// A larger packet is sent as soon as it may be, on a connection made for it.
func TestPacketSizeIsEdited(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		c := ajptest.NewOptions(t, "tcp", ajptest.Options{PacketSize: 65536}, nil)
		r := newRig(t, dial, c, 1)
		large := func() *connector.Request {
			q := request("GET", "/", "")
			q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: bytes.Repeat([]byte("x"), 10000)})
			return q
		}
		r.get("/")
		r.fails(large(), &answer{}, 413)
		r.edit(func(s *jkshm.WorkerSettings) { s.MaxPacketSize = 16384 })
		if err := r.do(large(), &answer{}); err != nil {
			t.Error(err)
		}
		r.want("requests 3 client 1 misses 2 opened 2 closed-changed 1 idle 1")
		// What is in use when the size changes ends after use.
		g := &gates{}
		c2 := ajptest.New(t, g.handler)
		r2 := newRig(t, dial, c2, 2)
		done := make(chan string)
		go func() { done <- r2.get("/hold") }()
		c2.WaitRequests(1, long)
		r2.edit(func(s *jkshm.WorkerSettings) { s.MaxPacketSize = 9216 })
		close(g.of("/hold"))
		<-done
		r2.want("requests 1 misses 1 opened 1 closed-changed 1")
	})
}

// F053: an edit of the address moves the back end: nothing goes to the old one
// any more, and what is in hand there ends well.
func TestF053AddressIsEdited(t *testing.T) {
	bothKinds(t, func(t *testing.T, dial DialFunc) {
		g := &gates{}
		old, moved := ajptest.New(t, g.handler), ajptest.New(t, nil)
		r := newRig(t, dial, old, 4)
		r.hold(old, g, 3)
		seen := old.Requests()
		done := make(chan string)
		go func() { done <- r.get("/hold") }()
		old.WaitRequests(seen+1, long)
		r.edit(func(s *jkshm.WorkerSettings) { s.Port = moved.Port() })
		r.get("/")
		if moved.Requests() != 1 || !old.WaitOpen(1, long) {
			t.Errorf("%d requests at the new port, %d connections to the old", moved.Requests(), old.Open())
		}
		close(g.of("/hold"))
		<-done
		if !old.WaitOpen(0, long) {
			t.Errorf("%d connections to the old port", old.Open())
		}
		r.want("requests 5 hits 1 misses 4 opened 4 closed-changed 3 idle 1")
	})
}

// F043: max_connections bounds the connections of all processes together, and
// none of them starves because of what lies idle in the others.
func TestF043MaxConnections(t *testing.T) {
	g := &gates{}
	back := ajptest.New(t, g.handler)
	cfg, _ := mustParse(t, Env{}, Source{File: "w", Data: fmt.Appendf(nil,
		"worker.list=w\nworker.w.host=127.0.0.1\nworker.w.port=%d\nworker.w.max_connections=3\nworker.w.retry_interval=50\nworker.w.retries=2\n", back.Port())})
	m, _, err := NewURIMap(cfg, Env{}, mapFile("/*=w\n"))
	if err != nil {
		t.Fatal(err)
	}
	setup := &Setup{Config: cfg, Maps: []*URIMap{m}}
	const children = 4
	seg, err := FormatSegment(segmentMemory(t, setup, children), setup, children)
	if err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	var all [children]*Connector
	var n nets // the container itself notices the end of a connection late
	for i := range all {
		all[i] = New(setup, Options{Threads: 2, Dial: n.counting(dialKinds[1].dial), Segment: seg, Server: i, Logger: zerolog.New(log), WriteTimeout: long})
		defer all[i].Close()
	}
	get := func(i int, path string) error {
		q := request("GET", path, "")
		return all[i].Match(q).Service(q, &answer{})
	}
	// Three are in hand: a fourth waits for a moment and is refused.
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			if err := get(i, "/hold"); err != nil {
				t.Error(err)
			}
		})
	}
	if !back.WaitRequests(3, long) {
		t.Fatal("they do not arrive")
	}
	err = get(3, "/")
	if !errors.Is(err, errConnections) || !strings.Contains(err.Error(), "max_connections 3 of worker w") {
		t.Errorf("%v", err)
	}
	if !strings.Contains(log.String(), "max_connections 3 reached") {
		t.Error(log)
	}
	close(g.of("/hold"))
	wg.Wait()
	// All four take turns now, each time with nobody else busy.
	for round := range 10 {
		for i := range all {
			if err := get(i, "/"); err != nil {
				t.Errorf("round %d, child %d: %v", round, i, err)
			}
		}
	}
	// At the same time, as many as may be, many times.
	for i := range 3 {
		wg.Go(func() {
			for range 100 {
				if err := get(i, "/"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if _, _, most := n.counts(); most != 3 {
		t.Errorf("%d connections at a time", most)
	}
	for i := range all {
		all[i].Close()
	}
	if n := seg.Worker(0).Connected(); n != 0 {
		t.Errorf("%d connections counted", n)
	}
}

// A connect that fails takes no place.
func TestF043FailedConnectTakesNoPlace(t *testing.T) {
	c := ajptest.New(t, nil)
	r := newRig(t, dialKinds[0].dial, c, 1, "max_connections=1", "retries=1")
	c.Close()
	for range 3 {
		if e := r.fails(request("GET", "/", ""), &answer{}, 503); e.Op != "connect" {
			t.Error(e)
		}
	}
	if n := r.w.rec.Connected(); n != 0 {
		t.Errorf("%d counted", n)
	}
}
