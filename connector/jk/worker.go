package jk

import (
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/jk/balance"
	"jkd/connector/jk/jkshm"
)

// worker is one ajp13 back end with this process's connections to it.
type worker struct {
	name     string
	cfg      *AJPConfig
	dial     DialFunc
	dialOpts DialOptions
	pool     *pool
	write    time.Duration // longest wait for the container to take a packet
	count    requests
	tally    *counters.Record // what is counted for all to see
	member   bool             // of a balancer
	seg      *jkshm.Segment
	rec      *jkshm.Worker // what all processes know of this back end
	server   int           // this process's place in rec
	log      zerolog.Logger
	now      func() time.Time

	view  atomic.Pointer[live]
	own   *ownNames    // nil: the master asks for names
	asked atomic.Int64 // unix ns: when the master was last waited for, see moved

	calls  calls
	hinted atomic.Bool // the hint about refusals has been given
}

// Name implements connector.Worker.
func (w *worker) Name() string { return w.name }

// single is a worker as one rule of one server has it.
type single struct {
	*worker
	site *site
	ext  *Extensions
}

// Service implements connector.Worker.
func (t *single) Service(r *connector.Request, rw connector.ResponseWriter) error {
	return t.calls.serve(t.name, AJP13, t.site, t.ext, r, rw, t.request)
}

// request makes the packets of a request and finds it a place among the
// connections. In this order: a client that is slow to send its body must not
// keep others from a bounded pool, and one whose request can't be sent needs
// no connection.
func (w *worker) request(c *call) *connector.Error {
	w.count.all.Add(1)
	c.req.Secret = w.cfg.Secret
	if err := c.fwd.Encode(&c.req, w.packetSize()); err != nil {
		w.count.clientErrors.Add(1)
		return encodeError(w.name, err)
	}
	result, err := w.run(c)
	if result == balance.NoEndpoint {
		c.log.Error().Str("worker", w.name).Msgf("Could not get endpoint for worker=%s", w.name)
	}
	return err
}

// run sends a request, whose packets have been made, to this back end and passes the answer on.
func (w *worker) run(c *call) (balance.Result, *connector.Error) {
	result, err := w.place(c)
	w.blame(err)
	return result, err
}

// blame counts a failure, if it is one.
func (w *worker) blame(err *connector.Error) {
	switch {
	case err == nil:
	case err.Client:
		w.count.clientErrors.Add(1)
		w.rec.ClientErrors.Add(1)
	case !err.Own:
		w.count.errors.Add(1)
		if w.member {
			w.tally.Error() // the front counts those of the worker of a rule
		}
		w.rec.Errors.Add(1)
	}
}

// place keeps the limits on requests in hand.
func (w *worker) place(c *call) (balance.Result, *connector.Error) {
	c.failover = true
	if w.own != nil {
		w.own.keep(w, false)
	}
	l := w.live()
	if l.s.Port == 0 {
		return balance.Failure, &connector.Error{Worker: w.name, Addr: l.s.Host, Op: "connect", Status: 503, Recoverable: true, Err: errPortZero}
	}
	c.out.fail = c.failOnStatus(w.cfg.FailOnStatus)
	if limit := l.s.BusyLimit; !w.rec.TryEnter(w.server, limit) {
		c.log.Error().Str("worker", w.name).Int("busy_limit", limit).Msgf("busy limit %d reached for worker %s", limit, w.name)
		return balance.BusyLimit, &connector.Error{Worker: w.name, Addr: l.address(), Op: "acquire connection", Status: 503, Recoverable: true,
			Err: fmt.Errorf("busy limit %d reached", limit)}
	}
	defer w.rec.Leave(w.server)
	if err := w.pool.enter(&c.out); err != nil {
		if errors.Is(err, errLeft) {
			return balance.ClientError, leftError(w.name)
		}
		w.tally.Refused()
		c.log.Warn().Str("worker", w.name).AnErr("cause", err).Msgf("Unable to get the free endpoint for worker %s from %d slots", w.name, w.pool.size)
		return balance.NoEndpoint, &connector.Error{Worker: w.name, Addr: l.address(), Op: "acquire connection", Status: 503, Recoverable: true, Err: err}
	}
	defer w.pool.leave()
	w.tally.AddBusy(1)
	defer w.tally.AddBusy(-1)
	w.rec.Used.Add(1)
	w.rec.CompareAndSwapState(jkshm.WorkerError, jkshm.WorkerProbe)
	result, err := w.attempts(c)
	w.ended(result, err)
	if err == nil && c.out.verdict == ownPage {
		if !c.out.body {
			c.log.Info().Str("worker", w.name).Int("status", c.out.status).Msgf("No body with status=%d for worker=%s", c.out.status, w.name)
		}
		err = c.out.page(w.name)
	}
	return result, err
}

