package jk

import (
	"jkd/connector"
	"jkd/connector/jk/balance"
)

// defaultRecovery is what an absent recovery_options means here: once a request
// has been sent, only HEAD and GET are tried again. mod_jk's own default of 0
// repeats everything, orders and payments included; an explicit 0 is honoured.
const defaultRecovery = RecoverNotSent | RecoverNotStarted | RecoverHead | RecoverGet

// verdict is what becomes of a failed attempt.
type verdict struct {
	result   balance.Result
	failover bool // another back end may get the request
	retry    bool // on a new connection to the same back end
	stale    bool // the retry is free: the connection had been lost while idle
	status   int
	client   bool // the client's fault
}

// attempt is what is known of a failed attempt.
type attempt struct {
	err     *connector.ExchangeError
	reused  bool          // on a connection that had carried a request before
	started bool          // part of the answer may have reached the client
	answer  answerVerdict // what the configuration has against the answer
	method  string
	options RecoveryOptions
	// explicit tells that the file sets recovery_options.
	explicit bool
	// stale tells that this request has already been repeated once because
	// its connection had been lost while idle.
	stale bool
}

// judge decides about a failed attempt. Nothing is ever repeated once a byte
// of an answer has come, or when part of the body is gone.
//
// The same back end is asked again only when the connection broke. Another one
// may be asked too when this one answered nonsense, when it was too slow and
// recovery_options says that such requests are to be repeated, and when its
// status is one of fail_on_status, which is there for just that.
func judge(a attempt) verdict {
	e := a.err
	v := verdict{status: statusOf(e), result: result(e, a.answer)}
	if e.Cause == connector.CauseClient {
		v.client = true
		return v
	}
	if a.started || e.BodyConsumed {
		return v
	}
	options := a.options
	if !a.explicit {
		options = defaultRecovery
	}
	if e.Cause == connector.CauseRejected {
		v.failover = true
		return v
	}
	repeat := options&RecoverNotSent == 0 ||
		a.method == "HEAD" && options&RecoverHead != 0 ||
		a.method == "GET" && options&RecoverGet != 0
	if e.Cause != connector.CauseBroken || e.Phase > connector.PhaseReply {
		v.failover = repeat && e.Phase < connector.PhaseBody && (e.Cause != connector.CauseTimeout || a.explicit)
		return v
	}
	if a.reused && !a.stale && !e.TimedOut() && (e.Phase == connector.PhaseSend || !a.explicit || options&RecoverNotSent == 0) {
		// A container closes idle connections when it likes, and a request may
		// cross with that. Not one byte of an answer came, so most likely the
		// request was never read; this is tried once, with the same container: if
		// it is not there any more, it more likely went with the request in hand.
		v.retry, v.stale, v.failover = true, true, e.Phase == connector.PhaseSend || repeat
		return v
	}
	v.retry = e.Phase == connector.PhaseSend || repeat
	v.failover = v.retry
	return v
}

// result is what a failed exchange says about the back end.
func result(e *connector.ExchangeError, a answerVerdict) balance.Result {
	switch e.Cause {
	case connector.CauseClient:
		return balance.ClientError
	case connector.CauseTimeout:
		return balance.ReplyTimeout
	case connector.CauseProtocol:
		return balance.ProtocolError
	case connector.CauseRejected:
		if a == softFail {
			return balance.SoftStatus
		}
		return balance.HardStatus
	}
	return balance.Failure
}

// statusOf is what the client sees of a failed exchange if nothing was sent.
func statusOf(e *connector.ExchangeError) int {
	switch e.Cause {
	case connector.CauseClient:
		return connector.ClientStatus(e.Err)
	case connector.CauseTimeout:
		return 504
	case connector.CauseProtocol:
		return 502
	case connector.CauseRejected:
		return 503
	}
	if e.Phase == connector.PhaseSend {
		return 503
	}
	return 502
}
