package httpd

import (
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"jkd/cmd/jkd/internal/logformat"
	"jkd/connector"
	"jkd/connector/counters"
	"jkd/scoreboard"
)

// Conn is what the front needs of a connection; the MPMs' connections have it.
type Conn interface {
	net.Conn
	WriteBuffers(v [][]byte) (int64, error)
	SendFile(f *os.File, offset, n int64) (int64, error)
	ReadIdle(p []byte, timeout time.Duration) (int, error)
	Readable() (bool, error)
	Tunnel(peer net.Conn, toPeer, toHere []byte, idle time.Duration) (sent, received int64, err error)
	CloseWrite() error
	Abort() error
}

// parker is a Conn that can wait for a request without a buffer, and then waits
// without a seat too. Park returns nil when there is something to read.
type parker interface {
	Park(timeout time.Duration) error
}

// parkAfter is how long a connection that can park keeps its buffers while it
// waits for a request: those who come back sooner are not to pay for the others.
const parkAfter = time.Second

// Options are the directives of [server] that concern the front, and its
// surroundings. Zero values mean what the field says.
type Options struct {
	ServerName string // for requests without Host; empty: the local address
	ServerPort int    // likewise; 0: the local port

	TimeOut              time.Duration // TimeOut, per wait; 0: none
	KeepAlive            bool
	KeepAliveTimeout     time.Duration // 0: no keep-alive
	MaxKeepAliveRequests int           // 0: unlimited
	LimitRequestLine     int           // bytes; excess is 414
	LimitRequestFields   int           // 0: unlimited; excess is 400
	LimitRequestField    int           // bytes (LimitRequestFieldSize); excess is 400
	LimitRequestBody     int64         // bytes; 0: unlimited; excess is 413

	// VHost returns the virtual host of a host name, without brackets and
	// port, on a local port: 0 for the main server. nil: there are none. It
	// must not keep host.
	VHost func(host []byte, port int) int
	// Sites are the main server and the virtual hosts by number; nil when
	// nothing is set for any of them.
	Sites []Site
	// Directories are the sections [directory] and [files] that requests name in
	// their Directories, by number.
	Directories []Answers

	// Moved is asked for requests before it is known who may ask, and MovedHere
	// before everybody else of those who may: Redirect, which has no back end.
	// nil: nobody is asked.
	Moved, MovedHere connector.Connector
	// First is asked before all others, whatever they map; like Files it has no
	// back end. nil: nobody is asked.
	First      connector.Connector
	Connectors []connector.Connector
	// Files is asked for requests that no connector maps. What it serves comes
	// from no back end: logs of mapped requests leave it out. nil: nobody is
	// asked.
	Files connector.Connector
	// Counters is where requests are counted, at Server's place: those of a
	// worker that is [Counted] by itself, all others as jkd's own. nil: nowhere.
	Counters *counters.Table
	Server   int
	// Stopping tells that the process has been told to leave: answers then
	// say Connection: close. It is called once a request.
	Stopping func() bool
	Log      zerolog.Logger
}

// Server serves connections. Its methods may be called concurrently.
type Server struct {
	o     Options
	needs logformat.Needs  // of all access logs
	own   *counters.Record // of what no worker is asked for
	// editing: header fields are changed somewhere.
	editing bool
	pid     int
	pool    sync.Pool // of *session
	date    dateCache
}

// New returns a front.
func New(o Options) *Server {
	if o.Stopping == nil {
		o.Stopping = func() bool { return false }
	}
	if o.KeepAliveTimeout <= 0 {
		o.KeepAlive = false
	}
	s := &Server{o: o, editing: editing(o.Sites, o.Directories), needs: needs(o.Sites), pid: os.Getpid(), own: o.Counters.Record(o.Server, counters.Own.Connector, counters.Own.Name)}
	s.pool.New = func() any { return newSession(s) }
	return s
}

// Counted is a connector.Worker whose requests are counted by themselves. A nil
// record is as none.
type Counted interface {
	Record() *counters.Record
}

// ServeConn serves c until it ends and closes it. Phases and counters go to the
// slot of seat, whose only writer the caller's goroutine is.
func (s *Server) ServeConn(c Conn, seat *scoreboard.Seat) {
	ss := s.pool.Get().(*session)
	ss.begin(c, seat)
	for ss.serve() {
		served, left := ss.served, ss.idleTimeout()-parkAfter
		s.release(ss)
		if err := c.(parker).Park(left); err != nil {
			_ = c.Close()
			return
		}
		ss = s.pool.Get().(*session)
		ss.begin(c, seat)
		ss.served = served
	}
	_ = c.Close()
	s.release(ss)
}

func (s *Server) release(ss *session) {
	ss.release()
	s.pool.Put(ss)
}

// route asks the connectors in order. mapped tells that it is one of them that
// has the request, nil that nobody has.
func (s *Server) route(r *connector.Request) (w connector.Worker, mapped bool) {
	if s.o.MovedHere != nil {
		if w := s.o.MovedHere.Match(r); w != nil {
			return w, false
		}
	}
	if s.o.First != nil {
		if w := s.o.First.Match(r); w != nil {
			return w, false
		}
	}
	for _, c := range s.o.Connectors {
		if w := c.Match(r); w != nil {
			return w, true
		}
	}
	if s.o.Files != nil {
		return s.o.Files.Match(r), false
	}
	return nil, false
}
