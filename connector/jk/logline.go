package jk

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/jk/balance"
)

// What the connector logs of failures says in mod_jk's words, which people
// have alerts and habits for, what happened; the fields say it for programs.
// Tests hold on to these words (TestLogWords): they are an interface.

// failedAttempt is a failed attempt to have a request served by a back end.
type failedAttempt struct {
	fail        *connector.Error
	cause       *connector.ExchangeError // nil: there was no connection
	try         int                      // from 1
	recoverable bool                     // the request may be tried again, here or elsewhere
	last        bool                     // it is not tried again here
}

// tell logs a failed attempt: as an error when it was the last one and nobody
// but the back end is to blame.
func (w *worker) tell(log *zerolog.Logger, a failedAttempt) {
	what, why := a.words()
	un := "un"
	if a.recoverable {
		un = ""
	}
	msg := fmt.Sprintf("%s: sending request to tomcat failed (%srecoverable), because of %s (attempt=%d)", what, un, why, a.try)
	ev := log.Info()
	switch {
	case a.fail.Client:
		msg += ". Aborting connection for worker=" + w.name
	case a.last && (a.cause == nil || a.cause.Cause != connector.CauseRejected):
		ev = log.Error()
		msg += fmt.Sprintf("; connecting to tomcat failed (status=%d, errors=%d, client_errors=%d)", a.fail.Status, w.rec.Errors.Load()+1, w.rec.ClientErrors.Load())
	}
	ev.Str("worker", w.name).Str("address", a.fail.Addr).Int("attempt", a.try).AnErr("cause", a.fail).Msg(msg)
}

// words are what happened, and what mod_jk calls the cause.
func (a *failedAttempt) words() (what, why string) {
	addr := a.fail.Addr
	if a.cause == nil {
		switch a.fail.Op {
		case "connect":
			return fmt.Sprintf("Failed opening socket to (%s): connect to %s failed (errno=%d), connecting to backend failed. "+
				"Tomcat is probably not started or is listening on the wrong port", addr, addr, errno(a.fail.Err)), "error during connect"
		case "resolve":
			return fmt.Sprintf("can't resolve tomcat address %s", addr), "an unknown address"
		}
		return "cping/cpong after connecting to the backend server failed", "error during cping"
	}
	switch a.cause.Cause {
	case connector.CauseClient:
		var ce *connector.ClientError
		if errors.As(a.cause.Err, &ce) && strings.Contains(ce.Op, "read") {
			return "Reading from client aborted or client network problems: receiving data from client failed", "client read error"
		}
		return "Writing to client aborted or client network problems", "client write error"
	case connector.CauseTimeout:
		return "Timeout with waiting reply from tomcat. " + a.lost(), "reply timeout"
	case connector.CauseProtocol:
		return a.cause.Err.Error(), "protocol error"
	case connector.CauseRejected:
		return a.fail.Err.Error(), "response status"
	}
	why = "error during reply"
	if a.cause.Phase == connector.PhaseSend {
		why = "error during send"
	}
	if errors.Is(a.cause.Err, ajp.ErrClosed) {
		return fmt.Sprintf("can't receive the response message from tomcat, tomcat (%s) has forced a connection close. %s", addr, a.lost()), why
	}
	return fmt.Sprintf("network problems or tomcat (%s) is down (errno=%d). %s", addr, errno(a.cause.Err), a.lost()), why
}

// lost tells what the client has seen of the answer.
func (a *failedAttempt) lost() string {
	if a.cause.Phase == connector.PhaseBody {
		return "Tomcat is down or network problems. Part of the response has already been sent to the client"
	}
	return "Tomcat is down or refused connection. No response has been sent to the client (yet)"
}

// errno is the number that the system gave an error, 0 for none.
func errno(err error) int {
	var n syscall.Errno
	errors.As(err, &n)
	return int(n)
}

// memberWords say how an attempt with a member of a balancer failed.
func memberWords(r balance.Result, state balance.State, member string) string {
	switch {
	case r == balance.NoEndpoint || r == balance.BusyLimit:
		return fmt.Sprintf("could not get free endpoint for worker %s", member)
	case state == balance.Error:
		return fmt.Sprintf("service failed, worker %s is in error state", member)
	}
	return fmt.Sprintf("service failed, worker %s is in local error state", member)
}

// tell logs that a balancer gives up, and why.
func (b *balancer) tell(log *zerolog.Logger, last balance.Report, fail *connector.Error) {
	ev, msg := log.Error(), ""
	switch {
	case fail.Own:
		return
	case last == balance.Done && fail.Client:
		ev = log.Info()
		msg = fmt.Sprintf("unrecoverable error %d, request failed. Client failed in the middle of request, we can't recover to another instance", fail.Status)
	case last == balance.Done:
		msg = fmt.Sprintf("unrecoverable error %d, request failed. Tomcat failed in the middle of request, we can't recover to another instance", fail.Status)
	case errors.Is(fail.Err, errNobody):
		msg = "All tomcat instances are busy or in error state: All tomcat instances failed, no more workers left"
	default:
		msg = "All tomcat instances failed, no more workers left"
	}
	ev.Str("worker", b.name).Int("status", fail.Status).Msg(msg)
}

// upkeepWords say what maintenance did about a member.
func upkeepWords(e balance.Event, member string) string {
	switch e {
	case balance.Due:
		return fmt.Sprintf("worker %s in error is marked for recovery", member)
	case balance.Escalated:
		return fmt.Sprintf("worker %s escalating local error to global error", member)
	}
	return fmt.Sprintf("maintenance of worker %s: %s", member, e)
}
