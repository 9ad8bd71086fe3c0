package proxy

import "jkd/connector"

// phase is how far an exchange had come, in either protocol.
type phase uint8

const (
	phaseSend   phase = iota // the request was not written completely
	phaseReply               // written; nothing of an answer has come
	phaseAnswer              // something has
)

// cause is whose fault a failed exchange is, in either protocol.
type cause uint8

const (
	causeBroken cause = iota
	causeProtocol
	causeClient
	causeRejected
)

// failure is what is known of a failed exchange.
type failure struct {
	op       string
	err      error
	phase    phase
	cause    cause
	late     bool // time ran out
	consumed bool // part of the body is gone
}

// verdict is what follows from it.
type verdict struct {
	again  bool // on a new connection to the same back end
	other  bool // another member may have the request
	faulty bool // the back end is in error
	client bool // it was the client's fault
	own    bool // the page is to be replaced (ProxyErrorOverride)
	status int
}

// judge decides about a failed exchange. stale tells that the connection had
// carried a request before and this one was not yet repeated, repeatable that
// it is idempotent and has no body.
//
// A back end that was reached and did badly with one request is not in error for
// all others: only one that can't be reached is (CVE-2012-4557).
func judge(f *failure, stale, started, repeatable bool, override int) verdict {
	switch f.cause {
	case causeClient:
		return verdict{client: true, status: connector.ClientStatus(f.err)}
	case causeRejected:
		return verdict{own: true, status: override}
	case causeProtocol:
		return verdict{status: 502}
	}
	v := verdict{status: 502}
	if f.late {
		v.status = 504
		return v
	}
	if started || f.consumed || f.phase == phaseAnswer {
		return v
	}
	// A back end closes idle connections when it likes, and a request may cross
	// with that.
	v.again = stale && repeatable
	v.other = repeatable
	return v
}