// ended keeps what the status worker shows of how requests ended. One that
// found no place says nothing about the back end.
func (w *worker) ended(result balance.Result, err *connector.Error) {
	switch {
	case result == balance.NoEndpoint:
		w.rec.CompareAndSwapState(jkshm.WorkerProbe, jkshm.WorkerError)
		return
	case err == nil || err.Client:
		w.rec.SetState(jkshm.WorkerOK)
		return
	}
	w.rec.SetState(jkshm.WorkerError)
	w.rec.ErrorTime.Store(w.now().Unix())
}

// errPortZero says that a worker is there to be never contacted.
var errPortZero = errors.New("port is 0: this worker is never contacted")

// attempts sends the request until it is answered or may not be sent again to
// this back end.
func (w *worker) attempts(c *call) (balance.Result, *connector.Error) {
	limits := ajp.Timeouts{Reply: c.replyTimeout(w.live().s.ReplyTimeout), Socket: w.cfg.SocketTimeout, Write: w.write}
	stale, fresh := false, false
	elsewhere := true // another back end may get the request
	for try := 1; ; {
		result, again := balance.Failure, true
		c.failover = elsewhere
		conn, fail := w.connection(c, fresh)
		fresh = false
		s := &w.live().s
		var ee *connector.ExchangeError
		if fail == nil {
			c.out.begin()
			err := w.exchange(conn, c, limits)
			if err == nil {
				return balance.Success, nil
			}
			var e *connector.ExchangeError // escapes
			if !errors.As(err, &e) {
				return balance.InternalError, &connector.Error{Worker: w.name, Addr: conn.addr, Op: "exchange", Status: 500, Err: err}
			}
			ee = e
			v := judge(attempt{
				err: ee, reused: conn.reused, started: c.out.Started(), stale: stale, answer: c.out.verdict,
				method: string(c.req.Method), options: RecoveryOptions(s.RecoveryOptions), explicit: s.RecoveryOptionsSet,
			})
			result, again, c.failover = v.result, v.retry, v.failover && elsewhere
			fail = &connector.Error{
				Worker: w.name, Addr: conn.addr, Op: ee.Phase.String(), Status: v.status,
				Recoverable: v.retry, Client: v.client, Err: ee.Err,
			}
			if result == balance.ReplyTimeout {
				w.rec.ReplyTimeouts.Add(1)
			}
			if ee.Cause == connector.CauseRejected {
				fail.Err = fmt.Errorf("request failed (%s), because of response status %d", c.out.verdict, c.out.status)
			}
			if v.stale {
				// What else lies in the pool is as old: a restarted container
				// has dropped all of it. The retry needs a connection that
				// can't have been lost in the same way, and opens it now that
				// none is idle, which is what keeps a bounded pool bounded.
				w.pool.drop(counters.ClosedStale, all)
				stale, fresh, elsewhere = true, true, c.failover
				c.log.Info().Str("worker", w.name).Str("address", conn.addr).AnErr("cause", ee).
					Msg("no usable connection found, will create a new one: an idle connection was lost")
				continue
			}
		}
		switch {
		case fail.Err == errLeft:
			return balance.ClientError, fail
		case errors.Is(fail.Err, errConnections):
			return balance.NoEndpoint, fail
		}
		// A name is not known the sooner for asking again.
		last := !again || try >= s.Retries || errors.Is(fail.Err, errUnresolved)
		w.tell(c.log, failedAttempt{fail: fail, cause: ee, try: try, recoverable: again || c.failover, last: last})
		if last {
			return result, fail
		}
		try++
		if !c.out.pause(s.RetryInterval) {
			return balance.ClientError, leftError(w.name)
		}
	}
}

