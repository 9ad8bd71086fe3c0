package jk

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/ajp/ajptest"
)

// absent stands for a file without recovery_options.
const absent = -1

// What a broken connection means for the request, on a connection that was
// new, by recovery_options and method. Letters: r is tried again, - is not.
func TestJudgeRecovery(t *testing.T) {
	methods := []string{"GET", "HEAD", "POST", "PUT", "get"}
	tests := []struct {
		options int
		reply   string // the request was sent: one letter a method
	}{
		{absent, "rr---"},
		{0, "rrrrr"},
		{1, "-----"},
		{2, "rrrrr"},
		{3, "-----"},
		{4, "rrrrr"},
		{8, "rrrrr"},
		{16, "rrrrr"},
		{24, "rrrrr"},
		{9, "-r---"},
		{17, "r----"},
		{25, "rr---"},
		{27, "rr---"},
		{31, "rr---"},
	}
	for _, tt := range tests {
		for i, method := range methods {
			a := attempt{method: method}
			if tt.options != absent {
				a.options, a.explicit = RecoveryOptions(tt.options), true
			}
			try := func(phase connector.Phase) verdict {
				a.err = &connector.ExchangeError{Phase: phase, Cause: connector.CauseBroken, Err: io.ErrUnexpectedEOF}
				return judge(a)
			}
			name := fmt.Sprintf("options %d, %s", tt.options, method)
			if v := try(connector.PhaseSend); !v.retry || v.stale || v.client || v.status != 503 {
				t.Errorf("%s, not sent: %+v", name, v)
			}
			if v := try(connector.PhaseReply); v.retry != (tt.reply[i] == 'r') || v.stale || v.client || v.status != 502 {
				t.Errorf("%s, sent: %+v", name, v)
			}
			for _, phase := range []connector.Phase{connector.PhaseHead, connector.PhaseBody} {
				if v := try(phase); v.retry || v.status != 502 {
					t.Errorf("%s, %v: %+v", name, phase, v)
				}
			}
		}
	}
}

// What never is tried again, whatever the file says and however old the
// connection is.
func TestJudgeNever(t *testing.T) {
	for _, reused := range []bool{false, true} {
		for _, options := range []int{absent, 0, 8, 16, 24} {
			for _, method := range []string{"GET", "HEAD", "POST"} {
				for _, phase := range []connector.Phase{connector.PhaseSend, connector.PhaseReply, connector.PhaseHead, connector.PhaseBody} {
					base := attempt{method: method, reused: reused, options: RecoveryOptions(max(options, 0)), explicit: options != absent}
					fault := func(cause connector.Cause, consumed bool, err error) *connector.ExchangeError {
						return &connector.ExchangeError{Phase: phase, Cause: cause, BodyConsumed: consumed, Err: err}
					}
					for name, a := range map[string]attempt{
						"started":  {err: fault(connector.CauseBroken, false, io.EOF), started: true},
						"consumed": {err: fault(connector.CauseBroken, true, io.EOF)},
						"timeout":  {err: fault(connector.CauseTimeout, false, io.EOF)},
						"protocol": {err: fault(connector.CauseProtocol, false, &ajp.ProtocolError{})},
						"client":   {err: fault(connector.CauseClient, false, &connector.ClientError{Status: 408})},
					} {
						a.method, a.reused, a.options, a.explicit = base.method, base.reused, base.options, base.explicit
						v := judge(a)
						if v.retry || v.stale || v.client != (name == "client") {
							t.Errorf("%s, %s, %v, reused %v, options %d: %+v", name, method, phase, reused, options, v)
						}
					}
				}
			}
		}
	}
}

