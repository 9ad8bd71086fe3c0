package connectortest

import (
	"net/netip"

	"jkd/connector/ajp"
	"jkd/connector/dial"
	"jkd/mpm/sock"
)

// Dialers are the connections of the process model for so many threads.
func Dialers(threads int) dial.Dialers {
	tcp, un := sock.DialBlocking, sock.DialUnixBlocking
	if threads > 1 {
		tcp, un = sock.DialPolled, sock.DialUnixPolled
	}
	conn := func(c sock.Conn, err error) (ajp.NetConn, error) {
		if err != nil {
			return nil, err
		}
		return c, nil
	}
	return dial.Dialers{
		TCP: func(a netip.AddrPort, o dial.Options) (ajp.NetConn, error) {
			return conn(tcp(a, sock.DialOptions{Timeout: o.Timeout, KeepAlive: o.KeepAlive}))
		},
		Unix: func(path string, o dial.Options) (ajp.NetConn, error) {
			return conn(un(path, sock.DialOptions{Timeout: o.Timeout}))
		},
	}
}
