package jk2

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/connectortest"
	"jkd/connector/jk2/jk2shm"
)

var benchCases = []struct {
	name, cookie, lines string
	shm                 bool
}{
	{"one", "", "[uri:/*]\ngroup=ajp13:CHANNEL\n", false},
	{"one, shm", "", "[uri:/*]\ngroup=ajp13:CHANNEL\n", true},
	{"one, shm and timing", "", "[workerEnv:]\ntiming=1\n[uri:/*]\ngroup=ajp13:CHANNEL\n", true},
	{"balancer", "", "[uri:/*]\n", false},
	{"balancer, shm", "", "[uri:/*]\n", true},
	{"sticky, shm", "JSESSIONID=0123456789ABCDEF.n2", "[uri:/*]\n", true},
}

// benchSlots is a jk2.shm of one child.
func benchSlots(t testing.TB) *jk2shm.Segment {
	size, err := jk2shm.Size(1)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := jk2shm.Format(make([]byte, size), 1)
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

// service is what one request costs, from the rule to the end of the answer.
func service(t testing.TB, threads int, cookie, lines string, slots *jk2shm.Segment) (serve func()) {
	text := ""
	var channel string
	for _, route := range []string{"n1", "n2"} {
		channel = fmt.Sprintf("127.0.0.1:%d", connectortest.QuickContainer(t, connectortest.Hello))
		text += fmt.Sprintf("[channel.socket:%s]\ntomcatId=%s\n", channel, route)
	}
	text += strings.ReplaceAll(lines, "CHANNEL", channel)
	c := New(setup(t, text), Options{Dial: connectortest.Dialers(threads), Slots: slots, Logger: zerolog.Nop()})
	t.Cleanup(func() { c.Close() })
	q, s := connectortest.Request("GET", "/examples/servlet/HelloWorldExample", ""), &connectortest.Sink{}
	if cookie != "" {
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte(cookie)})
	}
	serve = func() {
		s.Reset()
		if err := c.Match(q).Service(q, s); err != nil {
			t.Error(err)
		}
	}
	for range 4 {
		serve() // until all are connected
	}
	return serve
}

func TestServiceAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget")
	}
	for _, threads := range []int{1, 2} {
		for _, tt := range benchCases {
			var slots *jk2shm.Segment
			if tt.shm {
				slots = benchSlots(t)
			}
			serve := service(t, threads, tt.cookie, tt.lines, slots)
			// Few: on the one processor that this leaves, a blocking read
			// keeps the other side waiting for its full time.
			if n := testing.AllocsPerRun(30, serve); n != 0 {
				t.Errorf("%s, %d threads: %v allocations", tt.name, threads, n)
			}
			if slots == nil {
				continue
			}
			var v jk2shm.View
			slots.View(&v)
			requests, total := 0, 0
			for _, r := range v.Slots[0].Records {
				requests, total = requests+int(r.Requests), total+int(r.Total)
				if string(r.Active) != "/examples/servlet/HelloWorldExample" || r.Errors != 0 {
					t.Errorf("%s: %+v", tt.name, r)
				}
			}
			if requests != 4+1+30 || (total != 0) != (tt.name == "one, shm and timing") {
				t.Errorf("%s: %d requests, %d µs", tt.name, requests, total)
			}
		}
	}
}

func BenchmarkService(b *testing.B) {
	for threads, mpm := range []string{1: "prefork", 2: "worker"} {
		if threads == 0 {
			continue
		}
		for _, tt := range benchCases {
			b.Run(mpm+"/"+tt.name, func(b *testing.B) {
				var slots *jk2shm.Segment
				if tt.shm {
					slots = benchSlots(b)
				}
				serve := service(b, threads, tt.cookie, tt.lines, slots)
				b.ReportAllocs()
				for b.Loop() {
					serve()
				}
			})
		}
	}
}
