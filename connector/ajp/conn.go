package ajp

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"

	"jkd/connector"
)

// NetConn is the stream a [Conn] runs over.
type NetConn interface {
	net.Conn
	// Readable tells without waiting whether a Read would return at once.
	Readable() (bool, error)
}

// Timeouts are the limits of one exchange; 0 means none.
type Timeouts struct {
	// Reply is the longest wait for any packet of the answer (reply_timeout).
	Reply time.Duration
	// Socket is the longest wait for a read (socket_timeout). Its expiry
	// counts as a broken connection, not as a reply timeout.
	Socket time.Duration
	// Write is the longest wait for the container to take what is sent.
	Write time.Duration
}

const (
	// smallBuffer is the receive buffer of a connection that has carried
	// short answers only; bulkBuffer replaces it for good when an answer
	// turns out long: large pieces mean few system calls.
	smallBuffer = DefaultPacketSize + headLen
	bulkBuffer  = MaxPacketSize + headLen
	// lowRoom is when reading on into the rest of the buffer does not pay.
	lowRoom = 4096
	// gather is how long an answer in progress waits for more from the
	// container before what is there goes to the client. It only delays
	// answers whose container sends in pieces and never flushes.
	gather = 5 * time.Millisecond
)

// Conn is one connection to a container. It is used by one goroutine.
type Conn struct {
	nc    NetConn
	max   int // packet size
	state State

	// in[r:w] has been received and not yet been looked at; at is where the
	// packet in hand begins.
	in       []byte
	at, r, w int
	out      []byte // body packets
	head     Head

	until   time.Time // when the packet awaited must be there; zero: the wait has not begun
	held    time.Time // when what the writer holds back must go to the client
	limited bool      // a read deadline is set
	writes  bool      // a write deadline is set
	refused bool      // see Refused
	status  int       // see Status
	sent    uint64    // see Traffic
	read    uint64
	t       Timeouts
}

// NewConn runs AJP13 over nc with packets of at most maxPacket bytes
// (max_packet_size, 8192..65536).
func NewConn(nc NetConn, maxPacket int) *Conn {
	return &Conn{nc: nc, max: maxPacket, in: make([]byte, smallBuffer)}
}

// State tells where the connection stands.
func (c *Conn) State() State { return c.state }

// Traffic is how many bytes the last exchange has sent to and read from the
// container, framing included.
func (c *Conn) Traffic() (sent, read uint64) { return c.sent, c.read }

// Abort closes the connection hard: the container is told by a reset.
func (c *Conn) Abort() {
	if a, ok := c.nc.(interface{ Abort() error }); ok {
		_ = a.Abort()
	}
	_ = c.Close()
}

// Close closes the connection, in whatever state.
func (c *Conn) Close() error {
	c.state = Broken
	return c.nc.Close()
}

