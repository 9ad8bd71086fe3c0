package jk2

import (
	"errors"
	"net/netip"
	"time"

	"jkd/connector/ajp"
	"jkd/connector/resolve"
)

// DialOptions are the properties of a connection to a container.
type DialOptions struct {
	Timeout   time.Duration // for the connect; > 0
	KeepAlive bool          // SO_KEEPALIVE (keepalive)
}

// Dialers connect to a container the way the process model waits.
type Dialers struct {
	TCP  func(addr netip.AddrPort, o DialOptions) (ajp.NetConn, error)
	Unix func(path string, o DialOptions) (ajp.NetConn, error)
}

// channel is how a container is reached: channel.socket or channel.un.
type channel struct {
	kind     ChannelKind
	host     string
	port     int
	path     string            // of a Unix socket
	resolver *resolve.Resolver // of host
	options  DialOptions
	dial     *Dialers
	now      func() time.Time
}

// defaultConnect bounds a connect when the channel has no timeout: the kernel's
// own limit is over a minute.
const defaultConnect = 5 * time.Second

// same tells whether both lead to the same place.
func (c *channel) same(o *channel) bool {
	return c.kind == o.kind && c.host == o.host && c.port == o.port && c.path == o.path
}

// resolveError marks a failure to find an address.
type resolveError struct{ error }

func (e *resolveError) Unwrap() error { return e.error }

// connect connects to the first address that takes it; all of them together
// have the time of one connect. addr is the one that was connected to, or the
// one that was tried last.
func (c *channel) connect() (nc ajp.NetConn, addr string, err error) {
	if c.kind == Unix {
		nc, err = c.dial.Unix(c.path, c.options)
		return nc, c.path, err
	}
	addrs, err := c.resolver.Addresses(c.now())
	if err != nil {
		return nil, "", &resolveError{err}
	}
	o, end := c.options, time.Now().Add(c.options.Timeout)
	err = errors.New("no address")
	for i, a := range addrs {
		if i > 0 {
			o.Timeout = time.Until(end)
		}
		if o.Timeout <= 0 {
			break
		}
		o.Timeout /= time.Duration(len(addrs) - i)
		addr = a.String()
		if nc, err = c.dial.TCP(a, o); err == nil {
			return nc, addr, nil
		}
	}
	c.resolver.Expire()
	return nil, addr, err
}
