package jk2

import (
	"jkd/connector"
)

// failure is what is known of a failed attempt with one endpoint.
type failure struct {
	err     *connector.ExchangeError
	method  string
	reused  bool // the connection had carried a request before
	started bool // part of the answer may have reached the client
	stale   bool // this request has been repeated for a dead idle connection already
	attempt int  // from 1
	// noRecovery is workerEnv's noRecoveryIfRequestSent.
	noRecovery bool
}

// verdict is what follows from it.
type verdict struct {
	again  bool // on a new connection to the same container
	stale  bool // and that costs no attempt: the connection was dead when it was taken
	other  bool // another worker of the balancer may have the request
	faulty bool // the worker is in error
	client bool // it was the client's fault
	status int
}

// attempts is how often one container gets a request at most.
const attempts = 2

// judge decides about a failed attempt. mod_jk2 repeats nearly everything, an
// order to pay included; here a request of which a container may have seen
// anything is repeated only if it is a GET or HEAD, and never once a byte of an
// answer has come or when a part of the body is gone.
func judge(f failure) verdict {
	e := f.err
	v := verdict{status: statusOf(e), faulty: true}
	if e.Cause == connector.CauseClient {
		v.client, v.faulty = true, false
		return v
	}
	if e.Phase > connector.PhaseSend && e.TimedOut() {
		return v // the container may still be at it
	}
	if f.started || e.BodyConsumed || e.Cause != connector.CauseBroken || e.Phase > connector.PhaseReply {
		return v
	}
	safe := f.method == "GET" || f.method == "HEAD"
	v.other = e.Phase == connector.PhaseSend || safe && !f.noRecovery
	if f.reused && !f.stale && !e.TimedOut() {
		// A container closes idle connections when it likes, and a request may
		// cross with that. Most likely it was never read. This is tried once, with
		// the same container: if that is gone, it may have died of the request.
		v.again, v.stale, v.faulty = true, true, false
		return v
	}
	v.again = (e.Phase == connector.PhaseSend || safe) && f.attempt < attempts
	return v
}

// statusOf is what the client sees of a failed exchange if nothing was sent.
func statusOf(e *connector.ExchangeError) int {
	switch {
	case e.Cause == connector.CauseClient:
		return connector.ClientStatus(e.Err)
	case e.Phase == connector.PhaseSend && e.Cause == connector.CauseBroken:
		return 503
	case e.TimedOut():
		return 504
	}
	return 502
}
