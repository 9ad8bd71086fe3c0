package connector

import (
	"net"
	"time"
)

// Upgrader is a [ResponseWriter] whose connection can become one of another
// protocol, such as WebSocket (RFC 9110 section 7.8).
type Upgrader interface {
	// Upgrade answers with 101 and fields, and with Upgrade: protocol, instead of
	// Start and what follows it. Then it passes bytes both ways between the
	// client and back, from which first has been received behind the head of its
	// own 101, until both have ended, one is broken, or nothing has come for idle
	// (0: no limit). Its error is of what was before: nothing was sent, if it is
	// errors.ErrUnsupported, or the client was gone. back is then only good to be
	// closed.
	Upgrade(fields []Field, protocol []byte, back net.Conn, first []byte, idle time.Duration) error
}
