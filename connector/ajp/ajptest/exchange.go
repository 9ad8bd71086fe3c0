package ajptest

import (
	"fmt"
	"io"
	"strconv"
)

// Exchange is one request on a connection. It is used by the handler only;
// what it returned before stays valid.
type Exchange struct {
	*Conn
	Request *Request
	N       int // number of the request on its connection, from 1
	Seq     int // number of the request in the container, from 1

	packets [][]byte
	dropped int
}

// Packets returns the f>b packets of this exchange so far, the
// FORWARD_REQUEST first; dropped is the number left out for RecordLimit.
func (e *Exchange) Packets() (packets [][]byte, dropped int) {
	return append([][]byte(nil), e.packets...), e.dropped
}

// ReadBody reads the next body packet and returns its data. The error is
// io.EOF for the end of the body (12 34 00 00, or a length of zero inside),
// [ErrFrontClosed] if the connection was closed instead, anything else if the
// packet is wrong.
func (e *Exchange) ReadBody() ([]byte, error) {
	packet, err := e.ReadPacket()
	if err != nil {
		e.owed = 0
		e.complain(err)
		return nil, err
	}
	e.owed = max(0, e.owed-1)
	payload := packet[4:]
	if len(payload) == 0 {
		return nil, io.EOF
	}
	if len(payload) < 2 || int(payload[0])<<8|int(payload[1]) != len(payload)-2 {
		err := fmt.Errorf("ajptest: connection %d: bad body packet: % x", e.Number, packet[:min(len(packet), 32)])
		e.complain(err)
		return nil, err
	}
	if len(payload) == 2 {
		return nil, io.EOF
	}
	return payload[2:], nil
}

// GetBody asks for n bytes of the body and reads the packet that answers;
// n = 0 means the packet size - 6, as Tomcat does.
func (e *Exchange) GetBody(n int) ([]byte, error) {
	if n == 0 {
		n = e.c.opts.PacketSize - 6
	}
	if err := e.Send(GetBody(n)); err != nil {
		return nil, err
	}
	p, err := e.ReadBody()
	if err == nil && len(p) > n {
		err = fmt.Errorf("ajptest: connection %d: %d body bytes asked for, %d sent", e.Number, n, len(p))
		e.complain(err)
	}
	return p, err
}

// Body reads the whole body the way Tomcat does: the packet that comes
// unasked if a length above 0 was announced, then one for each GET_BODY_CHUNK
// until the end packet. With a length of 0 nothing is read.
func (e *Exchange) Body() ([]byte, error) {
	var body []byte
	n, err := e.DiscardBody(func(p []byte) { body = append(body, p...) })
	if err == nil && n != int64(len(body)) {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

// DiscardBody is [Exchange.Body] in constant memory: each may be nil, and
// gets each packet's data. It returns the number of bytes.
func (e *Exchange) DiscardBody(each func([]byte)) (int64, error) {
	declared := e.Request.ContentLength()
	if declared == 0 {
		return 0, nil
	}
	var n int64
	for {
		var p []byte
		var err error
		if e.owed > 0 {
			p, err = e.ReadBody()
		} else {
			p, err = e.GetBody(0)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return n, err
		}
		n += int64(len(p))
		if each != nil {
			each(p)
		}
	}
	if declared > 0 && n != declared {
		err := fmt.Errorf("ajptest: connection %d: body of %d bytes announced, %d sent", e.Number, declared, n)
		e.complain(err)
		return n, err
	}
	return n, nil
}

// Respond sends a whole answer in one write: SEND_HEADERS with the status
// number as message, the headers given and a Content-Length, the body in
// chunks (none for HEAD, 204 and 304), and END_RESPONSE with reuse.
func (e *Exchange) Respond(status int, body string, headers ...Header) error {
	return e.Send(e.Answer(status, body, headers...), End(true))
}

// Answer is [Exchange.Respond] without sending and without END_RESPONSE.
func (e *Exchange) Answer(status int, body string, headers ...Header) []byte {
	hs := append(headers[:len(headers):len(headers)], H("Content-Length", strconv.Itoa(len(body))))
	out := SendHeaders(status, strconv.Itoa(status), hs...)
	if e.Request.Method != "HEAD" && status != 204 && status != 304 {
		out = append(out, Chunks([]byte(body), e.c.opts.PacketSize)...)
	}
	return out
}
