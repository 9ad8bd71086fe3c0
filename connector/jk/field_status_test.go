package jk

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/counters"
)

// F046: one slot, a container that takes 300 ms, three at a time: the second
// waits for its turn, the third for as long as it may.
func TestF046AllSlotsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(CacheConfig{Mode: ModePool, Size: 1, AcquireTimeout: 400 * time.Millisecond}, 0, new(counters.Record))
		start := time.Now()
		var mu sync.Mutex
		var got []string
		for range 3 {
			go func() {
				err := p.enter(nil)
				if err == nil {
					time.Sleep(300 * time.Millisecond)
					p.leave()
				}
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprint(time.Since(start), " ", err))
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		same(t, "outcomes", got, []string{"300ms <nil>", "400ms " + errBusy.Error(), "600ms <nil>"})
	})
}

// And a balancer takes such a member for busy, not for broken.
func TestF046MemberIsNotInError(t *testing.T) {
	for _, limit := range []string{"busy_limit=1", "connection_pool_size=1"} {
		var g gates
		r, cs := newLB(t, 2, map[string]ajptest.Handler{"n1": g.handler}, "", "n1."+limit, "n1.connection_acquire_timeout=1", "n2.activation=disabled")
		var wg sync.WaitGroup
		wg.Go(func() { r.get("/hold") })
		if !cs[0].WaitRequests(1, long) {
			t.Fatal("no request")
		}
		same(t, limit, r.get("/"), "503")
		same(t, limit+": the other one's sessions", r.get("/", "JSESSIONID=x.n2"), "n2")
		close(g.of("/hold"))
		wg.Wait()
		if s := r.member(0).state(); s.InError() {
			t.Errorf("%s: %v", limit, s)
		}
		same(t, limit+": with room again", r.get("/"), "1")
	}
}

// F063: the client sees the same status of the same fault, whether the back
// end is a worker of its own, the only member of a balancer, or one of two.
func TestF063SameStatus(t *testing.T) {
	tests := []struct {
		name   string
		lines  []string
		script ajptest.Handler
		before func(c *Connector, back *ajptest.Container)
		q      func(path string) *connector.Request
		want   int
	}{
		{name: "refused", before: func(_ *Connector, back *ajptest.Container) { back.Close() }, want: 503},
		{name: "all busy", lines: []string{"connection_pool_size=1", "connection_acquire_timeout=1"}, before: func(c *Connector, _ *ajptest.Container) {
			for _, w := range append(append([]*worker(nil), c.workers...), c.members...) {
				if w != nil {
					if err := w.pool.enter(nil); err != nil {
						panic(err)
					}
				}
			}
		}, want: 503},
		{name: "bad packet", script: func(e *ajptest.Exchange) { e.Send(ajptest.Payload(0x42).Packet()) }, want: 502},
		{name: "bad headers", script: func(e *ajptest.Exchange) { e.Send(ajptest.SendHeaders(0, "")) }, want: 502},
		{name: "HTTP", script: func(e *ajptest.Exchange) { e.Send([]byte("HTTP/1.1 200 OK\r\n\r\n")) }, want: 502},
		{name: "closed before an answer", script: func(e *ajptest.Exchange) { e.Close() }, want: 502},
		{name: "reset before an answer", script: func(e *ajptest.Exchange) { e.Reset() }, want: 502},
		{name: "closed within the answer's head", script: func(e *ajptest.Exchange) { e.Send([]byte("AB\x00\x20\x04")); e.Close() }, want: 502},
		{name: "reply timeout", lines: []string{"reply_timeout=20"}, script: func(e *ajptest.Exchange) { e.Hold() }, want: 504},
		{name: "too long", q: func(path string) *connector.Request {
			q := request("GET", path, "")
			q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: make([]byte, 9000)})
			return q
		}, want: 413},
		{name: "body cut", q: func(path string) *connector.Request {
			q := request("POST", path, "")
			q.ContentLength, q.Body = 100, strings.NewReader("half")
			return q
		}, want: 400},
		{name: "later body cut", script: func(e *ajptest.Exchange) { e.Body() }, q: func(path string) *connector.Request {
			q := request("POST", path, "")
			q.ContentLength, q.Body = 100000, strings.NewReader(strings.Repeat("x", 20000))
			return q
		}, want: 400},
		{name: "status that fails", lines: []string{"fail_on_status=500"}, script: func(e *ajptest.Exchange) { e.Respond(500, "no") }, want: 503},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, path := range []string{"/w/", "/one/", "/two/"} {
				back := ajptest.NewOptions(t, "tcp", ajptest.Options{OnError: func(error) {}}, tt.script)
				text := "worker.list=w,one,two\nworker.w.reference=worker.t\n" +
					"worker.one.type=lb\nworker.one.balance_workers=m1\nworker.m1.reference=worker.t\n" +
					"worker.two.type=lb\nworker.two.balance_workers=m2,m3\nworker.m2.reference=worker.t\nworker.m3.reference=worker.t\n" +
					fmt.Sprintf("worker.t.host=127.0.0.1\nworker.t.port=%d\nworker.t.retry_interval=0\n", back.Port())
				for _, l := range tt.lines {
					text += "worker.t." + l + "\n"
				}
				cfg, _ := mustParse(t, testEnv(), source(text))
				m, _, err := NewURIMap(cfg, testEnv(), mapFile("/w/*=w\n/one/*=one\n/two/*=two\n"))
				if err != nil {
					t.Fatal(err)
				}
				c := New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{Threads: 1, Dial: dialKinds[1].dial, Logger: zerolog.Nop(), WriteTimeout: long})
				if tt.before != nil {
					tt.before(c, back)
				}
				q := request("GET", path, "")
				if tt.q != nil {
					q = tt.q(path)
				}
				err = c.Match(q).Service(q, &answer{})
				var e *connector.Error
				if !errors.As(err, &e) || e.Status != tt.want || e.Client != (tt.want == 400 || tt.want == 413) {
					t.Errorf("%s: %v (%+v), want %d", path, err, e, tt.want)
				}
				c.Close()
			}
		})
	}
}
