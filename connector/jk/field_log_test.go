package jk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/jk/balance"
)

// logged tells whether one line of a log has the level and all of the words.
func logged(t *testing.T, log, level string, words ...string) {
	t.Helper()
	for l := range strings.Lines(log) {
		var e struct{ Level, Message string }
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		all := e.Level == level
		for _, w := range words {
			all = all && strings.Contains(e.Message, w)
		}
		if all {
			return
		}
	}
	t.Errorf("no line of level %s has %q in\n%s", level, words, log)
}

// line is what a log has to say: its level, and words.
type line []string

// The words that administrators search for are in the log of the situation
// they stand for. They are an interface: alerts and habits are built on them.
func TestLogWords(t *testing.T) {
	const lost = "Tomcat is down or refused connection. No response has been sent"
	tests := []struct {
		name   string
		lines  []string // of the worker
		answer ajptest.Handler
		body   int  // bytes that the client sends
		times  int  // how often it is asked, 0: once
		left   bool // the client leaves during the answer
		want   []line
	}{
		{name: "backend closed", answer: func(e *ajptest.Exchange) { e.Close() }, lines: []string{"retries=2", "retry_interval=0"}, want: []line{
			{"info", "has forced a connection close", lost, "sending request to tomcat failed (recoverable), because of", "(attempt=1)"},
			{"error", "sending request to tomcat failed", "(attempt=2)", "connecting to tomcat failed (", "errors=1", "client_errors=0"},
			{"info", "Service error=502 for worker=w"}}},
		{name: "unrecoverable", answer: func(e *ajptest.Exchange) { e.Close() }, lines: []string{"recovery_options=1"}, body: 5, want: []line{
			{"error", "sending request to tomcat failed (unrecoverable), because of", "(attempt=1)"}}},
		{name: "network error", answer: func(e *ajptest.Exchange) { e.Reset() }, want: []line{{"error", "network problems or tomcat", "is down", lost}}},
		{name: "after headers", answer: func(e *ajptest.Exchange) {
			e.Send(ajptest.SendHeaders(200, "200"), ajptest.Chunk([]byte("x")), ajptest.Flush())
			e.Close()
		}, want: []line{{"error", "Part of the response has already been sent"}}},
		{name: "reply timeout", lines: []string{"reply_timeout=20"}, answer: func(e *ajptest.Exchange) { e.Hold() },
			want: []line{{"error", "Timeout with waiting reply from tomcat", lost}, {"info", "Service error=504 for worker=w"}}},
		{name: "soft status", lines: []string{"fail_on_status=-500"}, answer: func(e *ajptest.Exchange) { e.Respond(500, "x") },
			want: []line{{"info", "request failed (soft), because of response status 500"}}},
		{name: "hard status", lines: []string{"fail_on_status=500"}, answer: func(e *ajptest.Exchange) { e.Respond(500, "x") },
			want: []line{{"info", "request failed (hard), because of response status 500"}}},
		{name: "bad magic", answer: func(e *ajptest.Exchange) { e.Send([]byte("HTTP/1.1 400 Bad Request\r\n")) },
			want: []line{{"error", "wrong message format 0x4854"}}},
		{name: "packet too big", answer: func(e *ajptest.Exchange) { e.Send([]byte{'A', 'B', 0x40, 0}) }, want: []line{{"error", "wrong message size 16384"}}},
		{name: "bad chunk", answer: func(e *ajptest.Exchange) {
			e.Send(ajptest.SendHeaders(200, "200"), ajptest.Payload(ajptest.CodeChunk).Int(9).Raw([]byte("x")).Packet())
		}, want: []line{{"error", "Chunk length too large"}}},
		{name: "unknown packet", answer: func(e *ajptest.Exchange) { e.Send(ajptest.Payload(0x42).Packet()) }, want: []line{{"error", "Unknown AJP protocol code: 42"}}},
		{name: "reuse 0", answer: func(e *ajptest.Exchange) { e.Send(ajptest.SendHeaders(200, "200"), ajptest.End(false)) },
			want: []line{{"warn", "Reuse is set to false"}}},
		{name: "no page", answer: func(e *ajptest.Exchange) { e.Send(ajptest.SendHeaders(404, "404"), ajptest.End(true)) },
			want: []line{{"info", "No body with status=404"}}},
		{name: "client vanished", answer: func(e *ajptest.Exchange) { e.Respond(200, strings.Repeat("x", 100000)) }, left: true,
			want: []line{{"info", "Writing to client aborted", "Aborting connection for worker=w"}}},
		{name: "upload cut", body: -9000, answer: func(e *ajptest.Exchange) { e.Body() },
			want: []line{{"info", "Reading from client aborted", "receiving data from client failed", "Aborting connection for worker=w"}}},
		{name: "new connection", want: []line{{"debug", "no usable connection found, will create a new one"}}},
		{name: "lost connection", answer: func(e *ajptest.Exchange) {
			if e.Seq == 2 {
				e.Close()
				return
			}
			e.Respond(200, "")
		}, times: 2, want: []line{{"info", "no usable connection found, will create a new one"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnError: func(error) {}}, tt.answer)
			r := newRig(t, dialKinds[1].dial, c, 1, tt.lines...)
			for range max(tt.times, 1) {
				q, a := request("GET", "/", ""), &answer{leaves: tt.left, gone: 10}
				if tt.body > 0 {
					q = request("POST", "/", strings.Repeat("b", tt.body))
				} else if tt.body < 0 {
					q.Method, q.ContentLength = []byte("POST"), int64(-2*tt.body)
					q.Body = &brokenReader{-tt.body, &connector.ClientError{Op: "read body", Err: fmt.Errorf("reset")}}
				}
				_ = r.do(q, a)
			}
			for _, l := range tt.want {
				logged(t, r.log.String(), l[0], l[1:]...)
			}
		})
	}

	t.Run("connect failed", func(t *testing.T) {
		port := freePort(t)
		r := rigAt(t, dialKinds[1].dial, 1, "127.0.0.1", port, "retries=1")
		_ = r.do(request("GET", "/", ""), &answer{})
		logged(t, r.log.String(), "error", fmt.Sprintf("Failed opening socket to (127.0.0.1:%d)", port), fmt.Sprintf("connect to 127.0.0.1:%d failed (errno=", port),
			"connecting to backend failed. Tomcat is probably not started", "connecting to tomcat failed (")
		if strings.Contains(r.log.String(), "errno=0") {
			t.Errorf("no errno in %s", r.log)
		}
		logged(t, r.log.String(), "info", "Service error=503 for worker=w")
	})
	t.Run("pings", func(t *testing.T) {
		for _, tt := range []struct {
			lines []string
			pong  func(*ajptest.Conn)
			want  []line
		}{
			{[]string{"connect_timeout=9000", "retries=1"}, func(k *ajptest.Conn) { k.Close() }, []line{{"error", "cping/cpong after connecting"}}},
		} {
			c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: tt.pong}, nil)
			r := newRig(t, dialKinds[1].dial, c, 1, tt.lines...)
			_ = r.do(request("GET", "/", ""), &answer{})
			for _, l := range tt.want {
				logged(t, r.log.String(), l[0], l[1:]...)
			}
		}
		for cause, pong := range map[string]func(*ajptest.Conn){
			"timeout in reply cpong after 50 ms":       func(k *ajptest.Conn) { k.Hold() },
			"awaited reply cpong, received 05":         func(k *ajptest.Conn) { k.Send(ajptest.End(true)) },
			"ajp: the container closed the connection": func(k *ajptest.Conn) { k.Close() },
		} {
			c := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: func(k *ajptest.Conn) {
				if k.Container().CPings() == 2 {
					pong(k)
					return
				}
				k.Send(ajptest.CPong())
			}}, nil)
			r := newRig(t, dialKinds[1].dial, c, 1, "prepost_timeout=50")
			r.get("/")
			r.get("/")
			logged(t, r.log.String(), "info", "prepost cping/cpong failure")
			if !strings.Contains(r.log.String(), cause) {
				t.Errorf("%q is not the cause in %s", cause, r.log)
			}
		}
	})
	t.Run("limits", func(t *testing.T) {
		for _, tt := range []struct {
			lines []string
			want  []line
		}{
			{[]string{"busy_limit=1"}, []line{{"error", "busy limit 1 reached"}}},
			{[]string{"connection_pool_size=1", "connection_acquire_timeout=1"}, []line{
				{"warn", "Unable to get the free endpoint for worker w from 1 slots"}, {"error", "Could not get endpoint for worker=w"}}},
		} {
			var g gates
			c := ajptest.New(t, g.handler)
			r := newRig(t, dialKinds[1].dial, c, 4, tt.lines...)
			done := make(chan struct{})
			go func() { defer close(done); r.get("/hold") }()
			if !c.WaitRequests(1, long) {
				t.Fatal("no request")
			}
			r.fails(request("GET", "/", ""), &answer{}, 503)
			close(g.of("/hold"))
			<-done
			for _, l := range tt.want {
				logged(t, r.log.String(), l[0], l[1:]...)
			}
		}
	})
	t.Run("too long", func(t *testing.T) {
		r := newRig(t, dialKinds[1].dial, ajptest.New(t, nil), 1)
		q := request("GET", "/", "")
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: make([]byte, 9000)})
		e := r.fails(q, &answer{}, 413)
		for _, s := range []string{e.Error(), r.log.String()} {
			for _, w := range []string{"Creating AJP message failed", "check max_packet_size", "packetSize", "8192"} {
				if !strings.Contains(s, w) {
					t.Errorf("%q is not in %s", w, s)
				}
			}
		}
		logged(t, r.log.String(), "info", "Service error=413 for worker=w")
	})
}

