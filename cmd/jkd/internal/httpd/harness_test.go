//go:build unix

package httpd

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"jkd/connector"
	"jkd/mpm/sock"
	"jkd/scoreboard"
)

func TestMain(m *testing.M) {
	// A blocking connection holds its processor while it waits optimistically;
	// in a child it is the only one to run, here its client has to run too.
	runtime.GOMAXPROCS(max(8, runtime.NumCPU()))
	os.Exit(m.Run())
}

// patience bounds every wait of a test for something that must happen.
const patience = 20 * time.Second

// seen is what a worker was given, copied.
type seen struct {
	Method, Protocol, Path, MatchPath, Query string
	HasQuery                                 bool
	ServerName                               string
	ServerPort                               int
	RemoteAddr, RemotePort, LocalAddr        string
	Secure                                   bool
	Fields                                   []string // "Name: value"
	ContentLength                            int64
}

func see(r *connector.Request) seen {
	s := seen{
		Method: string(r.Method), Protocol: string(r.Protocol), Path: string(r.Path), MatchPath: string(r.MatchPath),
		Query: string(r.Query), HasQuery: r.HasQuery, ServerName: string(r.ServerName), ServerPort: r.ServerPort,
		RemoteAddr: string(r.RemoteAddr), RemotePort: string(r.RemotePort), LocalAddr: string(r.LocalAddr),
		Secure: r.Secure, ContentLength: r.ContentLength,
	}
	for _, f := range r.Fields {
		s.Fields = append(s.Fields, string(f.Name)+": "+string(f.Value))
	}
	return s
}

type serveFunc func(r *connector.Request, w connector.ResponseWriter) error

// fakeWorker records what it is given and answers with a script.
type fakeWorker struct {
	serve serveFunc
	mu    sync.Mutex
	reqs  []seen
}

func (f *fakeWorker) Name() string { return "fake" }

func (f *fakeWorker) Service(r *connector.Request, w connector.ResponseWriter) error {
	s := see(r)
	f.mu.Lock()
	f.reqs = append(f.reqs, s)
	f.mu.Unlock()
	return f.serve(r, w)
}

func (f *fakeWorker) requests() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seen(nil), f.reqs...)
}

// fakeConnector mounts its worker on everything but /unmapped.
type fakeConnector struct{ w *fakeWorker }

func (f fakeConnector) Match(r *connector.Request) connector.Worker {
	if string(r.MatchPath) == "/unmapped" {
		return nil
	}
	return f.w
}
func (fakeConnector) Close() error { return nil }

// logBuffer collects log lines.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// site is a front on a loopback port.
type site struct {
	t      testing.TB
	addr   string
	worker *fakeWorker
	board  *scoreboard.Scoreboard
	log    *logBuffer
	leave  func() // tells idle connections that the process is leaving
}

const siteSlots = 32

var kindNames = []string{"blocking", "polled"}

// kinds runs a test over both kinds of connection.
func kinds(t *testing.T, f func(t *testing.T, kind string)) {
	for _, k := range kindNames {
		t.Run(k, func(t *testing.T) { f(t, k) })
	}
}

// defaults are options under which nothing ends early.
func defaults() Options {
	return Options{
		TimeOut: patience * 2, KeepAlive: true, KeepAliveTimeout: patience * 2,
		LimitRequestLine: 8190, LimitRequestFields: 100, LimitRequestField: 8190,
	}
}

func start(t testing.TB, kind string, o Options, serve serveFunc) *site {
	t.Helper()
	return startOn(t, "127.0.0.1:0", kind, o, serve)
}

func startOn(t testing.TB, addr, kind string, o Options, serve serveFunc) *site {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		if strings.Contains(addr, "[") {
			t.Skip("no IPv6 here: ", err)
		}
		t.Fatal(err)
	}
	layout := scoreboard.Layout{ServerLimit: 1, ThreadLimit: siteSlots}
	size, err := scoreboard.Size(layout)
	if err != nil {
		t.Fatal(err)
	}
	board, err := scoreboard.New(make([]byte, size), layout, scoreboard.Global{StartTime: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, addr: ln.Addr().String(), worker: &fakeWorker{serve: serve}, board: board, log: &logBuffer{}}
	o.Connectors = append(o.Connectors, fakeConnector{s.worker})
	o.Log = zerolog.New(s.log)
	wake, err := sock.NewWakePipe()
	if err != nil {
		t.Fatal(err)
	}
	if o.Stopping == nil {
		o.Stopping = wake.Woken
	}
	server := New(o)
	s.leave = wake.Set
	slots := make(chan *scoreboard.Slot, siteSlots)
	for i := range siteSlots {
		slots <- board.Slot(0, i)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			fd := takeFD(nc)
			slot := <-slots
			var c sock.Conn
			if kind == "blocking" {
				c = sock.NewBlocking(fd, wake)
			} else {
				c = sock.Accepted{FD: fd}.Polled()
			}
			wg.Go(func() {
				server.ServeConn(c, &scoreboard.Seat{Slot: slot})
				slot.SetReady(time.Now().UnixNano())
				slots <- slot
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(patience):
			t.Error("a connection is still being served")
		}
		_ = wake.Close()
	})
	return s
}

