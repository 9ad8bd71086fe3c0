package proxy

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/counters"
	"jkd/connector/dial"
	"jkd/connector/proxy/http1"
	"jkd/connector/resolve"
)

// defaultConnect bounds a connect when nothing else does.
const defaultConnect = 60 * time.Second

// worker is one back end in this process.
type worker struct {
	*Worker
	name     string
	pool     pool
	resolver *resolve.Resolver
	dial     *dial.Dialers
	write    time.Duration
	log      zerolog.Logger
	now      func() time.Time

	// failedAt is when it failed last, in Unix nanoseconds; 0: it is well.
	failedAt atomic.Int64
}

func newWorker(w *Worker, c *Connector) *worker {
	x := &worker{Worker: w, name: w.counterName(), dial: &c.o.Dial, write: c.o.WriteTimeout, log: c.log, now: c.now}
	if w.socket == "" {
		x.resolver = resolve.New(w.host, w.port, false)
	}
	limit := w.Max
	if limit == 0 || limit >= c.o.Threads {
		limit = 0 // there are no more requests than that
	}
	x.pool.init(limit, w.SMax, w.TTL, c.tally(x.name))
	return x
}

// usable tells whether the worker may get a request: it has not failed, or so
// long ago that it is tried again.
func (w *worker) usable(now time.Time) bool {
	if w.Disabled || w.Stopped {
		return false
	}
	at := w.failedAt.Load()
	rested := now.UnixNano() - at
	return at == 0 || rested >= int64(w.Retry) || rested < 0 // the clock was set back
}

// failed puts the worker in error. With retry=0 that means nothing.
func (w *worker) failed() {
	if !w.Ignore {
		w.failedAt.Store(w.now().UnixNano())
	}
}

// outcome is what became of a request with one worker.
type outcome struct {
	err *connector.Error // nil: it was answered
	// other: another member may have the request, and faulty: this one is in
	// error.
	other, faulty bool
}

func (w *worker) fail(addr, op string, status int, err error) *connector.Error {
	return &connector.Error{Worker: w.name, Addr: addr, Op: op, Status: status, Err: err}
}

var errResting = errors.New("the back end has failed, and its retry time is not over")

// serve sends the request of c, of which nobody has seen anything, to this
// worker and passes the answer on.
func (w *worker) serve(c *call) outcome {
	out := w.attempt(c)
	switch {
	case out.err == nil:
		w.failedAt.Store(0)
	case out.faulty:
		w.failed()
	}
	return out
}

func (w *worker) attempt(c *call) outcome {
	if !w.usable(w.now()) {
		return outcome{err: w.fail("", "choose worker", 503, errResting), other: true}
	}
	if err := c.make(w); err != nil {
		return outcome{err: err}
	}
	e, err := w.pool.take(w.Acquire, w.now())
	if err != nil {
		return outcome{err: w.fail("", "acquire connection", 503, err), other: true}
	}
	defer func() { // also when the writer panics
		if e.conn != nil && (!e.conn.idle() || w.NoReuse || c.noReuse) {
			why := c.why
			if e.conn.idle() {
				why = counters.ClosedReuse
			}
			w.pool.disconnect(e, why)
		}
		w.pool.give(e, w.now())
	}()
	read := w.Timeout
	if b := c.target.balancer; read == 0 && b != nil {
		read = b.Timeout
	}
	if read == 0 {
		read = c.target.server.Timeout
	}
	c.why = counters.ClosedError
	for retried := false; ; retried = true {
		if err := w.ready(e, read); err != nil {
			return outcome{err: err, other: true, faulty: true}
		}
		reused := e.used
		if reused {
			w.pool.tally.Hit()
		}
		e.used = true
		err := e.conn.exchange(c, read, w.writeTimeout(read))
		if err == nil {
			c.why = counters.ClosedReuse
			return outcome{}
		}
		var f *connector.ExchangeError
		if !errors.As(err, &f) { // a link has no other errors
			f = &connector.ExchangeError{Phase: connector.PhaseHead, Err: err}
		}
		v := judge(f, reused && !retried, c.answer.Started(), c.idempotent(), c.answer.override)
		if v.again {
			w.log.Info().Int("thread", c.r.Thread).Str("worker", w.name).Str("address", e.addr).AnErr("cause", f.Err).
				Msg("the back end had closed the connection, trying again on a new one")
			w.pool.disconnect(e, counters.ClosedStale)
			w.pool.drop(counters.ClosedStale) // whatever else lies idle is as old
			continue
		}
		ce := w.fail(e.addr, f.Phase.String(), v.status, f.Err)
		ce.Client, ce.Own = v.client, v.own
		if v.own {
			ce.Fields = c.answer.kept
		}
		if v.client || v.own {
			c.why = counters.ClosedClient
		}
		return outcome{err: ce, other: v.other}
	}
}

