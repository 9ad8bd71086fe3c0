//go:build unix

package sock

import (
	"errors"
	"net"
	"os"
	"time"
)

// ErrWoken is returned by [Acceptor.Accept] when the [Wake] fired: the child
// has been told to leave.
var ErrWoken = errors.New("sock: woken: the process is leaving")

// ErrNone is returned by [Acceptor.Accept] after [Wake.Nudge], and by
// [Acceptor.TryAccept]: there is no connection.
var ErrNone = errors.New("sock: no connection")

// Conn is one stream connection. It is used by one goroutine; only Close of a
// [Polled] may be called from another one.
//
// Deadlines work as those of net.Conn: an operation that has to wait past them
// fails with os.ErrDeadlineExceeded; the zero time means none.
type Conn interface {
	net.Conn

	// WriteBuffers writes all of v in order, with as few system calls as
	// possible (writev). It does not change v.
	WriteBuffers(v [][]byte) (int64, error)

	// SendFile sends n bytes of f, a regular file, from offset on, without
	// having them in memory. A file that ends before fails with
	// io.ErrUnexpectedEOF, one that cannot be sent like that with
	// errors.ErrUnsupported, in which case nothing was sent.
	SendFile(f *os.File, offset, n int64) (int64, error)

	// ReadIdle waits at most timeout for the peer to begin something new and
	// reads the first bytes of it. That the process is told to leave does not
	// shorten the wait: the peer may have begun already, and what it has sent
	// would be lost. It overrides the read deadline, which must be set anew
	// afterwards.
	ReadIdle(p []byte, timeout time.Duration) (int, error)

	// Tunnel passes bytes between this connection and another one of this
	// package, both ways, whatever they are: first toPeer and toHere, which have
	// been received already, then what comes. The end of one direction is passed
	// on, and the other one goes on. It returns when both have ended, when one
	// of the connections is broken, or when nothing has come from either for
	// idle (0: no limit), which is os.ErrDeadlineExceeded. Deadlines that were
	// set before do not count. sent and received are the bytes that the peer and
	// this connection were given. Both are then only good to be closed.
	Tunnel(peer net.Conn, toPeer, toHere []byte, idle time.Duration) (sent, received int64, err error)

	// Readable tells without waiting whether a Read would return at once,
	// with data, end of file or an error. The error is that of the Read,
	// io.EOF at the end of file.
	Readable() (bool, error)

	// CloseWrite sends end of file and leaves the other direction open.
	CloseWrite() error

	// Abort makes the following Close reset the connection, so that the peer
	// can't take what it got for the whole.
	Abort() error
}

var (
	_ Conn = (*Blocking)(nil)
	_ Conn = (*Polled)(nil)
)
