package demo

import (
	"fmt"

	"github.com/rs/zerolog"
)

// Packet sizes in bytes, header included.
const (
	defaultPacketSize = 8192
	maxPacketSize     = 65536
)

// Options set up a container. The zero value is Tomcat's default connector,
// without a secret.
type Options struct {
	// PacketSize is the largest packet in both directions in bytes, header
	// included: Tomcat's packetSize, 8192..65536. 0 means 8192. The front
	// end's max_packet_size must be the same.
	PacketSize int
	// Secret, if not empty, must come with every request (attribute 0C);
	// others get 403 and their connection is closed.
	Secret string
	// Route, if not empty, is appended to session ids after a dot: Tomcat's
	// jvmRoute.
	Route string
	// MaxConnections bounds the open connections; further ones are closed at
	// once. 0 means 8192, Tomcat's maxConnections.
	MaxConnections int
	// Logger gets one line for each connection that broke the protocol. The
	// zero value is silent.
	Logger zerolog.Logger
}

// withDefaults returns o with zero values replaced, or what is wrong with it.
func (o Options) withDefaults() (Options, error) {
	if o.PacketSize == 0 {
		o.PacketSize = defaultPacketSize
	}
	if o.PacketSize < defaultPacketSize || o.PacketSize > maxPacketSize {
		return o, fmt.Errorf("demo: packet size %d is not in %d..%d", o.PacketSize, defaultPacketSize, maxPacketSize)
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = 8192
	}
	if o.MaxConnections < 0 {
		return o, fmt.Errorf("demo: %d connections", o.MaxConnections)
	}
	if len(o.Secret) > 1024 || len(o.Route) > 64 {
		return o, fmt.Errorf("demo: secret of %d bytes, route of %d: at most 1024 and 64", len(o.Secret), len(o.Route))
	}
	return o, nil
}
