package ajp

import (
	"testing"

	"jkd/connector"
)

// TestStateMatrix walks every pair of states: the steps in the table are
// possible, every other one ends in Broken.
func TestStateMatrix(t *testing.T) {
	all := []State{Idle, Pinging, Sending, Awaiting, Streaming, Broken}
	allowed := map[State][]State{
		Idle:      {Sending, Pinging, Broken},
		Pinging:   {Idle, Broken},
		Sending:   {Awaiting, Broken},
		Awaiting:  {Streaming, Broken},
		Streaming: {Idle, Broken},
		Broken:    nil,
	}
	for _, from := range all {
		for _, to := range all {
			want := Broken
			for _, ok := range allowed[from] {
				if ok == to {
					want = to
				}
			}
			c := NewConn(script(), DefaultPacketSize)
			c.state = from
			c.transition(to)
			if c.State() != want {
				t.Errorf("%v to %v: %v, want %v", from, to, c.State(), want)
			}
		}
	}
}

func TestStateStrings(t *testing.T) {
	for s, want := range map[State]string{Idle: "idle", Pinging: "pinging", Sending: "sending", Awaiting: "awaiting", Streaming: "streaming", Broken: "broken", 9: "State(9)"} {
		if s.String() != want {
			t.Errorf("%d is %q, want %q", uint8(s), s, want)
		}
	}
	for p, want := range map[connector.Phase]string{connector.PhaseSend: "send request", connector.PhaseReply: "await reply", connector.PhaseHead: "read reply", connector.PhaseBody: "read reply body", 7: "Phase(7)"} {
		if p.String() != want {
			t.Errorf("%d is %q, want %q", uint8(p), p, want)
		}
	}
	for c, want := range map[connector.Cause]string{connector.CauseBroken: "connection broken", connector.CauseTimeout: "reply timeout", connector.CauseProtocol: "protocol error", connector.CauseClient: "client", 8: "Cause(8)"} {
		if c.String() != want {
			t.Errorf("%d is %q, want %q", uint8(c), c, want)
		}
	}
}

// TestNotIdle tells that nothing can begin on a connection that is not idle,
// and that trying sends nothing.
func TestNotIdle(t *testing.T) {
	for _, s := range []State{Pinging, Sending, Awaiting, Streaming, Broken} {
		nc := script(answer("x"), pong)
		c := NewConn(nc, DefaultPacketSize)
		c.state = s
		w := &recorder{}
		e := exchangeError(c.Exchange(get(), w, Timeouts{}))
		if e.Phase != connector.PhaseSend || e.Cause != connector.CauseBroken || c.State() != Broken || w.starts != 0 || nc.out.Len() != 0 {
			t.Errorf("Exchange when %v: %v, then %v, %d bytes sent", s, e, c.State(), nc.out.Len())
		}
		c.state = s
		if err := c.CPing(0); err == nil || c.State() != Broken || nc.out.Len() != 0 {
			t.Errorf("CPing when %v: %v, then %v, %d bytes sent", s, err, c.State(), nc.out.Len())
		}
		c.state = s
		if c.Usable() {
			t.Errorf("usable when %v", s)
		}
	}
	nc := script()
	c := NewConn(nc, DefaultPacketSize)
	if err := c.Close(); err != nil || !nc.closed || c.State() != Broken {
		t.Errorf("Close: %v, %v", err, c.State())
	}
}
