package jk

import (
	"errors"

	"jkd/connector"
	"jkd/connector/ajp"
)

// defaultRecovery is what an absent recovery_options means here: once a request
// has been sent, only HEAD and GET are tried again. mod_jk's own default of 0
// repeats everything, orders and payments included; an explicit 0 is honoured.
const defaultRecovery = RecoverNotSent | RecoverNotStarted | RecoverHead | RecoverGet

// verdict is what becomes of a failed attempt.
type verdict struct {
	retry  bool // on a new connection to the same back end
	stale  bool // the retry is free: the connection had been lost while idle
	status int
	client bool // the client's fault
}

// attempt is what is known of a failed attempt.
type attempt struct {
	err     *ajp.ExchangeError
	reused  bool // on a connection that had carried a request before
	started bool // part of the answer may have reached the client
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
func judge(a attempt) verdict {
	e := a.err
	v := verdict{status: status(e)}
	if e.Cause == ajp.CauseClient {
		v.client = true
		return v
	}
	if a.started || e.BodyConsumed || e.Cause != ajp.CauseBroken || e.Phase > ajp.PhaseReply {
		return v
	}
	options := a.options
	if !a.explicit {
		options = defaultRecovery
	}
	if a.reused && !a.stale && (e.Phase == ajp.PhaseSend || !a.explicit || options&RecoverNotSent == 0) {
		// A container closes idle connections when it likes, and a request may
		// cross with that. Not one byte of an answer came, so most likely the
		// request was never read; this is tried once.
		v.retry, v.stale = true, true
		return v
	}
	switch {
	case e.Phase == ajp.PhaseSend:
		v.retry = true
	case options&RecoverNotSent == 0,
		a.method == "HEAD" && options&RecoverHead != 0,
		a.method == "GET" && options&RecoverGet != 0:
		v.retry = true
	}
	return v
}

// status is what the client sees of a failed exchange if nothing was sent.
func status(e *ajp.ExchangeError) int {
	switch e.Cause {
	case ajp.CauseClient:
		return clientStatus(e.Err)
	case ajp.CauseTimeout:
		return 504
	case ajp.CauseProtocol:
		return 502
	}
	if e.Phase == ajp.PhaseSend {
		return 503
	}
	return 502
}

// clientStatus is what a client that failed would be told. It mostly is not
// there to hear it.
func clientStatus(err error) int {
	var ce *connector.ClientError
	if errors.As(err, &ce) && ce.Status != 0 {
		return ce.Status
	}
	return 400
}