// Exchange sends a request and passes the answer to w, including w.Finish.
// Afterwards the connection may carry another request if it is Idle. Otherwise,
// and after every error but one of w.Finish, it is Broken. Errors are
// *connector.ExchangeError.
func (c *Conn) Exchange(f *Forward, w connector.ResponseWriter, t Timeouts) error {
	if c.state != Idle {
		return c.fail(f, connector.PhaseSend, connector.CauseBroken, c.errState())
	}
	c.transition(Sending)
	c.t, c.refused, c.status, c.sent, c.read = t, false, 0, 0, 0
	c.head.Dropped = c.head.Dropped[:0]
	if err := c.write(f.buf); err != nil {
		return c.fail(f, connector.PhaseSend, connector.CauseBroken, err)
	}
	c.transition(Awaiting)
	phase := connector.PhaseReply
	for {
		p, err := c.next(w)
		if err != nil {
			if phase == connector.PhaseReply && c.w > c.r {
				phase = connector.PhaseHead
			}
			return c.failRead(f, phase, err)
		}
		if phase == connector.PhaseReply {
			phase = connector.PhaseHead
		}
		switch p[0] {
		case codeSendBodyChunk:
			data, fault := chunk(p)
			switch {
			case fault != "":
				return c.fault(f, phase, fault)
			case c.state == Streaming && len(data) == 0:
				err = c.flush(w)
			case c.state == Streaming:
				err = w.Append(data)
			case len(data) > 0:
				return c.fault(f, phase, "SEND_BODY_CHUNK before SEND_HEADERS")
			}
			if err != nil {
				return c.failWriter(f, phase, err)
			}
		case codeSendHeaders:
			if c.state == Streaming {
				return c.fault(f, phase, "second SEND_HEADERS")
			}
			if err := decodeHead(p[1:], &c.head); err != nil {
				return c.fault(f, phase, err.(*ProtocolError).Fault)
			}
			if s := c.head.Status; s < 200 {
				if s == 101 {
					return c.fault(f, phase, "SEND_HEADERS: status 101, but AJP has no upgrade")
				}
				continue // interim answers are not passed on
			}
			c.transition(Streaming)
			phase, c.status = connector.PhaseBody, c.head.Status
			if err := w.Start(c.head.Status, c.head.Fields); err != nil {
				return c.failWriter(f, phase, err)
			}
		case codeGetBodyChunk:
			if len(p) < 3 {
				return c.fault(f, phase, "short GET_BODY_CHUNK")
			}
			// The client may be waiting for what is held back before it
			// sends more.
			if w.Buffered() > 0 {
				if err := c.flush(w); err != nil {
					return c.failWriter(f, phase, err)
				}
			}
			if c.out, err = f.nextBody(c.out, int(p[1])<<8|int(p[2])); err != nil {
				return c.fail(f, phase, connector.CauseClient, err)
			}
			if err := c.write(c.out); err != nil {
				return c.fail(f, phase, connector.CauseBroken, err)
			}
		case codeEndResponse:
			if c.state != Streaming {
				return c.fault(f, phase, "END_RESPONSE before SEND_HEADERS")
			}
			if len(p) == 2 && p[1] == 1 && c.onlyFlushes() {
				c.transition(Idle)
			} else {
				c.refused = len(p) == 2 && p[1] == 0
				c.transition(Broken)
			}
			if err := w.Finish(); err != nil {
				state := c.state // a client that left says nothing about the container
				err = c.failWriter(f, connector.PhaseBody, err)
				if err.(*connector.ExchangeError).Cause == connector.CauseClient {
					c.state = state
				}
				return err
			}
			return nil
		default:
			return c.fault(f, phase, fmt.Sprintf("Unknown AJP protocol code: %02X", p[0]))
		}
	}
}

// chunk returns the data of SEND_BODY_CHUNK. A container may or may not end it
// with a zero byte, which is not part of it.
func chunk(p []byte) (data []byte, fault string) {
	if len(p) < 3 {
		return nil, "short SEND_BODY_CHUNK"
	}
	n := int(p[1])<<8 | int(p[2])
	if n > len(p)-3 {
		return nil, "Chunk length too large: SEND_BODY_CHUNK longer than its packet"
	}
	return p[3 : 3+n], ""
}

// CPing asks the container for a sign of life and waits for it at most
// timeout. One flush packet that was late is overlooked. On failure the
// connection is Broken.
func (c *Conn) CPing(timeout time.Duration) error {
	if c.state != Idle {
		err := c.errState()
		c.state = Broken
		return err
	}
	c.transition(Pinging)
	c.t = Timeouts{Reply: timeout, Write: timeout}
	if err := c.write(cping[:]); err != nil {
		c.state = Broken
		return err
	}
	p, err := c.next(nil)
	if err == nil && isFlush(p) {
		p, err = c.packet(nil) // within the same time
	}
	if err == nil && (len(p) != 1 || p[0] != codeCPong) {
		err = c.protocolError(fmt.Sprintf("awaited reply cpong, received %02X", p[0]))
	}
	if err == nil && !c.onlyFlushes() {
		// What came with it would be taken for the next answer.
		c.at = c.r
		err = c.protocolError("awaited reply cpong, received more than that")
	}
	var late *timeoutError
	if errors.As(err, &late) {
		err = fmt.Errorf("timeout in reply cpong after %d ms: %w", timeout.Milliseconds(), err)
	}
	if err != nil {
		c.state = Broken
		return err
	}
	c.transition(Idle)
	return nil
}

var cping = [...]byte{0x12, 0x34, 0, 1, codeCPing}

// isFlush tells a SEND_BODY_CHUNK without data, in both its spellings.
func isFlush(p []byte) bool {
	return (len(p) == 3 || len(p) == 4 && p[3] == 0) && p[0] == codeSendBodyChunk && p[1] == 0 && p[2] == 0
}

