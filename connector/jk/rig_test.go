package jk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/counters"
	"jkd/mpm/sock"
)

// long is a deadline for what happens at once unless it is broken.
const long = 20 * time.Second

// dialKinds are the connections of the two process models.
var dialKinds = []struct {
	name string
	dial DialFunc
}{
	{"prefork", dialWith(sock.DialBlocking)},
	{"worker", dialWith(sock.DialPolled)},
}

func dialWith(f sock.DialFunc) DialFunc {
	return func(a netip.AddrPort, o DialOptions) (ajp.NetConn, error) {
		c, err := f(a, sock.DialOptions(o))
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

// bothKinds runs a test over the connections of both process models.
func bothKinds(t *testing.T, f func(t *testing.T, dial DialFunc)) {
	for _, k := range dialKinds {
		t.Run(k.name, func(t *testing.T) { f(t, k.dial) })
	}
}

// rig is a connector with one worker, "w", for a container.
type rig struct {
	t   testing.TB
	c   *Connector
	w   *worker
	log *lockedBuffer
	nets
	clock *testClock
}

// nets are the connections a rig has opened.
type nets struct {
	mu      sync.Mutex
	dials   int
	open    int
	maxOpen int
	conns   []*netConn
}

// netConn counts what is done with a connection.
type netConn struct {
	ajp.NetConn
	n     *nets
	reads atomic.Int64
	once  sync.Once
}

func (c *netConn) Read(p []byte) (int, error) {
	c.reads.Add(1)
	return c.NetConn.Read(p)
}

func (c *netConn) Close() error {
	c.once.Do(func() {
		c.n.mu.Lock()
		c.n.open--
		c.n.mu.Unlock()
	})
	return c.NetConn.Close()
}

func (n *nets) counting(dial DialFunc) DialFunc {
	return func(a netip.AddrPort, o DialOptions) (ajp.NetConn, error) {
		n.mu.Lock()
		n.dials++
		n.mu.Unlock()
		nc, err := dial(a, o)
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.open++
		n.maxOpen = max(n.maxOpen, n.open)
		c := &netConn{NetConn: nc, n: n}
		n.conns = append(n.conns, c)
		return c, nil
	}
}

func (n *nets) counts() (dials, open, maxOpen int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials, n.open, n.maxOpen
}

// last is the connection opened last.
func (n *nets) last() *netConn {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.conns[len(n.conns)-1]
}

// waitReadable waits until something has arrived on c.
func waitReadable(t testing.TB, c ajp.NetConn) {
	t.Helper()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ready, _ := c.Readable(); ready {
			return
		}
	}
	t.Fatal("nothing arrived")
}

// testClock stands still unless it is told to go on.
type testClock struct{ ns atomic.Int64 }

func (c *testClock) now() time.Time      { return time.Unix(1e9, c.ns.Load()) }
func (c *testClock) add(d time.Duration) { c.ns.Add(int64(d)) }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// rigAt makes a rig for the back end at host and port; lines are directives of
// the worker without "worker.w.". Everything is mounted.
func rigAt(t testing.TB, dial DialFunc, threads int, host string, port int, lines ...string) *rig {
	t.Helper()
	return rigMap(t, dial, threads, host, port, "/*=w\n", lines...)
}

func rigMap(t testing.TB, dial DialFunc, threads int, host string, port int, rules string, lines ...string) *rig {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "worker.list=w\nworker.w.host=%s\nworker.w.port=%d\n", host, port)
	for _, l := range lines {
		fmt.Fprintf(&text, "worker.w.%s\n", l)
	}
	cfg, _, err := ParseConfig(Env{}, Source{File: "w", Data: []byte(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := NewURIMap(cfg, Env{}, mapFile(rules))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, log: &lockedBuffer{}, clock: &testClock{}}
	r.c = New(&Setup{Config: cfg, Maps: []*URIMap{m}}, Options{
		Threads: threads, Dial: r.counting(dial), Logger: zerolog.New(r.log), WriteTimeout: long,
	})
	r.w = r.c.workers[0]
	r.w.now = r.clock.now
	t.Cleanup(func() {
		r.c.Close()
		r.settled()
	})
	return r
}

func newRig(t testing.TB, dial DialFunc, c *ajptest.Container, threads int, lines ...string) *rig {
	t.Helper()
	return rigAt(t, dial, threads, "127.0.0.1", c.Port(), lines...)
}

// settled checks that nothing is left of the requests that are over.
func (r *rig) settled() {
	r.t.Helper()
	s := r.c.Stats()[0]
	var closed uint64
	for _, n := range s.Closed {
		closed += n
	}
	if s.Busy != 0 || len(r.w.pool.turns) != 0 || s.Opened-closed != uint64(s.Idle) {
		r.t.Errorf("busy %d, turns %d, opened %d, closed %d, idle %d", s.Busy, len(r.w.pool.turns), s.Opened, closed, s.Idle)
	}
	if _, open, _ := r.counts(); open != s.Idle {
		r.t.Errorf("%d connections open, %d idle", open, s.Idle)
	}
}

// want checks the counters; those that are 0 are left out.
func (r *rig) want(want string) {
	r.t.Helper()
	s := r.c.Stats()[0]
	got := ""
	add := func(name string, n uint64) {
		if n != 0 {
			got += fmt.Sprintf(" %s %d", name, n)
		}
	}
	add("requests", s.Requests)
	add("errors", s.Errors)
	add("client", s.ClientErrors)
	add("hits", s.Hits)
	add("misses", s.Misses)
	add("opened", s.Opened)
	for why := range counters.NumCloseReasons {
		add("closed-"+why.String(), s.Closed[why.String()])
	}
	add("idle", uint64(s.Idle))
	if got = strings.TrimSpace(got); got != want {
		r.t.Errorf("counted\n\t%s\nwant\n\t%s", got, want)
	}
}

// do serves one request by the worker mounted there.
func (r *rig) do(q *connector.Request, a *answer) error {
	w := r.c.Match(q)
	if w == nil {
		r.t.Fatalf("%s is not mapped", q.MatchPath)
	}
	return w.Service(q, a)
}

// get asks for a page and wants 200; it returns the body.
func (r *rig) get(path string) string {
	r.t.Helper()
	a := &answer{}
	if err := r.do(request("GET", path, ""), a); err != nil || a.status != 200 || !a.finished {
		r.t.Errorf("GET %s: %v, status %d", path, err, a.status)
	}
	return string(a.body)
}

// fails serves a request and wants an error with this status.
func (r *rig) fails(q *connector.Request, a *answer, status int) *connector.Error {
	r.t.Helper()
	err := r.do(q, a)
	var e *connector.Error
	if !errors.As(err, &e) {
		r.t.Fatalf("%s %s: %v, want status %d", q.Method, q.Path, err, status)
	}
	if e.Status != status || e.Worker != "w" {
		r.t.Errorf("%s %s: %v, status %d, want %d", q.Method, q.Path, err, e.Status, status)
	}
	return e
}

// request makes a request with a body of known length.
func request(method, path, body string) *connector.Request {
	return &connector.Request{
		Method: []byte(method), Protocol: []byte("HTTP/1.1"), Path: []byte(path), MatchPath: []byte(path),
		ServerName: []byte("www.example.org"), ServerPort: 80,
		RemoteAddr: []byte("192.0.2.1"), RemotePort: []byte("4711"), LocalAddr: []byte("192.0.2.2"),
		Fields:        []connector.Field{{Name: []byte("Host"), Value: []byte("www.example.org")}},
		ContentLength: int64(len(body)), Body: strings.NewReader(body),
	}
}

// answer takes an answer as the contract of connector.ResponseWriter says: what
// is appended is looked at no earlier than it would be sent.
type answer struct {
	status   int
	fields   []string
	body     []byte
	started  bool
	finished bool
	flushes  int

	pending  [][]byte
	buffered int

	// gone makes the client leave: every method fails once that many bytes of
	// the body have been given, Start too if it is -1.
	gone   int
	leaves bool
	left   func() // called when it leaves
	// failFinish makes Finish alone fail.
	failFinish bool
	// panics names the method that panics.
	panics string
}

func (a *answer) fault(method string) error {
	if a.panics == method {
		panic("writer: " + method)
	}
	if a.leaves && (a.failFinish && method == "Finish" || a.gone < 0 || method != "Start" && len(a.body)+a.buffered >= a.gone) {
		if a.left != nil {
			a.left()
		}
		return &connector.ClientError{Op: "write", Err: io.ErrClosedPipe}
	}
	return nil
}

func (a *answer) Start(status int, fields []connector.Field) error {
	if a.started {
		panic("started twice")
	}
	a.started, a.status = true, status
	for _, f := range fields {
		a.fields = append(a.fields, string(f.Name)+": "+string(f.Value))
	}
	return a.fault("Start")
}

func (a *answer) Append(p []byte) error {
	a.pending = append(a.pending, p)
	a.buffered += len(p)
	return a.fault("Append")
}

func (a *answer) Buffered() int {
	n := a.buffered
	if a.started && a.flushes == 0 {
		n++
	}
	return n
}

func (a *answer) send() {
	for _, p := range a.pending {
		a.body = append(a.body, p...)
	}
	a.pending, a.buffered = a.pending[:0], 0
	a.flushes++
}

func (a *answer) Flush() error {
	err := a.fault("Flush")
	if err == nil {
		a.send()
	}
	return err
}

func (a *answer) Finish() error {
	if a.finished {
		panic("finished twice")
	}
	if err := a.fault("Finish"); err != nil {
		return err
	}
	a.send()
	a.finished = true
	return nil
}

func (a *answer) Started() bool { return a.started }

// gates are requests that wait in the container: a path that begins with
// "/hold" is answered when its gate opens. Answers name the connection.
type gates struct {
	mu   sync.Mutex
	open map[string]chan struct{}
}

func (g *gates) of(path string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = map[string]chan struct{}{}
	}
	if g.open[path] == nil {
		g.open[path] = make(chan struct{})
	}
	return g.open[path]
}

func (g *gates) handler(e *ajptest.Exchange) {
	if path := e.Request.URI; strings.HasPrefix(path, "/hold") {
		select {
		case <-g.of(path):
		case <-e.Container().Done():
			return
		}
	}
	e.Respond(200, fmt.Sprint(e.Number))
}

// hold has n requests in the container at a time, then lets them go.
func (r *rig) hold(c *ajptest.Container, g *gates, n int) {
	r.t.Helper()
	path := fmt.Sprint("/hold/", c.Requests())
	var wg sync.WaitGroup
	seen := c.Requests()
	for range n {
		wg.Go(func() { r.get(path) })
	}
	if !c.WaitRequests(seen+n, long) {
		r.t.Errorf("%d requests did not reach the container together", n)
	}
	close(g.of(path))
	wg.Wait()
}
