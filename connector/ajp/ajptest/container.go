package ajptest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// TB is what a [Container] needs of *testing.T, *testing.B or *testing.F.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Handler answers one FORWARD_REQUEST, on the connection's goroutine. When it
// returns, body packets that the front end still owes are read, and the
// connection waits for the next packet unless the handler closed it.
type Handler func(*Exchange)

// Options changes how a [Container] behaves. The zero value is a container
// that answers CPING with CPONG and complains of everything odd.
type Options struct {
	// PacketSize is the largest packet accepted, header included, and what
	// GetBody and Respond go by. 0 means 8192.
	PacketSize int
	// OnAccept, if set, is called on the connection's goroutine before
	// anything is read. It may close the connection, or hold it.
	OnAccept func(*Conn)
	// OnCPing, if set, answers a CPING in place of CPONG.
	OnCPing func(*Conn)
	// OnError, if set, gets what a front end did wrong: a packet that breaks
	// the protocol, a request that doesn't decode. Otherwise [New] reports it
	// as a test error and [Start] only keeps it for [Container.Errors]. Called
	// from connection goroutines.
	OnError func(error)
	// RecordLimit bounds the bytes of packets kept for [Container.Packets] and
	// [Exchange.Packets] together; packets beyond it are counted only. 0 means
	// 4 MiB.
	RecordLimit int
}

// Container is a scripted container on a listening socket. All methods may be
// called concurrently.
type Container struct {
	opts    Options
	handler Handler
	ln      net.Listener
	dir     string // of the Unix socket, removed by Close
	done    chan struct{}
	wg      sync.WaitGroup // the accept loop and one goroutine a connection

	mu       sync.Mutex
	changed  *sync.Cond // signalled when open, accepted, requests or pings change
	closed   bool
	open     map[*Conn]struct{}
	conns    []*connStat
	maxOpen  int
	requests int
	pings    int
	packets  []Packet
	kept     int // bytes in packets
	dropped  int // packets not kept
	errs     []error
}

type connStat struct{ requests int }

// Packet is a recorded f>b packet.
type Packet struct {
	Conn  int    // number of the connection, from 1
	Bytes []byte // the whole packet
}

// New starts a container on 127.0.0.1 and closes it when the test ends. A nil
// handler answers every request with status 200 and the body "hello".
func New(t TB, h Handler) *Container {
	t.Helper()
	return NewOptions(t, "tcp", Options{}, h)
}

// NewUnix is [New] on a Unix socket in a directory of its own.
func NewUnix(t TB, h Handler) *Container {
	t.Helper()
	return NewOptions(t, "unix", Options{}, h)
}

// NewOptions is [New] with options; network is "tcp" or "unix".
func NewOptions(t TB, network string, o Options, h Handler) *Container {
	t.Helper()
	if o.OnError == nil {
		o.OnError = func(err error) { t.Errorf("%v", err) }
	}
	c, err := Start(network, "", o, h)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Start starts a container outside a test. An empty address means
// 127.0.0.1:0 for "tcp" and a socket in a new temporary directory for "unix".
// The caller closes it.
func Start(network, address string, o Options, h Handler) (*Container, error) {
	if o.PacketSize == 0 {
		o.PacketSize = DefaultPacketSize
	}
	if o.PacketSize < 16 || o.PacketSize > MaxPacketSize {
		return nil, fmt.Errorf("ajptest: packet size %d", o.PacketSize)
	}
	if o.RecordLimit == 0 {
		o.RecordLimit = 4 << 20
	}
	if h == nil {
		h = func(e *Exchange) { e.Respond(200, "hello", H("Content-Type", "text/plain")) }
	}
	var dir string
	if address == "" {
		switch network {
		case "unix":
			var err error
			// Not a test's own directory: its name may be too long for a socket.
			if dir, err = os.MkdirTemp("", "ajp"); err != nil {
				return nil, err
			}
			address = filepath.Join(dir, "sock")
		default:
			address = "127.0.0.1:0"
		}
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		if dir != "" {
			os.RemoveAll(dir)
		}
		return nil, fmt.Errorf("ajptest: %w", err)
	}
	c := &Container{
		opts: o, handler: h, ln: ln, dir: dir,
		done: make(chan struct{}), open: make(map[*Conn]struct{}),
	}
	c.changed = sync.NewCond(&c.mu)
	c.wg.Add(1)
	go c.accept()
	return c, nil
}

// Close closes the listener and every connection, ends what handlers wait
// for, and returns when no goroutine of the container is left.
func (c *Container) Close() error {
	c.mu.Lock()
	first := !c.closed
	if first {
		c.closed = true
		close(c.done)
		for conn := range c.open {
			conn.nc.Close()
		}
		c.changed.Broadcast()
	}
	c.mu.Unlock()
	var err error
	if first {
		if err = c.ln.Close(); errors.Is(err, net.ErrClosed) {
			err = nil // StopListening came first
		}
	}
	c.wg.Wait()
	if first && c.dir != "" {
		os.RemoveAll(c.dir)
	}
	return err
}

// StopListening closes the listening socket only: new connections are
// refused, open ones go on.
func (c *Container) StopListening() { c.ln.Close() }

// CloseConns closes all connections that are open now, as a container that
// restarts does. Listening goes on.
func (c *Container) CloseConns() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		conn.nc.Close()
	}
}