func (w *worker) writeTimeout(read time.Duration) time.Duration {
	if w.Timeout > 0 || w.write == 0 {
		return read
	}
	return w.write
}

// ready makes e a connection that may carry a request. A back end that does not
// answer CPING gets one more chance on a new connection, as in mod_proxy_ajp.
func (w *worker) ready(e *endpoint, read time.Duration) *connector.Error {
	for second := false; ; second = true {
		if e.conn != nil && !e.conn.usable() {
			w.pool.disconnect(e, counters.ClosedStale)
		}
		if e.conn == nil {
			w.pool.tally.Miss()
			nc, addr, err := w.connect(read)
			if err != nil {
				op := "connect"
				var re *dial.ResolveError
				if errors.As(err, &re) {
					op = "resolve"
				}
				return w.fail(addr, op, 503, err)
			}
			w.pool.tally.Opened()
			e.conn, e.addr, e.used = w.newLink(nc), addr, false
		}
		err := e.conn.ping(w.Ping)
		if err == nil {
			return nil
		}
		w.pool.disconnect(e, counters.ClosedPing)
		if second {
			return w.fail(e.addr, "cping", 503, err)
		}
	}
}

// connect connects to the first address that takes it; all of them together
// have the time of one connect.
func (w *worker) connect(read time.Duration) (nc ajp.NetConn, addr string, err error) {
	o := dial.Options{Timeout: w.ConnectTimeout, KeepAlive: w.KeepAlive}
	if o.Timeout == 0 {
		o.Timeout = read
	}
	if o.Timeout == 0 {
		o.Timeout = defaultConnect
	}
	return w.dial.Connect(w.socket, w.resolver, w.now(), o)
}

// link is a connection in one of the protocols.
type link interface {
	idle() bool   // it may carry another request
	usable() bool // and is still open
	ping(timeout time.Duration) error
	exchange(c *call, read, write time.Duration) error // a *connector.ExchangeError
	close() error
}

func (w *worker) newLink(nc ajp.NetConn) link {
	if w.scheme == "ajp" {
		return &ajpLink{c: ajp.NewConn(nc, w.packet)}
	}
	return &httpLink{c: http1.NewConn(nc)}
}

type httpLink struct{ c *http1.Conn }

func (l *httpLink) idle() bool               { return l.c.Idle() }
func (l *httpLink) usable() bool             { return l.c.Usable() }
func (l *httpLink) ping(time.Duration) error { return nil }
func (l *httpLink) close() error             { return l.c.Close() }

func (l *httpLink) exchange(c *call, read, write time.Duration) error {
	err := l.c.Exchange(&c.http, c.answer, http1.Timeouts{Read: read, Write: write})
	_, c.read = l.c.Traffic()
	return err
}

type ajpLink struct{ c *ajp.Conn }

func (l *ajpLink) idle() bool   { return l.c.State() == ajp.Idle }
func (l *ajpLink) usable() bool { return l.c.Usable() }
func (l *ajpLink) close() error { return l.c.Close() }
func (l *ajpLink) ping(timeout time.Duration) error {
	if timeout <= 0 {
		return nil
	}
	return l.c.CPing(timeout)
}

func (l *ajpLink) exchange(c *call, read, write time.Duration) error {
	err := l.c.Exchange(&c.fwd, c.answer, ajp.Timeouts{Reply: read, Write: write})
	_, c.read = l.c.Traffic()
	return err
}