// The one free retry of a request whose connection had been idle.
func TestJudgeStale(t *testing.T) {
	tests := []struct {
		options     int
		send, reply bool // free
	}{
		{absent, true, true},
		{0, true, true},
		{1, true, false}, // an explicit bit 1 is obeyed
		{2, true, true},
		{3, true, false},
		{8, true, true},
		{16, true, true},
		{24, true, true},
		{27, true, false},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "POST"} {
			for phase, free := range map[connector.Phase]bool{connector.PhaseSend: tt.send, connector.PhaseReply: tt.reply, connector.PhaseHead: false, connector.PhaseBody: false} {
				a := attempt{
					err: &connector.ExchangeError{Phase: phase, Err: io.EOF}, method: method, reused: true,
					options: RecoveryOptions(max(tt.options, 0)), explicit: tt.options != absent,
				}
				if v := judge(a); v.stale != free || free && !v.retry {
					t.Errorf("options %d, %s, %v: %+v", tt.options, method, phase, v)
				}
				a.stale = true // it was repeated already
				if v := judge(a); v.stale {
					t.Errorf("options %d, %s, %v: free twice", tt.options, method, phase)
				}
			}
		}
	}
}

func TestJudgeStatus(t *testing.T) {
	tests := []struct {
		phase  connector.Phase
		cause  connector.Cause
		err    error
		status int
	}{
		{connector.PhaseSend, connector.CauseBroken, io.EOF, 503},
		{connector.PhaseReply, connector.CauseBroken, io.EOF, 502},
		{connector.PhaseHead, connector.CauseBroken, io.EOF, 502},
		{connector.PhaseBody, connector.CauseBroken, io.EOF, 502},
		{connector.PhaseReply, connector.CauseTimeout, io.EOF, 504},
		{connector.PhaseBody, connector.CauseTimeout, io.EOF, 504},
		{connector.PhaseHead, connector.CauseProtocol, &ajp.ProtocolError{}, 502},
		{connector.PhaseBody, connector.CauseProtocol, &ajp.ProtocolError{}, 502},
		{connector.PhaseBody, connector.CauseClient, &connector.ClientError{Status: 400}, 400},
		{connector.PhaseBody, connector.CauseClient, &connector.ClientError{Status: 408}, 408},
		{connector.PhaseBody, connector.CauseClient, &connector.ClientError{Status: 413}, 413},
		{connector.PhaseBody, connector.CauseClient, &connector.ClientError{}, 400},
		{connector.PhaseBody, connector.CauseClient, io.EOF, 400},
	}
	for _, tt := range tests {
		if got := statusOf(&connector.ExchangeError{Phase: tt.phase, Cause: tt.cause, Err: tt.err}); got != tt.status {
			t.Errorf("%v, %v, %v: %d, want %d", tt.phase, tt.cause, tt.err, got, tt.status)
		}
	}
}

// F064 with one worker: the container reads what comes of the body and dies;
// the second attempt must repeat all of it or not be made.
func TestF064Retry(t *testing.T) {
	bodies := map[string]string{"GET": "", "HEAD": "", "POST": "1234567890", "PUT": strings.Repeat("0123456789", 2<<10)}
	tests := []struct {
		options int
		again   string // methods
	}{
		{absent, "GET HEAD"},
		{0, "GET HEAD POST"},
		{1, ""},
		{2, "GET HEAD POST"},
		{3, ""},
		{8, "GET HEAD POST"},
		{16, "GET HEAD POST"},
		{24, "GET HEAD POST"},
		{27, "GET HEAD"},
	}
	for _, tt := range tests {
		for method, body := range bodies {
			t.Run(fmt.Sprintf("options %d/%s", tt.options, method), func(t *testing.T) {
				bothKinds(t, func(t *testing.T, dial DialFunc) {
					var mu sync.Mutex
					var got []string
					c := ajptest.New(t, func(e *ajptest.Exchange) {
						b := readBody(e)
						mu.Lock()
						got = append(got, string(b))
						mu.Unlock()
						if e.Seq == 1 {
							e.Close()
							return
						}
						e.Respond(200, "")
					})
					lines := []string{"retry_interval=0"}
					if tt.options != absent {
						lines = append(lines, fmt.Sprint("recovery_options=", tt.options))
					}
					r := newRig(t, dial, c, 1, lines...)
					again := strings.Contains(tt.again, method)
					if again {
						if err := r.do(request(method, "/", body), &answer{}); err != nil {
							t.Error(err)
						}
						r.want("requests 1 misses 2 opened 2 closed-error 1 idle 1")
					} else {
						r.fails(request(method, "/", body), &answer{}, 502)
						r.want("requests 1 errors 1 misses 1 opened 1 closed-error 1")
					}
					mu.Lock()
					defer mu.Unlock()
					if want := map[bool]int{true: 2, false: 1}[again]; len(got) != want {
						t.Errorf("the container saw it %d times, want %d", len(got), want)
					}
					for _, b := range got {
						if b != body {
							t.Errorf("the container read %d bytes of %d", len(b), len(body))
						}
					}
				})
			})
		}
	}
}