// Addr is "127.0.0.1:port", or the path of the Unix socket.
func (c *Container) Addr() string { return c.ln.Addr().String() }

// Network is "tcp" or "unix".
func (c *Container) Network() string { return c.ln.Addr().Network() }

// Port is the TCP port, 0 on a Unix socket.
func (c *Container) Port() int {
	_, port, err := net.SplitHostPort(c.Addr())
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(port)
	return n
}

// Done is closed when Close begins.
func (c *Container) Done() <-chan struct{} { return c.done }

// Accepted is the number of connections accepted so far.
func (c *Container) Accepted() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.conns) }

// Open is the number of connections open now. One that the front end closed
// counts until the container has read the end of file.
func (c *Container) Open() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.open) }

// MaxOpen is the largest number of connections that were open at a time.
func (c *Container) MaxOpen() int { c.mu.Lock(); defer c.mu.Unlock(); return c.maxOpen }

// Requests is the number of FORWARD_REQUEST packets seen.
func (c *Container) Requests() int { c.mu.Lock(); defer c.mu.Unlock(); return c.requests }

// CPings is the number of CPING packets seen.
func (c *Container) CPings() int { c.mu.Lock(); defer c.mu.Unlock(); return c.pings }

// RequestsPerConn lists the number of requests of each connection, in the
// order accepted.
func (c *Container) RequestsPerConn() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := make([]int, len(c.conns))
	for i, s := range c.conns {
		n[i] = s.requests
	}
	return n
}

// Packets returns the packets received so far, in order of arrival, up to
// RecordLimit; dropped is the number left out. Bytes must not be changed.
func (c *Container) Packets() (packets []Packet, dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Packet(nil), c.packets...), c.dropped
}

// Errors returns what front ends did wrong, see [Options].
func (c *Container) Errors() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]error(nil), c.errs...)
}

// WaitOpen waits until exactly n connections are open, at most for d, and
// tells whether it came to that.
func (c *Container) WaitOpen(n int, d time.Duration) bool {
	return c.wait(d, func() bool { return len(c.open) == n })
}

// WaitRequests waits until at least n requests were seen, at most for d.
func (c *Container) WaitRequests(n int, d time.Duration) bool {
	return c.wait(d, func() bool { return c.requests >= n })
}

// WaitAccepted waits until at least n connections were accepted, at most for d.
func (c *Container) WaitAccepted(n int, d time.Duration) bool {
	return c.wait(d, func() bool { return len(c.conns) >= n })
}

func (c *Container) wait(d time.Duration, ok func() bool) bool {
	late := false
	t := time.AfterFunc(d, func() {
		c.mu.Lock()
		late = true
		c.changed.Broadcast()
		c.mu.Unlock()
	})
	defer t.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !ok() {
		if late || c.closed {
			return false
		}
		c.changed.Wait()
	}
	return true
}

func (c *Container) accept() {
	defer c.wg.Done()
	for {
		nc, err := c.ln.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			nc.Close()
			return
		}
		stat := &connStat{}
		c.conns = append(c.conns, stat)
		conn := newConn(c, nc, len(c.conns), stat)
		c.open[conn] = struct{}{}
		c.maxOpen = max(c.maxOpen, len(c.open))
		c.wg.Add(1)
		c.changed.Broadcast()
		c.mu.Unlock()
		go conn.serve()
	}
}

func (c *Container) gone(conn *Conn) {
	c.mu.Lock()
	delete(c.open, conn)
	c.changed.Broadcast()
	c.mu.Unlock()
	c.wg.Done()
}

// record keeps a packet, if there is room, and tells whether it did.
func (c *Container) record(conn int, packet []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept+len(packet) > c.opts.RecordLimit {
		c.dropped++
		return false
	}
	c.kept += len(packet)
	c.packets = append(c.packets, Packet{Conn: conn, Bytes: packet})
	return true
}

func (c *Container) complain(err error) {
	c.mu.Lock()
	c.errs = append(c.errs, err)
	closed := c.closed
	c.mu.Unlock()
	if c.opts.OnError != nil && !closed {
		c.opts.OnError(err)
	}
}