// The same of balancers.
func TestLogWordsLB(t *testing.T) {
	closes := func(e *ajptest.Exchange) { e.Close() }
	tests := []struct {
		name    string
		answers map[string]ajptest.Handler
		lines   []string
		q       *connector.Request
		cookie  string
		want    []line
	}{
		{"all in error", map[string]ajptest.Handler{"n1": closes, "n2": closes}, []string{"n1.retries=1", "n2.retries=1"}, request("GET", "/", ""), "", []line{
			{"info", "service failed, worker n1 is in error state"}, {"info", "service failed, worker n2 is in error state"},
			{"info", "Forcing recovery once for 2 workers"}, {"error", "All tomcat instances failed, no more workers left"},
			{"info", "Service error=502 for worker=lb"}}},
		{"no failover", map[string]ajptest.Handler{"n1": closes, "n2": closes}, []string{"n1.recovery_options=1", "n2.recovery_options=1"}, request("POST", "/", "x"), "",
			[]line{{"error", "unrecoverable error 502, request failed. Tomcat failed in the middle of request"}}},
		{"nobody", nil, []string{"n1.activation=stopped", "n2.activation=stopped"}, request("GET", "/", ""), "", []line{
			{"error", "are busy or in error state", "All tomcat instances failed"}}},
		{"forced", nil, []string{"lb.sticky_session_force=1", "n2.activation=stopped"}, request("GET", "/", ""), "JSESSIONID=a.n2", []line{
			{"info", "all workers are in error state for session"}}},
		{"empty session", nil, nil, request("GET", "/", ""), "JSESSIONID=", []line{{"info", "Detected empty session identifier"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := newLB(t, 2, tt.answers, "", tt.lines...)
			r.send(tt.q, tt.cookie)
			for _, l := range tt.want {
				logged(t, r.log.String(), l[0], l[1:]...)
			}
		})
	}
	t.Run("pool empty", func(t *testing.T) {
		var g gates
		r, cs := newLB(t, 2, map[string]ajptest.Handler{"n1": g.handler, "n2": g.handler}, "", "n1.connection_pool_size=1", "n1.connection_acquire_timeout=1", "n2.activation=disabled")
		done := make(chan struct{})
		go func() { defer close(done); r.get("/hold") }()
		if !cs[0].WaitRequests(1, long) {
			t.Fatal("no request")
		}
		r.get("/")
		close(g.of("/hold"))
		<-done
		logged(t, r.log.String(), "info", "could not get free endpoint for worker n1")
	})
}

// And of maintenance.
func TestLogWordsUpkeep(t *testing.T) {
	r, _ := newLB(t, 3, nil, "", "maintain=60", "lb.recover_time=10")
	log := &lockedBuffer{}
	k := &Keeper{Config: r.config, Segment: r.seg, Logger: zerolog.New(log)}
	b := r.lbs[0].rec
	k.maintain(1000)
	b.Member(0).SetState(balance.Error)
	b.Member(0).LastError.Store(1000)
	b.Member(1).FirstError.Store(1000)
	b.Member(1).SetState(balance.OK)
	b.Member(2).LBValue.Store(8)
	k.maintain(1000 + 61)
	logged(t, log.String(), "debug", "worker n1 in error is marked for recovery")
	logged(t, log.String(), "debug", "worker n2 escalating local error")
	logged(t, log.String(), "debug", "decay with 2^1")
}

// A connection that doesn't answer the ping of maintenance, and a host whose
// address nobody knows.
func TestLogWordsIdle(t *testing.T) {
	back := ajptest.NewOptions(t, "tcp", ajptest.Options{OnCPing: func(k *ajptest.Conn) { k.Close() }}, nil)
	r := newRig(t, dialKinds[1].dial, back, 1, "connection_ping_interval=5", "connection_pool_timeout=600")
	r.get("/")
	r.clock.add(10 * time.Second)
	r.c.Maintain(r.clock.now())
	logged(t, r.log.String(), "info", "keepalive cping/cpong failure")

	r = rigAt(t, dialKinds[1].dial, 1, "nosuch.invalid", 8009, "retries=1")
	r.fails(request("GET", "/", ""), &answer{}, 503)
	logged(t, r.log.String(), "error", "can't resolve tomcat address nosuch.invalid")
}
