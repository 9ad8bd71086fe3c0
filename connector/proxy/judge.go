package proxy

import "jkd/connector"

// verdict is what follows from a failed exchange.
type verdict struct {
	again  bool // on a new connection to the same back end
	other  bool // another member may have the request
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
func judge(f *connector.ExchangeError, stale, started, repeatable bool, override int) verdict {
	switch f.Cause {
	case connector.CauseClient:
		return verdict{client: true, status: connector.ClientStatus(f.Err)}
	case connector.CauseRejected:
		return verdict{own: true, status: override}
	case connector.CauseProtocol:
		return verdict{status: 502}
	}
	v := verdict{status: 502}
	if f.TimedOut() {
		v.status = 504
		return v
	}
	if started || f.BodyConsumed || f.Phase >= connector.PhaseHead {
		return v
	}
	// A back end closes idle connections when it likes, and a request may cross
	// with that.
	v.again = stale && repeatable
	v.other = repeatable
	return v
}
