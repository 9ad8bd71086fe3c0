package jk2

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"jkd/connector"
)

func TestJudge(t *testing.T) {
	broken := func(p connector.Phase) *connector.ExchangeError {
		return &connector.ExchangeError{Phase: p, Cause: connector.CauseBroken, Err: io.EOF}
	}
	cause := func(c connector.Cause, p connector.Phase) *connector.ExchangeError {
		return &connector.ExchangeError{Phase: p, Cause: c, Err: errors.New("x")}
	}
	silent := func(p connector.Phase) *connector.ExchangeError {
		return &connector.ExchangeError{Phase: p, Cause: connector.CauseBroken, Err: &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}}
	}
	consumed := broken(connector.PhaseReply)
	consumed.BodyConsumed = true
	timeout := &connector.ExchangeError{Cause: connector.CauseClient, Err: &connector.ClientError{Op: "read", Status: 408}}
	for name, tt := range map[string]struct {
		f    failure
		want verdict
	}{
		"not sent":                    {failure{err: broken(connector.PhaseSend), method: "POST", attempt: 1}, verdict{again: true, other: true, faulty: true, status: 503}},
		"not sent twice":              {failure{err: broken(connector.PhaseSend), method: "POST", attempt: 2}, verdict{other: true, faulty: true, status: 503}},
		"sent, GET":                   {failure{err: broken(connector.PhaseReply), method: "GET", attempt: 1}, verdict{again: true, other: true, faulty: true, status: 502}},
		"sent, GET, twice":            {failure{err: broken(connector.PhaseReply), method: "GET", attempt: 2}, verdict{other: true, faulty: true, status: 502}},
		"sent, HEAD, no recovery":     {failure{err: broken(connector.PhaseReply), method: "HEAD", attempt: 2, noRecovery: true}, verdict{faulty: true, status: 502}},
		"sent, POST":                  {failure{err: broken(connector.PhaseReply), method: "POST", attempt: 1}, verdict{faulty: true, status: 502}},
		"sent, get":                   {failure{err: broken(connector.PhaseReply), method: "get", attempt: 1}, verdict{faulty: true, status: 502}},
		"idle, POST":                  {failure{err: broken(connector.PhaseReply), method: "POST", attempt: 1, reused: true}, verdict{again: true, stale: true, status: 502}},
		"idle, POST, not sent":        {failure{err: broken(connector.PhaseSend), method: "POST", attempt: 1, reused: true}, verdict{again: true, stale: true, other: true, status: 503}},
		"idle twice, POST":            {failure{err: broken(connector.PhaseReply), method: "POST", attempt: 1, reused: true, stale: true}, verdict{faulty: true, status: 502}},
		"body gone":                   {failure{err: consumed, method: "GET", attempt: 1, reused: true}, verdict{faulty: true, status: 502}},
		"answer begun":                {failure{err: broken(connector.PhaseHead), method: "GET", attempt: 1}, verdict{faulty: true, status: 502}},
		"answer begun to the client":  {failure{err: broken(connector.PhaseReply), method: "GET", attempt: 1, started: true}, verdict{faulty: true, status: 502}},
		"nonsense":                    {failure{err: cause(connector.CauseProtocol, connector.PhaseReply), method: "GET", attempt: 1}, verdict{faulty: true, status: 502}},
		"too slow":                    {failure{err: cause(connector.CauseTimeout, connector.PhaseReply), method: "GET", attempt: 1}, verdict{faulty: true, status: 504}},
		"silent, GET":                 {failure{err: silent(connector.PhaseReply), method: "GET", attempt: 1}, verdict{faulty: true, status: 504}},
		"silent, POST, was idle":      {failure{err: silent(connector.PhaseReply), method: "POST", attempt: 1, reused: true}, verdict{faulty: true, status: 504}},
		"silent amidst its answer":    {failure{err: silent(connector.PhaseBody), method: "GET", attempt: 1, started: true}, verdict{faulty: true, status: 504}},
		"takes nothing, was idle":     {failure{err: silent(connector.PhaseSend), method: "POST", attempt: 2, reused: true}, verdict{other: true, faulty: true, status: 503}},
		"the client":                  {failure{err: cause(connector.CauseClient, connector.PhaseBody), method: "GET", attempt: 1}, verdict{client: true, status: 400}},
		"the client, with its status": {failure{err: timeout, method: "POST", attempt: 1}, verdict{client: true, status: 408}},
	} {
		if got := judge(tt.f); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
