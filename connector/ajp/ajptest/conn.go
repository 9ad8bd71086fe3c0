package ajptest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// ErrFrontClosed is returned by reads when the front end closed (or reset)
// the connection between two packets.
var ErrFrontClosed = errors.New("ajptest: the front end closed the connection")

// Conn is one accepted connection. Its methods are for the goroutine that
// the handler runs on; Close and Reset may be called from anywhere.
type Conn struct {
	// Number counts the container's connections, from 1.
	Number int

	c        *Container
	nc       net.Conn
	br       *bufio.Reader
	stat     *connStat   // guarded by c.mu
	shut     atomic.Bool // this side closed it
	owed     int         // body packets the front end has to send yet
	exchange *Exchange   // the running one
}

func newConn(c *Container, nc net.Conn, number int, stat *connStat) *Conn {
	return &Conn{
		Number: number, c: c, nc: nc, stat: stat,
		br: bufio.NewReaderSize(nc, c.opts.PacketSize),
	}
}

// Container is the container that accepted the connection.
func (k *Conn) Container() *Container { return k.c }

// Send writes packets, or any other bytes, in one write. A GET_BODY_CHUNK that
// is an argument of its own is counted: see [Exchange.Owed].
func (k *Conn) Send(packets ...[]byte) error {
	var out []byte
	for _, p := range packets {
		k.asked(p)
		out = append(out, p...)
	}
	_, err := k.nc.Write(out)
	return err
}

// asked counts a GET_BODY_CHUNK that was given as one slice.
func (k *Conn) asked(packet []byte) {
	if len(packet) == 7 && packet[0] == 'A' && packet[1] == 'B' && packet[4] == CodeGetBody {
		k.owed++
	}
}

// SendSlowly writes the bytes one at a time, so that the front end meets
// every possible boundary between two reads. d is the pause after each.
func (k *Conn) SendSlowly(d time.Duration, b []byte) error {
	k.asked(b)
	for i := range b {
		if _, err := k.nc.Write(b[i : i+1]); err != nil {
			return err
		}
		if d > 0 {
			k.Sleep(d)
		}
	}
	return nil
}

// Close closes the connection. With bytes of the front end unread the kernel
// may make a reset of it.
func (k *Conn) Close() error {
	k.shut.Store(true)
	return k.nc.Close()
}

// CloseWrite sends the end of file and leaves the other direction open.
func (k *Conn) CloseWrite() error {
	w, ok := k.nc.(interface{ CloseWrite() error })
	if !ok {
		return errors.New("ajptest: half close is not supported")
	}
	return w.CloseWrite()
}

// Reset closes the connection with a reset (RST); on a Unix socket it is a
// plain close.
func (k *Conn) Reset() error {
	if t, ok := k.nc.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	return k.Close()
}

// Sleep waits for d, or until the container closes.
func (k *Conn) Sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-k.c.done:
	}
}

// Hold says nothing until the front end closes the connection, sends
// something, or the container closes. It returns ErrFrontClosed after a
// close, nil if a byte waits to be read.
func (k *Conn) Hold() error {
	if _, err := k.br.Peek(1); err != nil {
		return ErrFrontClosed
	}
	return nil
}

// WaitClose reads until the front end closes the connection, at most for d.
// It returns nil if it was closed without a further byte; otherwise an error
// that shows what came, or that nothing did.
func (k *Conn) WaitClose(d time.Duration) error {
	k.nc.SetReadDeadline(time.Now().Add(d))
	defer k.nc.SetReadDeadline(time.Time{})
	b, err := io.ReadAll(io.LimitReader(k.br, 1<<20))
	var ne net.Error
	switch {
	case len(b) > 0:
		return fmt.Errorf("ajptest: %d bytes came in place of a close: % x", len(b), b[:min(len(b), 32)])
	case errors.As(err, &ne) && ne.Timeout():
		return fmt.Errorf("ajptest: connection still open after %v", d)
	}
	return nil
}

// ReadPacket reads one packet of whatever kind and records it. It returns
// ErrFrontClosed when there is none; any other error means that the front
// end broke the framing.
func (k *Conn) ReadPacket() ([]byte, error) {
	head, err := k.br.Peek(4)
	if err != nil {
		if len(head) == 0 {
			return nil, ErrFrontClosed
		}
		return nil, fmt.Errorf("ajptest: connection %d closed inside a packet header: % x", k.Number, head)
	}
	n := int(head[2])<<8 | int(head[3])
	if head[0] != 0x12 || head[1] != 0x34 {
		b, _ := k.br.Peek(k.br.Buffered())
		return nil, fmt.Errorf("ajptest: connection %d: not a front end's packet: % x", k.Number, b[:min(len(b), 32)])
	}
	if 4+n > k.c.opts.PacketSize {
		return nil, fmt.Errorf("ajptest: connection %d: packet of %d bytes is larger than %d", k.Number, 4+n, k.c.opts.PacketSize)
	}
	packet := make([]byte, 4+n)
	if got, err := io.ReadFull(k.br, packet); err != nil {
		return nil, fmt.Errorf("ajptest: connection %d closed inside a packet, after %d of %d bytes", k.Number, got, 4+n)
	}
	kept := k.c.record(k.Number, packet)
	if e := k.exchange; e != nil {
		if kept {
			e.packets = append(e.packets, packet)
		} else {
			e.dropped++
		}
	}
	return packet, nil
}

// serve is the connection's goroutine.
func (k *Conn) serve() {
	defer k.c.gone(k)
	defer k.nc.Close()
	if f := k.c.opts.OnAccept; f != nil {
		f(k)
	}
	for !k.shut.Load() {
		packet, err := k.ReadPacket()
		if err != nil {
			k.complain(err)
			return
		}
		switch {
		case len(packet) == 5 && packet[4] == CodeCPing:
			k.cping()
		case len(packet) > 4 && packet[4] == CodeForward:
			if !k.forward(packet) {
				return
			}
		default:
			k.complain(fmt.Errorf("ajptest: connection %d: neither CPING nor FORWARD_REQUEST: % x", k.Number, packet[:min(len(packet), 32)]))
			return
		}
	}
}

// complain reports what the front end did wrong; a close isn't.
func (k *Conn) complain(err error) {
	if err != ErrFrontClosed && !k.shut.Load() {
		k.c.complain(err)
	}
}

func (k *Conn) cping() {
	k.c.mu.Lock()
	k.c.pings++
	k.c.changed.Broadcast()
	k.c.mu.Unlock()
	if f := k.c.opts.OnCPing; f != nil {
		f(k)
		return
	}
	k.Send(CPong())
}

// forward serves one request and tells whether the connection goes on.
func (k *Conn) forward(packet []byte) bool {
	r, err := DecodeForward(packet[4:])
	k.c.mu.Lock()
	k.c.requests++
	k.stat.requests++
	e := &Exchange{Conn: k, Request: r, N: k.stat.requests, Seq: k.c.requests, packets: [][]byte{packet}}
	k.c.changed.Broadcast()
	k.c.mu.Unlock()
	if err != nil {
		k.complain(fmt.Errorf("connection %d, request %d: %w", k.Number, e.N, err))
		return false
	}
	k.owed = 0
	if r.ContentLength() > 0 {
		k.owed = 1
	}
	k.exchange = e
	k.c.handler(e)
	for k.owed > 0 && !k.shut.Load() {
		if _, err := e.ReadBody(); err != nil && err != io.EOF {
			return false
		}
	}
	k.exchange = nil
	return true
}
