package ajptest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"time"
)

// Front plays the front end on one connection, plainly and strictly: for
// tests of containers. It is used by one goroutine.
type Front struct {
	// PacketSize is the largest packet sent and accepted; 0 means 8192.
	PacketSize int
	// Timeout bounds each read and write; 0 means 10 s.
	Timeout time.Duration
	// InnerEnd ends request bodies with 12 34 00 02 00 00, as mod_proxy_ajp
	// does, in place of 12 34 00 00.
	InnerEnd bool
	// OnChunk, if set, gets the data of body chunks (empty for a flush) in
	// place of [Response].Body. The slice is valid until it returns.
	OnChunk func(p []byte)

	nc net.Conn
	br *bufio.Reader
}

// Response is a container's whole answer.
type Response struct {
	ResponseHead
	Body     []byte
	Chunks   int   // chunks with data
	Flushes  int   // chunks without
	Asked    []int // the lengths in GET_BODY_CHUNK packets
	Sent     int   // body packets sent, end packets included
	Reuse    bool
	BodySize int64
}

// Dial connects to a container.
func Dial(network, address string) (*Front, error) {
	nc, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return &Front{nc: nc, br: bufio.NewReaderSize(nc, MaxPacketSize)}, nil
}

// Conn is the connection itself.
func (f *Front) Conn() net.Conn { return f.nc }

// Close closes the connection.
func (f *Front) Close() error { return f.nc.Close() }

func (f *Front) size() int {
	if f.PacketSize == 0 {
		return DefaultPacketSize
	}
	return f.PacketSize
}

func (f *Front) deadline() time.Time {
	if f.Timeout == 0 {
		return time.Now().Add(10 * time.Second)
	}
	return time.Now().Add(f.Timeout)
}

// Send writes packets, or any other bytes, in one write.
func (f *Front) Send(packets ...[]byte) error {
	var out []byte
	for _, p := range packets {
		out = append(out, p...)
	}
	f.nc.SetWriteDeadline(f.deadline())
	_, err := f.nc.Write(out)
	return err
}

// ReadPacket reads a container's packet. It returns io.EOF if the container
// closed the connection between two packets.
func (f *Front) ReadPacket() ([]byte, error) {
	f.nc.SetReadDeadline(f.deadline())
	head, err := f.br.Peek(4)
	if err != nil {
		if len(head) > 0 && err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n := 4 + int(head[2])<<8 + int(head[3])
	if head[0] != 'A' || head[1] != 'B' || n > f.size() || n == 4 {
		return nil, fmt.Errorf("ajptest: bad packet header from the container: % x", head)
	}
	packet := make([]byte, n)
	if _, err := io.ReadFull(f.br, packet); err != nil {
		return nil, err
	}
	return packet, nil
}

// CPing sends a CPING and wants a CPONG.
func (f *Front) CPing() error {
	if err := f.Send(CPing()); err != nil {
		return err
	}
	p, err := f.ReadPacket()
	if err != nil {
		return err
	}
	if len(p) != 5 || p[4] != CodeCPong {
		return fmt.Errorf("ajptest: % x in place of CPONG", p[:min(len(p), 32)])
	}
	return nil
}

// Do sends a request, its body as the protocol wants it (nil for none), and
// reads the answer to its end. Whatever a container may not send is an error.
func (f *Front) Do(r *Request, body io.Reader) (*Response, error) {
	x := &call{f: f, body: body, left: r.ContentLength(), resp: &Response{}}
	packet := r.Packet()
	if x.left > 0 {
		first, err := x.data(f.size() - 6)
		if err != nil {
			return nil, err
		}
		packet = append(packet, first...)
	}
	if err := f.Send(packet); err != nil {
		return nil, err
	}
	for {
		p, err := f.ReadPacket()
		if err != nil {
			return nil, err
		}
		if done, err := x.packet(p[4:]); done || err != nil {
			return x.resp, err
		}
	}
}

// call is the state of one Do.
type call struct {
	f      *Front
	body   io.Reader
	left   int64 // of an announced length; below 0: not announced
	headed bool
	resp   *Response
}

// data makes the next body packet, of at most n bytes.
func (x *call) data(n int) ([]byte, error) {
	n = min(n, x.f.size()-6)
	if x.left >= 0 {
		n = int(min(int64(n), x.left))
	}
	p := make([]byte, n)
	if n > 0 && x.body != nil {
		got, err := io.ReadFull(x.body, p)
		if x.left >= 0 && err != nil {
			return nil, fmt.Errorf("ajptest: request body: %w", err)
		}
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err
		}
		p = p[:got]
	} else {
		p = nil
	}
	if x.left >= 0 {
		x.left -= int64(len(p))
	}
	x.resp.Sent++
	if len(p) == 0 && !x.f.InnerEnd {
		return DataEnd(), nil
	}
	return Data(p), nil
}

func (x *call) packet(payload []byte) (done bool, err error) {
	switch payload[0] {
	case CodeHeaders:
		if x.headed {
			return false, fmt.Errorf("ajptest: SEND_HEADERS twice")
		}
		h, err := DecodeHeaders(payload)
		if err != nil {
			return false, err
		}
		x.headed, x.resp.ResponseHead = true, *h
	case CodeChunk:
		p, err := DecodeChunk(payload)
		if err != nil {
			return false, err
		}
		if !x.headed {
			return false, fmt.Errorf("ajptest: SEND_BODY_CHUNK before SEND_HEADERS")
		}
		x.chunk(p)
	case CodeGetBody:
		if len(payload) != 3 {
			return false, fmt.Errorf("ajptest: bad GET_BODY_CHUNK: % x", payload)
		}
		n := int(payload[1])<<8 | int(payload[2])
		x.resp.Asked = append(x.resp.Asked, n)
		p, err := x.data(n)
		if err != nil {
			return false, err
		}
		return false, x.f.Send(p)
	case CodeEnd:
		if len(payload) != 2 || payload[1] > 1 || !x.headed {
			return false, fmt.Errorf("ajptest: bad END_RESPONSE: % x (headers seen: %v)", payload, x.headed)
		}
		x.resp.Reuse = payload[1] == 1
		return true, nil
	default:
		return false, fmt.Errorf("ajptest: unexpected packet: % x", payload[:min(len(payload), 32)])
	}
	return false, nil
}

func (x *call) chunk(p []byte) {
	if len(p) == 0 {
		x.resp.Flushes++
	} else {
		x.resp.Chunks++
		x.resp.BodySize += int64(len(p))
	}
	if x.f.OnChunk != nil {
		x.f.OnChunk(p)
	} else {
		x.resp.Body = append(x.resp.Body, p...)
	}
}
