//go:build unix

package httpd

import (
	"bytes"
	"testing"
	"time"

	"jkd/connector"
	"jkd/scoreboard"
)

// watch returns a look at the first slot.
func (s *site) watch() func() *scoreboard.WorkerScore {
	var v scoreboard.View
	return func() *scoreboard.WorkerScore {
		s.board.Snapshot(&v)
		return v.Worker(0, 0)
	}
}

// TestPhases follows one connection through the scoreboard, from outside.
func TestPhases(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		gate := make(chan struct{})
		s := start(t, kind, defaults(), func(_ *connector.Request, w connector.ResponseWriter) error {
			<-gate
			return reply(w, 200, "hello")
		})
		see := s.watch()
		is := func(letter byte) {
			t.Helper()
			eventually(t, "status "+string(letter), func() bool { return see().Status.Letter() == letter })
		}
		c := s.dial()
		is('R')
		if got := see(); string(got.Client) != "127.0.0.1" || len(got.Request) > 0 {
			t.Errorf("connection: client %q, request %q", got.Client, got.Request)
		}
		c.send("GET /a?b HTTP/1.1\r\nHo")
		is('R')
		c.send("st: shop.example:81\r\n\r\n")
		is('W')
		got := see()
		if string(got.Request) != "GET /a?b HTTP/1.1" || string(got.Protocol) != "HTTP/1.1" || !bytes.HasPrefix(got.VHost, []byte("shop.example")) {
			t.Errorf("request %q, protocol %q, vhost %q", got.Request, got.Protocol, got.VHost)
		}
		if got.AccessCount != 0 {
			t.Errorf("counted before the end: %+v", got)
		}
		gate <- struct{}{}
		c.want(200)
		is('K')
		if got := see(); got.AccessCount != 1 || got.ConnCount != 1 || got.BytesServed != 5 || got.ConnBytes != 5 {
			t.Errorf("counters %+v", got)
		}
		c.send("GE")
		is('R')
		c.send("T / HTTP/1.1\r\nHost: x\r\n\r\n")
		is('W')
		gate <- struct{}{}
		c.want(200)
		is('K')
		c.send("nonsense\r\n\r\n")
		c.want(400)
		is('C') // lingers: the client has not closed
		if got := see(); got.AccessCount != 3 || got.ConnCount != 3 || got.BytesServed <= 10 {
			t.Errorf("counters %+v", got)
		}
		_ = c.Close()
		is('_')
		if got := see(); got.AccessCount != 3 || got.ConnCount != 0 || got.Duration <= 0 || got.StopTime.Before(got.StartTime) || time.Since(got.LastUsed) > patience {
			t.Errorf("counters %+v", got)
		}
	})
}
