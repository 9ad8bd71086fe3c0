package jk2

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/connector/ajp"
	"jkd/connector/ajp/ajptest"
	"jkd/connector/connectortest"
	"jkd/connector/dial"
)

// mode is how a scripted container treats requests.
type mode int32

const (
	serving  mode = iota
	dropping      // reads the request and closes the connection
	silent        // never answers
)

// node is a scripted container that says who it is.
type node struct {
	*ajptest.Container
	mode  atomic.Int32
	pings atomic.Int32 // how many CPINGs get an answer, less than 0: all

	mu   sync.Mutex
	last *ajptest.Request
	body string
	got  int // requests of whatever outcome
}

func (n *node) be(m mode) { n.mode.Store(int32(m)) }

// seen is the last request.
func (n *node) seen() (r *ajptest.Request, body string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last, n.body
}

// took is how many requests have come since the last call.
func (n *node) took() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	got := n.got
	n.got = 0
	return got
}

func newNode(t *testing.T, name string) *node {
	t.Helper()
	n := &node{}
	n.pings.Store(-1)
	o := ajptest.Options{OnCPing: func(k *ajptest.Conn) {
		if n.pings.Load() != 0 {
			n.pings.Add(-1)
			k.Send(ajptest.CPong())
		}
	}}
	n.Container = ajptest.NewOptions(t, "tcp", o, func(e *ajptest.Exchange) {
		body, _ := e.Body()
		n.mu.Lock()
		n.last, n.body, n.got = e.Request, string(body), n.got+1
		n.mu.Unlock()
		switch mode(n.mode.Load()) {
		case dropping:
			e.Close()
		case silent:
			e.Hold()
			e.Close()
		default:
			e.Respond(200, name)
		}
	})
	return n
}

// rig is a connector of one process before scripted containers.
type rig struct {
	t     *testing.T
	c     *Connector
	nodes map[string]*node
	log   *lockedLog

	mu    sync.Mutex
	dials []dialed
}

// dialed is one attempt to connect.
type dialed struct {
	addr string
	dial.Options
}

type lockedLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newRig makes a connector of a text in which @NAME@ is the address of the
// container of that name and @dead@ one where nobody listens.
func newRig(t *testing.T, text string, names ...string) *rig {
	t.Helper()
	return newRigOf(t, 8, text, names...)
}

// newRigOf is newRig in a process of so many threads.
func newRigOf(t *testing.T, threads int, text string, names ...string) *rig {
	t.Helper()
	r := &rig{t: t, nodes: map[string]*node{}, log: &lockedLog{}}
	for _, name := range names {
		r.nodes[name] = newNode(t, name)
		text = strings.ReplaceAll(text, "@"+name+"@", r.nodes[name].Addr())
	}
	if strings.Contains(text, "@dead@") {
		gone := ajptest.New(t, nil)
		text = strings.ReplaceAll(text, "@dead@", gone.Addr())
		gone.Close()
	}
	real := connectortest.Dialers(threads)
	r.c = New(setup(t, text), Options{WriteTimeout: long, Logger: zerolog.New(r.log), Dial: dial.Dialers{
		TCP: func(a netip.AddrPort, o dial.Options) (ajp.NetConn, error) {
			r.mu.Lock()
			r.dials = append(r.dials, dialed{a.String(), o})
			r.mu.Unlock()
			return real.TCP(a, o)
		},
		Unix: real.Unix,
	}})
	t.Cleanup(func() { r.c.Close() })
	return r
}

// answer is what became of a request: the name of who served it, or "status
// N", with what else matters.
type answer struct {
	text   string
	err    *connector.Error
	fields []string
	status int
}

func (r *rig) do(q *connector.Request) (a answer) {
	r.t.Helper()
	w := r.c.Match(q)
	if w == nil {
		return answer{text: "not mapped"}
	}
	rw := &connectortest.Answer{}
	if err := w.Service(q, rw); err != nil {
		if !errors.As(err, &a.err) {
			r.t.Errorf("%s: an error of another type: %v", q.Path, err)
			return answer{text: err.Error()}
		}
		a.status = a.err.Status
		a.text = fmt.Sprint("status ", a.err.Status)
		return a
	}
	if !rw.Finished {
		r.t.Errorf("%s: the answer is not finished", q.Path)
	}
	return answer{text: string(rw.Body), fields: rw.Fields, status: rw.Status}
}

// get asks for a path, with the values of Cookie fields.
func (r *rig) get(path string, cookies ...string) string {
	r.t.Helper()
	q := connectortest.Request("GET", path, "")
	for _, c := range cookies {
		q.Fields = append(q.Fields, connector.Field{Name: []byte("Cookie"), Value: []byte(c)})
	}
	return r.do(q).text
}

func (r *rig) post(path, body string) string {
	r.t.Helper()
	return r.do(connectortest.Request("POST", path, body)).text
}

// want compares who has served.
func (r *rig) want(what, got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("%s: %q, want %q; log:\n%s", what, got, want, r.log)
	}
}

// counts are how many requests each container got since the last call.
func (r *rig) counts(names ...string) string {
	var out []string
	for _, n := range names {
		out = append(out, n+strconv.Itoa(r.nodes[n].took()))
	}
	return strings.Join(out, " ")
}