// readBody reads a body of known length as Tomcat does: without asking for
// more than there is. Asking is an answer, after which nothing is repeated.
func readBody(e *ajptest.Exchange) (body []byte) {
	for int64(len(body)) < e.Request.ContentLength() {
		read := func() ([]byte, error) { return e.GetBody(0) }
		if len(body) == 0 {
			read = e.ReadBody
		}
		p, err := read()
		if err != nil {
			break
		}
		body = append(body, p...)
	}
	return body
}

// Once a byte of an answer has come, the request is never sent again, not even
// with recovery_options=0.
func TestNothingIsReplayedAfterAnAnswerBegan(t *testing.T) {
	ok := ajptest.SendHeaders(200, "200", ajptest.H("Content-Length", "10"))
	tests := []struct {
		name    string
		sent    []byte
		started bool
	}{
		{"one byte", ok[:1], false},
		{"half a head", ok[:8], false},
		{"a flush", ajptest.Flush(), false},
		{"a question for the body", ajptest.GetBody(8186), false},
		{"an interim answer", ajptest.SendHeaders(100, "100"), false},
		{"a head", ok, true},
		{"half a body", append(append([]byte{}, ok...), ajptest.Chunk([]byte("12345"))...), true},
		{"all but the end", append(append([]byte{}, ok...), ajptest.Chunk([]byte("1234567890"))...), true},
	}
	for _, tt := range tests {
		for _, fresh := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/fresh %v", tt.name, fresh), func(t *testing.T) {
				bothKinds(t, func(t *testing.T, dial DialFunc) {
					c := ajptest.New(t, func(e *ajptest.Exchange) {
						if e.Request.URI == "/fine" {
							e.Respond(200, "")
							return
						}
						e.Send(tt.sent)
						e.Close()
					})
					r := newRig(t, dial, c, 1, "recovery_options=0", "retries=5", "retry_interval=0")
					if !fresh {
						r.get("/fine")
					}
					n := c.Requests()
					a := &answer{}
					e := r.fails(request("GET", "/", ""), a, 502)
					if a.started != tt.started || a.finished || e.Recoverable {
						t.Errorf("started %v, finished %v, %+v", a.started, a.finished, e)
					}
					if c.Requests() != n+1 {
						t.Errorf("sent %d times", c.Requests()-n)
					}
				})
			})
		}
	}
}

// retries counts attempts, and the last failure is what the client gets.
func TestRetries(t *testing.T) {
	for retries, attempts := range map[int]int{1: 1, 2: 2, 5: 5} {
		t.Run(fmt.Sprint(retries), func(t *testing.T) {
			c := ajptest.New(t, func(e *ajptest.Exchange) { e.Close() })
			r := newRig(t, dialKinds[0].dial, c, 1, fmt.Sprint("retries=", retries), "retry_interval=1")
			e := r.fails(request("GET", "/", ""), &answer{}, 502)
			if c.Requests() != attempts || !e.Recoverable {
				t.Errorf("%d attempts, %+v", c.Requests(), e)
			}
			r.want(fmt.Sprintf("requests 1 errors 1 misses %d opened %d closed-error %d", attempts, attempts, attempts))
			if n := strings.Count(r.log.String(), "sending request to tomcat failed (recoverable)"); n != attempts {
				t.Errorf("%d lines about %d attempts: %s", n, attempts, r.log)
			}
		})
	}
}

// A container that is slow has not lost its connection: what is not safe is not
// sent to it again, however long the connection lay idle before.
func TestJudgeSlow(t *testing.T) {
	slow := &connector.ExchangeError{Phase: connector.PhaseReply, Err: &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}} // socket_timeout
	for method, again := range map[string]bool{"POST": false, "PUT": false, "GET": true} {
		v := judge(attempt{err: slow, method: method, reused: true})
		if v.retry != again || v.failover != again || v.stale {
			t.Errorf("%s: %+v", method, v)
		}
	}
}