// Usable tells whether an idle connection may carry a request: it must be
// open, with nothing waiting to be read. Late flush packets are read away;
// anything else would be taken for the next answer, so the connection is done
// for. It does not wait.
func (c *Conn) Usable() bool {
	for range maxLateReads {
		if c.state != Idle {
			return false
		}
		ready, err := c.nc.Readable()
		if err == nil && !ready {
			return true
		}
		if err != nil || !c.readFlushes() {
			break
		}
	}
	c.state = Broken
	return false
}

// maxLateReads is how often Usable reads flush packets away; a container that
// still sends them then never stops.
const maxLateReads = 4

// readFlushes reads what is there and tells whether it was flush packets.
func (c *Conn) readFlushes() bool {
	c.at, c.r, c.w = 0, 0, 0
	c.unlimit() // the last exchange's time may be over
	n, err := c.nc.Read(c.in)
	c.w = n
	return err == nil && c.onlyFlushes()
}

// onlyFlushes consumes what has been received and tells whether it was nothing
// but whole flush packets.
func (c *Conn) onlyFlushes() bool {
	for c.r < c.w {
		p := c.in[c.r:c.w]
		if len(p) < headLen || p[0] != 'A' || p[1] != 'B' {
			return false
		}
		n := int(p[2])<<8 | int(p[3])
		if len(p) < headLen+n || !isFlush(p[headLen:headLen+n]) {
			return false
		}
		c.r += headLen + n
	}
	return true
}

func (c *Conn) write(p []byte) error {
	if c.t.Write > 0 {
		_ = c.nc.SetWriteDeadline(time.Now().Add(c.t.Write))
		c.writes = true
	} else if c.writes {
		_ = c.nc.SetWriteDeadline(time.Time{})
		c.writes = false
	}
	n, err := c.nc.Write(p)
	c.sent += uint64(n)
	return err
}

func (c *Conn) protocolError(fault string) *ProtocolError {
	end := min(c.at+16, c.w)
	return &ProtocolError{Fault: fault, Head: bytes.Clone(c.in[min(c.at, end):end])}
}

func (c *Conn) fault(f *Forward, phase connector.Phase, fault string) error {
	return c.fail(f, phase, connector.CauseProtocol, c.protocolError(fault))
}

// failRead sorts the errors of next.
func (c *Conn) failRead(f *Forward, phase connector.Phase, err error) error {
	switch e := err.(type) {
	case *ProtocolError:
		return c.fail(f, phase, connector.CauseProtocol, e)
	case *clientError:
		return c.failWriter(f, phase, e.error)
	case *timeoutError:
		return c.fail(f, phase, connector.CauseTimeout, e.error)
	}
	return c.fail(f, phase, connector.CauseBroken, err)
}

// failWriter sorts the errors of a ResponseWriter: the client's, unless the
// container did not keep to the length it announced, or its answer is not
// wanted.
func (c *Conn) failWriter(f *Forward, phase connector.Phase, err error) error {
	switch {
	case errors.Is(err, connector.ErrBodyLength):
		return c.fail(f, phase, connector.CauseProtocol, &ProtocolError{Fault: err.Error()})
	case errors.Is(err, connector.ErrRejected):
		return c.fail(f, phase, connector.CauseRejected, err)
	}
	return c.fail(f, phase, connector.CauseClient, err)
}

func (c *Conn) fail(f *Forward, phase connector.Phase, cause connector.Cause, err error) error {
	c.state = Broken
	return &connector.ExchangeError{Phase: phase, Cause: cause, BodyConsumed: f.consumed, Err: err}
}

// errState tells that a connection in this state can't begin anything.
func (c *Conn) errState() error { return errors.New("ajp: the connection is " + c.state.String()) }

// Status is the status of the last exchange's answer, 0 if none was begun.
func (c *Conn) Status() int { return c.status }

// Refused tells that the last exchange ended in order, but the container does
// not want the connection to be used again (END_RESPONSE with reuse 0).
func (c *Conn) Refused() bool { return c.refused }

// Dropped are the names of header fields of the last answer that were left out
// because they could have injected a line. They are valid until the next
// exchange.
func (c *Conn) Dropped() [][]byte { return c.head.Dropped }
