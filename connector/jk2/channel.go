package jk2

import (
	"time"

	"jkd/connector/ajp"
	"jkd/connector/dial"
	"jkd/connector/resolve"
)

// channel is how a container is reached: channel.socket or channel.un.
type channel struct {
	kind     ChannelKind
	host     string
	port     int
	path     string            // of a Unix socket
	resolver *resolve.Resolver // of host
	options  dial.Options
	dial     *dial.Dialers
	now      func() time.Time
}

// defaultConnect bounds a connect when the channel has no timeout: the kernel's
// own limit is over a minute.
const defaultConnect = 5 * time.Second

// same tells whether both lead to the same place.
func (c *channel) same(o *channel) bool {
	return c.kind == o.kind && c.host == o.host && c.port == o.port && c.path == o.path
}

// connect connects to the first address that takes it. addr is the one that was
// connected to, or the one that was tried last.
func (c *channel) connect() (nc ajp.NetConn, addr string, err error) {
	return c.dial.Connect(c.path, c.resolver, c.now(), c.options)
}
