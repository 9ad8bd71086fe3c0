package connectortest

import (
	"bytes"
	"net"
	"testing"

	"jkd/connector"
	"jkd/connector/ajp/ajptest"
)

// Hello is a short answer in one piece, as a container sends it.
var Hello = bytes.Join([][]byte{
	ajptest.SendHeaders(200, "200", ajptest.H("Content-Type", "text/html;charset=UTF-8"), ajptest.H("Content-Length", "387")),
	ajptest.Chunk(bytes.Repeat([]byte("x"), 387)), ajptest.End(true),
}, nil)

// QuickContainer answers every packet of a request with the same bytes and
// allocates nothing in doing so: what is measured with it is the connector.
// Requests must be smaller than a segment.
func QuickContainer(t testing.TB, reply []byte) (port int) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				buf := make([]byte, 16<<10)
				for {
					if _, err := nc.Read(buf); err != nil {
						return
					}
					if _, err := nc.Write(reply); err != nil {
						return
					}
				}
			}()
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port
}

// Sink takes an answer without keeping it.
type Sink struct {
	started  bool
	buffered int
}

var _ connector.ResponseWriter = (*Sink)(nil)

// Reset makes the sink ready for the next answer.
func (s *Sink) Reset() { *s = Sink{} }

// Start implements connector.ResponseWriter.
func (s *Sink) Start(int, []connector.Field) error { s.started = true; return nil }

// Append implements connector.ResponseWriter.
func (s *Sink) Append(p []byte) error { s.buffered += len(p); return nil }

// Buffered implements connector.ResponseWriter.
func (s *Sink) Buffered() int { return s.buffered }

// Flush implements connector.ResponseWriter.
func (s *Sink) Flush() error { s.buffered = 0; return nil }

// Finish implements connector.ResponseWriter.
func (s *Sink) Finish() error { s.buffered = 0; return nil }

// Started implements connector.ResponseWriter.
func (s *Sink) Started() bool { return s.started }