// exchange sends the request on conn and passes the answer on. Whatever comes
// of it, even a panic of the writer, conn is given back or closed.
func (w *worker) exchange(conn *pooled, c *call, limits ajp.Timeouts) error {
	returned := false
	defer func() {
		if !returned {
			w.pool.close(conn, counters.ClosedError)
		}
	}()
	err := conn.Exchange(&c.fwd, &c.out, limits)
	returned = true
	sent, read := conn.Traffic()
	w.rec.Transferred.Add(sent)
	w.rec.Read.Add(read)
	c.traffic += sent + read
	w.after(conn, err, c)
	return err
}

// connection returns a connection fit for a request: an idle one, unless it has
// to be fresh, or a new one.
func (w *worker) connection(q *call, fresh bool) (*pooled, *connector.Error) {
	if !fresh {
		if c := w.idle(q.log); c != nil {
			w.tally.Hit()
			return c, nil
		}
	}
	w.tally.Miss()
	q.log.Debug().Str("worker", w.name).Msg("no usable connection found, will create a new one")
	c, err := w.open(q)
	if err != nil || c.reused {
		return c, err
	}
	// A new connection is asked once, whichever of the two modes asks.
	s := &w.live().s
	ping := s.ConnectTimeout
	if ping <= 0 {
		ping = s.PrepostTimeout
	}
	if ping > 0 {
		if err := c.CPing(ping); err != nil {
			w.pool.close(c, counters.ClosedPing)
			return nil, &connector.Error{Worker: w.name, Addr: c.addr, Op: "cping after connect", Status: 503, Recoverable: true, Err: err}
		}
	}
	return c, nil
}

// idle returns an idle connection that is fit for a request, or nil.
func (w *worker) idle(log *zerolog.Logger) *pooled {
	for {
		l := w.live()
		c := w.pool.take(w.now(), l)
		if c == nil || l.s.PrepostTimeout <= 0 {
			return c
		}
		start := time.Now()
		err := c.CPing(l.s.PrepostTimeout)
		if err == nil {
			return c
		}
		log.Info().Str("worker", w.name).Str("address", c.addr).AnErr("cause", err).Msg("prepost cping/cpong failure, trying another connection")
		w.pool.close(c, counters.ClosedPing)
		if time.Since(start) >= l.s.PrepostTimeout {
			// Packets vanish on the way, or the container stands still. The
			// others have been idle for longer; asking them one by one would
			// cost the user the same wait for each.
			w.pool.drop(counters.ClosedStale, all)
		}
	}
}

// after gives a connection back, or closes it; err is what the exchange
// returned.
func (w *worker) after(c *pooled, err error, q *call) {
	if c.Refused() {
		w.refused(c, q)
	}
	if d := c.Dropped(); len(d) > 0 {
		q.log.Warn().Str("worker", w.name).Str("address", c.addr).Bytes("path", q.req.Path).Strs("fields", texts(d)).
			Msg("header fields of the answer are left out: a name or a value has bytes that could begin another line")
	}
	if c.State() == ajp.Idle && q.reuse {
		l := w.live()
		if !l.fits(c) {
			w.pool.close(c, counters.ClosedChanged)
			return
		}
		w.pool.give(c, w.now(), w.share(l))
		return
	}
	why := counters.ClosedError
	var ee *connector.ExchangeError
	switch {
	case c.State() == ajp.Idle:
		why = counters.ClosedReuse
	case c.Refused():
		why = counters.ClosedReuse
	case errors.As(err, &ee) && ee.Cause == connector.CauseClient:
		why = counters.ClosedClient
		if s := &w.live().s; s.RecoveryOptionsSet && RecoveryOptions(s.RecoveryOptions)&RecoverCloseOnClientError != 0 {
			c.Abort()
		}
	}
	w.pool.close(c, why)
}

// DialOptions are the properties of a connection to a back end.
type DialOptions struct {
	Timeout   time.Duration // for the connect
	KeepAlive bool          // SO_KEEPALIVE
	Buffer    int           // socket buffers in bytes, 0: the kernel's
	Source    netip.Addr    // local address, invalid: any
}

// DialFunc connects to one address the way the process model wants it.
type DialFunc func(addr netip.AddrPort, o DialOptions) (ajp.NetConn, error)