// takeFD takes the descriptor out of an accepted connection.
func takeFD(nc net.Conn) int {
	raw, err := nc.(*net.TCPConn).SyscallConn()
	if err != nil {
		panic(err)
	}
	fd := -1
	if e := raw.Control(func(s uintptr) { fd, err = syscall.Dup(int(s)) }); e != nil || err != nil {
		panic(errors.Join(e, err))
	}
	syscall.CloseOnExec(fd)
	_ = nc.Close()
	return fd
}

// client is a raw connection to a site.
type client struct {
	t testing.TB
	*net.TCPConn
	br *bufio.Reader
}

func (s *site) dial() *client {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &client{t: s.t, TCPConn: c.(*net.TCPConn), br: bufio.NewReader(c)}
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c.TCPConn, s); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// answer is one answer as the client got it.
type answer struct {
	*http.Response
	body string
	err  error // of reading the body
}

// answer reads the answer to a request of the given method.
func (c *client) answer(method string) answer {
	c.t.Helper()
	res, err := http.ReadResponse(c.br, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("no answer to %s: %v", method, err)
	}
	b, err := io.ReadAll(res.Body)
	return answer{res, string(b), err}
}

// want reads an answer and checks its status.
func (c *client) want(status int) answer {
	c.t.Helper()
	a := c.answer("GET")
	if a.StatusCode != status {
		c.t.Fatalf("status %d, want %d; body %q", a.StatusCode, status, a.body)
	}
	if a.err != nil {
		c.t.Fatalf("body of %d: %v", status, a.err)
	}
	return a
}

// head reads the head of an answer, unparsed.
func (c *client) head() string {
	c.t.Helper()
	var b strings.Builder
	for !strings.HasSuffix(b.String(), "\r\n\r\n") {
		ch, err := c.br.ReadByte()
		if err != nil {
			c.t.Fatalf("head cut after %q: %v", b.String(), err)
		}
		b.WriteByte(ch)
	}
	return b.String()
}

// ended checks that the server says nothing more and closes; a reset is an end
// as well when something was left unread.
func (c *client) ended() {
	c.t.Helper()
	b, err := io.ReadAll(c.br)
	if len(b) > 0 {
		c.t.Fatalf("more after the last answer: %q", b)
	}
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		c.t.Fatalf("connection not closed: %v", err)
	}
}

// rest is everything up to the end of the connection.
func (c *client) rest() (string, error) {
	b, err := io.ReadAll(c.br)
	return string(b), err
}

// open checks that the connection is served another request.
func (c *client) open() {
	c.t.Helper()
	c.send("GET /again HTTP/1.1\r\nHost: x\r\n\r\n")
	c.want(200)
}

// hello answers every request with a small page and reads no body.
func hello(_ *connector.Request, w connector.ResponseWriter) error {
	return reply(w, 200, "hello", "Content-Type: text/plain")
}

// echo answers with the request's body, having read all of it.
func echo(r *connector.Request, w connector.ResponseWriter) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return serviceError(err)
	}
	return reply(w, 200, string(b))
}

// serviceError is what a worker makes of a failure of Body or ResponseWriter.
func serviceError(err error) error {
	e := &connector.Error{Worker: "fake", Op: "serve", Status: 502, Err: err}
	var ce *connector.ClientError
	if errors.As(err, &ce) {
		e.Client, e.Status = true, ce.Status
	}
	return e
}

func fields(lines ...string) []connector.Field {
	var f []connector.Field
	for _, l := range lines {
		n, v, _ := strings.Cut(l, ": ")
		f = append(f, connector.Field{Name: []byte(n), Value: []byte(v)})
	}
	return f
}

// reply is a whole answer.
func reply(w connector.ResponseWriter, status int, body string, lines ...string) error {
	if err := w.Start(status, fields(lines...)); err != nil {
		return serviceError(err)
	}
	if err := w.Append([]byte(body)); err != nil {
		return serviceError(err)
	}
	if err := w.Finish(); err != nil {
		return serviceError(err)
	}
	return nil
}

// eventually waits for a condition that another goroutine brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

func newSizedReader(b []byte) *bufio.Reader {
	return bufio.NewReaderSize(bytes.NewReader(b), len(b)+4096)
}

func newReader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

func itoa(n int) string { return strconv.Itoa(n) }
