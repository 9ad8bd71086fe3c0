package jk2

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/dial"
	"jkd/connector/jk2/jk2shm"
)

// packet is the size of all packets: mod_jk2 has no directive for it.
const packet = ajp.DefaultPacketSize

// worker is one ajp13 component in this process: what the configuration says
// of it now, and its endpoints.
type worker struct {
	name  string
	set   atomic.Pointer[workerSet]
	cache cache

	write time.Duration // wait for a container to take what is sent, if the channel has no timeout
	// record is the record of a new endpoint in jk2.shm; nil for none.
	record func() *jk2shm.Endpoint
	log    zerolog.Logger
	now    func() time.Time

	requests, errors atomic.Uint64
}

// workerSet is what a reload may change.
type workerSet struct {
	cfg     Worker
	channel *channel
	timeout time.Duration // of the channel
	// noRecovery is workerEnv's noRecoveryIfRequestSent.
	noRecovery bool
}

// outcome is what became of a request with one worker.
type outcome struct {
	err    *connector.Error // nil: it was answered
	other  bool             // another worker may have it
	faulty bool             // the worker is in error
}

// serve sends the request of c, which has been made out to nobody yet, to this
// worker and passes the answer on.
func (w *worker) serve(c *call, rw connector.ResponseWriter) (out outcome) {
	w.requests.Add(1)
	defer func() {
		if out.err != nil && !out.err.Client {
			w.errors.Add(1)
		}
	}()
	set := w.set.Load()
	c.req.Secret = set.cfg.Secret
	if err := c.fwd.EncodeHead(&c.req); err != nil {
		return outcome{err: ajp.RequestError(w.name, err)}
	}
	e := w.cache.take(set.cfg.MaxConnections, w.record)
	if e == nil {
		// The worker is as well as ever: it is not put in error, as mod_jk2
		// does, which would send all others away for a minute.
		w.log.Error().Int("thread", c.req.Thread).Str("worker", w.name).Int("max_connections", set.cfg.MaxConnections).
			Msg("all connections that max_connections allows a process are in use, the request is refused")
		return outcome{err: w.fail("", "acquire endpoint", 503, fmt.Errorf("max_connections %d of this process are in use", set.cfg.MaxConnections))}
	}
	ok := false
	e.record.Begin(c.req.Path, c.received, w.stamp(c))
	defer func() {
		e.record.End(ok, w.stamp(c))
		if e.conn != nil && e.conn.State() != ajp.Idle {
			w.cache.disconnect(e, counters.ClosedError) // the writer has panicked
		}
		w.cache.give(e, w.now())
	}()
	out = w.attempts(set, e, c, rw)
	ok = out.err == nil
	return out
}

// attempts tries e until the request is answered or may not be sent again to
// this container.
func (w *worker) attempts(set *workerSet, e *endpoint, c *call, rw connector.ResponseWriter) outcome {
	limits := ajp.Timeouts{Reply: set.cfg.ReplyTimeout, Socket: set.timeout, Write: set.timeout}
	if limits.Write == 0 {
		limits.Write = w.write
	}
	stale := false
	for attempt := 1; ; {
		if e.conn != nil {
			w.check(set, e)
		}
		if e.conn == nil {
			if err := w.connect(set, e); err != nil {
				return outcome{err: err, other: true, faulty: true}
			}
		}
		addr, reused := e.addr, e.reused
		if reused {
			w.cache.tally.Hit()
		}
		err := e.conn.Exchange(&c.fwd, rw, limits)
		if e.conn.State() == ajp.Idle {
			e.reused = true
		} else {
			w.cache.disconnect(e, whyClosed(err))
		}
		if err == nil {
			return outcome{}
		}
		var ee *connector.ExchangeError
		if !errors.As(err, &ee) {
			return outcome{err: w.fail(addr, "exchange", 500, err), faulty: true}
		}
		v := judge(failure{
			err: ee, method: string(c.req.Method), reused: reused, started: rw.Started(), stale: stale, attempt: attempt, noRecovery: set.noRecovery,
		})
		fail := w.fail(addr, ee.Phase.String(), v.status, ee.Err)
		fail.Client, fail.Recoverable = v.client, v.other
		if !v.again {
			return outcome{err: fail, other: v.other, faulty: v.faulty}
		}
		w.log.Info().Int("thread", c.req.Thread).Str("worker", w.name).Str("address", addr).Bool("idle", v.stale).AnErr("cause", fail).
			Msg("the connection to the container was lost, trying again on a new one")
		if v.stale {
			// Whatever else lies idle is as old.
			stale = true
			w.cache.drop(counters.ClosedStale)
			continue
		}
		attempt++
	}
}

// stamp is the time for a record, 0 for a request that is not timed.
func (w *worker) stamp(c *call) int64 {
	if c.received == 0 {
		return 0
	}
	return w.now().UnixMicro()
}

func (w *worker) fail(addr, op string, status int, err error) *connector.Error {
	return &connector.Error{Worker: w.name, Addr: addr, Op: op, Status: status, Err: err}
}

// check closes an idle connection that is not fit for a request. mod_jk2 only
// finds out by using it.
func (w *worker) check(set *workerSet, e *endpoint) {
	switch {
	case !e.conn.Usable():
		w.cache.disconnect(e, counters.ClosedStale)
	case set.cfg.PrepostTimeout > 0 && e.conn.CPing(set.cfg.PrepostTimeout) != nil:
		w.cache.disconnect(e, counters.ClosedPing)
	}
}

// whyClosed is why a connection is not kept after an exchange, by what the
// exchange returned.
func whyClosed(err error) counters.CloseReason {
	if err == nil {
		return counters.ClosedReuse
	}
	var ee *connector.ExchangeError
	if errors.As(err, &ee) && ee.Cause == connector.CauseClient {
		return counters.ClosedClient
	}
	return counters.ClosedError
}

// connect connects e and asks for a sign of life if that is wanted.
func (w *worker) connect(set *workerSet, e *endpoint) *connector.Error {
	w.cache.tally.Miss()
	nc, addr, err := set.channel.connect()
	if err != nil {
		op := "connect"
		var re *dial.ResolveError
		if errors.As(err, &re) {
			op = "resolve"
		}
		return w.fail(addr, op, 503, err)
	}
	w.cache.tally.Opened()
	e.conn, e.addr, e.reused = ajp.NewConn(nc, packet), addr, false
	e.record.Connected(w.now().UnixMicro())
	ping := set.cfg.ConnectTimeout
	if ping <= 0 {
		ping = set.cfg.PrepostTimeout
	}
	if ping > 0 {
		if err := e.conn.CPing(ping); err != nil {
			w.cache.disconnect(e, counters.ClosedPing)
			return w.fail(addr, "cping after connect", 503, err)
		}
	}
	return nil
}
