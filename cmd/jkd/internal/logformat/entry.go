package logformat

import (
	"time"

	"jkd/connector"
)

// MaxLine bounds a line, in bytes.
const MaxLine = 32 << 10

// Entry is what is known of a request once it has been answered. It may be
// used again for the next one. Nothing of it is kept.
type Entry struct {
	// Request is what was made of the request; of one that was refused, its
	// addresses only. It must not be nil.
	Request *connector.Request
	// Method, Target and Protocol are the request line as received; empty when
	// none could be read.
	Method, Target, Protocol []byte
	// RequestField returns the value of a field of the request, whose name is
	// in lower case; nil for none.
	RequestField func(name string) []byte
	// ResponseField is the same for what the client was sent.
	ResponseField func(name string) []byte
	// Server is the name of the virtual host, or ServerName; "" for neither.
	Server string
	// LocalPort is the port that the connection came in on.
	LocalPort int
	// Status is what the client was sent, 0 for nothing.
	Status int
	// Body is the bytes of the body that were sent; In and Out are all bytes
	// received and sent.
	Body, In, Out int64
	// Start is when the head had arrived, FirstByte when the answer began to
	// be sent (zero: never), End when it was over.
	Start, FirstByte, End time.Time
	// Earlier is how many requests the connection served before.
	Earlier int
	// Aborted tells that the answer is not complete, Kept that the connection
	// is kept for another request.
	Aborted, Kept bool
	PID           int
}
